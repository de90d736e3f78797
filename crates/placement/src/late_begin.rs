//! Whether shares of a plan can begin within its run, where another process had them until then.
//!
//! What begins at a time of the run must be what a share from its start would have from then on. A
//! law over time has that: the n-th start is computed from n. Users have it by their number alone:
//! as many as the law asks for begin anew. What was counted or handed out as requests came can't be
//! known, since the other process took it with it.

use drumfire_plan::{Law, Load, Plan, Pool};
use std::fmt;

/// Why the shares of a pool can't begin within a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateBegin {
    /// The pool's name.
    pub pool: String,
    /// The reason.
    pub reason: LateBeginReason,
}

/// What of a pool can't be known within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateBeginReason {
    /// The requests of users are counted, and the rest of the count is not known.
    CountOfUsers,
    /// Each user follows a rate from when it came.
    OwnRates,
    /// Requests at no rate have numbers only as they come.
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

/// Everything that keeps shares of a plan from beginning within its run.
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
