//! Connections: how many were opened, why each was closed, and how many requests each carried.
//!
//! A worker calls [`Connections::record_opened`] once for each opened connection and
//! [`Connections::record_closed`] once when it ends. A connection that could not be opened appears
//! in neither; it appears as the outcome of the requests that waited for it. [`Connections::known`]
//! less the sum of `closed` is the number of open connections at any time.
//!
//! Counts and distributions belong to the connections that a worker opened; the rows of
//! [`Addresses`] divide them among the addresses of a name.
//!
//! Connections of the warm-up are left out ([`Connections::leave_out`]), except for the number that
//! are open at its end: these are counted when they close.

use crate::form;
use crate::form::{ByName, Named};
use crate::{Addresses, Histogram};
use drumfire_units::Nanos;

/// Declares [`Closing`] from one table: variant, stable name, what happened in words.
macro_rules! closings {
    ($($variant:ident $name:literal $words:literal,)*) => {
        /// Why an open connection was closed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Closing {
            $(#[doc = $words] $variant,)*
        }

        impl Closing {
            /// Every reason, in the order of its index.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// A description, as reports print it.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $(Self::$variant => $words,)* }
            }
        }
    };
}

closings! {
    Peer "peer" "the server closed it",
    Announced "announced" "the server announced the close in a response",
    Idle "idle" "it was idle for as long as the server's Keep-Alive field or the plan allows",
    Reset "reset" "it was reset",
    Failed "failed" "an exchange on it failed or timed out, or TLS failed",
    Spent "spent" "it reached the request limit of the plan",
    Aged "aged" "it reached the age limit of the plan",
    Moved "moved" "its name resolved to other addresses",
    GoAway "goaway" "the server sent GOAWAY and all its exchanges had ended",
    Silent "silent" "a ping on it was not answered in time",
    Redirected "redirected" "it was opened to another origin for a redirect",
    Left "left" "the plan closed it, or its user's iteration ended",
    Ended "ended" "the run ended",
    Discarded "discarded" "extra bytes after a response made it unusable",
    Unready "unready" "the run ended before it was ready",
}

/// The connections of a pool: how they were opened, and how they ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connections {
    /// Connections that were opened.
    pub opened: u64,
    /// Connections opened in the warm-up, less those closed in it: over a whole run, the number
    /// that were open at its end.
    pub open_before: i64,
    /// Connections closed for each reason, by its index in [`Closing::ALL`].
    pub closed: [u64; Closing::ALL.len()],
    /// The time to open a connection, without its TLS handshake.
    pub connect: Histogram,
    /// The time for a TLS handshake.
    pub tls_handshake: Histogram,
    /// The number of handshakes that resumed an earlier session.
    pub tls_resumed: u64,
    /// Pauses before another dial, after a connection that could not be opened or that failed
    /// without a response.
    pub pauses: u64,
    /// The ages of closed connections.
    pub lifetime: Histogram,
    /// The number of exchanges that each closed connection had carried, as counts instead of
    /// nanoseconds.
    pub carried: Histogram,
    /// Connections and their requests by address.
    pub addresses: Addresses,
}

impl Named for Closing {
    const KINDS: &'static [Self] = Self::ALL;

    fn stable_name(self) -> &'static str {
        self.name()
    }
}

form! {
    struct Connections {
        opened, closed as ByName<Closing>, tls_resumed, connect, tls_handshake, lifetime, carried,
        addresses, open_before, pauses,
    }
}

impl Connections {
    /// Records the time to open a connection, and counts the connection.
    pub fn record_opened(&mut self, time: Nanos) {
        self.opened += 1;
        self.connect.record(time);
    }

    /// Records the end of an open connection: the reason, how long it was open, and the number of
    /// exchanges it carried.
    pub fn record_closed(&mut self, why: Closing, lifetime: Nanos, carried: u64) {
        self.closed[why as usize] += 1;
        self.lifetime.record(lifetime);
        self.carried.record(Nanos(carried));
    }

    /// Connections closed for this reason.
    #[must_use]
    pub const fn closed_by(&self, why: Closing) -> u64 {
        self.closed[why as usize]
    }

    /// The number of all connections: opened ones, and ones that were open before.
    #[must_use]
    pub const fn known(&self) -> u64 {
        self.opened.saturating_add_signed(self.open_before)
    }

    /// Connections that were still open when the load ended, and closed only for that reason.
    #[must_use]
    pub fn open_at_end(&self) -> u64 {
        let before: u64 = self.closed.iter().sum::<u64>() - self.closed_by(Closing::Ended);
        self.known().saturating_sub(before)
    }

