//! The body of a request for tokens.

use super::api::Api;
use super::behaviour::UsagePlace;
use super::cache::{Prompt, PromptBuilder};
use super::vocabulary::{Vocabulary, push_syllabic, words};
use serde_json::Value;
use std::num::NonZeroUsize;

/// The maximum length of a body.
pub(crate) const PROMPT_MAX: usize = 32 << 20;
/// The maximum number of tokens that a request can ask for.
const TOKENS_MAX: u64 = 1_000_000;
/// The maximum number of inputs of embeddings, and of documents of a ranking.
const INPUTS_MAX: usize = 10_000;

/// A request, as far as its answer depends on it.
#[derive(Debug)]
pub(crate) struct LlmRequest {
    pub(crate) model: String,
    pub(crate) prompt: Prompt,
    pub(crate) is_streamed: bool,
    /// The place of the usage that the request asks for.
    pub(crate) usage: UsagePlace,
    /// The maximum number of tokens of the answer.
    pub(crate) tokens_max: Option<u32>,
    pub(crate) tokens_min: u32,
    /// Whether the answer has as many tokens as the maximum.
    pub(crate) ignores_end: bool,
    pub(crate) tool: Tool,
    /// The inputs of embeddings, or the documents of a ranking, as text.
    pub(crate) inputs: Vec<String>,
    /// Whether vectors are sent in base64.
    pub(crate) is_base64: bool,
    /// The number of results of a ranking.
    pub(crate) top: Option<usize>,
}

/// The tool that an answer calls.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// The answer is a text.
    Never,
    /// The answer calls this tool with the probability of the server.
    Maybe(String),
    /// The answer calls this tool.
    Always(String),
}

/// The mistake in a request.
pub(crate) type Mistake = String;

impl LlmRequest {
    /// Reads a body.
    ///
    /// # Errors
    /// If the body is not JSON or lacks a field, or the mock cannot answer it.
    pub(crate) fn read(
        api: Api,
        body: &[u8],
        block: NonZeroUsize,
        vocabulary: &Vocabulary,
    ) -> Result<Self, Mistake> {
        if body.len() > PROMPT_MAX {
            return Err(format!("the body exceeds {PROMPT_MAX} bytes"));
        }
        let body: Value = serde_json::from_slice(body)
            .map_err(|error| format!("the body is not JSON: {error}"))?;
        let model = body["model"]
            .as_str()
            .ok_or("`model` is missing")?
            .to_owned();
        if body["n"].as_u64().is_some_and(|n| n != 1) {
            return Err("`n`: this server sends one choice".to_owned());
        }
        let mut reader = PromptReader {
            builder: PromptBuilder::new(block),
            inputs: Vec::new(),
            vocabulary,
        };
        reader.read(api, &body)?;
        let tokens_max = limit(api, &body)?;
        if api == Api::Messages && tokens_max.is_none() {
            return Err("`max_tokens` is missing".to_owned());
        }
        let top = body["top_n"].as_u64();
        Ok(Self {
            model,
            inputs: reader.inputs,
            prompt: reader.builder.build(),
            is_streamed: body["stream"].as_bool() == Some(true),
            usage: usage(&body),
            tokens_max,
            tokens_min: tokens(&body, "min_tokens")?.unwrap_or(0),
            ignores_end: body["ignore_eos"].as_bool() == Some(true),
            tool: tool(&body),
            is_base64: body["encoding_format"] == "base64",
            top: top.map(|top| usize::try_from(top).unwrap_or(usize::MAX)),
        })
    }
}

/// The first limit of the interface's fields.
fn limit(api: Api, body: &Value) -> Result<Option<u32>, Mistake> {
    for field in api.limit_fields() {
        if let Some(limit) = tokens(body, field)? {
            return Ok(Some(limit));
        }
    }
    Ok(None)
}

/// A number of tokens.
fn tokens(body: &Value, field: &str) -> Result<Option<u32>, Mistake> {
    match &body[field] {
        Value::Null => Ok(None),
        value => {
            let tokens = value.as_u64().filter(|tokens| *tokens <= TOKENS_MAX);
            let tokens = tokens.and_then(|tokens| u32::try_from(tokens).ok());
            tokens
                .map(Some)
                .ok_or_else(|| format!("`{field}`: use a number from 0 to {TOKENS_MAX}"))
        }
    }
}

/// The usage that a request asks for.
fn usage(body: &Value) -> UsagePlace {
    let options = &body["stream_options"];
    match options["include_usage"].as_bool() {
        Some(true) if options["continuous_usage_stats"].as_bool() == Some(true) => UsagePlace::Each,
        Some(true) => UsagePlace::Last,
        _ => UsagePlace::None,
    }
}

