//! A run: the loop over users, requests and timers.
//!
//! One user runs at a time. [`Run::advance`] lets a user run until it waits or ends; what it waits for is a
//! request of the engine's client or a timer. What follows from an end is put on a list, which the loop takes
//! its work from, so that no call here is nested in another user's turn.

mod executors;
mod figures;
mod judging;
mod requests;
mod sockets;
mod stages;

pub use stages::OwnSummary;

use crate::ask::{Answer, Ask};
use crate::clock::{Due, Timers};
use crate::program::{Instance, Program, ProgramError};
use crate::settings::Settings;
use crate::state::{ScenarioFacts, Shared, Stage};
use crate::surroundings::Level;
use drumfire_engine::{Client, SocketTicket, Ticket};
use drumfire_k6::{Scenario, Tags};
use drumfire_measure::{Outcome, RunInfo, Summary};
use drumfire_net::{Fault, Io};
use drumfire_realm::{Fibre, Turn};
use drumfire_units::Nanos;
use executors::ScenarioRun;
use figures::RunFigures;
use requests::{BLOCKING, Flight};
use rquickjs::{CatchResultExt as _, Ctx, Function, Object, Persistent, Value};
use sockets::Background;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::rc::Rc;

/// Turns of users between two looks at sockets and timers.
const TURNS_MAX: usize = 256;

/// The longest wait, so that signals are noticed.
const WAIT_MAX: Nanos = Nanos::from_millis(50);

/// The time between two samples of gauges.
const SECOND: Nanos = Nanos::from_secs(1);

/// The time between two judgements of thresholds.
const JUDGE: Nanos = Nanos::from_secs(2);

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The script failed outside of an iteration.
    Script(String),
    /// `setup` took too long.
    SetupTimeout,
    /// `teardown` took too long.
    TeardownTimeout,
    /// The event loop failed.
    Driver(Fault),
    /// A second signal asked for the end at once.
    Interrupted,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Script(text) => f.write_str(text),
            Self::SetupTimeout => f.write_str("setup() execution timed out"),
            Self::TeardownTimeout => f.write_str("teardown() execution timed out"),
            Self::Driver(fault) => write!(f, "the event loop failed: {fault}"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<Fault> for RunError {
    fn from(fault: Fault) -> Self {
        Self::Driver(fault)
    }
}

impl From<ProgramError> for RunError {
    fn from(error: ProgramError) -> Self {
        Self::Script(error.to_string())
    }
}

/// Why the scenarios ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All scenarios were done.
    Done,
    /// A threshold with `abortOnFail` failed; the metrics with failed thresholds.
    Threshold(Vec<String>),
    /// The script called `exec.test.abort`, with this message.
    Aborted(String),
    /// A signal asked for the end.
    Signal,
}

/// The end of a run.
#[derive(Debug)]
pub struct Verdict {
    /// Why the scenarios ended.
    pub ended: Ended,
    /// The message of `exec.test.fail`.
    pub failed: Option<String>,
    /// The metrics, or selections of their samples, with failed thresholds.
    pub crossed: Vec<String>,
    /// The time from the start of the scenarios to their end.
    pub duration: Nanos,
    /// What `setup` returned, as JSON.
    pub setup_data: Option<String>,
    /// Iterations that were interrupted.
    pub interrupted: u64,
    /// Iterations that ended.
    pub completed: u64,
    /// Iterations that ended with an exception.
    pub thrown: u64,
    /// What drumfire itself measured, by when requests and iterations were due; `None` if no scenario began.
    pub summary: Option<Box<Summary>>,
    /// How much of the run's time its script took, from 0 to 1, and the longest time without a pause.
    pub script: (f64, Nanos),
}

/// The state of a run, once a second.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The time since the start of the scenarios.
    pub time: Nanos,
    /// Users in an iteration, and users that exist.
    pub users: (u32, u32),
    /// Iterations that ended.
    pub completed: u64,
    /// Iterations that were interrupted.
    pub interrupted: u64,
    /// Names, shares of the regular duration that are over, and whether the scenario is done.
    pub scenarios: Vec<(String, f64, bool)>,
}

/// The result of a user's task.
type TaskEnd = Result<Option<String>, String>;

/// A user.
struct Vu {
    instance: Option<Instance>,
    /// The data of `setup`, once the user has parsed its copy.
    data: Option<Persistent<Value<'static>>>,
    fibre: Option<Fibre<Ask, Answer, TaskEnd>>,
    /// The requests of the user's calls, those in the background by their numbers.
    flights: Vec<Flight>,
    background: Option<Box<Background>>,
    /// The number of the user's turns, which tells late timers from others.
    turn: u64,
    /// The number of the user's tasks, which tells the end of one from others.
    task: u64,
    /// The scenario that uses the user, and the user's place in it.
    scenario: Option<usize>,
    place: usize,
    begun: Nanos,
    /// When the iteration was due, and how late the user's current turn began.
    due: Nanos,
    late: Nanos,
    /// The first failed request of the iteration.
    failed: Option<Outcome>,
    /// Whether the user is given back to the pool when its iteration ends.
    released: bool,
}

