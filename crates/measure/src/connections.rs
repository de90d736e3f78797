//! The ends of connections: how many were opened, why each was closed, and the work that each did.
//!
//! A worker calls [`Connections::record_opened`] once for a connection that was opened and
//! [`Connections::record_closed`] once when that one ends; one that could not be opened appears in
//! neither, but as the outcome of the requests that waited for it. A connection that is not
//! closed is open at the end, so that [`Connections::known`] less the sum of `closed` is the number
//! of open ones at any time.
//!
//! Counts and distributions are of the connections that a worker opened, and the rows of
//! [`Addresses`] spread them over the addresses of a name.
//!
//! Whatever lies in the warm-up is left out ([`Connections::leave_out`]), but for the number of
//! connections that are open when it ends: they are counted once more when they close.

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
    Ended "ended" "the run ended",
    Discarded "discarded" "extra bytes after a response made it unusable",
    Unready "unready" "the run ended before it was ready",
}

/// The connections of a pool: how they were opened, and how they ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connections {
    /// Connections that were opened.
    pub opened: u64,
    /// Connections that were opened in the warm-up, less those that were closed in it: over a whole
    /// run, those that were open at its end.
    pub open_before: i64,
    /// Connections closed for each reason, by its index in [`Closing::ALL`].
    pub closed: [u64; Closing::ALL.len()],
    /// Time to open one, without its TLS handshake.
    pub connect: Histogram,
    /// Time for a TLS handshake.
    pub tls_handshake: Histogram,
    /// Handshakes among these that resumed an earlier session.
    pub tls_resumed: u64,
    /// Pauses before another dial, each after a connection that could not be opened or that failed
    /// without a response.
    pub pauses: u64,
    /// The ages of those that were closed.
    pub lifetime: Histogram,
    /// The exchanges that each closed one had carried: counts in place of nanoseconds.
    pub carried: Histogram,
    /// The connections and their requests by address.
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
    /// Records the time that it took to open a connection, and counts the connection.
    pub fn record_opened(&mut self, time: Nanos) {
        self.opened += 1;
        self.connect.record(time);
    }

    /// Records an open connection's end: why, how long it was open, and how many exchanges it
    /// carried.
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

    /// The number of all connections: those that were opened, and those that were open before.
    #[must_use]
    pub const fn known(&self) -> u64 {
        self.opened.saturating_add_signed(self.open_before)
    }

    /// Connections that were still open when the load ended: closed for no other reason than that.
    #[must_use]
    pub fn open_at_end(&self) -> u64 {
        let before: u64 = self.closed.iter().sum::<u64>() - self.closed_by(Closing::Ended);
        self.known().saturating_sub(before)
    }

    /// Makes what was recorded part of the warm-up, in which nothing is measured.
    pub fn leave_out(&mut self) {
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let closed = signed(self.closed.iter().sum());
        let open = self.open_before + signed(self.opened) - closed;
        self.reset();
        self.open_before = open;
    }

    /// Connections whose place was taken when the load ended: those that were open, and those that
    /// had ended as announced or planned, which the next request that needs them opens anew. The
    /// places that are missing could not be opened, or failed.
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

    /// Whether any connection was ready for a request, at any time: whether any did not end as
    /// [`Closing::Unready`] or [`Closing::Failed`], or has carried a request.
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

    /// Forgets everything and keeps the memory.
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
        // Two more intervals: one of the warm-up, in which more close than open, and a measured one.
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
