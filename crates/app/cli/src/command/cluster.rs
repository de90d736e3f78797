//! `drumfire cluster run`: one plan on several agents, as one run.

mod attach;
mod journal;
mod status;
mod surroundings;

pub(crate) use attach::run as attach;
pub(crate) use status::run as status;

use attach::Attach;
use journal::JournalFile;
use surroundings::CallerPlace;

use super::agent::credentials;
use super::local::{Local, LocalAgents};
use super::phases::{self, Compiled, Phases};
use super::plan_file::PlanFile;
use super::results::{self, Carried, Printed};
use super::run::compiled;
use crate::document::Written;
use crate::exit::{Exit, Failure};
use crate::flags::{ClusterRunFlags, LocalAgentsChoice, LossChoice, OutputFlags, VERSION};
use crate::host::Noting;
use crate::output::Output;
use crate::runs_folder;
use crate::signals::Signals;
use crate::trust;
use drumfire_cluster::{
    ClusterEvent, CoordinatorDriver, DriverError, OnLoss, Origin, Setup, relayed,
};
use drumfire_compile::{Host, compile_phase};
use drumfire_document::form::DocumentDraft;
use drumfire_document::{Document, Feed, Phase, form};
use drumfire_engine::Run;
use drumfire_measure::RunInfo;
use drumfire_net::Clock;
use drumfire_placement::late_begin;
use drumfire_plan::Plan;
use drumfire_report::Naming;
use drumfire_session::{Console as _, Remote, Session};
use drumfire_units::Nanos;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// The time between two checks for new agents.
const LOOK: Duration = Duration::from_millis(50);
/// The time after which drumfire prints what it waits for.
const SILENCE: Nanos = Nanos::from_secs(2);

/// Runs a plan on agents.
pub(crate) fn run(flags: &ClusterRunFlags, output: &Output) -> Result<Exit, Failure> {
    let given = &flags.run;
    if given.output.show {
        return Err(Failure::usage(
            "--show sends each request once; use it with `drumfire run`",
        ));
    }
    let file = PlanFile::read(&given.plan)?;
    let phases = match given.print_plan {
        true => Phases::Skip,
        false => Phases::Run,
    };
    let noted = RefCell::new(None);
    let read = |host: &Arc<dyn Host>| {
        let noting = Noting::new(host);
        let host_noted: Arc<dyn Host> = Arc::clone(&noting) as Arc<dyn Host>;
        let compiled = compiled(&file, &host_noted, given, output)?;
        noted.replace(Some(Asked {
            by_teardown: asked_by_teardown(&compiled.draft, host),
            by_load: noting,
        }));
        Ok(compiled)
    };
    // This machine sends the requests of setup and teardown once for all agents.
    phases::around(&file, phases, output, read, |compiled, signals| {
        let asked = noted.take();
        let asked = asked.ok_or_else(|| Failure::failed("the plan was not read"))?;
        load(flags, compiled, asked, &file, signals, output)
    })
}

/// What a plan has requested from this machine.
struct Asked {
    by_load: Arc<Noting>,
    /// The values of the setup that the teardown uses.
    by_teardown: Vec<(String, String)>,
}

impl Asked {
    /// The values of the setup that the load or the teardown uses.
    fn taken(&self) -> Vec<(String, String)> {
        let mut taken = self.by_load.taken();
        taken.extend(self.by_teardown.iter().cloned());
        taken
    }
}

/// The values of the setup that a teardown uses. Another coordinator may have to run the teardown.
fn asked_by_teardown(draft: &DocumentDraft, host: &Arc<dyn Host>) -> Vec<(String, String)> {
    let noting = Noting::new(host);
    let asked: Arc<dyn Host> = Arc::clone(&noting) as Arc<dyn Host>;
    // The phases report mistakes in the teardown.
    let _plan = compile_phase(Phase::Teardown, draft, &asked);
    noting.taken()
}

/// Runs the load of a compiled plan.
fn load(
    flags: &ClusterRunFlags,
    compiled: Compiled,
    asked: Asked,
    file: &PlanFile,
    signals: &Signals,
    output: &Output,
) -> Result<Carried, Failure> {
    let given = &flags.run;
    let written = Written {
        naming: Naming::Keys,
        folder: file.folder.clone(),
        ..compiled.draft.document.into()
    };
    if given.print_plan {
        let (plan, shown) = (compiled.plan, &given.output);
        return results::of_plan(plan, &written, shown, Printed::Plan, signals, output);
    }
    if flags.on_loss == LossChoice::Redistribute {
        redistributable(&compiled.plan, &written.document)?;
    }
    crate::store_place::check(&given.output)?;
    let is_local = flags.local.is_some();
    let gather = GatheringRun {
        flags,
        surroundings: CallerPlace::new(&written.folder, &given.output, is_local),
        text: text_of_load(&written.document),
        whole: form::print_without_secrets(&written.document),
        asked,
        secrets: file.folder.clone(),
    };
    carry_out(
        Opening::Gather(gather),
        compiled.plan,
        &written,
        &given.output,
        signals,
        output,
    )
}

