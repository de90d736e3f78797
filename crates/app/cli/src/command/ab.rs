//! `drumfire ab`: an experiment of rounds, each with one run of either side.
//!
//! A run is a process (`process`) that executes the command line of a side (`side`), and is stored
//! in its own directory. The order is A B, B A, A B, …, so that a steady change over time affects
//! both sides equally. The experiment evaluates the comparison after some of the rounds. It ends if
//! the result is clear, after its last round, or on a signal, and then compares all finished
//! rounds.

mod process;
mod progress;
mod side;

use super::compare::ComparisonDestinations;
use super::stored::failure;
use crate::exit::{Exit, Failure};
use crate::flags::AbFlags;
use crate::output::Output;
use crate::runs_folder;
use crate::signals::Signals;
use drumfire_compare::{Compared, Comparison, RoundForm, Rounds, RoundsEnd, Terms, UnsoundRound};
use drumfire_measure::{Coverage, Summary};
use drumfire_net::Clock;
use drumfire_report::comparison::foreseen;
use drumfire_session::stored;
use drumfire_store::{Labels, Record};
use process::{LOOK, RunEnd, RunProcess};
use progress::{Progress, Steps};
use side::Side;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

/// The folders of the sides, and the suffixes of their tags.
const NAMES: [&str; 2] = ["a", "b"];
/// The names of the sides.
const SIDES: [&str; 2] = ["A", "B"];
/// The number of failed rounds that are repeated before the experiment stops.
const UNSOUND_MAX: usize = 3;

/// Runs the experiment. The exit code is 4 if B is worse.
pub(crate) fn run(flags: &AbFlags, output: &Output) -> Result<Exit, Failure> {
    let output = &output.colored(flags.color);
    let destinations = ComparisonDestinations::from_flags(&[
        ("--json", flags.json.as_deref()),
        ("--markdown", flags.markdown.as_deref()),
        ("--html", flags.html.as_deref()),
    ])?;
    let sides = [Side::parse("--a", &flags.a)?, Side::parse("--b", &flags.b)?];
    let signals = Signals::default();
    let watched = signals.watch();
    watched.map_err(|error| Failure::failed(format!("can't watch for signals: {error}")))?;
    let facts = [sides[0].facts()?, sides[1].facts()?];
    Comparison::check_plans(&facts[0], &facts[1]).map_err(|what| {
        Failure::usage(format!("the runs of --a and --b can't be compared: {what}"))
    })?;
    let (name, folder) = folder(flags)?;
    let mut experiment = RunningExperiment {
        flags,
        sides,
        name,
        folder,
        signals,
        progress: Progress::new(steps(flags), flags.quiet, output),
        runs: [Vec::new(), Vec::new()],
        unsound: Vec::new(),
    };
    let (comparison, ended) = experiment.carry_out()?;
    let [a, b] = [0, 1].map(|side| experiment.side(side));
    destinations.write(&comparison, [&a, &b], output)?;
    experiment.name_runs();
    Ok(match (ended, comparison.is_worse()) {
        (RoundsEnd::Signal, _) => Exit::RoundsCut,
        (_, true) => Exit::Worse,
        (RoundsEnd::Unsound, _) => Exit::Failed,
        (RoundsEnd::Planned | RoundsEnd::Shown, false) => Exit::Done,
    })
}

/// A running experiment.
struct RunningExperiment<'a> {
    flags: &'a AbFlags,
    sides: [Side; 2],
    name: String,
    folder: PathBuf,
    signals: Signals,
    progress: Progress,
    /// The runs of the finished rounds, by side.
    runs: [Vec<Arc<Summary>>; 2],
    /// The rounds with a run that cannot be compared.
    unsound: Vec<UnsoundRound>,
}

/// The result of a round.
enum Round {
    Made([(PathBuf, Arc<Summary>); 2]),
    /// A run cannot be compared. Repeating the round may help.
    Unsound(UnsoundRound),
    /// No response of a run was good.
    Unanswered(UnsoundRound),
    /// A signal ended the round.
    Interrupted,
}

