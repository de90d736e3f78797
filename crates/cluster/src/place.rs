//! An agent's place in a run, as the coordinator sees it.

use crate::inbox::Inbox;
use crate::lease::{LEASE, LEASE_MARGIN};
use crate::message::{Assignment, Beat, Phase};
use drumfire_measure::{Ending, RunInfo};
use drumfire_units::Nanos;

/// A share, and the agent that has it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) agent: String,
    pub(crate) assignment: Assignment,
    pub(crate) inbox: Inbox,
    pub(crate) state: PlaceState,
    /// The facts of the run as the agent sees them, once it is ready.
    pub(crate) info: Option<Box<RunInfo>>,
    /// Its ending, once it was reported.
    pub(crate) ending: Option<Box<Ending>>,
    /// The newest beat, and when it came.
    pub(crate) beat: Beat,
    pub(crate) heard: Nanos,
    /// The end of its last interval.
    pub(crate) reported: Nanos,
    /// The changes of the load that it has reported.
    pub(crate) changes: usize,
    /// Whether it has reported the end of its load.
    pub(crate) has_stopped: bool,
}

/// The state of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceState {
    /// Its agent has it.
    Taken,
    /// Its last report was taken.
    Ended,
    /// Its agent was not heard of for longer than its lease.
    Lost,
}

impl Place {
    pub(crate) fn new(assignment: Assignment, beat: Beat, heard: Nanos) -> Self {
        Self {
            agent: beat.agent.clone(),
            assignment,
            inbox: Inbox::default(),
            state: PlaceState::Taken,
            info: None,
            ending: None,
            beat,
            heard,
            reported: Nanos::ZERO,
            changes: 0,
            has_stopped: false,
        }
    }

    /// Whether its agent has no lease any more, whatever its clock says.
    pub(crate) fn is_overdue(&self, now: Nanos) -> bool {
        self.state == PlaceState::Taken && now - self.heard > LEASE + LEASE_MARGIN
    }

    /// Whether its agent waits for the start.
    pub(crate) const fn is_ready(&self) -> bool {
        matches!(self.beat.phase, Phase::Ready(_)) && self.info.is_some()
    }
}
