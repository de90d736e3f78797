//! One worker's share of a schedule, walked in order.

mod skip;

use crate::exponential::Gaps;
use crate::level::Level;
use crate::piece::{Piece, PieceKind};
use drumfire_units::Nanos;
use std::sync::Arc;

/// One arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its number in the whole schedule, from 0.
    pub index: u64,
    /// When it is due: the intended start, from the run's start.
    pub at: Nanos,
}

/// The next event of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Start this arrival when it is due.
    At(Due),
    /// Start requests as fast as the users allow, then advance.
    Unlimited {
        /// When this begins, from the run's start.
        from: Nanos,
        /// When this ends; [`Nanos::MAX`] is never.
        until: Nanos,
    },
    /// Nothing, ever.
    End,
}

/// A cursor on one worker's arrivals; the union over all workers is the schedule, each arrival
/// once. Nothing is allocated after construction.
#[derive(Clone, Debug)]
pub struct Segment {
    next: Next,
    /// How many workers there are, which is the distance between two of our arrivals.
    of: u32,
    worker: u32,
    /// The first arrival number that the current piece, as far as we may go, has not.
    stop: u64,
    walk: Walk,
    pieces: Arc<[Piece]>,
    position: usize,
    /// The number of the current piece's first arrival.
    base: u64,
    limit: u64,
    until: Nanos,
    poisson: Option<Poisson>,
}

/// How the next arrival of the current piece is found.
#[derive(Clone, Debug)]
enum Walk {
    Even(Even),
    /// By one inversion or lookup each.
    Inverse,
    Poisson,
}

/// A constant rate by quotient and remainder: `at + remainder/events` is the exact instant.
#[derive(Clone, Copy, Debug)]
struct Even {
    at: u64,
    remainder: u64,
    step: u64,
    step_remainder: u64,
    events: u64,
}

impl Even {
    #[inline]
    fn step(&mut self) {
        self.at += self.step;
        self.remainder += self.step_remainder; // both are below events, which is below 2^62
        if self.remainder >= self.events {
            self.remainder -= self.events;
            self.at += 1;
        }
    }
}

/// A random process, of which every worker walks the whole.
#[derive(Clone, Debug)]
struct Poisson {
    seeded: Gaps,
    gaps: Gaps,
    level: Level,
    /// The number of the next arrival, whosoever it is.
    index: u64,
    /// Its worker: `index` modulo the number of workers.
    turn: u32,
}

impl Segment {
    pub(crate) fn new(pieces: Arc<[Piece]>, gaps: Option<Gaps>, worker: u32, of: u32) -> Self {
        assert!(worker < of, "worker {worker} of {of}");
        let poisson = gaps.map(|gaps| Poisson {
            seeded: gaps.clone(),
            gaps,
            level: 0,
            index: 0,
            turn: 0,
        });
        let mut segment = Self {
            next: Next::End,
            of,
            worker,
            stop: 0,
            walk: Walk::Inverse,
            pieces,
            position: 0,
            base: 0,
            limit: u64::MAX,
            until: Nanos::MAX,
            poisson,
        };
        segment.enter();
        segment
    }

    /// Ends the schedule, not only this share of it, after `total` arrivals; starts again from
    /// the first. Requests of an unlimited piece are not arrivals: see [`share`].
    #[must_use]
    pub fn limit(mut self, total: u64) -> Self {
        self.limit = total;
        self.restart()
    }

    /// Ends before `end`: no arrival is due at `end` or later; starts again from the first.
    #[must_use]
    pub fn until(mut self, end: Nanos) -> Self {
        self.until = end;
        self.restart()
    }

    /// A cursor at the same arrival, from which it walks those of all workers. For a random
    /// schedule only.
    pub(crate) fn whole(&self) -> Self {
        let mut whole = self.clone();
        (whole.worker, whole.of) = (0, 1);
        if let Some(poisson) = &mut whole.poisson {
            poisson.turn = 0;
        }
        whole
    }

