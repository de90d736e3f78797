//! Signs of life from connections that carry many exchanges.

use super::{Context, Transport};
use crate::blame::Failure;
use crate::wire::{Handler, Silence, Wire};
use drumfire_measure::Outcome;
use drumfire_net::{Io, Slot};
use drumfire_units::Nanos;

impl Transport {
    /// A connection carries exchanges from now on: sets when its silence is looked at first.
    pub(super) fn watch(&mut self, slot: Slot, now: Nanos) {
        let halved = self.pings_halved;
        let connection = &mut self.connections[slot.0 as usize];
        let ping = self.lanes.get(connection.lane).ping(halved);
        if let Wire::Http2(http2) = &mut connection.wire {
            http2.watch(now);
        }
        self.set_deadline(slot, ping.map_or(Nanos::MAX, |ping| now + ping.after));
    }

    pub(super) fn look_at_silence<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) {
        let halved = self.pings_halved;
        let connection = &mut self.connections[slot.0 as usize];
        let Some(ping) = self.lanes.get(connection.lane).ping(halved) else {
            return;
        };
        let Wire::Http2(http2) = &mut connection.wire else {
            return;
        };
        match http2.look_at_silence(ping, now) {
            Silence::Until(at) => self.set_deadline(slot, at),
            Silence::Pinged(answer_due) => {
                self.mark(slot);
                self.set_deadline(slot, answer_due);
            }
            Silence::Dead => self.close_failed(cx, slot, now, Failure::of(Outcome::TimeoutPing)),
        }
    }
}
