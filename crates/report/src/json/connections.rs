//! The lives of connections in the contract.
//!
//! The addresses that were met most are listed with their counts, and the others are one sum, so
//! that a name with thousands of addresses stays one small object.

use super::distribution::Distribution;
use drumfire_measure::{AddressCounts, AddressRow, Closing, Connections as Lives};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The connections that were opened, and the ends of those that were closed, by the stable names of
/// [`Closing`]. Reasons that did not occur are absent.
#[derive(Serialize)]
pub(super) struct Connections {
    opened: u64,
    /// The connections that were opened in the warm-up and open at its end.
    #[serde(skip_serializing_if = "is_zero")]
    open_before: u64,
    open_at_end: u64,
    closed: BTreeMap<&'static str, u64>,
    tls_resumed: u64,
    /// The pauses before another dial, after connections that failed.
    #[serde(skip_serializing_if = "is_zero")]
    redial_pauses: u64,
    lifetime: Distribution,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_each: Option<Each>,
    addresses: Vec<Address>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_addresses: Option<Others>,
}

/// The connections to one address.
#[derive(Serialize)]
struct Address {
    address: SocketAddr,
    opened: u64,
    requests: u64,
}

/// The connections to all addresses beyond those that are listed, which `measure` has summed
/// already.
#[derive(Serialize)]
struct Others {
    opened: u64,
    requests: u64,
}

/// The exchanges that a connection carried, over those that were closed. Of connections that are
/// still open it is not known how many they will carry, so that they are left out.
#[derive(Serialize)]
struct Each {
    min: u64,
    mean: f64,
    median: u64,
    max: u64,
}

/// Whether a count is zero, for a key that only runs with a warm-up have.
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Connections {
    /// The lives of a run's or a pool's connections. `measure` has those of the warm-up as a signed
    /// difference, since a part of it may close more than it opens; over a whole run it is a count,
    /// and 0 is printed for anything less.
    pub(super) fn of(lives: &Lives) -> Self {
        let closed = Closing::ALL.iter();
        let closed = closed.map(|why| (why.name(), lives.closed_by(*why)));
        let carried = &lives.carried;
        let others = lives.addresses.others();
        let requests_each = (carried.count() > 0).then(|| Each {
            min: carried.min().0,
            mean: carried.mean(),
            median: carried.quantile_unchecked(0.5).0,
            max: carried.max().0,
        });
        Self {
            opened: lives.opened,
            tls_resumed: lives.tls_resumed,
            redial_pauses: lives.pauses,
            open_before: u64::try_from(lives.open_before).unwrap_or(0),
            open_at_end: lives.open_at_end(),
            closed: closed.filter(|(_, count)| *count > 0).collect(),
            lifetime: Distribution::of(&lives.lifetime),
            requests_each,
            addresses: lives.addresses.rows().iter().map(address).collect(),
            other_addresses: (others != AddressCounts::default()).then_some(Others {
                opened: others.opened,
                requests: others.carried,
            }),
        }
    }
}

/// The counts of one address as an object.
const fn address(row: &AddressRow) -> Address {
    Address {
        address: row.address,
        opened: row.counts.opened,
        requests: row.counts.carried,
    }
}
