//! Wires: the protocol of an open connection.
//!
//! A wire handles bytes, and exchanges by their ids. It has no clock and no slot, and is
//! independent of other wires: the transport lends it a [`Port`], and calls
//!
//! ```text
//!   submit                      while `has_room`, and once `is_stale` was answered with no
//!   send_more, cancel           with the handle that `submit` gave, until the last event
//!   receive, handle_writable    when the socket is ready
//!   flush, then resume          while `outgoing` is output; `resume` after `Flushed::IdleSince`
//!   fail_sends                  after `outgoing` was `Failed` and the socket was read once more
//!   handle_timeout              at a time that `submit`, `first_look` or the last call gave, or later
//!   drain                       before the connection is closed
//! ```
//!
//! All of these except queries may call back through [`Handler`], which is the same for every
//! protocol. The transport reads `outgoing` after each, and acts on the results in [`answers`]; it
//! never checks which protocol it is. A further protocol needs one file here with the same results,
//! and one variant.
//!
//! A wire stores no request and no response: it reads the bytes of a request from the handler at
//! each write, and passes on the bytes of a response in the buffer into which they were received.
//! Its state is in the protocol's machine (`http1`, `http2`), which checks everything that a peer
//! sends and has the limits; a wire adds the exchanges. An error of the machine ends the
//! connection, never the worker.

mod answers;
mod contract;
mod fields;
mod handler;
mod http1;
mod http2;
mod port;
mod settings;
mod socket;
mod underway;

pub(crate) use answers::{
    BrokenSend, ConnectionEvents, Dropped, Expiry, Flow, Flushed, Outgoing, Read, Refusal,
    Submitted, Unwilling,
};
pub(crate) use contract::WireProtocol;
pub(crate) use fields::Fields;
pub(crate) use handler::{
    Ahead, Chunk, ConnectionNote, End, Extra, FIELDS_TOO_LARGE, GivenUp, Handler, Life, Opening,
    Pump, Resend, Seen, SocketMessage, SocketNote, SocketTask, Then, Whole, WireEvent,
};
pub(crate) use port::{Input, Port};
pub(crate) use settings::{Lent, Patience, Settings, Terms};
pub(crate) use underway::{Cancelled, Handle, Phase, Underway};

use self::http1::Http1;
use self::http2::Http2;
use self::socket::Socket;
use crate::id::ExchangeId;
use crate::protocol::Protocol;
use drumfire_net::Io;
use drumfire_units::Nanos;

/// An open connection's protocol, with its state. The state of HTTP/1.1 is stored in the slot, the
/// states of HTTP/2 and of WebSockets in a box: a slot must be small, and a worker has many with HTTP/1.1.
///
/// `Wire` implements [`WireProtocol`] by forwarding each call. On the two paths of every request,
/// where an exchange is put on a wire and where it is read, the transport uses `each!` instead,
/// over the call and the handling of its result.
#[derive(Debug)]
pub(crate) enum Wire {
    Http1(Http1),
    Http2(Box<Http2>),
    Socket(Box<Socket>),
}

/// Evaluates the same expression for each protocol of a wire, so that each protocol has separate
/// inlined code.
macro_rules! each {
    ($wire:expr, $it:ident => $act:expr) => {
        match $wire {
            $crate::wire::Wire::Http1($it) => $act,
            $crate::wire::Wire::Http2($it) => $act,
            $crate::wire::Wire::Socket($it) => $act,
        }
    };
}
pub(crate) use each;

impl Wire {
    /// The wire of a connection that was opened at `now` after `connect`, the time to connect.
    pub(crate) fn open(settings: &Settings, now: Nanos, connect: Nanos) -> Self {
        match settings.protocol {
            Protocol::Http1 => Self::Http1(Http1::new(now, connect)),
            Protocol::Http2 => Self::Http2(Box::new(Http2::new(settings))),
            Protocol::WebSocket => Self::Socket(Box::new(Socket::new(now))),
            Protocol::WebSocketStream => Self::Socket(Box::new(Socket::on_stream(settings, now))),
        }
    }
}

