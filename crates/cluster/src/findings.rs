//! The facts and the findings that a run has of its agents.

use crate::event::{ClusterEvent, Loss};
use crate::place::Place;
use drumfire_measure::RunInfo;
use drumfire_units::{Nanos, rounded};

/// The facts of the whole run: those that all agents have alike, and the notes of any.
pub(crate) fn facts(places: &[Place], run: &str) -> Option<RunInfo> {
    let infos: Vec<&RunInfo> = places.iter().filter_map(|it| it.info.as_deref()).collect();
    let (first, others) = infos.split_first()?;
    let mut info = RunInfo::clone(first);
    run.clone_into(&mut info.id);
    for note in others.iter().flat_map(|other| &other.notes) {
        if !info.notes.contains(note) {
            info.notes.push(note.clone());
        }
    }
    Some(info)
}

/// What the report has to say of the agents' clocks, and of commands that came too late.
pub(crate) fn findings(places: &[Place], term: u64) -> Vec<ClusterEvent> {
    let count = places.len();
    let clocks = places.iter().filter_map(|place| place.clock);
    let mut bounds: Vec<Nanos> = clocks.map(|clock| clock.uncertainty).collect();
    bounds.sort_unstable();
    // Two starts differ by no more than the two widest bounds together.
    let apart = bounds
        .iter()
        .rev()
        .take(2)
        .fold(Nanos::ZERO, |sum, it| sum + *it);
    let apart = rounded::time(apart.0 as f64);
    let mut events = vec![ClusterEvent::Note(format!(
        "{count} agents were to begin at one moment; by their clocks, within {apart}"
    ))];
    if term > 1 {
        let times = term - 1;
        events.push(ClusterEvent::Note(format!(
            "a coordinator was lost, and another went on with the run ({times}x)"
        )));
    }
    for place in places {
        if let Some(text) = place.loss_text() {
            let shares = place.assignment.shares;
            events.push(ClusterEvent::Lost(Loss {
                text,
                share: f64::from(shares.count) / f64::from(shares.of),
                reported: place.reported,
            }));
        }
        let (agent, late) = (&place.agent, place.beat.late);
        if late > 0 {
            let note = format!("agent {agent} got {late} commands too late to carry them out");
            events.push(ClusterEvent::Suspect(note));
        }
        if let Some(moved) = place.clock_moved() {
            let moved = rounded::time(moved.0 as f64);
            let note = format!("the clock of agent {agent} moved by {moved} during the run");
            events.push(ClusterEvent::Suspect(note));
        }
    }
    events
}
