//! Messages, Anthropic's interface.

use super::{
    Channel, Finish, Form, FormSetting, OVERLOADED, Piece, TokenCounts, WholeAnswer, around,
};
use crate::llm::api::Api;
use crate::llm::behaviour::UsagePlace;
use crate::llm::events::{EventName, EventWriter};
use serde_json::{Value, json};

/// A message. Each channel is a block of its content.
pub(super) struct Messages {
    setting: FormSetting,
    /// The index of the current block.
    block: u32,
}

impl Messages {
    pub(super) fn new(setting: FormSetting) -> Self {
        Self { setting, block: 0 }
    }

    fn usage(&self, counts: TokenCounts) -> Value {
        json!({
            "input_tokens": counts.prompt - counts.cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": counts.cached,
            "output_tokens": counts.output,
        })
    }

    fn start_block(&self, channel: Channel, out: &mut EventWriter) {
        let block = match channel {
            Channel::Reasoning => json!({ "type": "thinking", "thinking": "", "signature": "" }),
            Channel::Text => json!({ "type": "text", "text": "" }),
            Channel::Tool => self.tool(json!({})),
        };
        let event = json!({
            "type": "content_block_start", "index": self.block, "content_block": block,
        });
        out.event(
            EventName::Sent("content_block_start"),
            &[&event.to_string()],
        );
    }

    fn tool(&self, input: Value) -> Value {
        json!({
            "type": "tool_use",
            "id": self.setting.id("toolu_"),
            "name": self.setting.tool,
            "input": input,
        })
    }

    fn end_block(&mut self, channel: Channel, out: &mut EventWriter) {
        let index = self.block.to_string();
        if channel == Channel::Reasoning {
            let parts = [
                "{\"type\":\"content_block_delta\",\"index\":",
                &index,
                ",\"delta\":{\"type\":\"signature_delta\",\"signature\":\"bW9jaw==\"}}",
            ];
            out.event(EventName::Sent("content_block_delta"), &parts);
        }
        let parts = ["{\"type\":\"content_block_stop\",\"index\":", &index, "}"];
        out.event(EventName::Sent("content_block_stop"), &parts);
        self.block += 1;
    }

    fn reason(finish: Finish) -> &'static str {
        match finish {
            Finish::Stop => "end_turn",
            Finish::Length => "max_tokens",
            Finish::Tool => "tool_use",
        }
    }
}

impl Form for Messages {
    fn open(&mut self, counts: TokenCounts, out: &mut EventWriter) {
        let event = json!({
            "type": "message_start",
            "message": {
                "id": self.setting.id("msg_"),
                "type": "message",
                "role": "assistant",
                "model": self.setting.model,
                "content": [],
                "stop_reason": null,
                "stop_sequence": null,
                "usage": self.usage(counts),
            },
        });
        out.event(EventName::Sent("message_start"), &[&event.to_string()]);
        out.event(EventName::Sent("ping"), &["{\"type\":\"ping\"}"]);
    }

    fn piece(&mut self, piece: &Piece<'_>, out: &mut EventWriter) {
        if piece.is_first {
            self.start_block(piece.channel, out);
        }
        let [before, after] = around(piece);
        let delta = match piece.channel {
            Channel::Reasoning => "\"thinking_delta\",\"thinking\":\"",
            Channel::Text => "\"text_delta\",\"text\":\"",
            Channel::Tool => "\"input_json_delta\",\"partial_json\":\"",
        };
        let index = self.block.to_string();
        let parts = [
            "{\"type\":\"content_block_delta\",\"index\":",
            &index,
            ",\"delta\":{\"type\":",
            delta,
            before,
            piece.text,
            after,
            "\"}}",
        ];
        out.event(EventName::Sent("content_block_delta"), &parts);
        if piece.is_last {
            self.end_block(piece.channel, out);
        }
    }

    fn close(&mut self, finish: Finish, counts: TokenCounts, out: &mut EventWriter) {
        let mut event = json!({
            "type": "message_delta",
            "delta": { "stop_reason": Self::reason(finish), "stop_sequence": null },
        });
        if self.setting.usage != UsagePlace::None {
            event["usage"] = json!({ "output_tokens": counts.output });
        }
        out.event(EventName::Sent("message_delta"), &[&event.to_string()]);
        out.event(
            EventName::Sent("message_stop"),
            &["{\"type\":\"message_stop\"}"],
        );
        out.done(self.setting.done);
    }

    fn error(&mut self, out: &mut EventWriter) {
        let error = Api::Messages
            .error("overloaded_error", OVERLOADED)
            .to_string();
        out.event(EventName::Sent("error"), &[&error]);
    }

    fn broken(&mut self, out: &mut EventWriter) {
        let data = "{\"type\":\"content_block_delta\",\"ind";
        out.event(EventName::Sent("content_block_delta"), &[data]);
    }

    fn whole(&self, answer: &WholeAnswer, finish: Finish, counts: TokenCounts) -> Value {
        let mut content = Vec::new();
        if !answer.reasoning.is_empty() {
            content.push(json!({
                "type": "thinking", "thinking": answer.reasoning, "signature": "bW9jaw==",
            }));
        }
        match &answer.arguments {
            Some(arguments) => {
                content.push(self.tool(serde_json::from_str(arguments).unwrap_or_default()));
            }
            None => content.push(json!({ "type": "text", "text": answer.text })),
        }
        json!({
            "id": self.setting.id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": self.setting.model,
            "content": content,
            "stop_reason": Self::reason(finish),
            "stop_sequence": null,
            "usage": self.usage(counts),
        })
    }
}
