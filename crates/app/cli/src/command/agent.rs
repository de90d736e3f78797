//! `drumfire agent`: runs a share of a plan for a coordinator.
//!
//! The driver has a thread and communicates with the coordinator; this thread prepares the share
//! and runs its session. The record of the share is stored like any run, and is removed once the
//! coordinator has all of it. Further agents of this process take over shares that other agents
//! lost; each has its own driver, thread and record.

use super::plan_file::PlanFile;
use super::received_files::ReceivedFiles;
use crate::document::Written;
use crate::exit::{Exit, Failure};
use crate::flags::{AgentFlags, FILES_BYTES_MAX, NatsFlags};
use crate::host::{AssignedMachine, Permits};
use crate::output::Output;
use crate::random::random;
use crate::{names, runs_folder};
use drumfire_cluster::{
    AgentDriver, AgentKey, AgentTask, Assignment, DriverError, Left, MachineFacts, NatsCredentials,
    NatsTls, NatsUser, divide_placement,
};
use drumfire_compile::{Host, compile_draft};
use drumfire_document::form::DocumentDraft;
use drumfire_document::{Document, Text};
use drumfire_engine::{Prepared, Shares};
use drumfire_net::{Clock, is_own_address};
use drumfire_placement::Part;
use drumfire_plan::Plan;
use drumfire_report::Naming;
use drumfire_session::{
    Console as _, Keeper, Session, SessionError, StorePlace, Storing, check_descriptors,
    prepare_placed, this_machine,
};
use drumfire_store::Directory;
use drumfire_units::ByteSize;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

/// The maximum number of records of earlier shares; the oldest are removed first.
const SHARES_MAX: usize = 32;

/// Waits for a run and takes a share of it, and takes over shares that other agents lose.
pub(crate) fn run(flags: &AgentFlags, output: &Output) -> Result<Exit, Failure> {
    check(flags)?;
    let name = flags.name.clone().unwrap_or_else(own_name);
    let key = random().map(AgentKey::new);
    let key = key.map_err(|error| Failure::failed(format!("can't read random bytes: {error}")))?;
    let credentials = credentials(&flags.nats, &flags.way)?;
    let place = credentials.place();
    let mut driver = start((&name, key), credentials, output)?;
    let joins = driver.joins();
    let (task, driver) = first_task(driver, || {
        output.note(&format!("agent {name} is waiting for a run at {place}"));
    })?;
    let assignment = match task {
        AgentTask::Prepare(assignment) => assignment,
        AgentTask::Leave(left) => return ended(&name, left, output),
        AgentTask::Wait => return Err(Failure::failed("an agent waits only once")),
    };
    thread::scope(|scope| {
        let (own, further_output) = ((&assignment, key), output.clone());
        let further = scope.spawn(move || further(joins, flags, own, &further_output));
        let exit = run_share(driver, &assignment, flags, output);
        let exit = exit.and_then(|taken| ended(&name, taken.left, output));
        let further = further.join();
        further.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        exit
    })
}

/// Checks what an agent needs of this machine, before a run depends on it.
fn check(flags: &AgentFlags) -> Result<(), Failure> {
    let mut sources = flags.source.iter();
    if let Some(foreign) = sources.find(|address| !is_own_address(**address)) {
        return Err(Failure::usage(format!(
            "--source: {foreign} is not an address of this machine; run `ip address` to list them"
        )));
    }
    match &flags.secrets {
        Some(secrets) if !secrets.is_dir() => Err(Failure::usage(format!(
            "--secrets: {} is not a directory",
            secrets.display()
        ))),
        _ => Ok(()),
    }
}

/// The driver of an agent with this name and key.
fn start(
    name: (&str, AgentKey),
    credentials: NatsCredentials,
    output: &Output,
) -> Result<AgentDriver, Failure> {
    let machine = this_machine();
    let facts = MachineFacts {
        cores: machine.cores,
        descriptors: machine.descriptors,
    };
    let version = env!("CARGO_PKG_VERSION");
    let redactor = output.redactor();
    Ok(AgentDriver::start(
        credentials,
        name,
        version,
        facts,
        redactor,
    )?)
}

/// The first task after the wait for a run. `waits` is called once the server is connected.
fn first_task(
    driver: AgentDriver,
    waits: impl FnOnce(),
) -> Result<(AgentTask, AgentDriver), Failure> {
    match driver.next()? {
        (AgentTask::Wait, driver) => {
            waits();
            Ok(driver.next()?)
        }
        first => Ok(first),
    }
}

