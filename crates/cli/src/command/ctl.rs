//! `drumfire ctl`: changes a run that goes on.

use crate::exit::{Exit, Failure};
use crate::flags::CtlFlags;
use crate::output;
use crate::runs_folder;
use crate::session::remote;
use drumfire_net::Clock;
use drumfire_plan::ChangeKind;
use drumfire_report::style::Unicode;
use drumfire_report::untrusted::Untrusted;
use drumfire_store::Record;
use drumfire_units::Nanos;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a run may take for its answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// A longer answer is none.
const ANSWER_MAX: u64 = 65_536;

/// A run that goes on.
struct Live {
    id: String,
    socket: PathBuf,
    started_at_unix_ns: u64,
    target: String,
}

/// Lists the runs of this user, or changes one.
pub(crate) fn run(flags: &CtlFlags) -> Result<Exit, Failure> {
    let runs = runs().map_err(|error| Failure::failed(format!("can't look for runs: {error}")))?;
    let Some(name) = &flags.run else {
        output::print(listed(&runs).as_bytes())?;
        return Ok(Exit::Done);
    };
    let Some(act) = flags.act else {
        let message = "say what to do: rate, users, pause, resume, mark or stop";
        return Err(Failure::usage(message));
    };
    let argument = argument(act, flags.argument.as_deref())?;
    let run = chosen(name, &runs)?;
    let pool = flags.pool.as_deref().unwrap_or_default();
    if [pool, argument]
        .iter()
        .any(|text| text.contains(['\t', '\n']))
    {
        return Err(Failure::usage(
            "a name or a text has no tabs and is one line",
        ));
    }
    let message = format!("{}\t{pool}\t{argument}", act.name());
    let answer = ask(&run.socket, &message)
        .map_err(|error| Failure::failed(format!("the run {} does not answer: {error}", run.id)))?;
    match answer.split_once('\t') {
        Some(("ok", at)) => {
            let at = Nanos(at.parse().unwrap_or_default());
            let text = format!("holds from {:.1} s of the run\n", at.as_secs_f64());
            output::print(text.as_bytes())?;
            Ok(Exit::Done)
        }
        Some(("error", why)) => Err(Failure::usage(shown(why))),
        _ => Err(Failure::failed(format!(
            "the run {} answered nothing",
            run.id
        ))),
    }
}

/// The argument that an act takes.
fn argument(act: ChangeKind, given: Option<&str>) -> Result<&str, Failure> {
    match (act, given) {
        (ChangeKind::Rate, None) => Err(Failure::usage("write the rate, such as 500/s")),
        (ChangeKind::Users, None) => Err(Failure::usage("write the number of users, such as 50")),
        (ChangeKind::Mark, None) => Err(Failure::usage("write the text of the mark")),
        (ChangeKind::Pause | ChangeKind::Resume | ChangeKind::Stop, Some(text)) => {
            let name = act.name();
            Err(Failure::usage(format!(
                "{name} takes nothing behind it, and not `{text}`"
            )))
        }
        (_, given) => Ok(given.unwrap_or_default()),
    }
}

/// The runs of this user that go on, the newest first. Sockets that nobody listens at are removed:
/// their runs were killed.
fn runs() -> io::Result<Vec<Live>> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(remote::folder()?)? {
        let socket = entry?.path();
        if socket
            .extension()
            .is_none_or(|ending| ending != remote::ENDING)
        {
            continue;
        }
        match ask(&socket, "about") {
            Ok(about) => runs.extend(live(&socket, &about)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                fs::remove_file(&socket)?;
            }
            // It ends just now, or is busy.
            Err(_) => {}
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.started_at_unix_ns));
    Ok(runs)
}

fn live(socket: &Path, about: &str) -> Option<Live> {
    let (started, target) = about.split_once('\t')?;
    Some(Live {
        id: socket.file_stem()?.to_str()?.to_owned(),
        socket: socket.to_owned(),
        started_at_unix_ns: started.parse().ok()?,
        target: target.to_owned(),
    })
}

fn listed(runs: &[Live]) -> String {
    if runs.is_empty() {
        return "no run goes on\n".to_owned();
    }
    let now = Clock::unix_time();
    let lines = runs.iter().map(|run| {
        let seconds = now.saturating_sub(run.started_at_unix_ns) / 1_000_000_000;
        let target = shown(&run.target);
        format!("{}  for {}  {target}\n", run.id, Nanos::from_secs(seconds))
    });
    lines.collect()
}

/// The run that is stored in a directory, or under this id; a run that was resumed has another name
/// than its directory.
fn stored<'a>(name: &str, runs: &'a [Live]) -> Option<&'a Live> {
    let path = runs_folder::find(name).ok()?;
    let started = Record::newest_start(&path).ok()?;
    runs.iter().find(|run| run.started_at_unix_ns == started)
}

/// The run with this name, or whose name begins so, or that is stored there; `last` is the newest.
fn chosen<'a>(name: &str, runs: &'a [Live]) -> Result<&'a Live, Failure> {
    let fits = |run: &&Live| name == "last" || run.id.starts_with(name);
    let mut found = runs.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(run), None) => Ok(run),
        (Some(run), Some(_)) if name == "last" => Ok(run),
        (Some(_), Some(_)) => Err(Failure::usage(format!(
            "several runs begin with `{name}`:\n{}",
            listed(runs).trim_end()
        ))),
        (None, _) if runs.is_empty() => Err(Failure::usage("no run goes on")),
        (None, _) => stored(name, runs).ok_or_else(|| {
            let others = listed(runs);
            let others = others.trim_end();
            Failure::usage(format!("no run `{name}` goes on; these do:\n{others}"))
        }),
    }
}

/// Sends a message to a run and takes its answer.
fn ask(socket: &Path, message: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{message}\n").as_bytes())?;
    let mut answer = String::new();
    stream.take(ANSWER_MAX).read_to_string(&mut answer)?;
    Ok(answer.trim_end_matches('\n').to_owned())
}

fn shown(text: &str) -> String {
    Untrusted::new(text).escaped(Unicode::On)
}
