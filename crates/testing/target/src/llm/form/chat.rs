//! Chat completions.

use super::{
    Channel, Finish, Form, FormSetting, OVERLOADED, Piece, TokenCounts, WholeAnswer, around, quoted,
};
use crate::llm::api::Api;
use crate::llm::behaviour::{ReasoningField, UsagePlace};
use crate::llm::events::{EventName, EventWriter};
use serde_json::{Value, json};

const NAME: EventName = EventName::Optional("chat.completion.chunk");
const UNFINISHED: &str = "},\"logprobs\":null,\"finish_reason\":null}]";

/// A chat's answer.
pub(super) struct Chat {
    setting: FormSetting,
    /// A chunk up to its choices.
    head: String,
    call: String,
}

impl Chat {
    pub(super) fn new(setting: FormSetting) -> Self {
        let (id, model) = (setting.id("chatcmpl-"), quoted(&setting.model));
        let head = format!(
            "{{\"id\":\"{id}\",\"object\":\"chat.completion.chunk\",\"created\":{},\"model\":{model},",
            setting.created
        );
        Self {
            call: setting.id("call_"),
            head,
            setting,
        }
    }

    /// A chunk with a delta.
    fn delta(&self, delta: &[&str], counts: TokenCounts, out: &mut EventWriter) {
        let usage = match self.setting.usage {
            UsagePlace::Each => format!(",\"usage\":{}", counts.to_json()),
            _ => String::new(),
        };
        let mut parts = vec![&*self.head, "\"choices\":[{\"index\":0,\"delta\":{"];
        parts.extend_from_slice(delta);
        parts.extend([UNFINISHED, &usage, "}"]);
        out.event(NAME, &parts);
    }
}

impl Form for Chat {
    fn open(&mut self, counts: TokenCounts, out: &mut EventWriter) {
        let delta = ["\"role\":\"assistant\",\"content\":\"\""];
        self.delta(&delta, counts, out);
    }

    fn piece(&mut self, piece: &Piece<'_>, out: &mut EventWriter) {
        let (text, counts) = (piece.text, piece.counts);
        let [before, after] = around(piece);
        match (piece.channel, self.setting.field) {
            (Channel::Text, _) => self.delta(&["\"content\":\"", text, "\""], counts, out),
            (Channel::Reasoning, ReasoningField::ReasoningContent) => {
                self.delta(&["\"reasoning_content\":\"", text, "\""], counts, out);
            }
            (Channel::Reasoning, ReasoningField::Reasoning) => {
                self.delta(&["\"reasoning\":\"", text, "\""], counts, out);
            }
            (Channel::Reasoning, ReasoningField::Both) => {
                let both = [
                    "\"reasoning\":\"",
                    text,
                    "\",\"reasoning_content\":\"",
                    text,
                    "\"",
                ];
                self.delta(&both, counts, out);
            }
            (Channel::Tool, _) if piece.is_first => {
                let start = format!(
                    "\"tool_calls\":[{{\"index\":0,\"id\":\"{}\",\"type\":\"function\",\
                     \"function\":{{\"name\":{},\"arguments\":\"",
                    self.call,
                    quoted(&self.setting.tool)
                );
                self.delta(&[&start, before, text, after, "\"}}]"], counts, out);
            }
            (Channel::Tool, _) => {
                let start = "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"";
                self.delta(&[start, text, after, "\"}}]"], counts, out);
            }
        }
    }

    fn close(&mut self, finish: Finish, counts: TokenCounts, out: &mut EventWriter) {
        let usage = format!("\"usage\":{}", counts.to_json());
        let (reason, place) = (finish.reason(), self.setting.usage);
        let start = "\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"";
        let with_usage = matches!(place, UsagePlace::Each | UsagePlace::WithFinish);
        let comma = if with_usage { "," } else { "" };
        let own = if with_usage { &*usage } else { "" };
        out.event(NAME, &[&self.head, start, reason, "\"}]", comma, own, "}"]);
        if matches!(place, UsagePlace::Last | UsagePlace::Each) {
            out.event(NAME, &[&self.head, "\"choices\":[],", &usage, "}"]);
        }
        out.done(self.setting.done);
    }

    fn error(&mut self, out: &mut EventWriter) {
        let error = Api::Chat.error("overloaded_error", OVERLOADED).to_string();
        out.event(EventName::Optional("error"), &[&error]);
    }

    fn broken(&mut self, out: &mut EventWriter) {
        out.event(NAME, &[&self.head, "\"choices\":[{\"index\":0,\"del"]);
    }

    fn whole(&self, answer: &WholeAnswer, finish: Finish, counts: TokenCounts) -> Value {
        let mut message = json!({ "role": "assistant", "content": answer.text });
        if !answer.reasoning.is_empty() {
            let text = &answer.reasoning;
            if self.setting.field != ReasoningField::Reasoning {
                message["reasoning_content"] = Value::from(&**text);
            }
            if self.setting.field != ReasoningField::ReasoningContent {
                message["reasoning"] = Value::from(&**text);
            }
        }
        if let Some(arguments) = &answer.arguments {
            message["content"] = Value::Null;
            message["tool_calls"] = json!([{
                "id": self.call,
                "type": "function",
                "function": { "name": self.setting.tool, "arguments": arguments },
            }]);
        }
        json!({
            "id": self.setting.id("chatcmpl-"),
            "object": "chat.completion",
            "created": self.setting.created,
            "model": self.setting.model,
            "choices": [{
                "index": 0,
                "message": message,
                "logprobs": null,
                "finish_reason": finish.reason(),
            }],
            "usage": counts.to_json(),
        })
    }
}
