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
use drumfire_session::{Answer, Question, is_socket};
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
        output.print(runs.listed().as_bytes())?;
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
        Answer::Done(what) => {
            let target = shown(&run.info.target);
            output.print(format!("{}  ({target})\n", shown(&what)).as_bytes())?;
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
        ChangeKind::Rate if is_nothing(argument) => {
            let message = "a rate is above 0; `pause` lets nothing become due";
            return Err(Failure::usage(message));
        }
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

/// Whether a rate is none.
fn is_nothing(rate: &str) -> bool {
    let number = rate
        .trim()
        .trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '/');
    number.parse() == Ok(0.0)
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

/// The runs of this user that go on.
struct Runs {
    /// Those that answer, the newest first.
    live: Vec<Live>,
    /// The ids of those that do not.
    silent: Vec<String>,
}

/// Looks for them. Sockets that nobody listens at are removed: their runs were killed.
fn runs() -> io::Result<Runs> {
    let (mut live_runs, mut silent) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(runs_folder::sockets()?)? {
        let entry = entry?;
        if !is_socket(&entry) {
            continue;
        }
        let socket = entry.path();
        match ask(&socket, &Question::About) {
            Ok(Answer::Facts(info)) => live_runs.extend(live(&socket, *info)),
            Ok(Answer::Done(_) | Answer::Refused(_)) => {}
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused => fs::remove_file(&socket)?,
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    let id = socket.file_stem().unwrap_or_default();
                    silent.push(shown(&id.to_string_lossy()));
                }
                // It ends just now, or is of a version with other messages.
                _ => {}
            },
        }
    }
    live_runs.sort_by_key(|run| std::cmp::Reverse(run.info.started_at_unix_ns));
    Ok(Runs {
        live: live_runs,
        silent,
    })
}

fn live(socket: &Path, info: RunInfo) -> Option<Live> {
    Some(Live {
        id: socket.file_stem()?.to_str()?.to_owned(),
        socket: socket.to_owned(),
        info,
    })
}

impl Runs {
    fn is_empty(&self) -> bool {
        self.live.is_empty() && self.silent.is_empty()
    }

    fn listed(&self) -> String {
        if self.is_empty() {
            return "no run goes on\n".to_owned();
        }
        let now = Clock::unix_time();
        let live = self.live.iter().map(|run| {
            let seconds = now.saturating_sub(run.info.started_at_unix_ns) / 1_000_000_000;
            let target = shown(&run.info.target);
            let id = shown(&run.id);
            format!("{id}  for {}  {target}\n", Nanos::from_secs(seconds))
        });
        let silent = self.silent.iter();
        let silent = silent.map(|id| format!("{id}  does not answer\n"));
        live.chain(silent).collect()
    }
}

/// The run that is stored in a directory, or under this id; a run that was resumed has another name
/// than its directory.
fn stored<'a>(name: &str, runs: &'a [Live]) -> Option<&'a Live> {
    let path = runs_folder::find(name).ok()?;
    let id = Record::newest_id(&path).ok()?;
    runs.iter().find(|run| run.info.id == id)
}

/// The run with this name, or whose name begins so, or that is stored there; `last` is the only one
/// that goes on: of several it could be another one by now.
fn chosen<'a>(name: &str, runs: &'a Runs) -> Result<&'a Live, Failure> {
    let others = runs.listed();
    let others = others.trim_end();
    let is_last = name == "last";
    let fits = |run: &&Live| is_last || run.id.starts_with(name);
    let mut found = runs.live.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(run), None) if !is_last || runs.silent.is_empty() => Ok(run),
        (Some(_), _) if is_last => Err(Failure::usage(format!(
            "several runs go on; name one of them:\n{others}"
        ))),
        (Some(_), _) => Err(Failure::usage(format!(
            "several runs begin with `{name}`:\n{others}"
        ))),
        (None, _) if runs.is_empty() => Err(Failure::usage("no run goes on")),
        (None, _) => stored(name, &runs.live)
            .ok_or_else(|| Failure::usage(format!("no run `{name}` goes on; these do:\n{others}"))),
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
