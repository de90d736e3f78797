//! The ends of connections: each that was opened is noted with its reason when it is closed.

use super::{Context, Transport};
use crate::blame::Failure;
use crate::wire::{Handler, Life, Note, Port, Wire};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, Slot};
use drumfire_units::Nanos;

impl Transport {
    /// Closes a slot's connection, if it has one.
    pub(super) fn close<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: Closing,
    ) {
        let connection = self.connection(slot);
        let wire = std::mem::replace(&mut connection.wire, Wire::Empty);
        if matches!(wire, Wire::Empty) {
            return;
        }
        connection.deadline = Nanos::MAX;
        note_closed(cx, &wire, connection.phase_start, why);
        cx.io.close(slot);
    }

    /// Ends all connections, those of HTTP/2 with a GOAWAY.
    pub(crate) fn close_all<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        for index in 0..self.connections.len() {
            let slot = Slot(index as u32);
            if let Wire::Http2(http2) = &mut self.connection(slot).wire {
                http2.go_away();
                http2.send_queued(&mut Port { io: cx.io, slot });
                self.empty(cx.io, slot);
            }
            self.close(cx, slot, Closing::Ended);
        }
    }
}

/// Notes the end of a connection's wire, if that was connected; its phase began at `since`.
pub(super) fn note_closed<I: Io, H: Handler>(
    cx: &mut Context<'_, I, H>,
    wire: &Wire,
    since: Nanos,
    why: Closing,
) {
    if !matches!(wire, Wire::Empty | Wire::Dialing) {
        cx.handler.note(Note::Closed(Life {
            why,
            time: cx.io.now() - since,
            carried: wire.carried(),
        }));
    }
}

/// Why a connection of HTTP/2 was lost.
pub(super) fn closing_of(wire: &Wire, failure: &Failure) -> Closing {
    match (failure.outcome, wire) {
        (Outcome::TimeoutPing, _) => Closing::Silent,
        (Outcome::Reset, _) => Closing::Reset,
        (_, Wire::Http2(http2)) if http2.is_going() => Closing::GoAway,
        (Outcome::Closed, _) => Closing::Peer,
        _ => Closing::Failed,
    }
}
