//! Data that varies between requests: a function of the request's context.

use crate::{DataError, Header, Variables};
use std::fmt;
use std::sync::Arc;

/// The request for which data is rendered; computed once per request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestContext {
    /// The request's number within the run, from 0. Steps of one iteration have different numbers,
    /// so that their random values differ.
    pub number: u64,
    /// The number of the request's iteration within the run, from 0. It selects rows of feeds, so
    /// that all steps of an iteration use the same rows. If an iteration is one request, it is the
    /// request's own number.
    pub arrival: u64,
    /// The number of parts into which arrivals are divided by remainder. Each part, a worker's or a
    /// user's, uses the pool's list separately. 0 means one part, like 1.
    pub parts: u32,
    /// The number of the user within the run, from 0.
    pub user: u32,
    /// The number of the user's iteration, from 0.
    pub iteration: u64,
    /// The number of the connection within the run, from 0.
    pub connection: u32,
    /// The time of rendering, in nanoseconds since the Unix epoch.
    pub now: u64,
    /// The plan's seed.
    pub seed: u64,
    /// The values that the user keeps; `None` if the pool's program sets none.
    pub variables: Option<Arc<Variables>>,
}

/// Functions of a plan, in addition to the functions of the template language.
pub trait PlanFunctions: Send + Sync + fmt::Debug {
    /// Whether a function with this name exists.
    fn has(&self, function: &str) -> bool;

    /// Calls a function for a request; `None` if the function returns nothing. With enough steps,
    /// equal arguments and an equal request have the same result.
    ///
    /// # Errors
    /// If the function does not exist, fails, or takes too many steps.
    fn call(
        &self,
        function: &str,
        arguments: &[Datum],
        request: &RequestContext,
        steps: CallSteps,
    ) -> Result<Option<Datum>, DataError>;
}

/// The maximum number of steps of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallSteps {
    /// The steps of a single call.
    Own,
    /// The steps that earlier calls of this thread have left since its last [`Self::Own`] call: all
    /// calls of one text together have the limit of a single call.
    Left,
}

/// An argument or a result of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Datum {
    /// A text.
    Text(String),
    /// Anything else, as JSON.
    Json(String),
}

/// The parts of a request that vary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a part varies whatever the others do"
)]
pub struct Varying {
    /// Path and query.
    pub target: bool,
    /// The Host field, or `:authority`.
    pub host: bool,
    /// Other header fields, or metadata.
    pub fields: bool,
    /// The body, or the messages of a call.
    pub body: bool,
}

/// The data of requests: a function of the request's context, so that any worker can render any
/// request. Equal contexts always produce the same bytes.
pub trait RequestData: Send + Sync + fmt::Debug {
    /// The parts that vary.
    fn varying(&self) -> Varying;

    /// Whether every request renders a field with this name, so that its default is not sent.
    fn renders(&self, _name: &str) -> bool {
        false
    }

    /// Whether all requests send the same bytes, so that one rendering serves the whole run.
    fn is_fixed(&self) -> bool {
        self.varying() == Varying::default()
    }

    /// Notes about unused parts of the data's source.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Appends path and query, if they vary.
    ///
    /// # Errors
    /// If rendering fails. The request is not sent and fails with blame on the plan.
    fn target(&self, _request: &RequestContext, _out: &mut String) -> Result<(), DataError> {
        Ok(())
    }

    /// Appends the header fields or the metadata that vary, in addition to the request's own.
    /// Values of `-bin` keys are already in base64.
    ///
    /// # Errors
    /// As [`RequestData::target`].
    fn fields(&self, request: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError>;

    /// Whether each message of a call is rendered with its own time, instead of the time at which
    /// the call began.
    fn renews_time(&self) -> bool {
        false
    }

    /// The number of messages in a call's data. A plain request has one, its body.
    fn messages(&self, _request: &RequestContext) -> u64 {
        1
    }

    /// Appends the encoded `n`-th message, from 0. Beyond [`RequestData::messages`] the data starts
    /// over, with new random values and times.
    ///
    /// # Errors
    /// As [`RequestData::target`].
    fn message(&self, request: &RequestContext, n: u64, out: &mut Vec<u8>)
    -> Result<(), DataError>;
}

/// Rendered header fields, stored consecutively in reused memory. Names and values are safe to
/// send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderedFields {
    text: String,
    spans: Vec<Span>,
}

