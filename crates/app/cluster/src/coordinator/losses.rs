//! Lost and failed agents: before the start is set they end the run, and afterwards their places.

use super::{Coordinator, Halt};
use crate::event::{ClusterEvent, CoordinatorAction};
use crate::journal::Entry;
use crate::on_loss::OnLoss;
use crate::place::PlaceState;
use drumfire_plan::StopReason;
use drumfire_units::Nanos;

impl Coordinator {
    /// Treats an agent as lost because it has not sent a beat for too long.
    pub(super) fn miss(&mut self, index: usize, now: Nanos, actions: &mut Vec<CoordinatorAction>) {
        let Some(start) = self.start else {
            let reason = "the agent no longer responds".to_owned();
            return self.fail(index, reason, now, actions);
        };
        let at = self.places[index].lost_now(now - start);
        let entry = Entry::Lost(index as u32, at);
        actions.push(CoordinatorAction::Journal(entry.frame()));
        self.lose(index, at, actions);
    }

    /// Marks an agent as lost at a run time: its lease has expired, and it does not answer.
    pub(super) fn lose(&mut self, index: usize, at: Nanos, actions: &mut Vec<CoordinatorAction>) {
        let place = &mut self.places[index];
        place.state = PlaceState::Lost;
        if !place.has_begun() && place.refusal.is_none() {
            let is_over = self.has_stopped || self.halt.is_some();
            let reason = if is_over {
                "the load was over"
            } else {
                "it did not join"
            };
            place.refusal = Some(reason.to_owned());
        }
        self.merge.close(index);
        // If the place has not begun, nothing is lacking: the earlier lost agent still accounts for
        // its shares.
        if place.has_begun() {
            self.lack(index, at, actions);
        }
        self.close_intervals(actions);
        self.finish(actions);
    }

    /// Records that the load lacks an agent's share from this run time.
    pub(super) fn lack(&mut self, index: usize, at: Nanos, actions: &mut Vec<CoordinatorAction>) {
        let lost_at = &mut self.places[index].lost_at;
        if lost_at.is_some() {
            return;
        }
        *lost_at = Some(at);
        let mut begun = self.places.iter().filter(|place| place.has_begun());
        if begun.all(|place| place.lost_at.is_some()) {
            return self.stop(StopReason::Lost, actions);
        }
        // A load that lacks a share from its beginning is useless, although others may have begun
        // theirs.
        let is_early = at == Nanos::ZERO;
        if (self.setup.on_loss == OnLoss::Abort || is_early) && self.halt.is_none() {
            let agent = &self.places[index].agent;
            let note = match is_early {
                true => {
                    format!("agent {agent} was lost before the load began; the load was stopped")
                }
                false => format!("the loss of agent {agent} stopped the load (--on-loss abort)"),
            };
            actions.push(CoordinatorAction::Tell(ClusterEvent::Note(note)));
            actions.push(CoordinatorAction::Tell(ClusterEvent::Aborted));
            self.halt = Some(Halt {
                reason: StopReason::AgentLost,
                ends: is_early,
                at,
                by_loss: true,
            });
            actions.push(CoordinatorAction::Nudge);
        }
    }

    /// If all agents that had begun are lost, the run time of the last loss, or of an earlier stop
    /// of the load.
    pub(super) fn all_lost_at(&self) -> Option<Nanos> {
        let begun = self.places.iter().filter(|place| place.has_begun());
        let losses: Option<Vec<Nanos>> = begun.map(|place| place.lost_at).collect();
        let last = losses?.into_iter().max()?;
        Some(self.halt.map_or(last, |halt| last.min(halt.at)))
    }

    /// Ends the run because of an agent. Before the start is set, the run fails; afterwards, the
    /// agent counts as lost.
    pub(super) fn fail(
        &mut self,
        index: usize,
        reason: String,
        now: Nanos,
        actions: &mut Vec<CoordinatorAction>,
    ) {
        if let Some(start) = self.start {
            let at = self.places[index].lost_now(now - start);
            let entry = Entry::Failed(index as u32, at, reason.clone());
            actions.push(CoordinatorAction::Journal(entry.frame()));
            self.places[index].refusal = Some(reason);
            return self.lose(index, at, actions);
        }
        if self.is_over {
            return;
        }
        self.is_over = true;
        let reason = format!("{}: {reason}", self.places[index].agent);
        for place in &mut self.places {
            place.state = PlaceState::Lost;
        }
        actions.push(CoordinatorAction::Tell(ClusterEvent::Failed(reason)));
        actions.push(CoordinatorAction::Nudge);
    }
}
