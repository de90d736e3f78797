//! `drumfire ctl`: changes a run that goes on.

use crate::exit::{Exit, Failure};
use crate::flags::CtlFlags;
use crate::output::Output;
use crate::runs_folder;
use drumfire_measure::RunInfo;
use drumfire_net::Clock;
use drumfire_plan::{Change, ChangeKind, Command, Sequence, StopReason, Users};
use drumfire_report::style::Unicode;
use drumfire_report::untrusted::Untrusted;
use drumfire_session::{Answer, Question, SOCKET_EXTENSION};
use drumfire_store::Record;
use drumfire_units::Nanos;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a run may take for its answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// A longer answer is none, in bytes: the facts of a run have the names of all its steps.
const ANSWER_MAX: u64 = 1 << 24;

/// A run that goes on.
struct Live {
    id: String,
    socket: PathBuf,
    info: RunInfo,
}

/// Lists the runs of this user, or changes one.
pub(crate) fn run(flags: &CtlFlags, output: &Output) -> Result<Exit, Failure> {
    let runs = runs().map_err(|error| Failure::failed(format!("can't look for runs: {error}")))?;
    let Some(name) = &flags.run else {
        output.print(listed(&runs).as_bytes())?;
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
    let command = Command {
        pool: match pool {
            "" => None,
            name => Some(pool_of(name, &run.info)?),
        },
        ..Command::soon(change(act, argument)?)
    };
    let answer = ask(&run.socket, &Question::Command(command))
        .map_err(|error| Failure::failed(format!("the run {} does not answer: {error}", run.id)))?;
    match answer {
        Answer::Holds(at) => {
            let text = format!("holds from {:.1} s of the run\n", at.as_secs_f64());
            output.print(text.as_bytes())?;
            Ok(Exit::Done)
        }
        Answer::Refused(why) => Err(Failure::usage(shown(&why))),
        Answer::Facts(_) => Err(Failure::failed(format!(
            "the run {} answered nothing",
            run.id
        ))),
    }
}

/// The number of the pool with this name.
fn pool_of(name: &str, info: &RunInfo) -> Result<u16, Failure> {
    let found = info.pools.iter().position(|pool| pool.name == name);
    found.map(|at| at as u16).ok_or_else(|| {
        let names: Vec<&str> = info.pools.iter().map(|pool| pool.name.as_str()).collect();
        Failure::usage(shown(&format!(
            "the run has no pool `{name}`; its pools are {}",
            names.join(", ")
        )))
    })
}

/// The change that an act makes.
fn change(act: ChangeKind, argument: &str) -> Result<Change, Failure> {
    let wrong = |why: String| Failure::usage(shown(&why));
    let law = || {
        let law = argument.parse::<Sequence>();
        law.map_err(|error| wrong(error.to_string()))
    };
    Ok(match act {
        ChangeKind::Rate => Change::Rate { law: law()? },
        ChangeKind::Users => Change::Users {
            law: match argument.parse() {
                Ok(count) => Users::constant(count),
                Err(_) => Users::of_law(&law()?).map_err(wrong)?.0,
            },
        },
        ChangeKind::Pause => Change::Pause,
        ChangeKind::Resume => Change::Resume,
        ChangeKind::Mark => Change::Mark {
            text: argument.to_owned(),
        },
        ChangeKind::Stop => Change::Stop {
            reason: StopReason::Command,
        },
    })
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
    for entry in fs::read_dir(runs_folder::sockets()?)? {
        let socket = entry?.path();
        let extension = socket.extension();
        if extension.is_none_or(|extension| extension != SOCKET_EXTENSION) {
            continue;
        }
        match ask(&socket, &Question::About) {
            Ok(Answer::Facts(info)) => runs.extend(live(&socket, *info)),
            Ok(Answer::Holds(_) | Answer::Refused(_)) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                fs::remove_file(&socket)?;
            }
            // It ends just now, is busy, or is of a version with other messages.
            Err(_) => {}
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.info.started_at_unix_ns));
    Ok(runs)
}

fn live(socket: &Path, info: RunInfo) -> Option<Live> {
    Some(Live {
        id: socket.file_stem()?.to_str()?.to_owned(),
        socket: socket.to_owned(),
        info,
    })
}

fn listed(runs: &[Live]) -> String {
    if runs.is_empty() {
        return "no run goes on\n".to_owned();
    }
    let now = Clock::unix_time();
    let lines = runs.iter().map(|run| {
        let seconds = now.saturating_sub(run.info.started_at_unix_ns) / 1_000_000_000;
        let target = shown(&run.info.target);
        format!("{}  for {}  {target}\n", run.id, Nanos::from_secs(seconds))
    });
    lines.collect()
}

/// The run that is stored in a directory, or under this id; a run that was resumed has another name
/// than its directory.
fn stored<'a>(name: &str, runs: &'a [Live]) -> Option<&'a Live> {
    let path = runs_folder::find(name).ok()?;
    let started = Record::newest_start(&path).ok()?;
    runs.iter()
        .find(|run| run.info.started_at_unix_ns == started)
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

/// Asks a run, and takes its answer.
fn ask(socket: &Path, question: &Question) -> io::Result<Answer> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&question.encode())?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.take(ANSWER_MAX).read_to_end(&mut answer)?;
    Answer::decode(&answer).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn shown(text: &str) -> String {
    Untrusted::new(text).escaped(Unicode::On)
}
