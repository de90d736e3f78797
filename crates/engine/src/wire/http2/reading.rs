//! One reading of a connection of HTTP/2: the state that it changes beside the connection itself.
//!
//! It is made for one call of the transport and gives its result with [`Reading::end`], in which
//! all that concerns the connection is gathered: a read may bring a GOAWAY, settings and a hundred
//! responses at once.

use super::stream::stream;
use crate::id::ExchangeId;
use crate::wire::{ConnectionEvents, Flow, Read, Underway};
use drumfire_http2::StreamRef;
use drumfire_units::Nanos;

/// The state that a read changes beside the connection itself.
pub(super) struct Reading<'a, H> {
    pub(super) underway: &'a mut Underway,
    pub(super) handler: &'a mut H,
    pub(super) events: ConnectionEvents,
    /// The time at which the bytes came that are being fed.
    pub(super) now: Nanos,
}

impl<'a, H> Reading<'a, H> {
    /// A reading of bytes that came at this time.
    pub(super) fn at(now: Nanos, underway: &'a mut Underway, handler: &'a mut H) -> Self {
        Self {
            underway,
            handler,
            events: ConnectionEvents::default(),
            now,
        }
    }

    /// The result for the transport. A stream that has ended leaves room for another.
    #[inline]
    pub(super) fn end(self, unread: bool) -> Read {
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
        stream(self.underway.get(ExchangeId(token)).handle()?)
    }
}
