//! Executors: which user begins an iteration when.

use super::figures::pool;
use super::judging::{crossed, seconds};
use super::{Ended, Progress, Run, RunError, Work};
use crate::clock::Due;
use crate::surroundings::Level;
use drumfire_k6::{Arrivals, Change, Executor, Scenario, Tags, changes};
use drumfire_measure::{Model, Outcome, PoolInfo};
use drumfire_net::Io;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// The state of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    /// Iterations begin.
    Running,
    /// Iterations end, and none begins.
    Ending,
    Done,
}

/// A scenario of a run.
pub(super) struct ScenarioRun {
    pub(super) scenario: Scenario,
    phase: Phase,
    begun: Nanos,
    end: Nanos,
    /// The users of the scenario, in the order in which it took them.
    users: Vec<u32>,
    /// The users that wait for an arrival.
    idle: VecDeque<u32>,
    arrivals: Option<Arrivals>,
    changes: VecDeque<Change>,
    /// The number of users that iterate, if it changes.
    wanted: usize,
    /// Iterations that may begin: of all users, or of each.
    left: u64,
    left_of_each: Vec<u64>,
    started: u64,
    running: u32,
    warned: bool,
}

/// The name of an executor.
pub(super) const fn name(executor: &Executor) -> &'static str {
    match executor {
        Executor::SharedIterations { .. } => "shared-iterations",
        Executor::PerUserIterations { .. } => "per-vu-iterations",
        Executor::ConstantUsers { .. } => "constant-vus",
        Executor::RampingUsers { .. } => "ramping-vus",
        Executor::ConstantArrivals { .. } => "constant-arrival-rate",
        Executor::RampingArrivals { .. } => "ramping-arrival-rate",
    }
}

/// The users that a scenario has from its start on.
fn planned(executor: &Executor) -> u64 {
    match executor {
        Executor::ConstantArrivals { users, .. } | Executor::RampingArrivals { users, .. } => {
            users.allocated
        }
        executor => executor.users_max(),
    }
}

/// The number of users to make before the run: the greatest sum over scenarios that overlap.
pub(super) fn users_at_start(scenarios: &[ScenarioRun]) -> u64 {
    let span = |run: &ScenarioRun| {
        let scenario = &run.scenario;
        let end = scenario.start + scenario.executor.duration() + scenario.graceful_stop;
        (scenario.start, end)
    };
    let at = |time: Nanos| {
        let overlapping = scenarios.iter().filter(|run| {
            let (start, end) = span(run);
            start <= time && time < end
        });
        overlapping
            .map(|run| planned(&run.scenario.executor))
            .sum::<u64>()
    };
    let starts = scenarios.iter().map(|run| at(span(run).0));
    starts.max().unwrap_or(0)
}

impl ScenarioRun {
    pub(super) fn new(scenario: Scenario) -> Self {
        let (left, wanted) = match &scenario.executor {
            Executor::SharedIterations { iterations, .. }
            | Executor::PerUserIterations { iterations, .. } => (*iterations, 0),
            _ => (u64::MAX, 0),
        };
        let changes = match &scenario.executor {
            Executor::RampingUsers { start, stages, .. } => changes(*start, stages).into(),
            _ => VecDeque::new(),
        };
        Self {
            arrivals: Arrivals::of(&scenario.executor),
            scenario,
            phase: Phase::Waiting,
            begun: Nanos::ZERO,
            end: Nanos::ZERO,
            users: Vec::new(),
            idle: VecDeque::new(),
            changes,
            wanted,
            left,
            left_of_each: Vec::new(),
            started: 0,
            running: 0,
            warned: false,
        }
    }

    /// The facts of the scenario for drumfire's own figures.
    pub(super) fn pool(&self) -> PoolInfo {
        let executor = &self.scenario.executor;
        let (model, rate) = match executor {
            Executor::ConstantArrivals { rate, unit, .. } => {
                (Model::Open, Some(*rate as f64 / unit.as_secs_f64()))
            }
            Executor::RampingArrivals { .. } => (Model::Open, None),
            _ => (Model::Closed, None),
        };
        pool(&self.scenario.name, model, executor.users_max(), rate)
    }

