//! Rules that can't hold: their quantiles need more samples than the plan intends to start.

use crate::quantity::{count, counted};
use drumfire_measure::count_needed;
use drumfire_plan::{Metric, Plan, Pool, Times};

/// A sentence for each of these rules; `starts` are the requests or iterations that each pool
/// starts, where that is known.
pub(super) fn without_samples(plan: &Plan, starts: &[Option<u64>]) -> Vec<String> {
    let rules = plan.thresholds().iter();
    let rules = rules.filter(|rule| rule.window.is_none());
    let sentences = rules.filter_map(|rule| {
        let aim = Aim::of(&rule.metric)?;
        let mut samples = 0_u64;
        for (pool, starts) in plan.pools().iter().zip(starts) {
            if aim.means(pool) {
                samples = samples.saturating_add(aim.samples(pool, *starts)?);
            }
        }
        let needed = count_needed(aim.quantile);
        let noun = match aim.is_of_iterations {
            true => "iteration",
            false => "request",
        };
        (samples < needed).then(|| {
            format!(
                "the rule `{}` needs {} samples, and there are {}",
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
