//! The account of an exchange: the times of its events, its bytes, its status.
//!
//! Events are noted in the order of the wire: seated, sent, written, received, interim, head. When
//! the request is sent again, [`Account::begin_attempt`] discards the response of the previous
//! attempt; times and bytes belong to the exchange and stay. A sample can be made at any time.
//!
//! `intended` is the schedule's time and never changes. `due` begins as the time at which the
//! request could have been sent, and moves by the wait for a connection, which is the target's
//! delay and not the generator's. So `sent - due` is the generator's own lateness. `sent` is the
//! first write of the first attempt that wrote, so latency includes further attempts.
//!
//! One deadline applies at a time: the end of the whole exchange, or, between the end of the
//! request and the response's head, an earlier deadline for the head. A scan compares the deadline
//! with the clock, so that an event in time costs no timer
//! (docs/design/03-exchanges-and-wires.md#deadlines-without-timers).

use crate::blame::Failure;
use crate::limits::TRICKLE;
use crate::wire::Seen;
use drumfire_measure::{Leniencies, Outcome, STATUS_ZERO, Sample};
use drumfire_units::Nanos;

/// The kernel has not reported the departure of an exchange's first write.
const LEAVING_UNKNOWN: u32 = 0;
/// The departure will never be known: the write belongs to an earlier attempt.
const LEAVING_LOST: u32 = u32::MAX;

/// The time from an exchange's first write to the departure of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// Unknown: the time of the first write is the sent time.
    Unknown,
    /// This duration: the departure is the sent time.
    Took(Nanos),
    /// Known, but after the response: the time of the first write stays the sent time.
    Refused,
}

/// The times of an exchange's events, from the run's start; [`Nanos::MAX`] before an event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// The intended start, from the schedule.
    pub(super) intended: Nanos,
    due: Nanos,
    /// The time at which the exchange took its seat; its timeout begins then.
    started: Nanos,
    /// The first write.
    pub(super) sent: Nanos,
    /// The end of the request.
    pub(super) written: Nanos,
    /// The first byte of the response.
    pub(super) first_byte: Nanos,
    /// The time by which the next event must occur; [`Nanos::MAX`] after it was missed.
    pub(super) deadline: Nanos,
    /// The end of the time allowed for the whole exchange.
    ends_by: Nanos,
    /// Nanoseconds from the first write to the departure of its bytes, plus one; or
    /// [`LEAVING_UNKNOWN`] or [`LEAVING_LOST`].
    leaving: u32,
}

impl Times {
    /// The times of an exchange that takes its seat now and must end by `ends_by`.
    #[inline(always)]
    pub(super) const fn new(intended: Nanos, due: Nanos, now: Nanos, ends_by: Nanos) -> Self {
        Self {
            intended,
            due,
            started: now,
            sent: Nanos::MAX,
            written: Nanos::MAX,
            first_byte: Nanos::MAX,
            deadline: ends_by,
            ends_by,
            leaving: LEAVING_UNKNOWN,
        }
    }

    /// Notes the departure of the first write's bytes, unless it is known already or belongs to an
    /// earlier attempt.
    pub(super) fn note_left(&mut self, at: Nanos) {
        if self.leaving == LEAVING_UNKNOWN && self.sent != Nanos::MAX {
            let leaving = (at - self.sent).0.saturating_add(1);
            self.leaving = u32::try_from(leaving).unwrap_or(LEAVING_LOST);
        }
    }

    /// Sets the sent time to the departure, unless the departure is after `earliest`, the beginning
    /// of the response. Called once, at the end of the exchange.
    pub(super) fn depart(&mut self, earliest: Nanos) -> Leaving {
        let leaving = match self.leaving {
            LEAVING_UNKNOWN | LEAVING_LOST => return Leaving::Unknown,
            leaving => Nanos(u64::from(leaving - 1)),
        };
        let left = self.sent + leaving;
        if left > earliest {
            return Leaving::Refused;
        }
        self.sent = left;
        Leaving::Took(leaving)
    }

    /// Notes that further writes belong to another attempt.
    const fn end_attempt(&mut self) {
        if self.leaving == LEAVING_UNKNOWN {
            self.leaving = LEAVING_LOST;
        }
    }
}

/// The account of an exchange on the wire.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) times: Times,
    /// Whether the response's head has come in this attempt.
    pub(super) has_head: bool,
    /// Whether the whole request of this attempt is written, or the rest is never sent.
    is_written: bool,
    /// Whether a wire has taken the exchange. Until then, all of its time is waiting.
    is_seated: bool,
    /// The response's status, or the call status that the server sent; 0 until then.
    status: u16,
    /// Interim responses (1xx) of this attempt.
    pub(super) interim: u16,
    leniencies: Leniencies,
    /// Bytes written in all attempts and redirects.
    bytes_sent: u32,
    /// Bytes read in all attempts and redirects, as the wire counts them.
    bytes_received: u64,
}

