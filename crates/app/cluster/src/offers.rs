//! The shares of a lost agent, and the agents that take them over from a later time of the run.
//!
//! A lost agent has certainly stopped, so its shares are free. They are first offered to agents
//! that wait without a share. Each of these gets as many shares as its cores would have had. The
//! rest is offered to agents with shares, each of which keeps a part in addition to its own. Either
//! kind of agent gets a separate place for the offered shares, and never more shares than its file
//! descriptors allow. When an agent is ready, the coordinator sets a future time of the run from
//! which the agent keeps them. Requests that were due between the stop and that time are not sent.
//!
//! If an agent is lost before that time is set, its offer has failed, and is made to others, a few
//! times.

use crate::message::{Beat, JOINS_MAX, MachineFacts};
use crate::place::{Place, PlaceState};
use crate::room::Room;
use crate::succession::{ShareOffer, evenly, in_order, parts, without};
use drumfire_engine::Shares;
use drumfire_units::Nanos;

/// The maximum number of failed offers of one place's shares. Afterwards the shares stay free.
const FAILED_MAX: usize = 3;

/// The offers to make.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    /// The offers; each adds a place.
    pub(crate) made: Vec<ShareOffer>,
    /// The lost places with shares for which no agent has room, and the text about each.
    pub(crate) unplaced: Vec<(u32, String)>,
}

/// Divides the shares of lost agents that no agent has or was offered among the waiting agents and
/// the remaining ones.
pub(crate) fn offers<'a>(
    places: &[Place],
    now: Nanos,
    idle: impl Iterator<Item = &'a Beat> + Clone,
    room: &Room,
) -> Offers {
    let mut offers = Offers::default();
    for (of, lost) in (0..).zip(places) {
        if lost.lost_at.is_none() || !lost.has_begun() || lost.may_send(now) {
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
            let rest = offers.offer_idle(of, free, places, idle.clone(), room);
            let rest = offers.offer_hosts(of, rest, places, room);
            if let Some(lack) = offers.lack(rest, places, room) {
                offers.unplaced.push((of, lack));
            }
        }
    }
    offers
}

/// The places that have, or were offered, shares of a lost place.
pub(crate) fn heirs(places: &[Place], of: u32) -> impl Iterator<Item = &Place> {
    let is_heir = move |place: &&Place| place.succeeds.is_some_and(|it| it.of == of);
    places.iter().filter(is_heir)
}

/// The number of places that an agent has in addition to its own.
pub(crate) fn joined(places: &[Place], host: u32) -> u64 {
    further(places, host).count() as u64
}

/// The places that an agent has in addition to its own. They follow the places of the gathered
/// agents, which are not searched: there may be thousands, and each beat calls this function.
fn further(places: &[Place], host: u32) -> impl Iterator<Item = &Place> {
    let of_host = move |(index, place): &(usize, &Place)| {
        *index != host as usize && place.succeeds.is_some_and(|it| it.host == host)
    };
    let behind = places.iter().enumerate().rev();
    let behind = behind.take_while(|(_, place)| place.succeeds.is_some());
    behind.filter(of_host).map(|(_, place)| place)
}

/// The numbers of shares in an agent's places, its own place first.
pub(crate) fn held(places: &[Place], host: u32) -> Vec<u32> {
    let own = places.get(host as usize).into_iter();
    let all = own.chain(further(places, host));
    let held = all.filter(|place| place.goes_on());
    held.map(|place| place.assignment.shares.count).collect()
}

/// The agents whose load is running, each by its own place; those with the fewest further places
/// come first.
fn hosts(places: &[Place], offers: &[ShareOffer]) -> Vec<u32> {
    let is_host = |(index, place): &(u32, &Place)| {
        place.is_own(*index)
            && place.has_begun()
            && place.state == PlaceState::Taken
            && !place.has_stopped
    };
    let hosts = (0..).zip(places).filter(is_host);
    let further = |host: u32| joined(places, host) + offered(offers, host).count() as u64;
    let hosts = hosts.map(|(host, _)| host);
    let mut hosts: Vec<u32> = hosts.filter(|host| further(*host) < JOINS_MAX).collect();
    hosts.sort_by_key(|host| further(*host));
    hosts
}

