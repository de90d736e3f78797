//! `drumfire ui`, and the page of a run that goes on.

use super::runs;
use crate::exit::{Exit, Failure};
use crate::flags::UiFlags;
use crate::output::Output;
use crate::runs_folder;
use drumfire_document::Outputs;
use drumfire_plan::Plan;
use drumfire_report::Naming;
use drumfire_ui::{Library, RunPage, Server, Site};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;

/// Serves the stored runs until a signal ends it.
pub(crate) fn run(flags: &UiFlags, output: &Output) -> Result<Exit, Failure> {
    let library = library().ok_or_else(|| {
        Failure::usage(
            "there is no folder of runs without a home: neither XDG_STATE_HOME nor HOME is set",
        )
    })?;
    let watched = Signals::new([SIGINT, SIGTERM, SIGHUP]);
    let mut signals =
        watched.map_err(|error| Failure::failed(format!("can't watch for signals: {error}")))?;
    let server = Server::start(&flags.listen, Site::of_library(library));
    let server = server.map_err(|error| unserved("--listen", &flags.listen, &error))?;
    let url = server.url();
    output.print(format!("the stored runs are at {url}\nCtrl-C ends this\n").as_bytes())?;
    let _signal = signals.forever().next();
    server.close();
    Ok(Exit::Done)
}

/// The page of a plan's run, where outputs ask for one; `text` is the plan without secrets. Without
/// a console its address is not shown, so that a quiet run has none.
pub(super) fn page(
    outputs: &Outputs,
    plan: &Plan,
    text: &str,
    naming: Naming,
    output: &Output,
) -> Result<Option<RunPage>, Failure> {
    let Some(address) = &outputs.monitoring.ui else {
        return Ok(None);
    };
    let page = RunPage::open(
        &address.value,
        plan,
        text.to_owned(),
        naming,
        output.redactor(),
        library(),
    );
    let page =
        page.map_err(|error| unserved(&address.place.to_string(), &address.value, &error))?;
    Ok(Some(page.announced_by(output.console())))
}

/// The stored runs of this user; `None` where there is no home.
fn library() -> Option<Library> {
    let folder = runs_folder::runs()?;
    Some(Library {
        index: runs_folder::index(&folder),
        runs: folder,
        sockets: runs_folder::sockets().ok(),
        began: runs::began,
        exit: |run| u8::from(Exit::of(run, false)),
    })
}

/// An address that can't be served at.
fn unserved(place: &str, address: &str, error: &io::Error) -> Failure {
    Failure::usage(format!("{place}: can't listen on `{address}`: {error}"))
}
