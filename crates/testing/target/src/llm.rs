//! A mock of servers for language models: the interfaces of OpenAI, Anthropic and vLLM, whose
//! tokens follow exact laws and are logged.
//!
//! A token is a word. The request's prompt is counted and cached by its words, and the answer
//! consists of random words, each due at a time that follows only from the laws: lateness does not
//! add up. Start reading at [`LlmIntent::read`]; `job` is the course of an answer, `form` has the
//! events of each interface.

mod api;
mod batch;
mod behaviour;
mod cache;
mod embedding;
mod events;
mod fault;
mod form;
mod generation;
mod intent;
mod job;
mod log;
mod metrics;
mod options;
mod outlet;
mod request;
mod timing;
mod vocabulary;

pub(crate) use batch::StreamSeats;
pub use behaviour::{BadBehaviour, LlmBehaviour};
pub(crate) use intent::{LlmAnswer, LlmDrawn, LlmIntent, LlmReport, LlmShared};
pub(crate) use job::{LlmDesk, LlmEnd, LlmJob};
pub(crate) use log::{LlmLog, LlmRecording, print as print_log};
pub(crate) use metrics::{LlmMetrics, print as print_metrics};
pub use options::{LlmOptions, ParsePrefixCacheError, PrefixCacheSize};
pub(crate) use outlet::{LlmHead, Outlet, Rest};
pub(crate) use request::PROMPT_MAX;
pub use timing::{BatchLaw, ParseTimingError};
