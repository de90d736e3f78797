//! One side of an experiment: a command line of this program, whose runs are processes.

use super::process::RunProcess;
use crate::exit::Failure;
use crate::flags::result_flags;
use drumfire_import::shell_words;
use drumfire_measure::{RunInfo, form};
use std::ffi::OsString;
use std::path::Path;

/// The commands that run a load.
const COMMANDS: [&str; 4] = ["http", "grpc", "llm", "run"];
/// Flags that the experiment sets for each run, or whose output each run would overwrite, in
/// addition to those in [`result_flags`].
const OWN: [&str; 8] = [
    "-o",
    "--store",
    "--no-store",
    "--show",
    "--print-plan",
    "--print-facts",
    "--svg",
    "--baseline",
];

/// A side of the experiment.
#[derive(Debug)]
pub(super) struct Side {
    /// The flag that contained the command line.
    flag: &'static str,
    /// The command and its arguments.
    words: Vec<String>,
}

impl Side {
    /// Reads a command line. A URL alone means `drumfire http`, a file alone `drumfire run`.
    ///
    /// # Errors
    /// If the command line runs no load, or contains a flag that the experiment sets.
    pub(super) fn parse(flag: &'static str, line: &str) -> Result<Self, Failure> {
        let wrong = |message: &str| Failure::usage(format!("{flag}: {message}"));
        let mut words = shell_words(line).map_err(|message| wrong(&message))?;
        if words.first().is_some_and(|word| word == "drumfire") {
            words.remove(0);
        }
        let Some(first) = words.first() else {
            return Err(wrong(
                "the command line is empty; use one such as 'http -r 500 -z 30s localhost:8080'",
            ));
        };
        if !COMMANDS.contains(&&**first) {
            let is_url = first.contains("://") || crate::bare_url::completed(first).is_some();
            match (Path::new(first).is_file(), is_url) {
                (true, _) => words.insert(0, "run".to_owned()),
                (_, true) => words.insert(0, "http".to_owned()),
                _ => {
                    let shown = first.escape_debug();
                    return Err(wrong(&format!(
                        "`{shown}` does not run a load; quote the whole command line, and begin it with http, grpc, llm or run"
                    )));
                }
            }
        }
        let is_own = |word: &&String| {
            let name = word.split_once('=').map_or(&***word, |(name, _)| name);
            OWN.contains(&name) || result_flags().any(|flag| flag == name)
        };
        if let Some(own) = words.iter().find(is_own) {
            let own = own.split_once('=').map_or(&**own, |(name, _)| name);
            return Err(wrong(&format!(
                "{own} is not allowed here; the runs are stored, and `drumfire report` writes any of their outputs"
            )));
        }
        Ok(Self { flag, words })
    }

    /// The facts about the side's runs that are known before any load is sent: the program reads
    /// the line and prepares its plan.
    ///
    /// # Errors
    /// The message of the program.
    pub(super) fn facts(&self) -> Result<RunInfo, Failure> {
        let process = RunProcess::start_printing(self.args(&["--print-facts".into()]))?;
        let ended = process.wait()?;
        let message = format!("{}: {}", self.flag, ended.message());
        match ended.code {
            Some(0) => form::decode::<RunInfo>(&ended.stdout).map_err(|_| {
                Failure::usage(format!(
                    "{}: the command line prints something instead of running a load; leave \
                         out flags such as --help",
                    self.flag
                ))
            }),
            Some(2) => Err(Failure::usage(message)),
            _ => Err(Failure::failed(message)),
        }
    }

    /// Starts a run that is stored in this directory. Both runs of a round use the round's number
    /// as their seed, unless the line has a seed, so that arrivals and all other random choices are
    /// equal.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub(super) fn start(&self, directory: &Path, round: usize) -> Result<RunProcess, Failure> {
        let mut given: Vec<OsString> = vec!["-o".into(), directory.into(), "--no-github".into()];
        if !self.has(&["-q", "--quiet"]) {
            given.push("-q".into());
        }
        if !self.has(&["--seed"]) {
            given.push(format!("--seed={round}").into());
        }
        given.retain(|flag| flag != "--no-github" || !self.has(&["--no-github"]));
        RunProcess::start(self.args(&given))
    }

    /// The command line with these flags inserted after its command.
    fn args(&self, flags: &[OsString]) -> Vec<OsString> {
        let mut args: Vec<OsString> = self.words.iter().map(OsString::from).collect();
        args.splice(1..1, flags.iter().cloned());
        args
    }

    fn has(&self, flags: &[&str]) -> bool {
        let names = self.words.iter();
        let mut names = names.map(|word| word.split_once('=').map_or(&**word, |(name, _)| name));
        names.any(|name| flags.contains(&name))
    }
}
