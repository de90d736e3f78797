//! The account of an exchange on the wire: the times of its events, its bytes, its status.
//!
//! The notes come in the order of the wire's events: seated, sent, written, received, interim,
//! head. When the request is sent once more, [`Account::begin_attempt`] discards the response of
//! the attempt before; its times and bytes stay, for they are the exchange's. A sample can be made
//! at any time.
//!
//! Of the times, `intended` is the schedule's and never moves. `due` begins as the time at which
//! the request could have been sent, and moves by the wait for a connection, which is the target's
//! delay and not the generator's: `sent - due` is then the generator's own lateness. `sent` is the
//! first write of the first attempt that wrote, so that latency counts further attempts.
//!
//! One deadline holds at a time: that of the whole, or an earlier one for the response's head
//! between the end of the request and that head. It is a bound that a scan compares with, so that
//! an event that comes in time costs no timer
//! (docs/design/03-exchanges-and-wires.md#deadlines-without-timers).

use crate::blame::Failure;
use crate::limits::TRICKLE;
use crate::wire::Seen;
use drumfire_measure::{Leniencies, Outcome, STATUS_ZERO, Sample};
use drumfire_units::Nanos;

/// The departure of an exchange's first write has not been told.
const LEAVING_UNKNOWN: u32 = 0;
/// It never will be: that write was one of an attempt before.
const LEAVING_LOST: u32 = u32::MAX;

/// The time from an exchange's first write to the departure of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// Not known: the first write is when it was sent.
    Unknown,
    /// This long; the departure is when it was sent.
    Took(Nanos),
    /// Known, and behind the response: the first write stands.
    Refused,
}

/// The times of an exchange's events, from the run's start; [`Nanos::MAX`] before an event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// The start that the schedule gave it.
    pub(super) intended: Nanos,
    due: Nanos,
    /// The moment at which it took its seat; the start of its timeout.
    started: Nanos,
    /// The first write.
    pub(super) sent: Nanos,
    /// The end of the request.
    pub(super) written: Nanos,
    /// The first byte of the response.
    pub(super) first_byte: Nanos,
    /// The time by which the next event must come; [`Nanos::MAX`] after it was missed.
    pub(super) deadline: Nanos,
    /// The end of the time that the whole exchange may take.
    ends_by: Nanos,
    /// Nanoseconds from the first write to the departure of its bytes, and one; or one of
    /// [`LEAVING_UNKNOWN`] and [`LEAVING_LOST`].
    leaving: u32,
}

impl Times {
    /// The times of an exchange that takes its seat now and may last until `ends_by`.
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

    /// Notes the departure of the bytes of the first write, unless that is known or was one of an
    /// attempt before.
    pub(super) fn note_left(&mut self, at: Nanos) {
        if self.leaving == LEAVING_UNKNOWN && self.sent != Nanos::MAX {
            let leaving = (at - self.sent).0.saturating_add(1);
            self.leaving = u32::try_from(leaving).unwrap_or(LEAVING_LOST);
        }
    }

    /// Makes the departure the time at which it was sent, unless that lies behind `earliest`, at
    /// which its response had begun. Called once, at its end.
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

    /// Notes that further writes are those of another attempt.
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
    /// Whether the whole request of this attempt is written, or its rest given up.
    is_written: bool,
    /// Whether it came to a wire. An exchange that never did has waited all the while.
    is_seated: bool,
    /// The response's status, of a call the one that the server gave; 0 before there is one.
    status: u16,
    /// Interim responses (1xx) of this attempt.
    pub(super) interim: u16,
    leniencies: Leniencies,
    /// Bytes written in all, redirects included.
    bytes_sent: u32,
    /// Bytes read in all, as the wire counts them.
    bytes_received: u64,
}

impl Account {
    /// The account of an exchange that begins at these times.
    #[inline(always)]
    pub(super) const fn of(times: Times) -> Self {
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

    /// Discards the response of an attempt.
    #[inline]
    pub(super) const fn begin_attempt(&mut self) {
        self.status = 0;
        self.interim = 0;
        self.leniencies = Leniencies(0);
        self.has_head = false;
        self.is_written = false;
        self.times.end_attempt();
    }

    /// The response's status; 0 before there is one.
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

    /// Counts the request as written, though its rest is never sent.
    pub(super) const fn stop_writing(&mut self) {
        self.is_written = true;
    }

    /// Notes that the wire has taken the exchange. Waiting for a connection, or for room on one, is
    /// the target's delay: the due time moves by it, unless an earlier attempt has written already.
    #[inline]
    pub(super) fn note_seated(&mut self, now: Nanos) {
        if self.times.sent == Nanos::MAX {
            self.times.due += now - self.times.started;
        }
        self.is_seated = true;
    }

    /// Notes that bytes of the request were written or queued, its last ones where it is `whole`.
    #[inline(always)]
    pub(super) const fn note_written(&mut self, bytes: usize, whole: bool, now: Nanos) {
        self.bytes_sent = self.bytes_sent.saturating_add(bytes as u32);
        if whole {
            self.is_written = true;
            self.times.written = now;
        }
    }

    /// Notes that the first bytes of an attempt go to the kernel now. Gives whether those of another
    /// went before.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, now: Nanos) -> bool {
        let was_sent = self.times.sent != Nanos::MAX;
        if !was_sent {
            self.times.sent = now;
        }
        was_sent
    }