/// Rejects a plan if another agent cannot compute the rest of a lost agent's share.
fn redistributable(plan: &Plan, document: &Document) -> Result<(), Failure> {
    let has_users = plan.pools().iter().any(|pool| !pool.load.is_open());
    let of_feed = |feed: &Feed| {
        let name = &feed.name.value;
        match feed.order.as_ref().map(|order| &*order.value) {
            Some("unique") => Some(format!(
                "feed {name} (order: unique) has a row for each user, and a lost agent has used its rows"
            )),
            Some("once") if has_users => Some(format!(
                "feed {name} (order: once) has rows for users, and it is unknown which of them a \
                 lost agent has used"
            )),
            _ => None,
        }
    };
    let pools = late_begin(plan).into_iter().map(|found| found.to_string());
    let found: Vec<String> = pools
        .chain(document.feeds.iter().filter_map(of_feed))
        .collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "a lost agent's share of this plan can't be redistributed: {}; use --on-loss drop",
            found.join("; ")
        ))),
    }
}

/// The text of a document's load, which is the only part that agents get.
fn text_of_load(document: &Document) -> String {
    let load = Document {
        setup: Vec::new(),
        teardown: Vec::new(),
        ..document.clone()
    };
    form::print_without_secrets(&load)
}

/// Runs the plan, and writes its results.
fn carry_out(
    opening: Opening<'_>,
    plan: Plan,
    written: &Written,
    shown: &OutputFlags,
    signals: &Signals,
    output: &Output,
) -> Result<Carried, Failure> {
    let destinations = results::destinations_of(written, output)?;
    let output = &output.colored(shown.color);
    let ends = RefCell::new(Ends::default());
    let is_attached = matches!(opening, Opening::Attach(_));
    let carried = results::carry_out(
        plan,
        written,
        &destinations,
        shown,
        output,
        |plan, output| {
            let ends = &mut *ends.borrow_mut();
            opening.session(plan, &written.notes, ends, signals, output)
        },
    );
    let driven = ends.into_inner().wait();
    let goes_on = is_attached || matches!(driven, Err(DriverError::Fenced));
    carried.or_else(|failure| {
        Ok(Carried {
            goes_on,
            ..Carried::unstored(Err(failure))
        })
    })
}

/// How a coordinator gets its run.
enum Opening<'a> {
    /// Gathers agents for a new run.
    Gather(GatheringRun<'a>),
    /// Continues a run that another coordinator started.
    Attach(Box<Attach<'a>>),
}

/// A run before its start.
struct GatheringRun<'a> {
    flags: &'a ClusterRunFlags,
    surroundings: CallerPlace,
    /// The plan that agents get.
    text: String,
    /// The plan with its setup and teardown.
    whole: String,
    asked: Asked,
    /// The folder in which local agents find the plan's secrets.
    secrets: PathBuf,
}

/// The parts that end with the run.
#[derive(Default)]
struct Ends {
    driver: Option<JoinHandle<Result<(), DriverError>>>,
    local: Option<Local>,
    journal: Option<JournalFile>,
}

impl Opening<'_> {
    /// Gathers agents or takes over an existing run, and returns its session.
    fn session<'s>(
        self,
        plan: Plan,
        notes: &[String],
        ends: &mut Ends,
        signals: &Signals,
        output: &Output,
    ) -> Result<Session<'s>, Failure> {
        trust::check_for_targets(&plan)?;
        let watched = signals.watch();
        watched.map_err(|error| Failure::failed(format!("can't watch for signals: {error}")))?;
        let plan = Arc::new(plan);
        let (driver, wait) = match self {
            Self::Gather(gather) => (gather.driver(&plan, ends)?, gather.wait()?),
            Self::Attach(attach) => {
                let (driver, journal) = attach.driver(&plan, &mut ends.local)?;
                ends.journal = Some(journal);
                (driver, Wait::default())
            }
        };
        let (info, start, driver) = wait.gathered(driver, signals, output)?;
        let clock = driver.clock();
        let (mut told, wishes, thread) = driver.into_parts();
        ends.driver = Some(thread);
        let session = Session::with(info, move |info| {
            let shared = Arc::clone(&plan);
            Run::relayed(&plan, move |relay| {
                let wish = |wish| {
                    // If the driver has ended, it ends the run itself.
                    let _ended = wishes.send(wish);
                };
                let facts = (&info, &*shared);
                relayed(relay, facts, (clock, start), &mut told, &wish)
            })
        });
        let remote = Remote::within(
            runs_folder::sockets(),
            output.redactor(),
            runs_folder::runs(),
        );
        let session = session.of_program(VERSION).noted(notes);
        let session = session.observed_by(signals.clone());
        Ok(session.observed_by(remote))
    }
}

