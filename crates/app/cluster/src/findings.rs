//! The facts and the findings about a run's agents.

use crate::clock_facts::{ClockFacts, start_note, system_note};
use crate::event::{ClusterEvent, Lack, Loss};
use crate::lease::LEASE;
use crate::offers::heirs;
use crate::place::Place;
use crate::room::Room;
use crate::setup::Setup;
use drumfire_measure::RunInfo;
use drumfire_units::{Nanos, rounded};

/// The facts of the whole run: the facts that all agents share, the plan's own rules, and the notes
/// of every agent.
pub(crate) fn facts(places: &[Place], setup: &Setup) -> Option<RunInfo> {
    let infos: Vec<&RunInfo> = places.iter().filter_map(|it| it.info.as_deref()).collect();
    let (first, others) = infos.split_first()?;
    let mut info = RunInfo::clone(first);
    setup.run.clone_into(&mut info.id);
    info.thresholds = setup.plan.thresholds().to_vec();
    info.interval = setup.plan.generator().interval;
    for note in others.iter().flat_map(|other| &other.notes) {
        if !info.notes.contains(note) {
            info.notes.push(note.clone());
        }
    }
    Some(info)
}

/// A finding is reported if it concerns at least 1/20: of a run's time that an agent was short of
/// connections while another had free ones, or of an agent's intervals that were late.
const PART: u64 = 20;
/// The minimum number of late intervals that is reported.
const LATE_MIN: u32 = 2;

/// The findings about a run's agents. `short` is the time for which each was short of connections
/// while another was not.
pub(crate) fn findings(
    places: &[Place],
    short: &[Nanos],
    room: Option<&Room>,
    term: u64,
) -> Vec<ClusterEvent> {
    let gathered = || places.iter().filter(|place| place.succeeds.is_none());
    let starts = gathered().map(|place| (place.clock.map(|it| it.uncertainty), place.beat.clock));
    let starts: Vec<(Option<Nanos>, ClockFacts)> = starts.collect();
    let mut events = vec![ClusterEvent::Note(start_note(&starts))];
    let systems = gathered().map(|place| (&*place.agent, place.beat.clock));
    let systems: Vec<(&str, ClockFacts)> = systems.collect();
    events.extend(system_note(&systems).map(ClusterEvent::Note));
    if term > 1 {
        let times = term - 1;
        events.push(ClusterEvent::Note(format!(
            "a coordinator was lost, and another took over the run ({times}x)"
        )));
    }
    for (index, place) in (0..).zip(places) {
        if place.lost_at.is_some() {
            let text = place.loss_text() + &went_on(places, index);
            let lacks = lacks(places, index, place);
            events.push(ClusterEvent::Lost(Loss { text, lacks }));
        }
        events.extend(of_agent(place).into_iter().map(ClusterEvent::Suspect));
    }
    events.extend(of_connections(places, short).map(ClusterEvent::Suspect));
    events.extend(of_silence(places).map(ClusterEvent::Note));
    let scarce = room.map(|room| of_descriptors(places, room));
    events.extend(scarce.into_iter().flatten().map(ClusterEvent::Note));
    events
}

/// The parts of a lost place's shares, each with the time at which another agent took it over.
fn lacks(places: &[Place], index: u32, place: &Place) -> Vec<Lack> {
    let of = f64::from(place.assignment.shares.of);
    let mut left = place.assignment.shares.count;
    let mut lacks = Vec::new();
    for heir in heirs(places, index).filter(|heir| heir.has_begun()) {
        let count = heir.assignment.shares.count;
        left -= count.min(left);
        lacks.push(Lack {
            share: f64::from(count) / of,
            from: place.unknown_from(),
            until: Some(heir.begins()),
        });
    }
    lacks.push(Lack {
        share: f64::from(left) / of,
        from: place.unknown_from(),
        until: None,
    });
    lacks
}

