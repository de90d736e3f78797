//! Takes values from responses, and checks responses.
//!
//! Knows the forms of `take` and `expect` in a plan ([`Extractor`], [`Check`]), and how JSON, HTML,
//! XML, header fields and cookies are parsed. Every parser is bounded, because the bytes come from
//! a server. Must not know connections, users, files or clocks: the input is a complete response.
//! Start reading at [`Extractor`]; [`Rules`] combines all checks and extractors of one response.
//!
//! The engine uses [`Rules`] through the trait [`drumfire_plan::Inspection`]. A JSON path is
//! evaluated on the bytes of the body, without building a tree.

mod answer;
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
pub use html::{Page, PageNode, PageSelector};
pub use no_value::NoValue;
pub use parse_error::ParseError;
pub use rules::{MessageRules, Rules, Take};
pub use sampled::{Sampled, Share};
