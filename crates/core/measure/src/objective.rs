//! Service level objectives: rules that each single request meets or violates, so that a span has a
//! share of violating requests.
//!
//! A quantile below a bound allows the rest of the requests to exceed it: `p99<50ms` allows 1 % to
//! take 50 ms or longer. A share below a bound does the same for failures, and a goodput above one
//! for answers that are not good. Other rules have no such share: no single request meets a mean or
//! a rate.

use crate::form;
use crate::threshold::{Aim, Portion, View};
use crate::{Interval, Model, RunInfo};
use drumfire_plan::{Comparison, Metric, Role, Threshold, Times};
use drumfire_units::Nanos;

/// An objective in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// The objective in the user's words.
    pub expression: String,
    /// The share of the requests that may violate the bound, above 0 and below 1.
    pub share: f64,
    /// The bound, if it is a time.
    pub bound: Option<Nanos>,
    /// Whether times count from the intended start of requests that the schedule knows: unfinished
    /// requests then also violate the bound once they are older than it.
    pub is_of_response: bool,
    aim: Aim,
}

/// The requests of a span, by an objective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Objected {
    /// Requests beyond the bound.
    pub beyond: u64,
    /// Requests beyond three quarters of the bound, if it is a time; otherwise equal to `beyond`.
    pub near: u64,
    /// All requests.
    pub of: u64,
}

form! {
    struct Objective { expression, share, bound, is_of_response, aim }
    check |objective| objective.share > 0.0 && objective.share < 1.0, "a share outside 0 to 1";
}

impl Objective {
    /// The objective for a rule in a run.
    ///
    /// # Errors
    /// If the rule has no share of requests, or the run has no such pool or step; the text contains
    /// the correction.
    pub fn from_rule(rule: &Threshold, info: &RunInfo) -> Result<Self, String> {
        if rule.role != Role::Rule {
            return Err("an objective can't end a run; remove `abort`".to_owned());
        }
        if rule.window.is_some() {
            return Err("an objective always covers the whole load; remove `over`".to_owned());
        }
        let aim = Aim::resolve(&rule.metric, info)?;
        let is_upper = matches!(rule.comparison, Comparison::Less | Comparison::AtMost);
        let is_goodput = matches!(aim.metric, Metric::Goodput(_) | Metric::GoodputRate(_));
        if is_upper == is_goodput {
            return Err(match is_goodput {
                true => {
                    "goodput is a lower bound: write it with `>=`, as in \
                         goodput(ttft<200ms)>=99%"
                }
                false => "an objective is an upper bound: write it with `<`, as in p99<50ms",
            }
            .to_owned());
        }
        let (share, bound) = share_and_bound(&aim.metric, rule.bound)?;
        if !(share > 0.0 && share < 1.0) {
            return Err(format!(
                "its share of requests must be between 0 and 1; write one such as {}",
                match bound {
                    Some(_) => "p99<50ms",
                    None if is_goodput => "goodput(ttft<200ms)>=99%",
                    None => "failed<0.1%",
                }
            ));
        }
        let is_open = aim.model() == Some(Model::Open);
        let is_of_response = match &aim.metric {
            // Iterations count from their intended start, in each model.
            Metric::Iteration(_) => is_open && !aim.is_of_arrivals(info),
            Metric::Of(times, _) => *times == Times::Response && aim.is_of_arrivals(info),
            _ => is_open && aim.is_of_arrivals(info),
        };
        Ok(Self {
            expression: rule.expression.clone(),
            share,
            bound,
            is_of_response: bound.is_some() && is_of_response,
            aim,
        })
    }

    /// Whether the objective applies only to the arrivals of this pool.
    #[must_use]
    pub fn is_of_pool(&self, pool: usize, info: &RunInfo) -> bool {
        self.aim
            .pool()
            .map_or(info.pools.len() == 1, |only| only == pool)
    }

    /// The requests of an interval, which must be summed up.
    #[must_use]
    pub fn tally(&self, interval: &Interval) -> Objected {
        let span = interval.end - interval.start;
        let Ok(view) = View::select(&self.aim, &interval.total, interval.pools(), span) else {
            // No request of the interval belongs to the step.
            return Objected::default();
        };
        match (self.bound, view.times) {
            (Some(bound), Some(times)) => Objected {
                beyond: times.count_from(bound),
                near: times.count_from(Nanos(bound.0 / 4 * 3)),
                of: times.count(),
            },
            (Some(_), None) => Objected::default(),
            (None, _) if matches!(self.aim.metric, Metric::Goodput(_)) => {
                let beyond = view.answers.map_or(0, Portion::missed);
                Objected {
                    beyond,
                    near: beyond,
                    of: view.answers.map_or(0, |answers| answers.of),
                }
            }
            (None, _) => {
                let counts = &view.counts;
                let (beyond, of) = match innermost(&self.aim.metric) {
                    Metric::TimedOut => (counts.timed_out, counts.sent),
                    Metric::Dropped => (counts.dropped, counts.intended),
                    _ => (counts.failed, counts.sent),
                };
                Objected {
                    beyond,
                    near: beyond,
                    of,
                }
            }
        }
    }
}

