//! A response as seen by a plan: its checks, and the values taken from it.

use crate::{AnswerText, ValueForm, VariableId};
use drumfire_units::{ByteSize, Nanos};
use std::fmt;

/// A complete response.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The status.
    pub status: u16,
    /// The header fields that the plan uses.
    pub fields: &'a ResponseFields,
    /// The decoded body; empty if the plan does not use it.
    pub body: &'a [u8],
    /// The answer of a language model, if the response is one and the plan uses its text.
    pub answer: Option<&'a AnswerText>,
    /// The time from the request's intended start to the response's last byte.
    pub time: Nanos,
}

/// Header fields of a response in order, stored consecutively in reused memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseFields {
    bytes: Vec<u8>,
    spans: Vec<FieldSpan>,
}

/// The ends of a field's name and value. The field starts at the end of the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldSpan {
    name_end: usize,
    end: usize,
}

impl ResponseFields {
    /// Removes all fields; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    /// Appends a field.
    pub fn push(&mut self, name: &str, value: &[u8]) {
        self.bytes.extend_from_slice(name.as_bytes());
        let name_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        let end = self.bytes.len();
        self.spans.push(FieldSpan { name_end, end });
    }

    /// The values of the fields with this name; the case is ignored.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let mut start = 0;
        self.spans.iter().filter_map(move |span| {
            let (own, value) = (&self.bytes[start..span.name_end], span.name_end..span.end);
            start = span.end;
            own.eq_ignore_ascii_case(name.as_bytes())
                .then(|| &self.bytes[value])
        })
    }

    /// All fields, with names as received.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.spans.iter().map(move |span| {
            let name = &self.bytes[start..span.name_end];
            start = span.end;
            (name, &self.bytes[span.name_end..span.end])
        })
    }
}

/// The readable result of one rule for a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// The variable that gets a value; `None` for a check.
    pub variable: Option<String>,
    /// The value that was taken, masked if it may be a secret, or `None` for a check that holds.
    /// The error has the actual value or state.
    pub result: Result<Option<String>, String>,
}

/// The checks of a response beyond its status, and the values taken from it.
pub trait Inspection: Send + Sync + fmt::Debug {
    /// The names of the header fields that the inspection uses, in lower case.
    fn fields(&self) -> &[String];

    /// Whether the inspection uses all header fields.
    fn every_field(&self) -> bool {
        false
    }

    /// The maximum number of bytes of the decoded body that the inspection reads; `None` if it does
    /// not use the body. A longer body fails the request.
    fn body_max(&self) -> Option<ByteSize>;

    /// The maximum number of bytes of an answer's text that the inspection reads; `None` if it does
    /// not use the text. A longer answer fails the request.
    fn answer_max(&self) -> Option<ByteSize> {
        None
    }

    /// Whether the inspection sees each message of a response that carries several.
    fn inspects_messages(&self) -> bool {
        false
    }

    /// Checks one message of a response, and takes values from it. Called for each message in order,
    /// before [`inspect`](Self::inspect), if [`inspects_messages`](Self::inspects_messages).
    ///
    /// # Errors
    /// The first mismatch, which ends the exchange.
    fn inspect_message(&self, _message: &[u8], _taken: &mut Taken) -> Result<(), Mismatch> {
        Ok(())
    }

    /// Checks a response, and takes values from it. `taken` has the values of its messages.
    ///
    /// # Errors
    /// The first mismatch. Values taken before it are kept.
    fn inspect(&self, response: &Response<'_>, taken: &mut Taken) -> Result<(), Mismatch>;

    /// The result of each rule for the whole response, for a person.
    fn findings(&self, _response: &Response<'_>) -> Vec<Finding> {
        Vec::new()
    }

    /// The result of each rule for one message, for a person, always in the same order.
    fn message_findings(&self, _message: &[u8]) -> Vec<Finding> {
        Vec::new()
    }
}

/// Why a complete response does not meet the plan's expectations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The kind of mismatch.
    pub kind: MismatchKind,
    /// The expected and the actual value or state, as text.
    pub reason: String,
}

/// The part of a response that does not meet the expectations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MismatchKind {
    /// A header field.
    Header,
    /// The body.
    Body,
    /// The response time.
    Time,
    /// The location of a value to take.
    Missing,
    /// No part: the script that inspected the response failed.
    Script,
}

/// The values taken from a response, in reused memory.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    values: Vec<TakenValue>,
    count: usize,
}

#[derive(Clone, Debug)]
struct TakenValue {
    variable: VariableId,
    form: ValueForm,
    text: String,
}

