//! The hand-over of due work between the workers of one pool, so that no figure depends on their
//! number.
//!
//! A worker has a part of the schedule, of the users and of the connections, and shares nothing
//! while it has room. The protocol where it has none:
//!
//! ```text
//!   home worker, asleep, no room                 helper, with room
//!     rest ── leaves its demand ──► [ Peer ] ◄── lend ── takes what is due, oldest first
//!     resume ◄── takes it back ────    ▲  └──── watches when the next of it is due
//!        ▲                             │
//!        └──────── wake ───────────────┴── give_back ── the end of a request of a home user
//! ```
//!
//! - Before a worker sleeps it calls [`Member::rest`], and after it [`Member::resume`]. In between
//!   its demand may be another's to take from, one at a time, under the peer's lock.
//! - A sleeper publishes its room, then looks for demands; one that leaves its demand publishes
//!   that, then looks for room. Both orders are sequentially consistent, so that one of the two
//!   sees the other, and no due arrival lies between a sleeper with room and a demand unseen.
//! - Of the sleepers with room one watches a demand: it wakes when the next of it is due. A worker
//!   that goes to sleep without room passes a demand that has no watcher on to a sleeper with room.
//!
//! The time of a hand-over (a wake of a thread) is lag, since a connection was free. Workers of
//! other machines share nothing.
//!
//! A demand that is left is swapped with an idle twin, so that no part of the worker has to know
//! whether it holds the real one: the twin has nothing due. While it is left, its state is
//! published in three atomics that are written under the lock; a reader may see an old mixture of
//! them, wakes for nothing then, and finds the truth under the lock.
//!
//! Where all have room a worker pays one relaxed load a turn, a swap and two loads before each
//! sleep, a store and a load after it. No lock is taken on that path.

use crate::demand::{Demand, Lent, Offer, Returned, Room};
use drumfire_net::Waker;
use drumfire_units::Nanos;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A worker's state while it sleeps; below it stand the bits of its room.
const ASLEEP: u64 = 1 << 33;

/// The number that stands for no worker.
const NONE: u32 = u32::MAX;

/// The state that the workers of a pool share.
#[derive(Debug)]
pub(crate) struct Handover {
    peers: Box<[Peer]>,
    /// The number of peers that have left their demand.
    offers: AtomicU32,
    /// The number of peers that may still begin something of their own.
    active: AtomicU32,
}

/// One worker of a pool as the others see it. Each has cache lines of its own, or the sleeps of one
/// would cost the others a miss.
#[derive(Debug)]
#[repr(align(128))]
struct Peer {
    /// Whether it sleeps, and the room that it has meanwhile.
    state: AtomicU64,
    /// The lanes on which its demand has something for others: of requests in the lower half, of
    /// arrivals in the upper.
    lanes: AtomicU64,
    /// The due time of the first of it, in nanoseconds; [`Nanos::MAX`] where there is none.
    due: AtomicU64,
    /// The sleeper that wakes at that time; [`NONE`] where there is none.
    watcher: AtomicU32,
    /// Whether ends of its users' requests lie here. Written under the lock or beside it, read
    /// without.
    has_returned: AtomicBool,
    /// Whether its users have all left for good.
    is_deserted: AtomicBool,
    /// The way to wake its driver; set once, before the run.
    waker: OnceLock<Waker>,
    left: Mutex<Left>,
}

/// The things that a worker has left for others, and that others have left for it.
#[derive(Debug, Default)]
struct Left {
    /// The worker's demand while it is left here, in exchange for an idle twin.
    demand: Option<Demand>,
    /// Whether `demand` is the real one, and not the twin.
    is_left: bool,
    returned: Vec<Returned>,
}

/// A worker's way to the others of its pool.
#[derive(Debug)]
pub(crate) struct Member {
    /// The state that the pool's workers share.
    pub(crate) handover: Arc<Handover>,
    /// Its number among the pool's workers here.
    pub(crate) me: u32,
    /// Whether others may take from its demand now.
    pub(crate) has_left: bool,
    is_active: bool,
    /// Whether late arrivals are dropped, so that the oldest may not be wanted.
    drops: bool,
    /// The peers whose demands it watches.
    watched: Vec<u32>,
    /// The peers whose demands had nothing for it in this turn.
    declined: Vec<u32>,
}

