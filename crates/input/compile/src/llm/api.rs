//! The APIs of inference servers.

/// The APIs by their names.
pub(super) const APIS: [(&str, Api); 6] = [
    ("chat", Api::Chat),
    ("completions", Api::Completions),
    ("responses", Api::Responses),
    ("messages", Api::Messages),
    ("embeddings", Api::Embeddings),
    ("rerank", Api::Rerank),
];

/// An API of inference servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Api {
    /// Chat completions, as OpenAI defined them.
    #[default]
    Chat,
    /// The older completions of a text.
    Completions,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Messages,
    /// Embeddings of texts.
    Embeddings,
    /// The ranking of documents for a query.
    Rerank,
}

impl Api {
    /// The usual path.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Completions => "/v1/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
            Self::Embeddings => "/v1/embeddings",
            Self::Rerank => "/v1/rerank",
        }
    }

    /// Whether an answer is a text that can be streamed.
    pub(super) const fn can_stream(self) -> bool {
        !matches!(self, Self::Embeddings | Self::Rerank)
    }

    /// Whether a request can have a list of messages.
    pub(super) const fn has_messages(self) -> bool {
        matches!(self, Self::Chat | Self::Responses | Self::Messages)
    }

    /// Whether a request asks for token counts in its stream; the other APIs always send them.
    pub(super) const fn has_stream_options(self) -> bool {
        matches!(self, Self::Chat | Self::Completions)
    }

    /// The member with the maximum number of tokens.
    pub(super) const fn limit(self) -> &'static str {
        match self {
            Self::Chat => "max_completion_tokens",
            Self::Responses => "max_output_tokens",
            _ => "max_tokens",
        }
    }
}
