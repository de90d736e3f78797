//! Loads that may go to any target, because they are too small to do harm.

use crate::{Law, Load, Pool};
use drumfire_units::Nanos;

/// A load is modest if it has at most this number of requests, or iterations, per second.
pub const MODEST_RATE: u64 = 100;
/// A load is also modest if it has at most this number of requests in total.
pub const MODEST_COUNT: u64 = 1_000;

/// Whether pools together are a modest load, for any behaviour of their targets.
#[must_use]
pub fn is_modest(pools: &[Pool]) -> bool {
    let counts = pools.iter().map(|pool| pool.stop.requests);
    let count = counts.sum::<Option<u64>>();
    let rates = pools.iter().map(|pool| rate_most(&pool.load));
    count.is_some_and(|count| count <= MODEST_COUNT) || rates.sum::<f64>() <= MODEST_RATE as f64
}

/// A written rate above this number of requests, or iterations, per second is more likely a typing
/// error than a load: one machine sends fewer.
pub const CERTAIN_RATE: u64 = 1_000_000;

/// Whether a load has a written rate that is above [`CERTAIN_RATE`].
#[must_use]
pub fn is_extreme(load: &Load) -> bool {
    let is_written = |law: &&Law| {
        !matches!(
            law,
            Law::Once { .. } | Law::Trace { .. } | Law::Unlimited { .. }
        )
    };
    let (users, laws) = match load {
        Load::Open { rate, .. } => (1, &rate.0),
        Load::PerUser { users, rate, .. } => (*users, &rate.0),
        Load::Closed { .. } => return false,
    };
    let rates = laws.iter().filter(is_written).map(law_most);
    f64::from(users) * rates.fold(0.0, f64::max) > CERTAIN_RATE as f64
}

/// The highest rate of a load, per second.
fn rate_most(load: &Load) -> f64 {
    let of = |laws: &[Law]| laws.iter().map(law_most).fold(0.0, f64::max);
    match load {
        Load::Open { rate, .. } => of(&rate.0),
        Load::PerUser { users, rate, .. } => f64::from(*users) * of(&rate.0),
        Load::Closed { users, think, pace } => {
            let least = think.fixed().unwrap_or(Nanos::ZERO).max(*pace);
            match least {
                Nanos::ZERO => f64::INFINITY,
                least => f64::from(*users) / least.as_secs_f64(),
            }
        }
    }
}

fn law_most(law: &Law) -> f64 {
    match law {
        Law::Const { rate, .. } => rate.as_per_second(),
        Law::Line { from, to, .. } | Law::Step { from, to, .. } => {
            from.as_per_second().max(to.as_per_second())
        }
        Law::Sine {
            mean, amplitude, ..
        } => mean.as_per_second() + amplitude.as_per_second(),
        Law::Stairs { steps } => {
            let rates = steps.iter().map(|(rate, _)| rate.as_per_second());
            rates.fold(0.0, f64::max)
        }
        Law::Once { count } => *count as f64,
        Law::Trace { times } => times.len() as f64,
        Law::Unlimited { .. } => f64::INFINITY,
    }
}