fn offered(offers: &[ShareOffer], host: u32) -> impl Iterator<Item = &ShareOffer> {
    offers.iter().filter(move |offer| offer.host == host)
}

impl Offers {
    /// Offers shares to waiting agents. Returns the rest.
    fn offer_idle<'a>(
        &mut self,
        of: u32,
        free: Shares,
        places: &[Place],
        idle: impl Iterator<Item = &'a Beat>,
        room: &Room,
    ) -> Shares {
        let is_free = |beat: &&Beat| {
            let is_named = |offer: &ShareOffer| offer.agent == beat.agent;
            !self.made.iter().any(is_named) && !places.iter().any(|it| it.agent == beat.agent)
        };
        let idle: Vec<&Beat> = idle.filter(is_free).collect();
        let most = idle.iter().map(|beat| {
            let machine = beat.machine;
            room.most(machine, &[]).min(room.fair(machine))
        });
        let counts = in_order(free.count, most);
        let (dealt, rest) = parts(free, &counts);
        for (beat, shares) in idle.iter().zip(dealt) {
            if shares.count > 0 {
                self.made.push(ShareOffer {
                    of,
                    host: (places.len() + self.made.len()) as u32,
                    agent: beat.agent.clone(),
                    key: beat.key,
                    machine: beat.machine,
                    shares,
                });
            }
        }
        rest
    }

    /// Offers shares to agents with shares. Returns the rest.
    fn offer_hosts(&mut self, of: u32, free: Shares, places: &[Place], room: &Room) -> Shares {
        let hosts = hosts(places, &self.made);
        let most: Vec<u32> = hosts
            .iter()
            .map(|host| room.most(machine(places, *host), &self.held(places, *host)))
            .collect();
        let counts = evenly(free.count, &most);
        let (dealt, rest) = parts(free, &counts);
        for (host, shares) in hosts.iter().zip(dealt) {
            if shares.count > 0 {
                let before = joined(places, *host) + offered(&self.made, *host).count() as u64;
                self.made.push(ShareOffer {
                    of,
                    host: *host,
                    agent: format!("{}+{}", places[*host as usize].agent, before + 1),
                    key: places[*host as usize].beat.key,
                    machine: machine(places, *host),
                    shares,
                });
            }
        }
        rest
    }

    /// The text about shares for which no agent has room; `None` if no agent exists.
    fn lack(&self, rest: Shares, places: &[Place], room: &Room) -> Option<String> {
        if rest.count == 0 {
            return None;
        }
        let lacks = hosts(places, &self.made).into_iter().map(|host| {
            let agent = &places[host as usize].agent;
            room.lack(agent, machine(places, host), &self.held(places, host))
        });
        let (_, text) = lacks.min_by_key(|(lack, _)| *lack)?;
        let (count, is) = (rest.count, if rest.count == 1 { "is" } else { "are" });
        Some(format!("{count} of them {is} not taken over: {text}"))
    }

    /// The numbers of shares that an agent has or is offered.
    fn held(&self, places: &[Place], host: u32) -> Vec<u32> {
        let mut held = held(places, host);
        held.extend(offered(&self.made, host).map(|offer| offer.shares.count));
        held
    }
}

