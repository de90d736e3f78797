//! The bodies of requests to language models, as templates.

use super::api::{has_messages, has_stream_options, limit};
use super::is_streamed;
use crate::json_template::template;
use crate::scope::{Scope, is_on};
use drumfire_document::json_strings::{literal, map};
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
    /// Whether braces in the texts of the plan begin templates.
    pub(super) templates: Templates,
    /// The parts that a session determines, if the request is a turn of one.
    pub(super) session: Option<&'a SessionBody>,
}

/// The parts of a turn's body that a session determines, as templates.
pub(super) struct SessionBody {
    /// The list of messages.
    pub(super) messages: String,
    /// The prompt's text, for an API without messages.
    pub(super) text: String,
    /// The maximum number of tokens of the answer.
    pub(super) limit: String,
}

/// Whether braces in the texts of the plan begin templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Templates {
    Expanded,
    Literal,
}

impl Templates {
    /// JSON of the plan as a part of the body's template. Braces of literal texts are escaped as
    /// JSON allows.
    fn json(self, json: &str) -> String {
        match self {
            Self::Expanded => template(json),
            Self::Literal => map(json, |text| literal(text).replace('{', "\\u007b")),
        }
    }

    /// A text of the plan as a JSON string in the body's template.
    pub(super) fn text(self, text: &str) -> String {
        self.json(&literal(text))
    }
}

/// The members of a JSON object, in order, each with the template of its value.
struct Members(Vec<(String, String)>, Templates);

impl Members {
    fn add(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// Replaces a member, or adds it; a value of `null` removes it.
    fn set(&mut self, name: &str, value: &Json) {
        self.0.retain(|(known, _)| known != name);
        if !value.is_null() {
            self.add(name, self.1.json(&value.to_string()));
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
    let mut members = Members(Vec::new(), parts.templates);
    members.add(
        "model",
        match models {
            [(model, _)] => parts.templates.text(model),
            _ => format!("\"{{{{{feed}.model}}}}\""),
        },
    );
    let prompt = match (&settings.prompt, parts.session) {
        (_, Some(session)) => format!("\"{}\"", session.text),
        (Some(prompt), None) => parts.templates.text(&prompt.value),
        (None, None) => format!("\"{{{{{feed}.prompt}}}}\""),
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
        let tokens = match parts.session {
            Some(session) => session.limit.clone(),
            None => format!("{{{{{feed}.max_tokens}}}}"),
        };
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
    if let Some(tools) = &settings.tools.0 {
        members.set("tools", &tools_of(tools, api, scope)?);
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
    if let Some(session) = parts.session {
        return Some(session.messages.clone());
    }
    if let Some(given) = &parts.settings.messages.0 {
        return given_messages(given, parts.templates, scope);
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
fn given_messages(given: &Text, templates: Templates, scope: &mut Scope<'_>) -> Option<String> {
    let read: Result<Json, _> = serde_json::from_str(&given.value);
    let is_message = |message: &Json| message.get("role").is_some_and(Json::is_string);
    let is_list = match &read {
        Ok(Json::Array(messages)) => !messages.is_empty() && messages.iter().all(is_message),
        _ => false,
    };
    let message = "messages are a list of objects with a role, such as \
                   `[{\"role\": \"user\", \"content\": \"Hello\"}]`";
    scope.found.add_if(!is_list, &given.place, message);
    is_list.then(|| templates.json(&given.value))
}

/// The list of tools. A function of a chat has an object of its own within the tool; in the other
/// interfaces, its name belongs to the tool itself, and services refuse the form of a chat.
fn tools_of(text: &Text, api: LlmApi, scope: &mut Scope<'_>) -> Option<Json> {
    let read: Result<Json, _> = serde_json::from_str(&text.value);
    let read = read.ok().filter(|read| {
        let tools = read.as_array();
        tools.is_some_and(|tools| !tools.is_empty() && tools.iter().all(Json::is_object))
    });
    let message = "tools are a list of objects in the form of the API, such as \
                   `[{\"type\": \"function\", \"function\": {\"name\": \"search\"}}]`";
    let read = scope.found.ok(&text.place, read.ok_or(message))?;
    let example = match api {
        LlmApi::Responses => "{\"type\": \"function\", \"name\": \"search\"}",
        _ => "{\"name\": \"search\", \"input_schema\": {\"type\": \"object\"}}",
    };
    let of_chat = |tool: &Json| tool.get("function").is_some();
    if api != LlmApi::Chat && read.as_array().is_some_and(|all| all.iter().any(of_chat)) {
        let name = api.name();
        let message =
            format!("the tools have the form of the API `chat`; for `{name}`, write {example}");
        scope.found.add(&text.place, message);
        return None;
    }
    Some(read)
}

/// The members of a JSON object.
fn object(text: &Text, scope: &mut Scope<'_>) -> Option<serde_json::Map<String, Json>> {
    let read: Result<serde_json::Map<String, Json>, _> = serde_json::from_str(&text.value);
    let message = "members of a body are a JSON object, such as `{\"temperature\": 0}`";
    let read = read.map_err(|_| message);
    scope.found.ok(&text.place, read)
}
