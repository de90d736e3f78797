//! A change of a run by a command: the parts that a summary needs.
//!
//! [`Changed::by`] makes one from the command when it holds, and [`Changed::of`] one with its note.
//! A [`Reading`](crate::Reading) takes it before the interval within which it holds. The store
//! writes the command between the same two intervals, so that a run that is read back cuts its
//! stages as they were cut. Its times count from the start of its part of the run:
//! [`Changed::after`] moves them where a part began later.

use crate::RunInfo;
use drumfire_plan::{Change, ChangeKind, Command, Stage};
use drumfire_units::Nanos;

/// A change of a run: the parts of a command that a summary needs, and its note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The number of the pool that changed, from 0; `None` stands for all of them.
    pub pool: Option<u16>,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The time from which the change held, from the start of its part of the run.
    pub at: Nanos,
    /// The stages of the law that began then, in the law's own time; empty if the change has no law.
    pub law: Vec<Stage>,
    /// Its sentence in the notes on the run.
    pub note: String,
}

impl Changed {
    /// The change that a command made in a run of these facts, with its note.
    #[must_use]
    pub fn of(command: &Command, info: &RunInfo) -> Self {
        Self {
            note: command_note(command, info),
            ..Self::by(command)
        }
    }

    /// The change that a command made, without a note.
    #[must_use]
    pub fn by(command: &Command) -> Self {
        Self {
            pool: command.pool,
            kind: command.change.kind(),
            at: command.at,
            law: Stage::begun_by(&command.change),
            note: String::new(),
        }
    }

    /// The change of a part of a run that began `offset` after the run's start.
    #[must_use]
    pub fn after(mut self, offset: Nanos) -> Self {
        self.at += offset;
        self
    }
}

/// A report's note on a command that changed a run of these facts. A report of a stored run makes
/// the same words of the stored command.
#[must_use]
pub fn command_note(command: &Command, info: &RunInfo) -> String {
    let at = command.at;
    let pool = command
        .pool
        .and_then(|pool| info.pools.get(usize::from(pool)));
    let of = match pool {
        Some(pool) if info.pools.len() > 1 => format!(" of {}", pool.name),
        _ => String::new(),
    };
    let seconds = at.as_secs_f64();
    match &command.change {
        Change::Rate { law } => format!("at {seconds:.1} s the rate{of} changed to {law}"),
        Change::Users { law } => match law.changes() {
            [(_, count)] => format!("at {seconds:.1} s the users{of} changed to {count}"),
            _ => format!("at {seconds:.1} s the users{of} changed to another law"),
        },
        Change::Pause => format!("at {seconds:.1} s the load{of} was paused"),
        Change::Resume => format!("at {seconds:.1} s the load{of} resumed"),
        Change::Mark { text } => format!("at {seconds:.1} s: {text}"),
        Change::Stop { .. } => format!("at {seconds:.1} s a command ended the load{of}"),
    }
}