/// Takes over the shares of lost agents. Each share gets its own agent and thread. Returns after
/// this process's own agent and all further agents have left.
fn further(
    joins: impl Iterator<Item = String>,
    flags: &AgentFlags,
    own: (&Assignment, AgentKey),
    output: &Output,
) -> Result<(), Failure> {
    thread::scope(|scope| {
        let each = |name: String| {
            let output = output.clone();
            scope.spawn(move || take_further(&name, flags, own, &output))
        };
        let threads: Vec<_> = joins.map(each).collect();
        let mut first = Ok(());
        for thread in threads {
            let ended = thread.join();
            let ended = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            first = first.and(ended);
        }
        first
    })
}

/// Takes over one share of a lost agent. A share that has been withdrawn is not a failure. Neither
/// is one for which this process has no room: the coordinator is informed, and nothing was sent.
fn take_further(
    name: &str,
    flags: &AgentFlags,
    (own, key): (&Assignment, AgentKey),
    output: &Output,
) -> Result<(), Failure> {
    let driver = start((name, key), credentials(&flags.nats, &flags.way)?, output)?;
    let (task, driver) = first_task(driver, || {})?;
    let AgentTask::Prepare(assignment) = task else {
        return driver.join().map_err(Failure::from);
    };
    let Shares { count, of, .. } = assignment.shares;
    output.note(&format!(
        "agent {name} takes over {count} of {of} shares from a lost agent"
    ));
    let assignment = Assignment {
        plan: own.plan.clone(),
        attachments: own.attachments.clone(),
        ..assignment
    };
    let taken = run_share(driver, &assignment, flags, output)?;
    match taken.has_begun {
        true => ended(name, taken.left, output).map(|_done| ()),
        false => Ok(()),
    }
}

/// A share after its agent has left.
struct TakenShare {
    /// Whether its session was started.
    has_begun: bool,
    /// How the agent left: with a complete share, or with the reason why it is incomplete.
    left: Result<Left, String>,
}

/// Runs a share to its end.
fn run_share(
    driver: AgentDriver,
    assignment: &Assignment,
    flags: &AgentFlags,
    output: &Output,
) -> Result<TakenShare, Failure> {
    let files_max = flags.files_max.unwrap_or(ByteSize(FILES_BYTES_MAX));
    let mut has_begun = false;
    let ran = ReceivedFiles::fetch(&driver, assignment, files_max).and_then(|files| {
        let prepared = Share::new(flags, assignment, &files, output)?.prepared()?;
        has_begun = true;
        prepared.run(&driver, output)
    });
    let stored = match ran {
        Ok(stored) => stored,
        Err(failure) => {
            driver.fail(&failure.message);
            output.complain(&format!("{}{}", failure.message, failure.remedy));
            None
        }
    };
    let (left, driver) = match driver.next()? {
        (AgentTask::Leave(left), driver) => (left, driver),
        (AgentTask::Prepare(_) | AgentTask::Wait, _) => {
            return Err(Failure::failed("an agent has only one share"));
        }
    };
    driver.join()?;
    if left.is_ok()
        && flags.keep.is_none()
        && let Some(path) = stored
    {
        // The coordinator has the whole record.
        let _kept = fs::remove_dir_all(path);
    }
    Ok(TakenShare { has_begun, left })
}

/// The exit code of an agent. An incomplete share is a failure, so that a supervisor that restarts
/// failed processes restarts it. A share that was withdrawn is complete.
fn ended(name: &str, left: Result<Left, String>, output: &Output) -> Result<Exit, Failure> {
    match left {
        Ok(Left::Stored) => {}
        Ok(Left::NotWanted) => output.note(&format!(
            "the shares offered to agent {name} are no longer needed; it has sent nothing"
        )),
        Err(reason) => return Err(Failure::failed(reason)),
    }
    Ok(Exit::Done)
}

/// The credentials for a server. A name and a password come from the environment, because other
/// users can see the arguments of a process.
pub(super) fn credentials(url: &str, way: &NatsFlags) -> Result<NatsCredentials, Failure> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let user = match (&way.creds, &way.nkey, variable("NATS_USER")) {
        (Some(file), _, _) => NatsUser::Creds(file.clone()),
        (None, Some(file), _) => NatsUser::Nkey(seed(file)?),
        (None, None, Some(name)) => {
            NatsUser::Password(name, variable("NATS_PASSWORD").unwrap_or_default())
        }
        (None, None, None) => NatsUser::Unnamed,
    };
    Ok(NatsCredentials {
        url: url.to_owned(),
        user,
        tls: NatsTls {
            authority: way.nats_cacert.clone(),
            identity: way.nats_cert.clone().zip(way.nats_key.clone()),
        },
        group: way.group.clone(),
    })
}

/// The seed in a file: the line that begins with an S.
fn seed(file: &Path) -> Result<String, Failure> {
    let text = fs::read_to_string(file);
    let shown = file.display();
    let text = text.map_err(|error| Failure::usage(format!("can't read {shown}: {error}")))?;
    let seed = text
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with('S'));
    let seed = seed.map(str::to_owned);
    seed.ok_or_else(|| Failure::usage(format!("{shown} contains no seed of a key (SU…)")))
}