impl Taken {
    /// Removes all values; keeps the memory.
    pub const fn clear(&mut self) {
        self.count = 0;
    }

    /// Takes the value of a variable: `read` appends it to an empty text and returns its type.
    ///
    /// # Errors
    /// The error of `read`; nothing is taken then.
    pub fn store<E>(
        &mut self,
        variable: VariableId,
        read: impl FnOnce(&mut String) -> Result<ValueForm, E>,
    ) -> Result<(), E> {
        let value = self.spare();
        value.variable = variable;
        value.form = read(&mut value.text)?;
        self.count += 1;
        Ok(())
    }

    /// Takes the value of a variable instead of the value that was taken for it before, if any.
    ///
    /// # Errors
    /// The error of `read`; the earlier value then stays.
    pub fn replace<E>(
        &mut self,
        variable: VariableId,
        read: impl FnOnce(&mut String) -> Result<ValueForm, E>,
    ) -> Result<(), E> {
        let mut taken = self.values[..self.count].iter();
        let known = taken.position(|value| value.variable == variable);
        self.store(variable, read)?;
        if let Some(known) = known {
            self.count -= 1;
            self.values.swap(known, self.count);
        }
        Ok(())
    }

    /// Whether a value of the variable was taken.
    #[must_use]
    pub fn has(&self, variable: VariableId) -> bool {
        self.iter().any(|(taken, ..)| taken == variable)
    }

    /// An empty text for temporary values, in the memory of the next value.
    pub fn scratch(&mut self) -> &mut String {
        &mut self.spare().text
    }

    /// The slot of the next value.
    fn spare(&mut self) -> &mut TakenValue {
        if self.values.len() == self.count {
            self.values.push(TakenValue {
                variable: VariableId(0),
                form: ValueForm::Text,
                text: String::new(),
            });
        }
        let value = &mut self.values[self.count];
        value.text.clear();
        value
    }

    /// The values that were taken, in their order: variable, type and text.
    pub fn iter(&self) -> impl Iterator<Item = (VariableId, ValueForm, &str)> {
        let taken = self.values[..self.count].iter();
        taken.map(|value| (value.variable, value.form, value.text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name_in_their_order() {
        let mut fields = ResponseFields::default();
        fields.push("set-cookie", b"a=1");
        fields.push("location", b"/next");
        fields.push("set-cookie", b"b=2");
        let found: Vec<&[u8]> = fields.values("Set-Cookie").collect();
        assert_eq!(found, [b"a=1", b"b=2"]);
        assert_eq!(fields.values("location").count(), 1);
        fields.clear();
        assert_eq!(fields.values("location").count(), 0);
    }

    #[test]
    fn what_could_not_be_read_is_not_taken() {
        let mut taken = Taken::default();
        let read = |text: &'static str| {
            move |out: &mut String| {
                out.push_str(text);
                match text.is_empty() {
                    true => Err(()),
                    false => Ok(ValueForm::Json),
                }
            }
        };
        assert_eq!(taken.store(VariableId(3), read("a")), Ok(()));
        assert_eq!(taken.store(VariableId(4), read("")), Err(()));
        taken.scratch().push_str("looked at");
        assert_eq!(taken.scratch(), "");
        assert_eq!(taken.store(VariableId(5), read("b")), Ok(()));
        let all: Vec<_> = taken.iter().collect();
        let json = ValueForm::Json;
        assert_eq!(
            all,
            [(VariableId(3), json, "a"), (VariableId(5), json, "b")]
        );
        taken.clear();
        assert_eq!(taken.iter().count(), 0);
    }

    #[test]
    fn a_later_value_replaces_an_earlier_one_and_a_missing_one_does_not() {
        let mut taken = Taken::default();
        let text = |text: &'static str| {
            move |out: &mut String| {
                out.push_str(text);
                Ok::<_, ()>(ValueForm::Text)
            }
        };
        let missing = |out: &mut String| {
            out.push('x');
            Err(())
        };
        assert_eq!(taken.replace(VariableId(1), missing), Err(()));
        assert!(!taken.has(VariableId(1)));
        for value in ["a", "b", "c"] {
            assert_eq!(taken.replace(VariableId(1), text(value)), Ok(()));
            assert_eq!(taken.replace(VariableId(2), text("other")), Ok(()));
        }
        assert_eq!(taken.replace(VariableId(1), missing), Err(()));
        let all: Vec<_> = taken.iter().map(|(id, _, text)| (id.0, text)).collect();
        assert_eq!(all, [(1, "c"), (2, "other")]);
        assert!(taken.has(VariableId(2)) && !taken.has(VariableId(3)));
    }
}
