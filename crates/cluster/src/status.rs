//! The state of a run, which its coordinator sends to anyone who asks.

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
    /// The term of its coordinator.
    pub term: u64,
    /// The number of agents that it is for.
    pub wanted: u64,
    /// The run time; `None` before its start is named.
    pub elapsed: Option<Nanos>,
    /// Whether it is over.
    pub is_over: bool,
    /// Its agents, in the order of their shares, or those that wait for more.
    pub agents: Vec<AgentStatus>,
}

/// The state of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentStatus {
    /// Its name.
    pub name: String,
    /// The version of its program.
    pub program: String,
    /// The cores that it may use.
    pub cores: u32,
    /// Its share; `None` while it waits for others.
    pub shares: Option<Shares>,
    /// Its stage.
    pub stage: Stage,
    /// The coordinator's wall clock less its own, with a bound.
    pub offset: Option<Offset>,
    /// The time since its last beat.
    pub silent: Nanos,
    /// The run time up to which its share is accounted for.
    pub reported: Nanos,
    /// The requests that it has sent until then.
    pub sent: u64,
    /// Those that were due and that it has not sent, by the late policy.
    pub dropped: u64,
    /// Its mean lag.
    pub lag_mean: Nanos,
    /// Its greatest lag.
    pub lag_max: Nanos,
}

/// The stage of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It waits until there are enough agents, or for the start.
    Waits,
    /// Its load goes on.
    Runs,
    /// It has brought its last report.
    Ended,
    /// It has no lease any more.
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
    /// The word for it.
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

/// The coordinator's wall clock less that of an agent. The clocks that both go by begin with their
/// processes, so that the difference of those says nothing to a reader.
fn offset_of_walls(beat: &Beat, unix_ns: u64) -> Option<Offset> {
    let (offset, own) = beat.offset.zip(beat.clock.unix_ns)?;
    Some(offset.of_walls(unix_ns, own))
}

impl AgentStatus {
    /// That of a place at a time.
    pub(crate) fn of(place: &Place, has_start: bool, now: Nanos, unix_ns: u64) -> Self {
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

    /// That of an agent without a place, of which this is the last beat.
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
