//! Exit codes, and why a command ended without a result.

use drumfire_document::{Diagnostic, Fault};
use drumfire_measure::{Digest, Validity};
use drumfire_store::TeardownFailure;
use std::fmt;
use std::process::ExitCode;

/// The exit code of the program. The numbers are a stable interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Nothing could be measured, every request failed, or a result could not be written.
    Failed,
    /// The command line, or a file that it names, is wrong.
    Usage,
    /// With `--strict`, the run is not valid or its load was not kept. In a capacity search, the
    /// capacity was not confirmed, or the generator was the limit.
    NotStrict,
    /// A signal or a command ended the run before its plan did.
    CutShort,
    /// A signal ended an experiment before its last round.
    RoundsCut,
    /// The judged runs are worse than the runs they were compared with.
    Worse,
    /// A threshold failed, or the first rate of a search misses its objectives.
    Threshold,
    /// The code of another tool.
    Dialect(u8),
}

impl Exit {
    /// The exit code of a run.
    ///
    /// With `--strict`, a failed threshold of a run that is not valid is not the target's fault: the
    /// generator may have failed it. If only the load was not kept, the threshold decides: a target
    /// that became slow keeps its connections busy, and figures of an incomplete load are lower
    /// bounds, by which a rule fails only if it fails in any case.
    pub(crate) fn for_run(run: &Digest, strict: bool) -> Self {
        if strict && run.validity != Validity::Valid {
            Self::NotStrict
        } else if run.thresholds_failed > 0 {
            Self::Threshold
        } else if strict && run.load_kept != Some(true) {
            Self::NotStrict
        } else if run.is_cut_short && run.requests == 0 {
            // Nothing was sent, so nothing could fail.
            Self::CutShort
        } else if run.ok == 0 || run.is_lost {
            Self::Failed
        } else if run.is_cut_short {
            Self::CutShort
        } else {
            Self::Done
        }
    }

    /// The exit code if the teardown of a stored run failed. A failure of the load takes
    /// precedence.
    pub(crate) fn with_teardown(self, failure: Option<&TeardownFailure>) -> Self {
        match (self, failure) {
            (Self::Done, Some(failure)) if failure.is_cut_short => Self::CutShort,
            (Self::Done, Some(_)) => Self::Failed,
            (exit, _) => exit,
        }
    }

    /// The exit code of another tool.
    pub(crate) fn from_dialect(code: u8) -> Self {
        Self::Dialect(code)
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NotStrict => 3,
            // Commands that compare have a separate code for a load that was cut short, so that
            // each code has one meaning per command.
            Exit::CutShort | Exit::Worse => 4,
            Exit::RoundsCut => 5,
            Exit::Threshold => 99,
            Exit::Dialect(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(u8::from(exit))
    }
}

/// Why a command ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    /// The remedy, with our own flags. The remedy follows the message; other tools' command lines
    /// omit it.
    pub(crate) remedy: String,
}

impl Failure {
    /// A mistake on the command line or in a file that it names.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self {
            exit: Exit::Usage,
            message: message.to_string(),
            remedy: String::new(),
        }
    }

    /// All mistakes of a document, one per line.
    pub(crate) fn from_diagnostics(diagnostics: &[Diagnostic]) -> Self {
        Self::of_lines(diagnostics.iter().map(ToString::to_string), diagnostics)
    }

    /// A failure of these lines. The diagnostics determine the exit code.
    pub(crate) fn of_lines(
        lines: impl IntoIterator<Item = String>,
        diagnostics: &[Diagnostic],
    ) -> Self {
        let lines: Vec<String> = lines.into_iter().collect();
        let message = lines.join("\ndrumfire: ");
        // A document with its own mistake is wrong, even if the environment fails too.
        match diagnostics.iter().all(|found| found.fault == Fault::World) {
            true => Self::failed(message),
            false => Self::usage(message),
        }
    }

    /// Adds a remedy to the message.
    pub(crate) fn with_remedy(self, remedy: impl Into<String>) -> Self {
        let remedy = remedy.into();
        Self { remedy, ..self }
    }

    /// The failure to write a result of a run with this exit code. A failed threshold and
    /// `--strict` take precedence.
    pub(crate) fn of_run(self, deserved: Exit) -> Self {
        match (self.exit, deserved) {
            (Exit::Failed, Exit::Threshold | Exit::NotStrict) => Self {
                exit: deserved,
                ..self
            },
            _ => self,
        }
    }

    /// Nothing could be done.
    pub(crate) fn failed(message: impl fmt::Display) -> Self {
        Self {
            exit: Exit::Failed,
            message: message.to_string(),
            remedy: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;
    use drumfire_measure::{Digest, Interval, Model, PoolInfo, Reading, RunInfo, Validity};
    use drumfire_units::Nanos;
    use std::sync::Arc;

    /// A run with one due request that was sent and is ok.
    fn digest() -> Digest {
        let info = RunInfo::new(vec![PoolInfo::new("main", Model::Open, ["GET /"])]);
        let interval = Interval::of_pools(&info.pools);
        let mut reading = Reading::new(Arc::new(info), &[]);
        reading.absorb(&interval);
        Digest {
            validity: Validity::Valid,
            load_kept: Some(true),
            requests: 1,
            ok: 1,
            ..Digest::from_summary(&reading.close(Nanos::from_secs(1), 0.0))
        }
    }

    /// With `--strict`, only a trusted run can fail a threshold of its target.
    #[test]
    fn a_run_that_is_not_valid_fails_no_threshold_with_strict() {
        use Validity::{Invalid, Suspect, Valid};
        for (validity, load_kept, thresholds_failed, plain, strict) in [
            (Valid, Some(true), 0, Exit::Done, Exit::Done),
            (Valid, Some(true), 1, Exit::Threshold, Exit::Threshold),
            (Valid, Some(false), 0, Exit::Done, Exit::NotStrict),
            (Valid, Some(false), 1, Exit::Threshold, Exit::Threshold),
            (Valid, None, 0, Exit::Done, Exit::NotStrict),
            (Suspect, Some(true), 0, Exit::Done, Exit::NotStrict),
            (Suspect, Some(true), 1, Exit::Threshold, Exit::NotStrict),
            (Invalid, Some(false), 1, Exit::Threshold, Exit::NotStrict),
        ] {
            let run = Digest {
                validity,
                load_kept,
                thresholds_failed,
                ..digest()
            };
            let codes = (Exit::for_run(&run, false), Exit::for_run(&run, true));
            assert_eq!(codes, (plain, strict), "{run:?}");
        }
    }
}
