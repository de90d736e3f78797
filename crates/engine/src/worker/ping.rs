//! Signs of life from connections that carry many exchanges.

use super::Worker;
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_units::Nanos;

/// Our pings need no telling apart: any byte of the server's is a sign of life.
const PAYLOAD: [u8; 8] = *b"drumfire";

impl<I: Io> Worker<I> {
    /// A connection carries requests from now on: when its silence is looked at first.
    pub(super) fn watch(&mut self, slot: u32, now: Nanos) {
        if let Some(link) = &mut self.slots[slot as usize].link {
            link.heard = now;
            link.asked = false;
        }
        let first = self.ping.map_or(Nanos::MAX, |ping| now + ping.after);
        self.look_again(slot, first);
    }

    /// The time has come to look at how long a connection has been silent: it is asked for a sign
    /// of life, or given up when it was asked and gave none.
    pub(super) fn look_at_silence(&mut self, slot: u32, now: Nanos) {
        let Some(ping) = self.ping else {
            return;
        };
        let Some(link) = &mut self.slots[slot as usize].link else {
            return;
        };
        if link.asked {
            return self.lost(slot, now, (Outcome::TimeoutPing, None));
        }
        let enough = link.heard + ping.after;
        if now < enough {
            return self.look_again(slot, enough);
        }
        if link.machine.streams_open() == 0 {
            return self.look_again(slot, now + ping.after);
        }
        link.machine.ping(PAYLOAD);
        link.asked = true;
        self.mark(slot);
        self.look_again(slot, now + ping.timeout);
    }

    fn look_again(&mut self, slot: u32, at: Nanos) {
        self.slots[slot as usize].deadline = at;
        self.next_scan = self.next_scan.min(at);
    }

    /// A server takes our pings for too many: from now on half as many go to any (gRPC's proposal
    /// A8).
    #[cold]
    pub(super) fn ping_less(&mut self) {
        if let Some(ping) = &mut self.ping {
            ping.after = Nanos(ping.after.0.saturating_mul(2));
        }
    }
}
