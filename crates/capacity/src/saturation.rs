//! The rate at which a target that is overloaded ends requests: what it does at most.

use crate::Observation;
use drumfire_units::Nanos;

/// The part of the asked rate below which a target that falls behind counts as overloaded.
const PART: f64 = 0.93;
/// Requests that were due so long ago are a queue that grows, and no chance.
const QUEUE: Nanos = Nanos::from_millis(200);

/// What was seen of an overloaded target.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Saturation {
    ended: f64,
    seconds: f64,
}

impl Saturation {
    /// Takes note of an interval whose rate had held before it began.
    pub(crate) fn observe(&mut self, seen: &Observation) {
        let seconds = seen.span.as_secs_f64();
        let (ended, due) = (seen.ended as f64, seen.rate * seconds);
        if seen.overdue(QUEUE) > 0.0 && ended < PART * due {
            self.ended += ended;
            self.seconds += seconds;
        }
    }

    /// The rate, per second; `None` where the target was never overloaded.
    pub(crate) fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0 && self.ended > 0.0).then(|| self.ended / self.seconds)
    }
}