/// The ends of a field in the text. The field starts at the end of the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    name_end: usize,
    value_start: usize,
    value_end: usize,
    end: usize,
}

impl RenderedFields {
    /// Removes all fields; keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    /// Whether there are no fields.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The number of fields.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.spans.len()
    }

    /// Appends a field; white space around the value is removed.
    ///
    /// # Errors
    /// If the name is not a token or the value contains a control character.
    pub fn push(&mut self, name: &str, value: &str) -> Result<(), DataError> {
        self.push_with(name, |out| {
            out.push_str(value);
            Ok(())
        })
    }

    /// Appends a field; `render` appends its value to the given text.
    ///
    /// # Errors
    /// The error of `render`, or as [`RenderedFields::push`].
    pub fn push_with(
        &mut self,
        name: &str,
        render: impl FnOnce(&mut String) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let start = self.text.len();
        self.text.push_str(name);
        let name_end = self.text.len();
        let rendered = render(&mut self.text).and_then(|()| {
            let value = &self.text.as_bytes()[name_end..];
            Header::check(name, value).map_err(|error| DataError::new(error.to_string()))
        });
        if let Err(error) = rendered {
            self.text.truncate(start);
            return Err(error);
        }
        let value = &self.text[name_end..];
        let trimmed = value.trim_ascii_start();
        let value_start = name_end + value.len() - trimmed.len();
        self.spans.push(Span {
            name_end,
            value_start,
            value_end: value_start + trimmed.trim_ascii_end().len(),
            end: self.text.len(),
        });
        Ok(())
    }

    /// Converts the names to lower case, as HTTP/2 requires.
    pub fn lower_names(&mut self) {
        let mut start = 0;
        for span in &self.spans {
            self.text[start..span.name_end].make_ascii_lowercase();
            start = span.end;
        }
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut start = 0;
        self.spans.iter().map(move |span| {
            let name = &self.text[start..span.name_end];
            start = span.end;
            (name, &self.text[span.value_start..span.value_end])
        })
    }

    /// The value of the first field with this name; the case is ignored.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&str> {
        let mut all = self.iter();
        all.find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::RenderedFields;
    use crate::DataError;

    #[test]
    fn fields_lie_behind_each_other_and_can_be_refused() {
        let mut fields = RenderedFields::default();
        for round in 0..2 {
            fields.clear();
            assert!(fields.is_empty(), "round {round}");
            fields.push("X-One", " a b\t").unwrap();
            assert_eq!(
                fields.push("X-Two", "a\r\nX-Three: b"),
                Err(DataError::new(
                    "the value of header `X-Two` contains a control character; a header is one \
                     line of text"
                        .to_owned()
                ))
            );
            assert!(fields.push("X Two", "a").is_err());
            let failed = fields.push_with("X-Four", |out| {
                out.push_str("half");
                Err(DataError::new("no row"))
            });
            assert_eq!(failed, Err(DataError::new("no row")));
            fields.push("X-Five", "").unwrap();
            let all: Vec<_> = fields.iter().collect();
            assert_eq!(all, [("X-One", "a b"), ("X-Five", "")]);
            assert_eq!((fields.len(), fields.find("x-one")), (2, Some("a b")));
            fields.lower_names();
            let all: Vec<_> = fields.iter().collect();
            assert_eq!(all, [("x-one", "a b"), ("x-five", "")]);
        }
    }
}
