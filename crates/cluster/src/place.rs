//! An agent's place in a run, as the coordinator sees it.

use crate::Offset;
use crate::inbox::Inbox;
use crate::lease::{LEASE, LEASE_MARGIN};
use crate::message::{Assignment, Beat, Phase};
use drumfire_measure::{Ending, RunInfo};
use drumfire_units::Nanos;

/// Crystals of good clocks differ by as much within minutes, and no figure does by it.
const CLOCK_MOVED_MIN: Nanos = Nanos::from_millis(1);

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
    /// Its estimate of the clock when the start was named.
    pub(crate) clock: Option<Offset>,
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
            clock: None,
            reported: Nanos::ZERO,
            changes: 0,
            has_stopped: false,
        }
    }

    /// Whether its agent has no lease any more, whatever its clock says.
    pub(crate) fn is_overdue(&self, now: Nanos) -> bool {
        self.state == PlaceState::Taken && now - self.heard > LEASE + LEASE_MARGIN
    }

    /// The movement of its clock since the start was named, where that is more than both estimates
    /// leave open.
    pub(crate) fn clock_moved(&self) -> Option<Nanos> {
        let (before, now) = self.clock.zip(self.beat.offset)?;
        let moved = Nanos(before.ahead.abs_diff(now.ahead));
        let left_open = before.uncertainty + now.uncertainty;
        (moved > left_open.max(CLOCK_MOVED_MIN)).then_some(moved)
    }

    /// Whether its agent waits for the start.
    pub(crate) const fn is_ready(&self) -> bool {
        matches!(self.beat.phase, Phase::Ready(_)) && self.info.is_some()
    }
}
