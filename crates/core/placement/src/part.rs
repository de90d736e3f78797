//! The connections of a part of a plan's shares.

use crate::Placement;
use drumfire_plan::{Growth, Plan, Pool};
use std::collections::HashSet;

/// The maximum connections of a part of a plan's shares, to all targets of all pools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Connections that are opened before the load begins.
    pub ahead: u64,
    /// The bound of the connections that are opened as needed.
    pub as_needed: u64,
}

impl Part {
    /// The connections of any `shares` shares. A pool deals its connections evenly to its shares,
    /// so the bound exceeds the real number by at most one connection for each share and target.
    #[must_use]
    pub fn for_shares(plan: &Plan, placement: &Placement, shares: u32) -> Self {
        let mut part = Self::default();
        for (number, pool) in plan.pools().iter().enumerate() {
            let divided = placement.shares(number).min(placement.threads()).max(1);
            let all = placement.connections(number);
            let dealt = shares.min(divided);
            let most = all.min(all.div_ceil(divided).saturating_mul(dealt));
            let most = targets(pool).saturating_mul(u64::from(most));
            let sum = match pool.connections.growth {
                Growth::AsNeeded => &mut part.as_needed,
                Growth::Ahead => &mut part.ahead,
            };
            *sum = sum.saturating_add(most);
        }
        part
    }
}

/// The number of a pool's targets. Each target has separate connections.
pub(crate) fn targets(pool: &Pool) -> u64 {
    let origins = pool.requests.iter().map(|request| &request.url.origin);
    origins.collect::<HashSet<_>>().len() as u64
}