impl Vu {
    const fn new(instance: Option<Instance>) -> Self {
        Self {
            instance,
            data: None,
            fibre: None,
            flights: Vec::new(),
            background: None,
            turn: 0,
            task: 0,
            scenario: None,
            place: 0,
            begun: Nanos::ZERO,
            due: Nanos::ZERO,
            late: Nanos::ZERO,
            failed: None,
            released: false,
        }
    }
}

/// A piece of work for the loop.
#[derive(Debug)]
enum Work {
    /// Continue a user in this turn, since a time.
    Answer(u32, u64, Answer, Nanos),
    /// Begin the next iteration of a user, since a time.
    Iterate(u32, Nanos),
}

/// A run of a script.
pub struct Run<I: Io> {
    client: Client<I>,
    // Users are dropped before the program, whose realm their values belong to.
    vus: Vec<Vu>,
    setup_data: Option<String>,
    shared: Rc<Shared>,
    timers: Timers,
    work: VecDeque<Work>,
    /// The user, the flight and the place of each request.
    tickets: HashMap<Ticket, (u32, u32, usize)>,
    socket_owners: HashMap<SocketTicket, u32>,
    scenarios: Vec<ScenarioRun>,
    /// Users that no scenario uses, the least number last.
    spare: Vec<u32>,
    settings: Settings,
    base_tags: Tags,
    start: Nanos,
    ended: Option<Ended>,
    thrown: u64,
    figures: Option<RunFigures>,
    /// The time at which the loop's last wait ended.
    turn_from: Nanos,
    /// The time that the script took, and the longest turn of a user.
    script: (Nanos, Nanos),
    signals: u32,
    seed: u64,
    watched: bool,
    stage_result: stages::StageEnd,
    program: Program,
}

impl<I: Io> Run<I> {
    /// A run of a script with these scenarios and settings.
    pub fn new(
        program: Program,
        client: Client<I>,
        scenarios: Vec<Scenario>,
        settings: Settings,
        seed: u64,
    ) -> Self {
        let shared = Rc::clone(&program.shared);
        shared.settings.replace(settings.clone());
        let mut base_tags = Tags::default();
        for (name, value) in &settings.tags {
            base_tags.set(name, value);
        }
        let now = client.now();
        shared.now.set(now);
        shared
            .unix_start
            .set(client.unix_time().saturating_sub(now.0));
        Self {
            client,
            vus: vec![Vu::new(None)],
            setup_data: None,
            shared,
            timers: Timers::default(),
            work: VecDeque::new(),
            tickets: HashMap::new(),
            socket_owners: HashMap::new(),
            scenarios: scenarios.into_iter().map(ScenarioRun::new).collect(),
            spare: Vec::new(),
            settings,
            base_tags,
            start: Nanos::ZERO,
            ended: None,
            thrown: 0,
            figures: None,
            turn_from: now,
            script: (Nanos::ZERO, Nanos::ZERO),
            signals: 0,
            seed,
            watched: false,
            stage_result: None,
            program,
        }
    }

    /// Gives the metrics to a function.
    pub fn with_registry<T>(&self, run: impl FnOnce(&mut drumfire_k6::Registry) -> T) -> T {
        run(&mut self.shared.registry.borrow_mut())
    }

    /// Takes drumfire's own figures, under facts with the name and the machine of the run.
    pub fn measure(&mut self, info: RunInfo) {
        let pools = self.scenarios.iter().map(ScenarioRun::pool).collect();
        self.figures = Some(RunFigures::new(RunInfo { pools, ..info }));
    }

    /// Ends the outputs of samples.
    pub fn finish_outputs(&self) {
        self.shared.surroundings.borrow_mut().finish();
    }

    /// Sets the options that `exec.test.options` has, as JSON.
    pub fn set_options(&self, options: String) {
        self.shared.options.replace(options);
    }

    /// Makes the users that the scenarios need at their start.
    ///
    /// # Errors
    ///
    /// The top level of the script throws.
    pub fn make_users(&mut self, environment: &[(String, String)]) -> Result<(), RunError> {
        self.shared.is_first.set(false);
        for at in 0..self.scenarios.len() {
            let scenario = &self.scenarios[at].scenario;
            let mut own = environment.to_vec();
            own.retain(|(name, _)| !scenario.env.iter().any(|(other, _)| other == name));
            own.extend(scenario.env.iter().cloned());
            self.shared.scenarios.borrow_mut().push(ScenarioFacts {
                name: scenario.name.clone(),
                executor: executors::name(&scenario.executor),
                ..ScenarioFacts::default()
            });
            self.program.add_environment(&own)?;
        }
        for _ in 0..executors::users_at_start(&self.scenarios) {
            let user = self.make_user()?;
            self.spare.push(user);
        }
        self.spare.reverse();
        Ok(())
    }

