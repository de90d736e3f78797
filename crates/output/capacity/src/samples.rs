//! The samples of one objective: the number of requests beyond the objective at each rate, over
//! time.
//!
//! Near the capacity the share beyond an objective grows exponentially with the logarithm of the
//! rate (the *level*):
//!
//! ```text
//! share(level) = allowed · exp(elasticity · (level − capacity))
//! ```
//!
//! The estimate of the capacity is the level at which the model expects as many requests beyond as
//! were observed, summed over all samples. For a constant rate, this is the rate corrected by the
//! observed share; for a varying rate, it is the mean of the logarithm, corrected for the
//! curvature.
//!
//! The elasticity cannot be estimated from the same samples: the control lowers the rate after
//! large shares, so chance alone makes low rates coincide with high shares. It follows from the
//! shape of the tail instead. A queue that is nearly full waits in proportion to 1 / (1 − ρ), where
//! ρ is the load divided by the maximum throughput of the target. The share beyond a time t is then
//! F(t · (1 − ρ)), and its elasticity g · ρ / (1 − ρ), with g = −d ln share / d ln t.

/// The requests of an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntervalSample {
    /// The length of the interval, in seconds.
    pub(crate) seconds: f64,
    /// The logarithm of its rate.
    pub(crate) level: f64,
    /// The requests beyond the objective, beyond three quarters of it, and in total.
    pub(crate) beyond: f64,
    pub(crate) near: f64,
    pub(crate) of: f64,
}

/// The samples of one objective, ordered by time.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectiveSamples {
    list: Vec<IntervalSample>,
}

/// The number added to a count of requests beyond, so that 0 has a logarithm.
const CONTINUITY: f64 = 0.5;
/// The maximum distance of a control estimate below the mean tried level, and above the highest
/// tried level.
const BELOW: f64 = 0.7;
const ABOVE: f64 = 0.1;
/// The length of a block for measuring the dispersion of requests beyond, in seconds, and the
/// number of blocks in a short time.
const BLOCK: f64 = 5.0;
const BLOCKS: f64 = 24.0;
/// The value of ρ if the target was never overloaded: the objective was then not missed because of
/// a full queue.
const LOAD: f64 = 0.8;
/// The maximum ρ: closer to 1, the share is a step.
const LOAD_MAX: f64 = 0.98;
/// The range of elasticities; 5 is a heavy tail, 95 an M/D/1 queue with a p99.
const ELASTICITY: (f64, f64) = (3.0, 110.0);
/// The maximum weight of an interval for the tail, as a multiple of the allowed share…
const BURST: f64 = 20.0;
/// …and intervals in which a larger part came near the bound have no weight: if all requests are
/// late, the tail has no shape.
const NEAR_MAX: f64 = 0.5;
/// The minimum slope of the tail: 2.4 is a heavy tail, 4.6 an exponential tail with a p99.
const TAIL_MIN: f64 = 1.5;
/// The weight of the exponential tail that is assumed initially: this many requests, plus this
/// fraction of the requests that may be beyond.
const PRIOR: (f64, f64) = (20.0, 0.1);

/// The confidence of an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sure {
    /// 95 %: at most 3.0 events if none came, 17.0 if 10 came.
    Interval,
    /// 97.5 %: at most 3.7 events if none came, 18.4 if 10 came.
    Proof,
}

impl Sure {
    /// The upper bound of the mean number of independent events if `events` came (Poisson, accurate
    /// to some hundredths).
    pub(crate) fn most(self, events: f64) -> f64 {
        let (errors, none) = match self {
            Self::Interval => (1.645, 1.84),
            Self::Proof => (1.96, 2.3),
        };
        events + errors * (events + 0.5).sqrt() + none
    }
}

impl ObjectiveSamples {
    pub(crate) fn push(&mut self, sample: IntervalSample) {
        self.list.push(sample);
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }

    pub(crate) fn last(&self) -> Option<&IntervalSample> {
        self.list.last()
    }

