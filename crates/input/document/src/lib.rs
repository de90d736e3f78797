//! A run as it was written, and its text form.
//!
//! Knows what a user can write about a run, each value with its place, and how a document is read
//! from text and printed ([`form`]). Must not know the meaning of a value, which belongs to the
//! compiler. The only accesses to the outside world are the files and variables of references
//! ([`Environment`]). Start reading at [`Document`].
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
    Scenario, Socket, Step,
};
pub use environment::{Bare, Environment};
pub use field::{Field, Fields};
pub use layer::Layer;
pub use payload::{JsonText, Part, PartContent, Payload};
pub use place::{Count, Place, Placed, Switch, Text};
pub use settings::{
    CallOptions, CommonBody, CommonFields, Connections, EachSettings, EventSettings,
    ExpectSettings, Generator, Http, Kept, LlmSettings, LlmTrace, Load, Monitoring, Outputs,
    ReachSettings, Reflection, SchemaSource, Settings, SocketSettings, Stop, Stream,
    TimeoutSettings, TlsSettings,
};
