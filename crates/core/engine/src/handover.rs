//! The hand-over of due work between the workers of one pool, so that no figure depends on the
//! number of workers.
//!
//! A worker has a part of the schedule, of the users and of the connections, and shares nothing
//! while it has room. The protocol for a worker without room:
//!
//! ```text
//!   home worker, asleep, no room                 helper, with room
//!     rest ── leaves its demand ──► [ Peer ] ◄── lend ── takes due work, oldest first
//!     resume ◄── takes it back ────    ▲  └──── watches when the next of it is due
//!        ▲                             │
//!        └──────── wake ───────────────┴── give_back ── the end of a request of a home user
//! ```
//!
//! - Before a worker sleeps it calls [`Member::rest`], and after it [`Member::resume`]. In between,
//!   one other worker at a time may take work from its demand, under the peer's lock.
//! - A sleeper publishes its room, then looks for demands; a worker that leaves its demand
//!   publishes it, then looks for room. Both orders are sequentially consistent, so at least one of
//!   the two sees the other, and no due arrival is missed between a sleeper with room and an unseen
//!   demand.
//! - One of the sleepers with room watches each demand: it wakes when the next part of it is due. A
//!   worker that goes to sleep without room passes a demand without a watcher on to a sleeper with
//!   room.
//!
//! The time of a hand-over (waking a thread) is lag, since a connection was free. Workers of
//! different machines share nothing.
//!
//! A worker that leaves its demand swaps it for an idle twin without due work, so that no part of
//! the worker has to check which one it holds. The state of a left demand is published in three
//! atomics, written under the lock. A reader may see a mixture of old and new values; it then wakes
//! unnecessarily, and finds the current state under the lock.
//!
//! If all workers have room, a worker pays one relaxed load per turn, a swap and two loads before
//! each sleep, and a store and a load after it. This path takes no lock.

use crate::demand::{Demand, Lent, Returned, Room, WorkOffer};
use drumfire_net::Waker;
use drumfire_units::Nanos;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The bit for a worker that sleeps; the bits below it contain its room.
const ASLEEP: u64 = 1 << 33;

/// The value for "no worker".
const NONE: u32 = u32::MAX;

/// The state that the workers of a pool share.
#[derive(Debug)]
pub(crate) struct Handover {
    peers: Box<[Peer]>,
    /// The number of peers whose demand is left to others.
    offers: AtomicU32,
    /// The number of peers that may still begin something of their own demand.
    active: AtomicU32,
}

/// One worker of a pool as the others see it. Each peer has separate cache lines; otherwise the
/// sleeps of one worker would cost the others a cache miss.
#[derive(Debug)]
#[repr(align(128))]
struct Peer {
    /// Whether the worker sleeps, and its room meanwhile.
    state: AtomicU64,
    /// The lanes on which its demand offers something: requests in the lower half, arrivals in the
    /// upper.
    lanes: AtomicU64,
    /// The due time of the first offered thing, in nanoseconds; [`Nanos::MAX`] if nothing is
    /// offered.
    due: AtomicU64,
    /// The sleeper that wakes at `due`; [`NONE`] without a watcher.
    watcher: AtomicU32,
    /// Whether `returned` has ends of requests of the worker's users. Written with or without the
    /// lock, read without it.
    has_returned: AtomicBool,
    /// Whether all of its users have left for good.
    is_deserted: AtomicBool,
    /// Wakes the worker's driver; set once, before the run.
    waker: OnceLock<Waker>,
    left: Mutex<Left>,
}

/// The demand that a worker has left for others, and the ends that others have left for the worker.
#[derive(Debug, Default)]
struct Left {
    /// The worker's demand while it is left to others, otherwise an idle twin.
    demand: Option<Demand>,
    /// Whether `demand` is the real one, not the twin.
    is_left: bool,
    returned: Vec<Returned>,
}

