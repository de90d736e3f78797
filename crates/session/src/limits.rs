//! What the machine allows: descriptors for connections, before a run and in its remedies.

use crate::{DescriptorShortage, SessionError};
use drumfire_engine::{Prepared, Resolver};
use drumfire_measure::{Remedy, Summary};
use drumfire_net::raise_descriptor_limit;
use drumfire_plan::{Growth, Plan};
use std::sync::Arc;

/// Descriptors that the program needs beside its connections.
const DESCRIPTORS_SPARE: u64 = 64;

/// Of a limit lower than that, the part that connections may still have: one in so many.
const DESCRIPTORS_PART: u64 = 4;

/// Prepares a plan, and finds out whether every connection that its run begins with can have its
/// descriptor.
///
/// # Errors
/// When no run of the plan could send anything, or not over as many connections as it says.
pub fn prepare(plan: Plan, resolver: Arc<Resolver>) -> Result<Arc<Prepared>, SessionError> {
    let prepared = drumfire_engine::prepare(plan, resolver).map_err(SessionError::Prepare)?;
    check_descriptors(&prepared).map_err(SessionError::Descriptors)?;
    Ok(Arc::new(prepared))
}

/// How many connections this process may have open at a time, where they are opened as they are
/// needed; `None` is no limit.
#[must_use]
pub fn connections_max() -> Option<u64> {
    let spared = |limit: u64| limit.saturating_sub(DESCRIPTORS_SPARE);
    raise_descriptor_limit().map(|limit| spared(limit).max(limit / DESCRIPTORS_PART))
}

fn check_descriptors(prepared: &Prepared) -> Result<(), DescriptorShortage> {
    let pools = prepared.pools.iter();
    let ahead = pools.filter(|pool| pool.pool().connections.growth == Growth::Ahead);
    let connections =
        ahead.map(|pool| u64::from(pool.pool().connections.count) * pool.targets() as u64);
    let connections = connections.sum::<u64>();
    let needed = connections + DESCRIPTORS_SPARE;
    match raise_descriptor_limit() {
        Some(limit) if limit < needed && connections > 0 => Err(DescriptorShortage {
            connections,
            needed,
            limit,
        }),
        _ => Ok(()),
    }
}

/// The summary with remedies that the limit of open files allows: where it has no room for more
/// connections, it is what to raise.
pub(crate) fn within_limits(summary: Arc<Summary>, limit: Option<u64>) -> Arc<Summary> {
    let Some(limit) = limit else {
        return summary;
    };
    let raised = |remedy: &Remedy| match *remedy {
        Remedy::Connections(connections) if connections > limit => Some(Remedy::Descriptors {
            connections,
            descriptors: connections.saturating_add(DESCRIPTORS_SPARE),
        }),
        _ => None,
    };
    let reasons = &summary.load.reasons;
    let mut remedies = reasons.iter().flat_map(|reason| &reason.remedies);
    if !remedies.any(|remedy| raised(remedy).is_some()) {
        return summary;
    }
    let mut summary = Arc::unwrap_or_clone(summary);
    let reasons = summary.load.reasons.iter_mut();
    for remedy in reasons.flat_map(|reason| &mut reason.remedies) {
        *remedy = raised(remedy).unwrap_or(*remedy);
    }
    Arc::new(summary)
}
