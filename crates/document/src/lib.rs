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
pub mod form;
pub mod json_strings;
mod layer;
pub mod names;

pub use diagnostic::{Diagnostic, Fault, Findings, Mark};
pub use document::{
    Ammo, Ask, Branch, CallOptions, CommonBody, CommonFields, Connections, Count, Data, Document,
    Expect, Feed, FeedRows, Field, Fields, Generator, Http, Kept, Load, Loop, Monitoring, Outputs,
    Part, PartContent, Payload, Phase, Place, Placed, Pool, Reach, Reflection, Request,
    RequestStep, Scenario, Schema, Settings, Step, Stop, Stream, Switch, Text, Timeouts, Tls,
};
pub use environment::{Bare, Environment};
pub use layer::Layer;