/// A worker's access to the other workers of its pool.
#[derive(Debug)]
pub(crate) struct Member {
    /// The state that the pool's workers share.
    pub(crate) handover: Arc<Handover>,
    /// The worker's index among the pool's workers here.
    pub(crate) me: u32,
    /// Whether others may take from its demand now.
    pub(crate) has_left: bool,
    is_active: bool,
    /// Whether late arrivals are dropped, so that the oldest arrival may have to be dropped first.
    drops: bool,
    /// The peers whose demands this worker watches.
    watched: Vec<u32>,
    /// The peers whose demands had nothing for this worker in this turn.
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
        // A panic of a worker ends the run anyway.
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes that the worker sleeps, with this room.
    fn sleep(&self, room: Room) {
        self.state.swap(ASLEEP | room.bits(), Ordering::SeqCst);
    }

    /// The room of a sleeping worker; no room if the worker is awake.
    fn room(&self) -> Room {
        Room::of_bits(self.state.load(Ordering::SeqCst))
    }

    /// The due time of the first thing that the worker offers.
    fn due(&self) -> Nanos {
        Nanos(self.due.load(Ordering::SeqCst))
    }

    /// The offer that the worker has published.
    fn offer(&self) -> WorkOffer {
        let lanes = self.lanes.load(Ordering::SeqCst);
        WorkOffer::new(lanes, self.due())
    }

    fn publish(&self, offer: WorkOffer) {
        self.lanes.store(offer.lanes(), Ordering::SeqCst);
        self.due.store(offer.due.0, Ordering::SeqCst);
    }

    /// Makes `worker` the watcher; `false` if there is one already.
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
    /// The demand, if its worker has left it; never the twin.
    fn away(&mut self) -> Option<&mut Demand> {
        let is_left = self.is_left;
        self.demand.as_mut().filter(|_| is_left)
    }
}

impl Handover {
    /// The shared state of a pool with this many workers, all awake.
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

    /// Whether no worker of the pool will begin anything more.
    pub(crate) fn is_over(&self) -> bool {
        self.active.load(Ordering::SeqCst) == 0
    }

    /// The peers with offers, ordered by the due time of their first thing.
    fn offering(&self) -> Vec<(Nanos, u32)> {
        let dues = (0..)
            .zip(&self.peers)
            .map(|(index, peer)| (peer.due(), index));
        let mut offering: Vec<_> = dues.filter(|(due, _)| *due < Nanos::MAX).collect();
        offering.sort_unstable();
        offering
    }

    /// The peer whose first thing is due earliest, except the peers in `passed`.
    fn oldest(&self, passed: &[u32]) -> Option<(Nanos, u32)> {
        let dues = (0..)
            .zip(&self.peers)
            .filter(|(index, _)| !passed.contains(index))
            .map(|(index, peer)| (peer.due(), index));
        dues.min().filter(|(due, _)| *due < Nanos::MAX)
    }

    /// Drops the late arrivals of all demands left to others, so that the oldest remaining ones are
    /// visible.
    #[cold]
    fn drop_late(&self, now: Nanos) {
        for peer in &self.peers {
            if let Some(demand) = peer.lock().away() {
                demand.arrivals.drop_late(now);
                peer.publish(demand.offer(true));
            }
        }
    }

    /// Wakes one sleeper other than `me` that has room for a part of an offer.
    fn wake_one(&self, offer: WorkOffer, me: u32) {
        let peers = (0..).zip(&self.peers).filter(|(index, _)| *index != me);
        for (_, peer) in peers {
            if peer.room().suits(offer) {
                return peer.wake();
            }
        }
    }
}

