//! The stages of a run: setup, scenarios, teardown, and the script's own summary.

use super::figures::RunFigures;
use super::judging::crossed;
use super::{Ended, JUDGE, Progress, Run, RunError, SECOND, TaskEnd, Verdict};
use crate::clock::Due;
use crate::state::Stage;
use drumfire_k6::Tags;
use drumfire_measure::Summary;
use drumfire_net::Io;
use drumfire_plan::StopReason;
use drumfire_units::Nanos;
use rquickjs::{CatchResultExt as _, Function, Object, Value};

/// The texts that `handleSummary` makes, each under the name of a file, `stdout` or `stderr`; or what it throws.
pub type OwnSummary = Result<Vec<(String, Vec<u8>)>, String>;

/// The result of a stage's task, on its way from the loop to the stage.
pub(super) type StageEnd = Option<TaskEnd>;

impl<I: Io> Run<I> {
    /// Keeps the result of the task of `setup` or `teardown`.
    pub(super) fn stage_ended(&mut self, result: TaskEnd) {
        self.stage_result = Some(result);
    }

    /// Runs all stages. `observe` is called once a second.
    ///
    /// # Errors
    ///
    /// If a stage outside of the scenarios fails.
    pub fn run(&mut self, observe: &mut dyn FnMut(&Progress)) -> Result<Verdict, RunError> {
        if !self.settings.no_setup && self.program.has("setup") {
            let text = self.stage(Stage::Setup, "setup", self.settings.setup_timeout)?;
            self.setup_data = text;
        }
        if self.ended.is_none() {
            self.run_scenarios(observe)?;
        } else {
            self.start = self.tick();
        }
        let duration = self.tick() - self.start;
        let summary = self.finish_figures();
        if !self.settings.no_teardown && self.program.has("teardown") {
            self.stage(Stage::Teardown, "teardown", self.settings.teardown_timeout)?;
        }
        let crossed = match self.settings.no_thresholds {
            true => Vec::new(),
            false => crossed(&self.shared.registry.borrow(), duration),
        };
        Ok(Verdict {
            ended: self.ended.clone().unwrap_or(Ended::Done),
            failed: self.shared.test_failed.borrow().clone(),
            crossed,
            duration,
            setup_data: self.setup_data.clone(),
            interrupted: self.shared.interrupted.get(),
            completed: self.shared.completed.get(),
            thrown: self.thrown,
            summary,
            script: (
                self.script.0.0 as f64 / duration.0.max(1) as f64,
                self.script.1,
            ),
        })
    }

    /// Ends drumfire's own figures with the scenarios.
    fn finish_figures(&mut self) -> Option<Box<Summary>> {
        let now = self.shared.now.get();
        let times = self.client.io().thread_times();
        let figures = self.figures.take().filter(RunFigures::is_on)?;
        let reason = match self.ended {
            None | Some(Ended::Done) => StopReason::Duration,
            Some(Ended::Threshold(_)) => StopReason::Threshold,
            Some(Ended::Aborted(_)) => StopReason::Command,
            Some(Ended::Signal) => StopReason::Signal,
        };
        Some(Box::new(figures.finish(now, times, reason)))
    }

    fn run_scenarios(&mut self, observe: &mut dyn FnMut(&Progress)) -> Result<(), RunError> {
        self.shared.stage.set(Stage::Scenarios);
        self.start = self.tick();
        self.shared.scenario_start.set(self.start);
        let times = self.client.io().thread_times();
        if let Some(figures) = &mut self.figures {
            figures.begin(self.start, self.shared.unix_time(self.start), times);
        }
        self.script = (Nanos::ZERO, Nanos::ZERO);
        self.turn_from = self.start;
        for index in 0..self.scenarios.len() {
            let at = self.start + self.scenarios[index].scenario.start;
            self.timers.add(at, Due::Begin(index));
        }
        self.timers.add(self.start + SECOND, Due::Second);
        self.timers.add(self.start + JUDGE, Due::Judge);
        let mut next_look = self.start + SECOND;
        while !self.is_over() {
            self.pass(next_look)?;
            if self.shared.now.get() >= next_look {
                observe(&self.progress());
                next_look += SECOND;
            }
        }
        self.timers.clear();
        self.work.clear();
        Ok(())
    }

    /// Runs the function of a stage to its end. Returns its result as JSON.
    fn stage(
        &mut self,
        stage: Stage,
        export: &'static str,
        timeout: Nanos,
    ) -> Result<Option<String>, RunError> {
        self.shared.stage.set(stage);
        let mut users = self.shared.users.borrow_mut();
        users[0].tags = self.base_tags.clone();
        users[0].group = format!("::{export}");
        drop(users);
        self.stage_result = None;
        let ended = self.ended.is_some();
        let deadline = self.tick() + timeout;
        self.begin_task(0, export, stage == Stage::Teardown)?;
        let now = self.shared.now.get();
        self.advance(0, None, now);
        let result = loop {
            if let Some(result) = self.stage_result.take() {
                break result;
            }
            let now = self.tick();
            if now >= deadline || !ended && self.ended.is_some() {
                self.drop_task(0);
                return match (now >= deadline, stage) {
                    (false, _) => Ok(None),
                    (true, Stage::Setup) => Err(RunError::SetupTimeout),
                    (true, _) => Err(RunError::TeardownTimeout),
                };
            }
            self.pass(deadline)?;
        };
        self.end_background(0);
        let mut users = self.shared.users.borrow_mut();
        users[0].group = format!("::{export}");
        drop(users);
        self.count_data(0);
        result.map_err(|text| RunError::Script(self.shared.linked.translate(&text)))
    }

    /// Calls `handleSummary` with data as JSON; `None` if the script has no such function.
    pub fn summary(&mut self, data: &str) -> Option<OwnSummary> {
        if !self.program.has("handleSummary") {
            return None;
        }
        self.shared.stage.set(Stage::Summary);
        self.shared.user.set(0);
        self.shared.users.borrow_mut()[0].tags = Tags::default();
        let first = &self.program.first;
        let exports = first.exports.clone();
        let made = self.program.realm.enter(&first.context, |ctx| {
            let call = || {
                let exports: Object<'_> = exports.restore(&ctx)?;
                let function: Function<'_> = exports.get("handleSummary")?;
                let data: Value<'_> = ctx.json_parse(data)?;
                let result: Value<'_> = function.call((data,))?;
                let result: Value<'_> = match result.as_promise() {
                    Some(promise) => promise.finish()?,
                    None => result,
                };
                let mut texts = Vec::new();
                if let Some(object) = result.as_object() {
                    for entry in object.props::<String, Value<'_>>() {
                        let (name, value) = entry?;
                        let bytes = match drumfire_realm::buffer_bytes(&value) {
                            Some(bytes) => bytes,
                            None => value.get::<rquickjs::Coerced<String>>()?.0.into_bytes(),
                        };
                        texts.push((name, bytes));
                    }
                }
                Ok::<_, rquickjs::Error>(texts)
            };
            call().catch(&ctx).map_err(|error| error.to_string())
        });
        Some(made.map_err(|text| self.shared.linked.translate(&text)))
    }
}
