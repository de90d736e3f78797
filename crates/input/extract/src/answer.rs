//! Values of a language model's answer: its text, its messages for the next turn, and its calls of
//! tools.

use crate::ParseError;
use crate::pick::{Form, write_text};
use drumfire_plan::{AnswerText, LlmApi, ToolCall, ValueForm, suggestion};

/// A part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerPart {
    /// The visible text.
    Text,
    /// The messages that repeat the answer in the next turn, separated by commas.
    Messages,
    /// The calls of tools, as a JSON list.
    Calls,
}

const PARTS: [(&str, AnswerPart); 3] = [
    ("text", AnswerPart::Text),
    ("message", AnswerPart::Messages),
    ("calls", AnswerPart::Calls),
];

impl AnswerPart {
    /// Parses the word after `answer`; without a word, the part is the text.
    pub(crate) fn parse(word: &str) -> Result<Self, ParseError> {
        if word.is_empty() {
            return Ok(Self::Text);
        }
        let found = PARTS.iter().find(|(name, _)| *name == word);
        found.map(|(_, part)| *part).ok_or_else(|| {
            let near = suggestion(word, PARTS.map(|(name, _)| name));
            let word = word.escape_debug();
            let forms = "write `answer`, `answer message` or `answer calls`";
            ParseError::new(
                0,
                format!("unknown part `{word}` of an answer{near}; {forms}"),
            )
        })
    }

    /// Appends the part, and returns its type.
    pub(crate) fn write(self, answer: &AnswerText, out: &mut String) -> ValueForm {
        match (self, answer.api) {
            (Self::Text, _) => out.push_str(&answer.text),
            (Self::Messages, LlmApi::Messages) => write_blocks(answer, out),
            (Self::Messages, LlmApi::Responses) => write_items(answer, out),
            (Self::Messages, _) => write_message(answer, out),
            (Self::Calls, _) => {
                write_calls(answer, out);
                return ValueForm::Json;
            }
        }
        ValueForm::Text
    }
}

/// Appends members of an object, each with a text; the first follows the opening brace.
fn members(parts: &[(&str, &str)], out: &mut String) {
    out.push('{');
    for (n, (name, text)) in parts.iter().enumerate() {
        out.push_str(if n == 0 { "\"" } else { ",\"" });
        out.push_str(name);
        out.push_str("\":");
        write_text(text, Form::Json, out);
    }
}

/// Appends values in brackets, separated by commas.
fn list<T>(values: &[T], out: &mut String, mut each: impl FnMut(&T, &mut String)) {
    out.push('[');
    for (n, value) in values.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        each(value, out);
    }
    out.push(']');
}

fn write_calls(answer: &AnswerText, out: &mut String) {
    list(&answer.calls, out, |call, out| {
        let ToolCall {
            id,
            name,
            arguments,
        } = call;
        members(&[("id", id), ("name", name), ("arguments", arguments)], out);
        out.push('}');
    });
}

/// Appends a message of a chat. Its reasoning is left out, as chat templates do.
fn write_message(answer: &AnswerText, out: &mut String) {
    members(&[("role", "assistant"), ("content", &answer.text)], out);
    if !answer.calls.is_empty() {
        out.push_str(",\"tool_calls\":");
        list(&answer.calls, out, |call, out| {
            members(&[("id", &call.id), ("type", "function")], out);
            out.push_str(",\"function\":");
            let function = [("name", &*call.name), ("arguments", &*call.arguments)];
            members(&function, out);
            out.push_str("}}");
        });
    }
    out.push('}');
}

/// Appends a message of Anthropic's interface. Reasoning is sent back with its signature only.
fn write_blocks(answer: &AnswerText, out: &mut String) {
    members(&[("role", "assistant")], out);
    out.push_str(",\"content\":[");
    let start = out.len();
    let next = |out: &mut String| {
        if out.len() > start {
            out.push(',');
        }
    };
    if !answer.signature.is_empty() {
        let thinking = [
            ("type", "thinking"),
            ("thinking", &*answer.reasoning),
            ("signature", &*answer.signature),
        ];
        members(&thinking, out);
        out.push('}');
    }
    if !answer.text.is_empty() {
        next(out);
        members(&[("type", "text"), ("text", &answer.text)], out);
        out.push('}');
    }
    for call in &answer.calls {
        next(out);
        let tool = [
            ("type", "tool_use"),
            ("id", &*call.id),
            ("name", &*call.name),
        ];
        members(&tool, out);
        out.push_str(",\"input\":");
        out.push_str(&call.arguments);
        out.push('}');
    }
    out.push_str("]}");
}

/// Appends items of OpenAI's interface of responses: a message, and the calls.
fn write_items(answer: &AnswerText, out: &mut String) {
    let has_text = !answer.text.is_empty() || answer.calls.is_empty();
    if has_text {
        members(&[("role", "assistant"), ("content", &answer.text)], out);
        out.push('}');
    }
    for (n, call) in answer.calls.iter().enumerate() {
        if n > 0 || has_text {
            out.push(',');
        }
        let item = [
            ("type", "function_call"),
            ("call_id", &*call.id),
            ("name", &*call.name),
            ("arguments", &*call.arguments),
        ];
        members(&item, out);
        out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::AnswerPart;
    use drumfire_plan::{AnswerText, LlmApi, ToolCall, ValueForm};

    fn answer(api: LlmApi) -> AnswerText {
        AnswerText {
            api,
            text: "a \"b\"".to_owned(),
            reasoning: "hm".to_owned(),
            signature: "s".to_owned(),
            calls: vec![ToolCall {
                id: "c1".to_owned(),
                name: "find".to_owned(),
                arguments: "{\"q\":1}".to_owned(),
            }],
        }
    }

    fn written(part: &str, answer: &AnswerText) -> (String, ValueForm) {
        let mut out = String::new();
        let form = AnswerPart::parse(part).unwrap().write(answer, &mut out);
        (out, form)
    }

    #[test]
    fn an_answer_is_repeated_in_the_form_of_its_interface() {
        for (api, expected) in [
            (
                LlmApi::Chat,
                r#"{"role":"assistant","content":"a \"b\"","tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"q\":1}"}}]}"#,
            ),
            (
                LlmApi::Messages,
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a \"b\""},{"type":"tool_use","id":"c1","name":"find","input":{"q":1}}]}"#,
            ),
            (
                LlmApi::Responses,
                r#"{"role":"assistant","content":"a \"b\""},{"type":"function_call","call_id":"c1","name":"find","arguments":"{\"q\":1}"}"#,
            ),
        ] {
            let (text, form) = written("message", &answer(api));
            assert_eq!((text.as_str(), form), (expected, ValueForm::Text));
        }
        let plain = AnswerText {
            text: "x".to_owned(),
            ..AnswerText::default()
        };
        let expected = r#"{"role":"assistant","content":"x"}"#;
        assert_eq!(written("message", &plain).0, expected);
    }

    #[test]
    fn texts_and_calls_are_taken() {
        let answer = answer(LlmApi::Chat);
        assert_eq!(
            written("", &answer),
            ("a \"b\"".to_owned(), ValueForm::Text)
        );
        let calls = r#"[{"id":"c1","name":"find","arguments":"{\"q\":1}"}]"#;
        assert_eq!(
            written("calls", &answer),
            (calls.to_owned(), ValueForm::Json)
        );
        let error = AnswerPart::parse("call").unwrap_err().to_string();
        assert!(error.contains("did you mean `calls`"), "{error}");
    }
}
