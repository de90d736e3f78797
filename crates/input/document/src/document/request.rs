//! Requests, as written.
//!
//! One type represents HTTP requests, gRPC calls and lists of either, because most keys of a
//! request are the same. Keys that do not fit the kind of request are mistakes, which the reader of
//! the form notes.

use super::{Ammo, Socket};
use crate::{
    CallOptions, Count, EventSettings, ExpectSettings, Field, Fields, Payload, Place, Placed,
    SocketSettings, Stream, Switch, Text,
};

/// The text of a request without any.
static NOTHING: Text = Placed {
    value: String::new(),
    place: Place::Nowhere,
    written: None,
};

/// A request, or a list of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The request itself.
    pub ask: Ask,
    /// The name under which it is reported.
    pub name: Option<Text>,
    /// The share among the requests of the list; the default is 1.
    pub weight: Option<Count>,
    /// The header fields, or the metadata of the call.
    pub fields: Fields,
    /// The body, or the data of the call.
    pub data: Data,
    /// The course of the call's streams.
    pub stream: Stream,
    /// The options of the call.
    pub options: CallOptions,
    /// How the response of a request other than a call is read.
    pub events: EventSettings,
    /// How the request's WebSocket is opened.
    pub socket: SocketSettings,
    /// The conditions under which the response is ok.
    pub expect: ExpectSettings,
    /// The timeout of a request other than a call.
    pub timeout: Option<Text>,
    /// The variables that take their values from the response, each with the source of the value.
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
            events: EventSettings::default(),
            socket: SocketSettings::default(),
            expect: ExpectSettings::default(),
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
    /// Every URL of a file with one URL per line.
    List {
        /// The method.
        method: Text,
        /// The file.
        file: Text,
    },
    /// A gRPC method, in the form `package.Service/Method`.
    Call(Text),
    /// Every request of a file of requests.
    Ammo(Box<Ammo>),
    /// A request to a language model, as the pool's `llm` describes it. The only text is `prompt`.
    Llm(Text),
    /// A message, or another action, on a WebSocket.
    Socket(Box<Socket>),
}

impl Ask {
    /// The text that identifies the request: a URL, a method or a file.
    #[must_use]
    pub fn text(&self) -> &Text {
        match self {
            Self::Url { url: text, .. }
            | Self::List { file: text, .. }
            | Self::Call(text)
            | Self::Llm(text) => text,
            Self::Ammo(ammo) => &ammo.file,
            Self::Socket(socket) => socket.text().unwrap_or(&NOTHING),
        }
    }

    /// Whether the request is a gRPC call, or a file of calls.
    #[must_use]
    pub fn is_call(&self) -> bool {
        match self {
            Self::Call(_) => true,
            Self::Ammo(ammo) => ammo.has_calls(),
            Self::Url { .. } | Self::List { .. } | Self::Llm(_) | Self::Socket(_) => false,
        }
    }
}

/// A request's body, or the data of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// The bytes.
    pub payload: Option<Payload>,
    /// Whether the data of a call is already encoded.
    pub binary: Option<Switch>,
    /// Whether each line of a body is a separate body.
    pub lines: Option<Switch>,
    /// `jinja`, `go`, `go-builtin` or `none`: the template language of the text.
    pub templates: Option<Text>,
    /// `turn`, `random` or `once`: the order in which calls use an array of messages.
    pub order: Option<Text>,
    /// The prefix of `{{.WorkerID}}` in Go templates.
    pub worker_name: Option<Text>,
    /// The number of workers among which `{{.WorkerID}}` distributes calls; the default is the
    /// users.
    pub workers: Option<Count>,
}
