//! The records of exchanges beyond their figures: some in full, where the plan asks for it, the
//! slowest, and the first body of each kind of failure.
//!
//! [`Records::attend`] is called for an exchange only where [`Records::attends`] says so: two
//! comparisons for nearly every one. A failed exchange's body is offered besides, with
//! [`Records::keep_failed_body`]. Both are called after the sample and before the exchange's state
//! is used again. [`Records::take_written`] empties the records when an interval is closed, but for the
//! kinds of failure that are known and the bound of the slowest, which hold for the run.
//!
//! Peers decide the sizes here, so each has a bound: a failed body is kept up to
//! [`FAILED_BODY_BYTES`], once for each outcome and status; the slowest are a fixed number;
//! transcripts of responses from a status on stop at [`KEPT_TRANSCRIPTS_BYTES`] in an interval.
//! Only a plan that asks for every exchange has no bound but what is shown of each.
//!
//! Values of secret fields that the request carried are masked in a failed body, since a server may
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

/// The number of digits of a trace's id.
const TRACE_DIGITS: usize = 32;

/// The records that a worker keeps of a pool's exchanges until the next interval is closed.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// The plan's choice of the exchanges that are written down in full.
    kinds: Transcripts,
    transcripts: Vec<Transcript>,
    /// Bytes of their bodies, which may be a server's.
    bytes: usize,
    /// Exchanges beyond the bound on these, which are not written down.
    lost: u64,
    /// The kinds of failure of which this worker has kept a body.
    known: FailedBodies,
    /// Bodies that are not handed over yet.
    bodies: Vec<FailedBody>,
    /// Whether any request carries a trace.
    traces: bool,
    /// The slowest of this worker's that are not handed over yet.
    slowest: Slowest,
    /// A response time, or a service time, beyond these is one of the slowest so far. They only rise,
    /// though the slowest are handed over: none below them can be among those of the run.
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

    /// Whether the end of an exchange with this sample takes more than the sample.
    #[inline]
    pub(super) fn attends(&self, sample: &Sample) -> bool {
        self.kinds != Transcripts::None || self.is_slow(sample)
    }

    #[inline]
    fn is_slow(&self, sample: &Sample) -> bool {
        let [response, service] = self.slow_from;
        sample.response_time() > response || self.is_closed && sample.service_time() > service
    }

    /// Keeps of an exchange that has ended the parts that the plan asks for beyond its sample.
    #[inline(never)]
    pub(super) fn attend(&mut self, rules: &Rules, entry: &Entry, sample: &Sample) {
        if self.wants(sample) {
            self.transcribe(rules, entry, *sample, Part::Last);
        }
        if self.is_slow(sample) && rules.measures(sample.intended) {
            self.keep_slow(rules, entry, sample);
        }
    }

    /// Whether the plan asks for an exchange that has ended in full.
    const fn wants(&self, sample: &Sample) -> bool {
        match self.kinds {
            Transcripts::None => false,
            Transcripts::Every => true,
            Transcripts::From(least) => sample.status >= least,
        }
    }

    /// Keeps an exchange that is slower than most. Its trace is empty where it carried none.
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

    /// Writes down the part of an exchange that a redirect ends, where every exchange is written
    /// down. Its time is not known apart.
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

/// The id of the trace that an exchange carried: the second field of `traceparent` (W3C Trace
/// Context section 3.2).
fn trace_of(rules: &Rules, entry: &Entry) -> Option<String> {
    let sent = entry.state.sent(rules.request(&entry.exchange));
    let mut fields = sent.fields.iter();
    let field = fields.find(|field| field.name.eq_ignore_ascii_case(TRACEPARENT));
    let trace = field?.value.split('-').nth(1)?;
    Some(trace.chars().take(TRACE_DIGITS).collect())
}

/// The beginning of a body, without the values of secret fields. A text is masked as text, also
/// where it was cut within its last character.
fn without_secrets(body: &[u8], values: &[&str]) -> Vec<u8> {
    let bytes = &body[..body.len().min(FAILED_BODY_BYTES)];
    let whole = match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        // It was cut within a character.
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
