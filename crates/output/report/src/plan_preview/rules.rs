//! Rules that can't hold: their quantiles need more samples than the plan intends to start.
//!
//! Such a rule fails at the end of the run however fast the target is. A rule is reported only if
//! this is certain: an unknown number of arrivals, or of requests in an iteration, is taken to be
//! enough. The requests of one step are counted by the choices of the seed.

use crate::quantity::{count, counted};
use drumfire_measure::count_needed;
use drumfire_plan::{Choice, Metric, Plan, Pool, Program, Scenarios, Step, Times};
use drumfire_units::Nanos;

/// The number of arrivals whose choices are computed. The others are taken to be alike.
const CHOICES_SEEN: u64 = 200_000;

/// The arrivals of a pool that are known before the run.
pub(super) struct Starts {
    /// The number of requests or iterations that start.
    pub(super) count: Option<u64>,
    /// The time within which they start.
    pub(super) within: Option<Nanos>,
}

impl Starts {
    /// The mean number of arrivals in a window; all arrivals for a rule without a window.
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
        let aim = QuantileAim::from_metric(&rule.metric)?;
        let mut samples = 0_u64;
        for (number, (pool, starts)) in plan.pools().iter().zip(starts).enumerate() {
            if aim.means(pool) {
                let starts = starts.in_window(rule.window);
                let seed = plan.seed_of(number);
                samples = samples.saturating_add(aim.samples(pool, starts, seed)?);
                // A step without a pool means the first pool that has the step.
                if aim.step.is_some() {
                    break;
                }
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
                "the rule `{}` needs {} samples, but gets only {}{within}",
                rule.expression,
                count(needed),
                counted(samples, noun)
            )
        })
    });
    sentences.collect()
}

/// The times whose quantile a rule tests.
struct QuantileAim<'a> {
    /// The pool's name; `None` means every pool.
    pool: Option<&'a str>,
    /// The step's name; `None` means every step.
    step: Option<&'a str>,
    is_of_iterations: bool,
    /// The quantile, from 0 to 1.
    quantile: f64,
}

impl<'a> QuantileAim<'a> {
    /// The aim of a metric; `None` if the metric is not a quantile of requests or iterations.
    fn from_metric(metric: &'a Metric) -> Option<Self> {
        match metric {
            Metric::Quantile(quantile) => Some(Self {
                pool: None,
                step: None,
                is_of_iterations: false,
                quantile: *quantile,
            }),
            Metric::Of(Times::Connect, _) => None,
            Metric::Of(_, inner) => Self::from_metric(inner),
            Metric::Step(name, inner) => Some(Self {
                step: Some(name),
                ..Self::from_metric(inner)?
            }),
            Metric::Iteration(inner) => Some(Self {
                is_of_iterations: true,
                ..Self::from_metric(inner)?
            }),
            Metric::Pool(name, inner) => Some(Self {
                pool: Some(name),
                ..Self::from_metric(inner)?
            }),
            _ => None,
        }
    }

    /// Whether the rule tests the times of a pool.
    fn means(&self, pool: &Pool) -> bool {
        let has_some = !self.is_of_iterations || pool.program.has_steps();
        let mut steps = pool.requests.iter().map(|request| &*request.step);
        let has_step = self.step.is_none_or(|name| steps.any(|step| step == name));
        has_some && has_step && self.pool.is_none_or(|name| name == pool.name)
    }

    /// The maximum number of samples of a pool; `None` if it is unknown, as the number of requests in
    /// an iteration.
    fn samples(&self, pool: &Pool, starts: Option<u64>, seed: u64) -> Option<u64> {
        if let (Some(step), false) = (self.step, self.is_of_iterations) {
            return of_step(pool, step, starts?, seed);
        }
        let is_known = self.is_of_iterations || !pool.program.has_steps();
        starts.filter(|_| is_known)
    }
}

/// The maximum number of requests of one step that this many arrivals send; `None` if a loop repeats
/// steps.
fn of_step(pool: &Pool, step: &str, starts: u64, seed: u64) -> Option<u64> {
    let is_of_step = |request: &u32| {
        let request = pool.requests.get(*request as usize);
        request.is_some_and(|request| request.step == step)
    };
    let (choice, each): (&Choice, Vec<u64>) = match &pool.program {
        Program::Requests(choice) => {
            let all = 0..pool.requests.len() as u32;
            (choice, all.map(|n| u64::from(is_of_step(&n))).collect())
        }
        Program::Steps(scenarios) => (scenarios.choice(), of_scenarios(scenarios, is_of_step)?),
    };
    let seen = starts.min(CHOICES_SEEN);
    let length = each.len() as u64;
    let chosen = (0..seen).map(|arrival| each[choice.pick(arrival, length, seed) as usize]);
    let sent = chosen.fold(0_u64, u64::saturating_add);
    let all = u128::from(sent) * u128::from(starts) / u128::from(seen.max(1));
    u64::try_from(all).ok()
}

/// For each scenario, the maximum number of matching requests in an iteration; `None` if a loop
/// repeats steps.
fn of_scenarios(scenarios: &Scenarios, is_meant: impl Fn(&u32) -> bool) -> Option<Vec<u64>> {
    let starts = scenarios.starts().iter();
    let each = starts.map(|start| {
        let steps = scenarios.steps().iter().skip(*start as usize);
        let mut steps = steps.take_while(|step| !matches!(step, Step::End));
        steps.try_fold(0, |sum: u64, step| match step {
            Step::Repeat { .. } => None,
            Step::Request { request, retry, .. } if is_meant(request) => {
                Some(sum.saturating_add(u64::from(retry.times) + 1))
            }
            _ => Some(sum),
        })
    });
    each.collect()
}
