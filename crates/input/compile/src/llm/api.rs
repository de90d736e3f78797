//! What each API of inference servers has in its requests.

use drumfire_plan::LlmApi;

/// The usual path.
pub(super) const fn path(api: LlmApi) -> &'static str {
    match api {
        LlmApi::Chat => "/v1/chat/completions",
        LlmApi::Completions => "/v1/completions",
        LlmApi::Responses => "/v1/responses",
        LlmApi::Messages => "/v1/messages",
        LlmApi::Embeddings => "/v1/embeddings",
        LlmApi::Rerank => "/v1/rerank",
    }
}

/// Whether a request can have a list of messages.
pub(super) const fn has_messages(api: LlmApi) -> bool {
    matches!(api, LlmApi::Chat | LlmApi::Responses | LlmApi::Messages)
}

/// Whether a request asks for token counts in its stream; the other APIs always send them.
pub(super) const fn has_stream_options(api: LlmApi) -> bool {
    matches!(api, LlmApi::Chat | LlmApi::Completions)
}

/// The member with the maximum number of tokens.
pub(super) const fn limit(api: LlmApi) -> &'static str {
    match api {
        LlmApi::Chat => "max_completion_tokens",
        LlmApi::Responses => "max_output_tokens",
        _ => "max_tokens",
    }
}
