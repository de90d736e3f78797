//! Deadlines of connections: by when each must have got on. One bound stands for all of them, and
//! they are looked through when it passes (docs/design/0004).

use super::{Context, Transport};
use crate::wire::{Handler, Port, Wire};
use drumfire_net::{Io, Slot};
use drumfire_units::Nanos;

impl Transport {
    /// When [`Self::handle_timeout`] is due.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Nanos {
        self.next_scan
    }

    /// When a connection must have got on; see docs/design/0004.
    pub(super) fn set_deadline(&mut self, slot: Slot, at: Nanos) {
        self.connection(slot).deadline = at;
        self.next_scan = self.next_scan.min(at);
    }

    /// Ends overdue exchanges and connections, and finds the next bound.
    pub(crate) fn handle_timeout<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        now: Nanos,
    ) {
        let mut next = Nanos::MAX;
        for index in 0..self.connections.len() {
            if self.connections[index].deadline <= now {
                self.expire(cx, Slot(index as u32), now);
            }
            next = next.min(self.connections[index].deadline);
        }
        self.next_scan = next.max(now + crate::limits::SCAN_MIN);
    }

    /// A connection's time is up.
    fn expire<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot, now: Nanos) {
        let connection = self.connection(slot);
        connection.deadline = Nanos::MAX;
        match &mut connection.wire {
            Wire::Empty => {}
            Wire::Dialing | Wire::Tunneling(_) | Wire::Securing => {
                self.opening_timed_out(cx, slot, now);
            }
            Wire::Http2(http2) if http2.is_ready() => self.look_at_silence(cx, slot, now),
            Wire::Http2(_) => self.opening_timed_out(cx, slot, now),
            Wire::Http1(http1) => {
                if http1.awaits_continue() {
                    let mut port = Port { io: cx.io, slot };
                    http1.stop_waiting(&mut port, cx.handler);
                    if http1.has_failed_send() {
                        self.failed_sends.push(slot);
                    }
                }
            }
        }
    }
}