    pub(super) fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// Takes an iteration for the user at a place, if one may begin.
    fn take_iteration(&mut self, place: usize) -> bool {
        match &self.scenario.executor {
            Executor::PerUserIterations { .. } => {
                let left = self.left_of_each.get_mut(place);
                let Some(left) = left.filter(|left| **left > 0) else {
                    return false;
                };
                *left -= 1;
                true
            }
            _ if self.left == 0 => false,
            Executor::SharedIterations { .. } => {
                self.left -= 1;
                true
            }
            _ => true,
        }
    }

    /// Whether no iteration can begin any more, before the end of the duration.
    fn is_used_up(&self) -> bool {
        match &self.scenario.executor {
            Executor::SharedIterations { .. } => self.left == 0,
            Executor::PerUserIterations { .. } => self.left_of_each.iter().all(|left| *left == 0),
            _ => false,
        }
    }
}

impl<I: Io> Run<I> {
    /// Starts a scenario that is due at `at`.
    pub(super) fn begin_scenario(&mut self, index: usize, at: Nanos) -> Result<(), RunError> {
        let run = &mut self.scenarios[index];
        if run.phase != Phase::Waiting {
            return Ok(());
        }
        run.phase = Phase::Running;
        run.begun = at;
        run.end = at + run.scenario.executor.duration();
        let (end, grace) = (run.end, run.scenario.graceful_stop);
        let executor = run.scenario.executor.clone();
        if let Some(facts) = self.shared.scenarios.borrow_mut().get_mut(index) {
            facts.started = at;
            facts.start = self.shared.unix_time(at).0 as f64 / 1e6;
            facts.duration = executor.duration();
        }
        self.timers.add(end, Due::End(index));
        self.timers.add(end + grace, Due::Kill(index));
        match &executor {
            Executor::RampingUsers { .. } => return self.change_users(index, at),
            Executor::ConstantArrivals { users, .. } | Executor::RampingArrivals { users, .. } => {
                for _ in 0..users.allocated {
                    let user = self.take_user(index)?;
                    self.scenarios[index].idle.push_back(user);
                }
                self.await_arrival(index);
            }
            executor => {
                for _ in 0..executor.users_max() {
                    let user = self.take_user(index)?;
                    self.work.push_back(Work::Iterate(user, at));
                }
            }
        }
        Ok(())
    }

    /// Takes a user that no scenario uses, or makes one.
    fn take_user(&mut self, index: usize) -> Result<u32, RunError> {
        let user = match self.spare.pop() {
            Some(user) => user,
            None => self.make_user()?,
        };
        let vu = &mut self.vus[user as usize];
        vu.scenario = Some(index);
        vu.released = false;
        let run = &mut self.scenarios[index];
        vu.place = run.users.len();
        run.users.push(user);
        if matches!(run.scenario.executor, Executor::PerUserIterations { .. }) {
            run.left_of_each.push(run.left);
        }
        let mut users = self.shared.users.borrow_mut();
        users[user as usize].scenario_iterations = 0;
        Ok(user)
    }

    /// Sets the timer of the next arrival.
    fn await_arrival(&mut self, index: usize) {
        let run = &mut self.scenarios[index];
        if let Some(due) = run.arrivals.as_mut().and_then(Arrivals::peek) {
            self.timers.add(run.begun + due, Due::Arrival(index));
        }
    }