impl WireProtocol for Wire {
    #[inline]
    fn is_ready(&self) -> bool {
        each!(self, it => it.is_ready())
    }

    #[inline]
    fn has_room(&self) -> bool {
        each!(self, it => it.has_room())
    }

    #[inline]
    fn is_stale(&self, now: Nanos) -> bool {
        each!(self, it => it.is_stale(now))
    }

    #[inline]
    fn is_idle(&self) -> bool {
        each!(self, it => it.is_idle())
    }

    #[inline]
    fn is_spent(&self) -> bool {
        each!(self, it => it.is_spent())
    }

    fn peer_capacity(&self) -> Option<u32> {
        each!(self, it => it.peer_capacity())
    }

    fn carried(&self) -> u64 {
        each!(self, it => it.carried())
    }

    fn is_fruitless(&self) -> bool {
        each!(self, it => it.is_fruitless())
    }

    fn is_refused(&self) -> bool {
        each!(self, it => it.is_refused())
    }

    fn unwilling(&self) -> Option<Unwilling> {
        each!(self, it => it.unwilling())
    }

    fn outstanding(&self) -> Vec<ExchangeId> {
        each!(self, it => it.outstanding())
    }

    #[inline]
    fn outgoing(&self) -> Outgoing {
        each!(self, it => it.outgoing())
    }

    fn take_no_more(&mut self) -> bool {
        each!(self, it => it.take_no_more())
    }

    fn first_look(&mut self, patience: Patience, now: Nanos) -> Nanos {
        each!(self, it => it.first_look(patience, now))
    }

    fn doubt(&mut self, sent: Nanos, now: Nanos) -> bool {
        each!(self, it => it.doubt(sent, now))
    }

    fn send_more<H: Handler>(
        &mut self,
        id: ExchangeId,
        handle: Handle,
        handler: &mut H,
        now: Nanos,
    ) -> bool {
        each!(self, it => it.send_more(id, handle, handler, now))
    }

    fn cancel(&mut self, id: ExchangeId, handle: Handle) -> Dropped {
        each!(self, it => it.cancel(id, handle))
    }

    #[inline]
    fn flush<I: Io, H: Handler>(&mut self, port: &mut Port<'_, I>, handler: &mut H) -> Flushed {
        each!(self, it => it.flush(port, handler))
    }

    fn resume<H: Handler>(&mut self, underway: &mut Underway, handler: &mut H, now: Nanos) -> Read {
        each!(self, it => it.resume(underway, handler, now))
    }

    fn fail_sends<H: Handler>(
        &mut self,
        underway: &mut Underway,
        handler: &mut H,
        now: Nanos,
    ) -> Option<BrokenSend> {
        each!(self, it => it.fail_sends(underway, handler, now))
    }

    fn handle_timeout<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        patience: Patience,
        handler: &mut H,
        now: Nanos,
    ) -> Expiry {
        each!(self, it => it.handle_timeout(port, patience, handler, now))
    }

    fn has_farewell(&self) -> bool {
        each!(self, it => it.has_farewell())
    }

    fn drain<I: Io>(&mut self, port: &mut Port<'_, I>) {
        each!(self, it => it.drain(port));
    }

    #[inline]
    fn submit<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        lent: Lent<'_>,
        handler: &mut H,
        now: Nanos,
    ) -> Submitted {
        each!(self, it => it.submit(port, id, lent, handler, now))
    }

    #[inline]
    fn handle_writable<I: Io, H: Handler>(&mut self, port: &mut Port<'_, I>, handler: &mut H) {
        each!(self, it => it.handle_writable(port, handler));
    }

    #[inline]
    fn receive<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        underway: &mut Underway,
        handler: &mut H,
    ) -> Read {
        each!(self, it => it.receive(port, input, terms, underway, handler))
    }
}
