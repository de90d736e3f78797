//! Replays the entries of a journal.

use super::{Coordinator, tell};
use crate::event::{ClusterEvent, CoordinatorAction};
use crate::journal::{Begun, Entry};
use crate::merge::Merge;
use crate::message::Phase;
use crate::place::Place;
use drumfire_measure::form::{self, FormError};
use drumfire_measure::{RunEvent, RunInfo};
use drumfire_plan::StopReason;
use drumfire_units::Nanos;

impl Coordinator {
    /// Applies an entry that an earlier coordinator of this run wrote. Returns the events that it
    /// causes.
    ///
    /// # Errors
    /// If the entry cannot belong to this run.
    pub(crate) fn replay(&mut self, entry: Entry) -> Result<Vec<ClusterEvent>, FormError> {
        let mut actions = Vec::new();
        match entry {
            Entry::Head(_) | Entry::Term(_) => {}
            Entry::Begun(begun) => self.replay_start(begun, &mut actions)?,
            Entry::Report(bytes) => actions = self.handle_report(&bytes)?,
            Entry::Command(command) => actions = self.command(command),
            Entry::Halt(reason, ends, at) => {
                // A stop by a threshold is found again during the replay, and has a separate event.
                let is_told = self.halt.is_none() && reason != StopReason::Threshold;
                if is_told {
                    tell(RunEvent::Stopping { reason }, &mut actions);
                }
                actions.extend(self.halt_at(reason, ends, at));
            }
            Entry::Lost(place, at) => {
                let index = place as usize;
                if index >= self.places.len() {
                    return Err(FormError::Malformed("a loss of an unknown place"));
                }
                self.lose(index, at, &mut actions);
            }
            Entry::Failed(place, at, reason) => {
                let index = place as usize;
                let place = self.places.get_mut(index);
                let place = place.ok_or(FormError::Malformed("a failure of an unknown place"))?;
                place.refusal = Some(reason);
                self.lose(index, at, &mut actions);
            }
            Entry::Distrusted(place, at, distrust) => {
                let index = place as usize;
                if index >= self.places.len() {
                    return Err(FormError::Malformed("a distrust of an unknown place"));
                }
                self.set_distrust(index, at, distrust, &mut actions);
            }
            Entry::Offered(offer) => {
                // If the host had no share, its place is the next one, which this offer adds.
                if self.places.len() < offer.host as usize || self.places.len() <= offer.of as usize
                {
                    return Err(FormError::Malformed("an offer of an unknown place"));
                }
                self.take_offer(&offer, Nanos::ZERO);
            }
            Entry::Joined(place, from, beat) => {
                let Phase::Ready(info) = &beat.phase else {
                    return Err(FormError::Malformed("a place that joins without facts"));
                };
                let info = form::decode::<RunInfo>(info);
                let info = info.map_err(|_| FormError::Malformed("the facts of a run"))?;
                let index = place as usize;
                let place = self.places.get_mut(index);
                let place = place.ok_or(FormError::Malformed("an unknown place"))?;
                place.info = Some(Box::new(info));
                place.beat = beat;
                self.begin_place(index, from);
            }
        }
        let told = |action| match action {
            CoordinatorAction::Tell(event) => Some(event),
            _ => None,
        };
        Ok(actions.into_iter().filter_map(told).collect())
    }

    /// Applies the start of a run that was taken over.
    fn replay_start(
        &mut self,
        begun: Begun,
        actions: &mut Vec<CoordinatorAction>,
    ) -> Result<(), FormError> {
        for (assignment, beat) in begun.places {
            let Phase::Ready(info) = &beat.phase else {
                return Err(FormError::Malformed("a start without facts"));
            };
            let info = form::decode::<RunInfo>(info);
            let info = info.map_err(|_| FormError::Malformed("the facts of a run"))?;
            let mut place = Place::new(assignment, beat, Nanos::ZERO);
            place.info = Some(Box::new(info));
            self.add_place(place);
        }
        self.merge = Merge::new(self.places.len());
        self.name_start(begun.start, actions);
        Ok(())
    }
}