    /// Begins the iteration that is due at `at`, or drops it.
    pub(super) fn arrive(&mut self, index: usize, at: Nanos) -> Result<(), RunError> {
        let run = &mut self.scenarios[index];
        if run.phase != Phase::Running {
            return Ok(());
        }
        if let Some(arrivals) = &mut run.arrivals {
            arrivals.advance();
        }
        self.await_arrival(index);
        self.tick();
        let run = &mut self.scenarios[index];
        if let Some(user) = run.idle.pop_front() {
            return self.start_iteration(user, index, at);
        }
        let (known, most) = (run.users.len() as u64, run.scenario.executor.users_max());
        let tags = self.scenario_tags(index);
        self.shared
            .add(self.shared.builtin.dropped_iterations, 1.0, &tags);
        if let Some(figures) = &mut self.figures {
            figures.iterations_dropped(index, 1);
        }
        if known < most {
            let user = self.take_user(index)?;
            self.scenarios[index].idle.push_back(user);
        } else if !self.scenarios[index].warned {
            self.scenarios[index].warned = true;
            let text = format!(
                "Insufficient VUs, reached {most} active VUs and cannot initialize more executor={} scenario={}",
                name(&self.scenarios[index].scenario.executor),
                self.scenarios[index].scenario.name
            );
            self.shared.log(Level::Warning, &text, None);
        }
        Ok(())
    }

    /// The tags of samples of a scenario.
    fn scenario_tags(&self, index: usize) -> Tags {
        let scenario = &self.scenarios[index].scenario;
        let mut tags = self.base_tags.clone();
        for (name, value) in &scenario.tags {
            tags.set(name, value);
        }
        if self.settings.has_tag("scenario") {
            tags.set("scenario", &scenario.name);
        }
        tags
    }

    /// Applies the changes to a scenario's number of users that are due.
    pub(super) fn change_users(&mut self, index: usize, due: Nanos) -> Result<(), RunError> {
        let now = self.tick();
        let run = &mut self.scenarios[index];
        if run.phase != Phase::Running {
            return Ok(());
        }
        let before = run.wanted;
        let mut wanted = before;
        while let Some(change) = run.changes.front() {
            let at = run.begun + change.at;
            if at > now {
                self.timers.add(at, Due::Change(index));
                break;
            }
            wanted = change.users as usize;
            run.changes.pop_front();
        }
        run.wanted = wanted;
        while self.scenarios[index].users.len() < wanted {
            let user = self.take_user(index)?;
            self.work.push_back(Work::Iterate(user, due));
        }
        let graceful = match &self.scenarios[index].scenario.executor {
            Executor::RampingUsers {
                graceful_ramp_down, ..
            } => *graceful_ramp_down,
            _ => Nanos::ZERO,
        };
        let users = &self.scenarios[index].users;
        let changed = before.min(wanted)..before.max(wanted).min(users.len());
        for place in changed {
            let user = &users[place];
            let vu = &mut self.vus[*user as usize];
            let needed = place < wanted;
            if needed && vu.released {
                vu.released = false;
                if vu.fibre.is_none() {
                    self.work.push_back(Work::Iterate(*user, due));
                }
            } else if !needed && !vu.released {
                vu.released = true;
                if vu.fibre.is_some() {
                    self.timers
                        .add(now + graceful, Due::Release(*user, vu.task));
                }
            }
        }
        Ok(())
    }

    /// Begins the next iteration of a user, if its scenario has one.
    pub(super) fn iterate(&mut self, user: u32, since: Nanos) -> Result<(), RunError> {
        let vu = &self.vus[user as usize];
        let (Some(index), None, false) = (vu.scenario, &vu.fibre, vu.released) else {
            return Ok(());
        };
        let place = vu.place;
        let now = self.tick();
        let run = &mut self.scenarios[index];
        if run.phase != Phase::Running || now >= run.end || self.ended.is_some() {
            return Ok(());
        }
        if run.arrivals.is_some() {
            run.idle.push_back(user);
            return Ok(());
        }
        if !run.take_iteration(place) {
            self.check_done(index);
            return Ok(());
        }
        self.start_iteration(user, index, since)
    }

