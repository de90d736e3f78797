//! Sessions with their carts, and orders.

use super::Paid;
use super::catalogue::Product;
use super::credentials::{ClientClaim, Credentials, SessionToken};
use super::mistake::{Kind, Mistake};
use drumfire_units::Random;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of parts of the ledger, each with a separate lock. A power of two.
const SHARDS: u64 = 64;
/// The maximum number of sessions in a shard: 131,072 in total. A new session replaces the one with
/// the earliest login.
const SESSIONS_MAX: usize = 2_048;
/// The maximum number of orders in a shard: 65,536 in total. A new order replaces the oldest.
const ORDERS_MAX: usize = 1_024;
/// The maximum number of products in a cart.
const LINES_MAX: usize = 16;
/// The maximum number of pieces of one product in a cart.
const COUNT_MAX: u64 = 1_000;

/// A session's id, which is unique in the server and can't be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SessionId(pub(super) u64);

/// An open session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) user: Box<str>,
    pub(super) cart: Cart,
}

/// Products and their numbers of pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cart {
    pub(super) lines: Vec<Line>,
}

/// One product in a cart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) product: Product,
    pub(super) count: u64,
}

/// The sums over a cart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CartSum {
    /// The number of pieces.
    pub(crate) count: u64,
    /// The total in cents.
    pub(crate) total: u64,
}

impl Cart {
    /// Adds pieces of a product.
    pub(super) fn add(&mut self, product: Product, count: u64) -> Result<(), Mistake> {
        let full = |reason: String| Err(Mistake::new(Kind::FullCart, reason));
        if count == 0 {
            let reason = format!("`count` must be 1 to {COUNT_MAX}");
            return Err(Mistake::new(Kind::BadRequest, reason));
        }
        let known = self.lines.iter().position(|line| line.product == product);
        let before = known.map_or(0, |at| self.lines[at].count);
        if count > COUNT_MAX - before {
            return full(format!("a cart can hold at most {COUNT_MAX} of a product"));
        }
        match known {
            Some(at) => self.lines[at].count += count,
            None if self.lines.len() == LINES_MAX => {
                return full(format!("a cart can hold at most {LINES_MAX} products"));
            }
            None => self.lines.push(Line { product, count }),
        }
        Ok(())
    }

    /// The sums over the cart.
    pub(crate) fn sum(&self) -> CartSum {
        self.lines
            .iter()
            .fold(CartSum::default(), |sum, line| CartSum {
                count: sum.count + line.count,
                total: sum.total + line.count * line.product.price,
            })
    }
}

/// A paid cart.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) number: u64,
    pub(super) user: Box<str>,
    pub(super) cart: Cart,
    session: SessionId,
}

/// All sessions and orders.
#[derive(Debug)]
pub(super) struct Ledger {
    shards: Box<[Mutex<LedgerShard>]>,
    /// The number of sessions opened so far.
    opened: AtomicU64,
    evicted: AtomicU64,
    key: u64,
}

#[derive(Debug, Default)]
struct LedgerShard {
    sessions: HashMap<SessionId, Session>,
    /// Sessions in the order of their logins, including closed ones that were not removed yet.
    order: VecDeque<SessionId>,
    /// The latest orders. The n-th order of a shard has the number n · [`SHARDS`] + its index.
    orders: VecDeque<Order>,
    /// The number of discarded orders.
    forgotten: u64,
}

/// The fill level of the ledger.
pub(super) struct Census {
    pub(super) sessions: usize,
    pub(super) evicted: u64,
}

