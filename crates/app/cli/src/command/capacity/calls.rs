//! A load from a command line of `drumfire grpc` or `drumfire llm`.

use super::terms::check;
use crate::document::{self, Written};
use crate::exit::Failure;
use crate::flags::{CapacityFlags, GrpcFlags, LlmFlags};
use crate::misread;
use clap::FromArgMatches;
use clap::error::ErrorKind;
use drumfire_import::shell_words;

/// A command whose load a search takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    Grpc,
    Llm,
}

impl Sender {
    const ALL: [Self; 2] = [Self::Grpc, Self::Llm];

    const fn command(self) -> &'static str {
        match self {
            Self::Grpc => "drumfire grpc",
            Self::Llm => "drumfire llm",
        }
    }
}

/// The command line without the command, if it is the only argument.
pub(super) fn line(urls: &[String]) -> Option<(Sender, &str)> {
    let [only] = urls else {
        return None;
    };
    let line = only.strip_prefix("drumfire ").unwrap_or(only);
    Sender::ALL.into_iter().find_map(|sender| {
        let name = sender.command().trim_start_matches("drumfire ");
        let rest = line.strip_prefix(name)?.strip_prefix(' ')?;
        Some((sender, rest))
    })
}

/// The load of a command line. The flags of the search override its settings.
///
/// # Errors
/// If the arguments are invalid, or show something instead of running a load. The message does not
/// contain the line, because its metadata or prompts may be secret.
pub(super) fn of_line(
    (sender, line): (Sender, &str),
    flags: &CapacityFlags,
) -> Result<Written, Failure> {
    let wrong = |message: &str| format!("in the `{}` command line: {message}", sender.command());
    let words = shell_words(line).map_err(|message| Failure::usage(wrong(&message)))?;
    let in_line = |failure: Failure| Failure {
        message: wrong(&failure.message),
        ..failure
    };
    let mut written = match sender {
        Sender::Grpc => {
            let calls = of_grpc(parsed(sender, &words).map_err(in_line)?).map_err(in_line)?;
            document::of_grpc(&calls)?.into()
        }
        Sender::Llm => {
            let prompts = of_llm(parsed(sender, &words).map_err(in_line)?).map_err(in_line)?;
            let mut written = document::of_llm(&prompts)?;
            document::renew_prompts(&mut written.document)?;
            // The search has its own load, instead of the one of a first try.
            for pool in &mut written.document.pools {
                pool.load.users = None;
            }
            written
        }
    };
    document::apply_flags(&mut written.document, &flags.http.load.settings)?;
    Ok(written)
}

fn parsed<F: clap::Args + FromArgMatches>(sender: Sender, words: &[String]) -> Result<F, Failure> {
    let command = F::augment_args(clap::Command::new(sender.command()));
    let line = std::iter::once(sender.command()).chain(words.iter().map(String::as_str));
    let parsed = command.try_get_matches_from(line);
    let parsed = parsed.and_then(|matches| F::from_arg_matches(&matches));
    parsed.map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp => {
            let command = sender.command();
            Failure::usage(format!("use `{command} --help` to list the flags"))
        }
        _ => misread::failure(&error, words),
    })
}

/// Refuses flags that show something instead of running a load.
fn check_shows(shows: bool) -> Result<(), Failure> {
    match shows {
        true => Err(Failure::usage("leave out --show and --print-plan")),
        false => Ok(()),
    }
}

fn of_llm(flags: LlmFlags) -> Result<LlmFlags, Failure> {
    check_shows(flags.load.output.show || flags.load.print_plan)?;
    check(flags.load.settings.given(), None)?;
    if let Some(slo) = flags.slo.first() {
        let message = format!(
            "--slo {slo}: an objective of the search is a rule, such as --slo \
             'goodput(ttft<200ms,tpot<50ms)>=99%', outside of the quotes"
        );
        return Err(Failure::usage(message));
    }
    Ok(flags)
}

fn of_grpc(flags: GrpcFlags) -> Result<GrpcFlags, Failure> {
    check_shows(flags.output.show || flags.print_plan)?;
    check(flags.settings.given(), None)?;
    match flags.settings.has("call") {
        true => Ok(flags),
        false => Err(Failure::usage(
            "set the method with --call package.Service/Method",
        )),
    }
}
