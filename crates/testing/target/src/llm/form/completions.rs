//! Completions of a text. All tokens are text.

use super::{Finish, Form, FormSetting, OVERLOADED, Piece, TokenCounts, WholeAnswer, quoted};
use crate::llm::api::Api;
use crate::llm::behaviour::UsagePlace;
use crate::llm::events::{EventName, EventWriter};
use serde_json::{Value, json};

const NAME: EventName = EventName::Optional("text_completion");
const CHOICE: &str = "\"choices\":[{\"index\":0,\"text\":\"";

/// A completion.
pub(super) struct Completions {
    setting: FormSetting,
    /// A chunk up to its choices.
    head: String,
}

impl Completions {
    pub(super) fn new(setting: FormSetting) -> Self {
        let (id, model) = (setting.id("cmpl-"), quoted(&setting.model));
        let head = format!(
            "{{\"id\":\"{id}\",\"object\":\"text_completion\",\"created\":{},\"model\":{model},",
            setting.created
        );
        Self { head, setting }
    }
}

impl Form for Completions {
    fn open(&mut self, _: TokenCounts, _: &mut EventWriter) {}

    fn piece(&mut self, piece: &Piece<'_>, out: &mut EventWriter) {
        let usage = match self.setting.usage {
            UsagePlace::Each => format!(",\"usage\":{}", piece.counts.to_json()),
            _ => String::new(),
        };
        let end = "\",\"logprobs\":null,\"finish_reason\":null}]";
        out.event(NAME, &[&self.head, CHOICE, piece.text, end, &usage, "}"]);
    }

    fn close(&mut self, finish: Finish, counts: TokenCounts, out: &mut EventWriter) {
        let usage = format!("\"usage\":{}", counts.to_json());
        let place = self.setting.usage;
        let end = "\",\"logprobs\":null,\"finish_reason\":\"";
        let with_usage = matches!(place, UsagePlace::Each | UsagePlace::WithFinish);
        let comma = if with_usage { "," } else { "" };
        let own = if with_usage { &*usage } else { "" };
        let parts = [
            &*self.head,
            CHOICE,
            end,
            finish.reason(),
            "\"}]",
            comma,
            own,
            "}",
        ];
        out.event(NAME, &parts);
        if matches!(place, UsagePlace::Last | UsagePlace::Each) {
            out.event(NAME, &[&self.head, "\"choices\":[],", &usage, "}"]);
        }
        out.done(self.setting.done);
    }

    fn error(&mut self, out: &mut EventWriter) {
        let error = Api::Completions
            .error("overloaded_error", OVERLOADED)
            .to_string();
        out.event(EventName::Optional("error"), &[&error]);
    }

    fn broken(&mut self, out: &mut EventWriter) {
        out.event(NAME, &[&self.head, "\"choices\":[{\"ind"]);
    }

    fn whole(&self, answer: &WholeAnswer, finish: Finish, counts: TokenCounts) -> Value {
        json!({
            "id": self.setting.id("cmpl-"),
            "object": "text_completion",
            "created": self.setting.created,
            "model": self.setting.model,
            "choices": [{
                "index": 0,
                "text": answer.text,
                "logprobs": null,
                "finish_reason": finish.reason(),
            }],
            "usage": counts.to_json(),
        })
    }
}
