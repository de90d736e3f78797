//! A response as a plan looks at it: what is checked of it, and the values that are taken from it.

use crate::VariableId;
use drumfire_units::{ByteSize, Nanos};
use std::fmt;

/// A complete response.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// Its status.
    pub status: u16,
    /// The header fields that are looked at.
    pub fields: &'a ResponseFields,
    /// Its decoded body; empty where that is not looked at.
    pub body: &'a [u8],
    /// How long it took, from the request's intended start to the response's last byte.
    pub time: Nanos,
}

/// Header fields of a response in their order, one behind the other in memory that is used again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseFields {
    bytes: Vec<u8>,
    spans: Vec<FieldSpan>,
}

/// Where a field's name ends, and its value; it begins where the one before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldSpan {
    name_end: usize,
    end: usize,
}

impl ResponseFields {
    /// Without a field; the memory stays.
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

    /// The values of the fields with this name, in any case.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let mut start = 0;
        self.spans.iter().filter_map(move |span| {
            let (own, value) = (&self.bytes[start..span.name_end], span.name_end..span.end);
            start = span.end;
            own.eq_ignore_ascii_case(name.as_bytes())
                .then(|| &self.bytes[value])
        })
    }

    /// All of them, names as they came.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.spans.iter().map(move |span| {
            let name = &self.bytes[start..span.name_end];
            start = span.end;
            (name, &self.bytes[span.name_end..span.end])
        })
    }
}

/// The result of one rule that a response was looked at by, as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// The variable that it gives a value; `None` where it checks.
    pub variable: Option<String>,
    /// The value that it takes, masked where it may be a secret, or nothing for a check that
    /// holds; otherwise what came instead.
    pub result: Result<Option<String>, String>,
}

/// What is checked of a response, beyond its status, and what is taken from it.
pub trait Inspection: Send + Sync + fmt::Debug {
    /// The names of the header fields that it looks at, in lower case.
    fn fields(&self) -> &[String];

    /// Whether it looks at all header fields, whatever their names.
    fn every_field(&self) -> bool {
        false
    }

    /// How many bytes of the decoded body it looks at; `None` where at none. A longer body fails
    /// the request.
    fn body_max(&self) -> Option<ByteSize>;

    /// Checks a response, and takes values from it.
    ///
    /// # Errors
    /// With the first mismatch. What was taken before it stays taken.
    fn inspect(&self, response: &Response<'_>, taken: &mut Taken) -> Result<(), Mismatch>;

    /// The result of each rule by itself, for a person.
    fn findings(&self, _response: &Response<'_>) -> Vec<Finding> {
        Vec::new()
    }
}

/// Why a response that came whole is not as the plan expects it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Its kind.
    pub kind: MismatchKind,
    /// What was expected and what came instead, in words.
    pub reason: String,
}

/// The part of a response that is not as expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MismatchKind {
    /// A header field.
    Header,
    /// The body.
    Body,
    /// The time that it took.
    Time,
    /// The place of a value that was to be taken.
    Missing,
    /// Nothing: the script that looked at it failed.
    Script,
}

/// The values that were taken from a response, in memory that is used again.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    values: Vec<TakenValue>,
    count: usize,
}

#[derive(Clone, Debug)]
struct TakenValue {
    variable: VariableId,
    text: String,
}

impl Taken {
    /// Forgets all; the memory stays.
    pub const fn clear(&mut self) {
        self.count = 0;
    }

    /// Takes the value of a variable, which `read` appends to the text that it is given.
    ///
    /// # Errors
    /// That of `read`; nothing is taken then.
    pub fn take<E>(
        &mut self,
        variable: VariableId,
        read: impl FnOnce(&mut String) -> Result<(), E>,
    ) -> Result<(), E> {
        let value = self.spare();
        value.variable = variable;
        read(&mut value.text)?;
        self.count += 1;
        Ok(())
    }

    /// An empty text for values that are looked at and not kept, in the memory of the next that is
    /// taken.
    pub fn scratch(&mut self) -> &mut String {
        &mut self.spare().text
    }

    /// The place of the next value.
    fn spare(&mut self) -> &mut TakenValue {
        if self.values.len() == self.count {
            let (variable, text) = (VariableId(0), String::new());
            self.values.push(TakenValue { variable, text });
        }
        let value = &mut self.values[self.count];
        value.text.clear();
        value
    }

    /// What was taken, in the order in which it was.
    pub fn iter(&self) -> impl Iterator<Item = (VariableId, &str)> {
        let taken = self.values[..self.count].iter();
        taken.map(|value| (value.variable, value.text.as_str()))
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
                if text.is_empty() { Err(()) } else { Ok(()) }
            }
        };
        assert_eq!(taken.take(VariableId(3), read("a")), Ok(()));
        assert_eq!(taken.take(VariableId(4), read("")), Err(()));
        taken.scratch().push_str("looked at");
        assert_eq!(taken.scratch(), "");
        assert_eq!(taken.take(VariableId(5), read("b")), Ok(()));
        let all: Vec<_> = taken.iter().collect();
        assert_eq!(all, [(VariableId(3), "a"), (VariableId(5), "b")]);
        taken.clear();
        assert_eq!(taken.iter().count(), 0);
    }
}
