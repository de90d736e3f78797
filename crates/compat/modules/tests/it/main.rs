//! Modules, linked and run.

mod linking;
mod places;
mod world;
