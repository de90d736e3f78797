//! The rate at which an overloaded target ends requests: its maximum throughput.

use crate::Observation;

/// A target is overloaded if it ends less than this fraction of the due requests.
const PART: f64 = 0.93;
/// Outstanding requests of at least this many seconds of the load are a growing queue, not chance.
const QUEUE: f64 = 0.2;
/// The number of standard errors by which the throughput may be wrong.
const ERRORS: f64 = 2.0;

/// The throughput of an overloaded target.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Saturation {
    ended: f64,
    seconds: f64,
}

impl Saturation {
    /// Adds an interval of a rate that took effect before the interval began. Call this only when
    /// the ended requests are of this rate.
    pub(crate) fn observe(&mut self, seen: &Observation) {
        let (ended, due) = (seen.ended as f64, seen.due as f64);
        if seen.outstanding as f64 > QUEUE * seen.rate && ended < PART * due {
            self.ended += ended;
            self.seconds += seen.span.as_secs_f64();
        }
    }

    /// Adds an interval in which a queue was drained that existed at both of its ends.
    pub(crate) fn drain(&mut self, seen: &Observation) {
        self.ended += seen.ended as f64;
        self.seconds += seen.span.as_secs_f64();
    }

    /// Adds the measurements of another step.
    pub(crate) fn add(&mut self, other: Self) {
        self.ended += other.ended;
        self.seconds += other.seconds;
    }

    /// The throughput, per second; `None` if the target was never overloaded.
    pub(crate) fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0 && self.ended > 0.0).then(|| self.ended / self.seconds)
    }

    /// The bounds of the throughput, by the number of requests it was measured with.
    pub(crate) fn bounds(&self) -> Option<(f64, f64)> {
        let rate = self.rate()?;
        let off = ERRORS / self.ended.sqrt();
        Some((rate * (1.0 - off).max(0.1), rate * (1.0 + off)))
    }
}