impl GatheringRun<'_> {
    /// Starts the coordinator, and the local server and agents if the flags request them.
    fn driver(&self, plan: &Arc<Plan>, ends: &mut Ends) -> Result<CoordinatorDriver, Failure> {
        let flags = self.flags;
        let (url, agents) = match (&flags.nats, &flags.local) {
            (Some(url), _) => (url.clone(), flags.agents.unwrap_or(1)),
            (None, choice) => {
                let choice = choice.clone().unwrap_or(LocalAgentsChoice::Count(1));
                let local = ends.local.insert(Local::start()?);
                local.start_agents(&LocalAgents {
                    choice: &choice,
                    group: &flags.way.group,
                    keep: flags.keep.as_deref(),
                    secrets: &self.secrets,
                })?;
                (local.url.clone(), choice.count())
            }
        };
        let micros = Clock::unix_time() / 1_000;
        let run = format!("{micros:x}-{:x}", std::process::id());
        let (journal, writer) = JournalFile::create(&run)?;
        ends.journal = Some(journal);
        let noted = self.asked.by_load.attachments();
        let (attachments, contents) = noted
            .map_err(|(path, error)| Failure::usage(format!("can't read {path} again: {error}")))?;
        let setup = Setup {
            run,
            attachments,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            plan: Arc::clone(plan),
            text: self.text.clone(),
            agents: usize::try_from(agents).unwrap_or(usize::MAX),
            on_loss: match flags.on_loss {
                LossChoice::Drop => OnLoss::Drop,
                LossChoice::Abort => OnLoss::Abort,
                LossChoice::Redistribute => OnLoss::Redistribute,
            },
        };
        let origin = Origin {
            boot: journal::boot(),
            plan: self.whole.clone(),
            taken: self.asked.taken(),
            caller: self.surroundings.text(),
        };
        let mut credentials = credentials(&url, &flags.way)?;
        if let Some(local) = &ends.local {
            credentials.user = local.user();
        }
        Ok(CoordinatorDriver::start(
            credentials,
            setup,
            contents,
            origin,
            writer,
        )?)
    }

    fn wait(&self) -> Result<Wait, Failure> {
        let flags = self.flags;
        Ok(Wait {
            wanted: flags
                .agents
                .or_else(|| flags.local.as_ref().map(LocalAgentsChoice::count))
                .unwrap_or(1),
            patience: flags.wait.parse().map_err(Failure::usage)?,
        })
    }
}

/// The wait for agents.
struct Wait {
    /// The number of agents.
    wanted: u64,
    patience: Nanos,
}

impl Default for Wait {
    /// A wait for agents that are present already.
    fn default() -> Self {
        Self {
            wanted: 0,
            patience: Nanos::MAX,
        }
    }
}

impl Wait {
    /// Waits until all agents are ready. Returns the facts of their run, and its start.
    fn gathered(
        &self,
        mut driver: CoordinatorDriver,
        signals: &Signals,
        output: &Output,
    ) -> Result<(RunInfo, Nanos, CoordinatorDriver), Failure> {
        let (wanted, patience) = (self.wanted, self.patience);
        let mut begun = driver.clock().now();
        let mut is_silent = true;
        loop {
            match driver.event(LOOK) {
                Some(Some(ClusterEvent::Gathered(info, start))) => {
                    return Ok((*info, start, driver));
                }
                Some(Some(ClusterEvent::Failed(reason))) => {
                    // The driver informs the other agents before it ends.
                    driver.join()?;
                    return Err(Failure::failed(reason));
                }
                Some(Some(ClusterEvent::Note(note))) => output.note(&note),
                Some(_) => {}
                None => {
                    driver.join()?;
                    return Err(Failure::failed("the coordinator has stopped"));
                }
            }
            if signals.have_come() {
                return Err(Failure {
                    exit: Exit::CutShort,
                    ..Failure::failed("the run was interrupted before its load; no load was sent")
                });
            }
            if driver.is_sending() {
                // Agents get an answer once the server has the plan's files.
                begun = driver.clock().now();
            }
            let waited = driver.clock().now() - begun;
            let there = driver.agents();
            if waited > patience {
                let what = match (there as u64) < wanted {
                    true => format!("only {there} of {wanted} agents joined within {patience}"),
                    false => format!("the agents were not ready within {patience}; raise --wait"),
                };
                return Err(Failure::failed(format!("{what}; no load was sent")));
            }
            if waited > SILENCE && is_silent {
                is_silent = false;
                output.note(&format!(
                    "waiting for agents: {there} of {wanted} have joined"
                ));
            }
        }
    }
}

impl Ends {
    /// Waits until the agents and the coordinator have ended.
    fn wait(self) -> Result<(), DriverError> {
        let Self {
            driver,
            local,
            journal,
        } = self;
        let Some(driver) = driver else {
            // The run never started, so nothing can continue it.
            journal
                .filter(JournalFile::is_first)
                .inspect(JournalFile::remove);
            return Ok(());
        };
        let ended = driver.join();
        if let Some(mut local) = local {
            local.wait();
        }
        let ended = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if let (Ok(()), Some(journal)) = (&ended, journal) {
            // The results contain everything in the journal.
            journal.remove();
        }
        ended
    }
}
