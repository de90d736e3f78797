//! A whole schedule: a sequence of pieces.

use crate::gaps::Gaps;
use crate::piece::{Piece, PieceKind, PieceList};
use crate::{GAMMA_RATE_MAX, Next, RANDOM_RATE_MAX, ScheduleError, Segment};
use drumfire_plan::{Arrivals, Sequence};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The start times of all requests of a run; cheap to clone.
///
/// Arrivals are numbered from 0 over the whole sequence. Requests of `unlimited` pieces have no
/// numbers: they start when a user is free, which the schedule does not know.
///
/// With [`Arrivals::Poisson`], the arrivals of each `const`, `line`, `step` and `sine` piece form a
/// Poisson process with the piece's rate: unit-rate exponential gaps from the seed are summed
/// without rounding and mapped through the inverse of N(t). The first gap of a piece starts at the
/// start of the piece, which has no effect on the process, because it is memoryless.
/// [`Arrivals::Gamma`] does the same with gamma gaps of mean 1, so that the first arrival of each
/// piece is due after a whole gap. `once` and `trace` are unchanged. Arrivals depend only on the
/// seed, and not on the number of workers.
#[derive(Clone, Debug)]
pub struct Schedule {
    pieces: Arc<[Piece]>,
    gaps: Option<Gaps>,
}

impl Schedule {
    /// Compiles a sequence; `seed` has no effect with [`Arrivals::Constant`].
    ///
    /// # Errors
    /// If the sequence is empty, a piece other than the last has no end, or a limit of
    /// [`ScheduleError`] is exceeded.
    pub fn new(sequence: &Sequence, arrivals: Arrivals, seed: u64) -> Result<Self, ScheduleError> {
        let mut pieces = PieceList::default();
        let most = match arrivals {
            Arrivals::Constant => None,
            Arrivals::Poisson => Some(RANDOM_RATE_MAX),
            Arrivals::Gamma(_) => Some(GAMMA_RATE_MAX),
        };
        for (place, law) in sequence.0.iter().enumerate() {
            pieces.push_law(law, place)?;
            if let Some(most) = most.filter(|most| pieces.has_faster_than(*most)) {
                return Err(ScheduleError::TooManyDraws { piece: place, most });
            }
        }
        Ok(Self {
            pieces: pieces.finish()?,
            gaps: Gaps::new(arrivals, seed),
        })
    }

    /// The time when arrival `n` is due, or `None` if the schedule has fewer arrivals.
    ///
    /// Constant arrivals take one inversion; a random process is drawn from its start.
    #[must_use]
    pub fn start_of(&self, n: u64) -> Option<Nanos> {
        if self.gaps.is_some() {
            return self.walk(|due| due.index < n).map(|due| due.at);
        }
        let after = self.pieces.partition_point(|piece| piece.first <= n);
        let piece = self.pieces.get(after.checked_sub(1)?)?;
        let local = n - piece.first;
        (local < piece.count).then(|| Nanos(piece.arrival(local)))
    }

    /// The number of arrivals due before `t`; the cost is the same as for [`Schedule::start_of`].
    #[must_use]
    pub fn count_before(&self, t: Nanos) -> u64 {
        if self.gaps.is_none() {
            return self.pieces.iter().map(|p| p.count_before(t.0)).sum();
        }
        let mut count = 0;
        self.walk(|due| {
            let before = due.at < t;
            count += u64::from(before);
            before
        });
        count
    }

    /// The number of arrivals, or `None` if it is unknown before the run: the last piece has no
    /// end, a piece is unlimited, or the number is random.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        let random =
            |piece: &Piece| self.gaps.is_some() && matches!(piece.kind, PieceKind::Curve(_));
        let unknown = |piece: &Piece| {
            piece.end == u64::MAX || matches!(piece.kind, PieceKind::Unlimited) || random(piece)
        };
        if self.pieces.iter().any(unknown) {
            return None;
        }
        self.pieces.last().map(|piece| piece.first + piece.count)
    }

    /// The sum of all durations, or `None` if the last piece has no end.
    ///
    /// `once` has no duration, and `trace` lasts until its last arrival.
    #[must_use]
    pub fn duration(&self) -> Option<Nanos> {
        let end = self.pieces.last()?.end;
        (end != u64::MAX).then_some(Nanos(end))
    }

    /// A copy that ends at `end`, if its last piece has no end.
    #[must_use]
    pub(crate) fn ended_at(&self, end: Nanos) -> Self {
        let mut pieces = self.pieces.to_vec();
        if let Some(last) = pieces.last_mut().filter(|last| last.end == u64::MAX) {
            last.end_at(end.0);
        }
        Self {
            pieces: pieces.into(),
            gaps: self.gaps.clone(),
        }
    }

    /// The rate at `t` in arrivals per second, for display: infinite in an unlimited piece, the
    /// mean over a whole trace, 0 after the end.
    #[must_use]
    pub fn rate_at(&self, t: Nanos) -> f64 {
        let current = self.pieces.partition_point(|piece| piece.end <= t.0);
        let Some(piece) = self.pieces.get(current) else {
            return 0.0;
        };
        let per_nano = match &piece.kind {
            PieceKind::Curve(curve) => curve.rate_at(t.0 - piece.start),
            PieceKind::Trace(_) => piece.count as f64 / piece.span() as f64,
            PieceKind::Stairs(stairs) => stairs.rate_at(t.0 - piece.start),
            PieceKind::Once => 0.0,
            PieceKind::Unlimited => f64::INFINITY,
        };
        per_nano * 1e9
    }

    /// The share of worker `worker`, from 0, of `of` workers: arrivals n ≡ worker (mod of).
    ///
    /// # Panics
    /// If `worker` is not below `of`.
    #[must_use]
    pub fn segment(&self, worker: u32, of: u32) -> Segment {
        Segment::new(Arc::clone(&self.pieces), self.gaps.clone(), worker, of)
    }

    /// Whether arrivals are random.
    pub(crate) fn is_random(&self) -> bool {
        self.gaps.is_some()
    }

    /// Visits the arrivals in order and returns the first one for which `pass` is false.
    fn walk(&self, mut pass: impl FnMut(crate::Due) -> bool) -> Option<crate::Due> {
        let mut segment = self.segment(0, 1);
        loop {
            match segment.peek() {
                Next::At(due) if !pass(due) => return Some(due),
                Next::End => return None,
                Next::At(_) | Next::Unlimited { .. } => segment.advance(),
            }
        }
    }
}
