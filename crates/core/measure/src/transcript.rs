//! Transcripts of exchanges, for reading instead of counting, and the bodies of failures.
//!
//! A worker collects both in addition to its samples ([`Written`]) and passes them on when an
//! interval closes. Transcripts go to observers as events and are not part of a summary; the bodies
//! of failures are collected for the run ([`FailedBodies`]) and stored with its ending. Other
//! exchanges leave no records here, so recording their samples costs nothing more.
//!
//! Texts here come from servers: they are bounded when they are taken, and escaped when they are
//! shown.

use crate::form;
use crate::form::{Form, FormError, Input};
use crate::{Detail, Outcome, Sample, SlowRequest};
use drumfire_plan::Finding;
use drumfire_units::Nanos;
use std::ops::Range;

/// The maximum number of kinds of failure with bodies.
pub const FAILED_KINDS: usize = 32;

/// The maximum number of bodies of each kind.
pub const FAILED_EXAMPLES: usize = 3;

/// The maximum length of such a body, in bytes.
pub const FAILED_BODY_BYTES: usize = 1_024;

/// The transcript of one exchange: a request, its response, and the results of the plan's rules for
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The number of the pool in the plan.
    pub pool: usize,
    /// The exchange's sample.
    pub sample: Sample,
    /// The request, as far as it was rendered.
    pub request: Side,
    /// The response, if any part of it arrived.
    pub response: Option<Side>,
    /// The detail of a failure.
    pub detail: Option<Detail>,
    /// The results of the plan's rules for the response.
    pub findings: Vec<Finding>,
}

form! { struct Transcript { pool, sample, request, response, detail, findings } }

impl Transcript {
    /// The transcript with every text replaced by the result of `rewrite`.
    #[must_use]
    pub fn with_texts(mut self, rewrite: &dyn Fn(&str) -> String) -> Self {
        let Self {
            pool: _,
            sample: _,
            request,
            response,
            detail,
            findings,
        } = &mut self;
        request.rewrite_texts(rewrite);
        response.iter_mut().for_each(|it| it.rewrite_texts(rewrite));
        detail.iter_mut().for_each(|it| *it = it.with_text(rewrite));
        for Finding {
            rule,
            variable: _,
            result,
        } in findings
        {
            *rule = rewrite(rule);
            match result {
                Ok(value) => value.iter_mut().for_each(|it| *it = rewrite(it)),
                Err(came) => *came = rewrite(came),
            }
        }
        self
    }

    /// The length of all bodies in bytes.
    #[must_use]
    pub fn body_bytes(&self) -> usize {
        let sides = [Some(&self.request), self.response.as_ref()];
        let bodies = sides.into_iter().flatten().flat_map(|side| &side.bodies);
        bodies.map(|body| body.bytes.len()).sum()
    }
}

/// One side of an exchange: a request, or a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The request line or the status line; without a version's details if the protocol lacks them.
    pub line: String,
    /// Header fields in order.
    pub fields: Vec<Field>,
    /// The body, or the first messages of a call.
    pub bodies: Vec<Excerpt>,
    /// Messages beyond those in `bodies`.
    pub more: u64,
    /// Fields after the body.
    pub trailers: Vec<Field>,
}

form! { struct Side { line, fields, bodies, more, trailers } }

impl Side {
    fn rewrite_texts(&mut self, rewrite: &dyn Fn(&str) -> String) {
        let Self {
            line,
            fields,
            bodies,
            more: _,
            trailers,
        } = self;
        *line = rewrite(line);
        for Field { name, value } in fields.iter_mut().chain(trailers) {
            *name = rewrite(name);
            *value = rewrite(value);
        }
        bodies.iter_mut().for_each(|it| it.rewrite_texts(rewrite));
    }
}

/// A header field, as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The value; bytes that are not text are replaced.
    pub value: String,
}

form! { struct Field { name, value } }

impl Field {
    /// A field from bytes.
    #[must_use]
    pub fn from_bytes(name: &[u8], value: &[u8]) -> Self {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Self {
            name: text(name),
            value: text(value),
        }
    }
}

/// The beginning of a body or a message, and its length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The first bytes, decoded.
    pub bytes: Vec<u8>,
    /// The total length.
    pub length: u64,
    /// The message as text, if the schema provides one.
    pub text: Option<String>,
}

form! { struct Excerpt { bytes, length, text } }

impl Excerpt {
    /// Replaces the texts by the results of `rewrite`. Bytes that are not text are rewritten as
    /// text only if that changes them, so that binary bodies stay unchanged.
    pub(crate) fn rewrite_texts(&mut self, rewrite: &dyn Fn(&str) -> String) {
        let Self {
            bytes,
            length: _,
            text,
        } = self;
        text.iter_mut().for_each(|it| *it = rewrite(it));
        let before = String::from_utf8_lossy(bytes).into_owned();
        let rewritten = rewrite(&before);
        if rewritten != before {
            *bytes = rewritten.into_bytes();
        }
    }
}

/// One of the first bodies of a kind of failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedBody {
    /// The outcome of the exchange.
    pub outcome: Outcome,
    /// The response's status.
    pub status: u16,
    /// The number of the pool in the plan.
    pub pool: usize,
    /// The step: an index into the pool's step names.
    pub step: u16,
    /// The end of the exchange, from the run's start.
    pub end: Nanos,
    /// The beginning of the body.
    pub body: Excerpt,
}

form! { struct FailedBody { outcome, status, pool, step, end, body } }