impl Peer {
    fn new() -> Self {
        Self {
            state: AtomicU64::new(0),
            lanes: AtomicU64::new(0),
            due: AtomicU64::new(Nanos::MAX.0),
            watcher: AtomicU32::new(NONE),
            has_returned: AtomicBool::new(false),
            is_deserted: AtomicBool::new(false),
            waker: OnceLock::new(),
            left: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Left> {
        // A worker that has panicked takes the run with it.
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes that the worker sleeps, with this room.
    fn sleep(&self, room: Room) {
        self.state.swap(ASLEEP | room.bits(), Ordering::SeqCst);
    }

    /// The room of a worker that sleeps; none of one that is awake.
    fn room(&self) -> Room {
        Room::of_bits(self.state.load(Ordering::SeqCst))
    }

    /// The due time of the first thing that it offers.
    fn due(&self) -> Nanos {
        Nanos(self.due.load(Ordering::SeqCst))
    }

    /// The offer that it has published.
    fn offer(&self) -> Offer {
        let lanes = self.lanes.load(Ordering::SeqCst);
        Offer::of(lanes, self.due())
    }

    fn publish(&self, offer: Offer) {
        self.lanes.store(offer.lanes(), Ordering::SeqCst);
        self.due.store(offer.due.0, Ordering::SeqCst);
    }

    /// Makes a worker the one that watches; `false` where another does.
    fn claim(&self, worker: u32) -> bool {
        let watcher = &self.watcher;
        let claimed = watcher.compare_exchange(NONE, worker, Ordering::SeqCst, Ordering::SeqCst);
        claimed.is_ok()
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.get() {
            waker.wake();
        }
    }
}

impl Left {
    /// The demand, where its worker has left it; never the twin.
    fn away(&mut self) -> Option<&mut Demand> {
        let is_left = self.is_left;
        self.demand.as_mut().filter(|_| is_left)
    }
}

impl Handover {
    /// The shared state of a pool with this many workers, none of which sleeps.
    pub(crate) fn new(count: u32) -> Self {
        Self {
            peers: (0..count).map(|_| Peer::new()).collect(),
            offers: AtomicU32::new(0),
            active: AtomicU32::new(count),
        }
    }

    /// Whether any worker of the pool offers anything to the others.
    #[inline]
    pub(crate) fn has_offers(&self) -> bool {
        self.offers.load(Ordering::Relaxed) > 0
    }

    /// Whether no worker of the pool begins anything more.
    pub(crate) fn is_over(&self) -> bool {
        self.active.load(Ordering::SeqCst) == 0
    }

    /// The peers that offer something, those whose first is due earliest first.
    fn offering(&self) -> Vec<(Nanos, u32)> {
        let dues = (0..)
            .zip(&self.peers)
            .map(|(index, peer)| (peer.due(), index));
        let mut offering: Vec<_> = dues.filter(|(due, _)| *due < Nanos::MAX).collect();
        offering.sort_unstable();
        offering
    }

    /// The peer whose first is due earliest, other than those that are passed over.
    fn oldest(&self, passed: &[u32]) -> Option<(Nanos, u32)> {
        let dues = (0..)
            .zip(&self.peers)
            .filter(|(index, _)| !passed.contains(index))
            .map(|(index, peer)| (peer.due(), index));
        dues.min().filter(|(due, _)| *due < Nanos::MAX)
    }

    /// Drops the late arrivals of all demands that were left, so that the oldest of the others is
    /// seen.
    #[cold]
    fn drop_late(&self, now: Nanos) {
        for peer in &self.peers {
            if let Some(demand) = peer.lock().away() {
                demand.arrivals.drop_late(now);
                peer.publish(demand.offer(true));
            }
        }
    }

    /// Wakes a sleeper that has room for something of an offer, other than `me`.
    fn wake_one(&self, offer: Offer, me: u32) {
        let peers = (0..).zip(&self.peers).filter(|(index, _)| *index != me);
        for (_, peer) in peers {
            if peer.room().suits(offer) {
                return peer.wake();
            }
        }
    }
}

impl Member {
    /// The worker's with this number, whose driver the waker wakes. `twin` takes the place of its
    /// demand while that is left to others, and does nothing.
    pub(crate) fn new(handover: &Arc<Handover>, me: u32, waker: Waker, twin: Demand) -> Self {
        let peer = &handover.peers[me as usize];
        let drops = twin.arrivals.drops();
        // Each worker has a number of its own.
        let _first = peer.waker.set(waker);
        peer.lock().demand = Some(twin);
        Self {
            handover: Arc::clone(handover),
            me,
            has_left: false,
            is_active: true,
            drops,
            watched: Vec::new(),
            declined: Vec::new(),
        }
    }

    fn peer(&self) -> &Peer {
        &self.handover.peers[self.me as usize]
    }

    /// Takes one thing of the demand whose first is due earliest, before `own`, as `lend` gives it;
    /// with the number of its home. Demands that had nothing for this worker are passed over until
    /// it has slept, or it would ask them again in each step of the turn.
    pub(crate) fn take_lent(
        &mut self,
        own: Nanos,
        now: Nanos,
        mut lend: impl FnMut(&mut Demand) -> Option<Lent>,
    ) -> Option<(u32, Lent)> {
        if self.drops {
            self.handover.drop_late(now);
        }
        while let Some((due, home)) = self.handover.oldest(&self.declined) {
            if due > now || due >= own {
                return None;
            }
            let peer = &self.handover.peers[home as usize];
            let mut left = peer.lock();
            // Where it was taken back, it offers nothing from now on.
            let Some(demand) = left.away() else {
                continue;
            };
            let lent = lend(demand);
            peer.publish(demand.offer(true));
            match lent {
                Some(lent) => return Some((home, lent)),
                None => self.declined.push(home),
            }
        }
        None
    }

    /// Prepares for sleep: leaves the demand to others where that has something due for which there
    /// is no room here. Gives the time by which to wake for others; [`Nanos::ZERO`] where something
    /// has come back meanwhile, so that it does not sleep at all.
    #[inline]
    pub(crate) fn rest(
        &mut self,
        demand: &mut Demand,
        offer: Offer,
        room: Room,
        now: Nanos,
    ) -> Nanos {
        if offer.is_due(now) {
            self.leave(demand, offer);
        }
        let peer = &self.handover.peers[self.me as usize];
        peer.sleep(room);
        if peer.has_returned.load(Ordering::SeqCst) {
            return Nanos::ZERO;
        }
        if self.handover.offers.load(Ordering::SeqCst) == 0 {
            return Nanos::MAX;
        }
        self.watch(room, now)
    }

    /// Leaves the demand, and publishes what it offers. It stays the worker's own where the twin is
    /// missing.
    #[cold]
    fn leave(&mut self, demand: &mut Demand, offer: Offer) {
        let peer = &self.handover.peers[self.me as usize];
        let mut left = peer.lock();
        if let Some(twin) = &mut left.demand {
            std::mem::swap(twin, demand);
            left.is_left = true;
            self.has_left = true;
            // A watcher of before has an earlier time in mind.
            peer.watcher.store(NONE, Ordering::SeqCst);
            peer.publish(offer);
            self.handover.offers.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Watches the demands for which there is room here, and passes the others on. Gives the
    /// earliest due time of those watched.
    #[cold]
    fn watch(&mut self, room: Room, now: Nanos) -> Nanos {
        let mut wake = Nanos::MAX;
        for (due, home) in self.handover.offering() {
            let peer = &self.handover.peers[home as usize];
            let offer = peer.offer();
            // A demand that was declined had nothing for this worker as it is.
            let is_declined = due <= now && self.declined.contains(&home);
            if home == self.me || !room.suits(offer) || is_declined {
                if peer.watcher.load(Ordering::SeqCst) == NONE {
                    self.handover.wake_one(offer, self.me);
                }
            } else if peer.claim(self.me) {
                self.watched.push(home);
                wake = wake.min(due);
            }
        }
        wake
    }

    /// Takes the demand back after sleep, and gives the ends of its users' requests that others
    /// have carried out.
    #[inline]
    pub(crate) fn resume(&mut self, demand: &mut Demand) -> Vec<Returned> {
        let peer = &self.handover.peers[self.me as usize];
        peer.state.store(0, Ordering::SeqCst);
        if self.has_left || !self.watched.is_empty() || peer.has_returned.load(Ordering::SeqCst) {
            return self.reclaim(demand);
        }
        if !self.declined.is_empty() {
            self.declined.clear();
        }
        Vec::new()
    }

    /// The part of [`Self::resume`] that few sleeps need: waits for the lock, for no longer than a
    /// helper takes one thing.
    #[cold]
    fn reclaim(&mut self, demand: &mut Demand) -> Vec<Returned> {
        self.declined.clear();
        for home in self.watched.drain(..) {
            let watcher = &self.handover.peers[home as usize].watcher;
            // Its home may have left it anew, without a watcher.
            let _anew = watcher.compare_exchange(self.me, NONE, Ordering::SeqCst, Ordering::SeqCst);
        }
        let peer = &self.handover.peers[self.me as usize];
        let mut left = peer.lock();
        if std::mem::take(&mut self.has_left)
            && let Some(away) = left.away()
        {
            std::mem::swap(away, demand);
            left.is_left = false;
            peer.publish(Offer::NONE);
            self.handover.offers.fetch_sub(1, Ordering::SeqCst);
        }
        peer.has_returned.store(false, Ordering::SeqCst);
        std::mem::take(&mut left.returned)
    }

    /// Gives the end of a request back to the worker whose user made it.
    pub(crate) fn give_back(&self, home: u32, returned: Returned) {
        let peer = &self.handover.peers[home as usize];
        peer.lock().returned.push(returned);
        peer.has_returned.store(true, Ordering::SeqCst);
        if peer.state.load(Ordering::SeqCst) & ASLEEP != 0 {
            peer.wake();
        }
    }

    /// Notes that its worker begins nothing more of its own. The last of the pool's wakes all,
    /// since they may wait for nothing but that.
    pub(crate) fn note_over(&mut self) {
        if std::mem::take(&mut self.is_active)
            && self.handover.active.fetch_sub(1, Ordering::SeqCst) == 1
        {
            self.handover.peers.iter().for_each(Peer::wake);
        }
    }

    /// Notes that all users of its worker have left for good; `true` where those of all have.
    pub(crate) fn note_deserted(&self) -> bool {
        self.peer().is_deserted.store(true, Ordering::SeqCst);
        let mut peers = self.handover.peers.iter();
        peers.all(|peer| peer.is_deserted.load(Ordering::SeqCst))
    }
}
