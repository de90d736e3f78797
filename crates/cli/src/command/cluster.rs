//! `drumfire cluster run`: one plan on several agents, as one run.

use super::agent::credentials;
use super::local::{Local, LocalAgents};
use super::phases::{self, Compiled, Phases};
use super::plan_file::PlanFile;
use super::results::{self, Carried};
use super::run::compiled;
use crate::document::Written;
use crate::exit::{Exit, Failure};
use crate::flags::{ClusterRunFlags, LossChoice};
use crate::host::Noting;
use crate::output::Output;
use crate::runs_folder;
use crate::signals::Signals;
use crate::trust;
use drumfire_cluster::{
    ClusterEvent, CoordinatorDriver, DriverError, Journal, OnLoss, Setup, relayed,
};
use drumfire_compile::Host;
use drumfire_document::{Document, form};
use drumfire_engine::Run;
use drumfire_measure::RunInfo;
use drumfire_net::Clock;
use drumfire_plan::Plan;
use drumfire_report::Naming;
use drumfire_session::{Console as _, Remote, Session};
use drumfire_units::Nanos;
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// The time between two looks at the agents that have come.
const LOOK: Duration = Duration::from_millis(50);
/// The time after which it is said what is waited for.
const SILENCE: Nanos = Nanos::from_secs(2);

/// Runs a plan on agents.
pub(crate) fn run(flags: &ClusterRunFlags, output: &Output) -> Result<Exit, Failure> {
    let given = &flags.run;
    if given.output.show {
        return Err(Failure::usage(
            "--show sends each request once: use drumfire run",
        ));
    }
    let file = PlanFile::read(&given.plan)?;
    let phases = match given.print_plan {
        true => Phases::Skip,
        false => Phases::Run,
    };
    let noted = RefCell::new(None);
    let read = |host: &Arc<dyn Host>| {
        let noting = Noting::of(host);
        let host: Arc<dyn Host> = Arc::clone(&noting) as Arc<dyn Host>;
        noted.replace(Some(noting));
        compiled(&file, &host, given, output)
    };
    // The setup's and the teardown's requests are this machine's, once for all agents.
    phases::around(&file, phases, output, read, |compiled, signals| {
        let noting = noted.take();
        let noting = noting.ok_or_else(|| Failure::failed("the plan was not read"))?;
        load(flags, compiled, noting, &file, signals, output)
    })
}

/// Runs the load of a compiled plan.
fn load(
    flags: &ClusterRunFlags,
    compiled: Compiled,
    noting: Arc<Noting>,
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
        return results::of_plan(plan, &written, shown, true, signals, output);
    }
    crate::store_place::check(&given.output)?;
    let destinations = results::destinations_of(&written, output)?;
    let output = &output.colored(given.output.color);
    let cluster = Cluster {
        flags,
        text: text_of_load(&written.document),
        noting,
        secrets: file.folder.clone(),
        ends: RefCell::default(),
    };
    let carried = results::carry_out(
        compiled.plan,
        &written,
        &destinations,
        &given.output,
        output,
        |plan, output| cluster.session(plan, &written.notes, signals, output),
    );
    cluster.end();
    carried
}

/// The text of a document's load, which is all that agents get of it.
fn text_of_load(document: &Document) -> String {
    let load = Document {
        setup: Vec::new(),
        teardown: Vec::new(),
        ..document.clone()
    };
    form::print_without_secrets(&load)
}

/// The coordinator of a run that is being put together.
struct Cluster<'a> {
    flags: &'a ClusterRunFlags,
    /// The plan as agents get it.
    text: String,
    /// What the plan asked of this machine.
    noting: Arc<Noting>,
    /// The folder in which local agents have the plan's secrets.
    secrets: PathBuf,
    ends: RefCell<Ends>,
}

/// What ends with the run.
#[derive(Default)]
struct Ends {
    driver: Option<JoinHandle<Result<(), DriverError>>>,
    local: Option<Local>,
    journal: Option<PathBuf>,
}

