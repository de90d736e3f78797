//! The terms of a search: its objectives, its rates and its times.

use drumfire_units::Nanos;

/// The minimum number of requests before a step can decide anything.
pub(crate) const STEP_REQUESTS: f64 = 10.0;
/// The numbers of doublings, finer steps and drains in the announced time, and the seconds of a
/// drain.
const DOUBLINGS: i32 = 10;
const FINER: f64 = 4.0;
const DRAINS: f64 = 2.0;
const DRAIN: f64 = 5.0;
/// The seconds by which a step takes longer than planned, because commands take effect with a
/// delay.
const STEP_MORE: f64 = 1.0;
/// The maximum time of a search, as a multiple of the announced time.
const LATEST: f64 = 2.0;

/// An objective: at most this share of the requests may be beyond a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slo {
    /// The allowed share of requests beyond the bound, above 0 and below 1: 0.01 for a p99.
    pub share: f64,
    /// The bound, if it is a response time; older requests without an answer are then also beyond
    /// it. `None` for other times and for failures.
    pub response: Option<Nanos>,
}

impl Slo {
    /// The minimum number of requests for judging the share: if none of them is beyond, the share
    /// is below the allowed one with a confidence of 97.5 %. 368 for a p99.
    #[must_use]
    pub fn requests_min(&self) -> f64 {
        (0.025_f64.ln() / (1.0 - self.share).ln()).ceil()
    }
}

/// The terms of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The objectives, at least one. All of them must be kept.
    pub slos: Vec<Slo>,
    /// The first rate, per second; greater than 0.
    pub from: f64,
    /// The maximum rate, per second; at least the first rate.
    pub most: f64,
    /// The length of a step of the bracket.
    pub step: Nanos,
    /// The length of the hold.
    pub hold: Nanos,
    /// The length of the confirmation.
    pub confirm: Nanos,
}

impl Terms {
    /// The announced time of a search: a climb of ten doublings, finer steps and drains, the hold,
    /// and twice the confirmation, which usually takes longer. At low rates, a step lasts until it
    /// has enough requests.
    #[must_use]
    pub fn announced(&self) -> Nanos {
        let doublings = (self.most / self.from).log2().ceil();
        let steps = (0..=DOUBLINGS.min(doublings.max(0.0) as i32)).map(|step| {
            let rate = (self.from * 2.0_f64.powi(step)).min(self.most);
            self.step_seconds(rate)
        });
        let finer = FINER * self.step_seconds(self.most) + DRAINS * DRAIN;
        let seconds = steps.sum::<f64>() + finer;
        Nanos((seconds * 1e9) as u64 + self.hold.0 + 2 * self.confirm.0)
    }

    /// The maximum time of a search.
    #[must_use]
    pub fn latest(&self) -> Nanos {
        Nanos((self.announced().as_secs_f64() * LATEST * 1e9) as u64)
    }

    fn step_seconds(&self, rate: f64) -> f64 {
        self.step.as_secs_f64().max(STEP_REQUESTS / rate) + STEP_MORE
    }

    /// The shortest bound of response times, in seconds.
    pub(crate) fn bound(&self) -> Option<f64> {
        let bounds = self.slos.iter().filter_map(|slo| slo.response);
        bounds.min().map(Nanos::as_secs_f64)
    }
}
