//! One slot's connection: its wire, and what is known of it whichever protocol it speaks.

use super::{Context, Lane};
use crate::blame::Failure;
use crate::id::{LaneId, ShareId};
use crate::limits::RECEIVES_PER_TURN;
use crate::wire::{Handler, Input, Life, Note, Wire};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, IoError, Received, Slot};
use drumfire_units::Nanos;
use std::net::SocketAddr;

/// A slot: a connection or the room for one.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) wire: Wire,
    pub(crate) lane: LaneId,
    /// The share whose exchanges it carries.
    pub(crate) share: ShareId,
    /// Failed attempts to open it, in a row.
    pub(crate) failures: u8,
    /// Whether the peer has finished sending: its bytes are read to the end, for which no further
    /// event comes.
    pub(crate) peer_closed: bool,
    /// Whether it stands in the list of those not read to the end.
    pub(crate) unread: bool,
    /// Whether its share's seat is given out when it is open, or when it has failed to open.
    pub(crate) withholds_seat: bool,
    /// Addresses tried in the current attempt to open it.
    pub(crate) tried: u16,
    /// Which of the lane's addresses is next.
    pub(crate) choice: u32,
    /// The address that it leads to, unless that is a path.
    pub(crate) address: Option<SocketAddr>,
    /// When its last exchange ended.
    pub(crate) freed: Nanos,
    /// It is not dialed again before this.
    pub(crate) rest_until: Nanos,
    /// When its current phase began: of opening, or of being open.
    pub(crate) phase_start: Nanos,
    /// When something must have happened; [`Nanos::MAX`] when nothing must.
    pub(crate) deadline: Nanos,
    /// When it leaves by the plan; [`Nanos::MAX`] when it does not.
    pub(crate) leaves_at: Nanos,
    /// It carries no further exchange, for this reason.
    pub(crate) leaving: Option<Closing>,
}

const _: () = assert!(
    size_of::<Connection>() <= 272,
    "a slot is small: there may be a million"
);

impl Connection {
    /// Room for a connection of a share.
    pub(crate) const fn new(lane: LaneId, share: ShareId, choice: u32) -> Self {
        Self {
            wire: Wire::Empty,
            lane,
            share,
            failures: 0,
            peer_closed: false,
            unread: false,
            withholds_seat: false,
            tried: 0,
            choice,
            address: None,
            freed: Nanos::ZERO,
            rest_until: Nanos::ZERO,
            phase_start: Nanos::ZERO,
            deadline: Nanos::MAX,
            leaves_at: Nanos::MAX,
            leaving: None,
        }
    }

    /// When it must be looked at.
    pub(super) fn next_look(&self) -> Nanos {
        self.deadline.min(self.leaves_at)
    }

    /// Lets it carry no further exchange, for this reason. One of HTTP/1.1 that carries none is
    /// closed; one of HTTP/2 is spent.
    pub(super) fn leave<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: Closing,
    ) {
        self.leaves_at = Nanos::MAX;
        match &mut self.wire {
            Wire::Http1(http1) if http1.exchange().is_none() => return self.close(cx, slot, why),
            Wire::Http2(http2) => http2.take_no_more(),
            _ => {}
        }
        self.leaving = Some(why);
    }

    /// Whether it is on its way to being open.
    pub(crate) fn is_opening(&self) -> bool {
        match &self.wire {
            Wire::Http2(http2) => !http2.is_ready(),
            wire => wire.is_on_its_way(),
        }
    }

    /// The outcome of a timeout while it is being opened.
    pub(super) const fn opening_timeout(&self) -> Outcome {
        match self.wire {
            Wire::Securing => Outcome::TimeoutTls,
            _ => Outcome::TimeoutConnect,
        }
    }

    /// Notes that the lane's address failed; `true` when there is another to try.
    pub(super) fn try_another(&mut self, lane: &mut Lane, now: Nanos) -> bool {
        let choice = lane.choose(self.choice, now);
        self.choice = choice as u32 + 1;
        self.tried += 1;
        lane.note_down(choice, now);
        usize::from(self.tried) < lane.route.width()
    }

    /// Closes the slot's connection, if it has one, and notes why.
    pub(super) fn close<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: Closing,
    ) {
        if !matches!(self.wire, Wire::Empty) {
            self.take(cx, slot, |_| why);
        }
    }

    /// Closes a connection of the slot that has failed; its wire, with the exchanges that it
    /// carried.
    pub(super) fn lose<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        failure: &Failure,
    ) -> Wire {
        self.take(cx, slot, |wire| closing_of(wire, failure))
    }

    fn take<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: impl FnOnce(&Wire) -> Closing,
    ) -> Wire {
        let wire = std::mem::replace(&mut self.wire, Wire::Empty);
        self.deadline = Nanos::MAX;
        self.leaves_at = Nanos::MAX;
        self.leaving = None;
        if !matches!(wire, Wire::Empty | Wire::Dialing) {
            cx.handler.note(Note::Closed(Life {
                why: why(&wire),
                time: cx.io.now() - self.phase_start,
                carried: wire.carried(),
                address: self.address,
            }));
        }
        cx.io.close(slot);
        wire
    }

    /// Something came while the connection carries no exchange: its end, or bytes that were not
    /// asked for. Either way it is closed. After TLS's own messages there is nothing to receive.
    pub(super) fn refuse_input<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        input: &mut Input,
    ) {
        let why = match cx.io.receive(slot, &mut input.buffer) {
            Ok(Received::Nothing) => return,
            Ok(Received::Bytes { .. }) => Closing::Failed,
            Ok(Received::End) | Err(IoError::TlsNoCloseNotify) => Closing::Peer,
            Err(_) => Closing::Reset,
        };
        self.close(cx, slot, why);
    }
}

/// Why a connection that failed was closed.
fn closing_of(wire: &Wire, failure: &Failure) -> Closing {
    match (failure.outcome, wire) {
        (Outcome::TimeoutPing, _) => Closing::Silent,
        (Outcome::Reset, _) => Closing::Reset,
        (_, Wire::Http2(http2)) if http2.is_going() => Closing::GoAway,
        (Outcome::Closed, _) => Closing::Peer,
        _ => Closing::Failed,
    }
}

/// Discards the input of a connection that is to be closed.
pub(super) fn discard_input<I: Io>(io: &mut I, slot: Slot, input: &mut Input) {
    for _ in 0..RECEIVES_PER_TURN {
        let limit = input.scratch.len() as u64;
        match io.discard(slot, limit, &mut input.scratch) {
            Ok(Received::Bytes { .. }) => {}
            // An error of a connection that is given up changes nothing.
            Ok(Received::Nothing | Received::End) | Err(_) => return,
        }
    }
}