    /// Makes a user, and returns its number.
    fn make_user(&mut self) -> Result<u32, RunError> {
        let number = self.vus.len() as u32;
        self.shared.add_user(self.seed);
        self.shared.user.set(number);
        let stage = self.shared.stage.get();
        let instance = self.program.instance()?;
        self.shared.stage.set(stage);
        self.vus.push(Vu::new(Some(instance)));
        Ok(number)
    }

    /// The present time, which native functions see too.
    fn tick(&self) -> Nanos {
        let now = self.client.now();
        self.shared.now.set(now);
        now
    }

    /// Waits for sockets and timers, and handles what is due; then lets users run. One pass of the loop.
    fn pass(&mut self, until: Nanos) -> Result<(), RunError> {
        let now = self.tick();
        while let Some((at, due)) = self.timers.take(now) {
            self.fire(at, due)?;
        }
        for _ in 0..TURNS_MAX {
            match self.work.pop_front() {
                Some(Work::Answer(user, turn, answer, since)) => {
                    if self.vus[user as usize].turn == turn {
                        self.advance(user, Some(answer), since);
                    }
                }
                Some(Work::Iterate(user, since)) => self.iterate(user, since)?,
                None => break,
            }
        }
        let until = match self.work.is_empty() {
            true => until.min(self.timers.next()).min(now + WAIT_MAX),
            false => Nanos::ZERO,
        };
        self.wait(until)?;
        while let Some(reply) = self.client.take_ended() {
            self.replied(reply);
        }
        self.hear_sockets();
        self.heed_signals()
    }

    /// Waits for sockets until a time, and measures the loop itself.
    fn wait(&mut self, until: Nanos) -> Result<(), RunError> {
        let before = self.tick();
        self.client.turn(until)?;
        let after = self.tick();
        if let Some(figures) = self.figures.as_mut().filter(|figures| figures.is_on()) {
            figures.turn(before - self.turn_from);
            if until > before && after > until && until == self.timers.next() {
                figures.wake(after - until);
            }
            if after >= figures.edge() {
                figures.close(after, self.client.io().thread_times());
            }
        }
        self.turn_from = after;
        Ok(())
    }

    fn heed_signals(&mut self) -> Result<(), RunError> {
        let signals = self.shared.surroundings.borrow().interrupts();
        if signals > self.signals {
            if self.signals > 0 || signals > 1 {
                return Err(RunError::Interrupted);
            }
            self.signals = signals;
            self.stop(Ended::Signal);
        }
        Ok(())
    }

    /// Handles a timer.
    fn fire(&mut self, at: Nanos, due: Due) -> Result<(), RunError> {
        match due {
            Due::Wake(user, turn) => {
                let vu = &mut self.vus[user as usize];
                if vu.turn == turn {
                    if let Some(background) = &mut vu.background {
                        background.stop_waiting();
                    }
                    let work = Work::Answer(user, turn, Answer::Woken, at);
                    self.work.push_back(work);
                }
            }
            Due::Next(user, turn) => {
                if self.vus[user as usize].turn == turn {
                    self.work.push_back(Work::Iterate(user, at));
                }
            }
            Due::Second => {
                self.sample_gauges();
                self.timers.add(at + SECOND, Due::Second);
            }
            Due::Judge => {
                self.judge();
                self.timers.add(at + JUDGE, Due::Judge);
            }
            Due::Begin(scenario) => self.begin_scenario(scenario, at)?,
            Due::Arrival(scenario) => self.arrive(scenario, at)?,
            Due::Change(scenario) => self.change_users(scenario, at)?,
            Due::End(scenario) => self.end_scenario(scenario),
            Due::Kill(scenario) => self.kill_scenario(scenario),
            Due::Release(user, task) => {
                if self.vus[user as usize].task == task {
                    self.interrupt(user);
                }
            }
        }
        Ok(())
    }

