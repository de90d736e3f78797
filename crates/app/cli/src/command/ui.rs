//! `drumfire ui`, and the page of an active run.

use crate::exit::{Exit, Failure};
use crate::flags::UiFlags;
use crate::output::Output;
use crate::{runs_folder, stored_run};
use drumfire_document::{Outputs, Text};
use drumfire_session::why_not_listening;
use drumfire_ui::{Library, RunPage, RunSite, Server, Subject};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;

/// Serves the stored runs until a signal ends the program.
pub(crate) fn run(flags: &UiFlags, output: &Output) -> Result<Exit, Failure> {
    let library = library().ok_or_else(|| {
        Failure::usage("no directory for runs: neither XDG_STATE_HOME nor HOME is set")
    })?;
    let watched = Signals::new([SIGINT, SIGTERM, SIGHUP]);
    let mut signals =
        watched.map_err(|error| Failure::failed(format!("can't watch for signals: {error}")))?;
    let server = Server::start(&flags.listen, RunSite::of_library(library));
    let server = server.map_err(|error| unserved("--listen", &flags.listen, &error))?;
    let url = server.url();
    output.print(format!("serving the stored runs at {url}\npress Ctrl-C to stop\n").as_bytes())?;
    let _signal = signals.forever().next();
    server.close();
    Ok(Exit::Done)
}

/// The page of a run, if the outputs request one.
pub(super) fn page(
    outputs: &Outputs,
    subject: &Subject<'_>,
    output: &Output,
) -> Result<Option<RunPage>, Failure> {
    let Some(Text { value, place, .. }) = &outputs.monitoring.ui else {
        return Ok(None);
    };
    let page = RunPage::open(value, subject, library(), output.console());
    page.map(Some)
        .map_err(|error| unserved(&place.to_string(), value, &error))
}

/// The stored runs of this user; `None` if the user has no home directory.
fn library() -> Option<Library> {
    let folder = runs_folder::runs()?;
    Some(Library {
        index: runs_folder::index(&folder),
        runs: folder,
        sockets: runs_folder::sockets().ok(),
        began: stored_run::began,
        listed: stored_run::listed_of,
    })
}

/// The failure for an address that cannot be listened on.
fn unserved(place: &str, address: &str, error: &io::Error) -> Failure {
    let why = why_not_listening(error);
    Failure::usage(format!("{place}: can't listen on `{address}`: {why}"))
}
