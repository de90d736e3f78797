//! Names: the names of lanes' peers, looked up again while a run goes on.
//!
//! A lane's timer ([`Wake::Names`]) begins a look-up on a thread of its own; while one is under way
//! ([`Names::seek`]), the transport asks for its answer from time to time, which sets the lane's
//! timer again. Connections are moved by the transport alone: an answer only says which of them
//! lead elsewhere by now.
//!
//! A look-up that fails changes nothing: the addresses of before stay, and the name is asked for
//! again within [`LOOK_UP_AGAIN`]. A lane has one look-up under way at most, since its timer is set
//! again by the answer alone.

use super::bindings::Bindings;
use super::seats::Seats;
use crate::id::LaneId;
use crate::limits::LOOK_UP_AGAIN;
use crate::prepare::{Lookup, Place, Sought};
use crate::timers::{Timers, Wake};
use drumfire_net::Slot;
use drumfire_units::Nanos;
use std::sync::mpsc::TryRecvError;

/// The look-ups of lanes' names that are under way; a few at most.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<(LaneId, Sought)>);

impl Names {
    /// Begins to look the name up to which a lane leads; where there is no thread for it, later.
    #[cold]
    pub(super) fn look_up(
        &mut self,
        id: LaneId,
        seats: &Seats,
        lookup: &Lookup,
        timers: &mut Timers,
        now: Nanos,
    ) {
        let Some(named) = seats.lane(id).route().named() else {
            return;
        };
        match lookup.place_of(named.origin().clone()) {
            Ok(sought) => self.0.push((id, sought)),
            Err(_no_thread) => timers.at(now + LOOK_UP_AGAIN, Wake::Names(id)),
        }
    }

    /// Takes the answers that have come, and leads lanes to them. Gives the slots whose connections
    /// lead elsewhere than their shares by now; where there was no answer, all stays.
    #[cold]
    pub(super) fn take_answers(
        &mut self,
        bindings: &mut Bindings,
        timers: &mut Timers,
        now: Nanos,
    ) -> Vec<Slot> {
        let mut moved = Vec::new();
        while let Some((id, place)) = self.next_answer() {
            let is_known = place.is_some();
            let lane = bindings.seats_mut().lane_mut(id);
            if place.is_some_and(|place| lane.lead_to(place)) {
                bindings.move_shares(id, &mut moved);
            }
            let again = bindings.seats().lane(id).looked_up_at(now);
            let soon = now + LOOK_UP_AGAIN;
            let again = again.map(|at| if is_known { at } else { at.min(soon) });
            if let Some(at) = again {
                timers.at(at, Wake::Names(id));
            }
        }
        moved
    }

    /// Whether any name is being looked up.
    pub(super) const fn seek(&self) -> bool {
        !self.0.is_empty()
    }

    /// Takes an answer that has come; without a place where the look-up has found none.
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
