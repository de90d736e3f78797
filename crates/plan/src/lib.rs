//! The plan of a run: targets, requests, load, thresholds.
//!
//! Knows the words of a run and checks them; a [`Plan`] that exists is a plan that can run.
//! Must not know I/O, clocks or threads. Start reading at [`Plan`].

mod call;
mod check;
mod choice;
mod command;
mod data;
mod expect;
mod guard;
mod host;
mod http;
mod law_text;
mod life;
mod load;
mod nearest;
mod pause;
mod plan;
mod pool;
mod program;
mod random;
mod reach;
mod reference;
mod response;
mod rest;
mod scan;
pub mod secret;
mod stage;
mod threshold;
mod threshold_text;
mod trace;
mod url;
mod users;
mod variables;
mod warmup;

pub use call::{
    Call, CallKind, CallStatuses, Direction, MessageCompression, ReplyCheck, ReplyError, Streaming,
};
pub use check::{Flaw, POOLS_MAX};
pub use choice::{Choice, Pick, Shares};
pub use command::{Change, ChangeKind, Command, StopReason};
pub use data::{
    DataCause, DataError, Datum, Functions, RenderedFields, RequestContext, RequestData, Varying,
};
pub use expect::{Expect, ParseExpectError};
pub use guard::{Guard, MODEST_COUNT, MODEST_RATE, is_modest};
pub use http::{
    Affinity, Body, Compressed, Connections, ExpectContinue, Growth, Header, HeaderError,
    HttpOptions, HttpRequest, HttpVersion, KeepAlive, KeepAliveHints, Method, Ping, RedirectStyle,
    Redirects, ReusedClosed, Spread, Timeouts,
};
pub use law_text::ReadTrace;
pub use life::{Churn, ChurnError, Life};
pub use load::{Arrivals, Drain, LatePolicy, Law, LawError, Load, Sequence, Stop};
pub use nearest::{nearest, suggestion};
pub use pause::{PAUSE_TAIL_MAX, Pause, PauseError};
pub use plan::{Generator, Plan, PlanParts, Spin, Threads};
pub use pool::{Cookies, Pool, Samples, Transcripts};
pub use program::{
    CounterId, Extent, GIVEN_PASSES_MAX, OnFailure, Passes, Program, Retry, STEPS_MAX, Scenarios,
    Step,
};
pub use random::Random;
pub use reach::{
    Pem, Proxy, Reach, Renewal, Resolve, Resumption, Tls, Tunnels, Unresolved, Verify,
};
pub use reference::JoinError;
pub use response::{Finding, Inspection, Mismatch, MismatchKind, Response, ResponseFields, Taken};
pub use rest::{Done, NoRest, rest};
pub use stage::Stage;
pub use threshold::{Comparison, Metric, Role, Threshold, ThresholdError, Times};
pub use trace::{TRACEPARENT, Traced};
pub use url::{Host, Origin, Scheme, URL_LENGTH_MAX, Url, UrlError};
pub use users::Users;
pub use variables::{Condition, Value, VariableId, Variables};
pub use warmup::Warmup;