    /// The length of all samples, in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.sum(|sample| sample.seconds)
    }

    /// The number of requests beyond the objective.
    pub(crate) fn beyond(&self) -> f64 {
        self.sum(|sample| sample.beyond)
    }

    /// The number of all requests.
    pub(crate) fn total(&self) -> f64 {
        self.sum(|sample| sample.of)
    }

    /// The share beyond the objective; 0 without requests.
    pub(crate) fn share(&self) -> f64 {
        self.beyond() / self.total().max(1.0)
    }

    /// How much more the requests beyond scatter than independent ones would: the variance of their
    /// number in a block of seconds, divided by its mean; at least 1. A burst counts as one event.
    pub(crate) fn dispersion(&self) -> f64 {
        let length = (self.seconds() / BLOCKS).clamp(1.0, BLOCK);
        let (mut blocks, mut seconds) = (vec![0.0], 0.0);
        for sample in &self.list {
            if seconds + 1e-6 >= length {
                blocks.push(0.0);
                seconds = 0.0;
            }
            seconds += sample.seconds;
            if let Some(newest) = blocks.last_mut() {
                *newest += sample.beyond;
            }
        }
        let count = blocks.len() as f64;
        let mean = blocks.iter().sum::<f64>() / count;
        if mean <= 0.0 || count < 2.0 {
            return 1.0;
        }
        let squares: f64 = blocks.iter().map(|block| (block - mean).powi(2)).sum();
        (squares / (count - 1.0) / mean).max(1.0)
    }

    /// The number of independent events among the requests beyond.
    pub(crate) fn events(&self) -> f64 {
        self.beyond() / self.dispersion()
    }

    /// The upper bound of the expected requests beyond, if a burst has at least `burst` requests.
    pub(crate) fn beyond_most(&self, sure: Sure, burst: f64) -> f64 {
        let dispersion = self.dispersion().max(burst);
        dispersion * sure.most(self.beyond() / dispersion)
    }

    /// The lower bound of the expected requests beyond, at this number of standard errors.
    pub(crate) fn beyond_least(&self, errors: f64) -> f64 {
        let dispersion = self.dispersion();
        let events = self.beyond() / dispersion;
        dispersion * (events - errors * events.sqrt()).max(0.0)
    }

    /// Whether some requests came near the bound without being beyond. If so, there is a tail of
    /// times instead of only failures.
    pub(crate) fn has_tail(&self) -> bool {
        self.list.iter().any(|sample| sample.near > sample.beyond)
    }

    /// The number of requests beyond in the newest samples of this many seconds, and of all
    /// requests in them.
    pub(crate) fn newest(&self, seconds: f64) -> (f64, f64) {
        let mut left = seconds;
        let newest = self.list.iter().rev().take_while(|sample| {
            let is_within = left > 0.0;
            left -= sample.seconds;
            is_within
        });
        newest.fold((0.0, 0.0), |(beyond, of), sample| {
            (beyond + sample.beyond, of + sample.of)
        })
    }

    /// The highest level of a sample; `None` without samples.
    pub(crate) fn top(&self) -> Option<f64> {
        let levels = self.list.iter().map(|sample| sample.level);
        levels.max_by(f64::total_cmp)
    }

    /// Removes requests that had crossed the bound without an answer from the newest sample.
    pub(crate) fn forgive(&mut self, crossed: f64) {
        if let Some(newest) = self.list.last_mut() {
            newest.beyond = (newest.beyond - crossed).max(0.0);
            newest.near = (newest.near - crossed).max(newest.beyond);
            newest.of = (newest.of - crossed).max(newest.beyond);
        }
    }

    /// Adds later samples.
    pub(crate) fn extend(&mut self, later: &Self) {
        self.list.extend_from_slice(&later.list);
    }

    /// The number of samples.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The mean level of the requests; `None` without requests.
    pub(crate) fn centre(&self) -> Option<f64> {
        let of = self.total();
        (of > 0.0).then(|| self.sum(|sample| sample.of * sample.level) / of)
    }

    /// The first `count` samples.
    pub(crate) fn first(&self, count: usize) -> Self {
        Self {
            list: self.list[..count.min(self.list.len())].to_vec(),
        }
    }

    /// The level at which the share `allowed` of the requests is beyond, limited to the
    /// neighbourhood of the tried levels for the control; `None` without requests.
    pub(crate) fn level(&self, allowed: f64, elasticity: f64) -> Option<f64> {
        let (centre, top) = (self.centre()?, self.top()?);
        let level = self.level_with(self.beyond(), allowed, elasticity)?;
        Some(level.clamp(centre - BELOW, top + ABOVE))
    }

    /// The level at which the share `allowed` would be beyond, if `beyond` requests had been.
    pub(crate) fn level_with(&self, beyond: f64, allowed: f64, elasticity: f64) -> Option<f64> {
        let centre = self.centre()?;
        Some(level_of(&self.list, beyond, centre, allowed, elasticity))
    }

    /// The standard error of that level, from a block jackknife: each of `parts` consecutive parts
    /// is left out in turn. Neighbouring samples depend on each other, but parts of many seconds
    /// hardly do. `None` with fewer than three parts.
    pub(crate) fn error(&self, allowed: f64, elasticity: f64, parts: usize) -> Option<f64> {
        let size = self.list.len().div_ceil(parts.max(1)).max(1);
        let count = self.list.len().div_ceil(size);
        let centre = self.centre()?;
        if count < 3 {
            return None;
        }
        let without = |part: usize| {
            let rest = self.list.iter().enumerate();
            let rest = rest.filter(move |(at, _)| at / size != part);
            let rest: Vec<IntervalSample> = rest.map(|(_, sample)| *sample).collect();
            let beyond = rest.iter().map(|sample| sample.beyond).sum();
            level_of(&rest, beyond, centre, allowed, elasticity)
        };
        let levels: Vec<f64> = (0..count).map(without).collect();
        let mean = levels.iter().sum::<f64>() / count as f64;
        let squares: f64 = levels.iter().map(|level| (level - mean).powi(2)).sum();
        Some((squares * (count - 1) as f64 / count as f64).sqrt())
    }

    /// The levels of consecutive parts of the first `count` samples.
    pub(crate) fn levels(
        &self,
        count: usize,
        parts: usize,
        allowed: f64,
        elasticity: f64,
    ) -> Vec<f64> {
        let list = &self.list[..count.min(self.list.len())];
        let parts = list.chunks(list.len().div_ceil(parts.max(1)).max(1));
        let each = parts.filter_map(|part| {
            let part = Self {
                list: part.to_vec(),
            };
            part.level_with(part.beyond(), allowed, elasticity)
        });
        each.collect()
    }

    /// The elasticity of the share at a level. `saturation` is the rate at which the target is
    /// saturated, if known; `allowed` is the share of the initially assumed exponential tail. The
    /// shape of the tail comes from these samples and from `before`.
    pub(crate) fn elasticity(
        &self,
        before: &Self,
        level: f64,
        allowed: f64,
        saturation: Option<f64>,
    ) -> f64 {
        let load = saturation.map_or(LOAD, |rate| (level.exp() / rate).clamp(0.05, LOAD_MAX));
        let (least, most) = ELASTICITY;
        (self.tail(before, allowed) * load / (1.0 - load)).clamp(least, most)
    }

    /// −d ln share / d ln t at the bound, from the requests beyond the bound and beyond three
    /// quarters of it; exact for an exponential tail.
    fn tail(&self, before: &Self, allowed: f64) -> f64 {
        let weight = |sample: &IntervalSample| match sample.near {
            near if near > NEAR_MAX * sample.of => 0.0,
            near if near > 0.0 => (BURST * allowed * sample.of / near).min(1.0),
            _ => 1.0,
        };
        let of = |of: &dyn Fn(&IntervalSample) -> f64| before.sum(of) + self.sum(of);
        let prior = PRIOR.0 + PRIOR.1 * allowed * of(&|sample| sample.of);
        let beyond = prior + of(&|sample| weight(sample) * sample.beyond);
        // exp(−θ·¾T) / exp(−θ·T) with exp(−θ·T) = allowed
        let near = prior * allowed.powf(-0.25) + of(&|sample| weight(sample) * sample.near);
        (4.0 * (near / beyond).ln()).max(TAIL_MIN)
    }

    fn sum(&self, of: impl Fn(&IntervalSample) -> f64) -> f64 {
        self.list.iter().map(of).sum()
    }
}

