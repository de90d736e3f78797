//! The limits of this machine. A plan is fitted to them before its run, and so are the remedies of
//! a report.
//!
//! Describing the machine raises the limit of file descriptors to the maximum that the system
//! allows this process. The limit is never lowered again.

use crate::SessionError;
use drumfire_engine::{Prepared, Resolver};
use drumfire_measure::{Remedy, Summary};
use drumfire_net::{
    address_space, address_space_limit, descriptors_open, is_own_address, raise_descriptor_limit,
};
use drumfire_placement::{DESCRIPTORS_SPARE, Machine, Placement, fit};
use drumfire_plan::Plan;
use drumfire_units::ByteSize;
use std::sync::Arc;
use std::thread::available_parallelism;

/// The address space that a run needs in addition to the program's, and for each worker's stack.
/// With less, an allocation fails, which ends the program without a message.
const ADDRESSES: u64 = 32 << 20;
const ADDRESSES_OF_WORKER: u64 = 2 << 20;

/// This machine: the cores that this process may use, its limit of file descriptors, which is
/// raised as far as the system allows, and its address space.
#[must_use]
pub fn this_machine() -> Machine {
    Machine {
        cores: available_parallelism().map_or(1, |cores| cores.get() as u32),
        descriptors: raise_descriptor_limit(),
        has_address: is_own_address,
    }
}

/// This machine in words: the cores that this process may use, and the kernel, whose version only
/// Linux tells in a file.
pub(crate) fn machine_name() -> String {
    let cores = match available_parallelism().map_or(1, std::num::NonZero::get) {
        1 => "1 core".to_owned(),
        cores => format!("{cores} cores"),
    };
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease");
    let system = match release {
        Ok(release) => format!("Linux {}", release.trim()),
        Err(_) => std::env::consts::OS.to_owned(),
    };
    format!("{cores}, {system}")
}

/// Fits a plan to this machine and prepares it.
///
/// # Errors
/// If the machine cannot run the plan, or no run of it could send anything.
pub fn prepare(plan: Plan, resolver: Arc<Resolver>) -> Result<Arc<Prepared>, SessionError> {
    let placement = fit(&plan, &this_machine()).map_err(SessionError::Unfit)?;
    let workers = u64::from(placement.threads()) * ADDRESSES_OF_WORKER;
    let needed = address_space().unwrap_or(0) + ADDRESSES + workers;
    if let Some(limit) = address_space_limit().filter(|limit| *limit < needed) {
        return Err(SessionError::AddressSpace {
            limit: ByteSize(limit),
            needed: ByteSize(needed),
        });
    }
    prepare_placed(plan, placement, resolver)
}

/// Checks that this process has file descriptors for this number of connections, in addition to the
/// open ones. If a process runs several shares of a plan, the open ones include the other shares'
/// connections.
///
/// # Errors
/// If there are too few descriptors.
pub fn check_descriptors(connections: u64) -> Result<(), SessionError> {
    let (limit, open) = (this_machine().descriptors, descriptors_open().unwrap_or(0));
    match limit {
        Some(limit) if open.saturating_add(connections) > limit => Err(SessionError::Descriptors {
            connections,
            open,
            limit,
        }),
        _ => Ok(()),
    }
}

/// Prepares a plan with its placement.
///
/// # Errors
/// If no run of the plan could send anything.
pub fn prepare_placed(
    plan: Plan,
    placement: Placement,
    resolver: Arc<Resolver>,
) -> Result<Arc<Prepared>, SessionError> {
    let prepared = drumfire_engine::prepare(plan, placement, resolver);
    prepared.map(Arc::new).map_err(SessionError::Prepare)
}

/// The maximum number of connections that this process may open on demand; `None` means no limit.
pub(crate) fn connections_max() -> Option<u64> {
    this_machine().connections_max()
}

/// Adapts the remedies in a summary to the limit of open files: if the limit has no room for the
/// connections in a remedy, the remedy becomes to raise the limit.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_need_descriptors_beside_those_that_are_open() {
        check_descriptors(0).unwrap();
        let Some(limit) = this_machine().descriptors else {
            return;
        };
        let refused = check_descriptors(limit).unwrap_err().to_string();
        assert!(
            refused.contains("already open, but this process may open only"),
            "{refused}"
        );
    }
}