/// The share that may violate the bound, and the bound if it is a time.
fn share_and_bound(metric: &Metric, bound: f64) -> Result<(f64, Option<Nanos>), String> {
    match metric {
        Metric::Iteration(inner) => share_and_bound(inner, bound),
        Metric::Of(Times::Lag, _) => {
            Err("lag belongs to the generator and can't be an objective for the target".to_owned())
        }
        Metric::Of(Times::Connect, _) => Err("connections are not requests; use a latency \
             quantile, such as p99<50ms"
            .to_owned()),
        Metric::Of(_, inner) => share_and_bound(inner, bound),
        Metric::Quantile(q) => Ok((1.0 - q, Some(Nanos(bound.max(0.0) as u64)))),
        Metric::Failed | Metric::TimedOut | Metric::Dropped => Ok((bound, None)),
        Metric::Goodput(_) => Ok((1.0 - bound, None)),
        Metric::GoodputRate(_) => Err(
            "a rate of good answers is not a share of them; write goodput(ttft<200ms)>=99%"
                .to_owned(),
        ),
        Metric::Unsent => Err(
            "unsent requests are known only at the end of a run; use a latency quantile, such as \
             p99<50ms, which includes waiting"
                .to_owned(),
        ),
        other => Err(format!(
            "`{other}` is not a share of the requests; use a quantile such as p99<50ms, or \
             failed<0.1%"
        )),
    }
}

/// The metric without its qualifiers.
fn innermost(metric: &Metric) -> &Metric {
    match metric {
        Metric::Iteration(inner) => innermost(inner),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Histogram, PoolInfo};

    fn info() -> RunInfo {
        let pool = PoolInfo::new("main", Model::Open, ["GET /"]);
        RunInfo::new(vec![pool])
    }

    fn check(text: &str) -> Result<(f64, Option<Nanos>, bool), String> {
        let rule: Threshold = text.parse().expect("the rule parses");
        let objective = Objective::from_rule(&rule, &info())?;
        let Objective { share, bound, .. } = objective;
        Ok(((share * 1e6).round() / 1e6, bound, objective.is_of_response))
    }

    #[test]
    fn a_quantile_or_a_share_is_an_objective() {
        let ms = |n| Some(Nanos::from_millis(n));
        for (text, objective) in [
            ("p99<50ms", (0.01, ms(50), true)),
            ("p99.9<=1s", (0.001, ms(1_000), true)),
            ("med<5ms", (0.5, ms(5), true)),
            ("service.p95<20ms", (0.05, ms(20), false)),
            ("first_byte.p95<20ms", (0.05, ms(20), false)),
            ("failed<0.1%", (0.001, None, false)),
            ("timed_out<1%", (0.01, None, false)),
            ("dropped<1%", (0.01, None, false)),
            ("goodput(ttft<200ms,tpot<50ms)>=99%", (0.01, None, false)),
            ("goodput(ttft<200ms)>90%", (0.1, None, false)),
            ("main: p99<50ms", (0.01, ms(50), true)),
            ("step(GET /).p99<50ms", (0.01, ms(50), true)),
        ] {
            assert_eq!(check(text), Ok(objective), "{text}");
        }
    }

    /// The requests of a scenario are due when a user reaches them, its iterations by the schedule.
    #[test]
    fn the_schedule_knows_the_arrivals_of_its_own_pool() {
        let pool = |name| PoolInfo::new(name, Model::Open, ["GET /"]);
        let mut scenario = pool("shop");
        scenario.iterations = true;
        let info = RunInfo::new(vec![pool("main"), scenario]);
        for (text, is_of_response, pools) in [
            ("main: p99<50ms", true, [true, false]),
            ("shop: p99<50ms", false, [false, true]),
            ("shop: iteration.p99<2s", true, [false, true]),
            ("failed<1%", false, [false, false]),
        ] {
            let rule: Threshold = text.parse().expect("the rule parses");
            let objective = Objective::from_rule(&rule, &info).expect(text);
            assert_eq!(objective.is_of_response, is_of_response, "{text}");
            let of_pools = [0, 1].map(|pool| objective.is_of_pool(pool, &info));
            assert_eq!(of_pools, pools, "{text}");
        }
    }

    #[test]
    fn other_rules_are_refused_with_what_would_be_right() {
        for (text, part) in [
            ("avg<50ms", "`avg` is not a share"),
            ("max<50ms", "`max` is not a share"),
            ("rate>100/s", "write it with `<`"),
            ("rate<100/s", "`rate` is not a share"),
            ("p99>50ms", "write it with `<`"),
            ("goodput(ttft<1s)<1%", "write it with `>=`"),
            ("goodput(ttft<1s)>=4/s", "is not a share of them"),
            (
                "goodput(ttft<1s)>=100%",
                "its share of requests must be between 0 and 1",
            ),
            ("p100<50ms", "its share of requests must be between 0 and 1"),
            ("failed<0%", "its share of requests must be between 0 and 1"),
            ("failures<3", "`failures` is not a share"),
            ("unsent<1%", "known only at the end"),
            ("lag.p99<1ms", "lag belongs to the generator"),
            ("connect.p99<1ms", "connections are not requests"),
            ("p99<50ms over 30s", "remove `over`"),
            ("p99<50ms abort", "remove `abort`"),
            ("other: p99<50ms", "no pool `other`"),
            ("step(GET /other).p99<50ms", "no step"),
        ] {
            let refused = check(text).expect_err(text);
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }

    #[test]
    fn a_bucket_counts_by_its_greatest_time() {
        let mut times = Histogram::new();
        for ms in 1..=100 {
            times.record(Nanos::from_millis(ms));
        }
        assert_eq!(times.count_from(Nanos::ZERO), 100);
        assert_eq!(times.count_from(Nanos::from_millis(91)), 10);
        assert_eq!(times.count_from(Nanos::from_millis(101)), 0);
        let rank = times.quantile_unchecked(0.9);
        assert!(
            times.count_from(Nanos(rank.0 + 1)) <= 10,
            "as a quantile has it"
        );
    }
}