impl FailedBody {
    /// Whether a body of the same step has equal bytes. Bodies without kept bytes are never treated
    /// as equal.
    fn says_the_same(&self, other: &Self) -> bool {
        let [one, two] = [self, other].map(|body| (body.pool, body.step, &body.body));
        one == two && !self.body.bytes.is_empty()
    }
}

/// Records of exchanges, in addition to figures, that a worker keeps until its interval closes.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Transcripts of exchanges.
    pub transcripts: Vec<Transcript>,
    /// The number of exchanges that the plan requests transcripts of, but that did not fit.
    pub lost_transcripts: u64,
    /// Bodies of kinds of failure.
    pub failed_bodies: Vec<FailedBody>,
    /// Requests that may be among the slowest.
    pub slow: Vec<SlowRequest>,
}

impl Written {
    /// Whether there are no records.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.transcripts.is_empty()
            && self.lost_transcripts == 0
            && self.failed_bodies.is_empty()
            && self.slow.is_empty()
    }
}

/// The first bodies of failures, a few of each kind, that is, of each outcome with a status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedBodies(Vec<FailedBody>);

/// The bodies in order; adding them again must reproduce the list.
impl Form for FailedBodies {
    fn write(value: &Self, out: &mut Vec<u8>) {
        form::write(&value.0, out);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let all: Vec<FailedBody> = form::read(input)?;
        let mut bodies = Self::default();
        all.iter().for_each(|body| bodies.add(body.clone()));
        match bodies.0 == all {
            true => Ok(bodies),
            false => Err(FormError::Malformed("bodies of failures")),
        }
    }
}

impl FailedBodies {
    /// Whether the body of such a failure might be kept, so that other bodies need not be copied.
    #[must_use]
    pub fn wants(&self, outcome: Outcome, status: u16) -> bool {
        match self.of_kind(outcome, status).len() {
            0 => self.kinds() < FAILED_KINDS,
            count => count < FAILED_EXAMPLES,
        }
    }

    /// Keeps a body, unless there are enough earlier ones of its kind, too many kinds, or an
    /// earlier one with equal bytes.
    ///
    /// If workers report in any order, the bodies that ended first are kept.
    pub fn add(&mut self, body: FailedBody) {
        let kind = self.of_kind(body.outcome, body.status);
        let mut same = kind.clone().filter(|at| self.0[*at].says_the_same(&body));
        match same.next() {
            Some(at) if self.0[at].end <= body.end => return,
            Some(at) => {
                self.0.remove(at);
                return self.add(body);
            }
            None => {}
        }
        if kind.is_empty() && self.kinds() == FAILED_KINDS {
            return;
        }
        let at = kind.start + self.0[kind.clone()].partition_point(|other| other.end <= body.end);
        self.0.insert(at, body);
        if kind.len() == FAILED_EXAMPLES {
            self.0.remove(kind.end);
        }
    }

    /// The indexes of the bodies of a kind; without any, an empty range at the index for the first
    /// body.
    fn of_kind(&self, outcome: Outcome, status: u16) -> Range<usize> {
        let key = |body: &FailedBody| (body.outcome, body.status);
        let start = self.0.partition_point(|body| key(body) < (outcome, status));
        let end = self
            .0
            .partition_point(|body| key(body) <= (outcome, status));
        start..end
    }

    /// The number of kinds.
    fn kinds(&self) -> usize {
        let kinds = self
            .0
            .chunk_by(|one, next| (one.outcome, one.status) == (next.outcome, next.status));
        kinds.count()
    }

    /// All bodies, by outcome, status and end.
    pub fn iter(&self) -> impl Iterator<Item = &FailedBody> {
        self.0.iter()
    }

    /// Whether no bodies are kept.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes and returns all bodies.
    pub fn take(&mut self) -> Vec<FailedBody> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(status: u16, end: u64, text: &str) -> FailedBody {
        FailedBody {
            outcome: Outcome::HttpStatus,
            status,
            pool: 0,
            step: 0,
            end: Nanos(end),
            body: Excerpt {
                bytes: text.into(),
                length: text.len() as u64,
                text: None,
            },
        }
    }

    #[test]
    fn the_first_of_each_kind_stay() {
        let mut bodies = FailedBodies::default();
        assert!(bodies.wants(Outcome::HttpStatus, 500));
        for (status, end, text) in [
            (500, 7, "d"),
            (404, 9, "c"),
            (500, 5, "a"),
            (500, 9, "e"),
            (500, 6, "b"),
            (500, 4, "b"),
            (500, 8, "a"),
        ] {
            bodies.add(body(status, end, text));
        }
        assert!(bodies.wants(Outcome::HttpStatus, 404));
        assert!(!bodies.wants(Outcome::HttpStatus, 500));
        assert!(bodies.wants(Outcome::AssertBody, 500));
        let kept: Vec<_> = bodies.iter().map(|body| &body.body.bytes[..]).collect();
        assert_eq!(kept, [b"c", b"b", b"a", b"d"]);
    }

    #[test]
    fn kinds_are_bounded() {
        let mut bodies = FailedBodies::default();
        for status in 400..500 {
            bodies.add(body(status, 0, "x"));
        }
        assert_eq!(bodies.iter().count(), FAILED_KINDS);
        bodies.add(body(400, 1, "y"));
        bodies.add(body(599, 1, "y"));
        assert_eq!(bodies.iter().count(), FAILED_KINDS + 1);
        assert!(!bodies.wants(Outcome::HttpStatus, 599));
        assert_eq!(bodies.take().len(), FAILED_KINDS + 1);
        assert!(bodies.is_empty());
    }
}