/// The text about the agents that took over a lost place's shares.
fn went_on(places: &[Place], index: u32) -> String {
    let begun = heirs(places, index).filter(|heir| heir.has_begun());
    let kept: Vec<String> = begun
        .map(|heir| {
            let (count, from) = (heir.assignment.shares.count, heir.begins().as_secs_f64());
            format!("{} took over {count} of them at {from:.1} s", heir.agent)
        })
        .collect();
    let mut text = match kept.is_empty() {
        true => String::new(),
        false => format!(
            "; {}; requests due in between were not sent",
            kept.join(", ")
        ),
    };
    // An agent that was offered the shares twice has one reason.
    let mut reasons = Vec::new();
    for heir in heirs(places, index).filter(|heir| !heir.has_begun()) {
        if let Some(reason) = heir.refusal.as_ref().filter(|it| !reasons.contains(it)) {
            let count = heir.assignment.shares.count;
            text += &format!("; {} did not take {count} of them: {reason}", heir.agent);
            reasons.push(reason);
        }
    }
    if let Some(unplaced) = &places[index as usize].unplaced {
        text += &format!("; {unplaced}");
    }
    text
}

/// Notes about agents that took over lost shares and whose descriptors may not suffice for all
/// their connections.
fn of_descriptors(places: &[Place], room: &Room) -> Vec<String> {
    let note = |(index, own): (u32, &Place)| {
        let is_of = |it: &&Place| it.succeeds.is_some_and(|it| it.host == index) && it.has_begun();
        let further = places.iter().filter(is_of);
        let further = further.map(|it| it.assignment.shares.count);
        let mut held: Vec<u32> = further.collect();
        if held.is_empty() || !own.is_own(index) {
            return None;
        }
        if own.succeeds.is_none() {
            held.push(own.assignment.shares.count);
        }
        room.note(&own.agent, own.beat.machine, &held)
    };
    (0..).zip(places).filter_map(note).collect()
}

/// The findings against an agent's part.
fn of_agent(place: &Place) -> Vec<String> {
    let (agent, late, tally) = (&place.agent, place.beat.late, &place.tally);
    let mut found = Vec::new();
    if late > 0 {
        found.push(format!(
            "agent {agent} received {late} commands too late to carry them out"
        ));
    }
    if let Some(moved) = place.clock_moved() {
        let moved = rounded::time(moved.0 as f64);
        found.push(format!(
            "the clock of agent {agent} moved by {moved} during the run"
        ));
    }
    if tally.late >= LATE_MIN && u64::from(tally.late) * PART >= u64::from(tally.intervals) {
        let (most, mean) = (tally.lag_max.0 as f64, tally.lag_mean().0 as f64);
        found.push(format!(
            "agent {agent} sent late in {} of {} intervals: mean lag {}, maximum {}",
            tally.late,
            tally.intervals,
            rounded::time(mean),
            rounded::time(most),
        ));
    }
    if let Some(reason) = &place.own_verdict {
        found.push(format!(
            "agent {agent} judges its own part invalid: {reason}"
        ));
    }
    found
}

/// The agents whose connections were all busy while another had free ones.
fn of_connections(places: &[Place], short: &[Nanos]) -> impl Iterator<Item = String> {
    let end = places.iter().map(|place| place.reported).max();
    let least = Nanos(end.unwrap_or_default().0 / PART);
    let found = places.iter().zip(short);
    found
        .filter(move |(_, short)| **short > Nanos::ZERO && **short >= least)
        .map(|(place, short)| {
            format!(
                "requests waited for connections of agent {} for {:.1} s while another agent had \
                 free ones; agents do not share connections",
                place.agent,
                short.as_secs_f64()
            )
        })
}

/// The agents that sent no beat for a third of their lease.
fn of_silence(places: &[Place]) -> impl Iterator<Item = String> {
    let found = places.iter().filter(|place| place.silence.0 >= LEASE.0 / 3);
    found.map(|place| {
        let silence = rounded::time(place.silence.0 as f64);
        format!("no message from agent {} for {silence}", place.agent)
    })
}
