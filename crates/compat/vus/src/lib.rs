//! Users of k6's scripts: each runs iterations of a script on a stack of its own.
//!
//! [`Program::load`] links the modules of a script and reads its options. [`Run`] makes the users, and starts
//! their iterations as the executors of the scenarios require. A call of the script that takes time, such as
//! `http.get`, suspends its user; the run makes requests of the engine's client and timers of such calls, and
//! continues the user when they end. All users of a run share one thread and one realm.
//!
//! ```text
//!   executors ─► iteration ─► fibre ─► native function ─► Ask ─► client, timers ─► Answer ─► fibre
//! ```
//!
//! The caller provides files, names and the places where texts go ([`Surroundings`]); this crate must not know
//! flags and the terminal. Start reading at [`Run`].

mod answer;
mod arguments;
mod ask;
mod builtin;
mod clock;
mod codes;
mod crypto;
mod errand;
mod jars;
mod loader;
mod native;
mod program;
mod redirect;
mod run;
mod settings;
mod state;
mod surroundings;
mod talk;

pub use program::{Contexts, Program, ProgramError, Source};
pub use run::{Ended, OwnSummary, Progress, Run, RunError, Verdict};
pub use settings::{HostRule, Settings, SettingsError};
pub use surroundings::{Level, Surroundings};
