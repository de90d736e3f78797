//! The records of exchanges in addition to their figures: complete transcripts if the plan requests
//! them, the slowest exchanges, and the first body of each kind of failure.
//!
//! Call [`Records::attend`] only if [`Records::attends`] is true; this check is two comparisons for
//! nearly every exchange. The body of a failed exchange is also passed to
//! [`Records::keep_failed_body`]. Both are called after the sample is made and before the
//! exchange's state is reused. [`Records::take_written`] empties the records when an interval is
//! closed, except the known kinds of failure and the bound of the slowest, which are kept for the
//! run.
//!
//! Peers decide the sizes here, so each has a bound: a failed body is kept up to
//! [`FAILED_BODY_BYTES`], once for each outcome and status; the number of slowest exchanges is
//! fixed; transcripts of responses from a given status on stop at [`KEPT_TRANSCRIPTS_BYTES`] per
//! interval. If a plan requests every exchange, only the shown part of each is bounded.
//!
//! The values of secret fields of the request are masked in a failed body, because a server may
//! echo them in its error page.

use super::entry::Entry;
use super::rules::Rules;
use super::transcript::{Part, transcript};
use crate::limits::{KEPT_TRANSCRIPTS_BYTES, TRANSCRIPT_BYTES};
use crate::prepare::{PreparedPool, Request};
use drumfire_measure::{
    Excerpt, FAILED_BODY_BYTES, FailedBodies, FailedBody, Outcome, Sample, SlowRequest, Slowest,
    Transcript, Written,
};
use drumfire_plan::secret::{self, is_secret};
use drumfire_plan::{TRACEPARENT, Transcripts};
use drumfire_units::Nanos;
use std::mem::take;

/// The number of digits of a trace id.
const TRACE_DIGITS: usize = 32;

/// The records that a worker keeps of a pool's exchanges until the next interval is closed.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// The plan's choice of exchanges to transcribe.
    kinds: Transcripts,
    transcripts: Vec<Transcript>,
    /// Bytes of the transcripts' bodies, which may come from a server.
    bytes: usize,
    /// The number of exchanges beyond this bound, which are not transcribed.
    lost: u64,
    /// The kinds of failure for which this worker has kept a body.
    known: FailedBodies,
    /// Bodies that have not been handed over yet.
    bodies: Vec<FailedBody>,
    /// Whether any request carries a trace id.
    traces: bool,
    /// The slowest exchanges of this worker that have not been handed over yet.
    slowest: Slowest,
    /// An exchange whose response time or service time exceeds these values is one of the slowest
    /// so far. The values only rise, even after the slowest are handed over: no faster exchange can
    /// be among the slowest of the run.
    slow_from: [Nanos; 2],
    /// Whether *the* latency may be the service time.
    is_closed: bool,
}

impl Records {
    /// The records of a pool, empty.
    pub(super) fn new(prepared: &PreparedPool) -> Self {
        Self {
            kinds: prepared.pool().transcripts,
            traces: prepared.requests.iter().any(Request::is_traced),
            is_closed: !prepared.pool().load.is_open(),
            ..Self::default()
        }
    }

    /// Whether the end of an exchange with this sample needs more than the sample.
    #[inline]
    pub(super) fn attends(&self, sample: &Sample) -> bool {
        self.kinds != Transcripts::None || self.is_slow(sample)
    }

    #[inline]
    fn is_slow(&self, sample: &Sample) -> bool {
        let [response, service] = self.slow_from;
        sample.response_time() > response || self.is_closed && sample.service_time() > service
    }

    /// Keeps the parts of an ended exchange that the plan requests in addition to its sample.
    #[inline(never)]
    pub(super) fn attend(&mut self, rules: &Rules, entry: &Entry, sample: &Sample) {
        if self.wants(sample) {
            self.transcribe(rules, entry, *sample, Part::Last);
        }
        if self.is_slow(sample) && rules.measures(sample.intended) {
            self.keep_slow(rules, entry, sample);
        }
    }

    /// Whether the plan requests a transcript of an ended exchange.
    const fn wants(&self, sample: &Sample) -> bool {
        match self.kinds {
            Transcripts::None => false,
            Transcripts::Every => true,
            Transcripts::From(least) => sample.status >= least,
        }
    }

