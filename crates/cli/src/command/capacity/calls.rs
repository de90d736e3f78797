//! A load of calls, as a command line of `drumfire grpc` says it.

use crate::document::{self, Written};
use crate::exit::Failure;
use crate::flags::{CapacityFlags, GrpcFlags};
use crate::misread;
use clap::error::ErrorKind;
use clap::{Args as _, FromArgMatches as _};
use drumfire_import::shell_words;

/// The arguments of `drumfire grpc`, where its command line is the only argument.
pub(super) fn line(urls: &[String]) -> Option<&str> {
    let [only] = urls else {
        return None;
    };
    let line = only.strip_prefix("drumfire ").unwrap_or(only);
    line.strip_prefix("grpc ")
}

/// The load of the arguments of `drumfire grpc`, with what the search's own flags say above it.
///
/// # Errors
/// When they are none of that command, or make no load but show something. The line is not in the
/// message, since its metadata may be secrets.
pub(super) fn of_line(line: &str, flags: &CapacityFlags) -> Result<Written, Failure> {
    let wrong = |message: &str| format!("in the `drumfire grpc` command line: {message}");
    let words = shell_words(line).map_err(|message| Failure::usage(wrong(&message)))?;
    let calls = parsed(&words).map_err(|failure| Failure {
        message: wrong(&failure.message),
        ..failure
    })?;
    let mut document = document::of_grpc(&calls)?;
    document::put(&mut document, &flags.http.settings)?;
    Ok(document.into())
}

fn parsed(words: &[String]) -> Result<GrpcFlags, Failure> {
    let command = GrpcFlags::augment_args(clap::Command::new("drumfire grpc"));
    let line = std::iter::once("drumfire grpc").chain(words.iter().map(String::as_str));
    let parsed = command.try_get_matches_from(line);
    let parsed = parsed.and_then(|matches| GrpcFlags::from_arg_matches(&matches));
    let flags = parsed.map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp => Failure::usage("use `drumfire grpc --help` to list the flags"),
        _ => misread::failure(&error, words),
    })?;
    if flags.output.show || flags.print_plan {
        return Err(Failure::usage("leave out --show and --print-plan"));
    }
    match flags.settings.has("call") {
        true => Ok(flags),
        false => Err(Failure::usage(
            "set the method with --call package.Service/Method",
        )),
    }
}
