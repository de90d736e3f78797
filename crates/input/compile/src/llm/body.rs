//! The bodies of requests to language models, as templates.

use super::api::{has_messages, has_stream_options, limit};
use super::is_streamed;
use crate::json_template::template;
use crate::scope::{Scope, is_on};
use drumfire_document::json_strings::literal;
use drumfire_document::{LlmSettings, Text};
use drumfire_plan::LlmApi;
use serde_json::Value as Json;

/// What a body is made of.
pub(super) struct BodyParts<'a> {
    pub(super) api: LlmApi,
    /// The name of the feed with the prompts.
    pub(super) feed: &'a str,
    pub(super) settings: &'a LlmSettings,
    pub(super) models: &'a [(String, u64)],
    /// Whether the request limits its answer.
    pub(super) has_limit: bool,
    /// Whether the rows of the feed have lists of messages.
    pub(super) has_messages: bool,
}

/// The members of a JSON object, in order, each with the template of its value.
#[derive(Default)]
struct Members(Vec<(String, String)>);

impl Members {
    fn add(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// Replaces a member, or adds it; a value of `null` removes it.
    fn set(&mut self, name: &str, value: &Json) {
        self.0.retain(|(known, _)| known != name);
        if !value.is_null() {
            self.add(name, template(&value.to_string()));
        }
    }

    fn json(&self) -> String {
        let members = self.0.iter();
        let members = members.map(|(name, value)| format!("{}:{value}", literal(name)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}

/// The template of a request's body. Returns `None` after a mistake was noted.
pub(super) fn body(parts: &BodyParts<'_>, scope: &mut Scope<'_>) -> Option<String> {
    let BodyParts {
        api,
        feed,
        settings,
        models,
        ..
    } = *parts;
    let mut members = Members::default();
    members.add(
        "model",
        match models {
            [(model, _)] => template(&literal(model)),
            _ => format!("\"{{{{{feed}.model}}}}\""),
        },
    );
    let prompt = match &settings.prompt {
        Some(prompt) => template(&literal(&prompt.value)),
        None => format!("\"{{{{{feed}.prompt}}}}\""),
    };
    let messages = messages(parts, &prompt, scope)?;
    match api {
        LlmApi::Chat | LlmApi::Messages => members.add("messages", messages),
        LlmApi::Completions => members.add("prompt", prompt),
        LlmApi::Responses => {
            members.add("input", messages);
            // The server would keep each answer otherwise.
            members.add("store", "false");
        }
        LlmApi::Embeddings => members.add("input", prompt),
        LlmApi::Rerank => {
            members.add("query", prompt);
            members.add("documents", format!("{{{{{feed}.documents}}}}"));
        }
    }
    if parts.has_limit && api.streams() {
        let tokens = format!("{{{{{feed}.max_tokens}}}}");
        members.add(limit(api), tokens.clone());
        if is_on(&settings.exact_output) {
            members.add("min_tokens", tokens);
            members.add("ignore_eos", "true");
        }
    }
    if api.streams() && is_streamed(settings) {
        members.add("stream", "true");
        if has_stream_options(api) {
            members.add(
                "stream_options",
                match is_on(&settings.continuous_usage) {
                    true => "{\"include_usage\":true,\"continuous_usage_stats\":true}",
                    false => "{\"include_usage\":true}",
                },
            );
        }
    }
    if let Some(extra) = &settings.extra.0 {
        for (name, value) in &object(extra, scope)? {
            members.set(name, value);
        }
    }
    Some(members.json())
}

/// The template of a request's messages: given ones, those of a feed, or a prompt as the only one.
fn messages(parts: &BodyParts<'_>, prompt: &str, scope: &mut Scope<'_>) -> Option<String> {
    let BodyParts { api, feed, .. } = *parts;
    if let Some(given) = &parts.settings.messages.0 {
        return given_messages(given, scope);
    }
    if parts.has_messages && !has_messages(api) {
        let place = parts.settings.trace.file.as_ref().map(|file| &file.place);
        let message = "the trace has messages, which only the APIs `chat`, `responses` and \
                       `messages` take";
        scope.found.add(place?, message);
        return None;
    }
    Some(match parts.has_messages {
        true => format!("{{{{{feed}.messages}}}}"),
        false => format!("[{{\"role\":\"user\",\"content\":{prompt}}}]"),
    })
}

/// The template of messages that the plan contains.
fn given_messages(given: &Text, scope: &mut Scope<'_>) -> Option<String> {
    let read: Result<Json, _> = serde_json::from_str(&given.value);
    let is_message = |message: &Json| message.get("role").is_some_and(Json::is_string);
    let is_list = match &read {
        Ok(Json::Array(messages)) => !messages.is_empty() && messages.iter().all(is_message),
        _ => false,
    };
    let message = "messages are a list of objects with a role, such as \
                   `[{\"role\": \"user\", \"content\": \"Hello\"}]`";
    scope.found.add_if(!is_list, &given.place, message);
    is_list.then(|| template(&given.value))
}

/// The members of a JSON object.
fn object(text: &Text, scope: &mut Scope<'_>) -> Option<serde_json::Map<String, Json>> {
    let read: Result<serde_json::Map<String, Json>, _> = serde_json::from_str(&text.value);
    let message = "members of a body are a JSON object, such as `{\"temperature\": 0}`";
    let read = read.map_err(|_| message);
    scope.found.ok(&text.place, read)
}