impl RunningExperiment<'_> {
    /// Runs rounds until the experiment ends, and compares them.
    fn carry_out(&mut self) -> Result<(Comparison, RoundsEnd), Failure> {
        let planned = Rounds {
            planned: self.flags.rounds,
            form: match self.flags.duet {
                true => RoundForm::Duet,
                false => RoundForm::Turns,
            },
            ended: RoundsEnd::Planned,
        };
        self.progress.remark(&foreseen(planned));
        let ended = self.make_rounds(planned)?;
        self.progress.clear();
        let comparison = self.compared(Rounds { ended, ..planned })?;
        Ok((comparison, ended))
    }

    fn make_rounds(&mut self, planned: Rounds) -> Result<RoundsEnd, Failure> {
        loop {
            let made = self.runs[0].len();
            if made == planned.planned {
                return Ok(RoundsEnd::Planned);
            }
            match self.round(made)? {
                Round::Made(runs) => self.keep(runs),
                Round::Interrupted if made == 0 => return Err(interrupted()),
                Round::Interrupted => return Ok(RoundsEnd::Signal),
                // A target without one good response is unlikely to have one in the next round.
                Round::Unanswered(round) if made == 0 => {
                    return Err(Failure::failed(format!("{}: {}", round.side, round.reason)));
                }
                Round::Unsound(round) | Round::Unanswered(round) => {
                    let sentence = round.sentence();
                    self.unsound.push(round);
                    match (self.unsound.len() > UNSOUND_MAX, made) {
                        (true, 0) => return Err(given_up(&self.unsound)),
                        // The comparison shows that rounds failed.
                        (true, _) => return Ok(RoundsEnd::Unsound),
                        (false, _) => {}
                    }
                    self.progress
                        .remark(&format!("{sentence} Repeating the round"));
                    continue;
                }
            }
            let made = made + 1;
            self.progress.end_round(made);
            let is_early = planned.is_look(made) && made < planned.planned;
            if made == 1 || is_early && !self.flags.all_rounds {
                // The comparison after the first round finds loads that cannot be compared.
                if self.compared(planned)?.is_different() && is_early {
                    return Ok(RoundsEnd::Shown);
                }
            }
        }
    }

    /// Runs one round. The order of the sides alternates between rounds; a duet runs both at once.
    /// The directories of earlier rounds exist already.
    fn round(&mut self, made: usize) -> Result<Round, Failure> {
        let order = match made % 2 {
            0 => [0, 1],
            _ => [1, 0],
        };
        let name = match self.unsound.len() {
            0 => format!("{:02}", made + 1),
            again => format!("{:02}-{}", made + 1, again + 1),
        };
        let directories = NAMES.map(|side| self.folder.join(side).join(&name));
        let mut runs = [None, None];
        let at_once = if self.flags.duet { 2 } else { 1 };
        for sides in order.chunks(at_once) {
            let Some(ends) = self.runs_to_end(sides, &directories, made)? else {
                return Ok(Round::Interrupted);
            };
            for (side, end) in sides.iter().zip(ends) {
                let directory = &directories[*side];
                let unsound = |reason| UnsoundRound {
                    round: made + 1,
                    side: SIDES[*side],
                    reason,
                };
                let run = read(directory, &end).map_err(|failure| Failure {
                    message: format!("{}: {}", SIDES[*side], failure.message),
                    ..failure
                })?;
                match Comparison::check(&Compared::from_summary(Arc::clone(&run))) {
                    Ok(()) => runs[*side] = Some((directory.clone(), run)),
                    Err(reason) if run.total.counts.ok == 0 && run.coverage == Coverage::Whole => {
                        return Ok(Round::Unanswered(unsound(reason)));
                    }
                    Err(reason) => return Ok(Round::Unsound(unsound(reason))),
                }
            }
        }
        Ok(match runs {
            [Some(a), Some(b)] => Round::Made([a, b]),
            _ => Round::Interrupted,
        })
    }

    /// Runs these sides at the same time; `None` if a signal ended them.
    fn runs_to_end(
        &mut self,
        sides: &[usize],
        directories: &[PathBuf; 2],
        made: usize,
    ) -> Result<Option<Vec<RunEnd>>, Failure> {
        if self.signals.have_come() {
            return Ok(None);
        }
        self.progress.begin_step();
        let start = |side: &usize| self.sides[*side].start(&directories[*side], made + 1);
        let processes: Result<Vec<RunProcess>, Failure> = sides.iter().map(start).collect();
        let mut processes = processes?;
        let names: Vec<&str> = sides.iter().map(|side| SIDES[*side]).collect();
        let names = names.join(" and ");
        let mut ends: Vec<Option<RunEnd>> = sides.iter().map(|_| None).collect();
        while ends.iter().any(Option::is_none) {
            for (end, process) in ends.iter_mut().zip(&mut processes) {
                if end.is_none() {
                    process.pass_on(self.signals.count());
                    *end = process.poll()?;
                }
            }
            self.progress.show(made, &names);
            thread::sleep(LOOK);
        }
        self.progress.end_step();
        Ok((!self.signals.have_come()).then(|| ends.into_iter().flatten().collect()))
    }

    /// Tags the runs of a round and adds them to the experiment.
    fn keep(&mut self, runs: [(PathBuf, Arc<Summary>); 2]) {
        for (side, (directory, run)) in runs.into_iter().enumerate() {
            let tag = format!("{}-{}", self.name, NAMES[side]);
            let tagged = Labels::change(&directory, &mut |labels| labels.add_tags([&*tag]));
            if let Err(error) = tagged {
                self.progress.remark(&format!("can't tag a run: {error}"));
            }
            self.runs[side].push(run);
        }
    }

    fn compared(&self, rounds: Rounds) -> Result<Comparison, Failure> {
        let terms = Terms {
            least: self.flags.least,
            any_target: true,
        };
        let [a, b] = [0, 1].map(|side| self.side(side));
        Comparison::of_rounds(&a, &b, terms, rounds, &self.unsound).map_err(Failure::usage)
    }

    /// The runs of one side.
    fn side(&self, side: usize) -> Vec<Compared> {
        let runs = self.runs[side].iter();
        runs.cloned().map(Compared::from_summary).collect()
    }

    /// Prints the place of the runs, and the command that compares them again.
    fn name_runs(&self) {
        let (name, folder) = (&self.name, self.folder.display());
        self.progress.remark(&format!(
            "the runs are stored in {folder}, with the tags {name}-a and {name}-b"
        ));
    }
}

