//! Rules that can't hold: their quantiles need more samples than the plan intends to start.

use crate::quantity::{count, counted};
use drumfire_measure::count_needed;
use drumfire_plan::{Metric, Plan, Pool, Times};
use drumfire_units::Nanos;

/// The number of things that a pool starts.
pub(super) struct Starts {
    /// How many requests or iterations, where that is known.
    pub(super) count: Option<u64>,
    /// Within which time, where that is known.
    pub(super) within: Option<Nanos>,
}

impl Starts {
    /// How many of them a window holds on average; all of them where there is none.
    fn in_window(&self, window: Option<Nanos>) -> Option<u64> {
        let Some(window) = window else {
            return self.count;
        };
        let (count, within) = (self.count?, self.within?);
        let held = u128::from(count) * u128::from(window.min(within).0);
        u64::try_from(held.div_ceil(u128::from(within.0.max(1)))).ok()
    }
}

/// A sentence for each of these rules; `starts` are the requests or iterations that each pool
/// starts.
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

/// The times that a quantile is taken of.
struct Aim<'a> {
    pool: Option<&'a str>,
    is_of_iterations: bool,
    quantile: f64,
}

impl<'a> Aim<'a> {
    /// None where the metric is no quantile of requests or iterations.
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

    fn means(&self, pool: &Pool) -> bool {
        let has_some = !self.is_of_iterations || pool.program.has_steps();
        has_some && self.pool.is_none_or(|name| name == pool.name)
    }

    /// How many samples a pool gives at most, where that is known: how many requests an iteration
    /// sends is not.
    fn samples(&self, pool: &Pool, starts: Option<u64>) -> Option<u64> {
        let is_known = self.is_of_iterations || !pool.program.has_steps();
        starts.filter(|_| is_known)
    }
}