fn machine(places: &[Place], host: u32) -> MachineFacts {
    places[host as usize].beat.machine
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attachments::Attachments;
    use crate::division::divide;
    use crate::message::AgentKey;
    use crate::on_loss::OnLoss;
    use crate::setup::Setup;
    use std::sync::Arc;

    const MANY: u64 = 1_000;

    fn beat(agent: &str, cores: u32, descriptors: u64) -> Beat {
        let machine = MachineFacts {
            cores,
            descriptors: Some(descriptors),
        };
        let name = (agent.to_owned(), AgentKey::new([0; 16]));
        Beat::free(name, "1".to_owned(), machine)
    }

    /// Eight shares with 8 connections each. The first of four agents with two shares each is lost.
    fn offered(descriptors: [u64; 3], idle: &[Beat]) -> (Vec<(String, u32)>, Vec<String>) {
        let plan = drumfire_testkit::open("const(100/s,3s)").connections(64);
        let setup = Setup {
            run: "r".to_owned(),
            program: "1".to_owned(),
            plan: Arc::new(plan.threads(8).plan().unwrap()),
            text: String::new(),
            attachments: Attachments::default(),
            agents: 4,
            on_loss: OnLoss::Redistribute,
        };
        let [b, c, d] = descriptors;
        let agents = [("a", MANY), ("b", b), ("c", c), ("d", d)];
        let agents = agents.map(|(agent, descriptors)| beat(agent, 2, descriptors));
        let machines: Vec<MachineFacts> = agents.iter().map(|beat| beat.machine).collect();
        let shares = divide(&setup.plan, &machines).unwrap();
        let agents = agents.into_iter().map(|beat| (beat, Nanos::ZERO)).collect();
        let mut places = Place::all(&setup, agents, &shares);
        (places[0].state, places[0].lost_at) = (PlaceState::Lost, Some(Nanos(1)));
        let room = Room::for_plan(&setup.plan, places[0].assignment.machine);
        let offers = offers(&places, Nanos(1), idle.iter(), &room);
        let mut next = places[0].assignment.shares.first;
        for offer in &offers.made {
            assert_eq!(offer.shares.first, next, "one beside the other");
            next += offer.shares.count;
        }
        let made = offers.made.into_iter();
        let made = made.map(|offer| (offer.agent, offer.shares.count));
        let unplaced = offers.unplaced.into_iter();
        (made.collect(), unplaced.map(|(_, text)| text).collect())
    }

    #[test]
    fn shares_go_to_those_that_have_room_for_them() {
        let full = 64 + 16;
        for (descriptors, expected, unplaced) in [
            ([MANY, MANY, MANY], &[("b+1", 1), ("c+1", 1)][..], ""),
            ([full, MANY, full], &[("c+1", 2)], ""),
            (
                [full, full + 8, full],
                &[("c+1", 1)],
                "1 of them is not taken over: with one more share, agent b needs 88 file \
                 descriptors, but its limit is 80 (set ulimit -n 88)",
            ),
            (
                [full, full, full + 1],
                &[],
                "2 of them are not taken over: with one more share, agent d needs 88 file \
                 descriptors, but its limit is 81 (set ulimit -n 88)",
            ),
        ] {
            let (made, text) = offered(descriptors, &[]);
            let made: Vec<(&str, u32)> = made.iter().map(|it| (&*it.0, it.1)).collect();
            assert_eq!(made, expected, "{descriptors:?}");
            assert_eq!(text.concat(), unplaced, "{descriptors:?}");
        }
    }

    #[test]
    fn agents_that_wait_come_first_with_as_many_as_their_cores_would_have_had() {
        let many = [MANY, MANY, MANY];
        for (idle, expected) in [
            (&[beat("s", 2, MANY)][..], &[("s", 2)][..]),
            (&[beat("s", 1, MANY)], &[("s", 1), ("b+1", 1)]),
            (&[beat("s", 2, 72)], &[("s", 1), ("b+1", 1)]),
            (
                &[beat("s", 1, MANY), beat("t", 8, MANY)],
                &[("s", 1), ("t", 1)],
            ),
            // A name that has a place cannot belong to another agent.
            (&[beat("b", 2, MANY)], &[("b+1", 1), ("c+1", 1)]),
        ] {
            let (made, text) = offered(many, idle);
            let made: Vec<(&str, u32)> = made.iter().map(|it| (&*it.0, it.1)).collect();
            assert_eq!(made, expected);
            assert!(text.is_empty());
        }
    }
}
