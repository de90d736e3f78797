//! A drain: a low rate, until the target has recovered from an overload.

use crate::samples::{IntervalSample, ObjectiveSamples};
use crate::saturation::Saturation;
use crate::{Observation, Slo};

/// The rate of a drain as a fraction of the last kept rate, and the rate of a long drain.
const RATE: f64 = 0.5;
const RATE_LOW: f64 = 0.2;
/// The fraction of the maximum length after which the lower rate applies.
const LOW_FROM: f64 = 0.25;
/// The minimum length of a drain, and the maximum, in seconds; the maximum grows with the time for
/// which requests stay. A drain is extended while the queue becomes shorter.
const SHORTEST: f64 = 1.5;
const MORE: f64 = 35.0;
/// A queue that became shorter by this fraction within the last `LOOK` seconds still drains.
const SHORTER: f64 = 0.03;
const LOOK: f64 = 15.0;
/// The newest seconds by which the target is judged, and the minimum number of requests in them,
/// for low rates.
const NEWEST: f64 = 3.0;
const NEWEST_REQUESTS: f64 = 5.0;
/// A queue of at most this many seconds of the load counts as empty.
const QUEUE: f64 = 0.5;

/// The state of a drain.
#[derive(Clone, Debug)]
pub(crate) struct DrainState {
    /// The last kept rate.
    kept: f64,
    pub(crate) rate: f64,
    pub(crate) samples: Vec<ObjectiveSamples>,
    seconds: f64,
    longest: f64,
    /// The outstanding requests at the beginning, and at the last check whether they have become
    /// fewer.
    began: f64,
    looked: f64,
    /// The throughput of the target while it drained its queue.
    pub(crate) saturation: Saturation,
    /// The usual number of outstanding requests at a rate of one per second, which is the time for
    /// which a request stays, in seconds.
    stay: f64,
}

/// The consequence of an interval of a drain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Drained {
    Stay,
    Rate(f64),
    /// The target has recovered, or at least its queue is short.
    Over,
    /// The target has not recovered, and this share of the newest requests is beyond an objective.
    Never(f64),
}

impl DrainState {
    /// Starts a drain of `outstanding` requests. `kept` is the last kept rate, and `stay` the time
    /// for which requests stay at that rate, in seconds.
    pub(crate) fn new(slos: usize, kept: f64, outstanding: f64, stay: f64) -> Self {
        Self {
            kept,
            rate: RATE * kept,
            samples: vec![ObjectiveSamples::default(); slos],
            seconds: 0.0,
            began: outstanding,
            looked: outstanding,
            saturation: Saturation::default(),
            longest: MORE + 2.0 * stay,
            stay,
        }
    }

    pub(crate) fn observe(
        &mut self,
        seen: &Observation,
        samples: &[IntervalSample],
        slos: &[Slo],
    ) -> Drained {
        for (all, sample) in self.samples.iter_mut().zip(samples) {
            all.push(*sample);
        }
        self.seconds += seen.span.as_secs_f64();
        let queue = seen.outstanding as f64 - 1.0;
        let is_short = queue <= (QUEUE + 2.0 * self.stay) * self.rate;
        let (share, is_bad) = self.newest(slos);
        if self.seconds < SHORTEST {
            return Drained::Stay;
        }
        if is_bad && !is_short {
            self.saturation.drain(seen);
        }
        if self.seconds >= self.longest && is_bad && queue < (1.0 - SHORTER) * self.looked {
            self.longest += LOOK;
            self.looked = queue;
        }
        let is_low = self.rate <= RATE_LOW * self.kept;
        match self.seconds >= self.longest {
            _ if !is_bad && is_short => Drained::Over,
            // Requests that hang are not a queue, because others are answered.
            true if !is_bad => Drained::Over,
            true => Drained::Never(share),
            false if !is_low && self.seconds > LOW_FROM * self.longest => {
                self.rate = RATE_LOW * self.kept;
                self.looked = queue;
                Drained::Rate(self.rate)
            }
            false => Drained::Stay,
        }
    }

    /// The share of the newest requests beyond an objective, and whether it is as large as under an
    /// overload, which also holds if no request is answered. Requests of the overload itself may
    /// fail until now and are not counted.
    fn newest(&self, slos: &[Slo]) -> (f64, bool) {
        let seconds = NEWEST.max(NEWEST_REQUESTS / self.rate);
        let mut worst = (0.0, false);
        for (all, slo) in self.samples.iter().zip(slos) {
            let (mut beyond, of) = all.newest(seconds);
            if slo.response.is_none() {
                beyond = beyond.min((all.beyond() - self.began).max(0.0));
            }
            let share = if of > 0.0 { beyond / of } else { 1.0 };
            if share >= worst.0 {
                worst = (share, share >= f64::midpoint(slo.share, 1.0).max(0.5));
            }
        }
        worst
    }
}
