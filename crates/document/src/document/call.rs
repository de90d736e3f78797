//! The options of a call, and the course of its streams.

use super::{Count, Switch, Text};

/// The options of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallOptions {
    /// The `:authority` in place of the target's.
    pub authority: Option<Text>,
    /// The time that it may take; 0 is no limit.
    pub deadline: Option<Text>,
    /// `gzip`, `zstd` or `identity`.
    pub compress: Option<Text>,
    /// The largest message that is accepted.
    pub max_receive: Option<Text>,
    /// The largest message that is sent.
    pub max_send: Option<Text>,
    /// Whether replies must be messages of the method's type.
    pub reply_check: Option<Switch>,
}

/// The course of the streams of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    /// The number of messages that it sends.
    pub count: Option<Count>,
    /// The pause after each message.
    pub interval: Option<Text>,
    /// The span after which sending ends.
    pub duration: Option<Text>,
    /// The number of messages after which it is cancelled.
    pub receive: Option<Count>,
    /// `call` or `message`: the occasion on which templates are evaluated.
    pub refresh: Option<Text>,
}
