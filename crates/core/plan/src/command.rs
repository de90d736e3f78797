//! Changes to an active run.

use crate::{Sequence, UserSteps};
use drumfire_units::Nanos;

/// A change of a run that takes effect at a time of the run.
///
/// All workers apply it at exactly that time: requests that are due before it follow the earlier
/// load.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The time at which the change takes effect; zero means the next possible time
    /// ([`Self::soon`]). Any other time is refused if it is past, or too close for every worker to
    /// receive it before.
    pub at: Nanos,
    /// The number of the pool that changes, from 0; `None` means all pools, or the only one.
    pub pool: Option<u16>,
    /// The change.
    pub change: Change,
}

/// A change of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The rate of an open load follows another law, which starts now.
    Rate {
        /// The law.
        law: Sequence,
    },
    /// The users of a closed load follow another law, which starts now.
    Users {
        /// The number of users over time.
        law: UserSteps,
    },
    /// The load's own time stops, so nothing becomes due. Requests that were due before are still
    /// sent.
    Pause,
    /// The load's own time continues, and the load continues from where it stopped.
    Resume,
    /// No effect on the load; observers see the mark.
    Mark {
        /// The label of the mark.
        text: String,
    },
    /// No more requests start; requests in flight may finish.
    Stop {
        /// The reason.
        reason: StopReason,
    },
}

/// The kind of a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Another rate.
    Rate,
    /// Another number of users.
    Users,
    /// A pause.
    Pause,
    /// The end of a pause.
    Resume,
    /// A mark.
    Mark,
    /// The end of the load.
    Stop,
}

impl ChangeKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Rate,
        Self::Users,
        Self::Pause,
        Self::Resume,
        Self::Mark,
        Self::Stop,
    ];

    /// The name in `drumfire ctl`. Stored runs contain it, so it never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Users => "users",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Mark => "mark",
            Self::Stop => "stop",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether the load differs from the plan's afterwards.
    #[must_use]
    pub const fn is_of_load(self) -> bool {
        matches!(self, Self::Rate | Self::Users | Self::Pause)
    }
}

impl Change {
    /// The kind of the change.
    #[must_use]
    pub const fn kind(&self) -> ChangeKind {
        match self {
            Self::Rate { .. } => ChangeKind::Rate,
            Self::Users { .. } => ChangeKind::Users,
            Self::Pause => ChangeKind::Pause,
            Self::Resume => ChangeKind::Resume,
            Self::Mark { .. } => ChangeKind::Mark,
            Self::Stop { .. } => ChangeKind::Stop,
        }
    }
}

/// Why no more requests start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A signal.
    Signal,
    /// The plan's duration, or the end of its load.
    Duration,
    /// The plan's number of requests has started.
    Counted,
    /// A threshold that ends the run has failed.
    Threshold,
    /// A command.
    Command,
    /// All agents of the run are lost.
    Lost,
    /// One agent is lost, which stops the load.
    AgentLost,
}

impl StopReason {
    /// All reasons.
    pub const ALL: [Self; 7] = [
        Self::Signal,
        Self::Duration,
        Self::Counted,
        Self::Threshold,
        Self::Command,
        Self::Lost,
        Self::AgentLost,
    ];

    /// The name of the reason, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Duration => "duration",
            Self::Counted => "counted",
            Self::Threshold => "threshold",
            Self::Command => "command",
            Self::Lost => "lost",
            Self::AgentLost => "agent_lost",
        }
    }

    /// The note about a load that ended before its plan; `None` if the plan ended it.
    #[must_use]
    pub const fn early_note(self) -> Option<&'static str> {
        Some(match self {
            Self::Signal => "the run was interrupted before its planned end",
            Self::Threshold => "a threshold ended the run before its planned end",
            Self::Command => "a command ended the run before its planned end",
            Self::Lost => "the loss of all agents ended the run before its planned end",
            Self::AgentLost => "the loss of an agent ended the run before its planned end",
            Self::Duration | Self::Counted => return None,
        })
    }
}

impl Command {
    /// A command that takes effect at the next possible time.
    #[must_use]
    pub const fn soon(change: Change) -> Self {
        Self {
            at: Nanos::ZERO,
            pool: None,
            change,
        }
    }
}
