//! The backends: which API the requests use.

use super::args::{Args, mistake};

/// The API of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backend {
    /// The name on the command line and in the result.
    pub(super) name: &'static str,
    /// The API, as a plan names it.
    pub(super) api: &'static str,
    /// The path, unless `--endpoint` sets it.
    pub(super) path: &'static str,
}

const BACKENDS: &[Backend] = &[
    backend("vllm", "completions", "/v1/completions"),
    backend("openai", "completions", "/v1/completions"),
    backend("openai-chat", "chat", "/v1/chat/completions"),
    backend("openai-responses", "responses", "/v1/responses"),
    backend("openai-embeddings", "embeddings", "/v1/embeddings"),
    backend("infinity-embeddings", "embeddings", "/v1/embeddings"),
    backend("vllm-pooling", "embeddings", "/pooling"),
    backend("vllm-rerank", "rerank", "/v1/rerank"),
];

/// Backends of vLLM whose requests have media or whole chats.
const OTHERS: &[&str] = &[
    "openai-audio",
    "openai-embeddings-chat",
    "openai-embeddings-clip",
    "openai-embeddings-vlm2vec",
    "infinity-embeddings-clip",
];

const fn backend(name: &'static str, api: &'static str, path: &'static str) -> Backend {
    Backend { name, api, path }
}

impl Backend {
    /// The backend of a command line.
    ///
    /// # Errors
    /// If it is unknown or not supported.
    pub(super) fn from_args(args: &Args) -> Result<Self, String> {
        let name = args.or_default("backend");
        if let Some(found) = BACKENDS.iter().find(|backend| backend.name == name) {
            return Ok(*found);
        }
        let known: Vec<&str> = BACKENDS.iter().map(|backend| backend.name).collect();
        let known = known.join(", ");
        let name = name.escape_debug();
        Err(mistake(
            "backend",
            match OTHERS.contains(&&*name.to_string()) {
                true => format!("`{name}` is not supported: requests have text only; use {known}"),
                false => format!("unknown backend `{name}`; use {known}"),
            },
        ))
    }

    /// Whether answers are generated; if not, they are pooled.
    pub(super) fn generates(&self) -> bool {
        !matches!(self.api, "embeddings" | "rerank")
    }
}