    /// Begins a task of a user: a function that the script exports, with the data of `setup`.
    fn begin_task(&mut self, user: u32, export: &str, takes_data: bool) -> Result<(), RunError> {
        let data = match takes_data {
            true => self.data_of(user)?,
            false => None,
        };
        let vu = &self.vus[user as usize];
        let instance = vu.instance.as_ref().unwrap_or(&self.program.first);
        let (exports, drive) = (instance.exports.clone(), instance.drive.clone());
        let export = export.to_owned();
        let returns = !matches!(self.shared.stage.get(), Stage::Scenarios);
        let task = move |ctx: Ctx<'_>| {
            let call = || -> rquickjs::Result<Option<String>> {
                let exports: Object<'_> = exports.restore(&ctx)?;
                let function: Function<'_> = exports.get(export.as_str())?;
                let drive = drive.restore(&ctx)?;
                let arguments = rquickjs::Array::new(ctx.clone())?;
                if let Some(data) = data {
                    arguments.set(0, data.restore(&ctx)?)?;
                }
                let result: Value<'_> = drive.call((function, arguments))?;
                match returns {
                    true => {
                        let text = ctx.json_stringify(result)?;
                        text.map(|text| text.to_string()).transpose()
                    }
                    false => Ok(None),
                }
            };
            call().catch(&ctx).map_err(|error| error.to_string())
        };
        let fibre = self.program.realm.fibre(&instance.context, user, task);
        let fibre = fibre.map_err(|error| RunError::Script(error.to_string()))?;
        let vu = &mut self.vus[user as usize];
        vu.fibre = Some(fibre);
        vu.turn += 1;
        vu.task += 1;
        Ok(())
    }

    /// A user's copy of the data of `setup`.
    fn data_of(&mut self, user: u32) -> Result<Option<Persistent<Value<'static>>>, RunError> {
        let Some(text) = &self.setup_data else {
            return Ok(None);
        };
        let vu = &mut self.vus[user as usize];
        if vu.data.is_none() {
            let instance = vu.instance.as_ref().unwrap_or(&self.program.first);
            let parsed = self.program.realm.enter(&instance.context, |ctx| {
                let value: Value<'_> = ctx.json_parse(text.as_str())?;
                Ok::<_, rquickjs::Error>(Persistent::save(&ctx, value))
            });
            let parsed = parsed.map_err(|error| RunError::Script(error.to_string()))?;
            vu.data = Some(parsed);
        }
        Ok(vu.data.clone())
    }

    /// Lets a user run until it waits or ends. It could have run since a time.
    fn advance(&mut self, user: u32, answer: Option<Answer>, since: Nanos) {
        self.shared.user.set(user);
        let begun = self.tick();
        self.vus[user as usize].late = begun - since;
        let Some(fibre) = &mut self.vus[user as usize].fibre else {
            return;
        };
        let turn = match answer {
            None => fibre.begin(),
            Some(answer) => fibre.resume(answer),
        };
        let taken = self.tick() - begun;
        self.script.0 += taken;
        self.script.1 = self.script.1.max(taken);
        match turn {
            Turn::Waits(ask) => self.ask(user, ask),
            Turn::Ended(result) => {
                self.vus[user as usize].fibre = None;
                self.task_ended(user, result);
            }
        }
    }

    /// Begins what a user waits for.
    fn ask(&mut self, user: u32, ask: Ask) {
        let vu = &mut self.vus[user as usize];
        vu.turn += 1;
        match ask {
            Ask::Sleep(pause) => {
                let at = self.shared.now.get() + pause;
                self.timers.add(at, Due::Wake(user, vu.turn));
            }
            Ask::Http(errands) => self.begin_flight(user, BLOCKING, errands),
            Ask::Start(errands) => self.start_requests(user, errands),
            Ask::Open(socket) => self.open_socket(user, *socket),
            Ask::Socket(number, act) => self.act_on_socket(user, number, act),
            Ask::Next { wait, only } => self.await_events(user, wait, only),
            Ask::Abort(message) => {
                self.interrupt(user);
                self.stop(Ended::Aborted(message));
            }
        }
    }

    /// Handles the end of a user's task.
    fn task_ended(&mut self, user: u32, result: TaskEnd) {
        if user == 0 {
            self.stage_ended(result);
            return;
        }
        if let Err(text) = &result {
            let text = self.shared.linked.translate(text);
            self.shared.log(Level::Error, text.trim_end(), None);
            self.thrown += 1;
            let failed = &mut self.vus[user as usize].failed;
            failed.get_or_insert(Outcome::Script);
        }
        self.iteration_ended(user);
    }

    /// Ends all scenarios.
    fn stop(&mut self, ended: Ended) {
        if self.ended.is_some() {
            return;
        }
        self.ended = Some(ended);
        for scenario in 0..self.scenarios.len() {
            self.kill_scenario(scenario);
        }
    }

    /// Ends what a user does, without a result.
    fn drop_task(&mut self, user: u32) {
        self.end_background(user);
        self.cancel_flights(user);
        self.shared.user.set(user);
        let vu = &mut self.vus[user as usize];
        vu.turn += 1;
        drop(vu.fibre.take());
    }
}
