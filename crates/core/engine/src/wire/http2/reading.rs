//! One read of an HTTP/2 connection: the state that it changes in addition to the connection
//! itself.
//!
//! A reading exists for one call of the transport. [`Reading::finish_read`] returns its result,
//! which contains everything that concerns the connection: a read may bring a GOAWAY, settings and
//! a hundred responses at once.

use super::stream::stream;
use crate::blame::Failure;
use crate::id::ExchangeId;
use crate::wire::{
    ConnectionEvents, Flow, Handler, Read, Refusal, Resend, Seen, Then, Underway, Whole, WireEvent,
};
use drumfire_http2::StreamRef;
use drumfire_units::Nanos;

/// The state that a read changes in addition to the connection itself.
pub(super) struct Reading<'a, H> {
    underway: &'a mut Underway,
    handler: &'a mut H,
    pub(super) events: ConnectionEvents,
    /// The arrival time of the current bytes.
    now: Nanos,
}

impl<'a, H> Reading<'a, H> {
    /// A reading of bytes that arrived at `now`.
    pub(super) fn at(now: Nanos, underway: &'a mut Underway, handler: &'a mut H) -> Self {
        Self {
            underway,
            handler,
            events: ConnectionEvents::default(),
            now,
        }
    }

    /// Continues with bytes that arrived at `now`.
    #[inline]
    pub(super) fn go_on(&mut self, now: Nanos) {
        self.now = now;
        self.events.note_bytes(now);
    }

    /// The handler of the events, and the time of the events.
    #[inline]
    pub(super) const fn handler(&mut self) -> (&mut H, Nanos) {
        (self.handler, self.now)
    }

    /// Notes that the connection can carry exchanges from now on.
    pub(super) const fn note_ready(&mut self) {
        self.events.note_ready(self.now);
    }

    /// Notes that the server takes no further exchanges.
    pub(super) const fn note_refusal(&mut self, refusal: Refusal) {
        self.events.note_refusal(refusal);
    }

    /// Notes that the connection has failed, with the failure for its exchanges.
    #[cold]
    pub(super) fn fail(&mut self, failure: Failure) {
        self.events.fail(failure);
    }

    /// Clears the entry of a stream's exchange, which has had its last event.
    #[inline]
    pub(super) fn clear(&mut self, token: u32) {
        self.underway.clear(ExchangeId(token));
    }

    /// The result for the transport. A stream that has ended leaves room for another.
    #[inline]
    pub(super) fn finish_read(self, unread: bool) -> Read {
        let flow = if self.events.is_empty() {
            Flow::Room {
                since: self.events.since,
            }
        } else {
            Flow::Events(Box::new(self.events))
        };
        Read { flow, unread }
    }

    /// The stream of an exchange, if it has one.
    pub(super) fn stream(&self, token: u32) -> Option<StreamRef> {
        let (_, handle) = self.underway.get(ExchangeId(token)).carrier()?;
        stream(handle)
    }
}

impl<H: Handler> Reading<'_, H> {
    /// Reports an event of a stream, and its bytes.
    #[inline(always)]
    pub(super) fn report(&mut self, token: u32, size: usize, event: WireEvent<'_>) -> Then {
        let id = ExchangeId(token);
        self.handler.received(id, size, self.now);
        self.handler.on_event(id, event, self.now)
    }

    /// Reports a response that came in one piece, and its bytes.
    #[inline(always)]
    pub(super) fn report_whole(&mut self, token: u32, size: usize, whole: &Whole<'_>) -> Then {
        let id = ExchangeId(token);
        self.handler.received(id, size, self.now);
        self.handler.whole(id, whole, self.now)
    }

    /// Reports an interim response.
    pub(super) fn report_interim(&mut self, token: u32) {
        let id = ExchangeId(token);
        self.handler.on_event(id, WireEvent::Interim, self.now);
    }

    /// Reports the failure of a stream that has ended, whose exchange may be sent again.
    #[cold]
    pub(super) fn report_failure(&mut self, token: u32, failure: Failure, resend: Resend) -> Then {
        let failed = WireEvent::Failed {
            failure,
            seen: Seen::default(),
            resend,
        };
        self.handler.on_event(ExchangeId(token), failed, self.now)
    }
}
