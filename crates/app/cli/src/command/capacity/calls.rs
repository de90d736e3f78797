//! The load of gRPC calls from a command line of `drumfire grpc`.

use super::terms::check;
use crate::document::{self, Written};
use crate::exit::Failure;
use crate::flags::{CapacityFlags, GrpcFlags};
use crate::misread;
use clap::error::ErrorKind;
use clap::{Args as _, FromArgMatches as _};
use drumfire_import::shell_words;

/// The command line of `drumfire grpc` without the command, if it is the only argument.
pub(super) fn line(urls: &[String]) -> Option<&str> {
    let [only] = urls else {
        return None;
    };
    let line = only.strip_prefix("drumfire ").unwrap_or(only);
    line.strip_prefix("grpc ")
}

/// The load of a `drumfire grpc` command line. The flags of the search override its settings.
///
/// # Errors
/// If the arguments are invalid, or show something instead of running a load. The message does not
/// contain the line, because its metadata may be secret.
pub(super) fn of_line(line: &str, flags: &CapacityFlags) -> Result<Written, Failure> {
    let wrong = |message: &str| format!("in the `drumfire grpc` command line: {message}");
    let words = shell_words(line).map_err(|message| Failure::usage(wrong(&message)))?;
    let calls = parsed(&words).map_err(|failure| Failure {
        message: wrong(&failure.message),
        ..failure
    })?;
    let mut document = document::of_grpc(&calls)?;
    document::apply_flags(&mut document, &flags.http.settings)?;
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
    check(flags.settings.given(), None)?;
    match flags.settings.has("call") {
        true => Ok(flags),
        false => Err(Failure::usage(
            "set the method with --call package.Service/Method",
        )),
    }
}