    /// The next arrival, the same until [`Segment::advance`] is called.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Next {
        self.next
    }

    /// Goes on to what follows; from [`Next::Unlimited`] to the next piece, at the end nowhere.
    #[inline]
    pub fn advance(&mut self) {
        if let (Next::At(due), Walk::Even(even)) = (&mut self.next, &mut self.walk) {
            let index = due.index + u64::from(self.of);
            if index < self.stop {
                even.step();
                due.index = index;
                due.at = Nanos(even.at);
                return;
            }
        }
        self.advance_further();
    }

    fn restart(mut self) -> Self {
        self.position = 0;
        self.base = 0;
        if let Some(poisson) = &mut self.poisson {
            poisson.gaps = poisson.seeded.clone();
        }
        self.enter();
        self
    }

    /// Every advance but the one inside a constant piece.
    fn advance_further(&mut self) {
        match (self.next, &self.walk) {
            (Next::End, _) => {}
            (Next::Unlimited { .. }, _) => self.enter_following(self.base),
            (Next::At(_), Walk::Poisson) => {
                if let Some(after) = self.draw() {
                    self.enter_following(after);
                }
            }
            (Next::At(due), _) => {
                let index = due.index + u64::from(self.of);
                let piece = &self.pieces[self.position];
                if index < self.stop {
                    let at = Nanos(piece.arrival(index - self.base));
                    self.next = Next::At(Due { index, at });
                } else {
                    let after = self.base + piece.count;
                    self.enter_following(after);
                }
            }
        }
    }

    /// Enters the next piece, whose first arrival has the number `base`.
    fn enter_following(&mut self, base: u64) {
        self.position += 1;
        self.base = base;
        self.enter();
    }

    /// Finds our first arrival in the current piece, or in the first one after it that has any.
    fn enter(&mut self) {
        self.next = Next::End;
        while let Some(piece) = self.pieces.get(self.position) {
            if self.base >= self.limit || piece.start >= self.until.0 {
                return;
            }
            let mut after = self.base + piece.count;
            match &piece.kind {
                PieceKind::Unlimited if piece.span() == 0 => {}
                PieceKind::Unlimited => {
                    self.next = Next::Unlimited {
                        from: Nanos(piece.start),
                        until: Nanos(piece.end).min(self.until),
                    };
                    return;
                }
                PieceKind::Curve(_) if self.poisson.is_some() => {
                    self.start_process();
                    match self.draw() {
                        Some(drawn) => after = drawn,
                        None => return,
                    }
                }
                PieceKind::Curve(_)
                | PieceKind::Once
                | PieceKind::Trace(_)
                | PieceKind::Stairs(_) => {
                    if self.enter_counted() {
                        return;
                    }
                }
            }
            self.position += 1;
            self.base = after;
        }
    }

    /// Enters a piece whose arrivals are counted beforehand; false when none of them is ours.
    fn enter_counted(&mut self) -> bool {
        let piece = &self.pieces[self.position];
        let of = u64::from(self.of);
        let index = self.base + (u64::from(self.worker) + of - self.base % of) % of;
        self.stop = (self.base + piece.count_before(self.until.0)).min(self.limit);
        if index >= self.stop {
            return false;
        }
        self.stand_at(index);
        true
    }

    /// Goes to arrival `index`, which is ours and in the current piece, no random process.
    fn stand_at(&mut self, index: u64) {
        let piece = &self.pieces[self.position];
        let of = u64::from(self.of);
        let local = index - self.base;
        let at = piece.arrival(local);
        self.walk = match &piece.kind {
            PieceKind::Curve(crate::curve::Curve::Even(rate)) => {
                let (per, events) = (u128::from(rate.per), u128::from(rate.events));
                let low = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
                let stride = u128::from(of) * per;
                Walk::Even(Even {
                    at,
                    remainder: low(u128::from(local) * per % events),
                    // Beyond u64 only if no second arrival fits into the piece.
                    step: low(stride / events),
                    step_remainder: low(stride % events),
                    events: rate.events,
                })
            }
            _ => Walk::Inverse,
        };
        self.next = Next::At(Due {
            index,
            at: Nanos(at),
        });
    }

    /// Begins the current piece's random process.
    fn start_process(&mut self) {
        self.walk = Walk::Poisson;
        if let Some(poisson) = &mut self.poisson {
            poisson.level = 0;
            poisson.index = self.base;
            let turn = self.base % u64::from(self.of);
            poisson.turn = u32::try_from(turn).unwrap_or_default(); // below `of`
        }
    }

    /// Draws until an arrival is ours or the schedule ends. When the piece ends first, the answer
    /// is the number of the next piece's first arrival.
    fn draw(&mut self) -> Option<u64> {
        self.next = Next::End;
        let piece = &self.pieces[self.position];
        let (Some(poisson), PieceKind::Curve(curve)) = (&mut self.poisson, &piece.kind) else {
            return None;
        };
        while poisson.index < self.limit {
            poisson.level = poisson.level.saturating_add(poisson.gaps.draw());
            if poisson.level >= piece.end_level {
                return Some(poisson.index);
            }
            let (index, turn) = (poisson.index, poisson.turn);
            poisson.pass(self.of);
            if turn == self.worker {
                let at = curve.inverse(poisson.level, piece.span())?;
                let at = Nanos(piece.start + at);
                if at < self.until {
                    self.next = Next::At(Due { index, at });
                }
                return None;
            }
        }
        None
    }
}

impl Poisson {
    /// Counts one arrival.
    #[inline]
    fn pass(&mut self, of: u32) {
        self.index += 1;
        self.turn += 1;
        if self.turn == of {
            self.turn = 0;
        }
    }
}

/// How many of `total` things fall to `worker` of `of` when they are dealt out in turn; the sum
/// over all workers is `total`.
///
/// # Panics
/// When `of` is 0.
#[must_use]
pub fn share(total: u64, worker: u32, of: u32) -> u64 {
    let (worker, of) = (u64::from(worker), u64::from(of));
    total / of + u64::from(worker < total % of)
}