impl Account {
    /// The account of an exchange that begins at these times.
    #[inline(always)]
    pub(super) const fn new(times: Times) -> Self {
        Self {
            times,
            has_head: false,
            is_written: false,
            is_seated: false,
            status: 0,
            interim: 0,
            leniencies: Leniencies(0),
            bytes_sent: 0,
            bytes_received: 0,
        }
    }

    /// Discards the response of the previous attempt.
    #[inline]
    pub(super) const fn begin_attempt(&mut self) {
        self.status = 0;
        self.interim = 0;
        self.leniencies = Leniencies(0);
        self.has_head = false;
        self.is_written = false;
        self.times.end_attempt();
    }

    /// The response's status; 0 until it is known.
    #[inline]
    pub(super) const fn status(&self) -> u16 {
        self.status
    }

    #[inline]
    pub(super) const fn set_status(&mut self, status: u16) {
        self.status = status;
    }

    /// Whether the whole request is written.
    #[inline]
    pub(super) const fn is_written(&self) -> bool {
        self.is_written
    }

    /// Counts the request as written, although the rest is never sent.
    pub(super) const fn stop_writing(&mut self) {
        self.is_written = true;
    }

    /// Notes that the wire has taken the exchange. Waiting for a connection, or for room on one, is
    /// the target's delay: the due time moves by it, unless an earlier attempt has already written.
    #[inline]
    pub(super) fn note_seated(&mut self, now: Nanos) {
        if self.times.sent == Nanos::MAX {
            self.times.due += now - self.times.started;
        }
        self.is_seated = true;
    }

    /// Notes that bytes of the request were written or queued; with `whole`, its last bytes.
    #[inline(always)]
    pub(super) const fn note_written(&mut self, bytes: usize, whole: bool, now: Nanos) {
        self.bytes_sent = self.bytes_sent.saturating_add(bytes as u32);
        if whole {
            self.is_written = true;
            self.times.written = now;
        }
    }

