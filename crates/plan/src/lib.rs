//! What to do: targets, requests, load, thresholds.
//!
//! Knows the words of a run and checks them; a [`Plan`] that exists is a plan that can run.
//! Must not know I/O, clocks or threads. Start reading at [`Plan`].

mod call;
mod check;
mod command;
mod data;
pub mod document;
mod expect;
mod host;
mod http;
mod law_text;
mod load;
mod nearest;
mod reference;
mod scan;
pub mod secret;
mod threshold;
mod threshold_text;
mod url;
mod users;

pub use call::{Call, CallKind, MessageCompression, ReplyCheck, ReplyError, Streaming};
pub use check::Diagnostic;
pub use command::{Change, Command, StopReason};
pub use data::{DataError, RenderedFields, RequestContext, RequestData, Varying};
pub use expect::{Expect, ParseExpectError};
pub use http::{
    Affinity, Body, Compressed, Connections, ExpectContinue, Growth, Header, HeaderError,
    HttpOptions, HttpRequest, HttpVersion, KeepAlive, KeepAliveHints, Method, Pem, Ping, Proxy,
    Redirects, Resumption, ReusedClosed, Spin, Spread, Timeouts, Tls, Unresolved, Verify,
};
pub use law_text::ReadTrace;
pub use load::{Arrivals, Drain, LatePolicy, Law, LawError, Load, Sequence, Stop};
pub use nearest::{nearest, suggestion};
pub use reference::JoinError;
pub use threshold::{Comparison, Metric, Threshold, ThresholdError};
pub use url::{Host, Origin, Scheme, Url, UrlError};
pub use users::Users;

use drumfire_units::Nanos;

/// Whether every sample is handed to the observers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Samples {
    /// They are counted and forgotten.
    #[default]
    Forget,
    /// They are handed on, at some 80 bytes each.
    Keep,
}

/// A description of a run, checked by [`Plan::check`].
#[derive(Clone, Debug)]
pub struct Plan {
    /// The requests, sent in turn; never empty.
    pub requests: Vec<HttpRequest>,
    /// When requests start, and how many at a time.
    pub load: Load,
    /// How many users there are over time, where that changes: of a closed load its users, of an
    /// open one those that serve it, each with one request at a time. Of a closed load,
    /// [`Load::Closed`] has the largest number.
    pub users: Option<Users>,
    /// What ends the run.
    pub stop: Stop,
    /// Requests whose intended start lies in this first span are sent and not measured.
    pub warmup: Nanos,
    /// How requests travel.
    pub http: HttpOptions,
    /// How many connections there are and how long they live.
    pub connections: Connections,
    /// How long each phase of an exchange may take.
    pub timeouts: Timeouts,
    /// When a response is ok.
    pub expect: Expect,
    /// Whether every sample is handed on, beside the sums.
    pub samples: Samples,
    /// The rules that the result must satisfy.
    pub thresholds: Vec<Threshold>,
    /// Where every random number comes from.
    pub seed: u64,
    /// The length of one interval; never zero.
    pub interval: Nanos,
}
