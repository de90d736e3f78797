//! Fits a plan to the sum of several machines.

use crate::message::MachineFacts;
use drumfire_placement::{Machine, Placement, Unfit, fit};
use drumfire_plan::Plan;

/// A plan's placement on this sum of machines. `has_address` returns whether a source address
/// exists.
///
/// # Errors
/// Every reason why the machines cannot run the plan.
pub fn divide_placement(
    plan: &Plan,
    of: MachineFacts,
    has_address: fn(std::net::IpAddr) -> bool,
) -> Result<Placement, Vec<Unfit>> {
    let machine = Machine {
        cores: of.cores,
        descriptors: of.descriptors,
        has_address,
    };
    fit(plan, &machine)
}
