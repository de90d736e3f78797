//! A look at a response: the part of the response that the request's inspection needs, and the
//! values taken from it.
//!
//! A look begins with each head, so that it contains nothing of a redirect, and ends with the
//! response. The values taken stay until the exchange's id is used again; before that, the worker
//! gives them to the user.
//!
//! There are two kinds of look. An inspection needs certain fields and at most its limit of the
//! body; a longer body fails the exchange ([`Outcome::LimitBody`]), because a partial body cannot
//! be judged. A look to show the response keeps all fields and an excerpt of the body or of the
//! first messages, and never fails. Both bound what a peer can make them keep: the head by the
//! wire's limit, the body by the limit of the plan or of the excerpt. Memory above
//! [`KEPT_LOOK_BYTES`] is freed after each response.

use super::side::excerpt;
use crate::blame::Failure;
use crate::limits::{KEPT_LOOK_BYTES, SHOWN_MESSAGES};
use crate::wire::Fields;
use drumfire_measure::{Excerpt, Field, GRPC_STATUS, Outcome, Side};
use drumfire_plan::{
    AnswerText, Finding, Inspection, Mismatch, MismatchKind, Response, ResponseFields, Taken,
};
use drumfire_units::Nanos;

/// The part of a response that is looked at; reused by the next exchange with the same id.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) fields: ResponseFields,
    /// The kept part of the body.
    pub(super) body: Vec<u8>,
    /// The text of an answer, in memory that the next one reuses.
    answer: Option<Box<AnswerText>>,
    /// Whether the response is an answer with this text.
    has_answer: bool,
    /// The values that were taken from the response.
    pub(super) taken: Taken,
    /// The length of the whole body, if only the part to show is kept.
    sampled: u64,
    /// The maximum number of bytes to keep for showing, of a body that is decoded anyway.
    room: usize,
    /// The parts of a response that is shown.
    shown: Option<Box<Shown>>,
}

/// The parts of a response that are only shown.
#[derive(Debug, Default)]
struct Shown {
    version: &'static str,
    trailers: Vec<Field>,
    messages: Vec<Excerpt>,
    /// The number of messages that are not kept.
    more: u64,
    /// The results of the rules for each message, over all messages.
    findings: Vec<Finding>,
}

impl Shown {
    /// Adds the results of the rules for one more message. A failed check stays failed, and the last
    /// value that was taken stays.
    fn add_findings(&mut self, findings: Vec<Finding>) {
        if self.findings.is_empty() {
            self.findings = findings;
            return;
        }
        for (known, new) in self.findings.iter_mut().zip(findings) {
            let stays = match known.variable {
                None => known.result.is_err(),
                Some(_) => new.result.is_err(),
            };
            if !stays {
                *known = new;
            }
        }
    }
}

impl Look {
    /// Begins the inspection of a response whose head has arrived.
    pub(super) fn begin_inspection(&mut self, inspection: &dyn Inspection, fields: &Fields<'_>) {
        self.clear();
        if inspection.every_field() {
            return fields.all(|name, value| self.fields.push(name, value));
        }
        for name in inspection.fields() {
            fields.each(name, |value| self.fields.push(name, value));
        }
    }

    /// Begins the look at a response that is shown: all fields are kept.
    pub(super) fn begin_shown(&mut self, fields: &Fields<'_>) {
        self.clear();
        self.shown = Some(Box::new(Shown {
            version: fields.version(),
            ..Shown::default()
        }));
        fields.all(|name, value| self.fields.push(name, value));
    }

    /// Keeps the trailers of a response that is shown.
    pub(super) fn show_trailers(&mut self, fields: &Fields<'_>) {
        if let Some(shown) = &mut self.shown {
            fields.all(|name, value| {
                shown
                    .trailers
                    .push(Field::from_bytes(name.as_bytes(), value))
            });
        }
    }

    /// Keeps the excerpt of a call's message, if the reply is shown. Messages after the first
    /// [`SHOWN_MESSAGES`] are only counted.
    pub(super) fn show_message(&mut self, message: &[u8]) {
        let Some(shown) = &mut self.shown else {
            return;
        };
        match (shown.messages.len() as u64) < SHOWN_MESSAGES {
            true => shown.messages.push(excerpt(message)),
            false => shown.more += 1,
        }
    }

    /// The results of the rules for each message, if the response is shown.
    pub(super) fn message_findings(&self) -> &[Finding] {
        let shown = self.shown.as_deref();
        shown.map_or(&[], |shown| &shown.findings)
    }

    /// Whether a head was kept.
    pub(super) const fn has_head(&self) -> bool {
        self.shown.is_some()
    }

