//! The state of a run, which its coordinator sends on request.

use crate::envelope::Message;
use crate::message::{Beat, SharesForm};
use crate::offset::Offset;
use crate::place::{Place, PlaceState};
use drumfire_engine::Shares;
use drumfire_measure::form;
use drumfire_units::Nanos;

/// The state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The run's name.
    pub run: String,
    /// The term of the coordinator.
    pub term: u64,
    /// The number of agents that the run needs.
    pub wanted: u64,
    /// The run time; `None` before the start is set.
    pub elapsed: Option<Nanos>,
    /// Whether the run is over.
    pub is_over: bool,
    /// The agents in the order of their shares, or the agents that wait for more.
    pub agents: Vec<AgentStatus>,
}

/// The state of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentStatus {
    /// The agent's name.
    pub name: String,
    /// The version of the agent's program.
    pub program: String,
    /// The number of cores that the agent may use.
    pub cores: u32,
    /// The agent's shares; `None` while it waits for others.
    pub shares: Option<Shares>,
    /// The agent's stage.
    pub stage: Stage,
    /// The coordinator's wall clock minus the agent's, with a bound.
    pub offset: Option<Offset>,
    /// The time since the last beat.
    pub silent: Nanos,
    /// The run time up to which the share is accounted for.
    pub reported: Nanos,
    /// The number of requests sent until then.
    pub sent: u64,
    /// The number of due requests that were not sent because of the late policy.
    pub dropped: u64,
    /// The mean lag.
    pub lag_mean: Nanos,
    /// The maximum lag.
    pub lag_max: Nanos,
}

/// The stage of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The agent waits for more agents, or for the start.
    Waits,
    /// The load is running.
    Runs,
    /// The agent has delivered its last report.
    Ended,
    /// The agent's lease has expired.
    Lost,
}

form! { struct Status { run, term, wanted, elapsed, is_over, agents } }

form! {
    struct AgentStatus {
        name, program, cores, shares as Option<SharesForm>, stage, offset, silent, reported, sent,
        dropped, lag_mean, lag_max,
    }
}

form! { enum Stage { 0 => Waits, 1 => Runs, 2 => Ended, 3 => Lost } }

impl Message for Status {}

impl Stage {
    /// The name of the stage.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waits => "waits",
            Self::Runs => "runs",
            Self::Ended => "ended",
            Self::Lost => "lost",
        }
    }
}

/// The coordinator's wall clock minus an agent's. The monotonic clocks start with their processes,
/// so their difference means nothing to a reader.
fn offset_of_walls(beat: &Beat, unix_ns: u64) -> Option<Offset> {
    let (offset, own) = beat.offset.zip(beat.clock.unix_ns)?;
    Some(offset.of_walls(unix_ns, own))
}

impl AgentStatus {
    /// The state of the agent of a place at a time.
    pub(crate) fn from_place(place: &Place, has_start: bool, now: Nanos, unix_ns: u64) -> Self {
        let (beat, tally) = (&place.beat, &place.tally);
        let stage = match place.state {
            _ if place.is_lost() => Stage::Lost,
            PlaceState::Ended => Stage::Ended,
            _ if has_start && place.has_begun() => Stage::Runs,
            _ => Stage::Waits,
        };
        Self {
            name: place.agent.clone(),
            program: beat.program.clone(),
            cores: beat.machine.cores,
            shares: Some(place.assignment.shares),
            stage,
            offset: offset_of_walls(beat, unix_ns),
            silent: now - place.heard,
            reported: place.reported,
            sent: tally.sent,
            dropped: tally.dropped,
            lag_mean: tally.lag_mean(),
            lag_max: tally.lag_max,
        }
    }

    /// The state of an agent without a place, from its last beat.
    pub(crate) fn waiting(beat: &Beat, silent: Nanos, unix_ns: u64) -> Self {
        Self {
            name: beat.agent.clone(),
            program: beat.program.clone(),
            cores: beat.machine.cores,
            shares: None,
            stage: Stage::Waits,
            offset: offset_of_walls(beat, unix_ns),
            silent,
            reported: Nanos::ZERO,
            sent: 0,
            dropped: 0,
            lag_mean: Nanos::ZERO,
            lag_max: Nanos::ZERO,
        }
    }
}