    /// Turns the recorded values into the warm-up's, which is not measured.
    pub fn leave_out(&mut self) {
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let closed = signed(self.closed.iter().sum());
        let open = self.open_before + signed(self.opened) - closed;
        self.reset();
        self.open_before = open;
    }

    /// The number of connections in place when the load ended: open ones, and ones that had ended
    /// as announced or planned, which the next request would open again. The missing ones could not
    /// be opened, or failed.
    #[must_use]
    pub fn in_place_at_end(&self) -> u64 {
        let renewed = [
            Closing::Announced,
            Closing::Discarded,
            Closing::Idle,
            Closing::Spent,
            Closing::Aged,
            Closing::Moved,
            Closing::GoAway,
            Closing::Redirected,
        ];
        let renewed = renewed.iter().map(|why| self.closed_by(*why));
        self.open_at_end().saturating_add(renewed.sum())
    }

    /// Whether any connection was ever ready for a request: whether any ended for a reason other
    /// than [`Closing::Unready`] and [`Closing::Failed`], or has carried a request.
    #[must_use]
    pub fn was_any_ready(&self) -> bool {
        let never = self.closed_by(Closing::Unready) + self.closed_by(Closing::Failed);
        self.known() > never || !self.carried.is_empty() && self.carried.max() > Nanos::ZERO
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.opened = self.opened.saturating_add(other.opened);
        self.open_before = self.open_before.saturating_add(other.open_before);
        self.tls_resumed = self.tls_resumed.saturating_add(other.tls_resumed);
        self.pauses = self.pauses.saturating_add(other.pauses);
        for (mine, theirs) in self.closed.iter_mut().zip(&other.closed) {
            *mine = mine.saturating_add(*theirs);
        }
        for (mine, theirs) in self.histograms_mut().into_iter().zip(other.histograms()) {
            mine.merge(theirs);
        }
        self.addresses.merge(&other.addresses);
    }

    /// Resets all values and keeps the memory.
    pub fn reset(&mut self) {
        self.opened = 0;
        self.open_before = 0;
        self.tls_resumed = 0;
        self.pauses = 0;
        self.closed.fill(0);
        for histogram in self.histograms_mut() {
            histogram.reset();
        }
        self.addresses.reset();
    }

    pub(crate) fn histograms_mut(&mut self) -> [&mut Histogram; 4] {
        [
            &mut self.connect,
            &mut self.tls_handshake,
            &mut self.lifetime,
            &mut self.carried,
        ]
    }

    pub(crate) const fn histograms(&self) -> [&Histogram; 4] {
        [
            &self.connect,
            &self.tls_handshake,
            &self.lifetime,
            &self.carried,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_was_opened_and_not_closed_before_the_end() {
        let mut one = Connections::default();
        for _ in 0..5 {
            one.record_opened(Nanos(80));
        }
        one.record_closed(Closing::Peer, Nanos(700), 3);
        one.record_closed(Closing::Ended, Nanos(900), 10);
        assert_eq!((one.open_at_end(), one.closed_by(Closing::Peer)), (4, 1));
        assert_eq!(one.in_place_at_end(), 4);
        assert_eq!(
            (one.carried.max(), one.lifetime.min()),
            (Nanos(10), Nanos(700))
        );
        one.record_closed(Closing::Spent, Nanos(800), 5);
        assert_eq!((one.open_at_end(), one.in_place_at_end()), (3, 4));
        let mut both = Connections::default();
        both.merge(&one);
        both.merge(&one);
        assert_eq!((both.opened, both.open_at_end()), (10, 6));
        both.reset();
        assert_eq!(both, Connections::default());
    }

    #[test]
    fn a_warm_up_leaves_the_open_ones_alone() {
        let mut first = Connections::default();
        for _ in 0..5 {
            first.record_opened(Nanos(80));
        }
        first.tls_handshake.record(Nanos(300));
        first.record_closed(Closing::Peer, Nanos(700), 3);
        first.leave_out();
        let left = Connections {
            open_before: 4,
            ..Connections::default()
        };
        assert_eq!(first, left);
        assert_eq!((first.known(), first.open_at_end()), (4, 4));
        // Two more intervals: one in the warm-up, with more closed than opened, and a measured one.
        let mut second = Connections::default();
        second.record_closed(Closing::Reset, Nanos(800), 9);
        second.leave_out();
        let mut third = Connections::default();
        third.record_opened(Nanos(60));
        third.record_closed(Closing::Spent, Nanos(900), 2);
        third.record_closed(Closing::Ended, Nanos(900), 1);
        first.merge(&second);
        first.merge(&third);
        assert_eq!(
            (first.opened, first.known(), first.open_at_end()),
            (1, 4, 3)
        );
        assert_eq!(first.connect.count(), 1);
        assert!(first.was_any_ready());
    }
}
