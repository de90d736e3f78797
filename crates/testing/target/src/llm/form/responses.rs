//! Responses, OpenAI's newer interface.

use super::{
    Channel, Finish, Form, FormSetting, OVERLOADED, Piece, TokenCounts, WholeAnswer, around,
};
use crate::llm::behaviour::UsagePlace;
use crate::llm::events::{EventName, EventWriter};
use serde_json::{Value, json};

/// A response. Each channel is an item of its output.
pub(super) struct Responses {
    setting: FormSetting,
    /// The number of the next event.
    sequence: u64,
    /// The finished items.
    items: Vec<Value>,
    /// The text of the current item.
    text: String,
}

/// The names of a channel's events, and the part of its item that has the text.
struct ItemForm {
    delta: &'static str,
    done: &'static str,
    /// The field of the whole text in `done`.
    field: &'static str,
    part: Option<&'static str>,
}

impl Channel {
    fn item_form(self) -> ItemForm {
        match self {
            Self::Reasoning => ItemForm {
                delta: "response.reasoning_text.delta",
                done: "response.reasoning_text.done",
                field: "text",
                part: Some("reasoning_text"),
            },
            Self::Text => ItemForm {
                delta: "response.output_text.delta",
                done: "response.output_text.done",
                field: "text",
                part: Some("output_text"),
            },
            Self::Tool => ItemForm {
                delta: "response.function_call_arguments.delta",
                done: "response.function_call_arguments.done",
                field: "arguments",
                part: None,
            },
        }
    }
}

impl Responses {
    pub(super) fn new(setting: FormSetting) -> Self {
        Self {
            setting,
            sequence: 0,
            items: Vec::new(),
            text: String::new(),
        }
    }

    /// Sends an event with these fields, its type and its number.
    fn event(&mut self, name: &'static str, mut event: Value, out: &mut EventWriter) {
        event["type"] = Value::from(name);
        event["sequence_number"] = Value::from(self.sequence);
        self.sequence += 1;
        out.event(EventName::Sent(name), &[&event.to_string()]);
    }

    /// The response in a state.
    fn response(&self, status: &str, counts: Option<TokenCounts>) -> Value {
        let usage = counts.filter(|_| self.setting.usage != UsagePlace::None);
        let details = match status {
            "incomplete" => json!({ "reason": "max_output_tokens" }),
            _ => Value::Null,
        };
        json!({
            "id": self.setting.id("resp_"),
            "object": "response",
            "created_at": self.setting.created,
            "status": status,
            "incomplete_details": details,
            "model": self.setting.model,
            "output": self.items,
            "usage": usage.map(|counts| json!({
                "input_tokens": counts.prompt,
                "input_tokens_details": { "cached_tokens": counts.cached },
                "output_tokens": counts.output,
                "output_tokens_details": { "reasoning_tokens": counts.reasoning },
                "total_tokens": counts.prompt + counts.output,
            })),
        })
    }

    fn item_id(&self) -> String {
        format!("item_{:08x}_{}", self.setting.number, self.items.len())
    }

    /// An item with this text.
    fn item(&self, channel: Channel, text: &str, status: &str) -> Value {
        let id = self.item_id();
        let part = |kind: &str| match text.is_empty() {
            true => json!([]),
            false => json!([{ "type": kind, "text": text, "annotations": [] }]),
        };
        match channel {
            Channel::Reasoning => json!({
                "id": id, "type": "reasoning", "summary": [], "status": status,
                "content": part("reasoning_text"),
            }),
            Channel::Text => json!({
                "id": id, "type": "message", "role": "assistant", "status": status,
                "content": part("output_text"),
            }),
            Channel::Tool => json!({
                "id": id, "type": "function_call", "call_id": self.setting.id("call_"),
                "name": self.setting.tool, "arguments": text, "status": status,
            }),
        }
    }

