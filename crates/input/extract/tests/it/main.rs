//! Values from responses, and checks of responses.

mod allocation;
mod checks;
mod compliance;
mod filters;
mod hostile;
mod json;
mod markup;
mod mistakes;
mod reply;
mod rules;
mod sources;