impl Member {
    /// The member for worker `me`, whose driver the waker wakes. `twin` is an idle demand that
    /// replaces the worker's own demand while it is left to others.
    pub(crate) fn new(handover: &Arc<Handover>, me: u32, waker: Waker, twin: Demand) -> Self {
        let peer = &handover.peers[me as usize];
        let drops = twin.arrivals.drops();
        // Each worker has a different index.
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

    /// Takes one thing, chosen by `lend`, from the demand whose first thing is due earliest and
    /// before `own`. Returns it with the index of its home worker. Demands that had nothing for
    /// this worker are skipped until it has slept; otherwise it would try them again in each step
    /// of the turn.
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
            // If the home worker has taken the demand back, it offers nothing any more.
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

    /// Prepares for sleep. Leaves the demand to others if something is due for which this worker
    /// has no room. Returns the time by which to wake for others; [`Nanos::ZERO`] if ends of
    /// requests have come back, so that the worker does not sleep at all.
    #[inline]
    pub(crate) fn rest(
        &mut self,
        demand: &mut Demand,
        offer: WorkOffer,
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

    /// Leaves the demand, and publishes its offer. Without a twin, the worker keeps its demand.
    #[cold]
    fn leave(&mut self, demand: &mut Demand, offer: WorkOffer) {
        let peer = &self.handover.peers[self.me as usize];
        let mut left = peer.lock();
        if let Some(twin) = &mut left.demand {
            std::mem::swap(twin, demand);
            left.is_left = true;
            self.has_left = true;
            // An earlier watcher has an outdated wake time.
            peer.watcher.store(NONE, Ordering::SeqCst);
            peer.publish(offer);
            self.handover.offers.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Watches the demands for which this worker has room, and passes the others on. Returns the
    /// earliest due time of the watched demands.
    #[cold]
    fn watch(&mut self, room: Room, now: Nanos) -> Nanos {
        let mut wake = Nanos::MAX;
        for (due, home) in self.handover.offering() {
            let peer = &self.handover.peers[home as usize];
            let offer = peer.offer();
            // The declined demand has not changed, and had nothing for this worker.
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

    /// Takes the demand back after sleep, and returns the ends of requests that other workers have
    /// carried out for its users.
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

    /// The rare part of [`Self::resume`]. Waits for the lock, at most while a helper takes one
    /// thing.
    #[cold]
    fn reclaim(&mut self, demand: &mut Demand) -> Vec<Returned> {
        self.declined.clear();
        for home in self.watched.drain(..) {
            let watcher = &self.handover.peers[home as usize].watcher;
            // The home worker may have left its demand again meanwhile, without a watcher.
            let _anew = watcher.compare_exchange(self.me, NONE, Ordering::SeqCst, Ordering::SeqCst);
        }
        let peer = &self.handover.peers[self.me as usize];
        let mut left = peer.lock();
        if std::mem::take(&mut self.has_left)
            && let Some(away) = left.away()
        {
            std::mem::swap(away, demand);
            left.is_left = false;
            peer.publish(WorkOffer::NONE);
            self.handover.offers.fetch_sub(1, Ordering::SeqCst);
        }
        peer.has_returned.store(false, Ordering::SeqCst);
        std::mem::take(&mut left.returned)
    }

    /// Returns the end of a request to the worker whose user made it.
    pub(crate) fn give_back(&self, home: u32, returned: Returned) {
        let peer = &self.handover.peers[home as usize];
        peer.lock().returned.push(returned);
        peer.has_returned.store(true, Ordering::SeqCst);
        if peer.state.load(Ordering::SeqCst) & ASLEEP != 0 {
            peer.wake();
        }
    }

    /// Notes that this worker's demand is over. The last worker of the pool to call this wakes all
    /// others, which may be waiting only for that.
    pub(crate) fn note_over(&mut self) {
        if std::mem::take(&mut self.is_active)
            && self.handover.active.fetch_sub(1, Ordering::SeqCst) == 1
        {
            self.handover.peers.iter().for_each(Peer::wake);
        }
    }

    /// Notes that all users of this worker have left for good; returns whether the users of all
    /// workers have.
    pub(crate) fn note_deserted(&self) -> bool {
        self.peer().is_deserted.store(true, Ordering::SeqCst);
        let mut peers = self.handover.peers.iter();
        peers.all(|peer| peer.is_deserted.load(Ordering::SeqCst))
    }
}
