//! A compiled piece: a law, its start and end, and the number of its arrivals.

use crate::ScheduleError;
use crate::curve::{Curve, Line};
use crate::level::{Level, level_of};
use crate::ratio::{Ratio, common};
use crate::sine::Sine;
use crate::stairs::Stairs;
use drumfire_plan::Law;
use drumfire_units::{Nanos, Rate};
use std::sync::Arc;

/// The limit of the sum of all durations, in nanoseconds: about 146 years.
const TIME_LIMIT: u64 = 1 << 62;
/// The limit of the sum of all arrivals.
const COUNT_LIMIT: u64 = 1 << 63;

/// A law with its start and end.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The start, in nanoseconds from the run's start.
    pub(crate) start: u64,
    /// The end, in nanoseconds from the run's start; `u64::MAX` without an end.
    pub(crate) end: u64,
    /// The number of the first arrival, for constant arrivals.
    pub(crate) first: u64,
    /// The number of arrivals, for constant arrivals.
    pub(crate) count: u64,
    /// The level that the piece's process must stay below.
    pub(crate) end_level: Level,
    pub(crate) kind: PieceKind,
}

/// The law of a piece.
#[derive(Clone, Debug)]
pub(crate) enum PieceKind {
    /// Arrivals according to a cumulative law.
    Curve(Curve),
    /// All arrivals at once.
    Once,
    /// Arrivals at given times, ascending.
    Trace(Arc<[Nanos]>),
    /// Steps that count their arrivals together, from 1.
    Stairs(Arc<Stairs>),
    /// As fast as the users allow.
    Unlimited,
}

impl Piece {
    /// The duration; `u64::MAX` minus `start` without an end.
    pub(crate) fn span(&self) -> u64 {
        self.end - self.start
    }

    /// The time when arrival `n` of the piece is due, from the run's start; `n` must be below
    /// `count`.
    #[inline]
    pub(crate) fn arrival(&self, n: u64) -> u64 {
        let span = self.span();
        let local = match &self.kind {
            PieceKind::Curve(curve) => curve.inverse(level_of(n), span).unwrap_or(span),
            PieceKind::Trace(times) => {
                let time = usize::try_from(n).ok().and_then(|n| times.get(n));
                time.map_or(span, |time| time.0)
            }
            PieceKind::Stairs(stairs) => stairs.arrival(n).min(span),
            PieceKind::Once | PieceKind::Unlimited => 0,
        };
        self.start + local
    }

    /// The number of arrivals due before `t`, a time from the run's start.
    pub(crate) fn count_before(&self, t: u64) -> u64 {
        let Some(local) = t.checked_sub(self.start).filter(|&local| local > 0) else {
            return 0;
        };
        match &self.kind {
            PieceKind::Curve(_) if t >= self.end => self.count,
            PieceKind::Curve(curve) => count_at(curve, local).min(self.count),
            PieceKind::Trace(times) => times.partition_point(|time| time.0 < local) as u64,
            PieceKind::Stairs(stairs) => stairs.count_before(local).min(self.count),
            PieceKind::Once | PieceKind::Unlimited => self.count,
        }
    }
}

impl Piece {
    /// Sets the end of a piece without an end, but not before its start.
    pub(crate) fn end_at(&mut self, end: u64) {
        let end = end.max(self.start);
        self.count = self.count_before(end);
        self.end = end;
        if let PieceKind::Curve(curve) = &self.kind {
            self.end_level = curve.level_at(end - self.start);
        }
    }
}

