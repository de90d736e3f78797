//! The request of an HTTP/1.1 connection on its way to the socket, and the pause before its body.
//!
//! A request is sent with one call if the socket has room: [`Sending::begin_request`],
//! [`Sending::write_first`], [`Sending::go_on`], which are separate so that the handler's borrow of
//! the message ends in between. [`Sending::write`] sends the rest whenever the socket is writable.
//! A request with `Expect: 100-continue` first sends only its head; [`Sending::send_body`] sends
//! its body after the interim response or at `continue_at`, or never, if the final response comes
//! first (RFC 9110 section 10.1.1).
//!
//! A failed send does not end the exchange: the server may have answered before it closed, so its
//! bytes are read first.

use crate::blame::{During, Failure, io_failure};
use crate::id::ExchangeId;
use crate::prepare::Rendered;
use crate::wire::{Handler, Outgoing, Port};
use drumfire_net::{Io, IoError};
use drumfire_units::Nanos;

/// The unwritten rest of one request. The handler has the bytes: each write gets them from it.
#[derive(Debug)]
pub(super) struct Sending {
    /// The number of bytes of the request still to be written.
    unwritten: usize,
    /// Whether the body waits for `100 Continue`.
    pub(super) awaits_continue: bool,
    /// The time at which the body is sent without `100 Continue`.
    continue_at: Nanos,
    /// The failure of a send; bytes that the server sent before must still be read.
    failure: Option<Box<Failure>>,
}

/// The result of a request's first write.
pub(super) struct FirstWrite {
    /// The number of bytes of the piece to be written.
    wanted: usize,
    /// The number of bytes of the request that may be written now.
    end: usize,
    sent: Result<usize, IoError>,
}

impl Sending {
    pub(super) const NOTHING: Self = Self {
        unwritten: 0,
        awaits_continue: false,
        continue_at: Nanos::MAX,
        failure: None,
    };

    /// Begins a request. With `continue_at`, its body waits until that time for `100 Continue`.
    /// Returns the time until which the body waits; [`Nanos::MAX`] if it does not.
    #[inline(always)]
    pub(super) fn begin_request(
        &mut self,
        message: &Rendered,
        continue_at: Option<Nanos>,
    ) -> Nanos {
        let length = message.length();
        if self.failure.is_some() {
            self.failure = None;
        }
        self.unwritten = length;
        self.awaits_continue = continue_at.is_some() && length > message.head_length;
        match continue_at {
            Some(at) if self.awaits_continue => {
                self.continue_at = at;
                at
            }
            _ => Nanos::MAX,
        }
    }

    /// Whether the whole request is written.
    #[inline]
    pub(super) const fn is_written(&self) -> bool {
        self.unwritten == 0
    }

    /// The output for the socket: nothing to flush, or a failed send.
    #[inline]
    pub(super) const fn outgoing(&self) -> Outgoing {
        match self.failure {
            None => Outgoing::Nothing,
            Some(_) => Outgoing::Failed,
        }
    }

    /// Takes the failure of a send.
    pub(super) fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take().map(|failure| *failure)
    }

    /// The time at which a waiting body is sent anyway; [`Nanos::MAX`] if none waits.
    pub(super) const fn patient_until(&self) -> Nanos {
        if self.awaits_continue {
            self.continue_at
        } else {
            Nanos::MAX
        }
    }

    /// Never sends the body, because a response has arrived before the body was requested.
    #[inline]
    pub(super) const fn keep_body_back(&mut self) {
        self.awaits_continue = false;
    }

    /// Sends a body that has waited for `100 Continue`.
    #[cold]
    pub(super) fn send_body<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        handler: &mut H,
        now: Nanos,
    ) {
        self.awaits_continue = false;
        self.write(port, id, handler, now);
    }

    /// Writes the first bytes of a request.
    #[inline(always)]
    pub(super) fn write_first<I: Io>(
        &self,
        port: &mut Port<'_, I>,
        message: &Rendered,
    ) -> FirstWrite {
        let end = self.may_write_to(message);
        let piece = message.piece(0, end);
        FirstWrite {
            wanted: piece.len(),
            end,
            sent: port.send_request(piece),
        }
    }

    /// Notes the result of the first write, and continues if more can be written: a long body is a
    /// separate piece.
    #[inline(always)]
    pub(super) fn go_on<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        first: FirstWrite,
        handler: &mut H,
        now: Nanos,
    ) {
        let FirstWrite { wanted, end, sent } = first;
        if self.note_sent(id, wanted, sent, handler, now) && wanted < end {
            self.write(port, id, handler, now);
        }
    }

    /// Writes what the socket has room for.
    pub(super) fn write<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        handler: &mut H,
        now: Nanos,
    ) {
        while let Some(message) = handler.message(id) {
            let end = self.may_write_to(message);
            let from = message.length() - self.unwritten;
            if from >= end {
                return;
            }
            let piece = message.piece(from, end);
            let (wanted, sent) = (piece.len(), port.send(piece));
            if !self.note_sent(id, wanted, sent, handler, now) {
                return;
            }
        }
    }

    /// The end of the bytes that may be written now: the end of the head while the body waits.
    #[inline]
    fn may_write_to(&self, message: &Rendered) -> usize {
        if self.awaits_continue {
            message.head_length
        } else {
            message.length()
        }
    }

    /// Records the result of a send; returns whether the socket took all bytes.
    #[inline(always)]
    fn note_sent<H: Handler>(
        &mut self,
        id: ExchangeId,
        wanted: usize,
        sent: Result<usize, IoError>,
        handler: &mut H,
        now: Nanos,
    ) -> bool {
        match sent {
            Ok(sent) => {
                self.unwritten -= sent;
                handler.written(id, sent, self.is_written(), now);
                sent == wanted
            }
            Err(error) => {
                self.failure = Some(Box::new(io_failure(error, During::Send)));
                false
            }
        }
    }
}

/// Notes the departure of the request whose response begins, if the kernel reports it.
#[cold]
pub(in crate::wire) fn note_departure<I: Io, H: Handler>(
    port: &mut Port<'_, I>,
    id: ExchangeId,
    handler: &mut H,
) {
    if let Some(left) = port.departure() {
        handler.left(id, left);
    }
}