    /// Sets the deadline of a head with a limit of its own, once the request is both written (to the
    /// wire's queue) and sent (to the kernel), in whichever order that was noted. Gives the
    /// deadline.
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

    /// Notes the response's head: the deadline is that of the whole again.
    #[inline]
    pub(super) const fn note_head(&mut self) {
        self.times.deadline = self.times.ends_by;
        self.has_head = true;
    }

    /// Notes mistakes that the response was forgiven.
    #[inline]
    pub(super) const fn note_leniencies(&mut self, leniencies: Leniencies) {
        self.leniencies.0 |= leniencies.0;
    }

    /// Takes over the wire's knowledge of an exchange that the wire can't finish.
    pub(super) const fn note_seen(&mut self, seen: Seen) {
        if let Some(status) = seen.status() {
            self.status = status;
        }
        self.note_leniencies(seen.leniencies);
    }

    /// Forgets the time at which the response began, since that response counts for nothing: the
    /// request is sent once more.
    pub(super) const fn forget_first_byte(&mut self) {
        self.times.first_byte = Nanos::MAX;
    }

    /// The start of its service: the time at which it took its seat, or became due where that was
    /// later.
    pub(super) fn began(&self) -> Nanos {
        self.times.started.max(self.times.intended)
    }

    /// Sets no further deadline: it was missed.
    pub(super) const fn clear_deadline(&mut self) {
        self.times.deadline = Nanos::MAX;
    }

    /// Whether the time that the whole exchange may take is used up.
    pub(super) fn is_spent(&self, now: Nanos) -> bool {
        now >= self.times.ends_by
    }

    /// The outcome of its timeout, by the phase that it was in. A body at under [`TRICKLE`] bytes a
    /// second is the server's to blame; of one that flows, the limit was too short.
    pub(super) fn lateness(&self, now: Nanos) -> Outcome {
        if self.status == 0 {
            return if self.is_written {
                Outcome::TimeoutHead
            } else {
                Outcome::TimeoutTotal
            };
        }
        // A body that trickles is late by itself; one that flows is only too long.
        let flow = u128::from(self.bytes_received) * 1_000_000_000;
        let span = (now - self.times.first_byte).0;
        if flow < u128::from(TRICKLE) * u128::from(span) {
            Outcome::TimeoutBody
        } else {
            Outcome::TimeoutTotal
        }
    }

    /// The failure of an exchange whose connection has ended: within the body it is the response
    /// that was cut off (RFC 9113 section 8.1.1, as RFC 9112 section 8 has it).
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

    /// The time of its end that was noticed at `now`, which a turn of the loop may have read before
    /// the exchange was sent or answered: a deadline is looked at with the time at which the turn
    /// began. It is no earlier than any event of the exchange.
    pub(super) fn ended_at(&self, now: Nanos) -> Nanos {
        let times = &self.times;
        let begun = times.started.max(times.due);
        now.max(begun)
            .max(seen(times.sent))
            .max(seen(times.first_byte))
    }

    /// Counts the opening of its connection as service, in its record.
    #[cold]
    pub(super) fn count_opening(&self, sample: &mut Sample) {
        sample.sent = self.began().min(sample.end);
        sample.due = sample.due.min(sample.sent);
    }

    /// The record of it with this end. Its times are in order whatever was read when: intended ≤
    /// due ≤ sent ≤ end, so that response = waiting + lag + service, and the first byte came before
    /// the end.
    #[inline]
    pub(super) fn sample(&self, now: Nanos, outcome: Outcome, status: u16, step: u16) -> Sample {
        let times = &self.times;
        let (due, sent, end) = match (times.sent, self.is_seated) {
            // What ended while its connection was opened has waited for that to its end.
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

/// The time of an event, or the run's start where it has not come.
#[inline(always)]
const fn seen(at: Nanos) -> Nanos {
    match at {
        Nanos::MAX => Nanos::ZERO,
        at => at,
    }
}

/// The status of an exchange that saw `status` and has this outcome, as its sample has it.
#[inline]
pub(super) fn final_status(status: u16, outcome: Outcome) -> u16 {
    match (status, outcome) {
        // The status was read, or there would be none to be invalid.
        (0, Outcome::InvalidStatus) => STATUS_ZERO,
        (status, _) => status,
    }
}
