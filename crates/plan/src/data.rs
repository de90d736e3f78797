//! Data that varies between requests: a function of the request's context.

use crate::{DataError, Header, Variables};
use std::fmt;
use std::sync::Arc;

/// The request that data is rendered for; computed once per request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestContext {
    /// The request's number within the run, from 0. Steps of one iteration have numbers of their
    /// own, so that their random values differ.
    pub number: u64,
    /// The number of its iteration within the run, from 0, by which it takes rows of feeds: those of
    /// one iteration agree. Where an iteration is one request, the request's own.
    pub arrival: u64,
    /// In how many parts the arrivals go through the pool's list, those of the same remainder by it
    /// by themselves: a worker's, or a user's. 0 is one part, as 1 is.
    pub parts: u32,
    /// Which of the run's users sends it, from 0.
    pub user: u32,
    /// Which of the user's iterations it is, from 0.
    pub iteration: u64,
    /// Which of the run's connections carries it, from 0.
    pub connection: u32,
    /// Nanoseconds since the Unix epoch, when it is rendered.
    pub now: u64,
    /// The plan's seed.
    pub seed: u64,
    /// The values that its user keeps; `None` where the pool's program sets none.
    pub variables: Option<Arc<Variables>>,
}

/// Functions that a plan brings, beside those of the template language.
pub trait Functions: Send + Sync + fmt::Debug {
    /// Whether there is one of this name.
    fn has(&self, function: &str) -> bool;

    /// Calls one for a request; `None` where it returns nothing. The same arguments and the same
    /// request give the same, as long as the steps last.
    ///
    /// # Errors
    /// When there is none of this name, it fails, or it takes too many steps.
    fn call(
        &self,
        function: &str,
        arguments: &[Datum],
        request: &RequestContext,
        steps: CallSteps,
    ) -> Result<Option<Datum>, DataError>;
}

/// The steps that a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallSteps {
    /// Those of a single call.
    Own,
    /// Those that the calls of this thread since the last one with steps of its own have left: all
    /// calls of one text together are bounded as a single one.
    Left,
}

/// A value that goes to a function, or comes from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Datum {
    /// A text.
    Text(String),
    /// Anything else, as JSON.
    Json(String),
}

/// Which parts of a request vary.
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
/// request. The same context always gives the same bytes.
pub trait RequestData: Send + Sync + fmt::Debug {
    /// The parts that vary.
    fn varying(&self) -> Varying;

    /// Whether every request renders a field with this name, so that no default of it is sent.
    fn renders(&self, _name: &str) -> bool {
        false
    }

    /// Whether all requests send the same, so that one rendering serves the whole run.
    fn is_fixed(&self) -> bool {
        self.varying() == Varying::default()
    }

    /// The parts of the data's source that are not used, for the notes of a run.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Appends path and query, where they vary.
    ///
    /// # Errors
    /// When they can't be rendered; the request is not sent and fails with blame on the plan.
    fn target(&self, _request: &RequestContext, _out: &mut String) -> Result<(), DataError> {
        Ok(())
    }

    /// Appends the header fields or the metadata that vary, beyond the request's own. Values of
    /// `-bin` keys are in base64 already.
    ///
    /// # Errors
    /// As [`RequestData::target`].
    fn fields(&self, request: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError>;

    /// Whether each message of a call is rendered at its own time, and not at that at which the call
    /// began.
    fn renews_time(&self) -> bool {
        false
    }

    /// How many messages a call has by itself. A plain request has one, its body.
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

/// Header fields that were rendered, one behind the other in memory that is used again. Names and
/// values are safe to put on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderedFields {
    text: String,
    spans: Vec<Span>,
}

/// Where a field ends in the text; it begins where the one before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    name_end: usize,
    value_start: usize,
    value_end: usize,
    end: usize,
}

impl RenderedFields {
    /// Without a field; the memory stays.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.spans.len()
    }

    /// Appends a field; white space around the value is left out.
    ///
    /// # Errors
    /// When the name is no token or the value holds a control character.
    pub fn push(&mut self, name: &str, value: &str) -> Result<(), DataError> {
        self.push_with(name, |out| {
            out.push_str(value);
            Ok(())
        })
    }

    /// Appends a field whose value `render` appends to the text that it is given.
    ///
    /// # Errors
    /// That of `render`, or as [`RenderedFields::push`].
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

    /// Writes the names in small letters, as HTTP/2 has them.
    pub fn lower_names(&mut self) {
        let mut start = 0;
        for span in &self.spans {
            self.text[start..span.name_end].make_ascii_lowercase();
            start = span.end;
        }
    }

    /// Names and values in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut start = 0;
        self.spans.iter().map(move |span| {
            let name = &self.text[start..span.name_end];
            start = span.end;
            (name, &self.text[span.value_start..span.value_end])
        })
    }

    /// The value of the first field with this name, in any case.
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