    /// Keeps an exchange that is among the slowest. Its trace id is empty if it carried none.
    #[cold]
    fn keep_slow(&mut self, rules: &Rules, entry: &Entry, sample: &Sample) {
        let trace = match self.traces {
            true => trace_of(rules, entry).unwrap_or_default(),
            false => String::new(),
        };
        let service_time = sample.was_sent().then(|| sample.service_time());
        self.slowest.add(&SlowRequest {
            trace,
            pool: rules.prepared.id.0,
            step: sample.step,
            outcome: sample.outcome,
            status: sample.status,
            intended: sample.intended,
            response_time: sample.response_time(),
            service_time,
        });
        for (from, bound) in self.slow_from.iter_mut().zip(self.slowest.bounds()) {
            *from = bound.max(*from);
        }
    }

    /// Keeps the body of an exchange that failed, if it is the first of its kind.
    #[cold]
    pub(super) fn keep_failed_body(&mut self, rules: &Rules, entry: &Entry, sample: &Sample) {
        let Some(look) = entry.exchange.look.as_deref() else {
            return;
        };
        let is_known = !self.known.wants(sample.outcome, sample.status);
        if is_known || !rules.measures(sample.intended) || look.body.is_empty() {
            return;
        }
        let sent = entry.state.sent(rules.request(&entry.exchange));
        let secrets = sent.fields.iter().filter(|field| is_secret(&field.name));
        let values: Vec<&str> = secrets.map(|field| field.value.as_str()).collect();
        let body = FailedBody {
            outcome: sample.outcome,
            status: sample.status,
            pool: rules.prepared.id.index(),
            step: sample.step,
            end: sample.end,
            body: Excerpt {
                bytes: without_secrets(&look.body, &values),
                length: look.length(),
                text: None,
            },
        };
        self.known.add(FailedBody {
            body: Excerpt::default(),
            ..body
        });
        self.bodies.push(body);
    }

    /// Transcribes the part of an exchange that a redirect ends, if every exchange is transcribed.
    /// The time of this part is not known separately.
    #[cold]
    pub(super) fn transcribe_hop(&mut self, rules: &Rules, entry: &Entry) {
        if self.kinds == Transcripts::Every {
            let account = &entry.exchange.account;
            let (end, status) = (account.times.first_byte, account.status());
            let sample = entry.sample(rules, end, Outcome::Ok, status);
            self.transcribe(rules, entry, sample, Part::Hop);
        }
    }

    #[cold]
    fn transcribe(&mut self, rules: &Rules, entry: &Entry, sample: Sample, part: Part) {
        if self.bytes >= KEPT_TRANSCRIPTS_BYTES {
            self.lost += 1;
            return;
        }
        let transcript = transcript(rules, entry, sample, part);
        self.bytes += transcript.body_bytes() + TRANSCRIPT_BYTES;
        self.transcripts.push(transcript);
    }

    /// Takes the records since the last call.
    pub(super) fn take_written(&mut self) -> Written {
        self.bytes = 0;
        Written {
            transcripts: take(&mut self.transcripts),
            lost_transcripts: take(&mut self.lost),
            failed_bodies: take(&mut self.bodies),
            slow: self.slowest.take(),
        }
    }
}

/// The trace id that an exchange carried: the second field of `traceparent` (W3C Trace Context
/// section 3.2).
fn trace_of(rules: &Rules, entry: &Entry) -> Option<String> {
    let sent = entry.state.sent(rules.request(&entry.exchange));
    let mut fields = sent.fields.iter();
    let field = fields.find(|field| field.name.eq_ignore_ascii_case(TRACEPARENT));
    let trace = field?.value.split('-').nth(1)?;
    Some(trace.chars().take(TRACE_DIGITS).collect())
}

/// The beginning of a body, without the values of secret fields. A text is masked as text, even if
/// it was cut within its last character.
fn without_secrets(body: &[u8], values: &[&str]) -> Vec<u8> {
    let bytes = &body[..body.len().min(FAILED_BODY_BYTES)];
    let whole = match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        // The body was cut within a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    };
    match whole {
        Some(text) => secret::body(text, values).into_bytes(),
        None => secret::bytes(bytes, values),
    }
}
