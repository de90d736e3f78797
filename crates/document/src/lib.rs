//! A run as it was written, and its form as a text.
//!
//! Knows what can be written of a run, each value with its place, and how it is read from a text
//! and printed as one ([`form`]). Must not know the meaning of a value: that is the compiler's. Of
//! the world it asks only for the files and variables that references name ([`Environment`]). Start
//! reading at [`Document`].
//!
//! Flags, plan files and other tools' command lines all become a [`Document`], which can be
//! printed, stored and sent without a [`drumfire_plan::Plan`]. A plan has no reference to its
//! document.

mod diagnostic;
mod document;
mod environment;
mod field;
pub mod flags;
pub mod form;
pub mod habits;
pub mod json_strings;
mod keys;
mod layer;
pub mod names;
mod payload;
mod place;
mod settings;

pub use diagnostic::{Diagnostic, Fault, Findings, Mark};
pub use document::{
    Ammo, Ask, Branch, Data, Document, Feed, FeedRows, Loop, Phase, Pool, Request, RequestStep,
    Scenario, Step,
};
pub use environment::{Bare, Environment};
pub use field::{Field, Fields};
pub use layer::Layer;
pub use payload::{Part, PartContent, Payload};
pub use place::{Count, Place, Placed, Switch, Text};
pub use settings::{
    CallOptions, CommonBody, CommonFields, Connections, Expect, Generator, Http, Kept, Load,
    Monitoring, Outputs, Reach, Reflection, Schema, Settings, Stop, Stream, Timeouts, Tls,
};
