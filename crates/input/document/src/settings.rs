//! The settings of a pool, or of every pool, apart from its load and its requests.
//!
//! Each group is a layer: a pool's group takes absent values from the same group of the defaults,
//! value by value. A list (of header fields, of rules) is one value, unless its key defines
//! otherwise.

mod calls;
mod http;
mod llm;
mod load;
mod outputs;
mod socket;
mod transport;

pub use calls::{CallOptions, Reflection, SchemaSource, Stream};
pub use http::{CommonBody, CommonFields, EachSettings, EventSettings, ExpectSettings, Http, Kept};
pub use llm::{LlmSettings, LlmTrace};
pub use load::{Generator, Load, Stop};
pub use outputs::{Monitoring, Outputs};
pub use socket::SocketSettings;
pub use transport::{Connections, ReachSettings, TimeoutSettings, TlsSettings};

use crate::Text;
use crate::keys::fields::{nested, table};
use crate::keys::{Flag, Group, On};

table! {
    /// The settings of a pool, or of every pool, apart from its load and its requests.
    pub struct Settings [
        /// The target, and the way to it.
        reach: ReachSettings,
        /// The protocol.
        http: Http,
        /// The connections.
        connections: Connections,
        /// The time that each phase may take.
        timeouts: TimeoutSettings,
    ] {
        tls: TlsSettings = "Certificates and TLS sessions";
        templates: Option<Text> =
            "Template language: `jinja` (the default) or `none`; for calls also `go` (Go's templates with sprig and ghz's variables), `go-builtin` (the same without sprig) and `go-none` (no templates, and JSON is read as Go reads it). The flag sets `none`",
            Flag::new(Group::Data, "--no-templates",
                "Send everything as written, without expanding templates").on(On::SENDS).sets("none").alias("no-template");
        script: Option<Text> = "File with JavaScript functions";
    } [
        /// The source of the schema of calls.
        schema: SchemaSource,
        /// The options of every call.
        options: CallOptions,
        /// How the responses of HTTP requests are read.
        events: EventSettings,
        /// How WebSockets are opened.
        socket: SocketSettings,
        /// The fields of every request and every call.
        fields: CommonFields,
        /// The body of every HTTP request without its own.
        body: CommonBody,
        /// The exchanges that outputs receive in addition to figures.
        kept: Kept,
    ]
}

nested!(Settings => "defaults");