impl Ledger {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            opened: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            key: mix(seed ^ 0x5348_4f50),
        }
    }

    /// The shard of a session or an order. Its data is valid even if a thread panicked with the
    /// lock.
    fn shard(&self, number: u64) -> MutexGuard<'_, LedgerShard> {
        // The remainder is small.
        let shard = &self.shards[(number % SHARDS) as usize];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a session.
    pub(super) fn open(&self, user: &str) -> SessionId {
        let n = self.opened.fetch_add(1, Ordering::Relaxed);
        // The mapping is one to one, so no two sessions have the same id.
        let id = SessionId(mix(n ^ self.key));
        let session = Session {
            user: user.into(),
            cart: Cart::default(),
        };
        let evicted = self.shard(id.0).open(id, session);
        self.evicted.fetch_add(evicted, Ordering::Relaxed);
        id
    }

    /// Closes a session.
    pub(super) fn close(&self, id: SessionId) {
        self.shard(id.0).sessions.remove(&id);
    }

    /// A session's token.
    pub(super) fn ticket(&self, id: SessionId) -> SessionToken {
        SessionToken {
            session: id.0,
            proof: mix(id.0 ^ self.key.rotate_left(32)),
        }
    }

    /// The session of the cookie, the token or both.
    pub(super) fn authorize(&self, credentials: &Credentials) -> Result<SessionId, Mistake> {
        let unknown = || Mistake::new(Kind::UnknownSession, "unknown session");
        let cookie = match credentials.cookie {
            None => None,
            Some(ClientClaim::Made(id)) => Some(SessionId(id)),
            Some(ClientClaim::Malformed) => return Err(unknown()),
        };
        let token = match credentials.token {
            None => None,
            Some(ClientClaim::Made(ticket)) if ticket == self.ticket(SessionId(ticket.session)) => {
                Some(SessionId(ticket.session))
            }
            Some(_) => return Err(unknown()),
        };
        match (cookie, token) {
            (None, None) => Err(Mistake::new(
                Kind::NoLogin,
                "POST /shop/login first, and send its cookie or its token",
            )),
            (Some(cookie), Some(token)) if cookie != token => Err(Mistake::new(
                Kind::OtherSession,
                "the token and the cookie belong to different sessions",
            )),
            (Some(id), _) | (None, Some(id)) => Ok(id),
        }
    }

    /// Accesses an open session, which must belong to the claimed user.
    pub(super) fn with<T>(
        &self,
        id: SessionId,
        credentials: &Credentials,
        act: impl FnOnce(&mut Session) -> Result<T, Mistake>,
    ) -> Result<T, Mistake> {
        let mut shard = self.shard(id.0);
        act(shard.session(id, credentials)?)
    }

    /// Turns a session's cart into an order.
    pub(super) fn pay(
        &self,
        id: SessionId,
        credentials: &Credentials,
        amount: Option<u64>,
    ) -> Result<Paid, Mistake> {
        let mut shard = self.shard(id.0);
        let session = shard.session(id, credentials)?;
        let total = session.cart.sum().total;
        if session.cart.lines.is_empty() {
            let reason = "the cart is empty; POST /shop/cart first";
            return Err(Mistake::new(Kind::EmptyCart, reason));
        }
        if let Some(amount) = amount.filter(|amount| *amount != total) {
            let reason = format!("the amount {amount} differs from the cart's total {total}");
            return Err(Mistake::new(Kind::WrongAmount, reason));
        }
        let order = Order {
            number: 0,
            user: session.user.clone(),
            cart: std::mem::take(&mut session.cart),
            session: id,
        };
        let order = shard.keep(order, id.0 % SHARDS);
        Ok(Paid { order, total })
    }

    /// Accesses an order, which must belong to this session.
    pub(super) fn order<T>(
        &self,
        number: u64,
        id: SessionId,
        act: impl FnOnce(&Order) -> T,
    ) -> Result<T, Mistake> {
        let shard = self.shard(number);
        let order = shard.order(number).ok_or_else(|| {
            Mistake::new(Kind::NoOrder, format!("unknown or expired order {number}"))
        })?;
        if order.session != id {
            let reason = format!("order {number} belongs to another session");
            return Err(Mistake::new(Kind::OtherOrder, reason));
        }
        Ok(act(order))
    }

    pub(super) fn census(&self) -> Census {
        Census {
            sessions: (0..SHARDS).map(|n| self.shard(n).sessions.len()).sum(),
            evicted: self.evicted.load(Ordering::Relaxed),
        }
    }
}

