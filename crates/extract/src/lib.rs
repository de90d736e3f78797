//! How values are taken from responses, and how responses are checked.
//!
//! Knows the forms of `take` and `expect` in a plan ([`Extractor`], [`Check`]), and how JSON, HTML,
//! XML, header fields and cookies are read. Every parser is bounded, for the bytes are a server's.
//! Must not know connections, users, files or clocks: it gets a response that is complete. Start
//! reading at [`Extractor`]; [`Rules`] joins all that is looked at in one response.
//!
//! The engine uses [`Rules`] through the trait [`drumfire_plan::Inspection`]. A JSON path is
//! followed through the bytes of the body, without building a tree.

mod check;
mod cookie;
mod digest;
mod excerpt;
mod expectation;
mod extractor;
mod html;
mod json;
mod no_value;
mod number;
mod parse_error;
mod pattern;
mod pick;
mod relation;
mod rules;
mod sampled;
mod xml;

pub use check::Check;
pub use expectation::Expectation;
pub use extractor::Extractor;
pub use no_value::NoValue;
pub use parse_error::ParseError;
pub use rules::{Rules, Take};
pub use sampled::{Sampled, Share};
