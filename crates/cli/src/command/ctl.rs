//! `drumfire ctl`: changes a run that goes on.

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

/// Lists the runs of this user, or changes one.
pub(crate) fn run(flags: &CtlFlags, output: &Output) -> Result<Exit, Failure> {
    let folder = runs_folder::sockets();
    let runs = folder.and_then(|folder| Peers::within(&folder));
    let runs = runs.map_err(|error| Failure::failed(format!("can't look for runs: {error}")))?;
    let Some(name) = &flags.run else {
        output.print(listed(&runs).as_bytes())?;
        return Ok(Exit::Done);
    };
    let Some(act) = flags.act else {
        let message = "say what to do: rate, users, pause, resume, mark or stop";
        return Err(Failure::usage(message));
    };
    let order = Order {
        act,
        argument: flags.argument.as_deref(),
        pool: flags.pool.as_deref().filter(|name| !name.is_empty()),
    };
    let run = chosen(name, &runs)?;
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
                "the run {id} does not answer: {error}"
            )))
        }
    }
}

/// Whether no run goes on.
fn is_empty(runs: &Peers) -> bool {
    runs.live.is_empty() && runs.silent.is_empty()
}

fn listed(runs: &Peers) -> String {
    if is_empty(runs) {
        return "no run goes on\n".to_owned();
    }
    let now = Clock::unix_time();
    let live = runs.live.iter().map(|run| {
        let seconds = now.saturating_sub(run.info.started_at_unix_ns) / 1_000_000_000;
        let target = shown(&run.info.target);
        let id = shown(&run.id);
        format!("{id}  for {}  {target}\n", Nanos::from_secs(seconds))
    });
    let silent = runs.silent.iter();
    let silent = silent.map(|id| format!("{}  does not answer\n", shown(id)));
    live.chain(silent).collect()
}

/// The run that is stored in a directory, or under this id; a run that was resumed has another name
/// than its directory.
fn stored<'a>(name: &str, runs: &'a [Peer]) -> Option<&'a Peer> {
    let path = runs_folder::find(name).ok()?;
    let id = Record::newest_id(&path).ok()?;
    runs.iter().find(|run| run.info.id == id)
}

/// The run with this name, or whose name begins so, or that is stored there; `last` is the only one
/// that goes on: of several it could be another one by now.
fn chosen<'a>(name: &str, runs: &'a Peers) -> Result<&'a Peer, Failure> {
    let others = listed(runs);
    let others = others.trim_end();
    let is_last = name == "last";
    let fits = |run: &&Peer| is_last || run.id.starts_with(name);
    let mut found = runs.live.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(run), None) if !is_last || runs.silent.is_empty() => Ok(run),
        (Some(_), _) if is_last => Err(Failure::usage(format!(
            "several runs go on; name one of them:\n{others}"
        ))),
        (Some(_), _) => Err(Failure::usage(format!(
            "several runs begin with `{name}`:\n{others}"
        ))),
        (None, _) if is_empty(runs) => Err(Failure::usage("no run goes on")),
        (None, _) => stored(name, &runs.live)
            .ok_or_else(|| Failure::usage(format!("no run `{name}` goes on; these do:\n{others}"))),
    }
}

fn shown(text: &str) -> String {
    Untrusted::new(text).escaped(Unicode::On)
}
