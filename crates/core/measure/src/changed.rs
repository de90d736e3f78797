//! A change of a run by a command: the parts that a summary needs.
//!
//! [`Changed::by`] makes a change from the command when it takes effect, and
//! [`Changed::from_command`] one with its note. A [`Reading`](crate::Reading) takes the change
//! before the interval within which it takes effect. The store writes the command between the same
//! two intervals, so that a run that is read back has the same stages. Times count from the start
//! of the change's part of the run; [`Changed::after`] moves them if the part began later.

use crate::RunInfo;
use drumfire_plan::{Change, ChangeKind, Command, Stage};
use drumfire_units::Nanos;

/// A change of a run: the parts of a command that a summary needs, and its note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The number of the pool that changed, from 0; `None` means all pools.
    pub pool: Option<u16>,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The time at which the change took effect, from the start of its part of the run.
    pub at: Nanos,
    /// The stages of the law that began then, in the law's own time; empty if the change has no law.
    pub law: Vec<Stage>,
    /// The change's sentence in the notes on the run.
    pub note: String,
}

impl Changed {
    /// The change by a command in a run with these facts, with its note.
    #[must_use]
    pub fn from_command(command: &Command, info: &RunInfo) -> Self {
        Self {
            note: command_note(command, info),
            ..Self::by(command)
        }
    }

    /// The change by a command, without a note.
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

/// A report's note on a command in a run with these facts. A report of a stored run produces the
/// same text from the stored command.
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
