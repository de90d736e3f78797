//! One worker's share of a schedule, in order.

mod skip;

use crate::gaps::Gaps;
use crate::level::Level;
use crate::piece::{Piece, PieceKind};
use drumfire_units::Nanos;
use std::sync::Arc;

/// One arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The number of the arrival in the whole schedule, from 0.
    pub index: u64,
    /// The intended start, from the run's start.
    pub at: Nanos,
}

/// The next event of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Start this arrival at its due time.
    At(Due),
    /// Start requests as fast as the users allow until the end, then advance.
    Unlimited {
        /// The start, from the run's start.
        from: Nanos,
        /// The end, from the run's start; [`Nanos::MAX`] without an end.
        until: Nanos,
    },
    /// There are no further events.
    End,
}

/// A cursor on one worker's arrivals. The union over all workers is the schedule, with each arrival
/// once. Allocates only during construction.
#[derive(Clone, Debug)]
pub struct Segment {
    next: Next,
    /// The number of workers, and the distance between two arrivals of this worker.
    of: u32,
    worker: u32,
    /// The number after the last arrival of the current piece, within the limits.
    stop: u64,
    walk: Walk,
    pieces: Arc<[Piece]>,
    position: usize,
    /// The number of the current piece's first arrival.
    base: u64,
    limit: u64,
    until: Nanos,
    process: Option<Process>,
}

/// The method to find the next arrival of the current piece.
#[derive(Clone, Debug)]
enum Walk {
    Even(Even),
    /// One inversion or lookup for each arrival.
    Inverse,
    Random,
}

/// A constant rate as quotient and remainder: `at + remainder/events` is the exact time.
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

/// A random process. Every worker draws all of its arrivals.
#[derive(Clone, Debug)]
struct Process {
    seeded: Gaps,
    gaps: Gaps,
    level: Level,
    /// The number of the next arrival, of any worker.
    index: u64,
    /// The worker of the next arrival: `index` modulo the number of workers.
    turn: u32,
}

impl Segment {
    pub(crate) fn new(pieces: Arc<[Piece]>, gaps: Option<Gaps>, worker: u32, of: u32) -> Self {
        assert!(worker < of, "worker {worker} of {of}");
        let process = gaps.map(|gaps| Process {
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
            process,
        };
        segment.enter();
        segment
    }

    /// Ends the whole schedule, not only this share, after `total` arrivals; restarts at the first
    /// arrival. Requests of an unlimited piece are not arrivals: see [`share`].
    #[must_use]
    pub fn limit(mut self, total: u64) -> Self {
        self.limit = total;
        self.restart()
    }

    /// Ends before `end`: no arrival is due at `end` or later; restarts at the first arrival.
    #[must_use]
    pub fn until(mut self, end: Nanos) -> Self {
        self.until = end;
        self.restart()
    }

    /// A cursor at the current arrival that continues with the arrivals of all workers. Only for a
    /// random schedule.
    pub(crate) fn whole(&self) -> Self {
        let mut whole = self.clone();
        (whole.worker, whole.of) = (0, 1);
        if let Some(process) = &mut whole.process {
            process.turn = 0;
        }
        whole
    }

    /// The next event; unchanged until [`Segment::advance`] is called.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Next {
        self.next
    }

    /// Moves to the next event: from [`Next::Unlimited`] to the next piece. No effect at the end.
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
        if let Some(process) = &mut self.process {
            process.gaps = process.seeded.clone();
        }
        self.enter();
        self
    }

    /// Handles every advance except those within a constant piece.
    fn advance_further(&mut self) {
        match (self.next, &self.walk) {
            (Next::End, _) => {}
            (Next::Unlimited { .. }, _) => self.enter_following(self.base),
            (Next::At(_), Walk::Random) => {
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

    /// Enters the next piece; `base` is the number of its first arrival.
    fn enter_following(&mut self, base: u64) {
        self.position += 1;
        self.base = base;
        self.enter();
    }

    /// Finds this worker's first arrival in the current piece, or in the first later piece with
    /// one.
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
                PieceKind::Curve(_) if self.process.is_some() => {
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

    /// Enters a piece with a known number of arrivals. Returns whether this worker has any of them.
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

    /// Moves to arrival `index`, which must be this worker's, in the current piece, and not random.
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
                    // Exceeds u64 only if no second arrival fits into the piece.
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

    /// Starts the random process of the current piece.
    fn start_process(&mut self) {
        self.walk = Walk::Random;
        if let Some(process) = &mut self.process {
            process.level = 0;
            process.index = self.base;
            let turn = self.base % u64::from(self.of);
            process.turn = u32::try_from(turn).unwrap_or_default(); // below `of`
        }
    }

    /// Draws until an arrival of this worker, or the end of the schedule. If the piece ends first,
    /// returns the number of the next piece's first arrival.
    fn draw(&mut self) -> Option<u64> {
        self.next = Next::End;
        let piece = &self.pieces[self.position];
        let (Some(process), PieceKind::Curve(curve)) = (&mut self.process, &piece.kind) else {
            return None;
        };
        while process.index < self.limit {
            process.level = process.level.saturating_add(process.gaps.draw());
            if process.level >= piece.end_level {
                return Some(process.index);
            }
            let (index, turn) = (process.index, process.turn);
            process.pass(self.of);
            if turn == self.worker {
                let at = curve.inverse(process.level, piece.span())?;
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

impl Process {
    /// Counts an arrival.
    #[inline]
    fn pass(&mut self, of: u32) {
        self.index += 1;
        self.turn += 1;
        if self.turn == of {
            self.turn = 0;
        }
    }
}

/// The part of `total` items that `worker` of `of` gets if they are dealt in turn; the sum over all
/// workers is `total`.
///
/// # Panics
/// If `of` is 0.
#[must_use]
pub fn share(total: u64, worker: u32, of: u32) -> u64 {
    let (worker, of) = (u64::from(worker), u64::from(of));
    total / of + u64::from(worker < total % of)
}