/// The tool that the answer may call: the first of the request's tools.
fn tool(body: &Value) -> Tool {
    let first = &body["tools"][0];
    let name = first["function"]["name"]
        .as_str()
        .or_else(|| first["name"].as_str());
    let name = name.unwrap_or("lookup").to_owned();
    let choice = &body["tool_choice"];
    let kind = choice.as_str().or_else(|| choice["type"].as_str());
    match kind {
        Some("none") => Tool::Never,
        Some("required" | "any" | "function" | "tool") => Tool::Always(name),
        _ => Tool::Maybe(name),
    }
}

/// Reads the tokens of a prompt.
struct PromptReader<'a> {
    builder: PromptBuilder,
    inputs: Vec<String>,
    vocabulary: &'a Vocabulary,
}

impl PromptReader<'_> {
    fn read(&mut self, api: Api, body: &Value) -> Result<(), Mistake> {
        match api {
            Api::Chat | Api::Messages => {
                self.content(&body["system"]);
                let messages = body["messages"].as_array().filter(|all| !all.is_empty());
                let messages = messages.ok_or("`messages` is missing, empty or not a list")?;
                messages
                    .iter()
                    .for_each(|message| self.content(&message["content"]));
                Ok(())
            }
            Api::Completions => self.prompt(&body["prompt"]),
            Api::Responses => {
                self.content(&body["instructions"]);
                match &body["input"] {
                    Value::String(text) => self.text(text),
                    Value::Array(items) => items.iter().for_each(|item| {
                        self.content(&item["content"]);
                        // The result of a tool.
                        self.content(&item["output"]);
                    }),
                    _ => return Err("`input` is missing, or neither a text nor a list".to_owned()),
                }
                Ok(())
            }
            Api::Embeddings => self.embedded(&body["input"]),
            Api::Rerank => self.ranked(body),
        }
    }

    fn text(&mut self, text: &str) {
        words(text).for_each(|word| self.builder.push(word));
    }

    /// The content of a message: a text, or parts with texts. Other parts have no tokens.
    fn content(&mut self, content: &Value) {
        match content {
            Value::String(text) => self.text(text),
            Value::Array(parts) => {
                for part in parts {
                    match (&part["text"], &part["content"]) {
                        (Value::String(text), _) => self.text(text),
                        // The result of a tool.
                        (_, content) => self.content(content),
                    }
                }
            }
            _ => {}
        }
    }

    /// The prompt of a completion: a text or token ids, alone or as the only item of a list.
    fn prompt(&mut self, prompt: &Value) -> Result<(), Mistake> {
        match prompt {
            Value::String(text) => self.text(text),
            Value::Array(items) if items.iter().all(Value::is_u64) && !items.is_empty() => {
                self.ids(items)?;
            }
            Value::Array(items) if items.len() == 1 => self.prompt(&items[0])?,
            Value::Array(_) => return Err("`prompt`: this server takes one prompt".to_owned()),
            _ => return Err("`prompt` is missing, or neither a text nor token ids".to_owned()),
        }
        Ok(())
    }

    /// The words of token ids.
    fn ids(&mut self, ids: &[Value]) -> Result<(), Mistake> {
        let mut word = String::new();
        for id in ids {
            word.clear();
            let number = id.as_u64().and_then(|id| u32::try_from(id).ok());
            let is_known = number.is_some_and(|id| {
                push_syllabic(id, &mut word) || self.vocabulary.push_word(id, &mut word)
            });
            if !is_known {
                return Err(format!("`prompt`: unknown token {id}"));
            }
            self.builder.push(&word);
        }
        Ok(())
    }

    fn embedded(&mut self, input: &Value) -> Result<(), Mistake> {
        let single = std::slice::from_ref(input);
        let items = match input {
            Value::Array(items) if !items.iter().all(Value::is_u64) => &items[..],
            Value::Array(_) | Value::String(_) => single,
            _ => return Err("`input` is missing, or neither a text nor a list".to_owned()),
        };
        for item in items {
            self.input(item)?;
        }
        Ok(())
    }

    /// An input of embeddings, or a document of a ranking.
    fn input(&mut self, item: &Value) -> Result<(), Mistake> {
        if self.inputs.len() == INPUTS_MAX {
            return Err(format!("at most {INPUTS_MAX} inputs"));
        }
        match item {
            Value::Object(document) => self.content(document.get("text").unwrap_or(&Value::Null)),
            item => self.prompt(item)?,
        }
        self.inputs.push(match item {
            Value::String(text) => text.clone(),
            item => item.to_string(),
        });
        Ok(())
    }

    fn ranked(&mut self, body: &Value) -> Result<(), Mistake> {
        let query = body["query"].as_str().ok_or("`query` is missing")?;
        let documents = body["documents"]
            .as_array()
            .ok_or("`documents` is missing")?;
        self.text(query);
        for document in documents {
            self.input(document)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(api: Api, body: Value) -> Result<LlmRequest, Mistake> {
        let block = NonZeroUsize::new(2).unwrap();
        LlmRequest::read(
            api,
            body.to_string().as_bytes(),
            block,
            &Vocabulary::default(),
        )
    }

    /// Equal words are equal prompts, wherever they are.
    #[test]
    fn a_prompt_is_its_words() {
        let completion = read(
            Api::Completions,
            json!({"model": "m", "prompt": "ba be  bi\nbo"}),
        );
        let prompt = completion.unwrap().prompt;
        assert_eq!((prompt.tokens, prompt.blocks.len()), (4, 2));
        for (api, body) in [
            (Api::Completions, json!({"prompt": [0, 1, 2, 3]})),
            (Api::Completions, json!({"prompt": [[0, 1, 2, 3]]})),
            (Api::Completions, json!({"prompt": ["ba be bi bo"]})),
            (
                Api::Chat,
                json!({"messages": [{"role": "system", "content": "ba be"}, {"content": [{"type": "text", "text": "bi bo"}]}]}),
            ),
            (
                Api::Messages,
                json!({"max_tokens": 1, "system": "ba", "messages": [{"content": [{"type": "tool_result", "content": "be bi bo"}]}]}),
            ),
            (
                Api::Responses,
                json!({"instructions": "ba be", "input": "bi bo"}),
            ),
            (
                Api::Responses,
                json!({"input": [{"content": [{"type": "input_text", "text": "ba be bi bo"}]}]}),
            ),
            (
                Api::Responses,
                json!({"input": [
                    {"role": "user", "content": "ba be"},
                    {"type": "function_call", "call_id": "c", "name": "x", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "c", "output": "bi bo"},
                ]}),
            ),
            (Api::Embeddings, json!({"input": ["ba be", [2, 3]]})),
            (
                Api::Rerank,
                json!({"query": "ba", "documents": ["be", {"text": "bi bo"}]}),
            ),
        ] {
            let mut whole = json!({"model": "m"});
            whole
                .as_object_mut()
                .unwrap()
                .extend(body.as_object().unwrap().clone());
            assert_eq!(read(api, whole).unwrap().prompt, prompt, "{body}");
        }
    }

    #[test]
    fn what_a_request_asks_for_is_read() {
        let body = json!({
            "model": "m", "messages": [{"content": "x"}], "stream": true, "max_completion_tokens": 9,
            "stream_options": {"include_usage": true, "continuous_usage_stats": true},
            "ignore_eos": true, "min_tokens": 3, "tool_choice": "required",
            "tools": [{"type": "function", "function": {"name": "weather"}}],
        });
        let request = read(Api::Chat, body).unwrap();
        assert_eq!((request.tokens_max, request.tokens_min), (Some(9), 3));
        assert!(request.is_streamed && request.ignores_end);
        assert_eq!(request.usage, UsagePlace::Each);
        assert_eq!(request.tool, Tool::Always("weather".to_owned()));
    }

    #[test]
    fn mistakes_have_names() {
        let chat = json!([{"content": "x"}]);
        for (api, body, word) in [
            (Api::Chat, json!({}), "model"),
            (Api::Chat, json!({"model": "m"}), "messages"),
            (
                Api::Chat,
                json!({"model": "m", "messages": chat, "n": 2}),
                "`n`",
            ),
            (
                Api::Chat,
                json!({"model": "m", "messages": chat, "max_tokens": -1}),
                "max_tokens",
            ),
            (
                Api::Messages,
                json!({"model": "m", "messages": chat}),
                "max_tokens",
            ),
            (
                Api::Completions,
                json!({"model": "m", "prompt": ["a", "b"]}),
                "one prompt",
            ),
            (
                Api::Completions,
                json!({"model": "m", "prompt": [4_000_000_000_u64]}),
                "unknown token",
            ),
            (Api::Responses, json!({"model": "m"}), "input"),
            (Api::Embeddings, json!({"model": "m", "input": 1}), "input"),
            (
                Api::Rerank,
                json!({"model": "m", "query": "q"}),
                "documents",
            ),
        ] {
            let mistake = read(api, body).unwrap_err();
            assert!(mistake.contains(word), "{mistake}");
        }
        let block = NonZeroUsize::MIN;
        let bad = LlmRequest::read(Api::Chat, b"{", block, &Vocabulary::default());
        assert!(bad.unwrap_err().contains("JSON"));
    }
}
