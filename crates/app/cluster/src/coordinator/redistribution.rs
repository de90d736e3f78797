//! The shares of lost agents that others take over from a later time of the run.
//!
//! The places alone determine which shares to offer, so offers are computed again at each tick. The
//! offers, and the times from which they are kept, are in the journal before an agent gets them.

use super::Coordinator;
use crate::event::CoordinatorAction;
use crate::journal::Entry;
use crate::lease::START_LEAD;
use crate::message::MachineFacts;
use crate::offers::{Offers, offers};
use crate::on_loss::OnLoss;
use crate::place::Place;
use crate::room::Room;
use crate::succession::ShareOffer;
use drumfire_units::Nanos;

impl Coordinator {
    /// Offers the shares of lost agents to others, and sets the times from which the agents that
    /// are ready keep them.
    pub(super) fn redistribute(&mut self, now: Nanos, actions: &mut Vec<CoordinatorAction>) {
        let Some(start) = self.start.filter(|_| !self.is_over) else {
            return;
        };
        if self.setup.on_loss != OnLoss::Redistribute {
            return;
        }
        if self.has_stopped || self.halt.is_some() {
            return self.withdraw(now, actions);
        }
        self.take_stock(now, actions);
        for index in 0..self.places.len() {
            let place = &self.places[index];
            if !place.has_begun() && place.goes_on() && place.is_ready() {
                let from = self.next_edge(now + START_LEAD - start);
                let beat = place.beat.clone();
                let entry = Entry::Joined(index as u32, from, beat);
                actions.push(CoordinatorAction::Journal(entry.frame()));
                self.begin_place(index, from);
                actions.push(CoordinatorAction::Nudge);
            }
        }
    }

    /// Offers the shares that no agent has.
    fn take_stock(&mut self, now: Nanos, actions: &mut Vec<CoordinatorAction>) {
        if self.places.iter().all(|place| place.lost_at.is_none()) {
            return;
        }
        let Some(machine) = self.machine() else {
            return;
        };
        let room = &*self
            .room
            .get_or_insert_with(|| Room::for_plan(&self.setup.plan, machine));
        let idle = self.waiting.iter().map(|(beat, _)| beat);
        let Offers { made, unplaced } = offers(&self.places, now, idle, room);
        for place in &mut self.places {
            place.unplaced = None;
        }
        for (of, text) in unplaced {
            self.places[of as usize].unplaced = Some(text);
        }
        for offer in made {
            let entry = Entry::Offered(offer.clone());
            actions.push(CoordinatorAction::Journal(entry.frame()));
            self.take_offer(&offer, now);
            actions.push(CoordinatorAction::Nudge);
        }
    }

    /// The sum of the machines to which the plan is fitted.
    fn machine(&self) -> Option<MachineFacts> {
        let first = self.places.first();
        first.map(|place| place.assignment.machine)
    }

    /// Adds the place of an offer.
    pub(super) fn take_offer(&mut self, offer: &ShareOffer, now: Nanos) {
        let Some(machine) = self.machine() else {
            return;
        };
        self.waiting.retain(|(beat, _)| beat.agent != offer.agent);
        let share = self.places.len() as u32;
        let place = Place::offered(offer, share, &self.setup, machine, now);
        self.add_place(place);
        self.merge.join();
    }

    /// Sets the time of the run from which a place keeps its shares.
    pub(super) fn begin_place(&mut self, index: usize, from: Nanos) {
        let place = &mut self.places[index];
        if let Some(succession) = &mut place.succeeds {
            succession.from = Some(from);
        }
        place.clock = place.beat.offset;
        place.reported = from;
        self.merge.set_share_start(index, from);
    }

    /// Withdraws the offers without a start time, because the load is over.
    fn withdraw(&mut self, now: Nanos, actions: &mut Vec<CoordinatorAction>) {
        for index in 0..self.places.len() {
            let place = &self.places[index];
            if !place.has_begun() && place.goes_on() {
                self.miss(index, now, actions);
            }
        }
    }

    /// The first interval end at or after a time of the run, so that the intervals of all shares
    /// have the same edges.
    fn next_edge(&self, at: Nanos) -> Nanos {
        let info = self.places.iter().find_map(|place| place.info.as_ref());
        let interval = info.map_or(1, |info| info.interval.0.max(1));
        Nanos(at.0.div_ceil(interval).saturating_mul(interval))
    }
}