    fn start_iteration(&mut self, user: u32, index: usize, due: Nanos) -> Result<(), RunError> {
        let tags = self.scenario_tags(index);
        let run = &mut self.scenarios[index];
        let number = run.started;
        run.started += 1;
        run.running += 1;
        let export = run.scenario.exec.clone();
        self.shared.active.set(self.shared.active.get() + 1);
        let mut users = self.shared.users.borrow_mut();
        let of = &mut users[user as usize];
        of.tags = tags;
        of.group.clear();
        if !self.settings.keeps_cookies {
            of.jars.reset();
        }
        of.scenario = index;
        of.iterations += 1;
        of.scenario_iterations += 1;
        of.iteration_in_test = number;
        drop(users);
        let vu = &mut self.vus[user as usize];
        (vu.begun, vu.due, vu.failed) = (self.shared.now.get(), due, None);
        if let Some(figures) = &mut self.figures {
            figures.iteration_due(index);
        }
        self.begin_task(user, &export, true)?;
        self.advance(user, None, due);
        Ok(())
    }

    /// Handles the end of an iteration: its samples, and what the user does next.
    pub(super) fn iteration_ended(&mut self, user: u32) {
        let now = self.tick();
        let vu = &mut self.vus[user as usize];
        let (Some(index), begun) = (vu.scenario, vu.begun) else {
            return;
        };
        if let Some(figures) = &mut self.figures {
            let outcome = vu.failed.unwrap_or(Outcome::Ok);
            figures.iteration_ended(index, vu.due, now, outcome);
        }
        vu.turn += 1;
        let turn = vu.turn;
        self.end_background(user);
        self.shared.user.set(user);
        self.shared.with_user(|user| user.group.clear());
        self.count_data(user);
        let tags = self.shared.tags();
        let duration = (now - begun).0 as f64 / 1e6;
        self.shared
            .add(self.shared.builtin.iteration_duration, duration, &tags);
        self.shared.add(self.shared.builtin.iterations, 1.0, &tags);
        self.shared.completed.set(self.shared.completed.get() + 1);
        self.leave_iteration(index);
        self.look_at_shared();
        if self.settings.closes_after_iteration {
            self.client.close_idle(user);
        }
        let next = begun + self.settings.iteration_min;
        if next > now {
            self.timers.add(next, Due::Next(user, turn));
        } else {
            self.work.push_back(Work::Iterate(user, now));
        }
        self.check_done(index);
    }

    fn leave_iteration(&mut self, index: usize) {
        self.scenarios[index].running -= 1;
        self.shared.active.set(self.shared.active.get() - 1);
    }

    /// Counts the bytes of a user since the last call.
    pub(super) fn count_data(&self, user: u32) {
        let mut users = self.shared.users.borrow_mut();
        let of = &mut users[user as usize];
        let sent = std::mem::take(&mut of.bytes_sent) as f64;
        let received = std::mem::take(&mut of.bytes_received) as f64;
        drop(users);
        let tags = self.shared.tags_of(user);
        self.shared.add(self.shared.builtin.data_sent, sent, &tags);
        self.shared
            .add(self.shared.builtin.data_received, received, &tags);
    }

    /// After the first iteration: whether the script has changed what users share.
    fn look_at_shared(&mut self) {
        if std::mem::replace(&mut self.watched, true) || !self.program.shares() {
            return;
        }
        let changes = self.program.realm.changes().unwrap_or_default();
        if let Some(first) = changes.first() {
            let text = format!(
                "the script changes {first}, which all users share; use --k6-isolate to give each user its own"
            );
            self.shared.log(Level::Warning, &text, None);
        }
    }

    /// Interrupts the iteration of a user.
    pub(super) fn interrupt(&mut self, user: u32) {
        if self.vus[user as usize].fibre.is_none() {
            return;
        }
        self.drop_task(user);
        let vu = &self.vus[user as usize];
        let Some(index) = vu.scenario else {
            return;
        };
        if let Some(figures) = &mut self.figures {
            figures.iteration_cut(index, vu.due, self.shared.now.get());
        }
        self.shared.with_user(|user| user.group.clear());
        self.count_data(user);
        self.shared
            .interrupted
            .set(self.shared.interrupted.get() + 1);
        self.leave_iteration(index);
        self.check_done(index);
    }

