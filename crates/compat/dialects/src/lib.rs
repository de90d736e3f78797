//! Turns foreign command lines into a document and a presentation.
//!
//! Knows the flags, defaults, error texts and report formats of other load generators. Must not
//! know the engine or access files: a dialect runs nothing, and reads the files in its flags
//! through [`Host`]. Start reading at [`parse`], then at a dialect's folder.
//!
//! Each tool has a folder with its flags, their translation to a document, and its output. If a
//! dialect seems to need a switch in the engine, the plan lacks a concept: add the concept to the
//! plan.

mod ghz;
mod go_error_text;
mod go_http;
mod go_text;
mod go_time;
mod go_wrk;
mod grammar;
mod grpc_code;
mod outcome;
mod pandora;
mod presentation;
mod slow_cooker;
mod spool;
mod stream;
mod vllm;
mod written;

pub use outcome::{Outcome, Run};
pub use presentation::{CountersPage, Presentation};
pub use spool::Spool;
pub use stream::{LineDestination, Stream};

use drumfire_compile::Host;
use std::sync::Arc;

/// A tool whose command line is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// ghz: gRPC calls at a rate or by workers.
    Ghz,
    /// go-wrk: as fast as possible for a number of seconds.
    GoWrk,
    /// Pandora: pools of instances, by a configuration file.
    Pandora,
    /// slow_cooker: a steady rate, with a line for each interval.
    SlowCooker,
    /// vLLM's `bench serve`: prompts for an inference server.
    Vllm,
}

impl Dialect {
    /// Every dialect, in the order of their names.
    pub const ALL: &'static [Self] = &[
        Self::Ghz,
        Self::GoWrk,
        Self::Pandora,
        Self::SlowCooker,
        Self::Vllm,
    ];

    /// The exit code for a mistake that is found before the run.
    #[must_use]
    pub const fn mistake_exit(self) -> u8 {
        match self {
            Self::Ghz | Self::Pandora => 1,
            Self::GoWrk | Self::Vllm => 2,
            Self::SlowCooker => 64,
        }
    }

    /// Whether the tool fails if it can't write to standard output or standard error: ghz and
    /// vLLM check that error, the others ignore it.
    #[must_use]
    pub const fn heeds_lost_text(self) -> bool {
        match self {
            Self::Ghz | Self::Vllm => true,
            Self::GoWrk | Self::Pandora | Self::SlowCooker => false,
        }
    }

    /// The exit code if the file of a result can't be written after the run. slow_cooker panics in
    /// this case.
    #[must_use]
    pub const fn lost_file_exit(self) -> u8 {
        match self {
            Self::Ghz | Self::GoWrk | Self::Pandora | Self::Vllm => 1,
            Self::SlowCooker => 2,
        }
    }

    /// The name of the tool's program and of the subcommand.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ghz => "ghz",
            Self::GoWrk => "go-wrk",
            Self::Pandora => "pandora",
            Self::SlowCooker => "slow_cooker",
            Self::Vllm => "vllm",
        }
    }
}

/// The dialect for a program name: a link called `go-wrk` behaves like go-wrk, and so does a link
/// with the name of a release, such as `go-wrk_linux_amd64`.
#[must_use]
pub fn for_program(name: &str) -> Option<Dialect> {
    let is_named = |dialect: &Dialect| match name.strip_prefix(dialect.name()) {
        Some(rest) => rest.is_empty() || rest.starts_with(['_', '-', '.']),
        None => false,
    };
    Dialect::ALL.iter().copied().find(is_named)
}

/// Turns the tool's arguments (without the program's name) into a run, or into the text that the
/// tool prints instead. All random values in the run follow from `seed`.
#[must_use]
pub fn parse(dialect: Dialect, args: &[String], host: &Arc<dyn Host>, seed: u64) -> Outcome {
    match dialect {
        Dialect::Ghz => ghz::parse(args, host, seed),
        Dialect::GoWrk => go_wrk::parse(args, host),
        Dialect::Pandora => pandora::parse(args, host, seed),
        Dialect::SlowCooker => slow_cooker::parse(args, host, seed),
        Dialect::Vllm => vllm::parse(args, host, seed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name_and_by_that_of_a_release() {
        assert_eq!(for_program("go-wrk"), Some(Dialect::GoWrk));
        assert_eq!(for_program("ghz"), Some(Dialect::Ghz));
        assert_eq!(for_program("pandora"), Some(Dialect::Pandora));
        assert_eq!(for_program("slow_cooker"), Some(Dialect::SlowCooker));
        assert_eq!(for_program("vllm"), Some(Dialect::Vllm));
        for (name, dialect) in [
            ("slow_cooker_linux_amd64", Dialect::SlowCooker),
            ("go-wrk_linux", Dialect::GoWrk),
            ("ghz-linux-x86_64", Dialect::Ghz),
            ("pandora_0.5.29_linux_amd64", Dialect::Pandora),
            ("ghz.exe", Dialect::Ghz),
        ] {
            assert_eq!(for_program(name), Some(dialect), "{name}");
        }
        for name in ["", "drumfire", "go-wrk2", "Go-Wrk", "wrk", "ghzweb"] {
            assert_eq!(for_program(name), None, "{name}");
        }
    }
}