/// The least n with N(t) ≤ n, at most [`COUNT_LIMIT`]: the number of arrivals due before `t`.
fn count_at(curve: &Curve, t: u64) -> u64 {
    let (mut low, mut high) = (0, COUNT_LIMIT);
    while low < high {
        let middle = low + (high - low) / 2;
        if curve.at_most(t, level_of(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The pieces compiled so far; each starts at the end of the previous piece.
#[derive(Debug, Default)]
pub(crate) struct PieceList {
    done: Vec<Piece>,
    end: u64,
    count: u64,
}

impl PieceList {
    /// Compiles and adds a law; `place` is the law's position, for messages.
    pub(crate) fn push_law(&mut self, law: &Law, place: usize) -> Result<(), ScheduleError> {
        let ratio =
            |rate: Rate| Ratio::from_rate(rate).ok_or(ScheduleError::TooFine { piece: place });
        match law {
            Law::Const { rate, duration } => {
                self.push_curve(Curve::Even(ratio(*rate)?), *duration, place)
            }
            Law::Line { from, to, duration } => {
                let ends = [ratio(*from)?, ratio(*to)?];
                self.push_line(ends, *duration, place)
            }
            Law::Step {
                from,
                to,
                by,
                duration,
            } => {
                if *duration == Nanos::MAX {
                    return Err(ScheduleError::NoSpan { piece: place });
                }
                for level in levels([ratio(*from)?, ratio(*to)?, ratio(*by)?], place)? {
                    self.push_curve(Curve::Even(level), *duration, place)?;
                }
                Ok(())
            }
            Law::Once { count } => self.push(PieceKind::Once, Nanos::ZERO, *count, place),
            Law::Unlimited { duration } => self.push(PieceKind::Unlimited, *duration, 0, place),
            Law::Sine {
                mean,
                amplitude,
                period,
                duration,
            } => {
                let curve = sine(ratio(*mean)?, ratio(*amplitude)?, *period, place)?;
                self.push_curve(curve, *duration, place)
            }
            Law::Trace { times } => self.push_trace(times, place),
            Law::Stairs { steps } => self.push_stairs(steps, place),
        }
    }

    /// Whether the rate of any piece exceeds `limit` arrivals per second.
    pub(crate) fn has_faster_than(&self, limit: u64) -> bool {
        let is_faster =
            |kind: &PieceKind| matches!(kind, PieceKind::Curve(curve) if curve.exceeds(limit));
        self.done.iter().any(|piece| is_faster(&piece.kind))
    }

    /// The pieces, in order.
    pub(crate) fn finish(self) -> Result<Arc<[Piece]>, ScheduleError> {
        if self.done.is_empty() {
            return Err(ScheduleError::Empty);
        }
        Ok(self.done.into())
    }

    fn push_line(
        &mut self,
        ends: [Ratio; 2],
        duration: Nanos,
        place: usize,
    ) -> Result<(), ScheduleError> {
        if duration == Nanos::MAX {
            return Err(ScheduleError::NoSpan { piece: place });
        }
        if duration == Nanos::ZERO {
            return self.push_curve(Curve::Even(ends[0]), duration, place);
        }
        if duration.0 >= TIME_LIMIT {
            return Err(ScheduleError::TooLong { piece: place });
        }
        let ([from, to], per) = common(ends).ok_or(ScheduleError::TooFine { piece: place })?;
        let span = duration.0;
        let line = Line {
            from,
            to,
            per,
            span,
        };
        self.push_curve(Curve::Line(line), duration, place)
    }

    fn push_trace(&mut self, times: &Arc<[Nanos]>, place: usize) -> Result<(), ScheduleError> {
        if let Some(earlier) = times.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(ScheduleError::TraceOrder {
                piece: place,
                index: earlier + 1,
            });
        }
        let last = times.last().copied().unwrap_or_default();
        if last.0 >= TIME_LIMIT {
            return Err(ScheduleError::TooLong { piece: place });
        }
        let count = times.len() as u64;
        self.push(PieceKind::Trace(Arc::clone(times)), last, count, place)
    }

    fn push_stairs(&mut self, steps: &[(Rate, Nanos)], place: usize) -> Result<(), ScheduleError> {
        let stairs = Stairs::new(steps, place)?;
        let (end, room) = (stairs.end(), COUNT_LIMIT - self.count);
        let count = match end {
            Some(_) => stairs.count(),
            None => stairs.count().min(room), // its end is out of range
        };
        let duration = end.map_or(Nanos::MAX, Nanos);
        self.push(PieceKind::Stairs(Arc::new(stairs)), duration, count, place)
    }

    fn push_curve(
        &mut self,
        curve: Curve,
        duration: Nanos,
        place: usize,
    ) -> Result<(), ScheduleError> {
        let span = duration.0.min(u64::MAX - self.end);
        let count = match (count_at(&curve, span), duration) {
            (count, Nanos::MAX) => count.min(COUNT_LIMIT - self.count), // its end is out of range
            (COUNT_LIMIT, _) => return Err(ScheduleError::TooManyArrivals { piece: place }),
            (count, _) => count,
        };
        let end_level = curve.level_at(span);
        self.push(PieceKind::Curve(curve), duration, count, place)?;
        if let Some(piece) = self.done.last_mut() {
            piece.end_level = end_level;
        }
        Ok(())
    }

    /// Adds a piece after the last one, within the limits.
    fn push(
        &mut self,
        kind: PieceKind,
        duration: Nanos,
        count: u64,
        place: usize,
    ) -> Result<(), ScheduleError> {
        if self.end == u64::MAX {
            return Err(ScheduleError::NeverEnds {
                piece: place.saturating_sub(1),
            });
        }
        let start = self.end;
        let end = start.saturating_add(duration.0);
        if duration != Nanos::MAX && end >= TIME_LIMIT {
            return Err(ScheduleError::TooLong { piece: place });
        }
        let first = self.count;
        let after = first.checked_add(count).filter(|&n| n <= COUNT_LIMIT);
        self.count = after.ok_or(ScheduleError::TooManyArrivals { piece: place })?;
        self.end = end;
        self.done.push(Piece {
            start,
            end,
            first,
            count,
            end_level: 0,
            kind,
        });
        Ok(())
    }
}

/// The rates of a `step`: `from`, `from ± by` … up to `to`.
fn levels(rates: [Ratio; 3], place: usize) -> Result<Vec<Ratio>, ScheduleError> {
    let fine = ScheduleError::TooFine { piece: place };
    let ([from, to, by], per) = common(rates).ok_or_else(|| fine.clone())?;
    let changes = from.abs_diff(to).checked_div(by).unwrap_or(u64::MAX);
    let changes = if from == to { 0 } else { changes };
    if changes >= ScheduleError::STEPS_MAX {
        return Err(ScheduleError::TooManySteps { piece: place });
    }
    (0..=changes)
        .map(|k| {
            let change = k * by; // at most |to − from|
            let events = if to < from {
                from - change
            } else {
                from + change
            };
            Ratio::new(u128::from(events), u128::from(per)).ok_or_else(|| fine.clone())
        })
        .collect()
}

/// A sine law within the limits.
fn sine(
    mean: Ratio,
    amplitude: Ratio,
    period: Nanos,
    place: usize,
) -> Result<Curve, ScheduleError> {
    if period == Nanos::ZERO || period.0 >= TIME_LIMIT {
        return Err(ScheduleError::NoSpan { piece: place });
    }
    let products = |a: Ratio, b: Ratio| u128::from(a.events) * u128::from(b.per);
    if products(amplitude, mean) > products(mean, amplitude) {
        return Err(ScheduleError::NegativeRate { piece: place });
    }
    Ok(Curve::Sine(Sine::new(mean, amplitude, period.0)))
}