/// The steps of an experiment: a duet runs both sides of a round in one step.
fn steps(flags: &AbFlags) -> Steps {
    Steps {
        rounds: flags.rounds,
        each: if flags.duet { 1 } else { 2 },
    }
}

/// The run in a directory.
///
/// # Errors
/// If the directory has no readable run; the messages of the run's process are the reason.
fn read(directory: &Path, end: &RunEnd) -> Result<Arc<Summary>, Failure> {
    match Record::read(directory) {
        Ok(record) => Ok(stored(record)),
        Err(error) if end.stderr.is_empty() => Err(failure(error)),
        Err(_) => Err(Failure::failed(end.message())),
    }
}

/// The failure of an experiment whose first round failed too often.
fn given_up(unsound: &[UnsoundRound]) -> Failure {
    let reasons = unsound.iter().map(UnsoundRound::sentence);
    let reasons: Vec<String> = reasons.collect();
    Failure::failed(format!(
        "{}\nThe first round failed {} times, so nothing was compared",
        reasons.join("\n"),
        unsound.len()
    ))
}

fn interrupted() -> Failure {
    Failure {
        exit: Exit::RoundsCut,
        ..Failure::failed("interrupted before the end of the first round; nothing was compared")
    }
}

/// The name of an experiment that starts now.
fn name_of_now() -> String {
    let seconds = i64::try_from(Clock::unix_time() / 1_000_000_000).unwrap_or(i64::MAX);
    let now = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    now.strftime("ab-%Y%m%d-%H%M%S").to_string()
}

/// The name of the experiment and the folder of its runs, which is created.
fn folder(flags: &AbFlags) -> Result<(String, PathBuf), Failure> {
    let wrong = |folder: &Path, error: io::Error| {
        Failure::failed(format!("can't create {}: {error}", folder.display()))
    };
    let name = flags.tag.clone().unwrap_or_else(name_of_now);
    let folder = match (&flags.store, runs_folder::own_runs()) {
        (Some(folder), _) => folder.clone(),
        (None, Some(runs)) => runs.with_file_name("experiments").join(&name),
        (None, None) => {
            return Err(Failure::usage(
                "no directory for runs: neither XDG_STATE_HOME nor HOME is set; use -o to name one",
            ));
        }
    };
    fs::create_dir_all(folder.parent().unwrap_or(&folder))
        .map_err(|error| wrong(&folder, error))?;
    // An experiment that started in the same second has the name.
    let is_chosen = flags.tag.is_some() || flags.store.is_some();
    let numbered = (2..100).map(|n| format!("{name}-{n}"));
    let mut tried = folder;
    for next in numbered {
        match DirBuilder::new().mode(0o700).create(&tried) {
            Ok(()) => break,
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(wrong(&tried, error));
            }
            Err(_) if is_chosen => break,
            Err(_) => tried.set_file_name(next),
        }
    }
    for side in NAMES.map(|side| tried.join(side)) {
        match fs::create_dir(&side) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Failure::usage(format!(
                    "{} already exists; use another directory (-o) or another --tag",
                    side.display()
                )));
            }
            Err(error) => return Err(wrong(&side, error)),
        }
    }
    let name = match is_chosen {
        true => name,
        false => tried
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    };
    Ok((name, tried))
}
