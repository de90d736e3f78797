//! A plan on the sum of several machines.

use crate::message::MachineFacts;
use drumfire_placement::{Machine, Placement, Unfit, fit};
use drumfire_plan::Plan;

/// A plan's placement on this sum of machines; `has_address` is asked for the addresses to send
/// from.
///
/// # Errors
/// Everything that keeps them from running it.
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