impl Cluster<'_> {
    /// Gathers agents; a session of their run.
    fn session<'s>(
        &self,
        plan: Plan,
        notes: &[String],
        signals: &Signals,
        output: &Output,
    ) -> Result<Session<'s>, Failure> {
        trust::check_for_targets(&plan)?;
        let watched = signals.watch();
        watched.map_err(|error| Failure::failed(format!("can't watch for signals: {error}")))?;
        let plan = Arc::new(plan);
        let driver = self.driver(&plan)?;
        let (info, start, driver) = self.gathered(driver, signals, output)?;
        let clock = driver.clock();
        let (events, wishes, thread) = driver.into_parts();
        self.ends.borrow_mut().driver = Some(thread);
        let session = Session::with(info, move |info| {
            let shared = Arc::clone(&plan);
            Run::relayed(&plan, move |relay| {
                let wish = |wish| {
                    // The driver has ended, which ends the run.
                    let _ended = wishes.send(wish);
                };
                let facts = (&info, &*shared);
                relayed(relay, facts, (clock, start), &events, &wish)
            })
        });
        let remote = Remote::within(runs_folder::sockets());
        let session = session.noted(notes).observed_by(signals.clone());
        Ok(session.observed_by(remote))
    }

    /// Starts the coordinator, and what is to be started here.
    fn driver(&self, plan: &Arc<Plan>) -> Result<CoordinatorDriver, Failure> {
        let flags = self.flags;
        let mut ends = self.ends.borrow_mut();
        let (url, agents) = match (&flags.nats, flags.local) {
            (Some(url), _) => (url.clone(), flags.agents.unwrap_or(1)),
            (None, count) => {
                let count = count.unwrap_or(1);
                let local = ends.local.insert(Local::start()?);
                local.start_agents(&LocalAgents {
                    count,
                    group: &flags.way.group,
                    keep: flags.keep.as_deref(),
                    secrets: &self.secrets,
                })?;
                (local.url.clone(), count)
            }
        };
        let micros = Clock::unix_time() / 1_000;
        let run = format!("{micros:x}-{:x}", std::process::id());
        let (path, journal) = journal(&run)?;
        ends.journal = Some(path);
        let (attachments, contents) = self.noting.attachments().map_err(|(path, error)| {
            Failure::usage(format!("can't read {path} a second time: {error}"))
        })?;
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
            },
        };
        let credentials = credentials(&url, &flags.way);
        Ok(CoordinatorDriver::start(
            credentials,
            setup,
            contents,
            journal,
        )?)
    }

    /// Waits until all agents are ready; the facts of their run, and its start.
    fn gathered(
        &self,
        driver: CoordinatorDriver,
        signals: &Signals,
        output: &Output,
    ) -> Result<(RunInfo, Nanos, CoordinatorDriver), Failure> {
        let flags = self.flags;
        let wanted = flags.agents.or(flags.local).unwrap_or(1);
        let patience: Nanos = flags.wait.parse().map_err(Failure::usage)?;
        let mut begun = driver.clock().now();
        let mut is_silent = true;
        loop {
            match driver.event(LOOK) {
                Some(Some(ClusterEvent::Gathered(info, start))) => {
                    return Ok((*info, start, driver));
                }
                Some(Some(ClusterEvent::Failed(reason))) => return Err(Failure::failed(reason)),
                Some(_) => {}
                None => {
                    driver.join()?;
                    return Err(Failure::failed("the coordinator has ended"));
                }
            }
            if signals.have_come() {
                return Err(Failure {
                    exit: Exit::CutShort,
                    ..Failure::failed("the run was interrupted before its load; no load was sent")
                });
            }
            if driver.is_sending() {
                // Agents are answered when the plan's files are with the server.
                begun = driver.clock().now();
            }
            let waited = driver.clock().now() - begun;
            let there = driver.agents();
            if waited > patience {
                return Err(Failure::failed(format!(
                    "{there} of {wanted} agents are there after {patience}; no load was sent"
                )));
            }
            if waited > SILENCE && is_silent {
                is_silent = false;
                output.note(&format!(
                    "waiting for agents: {there} of {wanted} are there"
                ));
            }
        }
    }

    /// Lets agents and the coordinator come to their ends.
    fn end(self) {
        let Ends {
            driver,
            local,
            journal,
        } = self.ends.into_inner();
        let ended = driver.map(JoinHandle::join);
        if let Some(mut local) = local {
            local.wait();
        }
        if let (Some(Ok(Ok(()))), Some(path)) = (ended, journal) {
            // Everything in it is in the results.
            let _left_behind = fs::remove_file(path);
        }
    }
}

/// The journal of a run, beside the folder of runs.
fn journal(run: &str) -> Result<(PathBuf, Journal), Failure> {
    let folder =
        runs_folder::runs().map_or_else(std::env::temp_dir, |runs| runs.with_file_name("cluster"));
    let path = folder.join(format!("{run}.journal"));
    let wrong = |error| Failure::failed(format!("can't write {}: {error}", path.display()));
    fs::create_dir_all(&folder).map_err(wrong)?;
    let mut file = File::create(&path).map_err(wrong)?;
    let journal = move |bytes: &[u8]| {
        file.write_all(bytes)?;
        file.sync_data()
    };
    Ok((path, Box::new(journal)))
}
