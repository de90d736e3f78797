//! Event streams: how a response is read as server-sent events.

use crate::LlmApi;
use drumfire_units::Nanos;

/// How the response of a request is read as an event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventStream {
    /// The maximum time without an event, from the response's head or from the previous event to the
    /// next one or to the end of the stream; [`Nanos::MAX`] means no limit.
    pub gap: Nanos,
    /// The time after which the exchange ends, from its first write, which is not a failure;
    /// [`Nanos::MAX`] means that the server ends the stream, within the timeout of the exchange.
    pub duration: Nanos,
    /// The number of events after which the exchange ends; `None` means that the server ends the
    /// stream.
    pub receive: Option<u64>,
    /// The interface of which the response is an answer, streamed or whole; `None` if events have
    /// no meaning.
    pub answer: Option<LlmApi>,
}
