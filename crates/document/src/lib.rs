//! A run as it was written.
//!
//! Knows what can be written of a run: each value with its place, and nothing of what it means.
//! Must not know what a value comes to, or what it needs of the world. Start reading at
//! [`Document`].

mod document;

pub use document::{
    Ammo, Ask, Branch, CallOptions, CommonBody, CommonFields, Connections, Count, Data, Document,
    Expect, Feed, FeedRows, Field, Fields, Generator, Http, Load, Loop, Outputs, Payload, Place,
    Placed, Pool, Reach, Reflection, Request, RequestStep, Scenario, Schema, Settings, Step, Stop,
    Stream, Switch, Text, Timeouts, Tls,
};
