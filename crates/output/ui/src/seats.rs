//! The connections of the server, at most a fixed number at a time.
//!
//! A browser keeps connections open between requests. If every seat is taken, a new connection gets
//! the seat that has been idle longest, so connections without requests cannot keep a reader out.
//! A connection is idle from its start to its first complete request, and between the end of a
//! response and the next request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The seats of all connections.
#[derive(Debug)]
pub(crate) struct Seats {
    max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    /// Counts the changes to idle, by which idle seats are ordered.
    changes: u64,
    /// The idle seats, the one that has been idle longest first.
    idle: BTreeMap<u64, Arc<Notify>>,
}

/// The seat of one connection, which becomes free when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    lost: Arc<Notify>,
    /// The key among the idle seats, unless a request is in progress.
    idle: Mutex<Option<u64>>,
}

/// A request in progress. The connection is idle again when the value is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Seat>);

impl Seats {
    /// Free seats, at most `max`.
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max,
            state: Mutex::default(),
        })
    }

    /// A seat for a new connection; `None` if all are taken by requests in progress.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Arc<Seat>> {
        let mut state = self.lock();
        if state.taken >= self.max {
            let (_, oldest) = state.idle.pop_first()?;
            // The seat is free for the new connection now; its connection ends later.
            state.taken -= 1;
            oldest.notify_one();
        }
        state.taken += 1;
        let lost = Arc::new(Notify::new());
        let key = state.add_idle(&lost);
        Some(Arc::new(Seat {
            seats: Arc::clone(self),
            lost,
            idle: Mutex::new(Some(key)),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add_idle(&mut self, seat: &Arc<Notify>) -> u64 {
        self.changes += 1;
        self.idle.insert(self.changes, Arc::clone(seat));
        self.changes
    }
}

impl Seat {
    /// Waits until another connection has taken the seat.
    pub(crate) async fn lost(&self) {
        self.lost.notified().await;
    }

    /// Keeps the seat until the request has its response. `None` if another connection has taken
    /// the seat.
    pub(crate) fn begin(self: Arc<Self>) -> Option<Busy> {
        let key = self.own().take()?;
        self.seats.lock().idle.remove(&key)?;
        Some(Busy(self))
    }

    fn own(&self) -> MutexGuard<'_, Option<u64>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let key = self.0.seats.lock().add_idle(&self.0.lost);
        *self.0.own() = Some(key);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let key = self.own().take();
        let mut state = self.seats.lock();
        if key.is_some_and(|key| state.idle.remove(&key).is_some()) {
            state.taken -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Busy, Seat, Seats};
    use std::sync::Arc;

    fn is_lost(seat: &Seat) -> bool {
        let idle = seat.own();
        let key = idle.as_ref().unwrap();
        !seat.seats.lock().idle.contains_key(key)
    }

    #[test]
    fn a_new_connection_takes_the_seat_that_is_idle_longest() {
        let seats = Seats::new(3);
        let [first, second, third] = [0; 3].map(|_| seats.take().unwrap());
        // A request makes the first one the newest.
        drop(Arc::clone(&first).begin().unwrap());
        let fourth = seats.take().unwrap();
        assert!(is_lost(&second) && !is_lost(&first) && !is_lost(&third));
        assert!(Arc::clone(&second).begin().is_none());
        // The loser's end frees no seat.
        drop(second);
        let all = [&first, &third, &fourth].map(|seat| Arc::clone(seat).begin());
        let busy: Vec<Busy> = all.into_iter().map(Option::unwrap).collect();
        assert!(seats.take().is_none());
        drop(busy);
        drop(third);
        let fifth = seats.take().unwrap();
        assert!(!is_lost(&first) && !is_lost(&fourth) && !is_lost(&fifth));
    }
}