/// A unique name: the machine's name, the process number and the time.
fn own_name() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = match host.trim() {
        "" => "agent",
        host => host,
    };
    let micros = Clock::unix_time() / 1_000;
    format!("{host}-{}-{:x}", std::process::id(), micros & 0xff_ffff)
}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        Self::failed(error)
    }
}

/// A share that was compiled on this machine.
struct Share<'a> {
    flags: &'a AgentFlags,
    assignment: &'a Assignment,
    draft: DocumentDraft,
    plan: Plan,
}

impl<'a> Share<'a> {
    fn new(
        flags: &'a AgentFlags,
        assignment: &'a Assignment,
        files: &ReceivedFiles,
        output: &Output,
    ) -> Result<Self, Failure> {
        let file = PlanFile::of_text(&assignment.plan, "the plan");
        let permits = Permits {
            hosts: flags.allow.clone(),
            variables: flags.env.clone(),
        };
        let host: Arc<dyn Host> = Arc::new(AssignedMachine::new(
            file.host(output),
            &assignment.attachments,
            &files.places,
            flags.secrets.as_deref(),
            permits.clone(),
        ));
        let mut draft = file.draft(&[], &host, output);
        send_from(&flags.source, &mut draft.document);
        let plan =
            compile_draft(&draft, &host).map_err(|found| Failure::from_diagnostics(&found))?;
        permits.plan(&plan).map_err(Failure::usage)?;
        Ok(Self {
            flags,
            assignment,
            draft,
            plan,
        })
    }

    /// Fits the share to this machine.
    fn prepared(self) -> Result<PreparedShare<'a>, Failure> {
        let Self {
            flags,
            assignment,
            draft,
            plan,
        } = self;
        let placement = divide_placement(&plan, assignment.machine, is_own_address);
        let placement = placement.map_err(SessionError::Unfit)?;
        let (of, shares) = (assignment.shares.of, placement.threads());
        if of != shares {
            // Each share is a thread.
            return Err(Failure::failed(format!(
                "the coordinator divides the plan into {of} shares, but it has {shares} here"
            )));
        }
        // The plan was fitted to all machines together, and this process may have further shares.
        let part = Part::for_shares(&plan, &placement, assignment.shares.count);
        check_descriptors(part.ahead)?;
        Ok(PreparedShare {
            flags,
            shares: assignment.shares,
            draft,
            prepared: prepare_placed(plan, placement, Arc::new(names::resolve))?,
        })
    }
}

/// A share that this machine can run.
struct PreparedShare<'a> {
    flags: &'a AgentFlags,
    shares: Shares,
    draft: DocumentDraft,
    prepared: Arc<Prepared>,
}

impl PreparedShare<'_> {
    /// Runs the share and returns the directory of its record.
    fn run(self, driver: &AgentDriver, output: &Output) -> Result<Option<PathBuf>, Failure> {
        let appointment = driver.appointment();
        let session = Session::of_shares(self.prepared, self.shares, appointment.clone());
        let courier = driver.courier(appointment.clone());
        driver.prepared(session.info(), appointment);
        let written = Written {
            naming: Naming::Keys,
            ..self.draft.document.into()
        };
        let storing = folder(self.flags.keep.as_deref()).map(|folder| {
            let place = StorePlace::Among(folder);
            Storing::new(place, &written.document, Path::new(""), written.naming)
        });
        let mut session = session.observed_beside("courier", courier);
        if let Some(storing) = storing {
            let keeper = Keeper::new(storing, output.redactor(), output.console());
            session = session.observed_beside("store", keeper);
        }
        Ok(session.run()?.stored)
    }
}

/// The folder of the agents' records, next to the folder of runs. Records of incomplete shares stay
/// there, at most [`SHARES_MAX`].
fn folder(keep: Option<&Path>) -> Option<PathBuf> {
    if let Some(folder) = keep {
        return Some(folder.to_owned());
    }
    let folder = runs_folder::own_runs()?.with_file_name("shares");
    let mut old = runs_folder::names(&folder);
    old.truncate(old.len().saturating_sub(SHARES_MAX));
    for path in old.into_iter().map(|name| folder.join(name)) {
        // A record that is in use, or has other files in it, stays.
        let _stays = Directory::open(&path).and_then(Directory::remove);
    }
    Some(folder)
}

/// Sets the agent's own addresses as the source of all pools, if the agent has a list of them.
fn send_from(sources: &[IpAddr], document: &mut Document) {
    if sources.is_empty() {
        return;
    }
    for pool in &mut document.pools {
        let text = |address: &IpAddr| Text::new(address.to_string(), pool.name.place.clone());
        pool.settings.reach.source_ip = sources.iter().map(text).collect();
    }
}