impl LedgerShard {
    /// Adds a session; returns the number of sessions removed for it.
    fn open(&mut self, id: SessionId, session: Session) -> u64 {
        let mut evicted = 0;
        while self.sessions.len() >= SESSIONS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            evicted += u64::from(self.sessions.remove(&oldest).is_some());
        }
        if self.order.len() >= 2 * SESSIONS_MAX {
            let open = &self.sessions;
            self.order.retain(|id| open.contains_key(id));
        }
        self.order.push_back(id);
        self.sessions.insert(id, session);
        evicted
    }

    fn session(
        &mut self,
        id: SessionId,
        credentials: &Credentials,
    ) -> Result<&mut Session, Mistake> {
        let session = self.sessions.get_mut(&id).ok_or_else(|| {
            Mistake::new(Kind::UnknownSession, "the session has ended; log in again")
        })?;
        match &credentials.user {
            Some(user) if **user != *session.user => Err(Mistake::new(
                Kind::OtherUser,
                "x-shop-user does not match the session's user",
            )),
            _ => Ok(session),
        }
    }

    /// Stores an order; returns its number.
    fn keep(&mut self, order: Order, index: u64) -> u64 {
        if self.orders.len() == ORDERS_MAX {
            self.orders.pop_front();
            self.forgotten += 1;
        }
        let number = (self.forgotten + self.orders.len() as u64) * SHARDS + index;
        self.orders.push_back(Order { number, ..order });
        number
    }

    fn order(&self, number: u64) -> Option<&Order> {
        let at = (number / SHARDS).checked_sub(self.forgotten)?;
        self.orders.get(usize::try_from(at).ok()?)
    }
}

/// A permutation of 64 bits in which each input bit moves half of the output's: the first step of
/// SplitMix64.
const fn mix(z: u64) -> u64 {
    Random::from_state(z).bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shop::catalogue;

    fn by_cookie(id: SessionId) -> Credentials {
        Credentials {
            cookie: Some(ClientClaim::Made(id.0)),
            ..Credentials::default()
        }
    }

    #[test]
    fn sessions_are_bounded_and_the_oldest_goes_first() {
        let ledger = Ledger::new(7);
        let ids: Vec<_> = (0..SHARDS as usize * SESSIONS_MAX * 2)
            .map(|_| ledger.open("ada"))
            .collect();
        let census = ledger.census();
        assert!(census.sessions <= SHARDS as usize * SESSIONS_MAX);
        assert_eq!(census.sessions as u64 + census.evicted, ids.len() as u64);
        let held = |id: SessionId| ledger.with(id, &by_cookie(id), |_| Ok(())).is_ok();
        assert!(!held(ids[0]) && held(ids[ids.len() - 1]));
    }

    #[test]
    fn closed_sessions_leave_nothing_behind() {
        let ledger = Ledger::new(7);
        for _ in 0..SHARDS as usize * SESSIONS_MAX * 3 {
            ledger.close(ledger.open("ada"));
        }
        let census = ledger.census();
        assert_eq!((census.sessions, census.evicted), (0, 0));
        let queued: usize = (0..SHARDS).map(|n| ledger.shard(n).order.len()).sum();
        assert!(queued <= SHARDS as usize * 2 * SESSIONS_MAX, "{queued}");
    }

    #[test]
    fn orders_are_bounded_and_found_by_their_numbers() {
        let ledger = Ledger::new(7);
        let id = ledger.open("ada");
        let product = catalogue::find(3).unwrap();
        let mut numbers = Vec::new();
        for _ in 0..=ORDERS_MAX {
            let fill = |session: &mut Session| session.cart.add(product, 2);
            ledger.with(id, &by_cookie(id), fill).unwrap();
            let paid = ledger.pay(id, &by_cookie(id), None).unwrap();
            assert_eq!(paid.total, 2 * product.price);
            numbers.push(paid.order);
        }
        let number = |number| ledger.order(number, id, |order| order.number);
        assert_eq!(number(numbers[0]).unwrap_err().kind, Kind::NoOrder);
        for known in &numbers[1..] {
            assert_eq!(number(*known).unwrap(), *known);
        }
        let other = ledger.open("bob");
        let stolen = ledger.order(numbers[1], other, |_| ());
        assert_eq!(stolen.unwrap_err().kind, Kind::OtherOrder);
    }

    #[test]
    fn carts_are_bounded() {
        let mut cart = Cart::default();
        let product = |id| catalogue::find(id).unwrap();
        assert_eq!(cart.add(product(1), 0).unwrap_err().kind, Kind::BadRequest);
        cart.add(product(1), COUNT_MAX).unwrap();
        assert_eq!(cart.add(product(1), 1).unwrap_err().kind, Kind::FullCart);
        let huge = cart.add(product(2), u64::MAX).unwrap_err();
        assert_eq!(huge.kind, Kind::FullCart);
        for id in 2..=LINES_MAX as u64 {
            cart.add(product(id), 1).unwrap();
        }
        let more = cart.add(product(60), 1).unwrap_err();
        assert_eq!(more.kind, Kind::FullCart);
        assert_eq!(cart.sum().count, COUNT_MAX + LINES_MAX as u64 - 1);
    }
}