    /// The response as it is shown.
    pub(super) fn side(&self, status: u16) -> Side {
        let mut side = Side::default();
        if let Some(shown) = &self.shown {
            side.line = match status {
                0 | GRPC_STATUS.. => shown.version.to_owned(),
                status => format!("{} {status}", shown.version),
            };
            side.bodies.clone_from(&shown.messages);
            side.more = shown.more;
            side.trailers.clone_from(&shown.trailers);
        }
        let fields = self.fields.iter();
        side.fields = fields
            .map(|(name, value)| Field::from_bytes(name, value))
            .collect();
        // The body of a call contains its first message, which is in `bodies` already.
        if !self.body.is_empty() && side.bodies.is_empty() {
            let length = self.length();
            let excerpt = excerpt(&self.body);
            side.bodies.push(Excerpt { length, ..excerpt });
        }
        side
    }

    /// The length of the whole body.
    pub(super) fn length(&self) -> u64 {
        self.sampled.max(self.body.len() as u64)
    }

    /// Forgets the last response. Its memory is kept up to a limit.
    pub(super) fn clear(&mut self) {
        self.sampled = 0;
        self.room = 0;
        self.shown = None;
        self.fields.clear();
        self.body.clear();
        self.body.shrink_to(KEPT_LOOK_BYTES);
        self.has_answer = false;
        if let Some(answer) = &mut self.answer {
            answer.text.clear();
            answer.text.shrink_to(KEPT_LOOK_BYTES);
        }
        self.taken.clear();
    }

    /// Keeps the text of an answer. `answer` has any other text afterwards.
    pub(super) fn set_answer(&mut self, answer: &mut AnswerText) {
        std::mem::swap(self.answer.get_or_insert_default().as_mut(), answer);
        self.has_answer = true;
    }

    /// The text of the answer, if the response is one and the plan uses its text.
    pub(super) fn answer(&self) -> Option<&AnswerText> {
        self.answer.as_deref().filter(|_| self.has_answer)
    }

    /// Keeps decoded bytes of the body.
    ///
    /// # Errors
    /// If the body exceeds `max` bytes.
    pub(super) fn keep(&mut self, bytes: &[u8], max: u64) -> Result<(), Failure> {
        if (self.body.len() + bytes.len()) as u64 > max {
            let reason =
                format!("the body has more than the {max} bytes that the plan may inspect");
            return Err(Failure::with(Outcome::LimitBody, reason));
        }
        self.body.extend_from_slice(bytes);
        Ok(())
    }

    /// Reserves room for this many bytes of a body that is decoded anyway.
    pub(super) const fn make_room(&mut self, room: usize) {
        self.room = room;
    }

    /// Keeps decoded bytes of the body as far as there is room.
    pub(super) fn keep_decoded(&mut self, bytes: &[u8]) {
        if self.room > 0 {
            self.sample(bytes, self.room);
        }
    }

    /// Keeps decoded bytes of the body up to `max` in all, and counts the others.
    pub(super) fn sample(&mut self, bytes: &[u8], max: usize) {
        let room = max.saturating_sub(self.body.len());
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.sampled += bytes.len() as u64;
    }

    /// Inspects one message of the response.
    ///
    /// # Errors
    /// If the message does not meet the plan's expectations.
    pub(super) fn inspect_message(
        &mut self,
        inspection: &dyn Inspection,
        message: &[u8],
    ) -> Result<(), Failure> {
        if let Some(shown) = &mut self.shown {
            shown.add_findings(inspection.message_findings(message));
        }
        inspection
            .inspect_message(message, &mut self.taken)
            .map_err(|mismatch| failure(&mismatch))
    }

    /// Inspects the whole response, with this status and response time.
    pub(super) fn inspect(
        &mut self,
        inspection: &dyn Inspection,
        status: u16,
        time: Nanos,
    ) -> Result<(), Failure> {
        let response = Response {
            status,
            fields: &self.fields,
            body: &self.body,
            answer: self.answer.as_deref().filter(|_| self.has_answer),
            time,
        };
        inspection
            .inspect(&response, &mut self.taken)
            .map_err(|mismatch| failure(&mismatch))
    }
}

/// The status that an inspection sees: for a call, its own code, which counts from 0.
pub(super) fn seen_status(status: u16) -> u16 {
    status.checked_sub(GRPC_STATUS).unwrap_or(status)
}

fn failure(mismatch: &Mismatch) -> Failure {
    let outcome = match mismatch.kind {
        MismatchKind::Header => Outcome::AssertHeader,
        MismatchKind::Body => Outcome::AssertBody,
        MismatchKind::Time => Outcome::AssertTime,
        MismatchKind::Missing => Outcome::ExtractMissing,
        MismatchKind::Script => Outcome::Script,
    };
    Failure::with(outcome, mismatch.reason.as_str())
}
