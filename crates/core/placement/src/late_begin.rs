//! Whether shares of a plan can start within its run, if another process had them before.
//!
//! A share that starts within the run must continue as a share from the start of the run would.
//! With a law over time this works, because the n-th start is computed from n. Users also work,
//! because only their number matters: the required number of users starts. A count that is consumed
//! as requests are sent can't be continued, because the other process lost it.

use drumfire_plan::{Law, Load, Plan, Pool};
use std::fmt;

/// The reason why the shares of a pool can't start within a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateBegin {
    /// The pool's name.
    pub pool: String,
    /// The reason.
    pub reason: LateBeginReason,
}

/// The facts of a pool that are unknown within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateBeginReason {
    /// The requests of users are counted, and the remaining count is unknown.
    CountOfUsers,
    /// Each user follows a rate that starts when the user arrives.
    OwnRates,
    /// Requests without a rate are numbered only when they are sent.
    Unlimited,
}

impl fmt::Display for LateBegin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.reason {
            LateBeginReason::CountOfUsers => {
                "stops its users after a count of requests, and how many are left is unknown"
            }
            LateBeginReason::OwnRates => {
                "has a rate for each user, which begins when the user arrives"
            }
            LateBeginReason::Unlimited => {
                "has no rate, so its requests can't be numbered in advance"
            }
        };
        write!(f, "pool {} {why}", self.pool)
    }
}

/// All reasons why shares of a plan can't start within its run.
#[must_use]
pub fn late_begin(plan: &Plan) -> Vec<LateBegin> {
    let pools = plan.pools().iter();
    let found = pools.filter_map(|pool| {
        let pool_name = pool.name.to_string();
        reason(pool).map(|reason| LateBegin {
            pool: pool_name,
            reason,
        })
    });
    found.collect()
}

fn reason(pool: &Pool) -> Option<LateBeginReason> {
    let is_counted = pool.stop.requests.is_some() || pool.stop.iterations.is_some();
    match &pool.load {
        Load::Open { rate, .. } => {
            let is_unlimited = |law: &Law| matches!(law, Law::Unlimited { .. });
            let unlimited = rate.0.iter().any(is_unlimited);
            unlimited.then_some(LateBeginReason::Unlimited)
        }
        Load::Closed { .. } => is_counted.then_some(LateBeginReason::CountOfUsers),
        Load::PerUser { .. } => Some(LateBeginReason::OwnRates),
    }
}
