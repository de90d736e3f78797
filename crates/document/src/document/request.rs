//! Requests as they were written.
//!
//! One type holds HTTP requests, gRPC calls and lists of either, since the keys of a request are
//! largely the same. Keys that do not fit its kind are mistakes, which the reader of the form
//! notes.

use super::Ammo;
use crate::{CallOptions, Count, Expect, Field, Fields, Payload, Stream, Switch, Text};

/// A request, or a list of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The request itself.
    pub ask: Ask,
    /// The name under which its numbers are reported.
    pub name: Option<Text>,
    /// Its share among the requests of its list; 1 where it is absent.
    pub weight: Option<Count>,
    /// Its header fields, or the metadata of its call.
    pub fields: Fields,
    /// Its body, or the data of its call.
    pub data: Data,
    /// The course of the streams of its call.
    pub stream: Stream,
    /// The options of its call.
    pub options: CallOptions,
    /// The conditions under which its response is ok.
    pub expect: Expect,
    /// The time that it may take, of a request that is no call.
    pub timeout: Option<Text>,
    /// The variables whose values are taken from its response, each with the value's place.
    pub take: Vec<Field>,
}

impl Request {
    /// A request without options.
    #[must_use]
    pub fn new(ask: Ask) -> Self {
        Self {
            ask,
            name: None,
            weight: None,
            fields: Fields::default(),
            data: Data::default(),
            stream: Stream::default(),
            options: CallOptions::default(),
            expect: Expect::default(),
            timeout: None,
            take: Vec::new(),
        }
    }
}

/// A request's method and target, or its call.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// A URL, or a path at the target.
    Url {
        /// The method.
        method: Text,
        /// The URL.
        url: Text,
    },
    /// Every URL of a file, one a line.
    List {
        /// The method.
        method: Text,
        /// The file.
        file: Text,
    },
    /// A gRPC method, as `package.Service/Method`.
    Call(Text),
    /// Every request of a file of requests.
    Ammo(Box<Ammo>),
}

impl Ask {
    /// The text that names the request: a URL, a method or a file.
    #[must_use]
    pub const fn text(&self) -> &Text {
        match self {
            Self::Url { url: text, .. } | Self::List { file: text, .. } | Self::Call(text) => text,
            Self::Ammo(ammo) => &ammo.file,
        }
    }

    /// Whether it asks for gRPC calls: one, or those of a file.
    #[must_use]
    pub fn is_call(&self) -> bool {
        match self {
            Self::Call(_) => true,
            Self::Ammo(ammo) => ammo.has_calls(),
            Self::Url { .. } | Self::List { .. } => false,
        }
    }
}

/// A request's body, or the data of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// The bytes.
    pub payload: Option<Payload>,
    /// Whether the data of a call is encoded already.
    pub binary: Option<Switch>,
    /// Whether each line of a body is a body by itself.
    pub lines: Option<Switch>,
    /// `jinja`, `go`, `go-builtin` or `none`: the template language of the text.
    pub templates: Option<Text>,
    /// `turn`, `random` or `once`: the way in which calls go through an array of messages.
    pub order: Option<Text>,
    /// The name before each `{{.WorkerID}}` of Go's templates.
    pub worker_name: Option<Text>,
    /// The number of workers among which `{{.WorkerID}}` counts calls; it names users otherwise.
    pub workers: Option<Count>,
}
