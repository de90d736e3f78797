//! The contract of a wire: its queries and its verbs.
//!
//! The defaults fit a protocol without the feature in question: one exchange at a time, a client that
//! does not wait for a greeting, a server without limits, requests that are written when they are
//! submitted.
//!
//! A query changes nothing and may be called at any time, even after the wire's last event. A verb
//! may end exchanges, each with exactly one last event. The verb clears the entry of such an
//! exchange in the [`Underway`] that it was lent; if it was lent none, the caller clears the entry.

use super::answers::{
    BrokenSend, Dropped, Expiry, Flow, Flushed, Outgoing, Read, Submitted, Unwilling,
};
use super::handler::Handler;
use super::port::{Input, Port};
use super::settings::{Lent, Patience, Terms};
use super::underway::{Handle, Underway};
use crate::id::ExchangeId;
use drumfire_net::Io;
use drumfire_units::Nanos;

/// The interface of every protocol for the transport, which calls it in the order that [`super`]
/// describes.
pub(crate) trait WireProtocol {
    /// Whether the connection can carry exchanges, or still waits for the server's greeting.
    #[inline]
    fn is_ready(&self) -> bool {
        true
    }

    /// Whether the connection has room for another exchange now.
    #[inline]
    fn has_room(&self) -> bool {
        self.is_idle()
    }

    /// Whether the server may have closed the connection already because it was idle for long.
    #[inline]
    fn is_stale(&self, _now: Nanos) -> bool {
        false
    }

    /// Whether the connection carries no exchange.
    fn is_idle(&self) -> bool;

    /// Whether the connection takes no further exchanges, because of its state or the plan's limit,
    /// so that its share may need a successor.
    #[inline]
    fn is_spent(&self) -> bool {
        false
    }

    /// The server's maximum number of simultaneous exchanges, if the server has sent one and it is
    /// not 0.
    fn peer_capacity(&self) -> Option<u32> {
        None
    }

    /// The number of requests sent on the connection.
    fn carried(&self) -> u64;

    /// Whether the connection has received no response.
    fn is_fruitless(&self) -> bool {
        false
    }

    /// Whether the server has announced that it takes no further exchanges.
    fn is_refused(&self) -> bool {
        false
    }

    /// The reason why the server should not be dialed again at once, if there is one.
    fn unwilling(&self) -> Option<Unwilling> {
        None
    }

    /// The exchanges whose responses are outstanding.
    fn outstanding(&self) -> Vec<ExchangeId>;

    /// The output for the connection's socket.
    fn outgoing(&self) -> Outgoing;

    /// Stops the connection from taking further exchanges. Returns whether it can be closed at
    /// once.
    fn take_no_more(&mut self) -> bool {
        self.is_idle()
    }

    /// Restarts the measurement of silence now. Returns the time of the first
    /// [`Self::handle_timeout`].
    fn first_look(&mut self, patience: Patience, now: Nanos) -> Nanos;

    /// Notes that an exchange sent at `sent` was given up. Returns whether the connection must now
    /// show activity.
    fn doubt(&mut self, _sent: Nanos, _now: Nanos) -> bool {
        false
    }

    /// Sends more of an exchange's body. Returns `false` if this fails the exchange.
    fn send_more<H: Handler>(
        &mut self,
        _id: ExchangeId,
        _handle: Handle,
        _handler: &mut H,
        _now: Nanos,
    ) -> bool {
        true
    }

    /// Takes an exchange off the wire; it has no further events.
    fn cancel(&mut self, id: ExchangeId, handle: Handle) -> Dropped;

    /// Writes the output with one call.
    #[inline]
    fn flush<I: Io, H: Handler>(&mut self, _port: &mut Port<'_, I>, _handler: &mut H) -> Flushed {
        Flushed::Written
    }

    /// Continues exchanges that waited for output to be written.
    fn resume<H: Handler>(
        &mut self,
        _underway: &mut Underway,
        _handler: &mut H,
        _now: Nanos,
    ) -> Read {
        Read {
            flow: Flow::Busy,
            unread: false,
        }
    }

    /// Puts an exchange on the wire: sends its request, or queues it.
    fn submit<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        lent: Lent<'_>,
        handler: &mut H,
        now: Nanos,
    ) -> Submitted;

    /// Writes the bytes that waited for the socket, unless [`Self::flush`] does this.
    #[inline]
    fn handle_writable<I: Io, H: Handler>(&mut self, _port: &mut Port<'_, I>, _handler: &mut H) {}

    /// Receives until no more bytes are available, no exchange is carried any more, or this turn's
    /// portion is used up.
    fn receive<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        underway: &mut Underway,
        handler: &mut H,
    ) -> Read;

    /// Ends the remaining exchanges after a failed send, if a send has failed.
    fn fail_sends<H: Handler>(
        &mut self,
        underway: &mut Underway,
        handler: &mut H,
        now: Nanos,
    ) -> Option<BrokenSend>;

    /// Checks everything that is due: late exchanges, silence, idleness.
    fn handle_timeout<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        patience: Patience,
        handler: &mut H,
        now: Nanos,
    ) -> Expiry;

    /// Whether the protocol ends with a message of ours, which a close with unread input would
    /// lose.
    fn has_farewell(&self) -> bool {
        false
    }

    /// Sends the protocol's final message before the connection is closed, as far as the socket has
    /// room for it.
    fn drain<I: Io>(&mut self, _port: &mut Port<'_, I>) {}
}
