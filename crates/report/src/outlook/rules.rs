//! Rules that can't hold: their quantiles need more samples than the plan intends to start.
//!
//! Such a rule fails at the end of the run however fast the target is. Only what is certain is
//! reported: a number of arrivals that is not known, or requests of an iteration, of which there
//! may be many, are taken to be enough.

use crate::quantity::{count, counted};
use drumfire_measure::count_needed;
use drumfire_plan::{Metric, Plan, Pool, Times};
use drumfire_units::Nanos;

/// The arrivals of a pool, as far as they are known before the run.
pub(super) struct Starts {
    /// The number of requests or iterations that start.
    pub(super) count: Option<u64>,
    /// The time within which they do.
    pub(super) within: Option<Nanos>,
}

impl Starts {
    /// The number of them that a window holds on average; all of them where the rule has no window.
    fn in_window(&self, window: Option<Nanos>) -> Option<u64> {
        let Some(window) = window else {
            return self.count;
        };
        let (count, within) = (self.count?, self.within?);
        let held = u128::from(count) * u128::from(window.min(within).0);
        u64::try_from(held.div_ceil(u128::from(within.0.max(1)))).ok()
    }
}

/// A sentence for each rule that has too few samples; `starts` has an entry for each pool.
pub(super) fn without_samples(plan: &Plan, starts: &[Starts]) -> Vec<String> {
    let rules = plan.thresholds().iter();
    let sentences = rules.filter_map(|rule| {
        let aim = Aim::of(&rule.metric)?;
        let mut samples = 0_u64;
        for (pool, starts) in plan.pools().iter().zip(starts) {
            if aim.means(pool) {
                let starts = starts.in_window(rule.window);
                samples = samples.saturating_add(aim.samples(pool, starts)?);
            }
        }
        let needed = count_needed(aim.quantile);
        let noun = match aim.is_of_iterations {
            true => "iteration",
            false => "request",
        };
        (samples < needed).then(|| {
            let within = match rule.window {
                Some(_) => " in a window",
                None => "",
            };
            format!(
                "the rule `{}` needs {} samples, and there are {}{within}",
                rule.expression,
                count(needed),
                counted(samples, noun)
            )
        })
    });
    sentences.collect()
}

/// The times of which a rule takes a quantile.
struct Aim<'a> {
    pool: Option<&'a str>,
    is_of_iterations: bool,
    quantile: f64,
}

impl<'a> Aim<'a> {
    /// The aim of a metric; `None` where it is no quantile of requests or iterations, as that of
    /// connections.
    fn of(metric: &'a Metric) -> Option<Self> {
        match metric {
            Metric::Quantile(quantile) => Some(Self {
                pool: None,
                is_of_iterations: false,
                quantile: *quantile,
            }),
            Metric::Of(Times::Connect, _) => None,
            Metric::Of(_, inner) | Metric::Step(_, inner) => Self::of(inner),
            Metric::Iteration(inner) => Some(Self {
                is_of_iterations: true,
                ..Self::of(inner)?
            }),
            Metric::Pool(name, inner) => Some(Self {
                pool: Some(name),
                ..Self::of(inner)?
            }),
            _ => None,
        }
    }

    /// Whether the times of a pool are among them.
    fn means(&self, pool: &Pool) -> bool {
        let has_some = !self.is_of_iterations || pool.program.has_steps();
        has_some && self.pool.is_none_or(|name| name == pool.name)
    }

    /// The number of samples that a pool gives at most, where that is known: the number of requests
    /// that an iteration sends is not.
    fn samples(&self, pool: &Pool, starts: Option<u64>) -> Option<u64> {
        let is_known = self.is_of_iterations || !pool.program.has_steps();
        starts.filter(|_| is_known)
    }
}