    /// Ends the regular duration of a scenario: no further iteration begins.
    pub(super) fn end_scenario(&mut self, index: usize) {
        let run = &mut self.scenarios[index];
        if run.phase != Phase::Running {
            return;
        }
        run.phase = Phase::Ending;
        let dropped: Vec<u64> = match &run.scenario.executor {
            Executor::SharedIterations { .. } => vec![run.left],
            Executor::PerUserIterations { .. } => run.left_of_each.clone(),
            _ => Vec::new(),
        };
        let tags = self.scenario_tags(index);
        for count in dropped.into_iter().filter(|count| *count > 0) {
            let metric = self.shared.builtin.dropped_iterations;
            self.shared.add(metric, count as f64, &tags);
            if let Some(figures) = &mut self.figures {
                figures.iterations_dropped(index, count);
            }
        }
        self.check_done(index);
    }

    /// Interrupts what still runs of a scenario, and ends it.
    pub(super) fn kill_scenario(&mut self, index: usize) {
        if self.scenarios[index].is_done() {
            return;
        }
        self.end_scenario(index);
        for user in self.scenarios[index].users.clone() {
            self.interrupt(user);
        }
        self.finish_scenario(index);
    }

    /// Ends a scenario if nothing of it runs and nothing can begin.
    fn check_done(&mut self, index: usize) {
        let run = &self.scenarios[index];
        let over = run.phase == Phase::Ending || run.phase == Phase::Running && run.is_used_up();
        if over && run.running == 0 {
            self.finish_scenario(index);
        }
    }

    fn finish_scenario(&mut self, index: usize) {
        let run = &mut self.scenarios[index];
        if run.is_done() {
            return;
        }
        run.phase = Phase::Done;
        run.idle.clear();
        for user in std::mem::take(&mut run.users) {
            let vu = &mut self.vus[user as usize];
            vu.scenario = None;
            vu.turn += 1;
            self.spare.push(user);
        }
        self.spare.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Whether all scenarios have ended.
    pub(super) fn is_over(&self) -> bool {
        self.scenarios.iter().all(ScenarioRun::is_done)
    }

    /// Samples the gauges of users.
    pub(super) fn sample_gauges(&self) {
        let tags = &self.base_tags;
        let active = f64::from(self.shared.active.get());
        self.shared.add(self.shared.builtin.vus, active, tags);
        let most = (self.vus.len() - 1) as f64;
        self.shared.add(self.shared.builtin.vus_max, most, tags);
    }

    /// Stops the run if a threshold that aborts has failed.
    pub(super) fn judge(&mut self) {
        if self.settings.no_thresholds {
            return;
        }
        let elapsed = self.shared.now.get() - self.start;
        let registry = self.shared.registry.borrow();
        let aborts = registry.metrics().any(|metric| {
            let parts = metric.parts.iter().map(|(_, part)| part);
            std::iter::once(&metric.total).chain(parts).any(|part| {
                part.rules.iter().any(|rule| {
                    rule.abort_on_fail
                        && elapsed >= rule.delay_abort
                        && part.sink.has_samples()
                        && !rule.threshold.holds(&part.sink, seconds(elapsed))
                })
            })
        });
        let crossed = aborts.then(|| crossed(&registry, elapsed));
        drop(registry);
        if let Some(crossed) = crossed {
            self.stop(Ended::Threshold(crossed));
        }
    }

    /// The state of the run.
    pub fn progress(&self) -> Progress {
        let now = self.shared.now.get();
        let scenarios = self.scenarios.iter().map(|run| {
            let length = run.scenario.executor.duration().0.max(1) as f64;
            let share = match run.phase {
                Phase::Waiting => 0.0,
                Phase::Done => 1.0,
                _ => ((now - run.begun).0 as f64 / length).min(1.0),
            };
            (run.scenario.name.clone(), share, run.is_done())
        });
        Progress {
            time: now - self.start,
            users: (self.shared.active.get(), (self.vus.len() - 1) as u32),
            completed: self.shared.completed.get(),
            interrupted: self.shared.interrupted.get(),
            scenarios: scenarios.collect(),
        }
    }
}
