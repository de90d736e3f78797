//! `drumfire ctl`: controls an active run.

use crate::exit::{Exit, Failure};
use crate::flags::CtlFlags;
use crate::output::Output;
use crate::runs_folder;
use drumfire_net::Clock;
use drumfire_report::style::Unicode;
use drumfire_report::untrusted::Untrusted;
use drumfire_session::{Order, Peer, PeerError, Peers};
use drumfire_store::Record;
use drumfire_units::Nanos;

/// Lists the active runs of this user, or controls one of them.
pub(crate) fn run(flags: &CtlFlags, output: &Output) -> Result<Exit, Failure> {
    let folder = runs_folder::sockets();
    let runs = folder.and_then(|folder| Peers::within(&folder));
    let runs =
        runs.map_err(|error| Failure::failed(format!("can't look for active runs: {error}")))?;
    let Some(name) = &flags.run else {
        output.print(listed(&runs).as_bytes())?;
        return Ok(Exit::Done);
    };
    let run = chosen(name, &runs)?;
    let Some(act) = flags.act else {
        output.print(status(run).as_bytes())?;
        return Ok(Exit::Done);
    };
    let order = Order {
        act,
        argument: flags.argument.as_deref(),
        pool: flags.pool.as_deref().filter(|name| !name.is_empty()),
    };
    let command = order.command(&run.info);
    let command = command.map_err(|why| Failure::usage(shown(&why)))?;
    match run.send(command) {
        Ok(what) => {
            let target = shown(&run.info.target);
            output.print(format!("{}  ({target})\n", shown(&what)).as_bytes())?;
            Ok(Exit::Done)
        }
        Err(PeerError::Refused(why)) => Err(Failure::usage(shown(&why))),
        Err(PeerError::Silent(error)) => {
            let id = shown(&run.id);
            Err(Failure::failed(format!(
                "run {id} does not respond: {error}"
            )))
        }
    }
}

/// Whether no run is active.
fn is_empty(runs: &Peers) -> bool {
    runs.live.is_empty() && runs.silent.is_empty()
}

fn listed(runs: &Peers) -> String {
    if is_empty(runs) {
        return "no run is active\n".to_owned();
    }
    let live = runs.live.iter().map(row);
    let silent = runs.silent.iter();
    let silent = silent.map(|id| format!("{}  does not respond\n", shown(id)));
    live.chain(silent).collect()
}

/// The row of a run in a list: its id, its age and its target.
fn row(run: &Peer) -> String {
    let now = Clock::unix_time();
    let seconds = now.saturating_sub(run.info.started_at_unix_ns) / 1_000_000_000;
    let target = shown(&run.info.target);
    let id = shown(&run.id);
    format!(
        "{id}  running for {}  {target}\n",
        Nanos::from_secs(seconds)
    )
}

/// The current state of a run.
fn status(run: &Peer) -> String {
    let load = run.status().map(|status| status.load);
    let load = load.map_or_else(String::new, |load| format!("  load: {}\n", shown(&load)));
    let figures = match runs_folder::find(&run.id) {
        Ok(_) => format!("  results so far: drumfire report {}\n", shown(&run.id)),
        Err(_) => String::new(),
    };
    format!("{}{load}{figures}", row(run))
}

/// The run that is stored in a directory or under this id. The name of a resumed run differs from
/// its directory.
fn stored<'a>(name: &str, runs: &'a [Peer]) -> Option<&'a Peer> {
    let path = runs_folder::find(name).ok()?;
    let id = Record::newest_id(&path).ok()?;
    runs.iter().find(|run| run.info.id == id)
}

/// The run with this name, name prefix or directory, or the last run.
fn chosen<'a>(name: &str, runs: &'a Peers) -> Result<&'a Peer, Failure> {
    if is_empty(runs) {
        return Err(Failure::usage("no run is active"));
    }
    if name == "last" {
        return last(runs);
    }
    let others = listed(runs);
    let others = others.trim_end();
    let mut found = runs.live.iter().filter(|run| run.id.starts_with(name));
    match (found.next(), found.next()) {
        (Some(run), None) => Ok(run),
        (Some(_), _) => Err(Failure::usage(format!(
            "`{name}` matches several runs:\n{others}"
        ))),
        (None, _) => stored(name, &runs.live).ok_or_else(|| {
            Failure::usage(format!("no run `{name}` is active; these are:\n{others}"))
        }),
    }
}

/// The only active run whose process uses the same folder of runs as this one. If several runs are
/// active, `last` is refused, because the last run could have changed since the user looked.
fn last(runs: &Peers) -> Result<&Peer, Failure> {
    let folder = runs_folder::runs().unwrap_or_default();
    let of_folder = |run: &Peer| run.status().map(|status| status.runs);
    let (own, others): (Vec<_>, Vec<_>) = runs
        .live
        .iter()
        .map(|run| (run, of_folder(run)))
        .partition(|(_, other)| other.as_deref() == Some(&*folder.to_string_lossy()));
    match own.as_slice() {
        [(run, _)] if runs.silent.is_empty() => Ok(run),
        [] if runs.silent.is_empty() => {
            let of_others = others.iter().map(|(run, folder)| {
                let folder = folder.as_deref().filter(|folder| !folder.is_empty());
                let folder = folder.map_or_else(String::new, |folder| format!("  in {folder}"));
                format!("{}{}\n", row(run).trim_end(), shown(&folder))
            });
            Err(Failure::usage(format!(
                "no run of {} is active; these belong to other directories, so use their names:\n{}",
                folder.display(),
                of_others.collect::<String>().trim_end()
            )))
        }
        _ => Err(Failure::usage(format!(
            "several runs are active; name one of them:\n{}",
            listed(runs).trim_end()
        ))),
    }
}

fn shown(text: &str) -> String {
    Untrusted::new(text).escaped(Unicode::On)
}
