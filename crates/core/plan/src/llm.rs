//! Language-model services: their interfaces, and the words for the parts of their answers.

use drumfire_units::Nanos;
use std::fmt;

/// An enum of words, each with its name in plans, thresholds and JSON.
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$doc:meta])* $variant:ident $text:literal,)* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// Every value, in the order of reports.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];

            /// The name in plans, thresholds and JSON.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The value with this name.
            #[must_use]
            pub fn of_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}

words! {
    /// An interface of language-model services. The interface determines how an answer is read.
    LlmApi {
        /// `/v1/chat/completions`, as by OpenAI.
        Chat "chat",
        /// `/v1/completions`, as by OpenAI.
        Completions "completions",
        /// `/v1/responses`, as by OpenAI.
        Responses "responses",
        /// `/v1/messages`, as by Anthropic.
        Messages "messages",
        /// `/v1/embeddings`, as by OpenAI; also `/pooling`, as by vLLM.
        Embeddings "embeddings",
        /// `/rerank`, as by Cohere and Jina.
        Rerank "rerank",
    }
}

words! {
    /// The reason why a model ended its answer.
    Finish {
        /// The answer is complete.
        Stop "stop",
        /// The answer has as many tokens as it may have.
        Length "length",
        /// The model calls tools.
        ToolCalls "tool_calls",
        /// A filter of the service ended the answer.
        ContentFilter "content_filter",
        /// The model refused.
        Refusal "refusal",
        /// Any other reason.
        Other "other",
    }
}

words! {
    /// The kind of an error inside an answer whose status is ok.
    LlmError {
        /// The client has sent too many requests or tokens.
        RateLimit "rate_limit",
        /// The service has no capacity.
        Overloaded "overloaded",
        /// The prompt, or the prompt and the answer, are too long for the model.
        Context "context",
        /// The service refuses the request.
        Request "request",
        /// The key is missing, invalid or not permitted.
        Key "key",
        /// Any other error.
        Other "error",
    }
}

words! {
    /// The class of an event in a streamed answer. Each event belongs to one class: to the first
    /// that applies.
    EventClass {
        /// Not JSON.
        Bad "bad",
        /// An error.
        Error "error",
        /// Generated text in any channel: visible, reasoning, a tool call or a refusal.
        Token "token",
        /// The reason for the answer's end, without text.
        Finish "finish",
        /// The number of tokens, without text.
        Usage "usage",
        /// The end of the stream.
        Done "done",
        /// Known, and none of the above: a role, a ping, the beginning of a part.
        Control "control",
        /// JSON with unknown contents.
        Unknown "unknown",
    }
}

impl LlmApi {
    /// Whether services can stream the answer.
    #[must_use]
    pub const fn streams(self) -> bool {
        !matches!(self, Self::Embeddings | Self::Rerank)
    }
}

/// The numbers of tokens of an answer, as its server reports them. Reports are cumulative: the last
/// one is valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// The tokens of the prompt, including those from the cache.
    pub input: Option<u32>,
    /// The tokens of the prompt that the server had in its cache.
    pub cached: Option<u32>,
    /// The generated tokens, including the reasoning.
    pub output: Option<u32>,
    /// The generated tokens that are reasoning.
    pub reasoning: Option<u32>,
}

/// The text of an answer, for the plan's checks and for the next turn of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerText {
    /// The interface that sent the answer, and that receives it as a part of the next turn.
    pub api: LlmApi,
    /// The visible text.
    pub text: String,
    /// The reasoning.
    pub reasoning: String,
    /// The signature of the reasoning, which Anthropic's interface requires in the next turn.
    pub signature: String,
    /// The calls of tools, in their order.
    pub calls: Vec<ToolCall>,
}

/// A call of a tool in an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The identifier, which the tool's result repeats.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, which should be JSON.
    pub arguments: String,
}

impl Default for AnswerText {
    fn default() -> Self {
        Self {
            api: LlmApi::Chat,
            text: String::new(),
            reasoning: String::new(),
            signature: String::new(),
            calls: Vec::new(),
        }
    }
}

/// The limits that an answer must meet to be good, such as `ttft<200ms,tpot<50ms`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slo(pub Vec<SloLimit>);

/// The limit of one time of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SloLimit {
    /// The time.
    pub time: SloTime,
    /// Whether the bound itself is within the limit.
    pub inclusive: bool,
    /// The bound.
    pub bound: Nanos,
}

words! {
    /// A time of one answer that a limit can apply to.
    SloTime {
        /// The time to the first token.
        Ttft "ttft",
        /// The time to the first visible token.
        Ttfv "ttfv",
        /// The time per token after the first.
        Tpot "tpot",
        /// The longest gap between two events with tokens.
        Stall "stall",
        /// From the intended start to the end.
        Response "response",
        /// From the first write to the end.
        Service "service",
    }
}

impl SloLimit {
    /// Whether a time is within the limit.
    #[must_use]
    pub fn allows(self, time: Nanos) -> bool {
        time < self.bound || self.inclusive && time == self.bound
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, limit) in self.0.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            let sign = if limit.inclusive { "<=" } else { "<" };
            write!(f, "{comma}{}{sign}{}", limit.time.name(), limit.bound)?;
        }
        Ok(())
    }
}
