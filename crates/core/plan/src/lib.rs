//! The plan of a run: targets, requests, load, thresholds.
//!
//! Knows the terms of a run and checks their values: a [`Plan`] that exists can run. Must not know
//! I/O, clocks or threads. Start reading at [`Plan`].
//!
//! Constructors check, and later code does not check again. The files that a plan refers to are
//! read before the run and arrive here as bytes.

mod arrivals;
mod call;
mod choice;
mod command;
mod dangerous;
mod data;
mod data_error;
mod events;
mod expect;
mod guard;
mod header;
mod http;
mod life;
mod llm;
mod load;
mod modest;
mod nearest;
mod no_proxy;
mod pause;
pub mod percent;
mod plan;
mod pool;
mod program;
mod reach;
mod response;
mod rest;
mod scan;
pub mod secret;
mod secrets;
mod threshold;
mod trace;
mod url;
mod users;
mod value;
mod variables;
mod warmup;
mod websocket;

pub use arrivals::{Arrivals, ArrivalsError, Shape};
pub use call::{
    Call, CallKind, CallStatuses, Direction, MessageCompression, ReplyCheck, ReplyError, Streaming,
};
pub use choice::{Choice, Pick, Shares, Turns};
pub use command::{Change, ChangeKind, Command, StopReason};
pub use dangerous::{escaped_lines, is_dangerous, push_escape};
pub use data::{
    CallSteps, Datum, PlanFunctions, RenderedFields, RequestContext, RequestData, Varying,
};
pub use data_error::{DataCause, DataError};
pub use events::EventStream;
pub use expect::{Expect, ParseExpectError};
pub use guard::Guard;
pub use header::{Header, HeaderError, Method};
pub use http::{
    Affinity, Body, Compressed, Connections, ExpectContinue, Growth, HttpOptions, HttpRequest,
    HttpVersion, KeepAlive, KeepAliveHints, Opening, Ping, RedirectStyle, Redirects, ReusedClosed,
    Spread, Timeouts, TlsEnd,
};
pub use life::{Churn, ChurnError, Life};
pub use llm::{
    AnswerText, EventClass, Finish, LlmApi, LlmError, Slo, SloLimit, SloTime, TokenUsage, ToolCall,
};
pub use load::{Drain, LatePolicy, Law, LawError, Load, ReadTrace, Sequence, Stop};
pub use modest::{CERTAIN_RATE, MODEST_COUNT, MODEST_RATE, is_extreme, is_modest};
pub use nearest::{nearest, suggestion, suggestion_of};
pub use no_proxy::NoProxy;
pub use pause::{PAUSE_TAIL_MAX, Pause, PauseError};
pub use plan::{
    ClockChoice, Detour, Flaw, Generator, Inquiry, POOLS_MAX, Plan, PlanParts, Threads, WaitChoice,
};
pub use pool::{Cookies, Pool, Samples, Stage, Transcripts};
pub use program::{
    CounterId, Extent, GIVEN_PASSES_MAX, GivenPause, OnFailure, Passes, Program, Retry, STEPS_MAX,
    Scenarios, Step,
};
pub use reach::{
    Pem, Proxy, Reach, Renewal, Resolve, Resumption, Tls, Tunnels, Unresolved, Verify,
};
pub use response::{Finding, Inspection, Mismatch, MismatchKind, Response, ResponseFields, Taken};
pub use rest::{NoRest, PoolProgress, rest};
pub use secrets::Secrets;
pub use threshold::{Comparison, Metric, Role, Threshold, ThresholdError, Times};
pub use trace::{TRACEPARENT, Traced};
pub use url::{Host, JoinError, Origin, Scheme, URL_LENGTH_MAX, Url, UrlError};
pub use users::UserSteps;
pub use value::{Condition, Value};
pub use variables::{ValueForm, VariableId, Variables};
pub use warmup::Warmup;
pub use websocket::{
    CLOSE_REASON_MAX, Deflate, MessageKind, Receive, ReceiveUntil, SocketAct, WebSocket,
};
// Random values of requests are a part of the plan.
pub use drumfire_units::Random;
