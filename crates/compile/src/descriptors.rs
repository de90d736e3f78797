//! File descriptors: how many connections are opened as they are needed, at most.

use drumfire_plan::{Growth, Pool};
use std::collections::HashSet;

/// Lowers the bounds of connections that are opened as they are needed so that all together fit
/// into `limit`, beside those that are opened ahead. Each target of a pool has the same bound, and
/// at least 1.
pub(crate) fn fit(pools: &mut [Pool], limit: u64) {
    let total = |pools: &[Pool], growth| -> Demand {
        let concerned = pools
            .iter()
            .filter(|pool| pool.connections.growth == growth);
        concerned.fold(Demand::default(), |sum, pool| sum.with(pool))
    };
    let ahead = total(pools, Growth::Ahead).connections;
    let growing = total(pools, Growth::AsNeeded).targets;
    let each = limit.saturating_sub(ahead) / growing.max(1);
    let each = u32::try_from(each).unwrap_or(u32::MAX).max(1);
    for pool in pools {
        let connections = &mut pool.connections;
        if connections.growth == Growth::AsNeeded {
            connections.count = connections.count.min(each);
        }
    }
}

/// What pools ask for.
#[derive(Default)]
struct Demand {
    targets: u64,
    /// Connections to all of the targets.
    connections: u64,
}

impl Demand {
    fn with(self, pool: &Pool) -> Self {
        let origins = pool.requests.iter().map(|request| &request.url.origin);
        let targets = origins.collect::<HashSet<_>>().len() as u64;
        Self {
            targets: self.targets + targets,
            connections: self.connections + targets * u64::from(pool.connections.count),
        }
    }
}
