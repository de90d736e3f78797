//! Names: the names of lanes' peers, looked up again during a run.
//!
//! A lane's timer ([`Wake::Names`]) begins a look-up on a separate thread. While one is running
//! ([`Names::seek`]), the transport polls for its answer, which sets the lane's timer again. Only
//! the transport closes connections: this module lists the connections whose address has changed.
//!
//! A look-up that fails changes nothing: the old addresses stay, and the name is looked up again
//! within [`LOOK_UP_AGAIN`]. A lane has at most one running look-up, because only the answer sets
//! its timer again.

use super::connections::Connections;
use super::lane::Lanes;
use crate::id::LaneId;
use crate::limits::LOOK_UP_AGAIN;
use crate::prepare::{Lookup, Place, Sought};
use crate::timers::{Timers, Wake};
use drumfire_net::Slot;
use drumfire_units::Nanos;
use std::sync::mpsc::TryRecvError;

/// The running look-ups of lanes' names; a few at most.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<(LaneId, Sought)>);

impl Names {
    /// Begins to look up the name of a lane; later, if no thread can be started.
    #[cold]
    pub(super) fn look_up(
        &mut self,
        id: LaneId,
        lanes: &Lanes,
        lookup: &Lookup,
        timers: &mut Timers,
        now: Nanos,
    ) {
        let Some(named) = lanes[id].route.named() else {
            return;
        };
        match lookup.place_of(named.origin.clone()) {
            Ok(sought) => self.0.push((id, sought)),
            Err(_no_thread) => timers.insert(now + LOOK_UP_AGAIN, Wake::Names(id)),
        }
    }

    /// Takes the available answers, and applies them to lanes. Returns the slots whose connections
    /// have another address than their shares; without an answer, nothing changes.
    #[cold]
    pub(super) fn take_answers(
        &mut self,
        connections: &mut Connections,
        timers: &mut Timers,
        now: Nanos,
    ) -> Vec<Slot> {
        let mut moved = Vec::new();
        while let Some((id, place)) = self.next_answer() {
            let is_known = place.is_some();
            let lane = &mut connections.lanes[id];
            if place.is_some_and(|place| lane.lead_to(place)) {
                connections.move_shares(id, &mut moved);
            }
            let again = connections.lanes[id].looked_up_at(now);
            let soon = now + LOOK_UP_AGAIN;
            let again = again.map(|at| if is_known { at } else { at.min(soon) });
            if let Some(at) = again {
                timers.insert(at, Wake::Names(id));
            }
        }
        moved
    }

    /// Whether any name is being looked up.
    pub(super) const fn seek(&self) -> bool {
        !self.0.is_empty()
    }

    /// Takes an available answer; without a place if the look-up has failed.
    fn next_answer(&mut self) -> Option<(LaneId, Option<Place>)> {
        for at in 0..self.0.len() {
            let answer = match self.0[at].1.try_recv() {
                Err(TryRecvError::Empty) => continue,
                Err(TryRecvError::Disconnected) => None,
                Ok(answer) => answer.ok(),
            };
            let (lane, _) = self.0.swap_remove(at);
            return Some((lane, answer));
        }
        None
    }
}