    fn start_item(&mut self, channel: Channel, out: &mut EventWriter) {
        self.text.clear();
        let (index, id) = (self.items.len(), self.item_id());
        let item = self.item(channel, "", "in_progress");
        let added = json!({ "output_index": index, "item": item });
        self.event("response.output_item.added", added, out);
        if let Some(part) = channel.item_form().part {
            let part = json!({
                "item_id": id, "output_index": index, "content_index": 0,
                "part": { "type": part, "text": "", "annotations": [] },
            });
            self.event("response.content_part.added", part, out);
        }
    }

    fn end_item(&mut self, channel: Channel, out: &mut EventWriter) {
        let (index, id, form) = (self.items.len(), self.item_id(), channel.item_form());
        let text = match channel {
            Channel::Tool => super::arguments(&self.text),
            _ => self.text.clone(),
        };
        let mut done = json!({ "item_id": id, "output_index": index });
        done[form.field] = Value::from(&*text);
        if let Some(part) = form.part {
            done["content_index"] = Value::from(0);
            self.event(form.done, done, out);
            let part = json!({
                "item_id": id, "output_index": index, "content_index": 0,
                "part": { "type": part, "text": text, "annotations": [] },
            });
            self.event("response.content_part.done", part, out);
        } else {
            self.event(form.done, done, out);
        }
        let item = self.item(channel, &text, "completed");
        let done = json!({ "output_index": index, "item": item });
        self.items.push(item);
        self.event("response.output_item.done", done, out);
    }
}

impl Form for Responses {
    fn open(&mut self, _: TokenCounts, out: &mut EventWriter) {
        for name in ["response.created", "response.in_progress"] {
            let response = self.response("in_progress", None);
            self.event(name, json!({ "response": response }), out);
        }
    }

    fn piece(&mut self, piece: &Piece<'_>, out: &mut EventWriter) {
        if piece.is_first {
            self.start_item(piece.channel, out);
        }
        self.text.push_str(piece.text);
        let name = piece.channel.item_form().delta;
        let [before, after] = around(piece);
        let (id, index) = (self.item_id(), self.items.len().to_string());
        let sequence = self.sequence.to_string();
        self.sequence += 1;
        let parts = [
            "{\"type\":\"",
            name,
            "\",\"item_id\":\"",
            &id,
            "\",\"output_index\":",
            &index,
            ",\"content_index\":0,\"sequence_number\":",
            &sequence,
            ",\"delta\":\"",
            before,
            piece.text,
            after,
            "\"}",
        ];
        out.event(EventName::Sent(name), &parts);
        if piece.is_last {
            self.end_item(piece.channel, out);
        }
    }

    fn close(&mut self, finish: Finish, counts: TokenCounts, out: &mut EventWriter) {
        let (name, status) = match finish {
            Finish::Length => ("response.incomplete", "incomplete"),
            Finish::Stop | Finish::Tool => ("response.completed", "completed"),
        };
        let response = self.response(status, Some(counts));
        self.event(name, json!({ "response": response }), out);
        out.done(self.setting.done);
    }

    fn error(&mut self, out: &mut EventWriter) {
        let error = json!({ "code": "overloaded_error", "message": OVERLOADED, "param": null });
        self.event("error", error, out);
    }

    fn broken(&mut self, out: &mut EventWriter) {
        let name = "response.output_text.delta";
        out.event(EventName::Sent(name), &["{\"type\":\"", name, "\",\"del"]);
    }

    fn whole(&self, answer: &WholeAnswer, finish: Finish, counts: TokenCounts) -> Value {
        let status = match finish {
            Finish::Length => "incomplete",
            Finish::Stop | Finish::Tool => "completed",
        };
        let mut response = self.response(status, Some(counts));
        let mut output = Vec::new();
        if !answer.reasoning.is_empty() {
            output.push(self.item(Channel::Reasoning, &answer.reasoning, "completed"));
        }
        output.push(match &answer.arguments {
            Some(arguments) => self.item(Channel::Tool, arguments, "completed"),
            None => self.item(Channel::Text, &answer.text, "completed"),
        });
        response["output"] = Value::from(output);
        response
    }
}
