//! The contract of a wire: the questions that it answers and the verbs that it takes.
//!
//! Defaults are the answers of a protocol without the matter in question: one whose client need not
//! await a greeting, whose server names no limits, whose requests are written when they are
//! submitted.
//!
//! A question changes nothing and may come at any time, also after the wire's last event. A verb
//! may end exchanges, each with exactly one last event; the entry of such an exchange is cleared in
//! the [`Underway`] that the verb was lent, or by the caller where it was lent none.

use super::answers::{
    Broken, Dropped, Expiry, Flow, Flushed, Outgoing, Read, Submitted, Unwilling,
};
use super::handler::Handler;
use super::port::{Input, Port};
use super::settings::{Patience, Settings, Terms};
use super::underway::{Handle, Underway};
use crate::id::ExchangeId;
use drumfire_net::Io;
use drumfire_units::Nanos;

/// The part of every protocol towards the transport, which calls it in the order that [`super`]
/// states.
pub(crate) trait WireProtocol {
    /// Whether it carries exchanges by now, or awaits the server's greeting.
    #[inline]
    fn is_ready(&self) -> bool {
        true
    }

    /// Whether it takes one more exchange now.
    fn has_room(&self) -> bool;

    /// Whether the server may have closed it already, since it was idle for long.
    #[inline]
    fn is_stale(&self, _now: Nanos) -> bool {
        false
    }

    /// Whether it carries no exchange.
    fn is_idle(&self) -> bool;

    /// Whether it takes no further exchange, by its own state or the plan's limit, and those that
    /// it carries need not be the last of its share.
    #[inline]
    fn is_spent(&self) -> bool {
        false
    }

    /// The number of exchanges that the server takes at a time, where it has named one and takes
    /// any.
    fn peer_capacity(&self) -> Option<u32> {
        None
    }

    /// The number of requests sent on it.
    fn carried(&self) -> u64;

    /// Whether it has brought no response.
    fn is_fruitless(&self) -> bool {
        false
    }

    /// Whether the server has announced that it takes no further exchanges.
    fn is_refused(&self) -> bool {
        false
    }

    /// The reason for which the server should not be dialed again at once, if there is one.
    fn unwilling(&self) -> Option<Unwilling> {
        None
    }

    /// The exchanges whose responses are outstanding.
    fn outstanding(&self) -> Vec<ExchangeId>;

    /// The output that it has for its socket.
    fn outgoing(&self) -> Outgoing;

    /// Lets it take no further exchange. `true` when the connection can be closed at once.
    fn take_no_more(&mut self) -> bool;

    /// Lets all silence count from now on. Gives the time of the first [`Self::handle_timeout`].
    fn first_look(&mut self, patience: Patience, now: Nanos) -> Nanos;

    /// Doubts the connection on which an exchange was given up that was sent then. `true` when it
    /// has to give a sign of life for that.
    fn doubt(&mut self, _sent: Nanos, _now: Nanos) -> bool {
        false
    }

    /// Sends more of an exchange's body. `false` when the exchange fails by that.
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

    /// Lets exchanges send on that waited for output to be written.
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
        settings: &Settings,
        handler: &mut H,
        now: Nanos,
    ) -> Submitted;

    /// Writes the bytes that waited for the socket, if that is not the part of [`Self::flush`].
    #[inline]
    fn handle_writable<I: Io, H: Handler>(&mut self, _port: &mut Port<'_, I>, _handler: &mut H) {}

    /// Receives until there is nothing more for now, nothing is carried any more, or this turn's
    /// portion is used up.
    fn receive<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        underway: &mut Underway,
        handler: &mut H,
    ) -> Read;

    /// Ends the exchanges that a failed send has left, if one has failed.
    fn fail_sends<H: Handler>(
        &mut self,
        underway: &mut Underway,
        handler: &mut H,
        now: Nanos,
    ) -> Option<Broken>;

    /// Looks at everything whose time has come: exchanges that are late, silence, idleness.
    fn handle_timeout<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        patience: Patience,
        handler: &mut H,
        now: Nanos,
    ) -> Expiry;

    /// Whether the protocol ends with a message of ours, which a close over unread input would lose.
    fn has_farewell(&self) -> bool {
        false
    }

    /// Sends the protocol's last words before the connection is closed, as far as the socket has
    /// room for them.
    fn drain<I: Io>(&mut self, _port: &mut Port<'_, I>) {}
}
