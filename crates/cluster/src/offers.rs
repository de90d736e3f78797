//! The shares of a lost agent, and the agents that keep them from a later time of the run on.
//!
//! A lost agent has stopped for certain, so that its shares are nobody's. They are offered to the
//! agents that are left, each of which takes some beside its own, in a place of its own with a
//! number of its own. When it is ready for them, a time of the run ahead is named from which it keeps
//! them. What was due between the stop of the one and that time is sent by nobody.
//!
//! An offer that comes to nothing, since its agent is lost before that time is named, is made to
//! others, a few times.

use crate::place::{Place, PlaceState};
use crate::succession::{Offer, dealt, without};

/// The offers of one place's shares that may come to nothing. Beyond them the shares stay nobody's.
const FAILED_MAX: usize = 3;

/// The shares of lost agents that nobody has or is to have, dealt out among the agents that are
/// left.
pub(crate) fn offers(places: &[Place]) -> Vec<Offer> {
    let mut offers: Vec<Offer> = Vec::new();
    for (of, lost) in (0..).zip(places) {
        if lost.lost_at.is_none() || !lost.has_begun() {
            continue;
        }
        let heirs = || heirs(places, of);
        let failed = heirs().filter(|heir| heir.is_lost() && !heir.has_begun());
        if failed.count() >= FAILED_MAX {
            continue;
        }
        let held = heirs().filter(|heir| heir.has_begun() || heir.goes_on());
        let held = held.map(|heir| heir.assignment.shares).collect();
        for free in without(lost.assignment.shares, held) {
            let mut hosts = hosts(places, &offers);
            hosts.truncate(free.count as usize);
            for (host, shares) in hosts.iter().zip(dealt(free, hosts.len() as u32)) {
                let number = 1 + joined(places, *host) + offered(&offers, *host);
                offers.push(Offer {
                    of,
                    host: *host,
                    agent: format!("{}+{number}", places[*host as usize].agent),
                    shares,
                });
            }
        }
    }
    offers
}

/// The places that have, or were to have, shares of a lost one.
pub(crate) fn heirs(places: &[Place], of: u32) -> impl Iterator<Item = &Place> {
    let is_heir = move |place: &&Place| place.succeeds.is_some_and(|it| it.of == of);
    places.iter().filter(is_heir)
}

/// The number of places that an agent has beside its own.
pub(crate) fn joined(places: &[Place], host: u32) -> u64 {
    let of_host = |place: &&Place| place.succeeds.is_some_and(|it| it.host == host);
    places.iter().filter(of_host).count() as u64
}

fn offered(offers: &[Offer], host: u32) -> u64 {
    offers.iter().filter(|offer| offer.host == host).count() as u64
}

/// The agents whose own load goes on, those with the fewest further places first.
fn hosts(places: &[Place], offers: &[Offer]) -> Vec<u32> {
    let is_host = |place: &Place| {
        place.succeeds.is_none() && place.state == PlaceState::Taken && !place.has_stopped
    };
    let hosts = (0..).zip(places).filter(|(_, place)| is_host(place));
    let mut hosts: Vec<u32> = hosts.map(|(host, _)| host).collect();
    hosts.sort_by_key(|host| joined(places, *host) + offered(offers, *host));
    hosts
}