/// Σ of · allowed · exp(e · (level − capacity)) = beyond, solved for the capacity.
fn level_of(
    samples: &[IntervalSample],
    beyond: f64,
    centre: f64,
    allowed: f64,
    elasticity: f64,
) -> f64 {
    let each = samples
        .iter()
        .map(|sample| allowed * sample.of * (elasticity * (sample.level - centre)).exp());
    let expected: f64 = each.sum();
    centre + (expected.max(f64::MIN_POSITIVE) / (beyond + CONTINUITY)).ln() / elasticity
}

#[cfg(test)]
mod tests {
    use super::{CONTINUITY, IntervalSample, ObjectiveSamples};

    fn samples(list: impl IntoIterator<Item = (f64, f64, f64)>) -> ObjectiveSamples {
        let mut samples = ObjectiveSamples::default();
        for (rate, beyond, near) in list {
            samples.push(IntervalSample {
                seconds: 1.0,
                level: f64::ln(rate),
                beyond,
                near,
                of: rate,
            });
        }
        samples
    }

    /// Counts that follow share = α · (rate / capacity)^e give back the capacity, for any rates.
    #[test]
    fn counts_by_the_law_give_the_capacity() {
        let (capacity, elasticity, allowed) = (900.0, 40.0, 0.01);
        let rates = (0..200).map(|second| 880.0 + f64::from(second % 40));
        let list = rates.map(|rate| {
            let beyond = rate * allowed * f64::powf(rate / capacity, elasticity);
            (rate, beyond, beyond)
        });
        let level = samples(list).level(allowed, elasticity).expect("samples");
        assert!((level.exp() - capacity).abs() < 0.1, "{}", level.exp());
    }