    /// Notes that the first bytes of an attempt are given to the kernel now. Returns whether an
    /// earlier attempt has sent bytes.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, now: Nanos) -> bool {
        let was_sent = self.times.sent != Nanos::MAX;
        if !was_sent {
            self.times.sent = now;
        }
        was_sent
    }

    /// Sets the deadline of a head that has its own limit, once the request is both written (to the
    /// wire's queue) and sent (to the kernel), in either order. Returns the deadline.
    pub(super) fn expect_head(&mut self, limit: Nanos, now: Nanos) -> Nanos {
        if self.is_written && !self.has_head && self.times.sent != Nanos::MAX {
            self.times.deadline = self.times.deadline.min(now + limit);
        }
        self.times.deadline
    }

    /// Notes bytes of the response.
    #[inline(always)]
    pub(super) fn note_received(&mut self, bytes: usize, now: Nanos) {
        self.times.first_byte = self.times.first_byte.min(now);
        self.bytes_received += bytes as u64;
    }

    pub(super) const fn note_interim(&mut self) {
        self.interim = self.interim.saturating_add(1);
    }

    /// Notes the response's head: from now on the deadline is the end of the whole exchange.
    #[inline]
    pub(super) const fn note_head(&mut self) {
        self.times.deadline = self.times.ends_by;
        self.has_head = true;
    }

    /// Sets the end of the time allowed for the whole exchange to this time after its first write.
    pub(super) fn limit_stream(&mut self, duration: Nanos) {
        self.times.ends_by = self.times.sent + duration;
    }

    /// Sets the deadline of the next event of a response, which comes `limit` from now at the
    /// latest, and not after the end of the whole exchange.
    #[inline]
    pub(super) fn expect_event(&mut self, limit: Nanos, now: Nanos) {
        self.times.deadline = match limit {
            Nanos::MAX => self.times.ends_by,
            limit => self.times.ends_by.min(now + limit),
        };
    }

    /// Notes violations that were accepted in the response.
    #[inline]
    pub(super) const fn note_leniencies(&mut self, leniencies: Leniencies) {
        self.leniencies.0 |= leniencies.0;
    }

    /// Copies what the wire knows of an exchange that it cannot finish.
    pub(super) const fn note_seen(&mut self, seen: Seen) {
        if let Some(status) = seen.status() {
            self.status = status;
        }
        self.note_leniencies(seen.leniencies);
    }

    /// Forgets the time at which the response began. That response does not count: the request is
    /// sent again.
    pub(super) const fn forget_first_byte(&mut self) {
        self.times.first_byte = Nanos::MAX;
    }

    /// The start of the service: the time at which the exchange took its seat, or became due if
    /// that was later.
    pub(super) fn began(&self) -> Nanos {
        self.times.started.max(self.times.intended)
    }

    /// Clears the deadline, which was missed.
    pub(super) const fn clear_deadline(&mut self) {
        self.times.deadline = Nanos::MAX;
    }

    /// Whether the time allowed for the whole exchange is used up.
    pub(super) fn is_spent(&self, now: Nanos) -> bool {
        now >= self.times.ends_by
    }

    /// The outcome of a timeout, by the phase of the exchange. If a body has arrived at under
    /// [`TRICKLE`] bytes per second, the server is to blame; otherwise the limit was too short.
    pub(super) fn lateness(&self, now: Nanos) -> Outcome {
        if self.status == 0 {
            return if self.is_written {
                Outcome::TimeoutHead
            } else {
                Outcome::TimeoutTotal
            };
        }
        // A slow body times out as a body; a fast one is only too long for the limit.
        let flow = u128::from(self.bytes_received) * 1_000_000_000;
        let span = (now - self.times.first_byte).0;
        if flow < u128::from(TRICKLE) * u128::from(span) {
            Outcome::TimeoutBody
        } else {
            Outcome::TimeoutTotal
        }
    }

    /// The failure of an exchange whose connection has ended. After the head, the response was
    /// truncated (RFC 9113 section 8.1.1, RFC 9112 section 8).
    pub(super) fn cut_off(&self, failure: Failure) -> Failure {
        match failure.outcome {
            Outcome::Closed if self.has_head => Failure::with(
                Outcome::Truncated,
                "the connection was closed before the body was complete",
            ),
            Outcome::Reset if self.has_head => Failure::with(
                Outcome::Truncated,
                "the connection was reset before the body was complete",
            ),
            _ => failure,
        }
    }

    /// The end time for an end noticed at `now`. The loop may have read `now` before the exchange
    /// was sent or answered, because deadlines are compared with the time at which the turn began.
    /// The result is not earlier than any event of the exchange.
    pub(super) fn ended_at(&self, now: Nanos) -> Nanos {
        let times = &self.times;
        let begun = times.started.max(times.due);
        now.max(begun)
            .max(seen(times.sent))
            .max(seen(times.first_byte))
    }

    /// Counts the opening of the connection as service in this record.
    #[cold]
    pub(super) fn count_opening(&self, sample: &mut Sample) {
        sample.sent = self.began().min(sample.end);
        sample.due = sample.due.min(sample.sent);
    }

    /// Makes the record of the exchange with this end. Its times are always in order, intended ≤
    /// due ≤ sent ≤ end, so that response = waiting + lag + service, and the first byte is not
    /// after the end.
    #[inline]
    pub(super) fn sample(&self, now: Nanos, outcome: Outcome, status: u16, step: u16) -> Sample {
        let times = &self.times;
        let (due, sent, end) = match (times.sent, self.is_seated) {
            // If the exchange ended while its connection was being opened, all of its time was
            // waiting.
            (Nanos::MAX, false) => {
                let end = self.ended_at(now);
                (times.due + (end - times.started), end, end)
            }
            (Nanos::MAX, true) => {
                let sent = times.started.max(times.due);
                (times.due, sent, now.max(sent))
            }
            (sent, _) => {
                let last = sent.max(seen(times.first_byte));
                (times.due.min(sent), sent, now.max(last))
            }
        };
        Sample {
            intended: times.intended,
            due,
            sent,
            first_byte: times.first_byte,
            end,
            bytes_sent: self.bytes_sent,
            outcome,
            leniencies: self.leniencies,
            bytes_received: self.bytes_received,
            status,
            step,
        }
    }
}

/// The time of an event, or the run's start if it has not occurred.
#[inline(always)]
const fn seen(at: Nanos) -> Nanos {
    match at {
        Nanos::MAX => Nanos::ZERO,
        at => at,
    }
}

/// The status for the sample of an exchange that received `status` and has this outcome.
#[inline]
pub(super) fn final_status(status: u16, outcome: Outcome) -> u16 {
    match (status, outcome) {
        // An invalid status was read, so it is the status 0.
        (0, Outcome::InvalidStatus) => STATUS_ZERO,
        (status, _) => status,
    }
}
