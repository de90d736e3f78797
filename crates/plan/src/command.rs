//! Changes to a run while it goes on.

use crate::{Sequence, Users};
use drumfire_units::Nanos;

/// A change of a run, from a time of the run on.
///
/// All workers apply it at that very time: requests that are due before it follow the load as it
/// was.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The time from which it holds; zero stands for the next possible one ([`Self::soon`]). Any
    /// other time that is past, or too near for every worker to read it before, is refused.
    pub at: Nanos,
    /// The number of the pool that changes, from 0; `None` stands for all of them, or for the only
    /// one.
    pub pool: Option<u16>,
    /// The change.
    pub change: Change,
}

/// The change of a [`Command`].
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The rate of an open load follows another law, whose time begins now.
    Rate {
        /// The law.
        law: Sequence,
    },
    /// The users of a closed load follow another law, whose time begins now.
    Users {
        /// How many.
        law: Users,
    },
    /// The load's own time stops: nothing becomes due. Requests that were due before are still
    /// sent.
    Pause,
    /// The load's own time goes on, and the load where it stood.
    Resume,
    /// Nothing; observers see it.
    Mark {
        /// The label of the mark.
        text: String,
    },
    /// No request starts any more; those in flight may finish.
    Stop {
        /// Why.
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
    /// The load's time stops.
    Pause,
    /// The load's time goes on.
    Resume,
    /// A mark.
    Mark,
    /// The end.
    Stop,
}

impl ChangeKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Rate,
        Self::Users,
        Self::Pause,
        Self::Resume,
        Self::Mark,
        Self::Stop,
    ];

    /// The name, as `drumfire ctl` takes it; stored runs have it, so it never changes.
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

    /// Whether the load is another one than the plan's from then on.
    #[must_use]
    pub const fn is_of_load(self) -> bool {
        matches!(self, Self::Rate | Self::Users | Self::Pause)
    }
}

impl Change {
    /// Its kind.
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

/// Why no request starts any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A signal asked for it.
    Signal,
    /// The plan's duration, or that of its load, is over.
    Duration,
    /// As many requests have started as the plan has.
    Counted,
    /// A threshold failed that ends the run.
    Threshold,
    /// A command asked for it.
    Command,
    /// All processes that were to carry it out are lost.
    Lost,
    /// One of them is lost, and the load stops by that.
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

    /// The word for it, as programs read it.
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

    /// The sentence about a load that ended before its plan; `None` for the plan's own ends.
    #[must_use]
    pub const fn early_note(self) -> Option<&'static str> {
        Some(match self {
            Self::Signal => "a signal ended the run before its planned end",
            Self::Threshold => "a threshold ended the run before its planned end",
            Self::Command => "a command ended the run before its planned end",
            Self::Lost => "the loss of all agents ended the run before its planned end",
            Self::AgentLost => "the loss of an agent ended the run before its planned end",
            Self::Duration | Self::Counted => return None,
        })
    }
}

impl Command {
    /// A change from the next possible time on.
    #[must_use]
    pub const fn soon(change: Change) -> Self {
        Self {
            at: Nanos::ZERO,
            pool: None,
            change,
        }
    }
}