    #[test]
    fn nothing_beyond_is_no_endless_capacity() {
        let none = samples((0..100).map(|_| (500.0, 0.0, 0.0)));
        let level = none.level(0.01, 5.0).expect("samples").exp();
        assert!(level > 500.0 && level < 556.0, "{level}: a tenth above");
        assert_eq!(ObjectiveSamples::default().level(0.01, 5.0), None);
    }

    /// The tail exp(−θ·t) falls by θ·T = −ln α as the logarithm of t grows by one.
    #[test]
    fn the_slope_of_an_exponential_tail_is_exact() {
        let allowed: f64 = 0.01;
        let list = (0..100_000).map(|_| (100.0, 1.0, 100.0 * allowed.powf(0.75)));
        let elasticity = samples(list).elasticity(
            &ObjectiveSamples::default(),
            90_f64.ln(),
            allowed,
            Some(100.0),
        );
        let expected = (1.0 / allowed).ln() * 0.9 / 0.1;
        assert!((elasticity / expected - 1.0).abs() < 0.01, "{elasticity}");
    }

    #[test]
    fn seconds_in_which_all_are_late_have_no_shape() {
        let none = ObjectiveSamples::default();
        let usual = || (0..50).map(|_| (100.0, 1.0, 3.0));
        let alone = samples(usual()).elasticity(&none, 4.5, 0.01, Some(100.0));
        let with = samples(usual().chain([(100.0, 100.0, 100.0)]));
        let with = with.elasticity(&none, 4.5, 0.01, Some(100.0));
        assert!((with / alone - 1.0).abs() < 0.01, "{with} {alone}");
    }

    #[test]
    fn an_error_takes_three_parts_and_grows_with_the_bursts() {
        let even = samples((0..80).map(|_| (100.0, 1.0, 1.0)));
        let bursts = samples((0..80).map(|second| match second % 20 {
            7 if second < 40 => (100.0, 40.0, 40.0),
            _ => (100.0, 0.0, 0.0),
        }));
        let error = |of: &ObjectiveSamples| of.error(0.01, 10.0, 8).expect("parts");
        assert!(error(&even) < 1e-6 + CONTINUITY * 1e-3, "{}", error(&even));
        assert!(error(&bursts) > 0.02, "{}", error(&bursts));
        let two = samples([(100.0, 1.0, 1.0), (100.0, 1.0, 1.0)]);
        assert_eq!(two.error(0.01, 10.0, 8), None);
    }
}
