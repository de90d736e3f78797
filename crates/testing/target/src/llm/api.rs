//! The interfaces of the mock, by path.

use serde_json::{Value, json};

/// An interface that makes tokens or vectors of a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Api {
    #[default]
    Chat,
    Completions,
    Responses,
    Messages,
    Embeddings,
    Rerank,
}

impl Api {
    /// The interface of a path.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        match path {
            "/v1/chat/completions" => Some(Self::Chat),
            "/v1/completions" => Some(Self::Completions),
            "/v1/responses" => Some(Self::Responses),
            "/v1/messages" => Some(Self::Messages),
            "/v1/embeddings" => Some(Self::Embeddings),
            "/rerank" | "/v1/rerank" | "/v2/rerank" => Some(Self::Rerank),
            _ => None,
        }
    }

    /// The name in the log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Completions => "completions",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Embeddings => "embeddings",
            Self::Rerank => "rerank",
        }
    }

    /// The fields that limit the number of tokens.
    pub(crate) fn limit_fields(self) -> &'static [&'static str] {
        match self {
            Self::Chat => &["max_completion_tokens", "max_tokens"],
            Self::Completions | Self::Messages => &["max_tokens"],
            Self::Responses => &["max_output_tokens"],
            Self::Embeddings | Self::Rerank => &[],
        }
    }

    /// An error as the interface describes it.
    pub(crate) fn error(self, kind: &str, message: &str) -> Value {
        match self {
            Self::Messages => json!({
                "type": "error",
                "error": { "type": kind, "message": message },
            }),
            _ => json!({
                "error": { "message": message, "type": kind, "param": null, "code": null },
            }),
        }
    }
}

/// The type of the error with a status.
pub(crate) fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "server_error",
    }
}
