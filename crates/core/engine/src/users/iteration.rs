//! Iterations: the progress of each user in the program of its pool, and the user's values.
//!
//! An iteration is open from [`Iterations::open_iteration`] until [`Iterations::go_on`] returns
//! [`NextStep::Over`]. In between, the pool carries out each `NextStep` and then calls `go_on`
//! again: after a request with the time at which its exchange ended, after [`Iterations::note_end`]
//! has received the outcome; after a pause with the time that [`Iterations::woken`] returns.
//!
//! All values and pauses are functions of the pool's seed, the user's number, its iteration and the
//! step, so that any worker can repeat any iteration.
//!
//! A program is a flat list of steps: loops and conditions are jumps, and the state of an iteration
//! is a position, a counter for each loop, and the variables. `go_on` executes steps up to the next
//! one that takes time. Steps that take no time (values, jumps, passes) are executed at once, and a
//! loop without a request or a pause is executed completely, before the worker does anything else.
//! [`GIVEN_PASSES_MAX`] bounds the number of passes that comes from data.
//!
//! If a condition or a number of passes cannot be computed, the iteration ends before its next
//! request. That request then counts as failed with the reason ([`Iterations::take_prevented`]):
//! the reason has no other record, and a threshold on failures must include it.
//!
//! Times follow the plan: a step begins when the previous one was over, not when the worker handled
//! it, so that the worker's lateness does not add up over the steps of an iteration.

use super::Turn;
use super::prevented::Prevented;
use crate::arrivals::Arrival;
use crate::blame::data_outcome;
use crate::id::{Generation, UserId};
use drumfire_measure::{IterationSample, Outcome};
use drumfire_plan::{
    CounterId, DataError, GIVEN_PASSES_MAX, GivenPause, OnFailure, Passes, Program, Random,
    RequestContext, Scenarios, Step, Taken, Value, ValueForm, VariableId, Variables, secret,
};
use drumfire_units::Nanos;
use std::fmt::Write as _;
use std::sync::Arc;

/// The position after all steps.
const OVER: u32 = u32::MAX;
/// The reason why a variable has no value.
const NOT_TAKEN: &str = "the request that provides the value failed";

/// The iterations of one worker's users.
#[derive(Debug)]
pub(crate) struct Iterations {
    scenarios: Arc<Scenarios>,
    seed: u64,
    /// Whether the first request is due with its iteration, with only values before it.
    pub(super) begins_with_request: bool,
    list: Vec<Iteration>,
    /// The number of open iterations.
    open: u32,
    /// A buffer for a value of a variable.
    text: String,
}

/// The iteration of one user; reused, with its memory, for the user's next one.
#[derive(Debug)]
struct Iteration {
    /// The generation, which distinguishes stale timers.
    generation: Generation,
    is_open: bool,
    /// The first failure of the iteration's requests; ok if all succeeded.
    outcome: Outcome,
    /// The index of the iteration's scenario.
    scenario: u32,
    /// The index of the next step; after the last step when the iteration is over.
    place: u32,
    /// The number of requests that have become due.
    requests: u32,
    /// The number of times that the request before `place` was sent again.
    retries: u32,
    /// Whether the user begins no further iteration.
    stops_user: bool,
    /// The request that the iteration could not reach.
    prevented: Option<Box<Prevented>>,
    turn: Turn,
    intended: Nanos,
    /// The time at which the user began the iteration.
    begun: Nanos,
    /// The planned end of the current pause.
    until: Nanos,
    /// The values of the iteration; `None` if the program sets none.
    variables: Option<Arc<Variables>>,
    /// The progress of each loop.
    counters: Box<[LoopCounter]>,
}

/// The progress of one loop: pass `pass` of `of`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LoopCounter {
    pass: u32,
    of: u32,
}

/// A request that is due for a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueRequest {
    /// The request's index in the pool's list.
    pub(crate) request: u32,
    /// The request's number within the run.
    pub(crate) number: u64,
    /// The user that makes the request, in one of the user's iterations.
    pub(crate) turn: Turn,
    /// The time at which the request became due.
    pub(crate) intended: Nanos,
    /// Whether the request became due with its iteration's arrival, and is counted with it.
    pub(crate) came_with_arrival: bool,
}

impl DueRequest {
    /// The single request of an arrival's iteration, by its index in the pool's list.
    #[inline]
    pub(super) const fn of_arrival(request: u32, turn: Turn, arrival: Arrival) -> Self {
        Self {
            request,
            number: turn.arrival,
            turn,
            intended: arrival.intended,
            came_with_arrival: true,
        }
    }
}

/// The action that continues a user's iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// A request is due.
    Request(DueRequest),
    /// The user pauses until this time; the generation distinguishes a stale timer.
    Pause {
        user: UserId,
        generation: Generation,
        until: Nanos,
    },
    /// The iteration is over, with this record.
    Over {
        user: UserId,
        sample: IterationSample,
        /// Whether the user begins no further iteration.
        stops_user: bool,
    },
}

impl Iterations {
    /// The iterations of a pool, all closed; `None` if the program has no steps, so that a request
    /// is an iteration.
    pub(crate) fn for_program(program: &Program, seed: u64) -> Option<Self> {
        let scenarios = program.scenarios()?;
        Some(Self {
            scenarios: Arc::clone(scenarios),
            seed,
            begins_with_request: scenarios.begin_with_requests(),
            list: Vec::new(),
            open: 0,
            text: String::new(),
        })
    }

    /// The first request of an arrival's iteration, as an index into the pool's list.
    pub(crate) fn first_request(&self, arrival: u64) -> u32 {
        let start = self.scenarios.start(arrival, self.seed);
        self.scenarios.first_request(start).unwrap_or_default()
    }

    /// The period, in arrivals, of the sequence of first requests.
    pub(crate) fn round(&self) -> u64 {
        self.scenarios.round()
    }

    /// Begins an iteration of a user now, intended for `intended`, with the scenario that is next
    /// in turn.
    pub(crate) fn open_iteration(&mut self, turn: Turn, intended: Nanos, now: Nanos) {
        let (index, extent) = (turn.user.index(), self.scenarios.extent());
        if self.list.len() <= index {
            self.list
                .resize_with(index + 1, || Iteration::new(extent.counters));
        }
        let iteration = &mut self.list[index];
        iteration.is_open = true;
        iteration.outcome = Outcome::Ok;
        iteration.scenario = self.scenarios.which(turn.place(), self.seed);
        iteration.place = self.scenarios.starts()[iteration.scenario as usize];
        iteration.requests = 0;
        iteration.retries = 0;
        iteration.stops_user = false;
        iteration.prevented = None;
        iteration.turn = turn;
        iteration.intended = intended;
        iteration.begun = now;
        match &mut iteration.variables {
            Some(variables) => Arc::make_mut(variables).clear(),
            None if extent.variables > 0 => {
                iteration.variables = Some(Arc::new(Variables::new(extent.variables)));
            }
            None => {}
        }
        self.open += 1;
    }

    /// Notes the outcome of the exchange of a user's request, and moves the position back to the
    /// request if it must be tried again. Returns the user's rest before the next step.
    pub(crate) fn note_end(&mut self, user: UserId, outcome: Outcome) -> Nanos {
        let iteration = &mut self.list[user.index()];
        let Some(Step::Request {
            retry, on_failure, ..
        }) = iteration.step_before(self.scenarios.steps())
        else {
            return Nanos::ZERO;
        };
        if outcome != Outcome::Ok && iteration.retries < retry.times {
            iteration.retries += 1;
            iteration.place -= 1;
            return retry.rest;
        }
        iteration.retries = 0;
        if outcome != Outcome::Ok {
            iteration.fail(outcome);
            match on_failure {
                OnFailure::Continue => {}
                OnFailure::EndIteration => iteration.place = OVER,
                OnFailure::StopUser => {
                    iteration.place = OVER;
                    iteration.stops_user = true;
                }
            }
        }
        Nanos::ZERO
    }

    /// Keeps the values that the step takes from the response of a user's ended exchange. If the
    /// exchange failed, the variables become unset: a request that reads them is not sent with old
    /// values.
    pub(crate) fn keep(&mut self, user: UserId, outcome: Outcome, taken: Option<&Taken>) {
        let iteration = &mut self.list[user.index()];
        let step = iteration.step_before(self.scenarios.steps());
        let (Some(Step::Request { takes, .. }), Some(variables)) = (step, &mut iteration.variables)
        else {
            return;
        };
        if takes.is_empty() {
            return;
        }
        let variables = Arc::make_mut(variables);
        if outcome == Outcome::Ok {
            for (variable, form, text) in taken.iter().flat_map(|taken| taken.iter()) {
                variables.set_as(variable, form, Ok(text));
            }
        } else {
            for variable in takes.iter() {
                variables.set(*variable, Err(DataError::new(NOT_TAKEN.to_owned())));
            }
        }
    }

    /// Rests a user until `until`.
    pub(crate) fn rest(&mut self, user: UserId, until: Nanos) -> NextStep {
        let iteration = &mut self.list[user.index()];
        iteration.until = until;
        NextStep::Pause {
            user,
            generation: iteration.generation,
            until,
        }
    }

    /// The next action of a user whose last step was over at `over_at`.
    pub(crate) fn go_on(
        &mut self,
        user: UserId,
        over_at: Nanos,
        unix_time: impl Fn() -> u64,
    ) -> NextStep {
        let mut walk = Walk {
            iteration: &mut self.list[user.index()],
            text: &mut self.text,
            requests: self.scenarios.extent().requests,
            seed: self.seed,
            scenarios: &self.scenarios,
            unix_time: &unix_time,
        };
        loop {
            let place = walk.iteration.place;
            let Some(step) = self.scenarios.steps().get(place as usize) else {
                return self.over(user, over_at);
            };
            walk.iteration.place += 1;
            match walk.take_step(step, place, over_at) {
                StepWait::None => {}
                StepWait::Until(until) if until <= over_at => {}
                StepWait::Until(until) => return self.rest(user, until),
                StepWait::Request(request) => {
                    let iteration = &mut *walk.iteration;
                    let is_first = iteration.requests == 0;
                    let due = DueRequest {
                        request,
                        number: iteration.number(walk.requests),
                        turn: iteration.turn,
                        intended: over_at,
                        came_with_arrival: is_first && self.begins_with_request,
                    };
                    iteration.requests += 1;
                    return NextStep::Request(due);
                }
            }
        }
    }

    /// Closes the iteration of a user.
    fn over(&mut self, user: UserId, end: Nanos) -> NextStep {
        let iteration = &mut self.list[user.index()];
        iteration.is_open = false;
        iteration.generation = iteration.generation.next();
        self.open -= 1;
        let sample = iteration.sample(end);
        NextStep::Over {
            user,
            sample,
            stops_user: iteration.stops_user,
        }
    }

    /// The request that a user's ended iteration could not reach; `None` if it reached all, and
    /// after the first call.
    pub(crate) fn take_prevented(&mut self, user: UserId) -> Option<Box<Prevented>> {
        self.list[user.index()].prevented.take()
    }

    /// The planned end of the pause for which a timer was set; `None` if the timer is stale.
    pub(crate) fn woken(&self, user: UserId, generation: Generation) -> Option<Nanos> {
        let iteration = &self.list[user.index()];
        (iteration.is_open && iteration.generation == generation).then_some(iteration.until)
    }

    /// The values of a user.
    pub(crate) fn variables(&self, user: UserId) -> Option<Arc<Variables>> {
        self.list[user.index()].variables.clone()
    }

    /// Whether any iteration is open.
    pub(crate) const fn has_open(&self) -> bool {
        self.open > 0
    }

    /// The records of open iterations, as if they ended at `now`.
    pub(crate) fn open_at(&self, now: Nanos) -> impl Iterator<Item = IterationSample> {
        let open = self.list.iter().filter(|iteration| iteration.is_open);
        open.map(move |iteration| iteration.sample(now))
    }
}

/// An iteration whose steps are executed up to the next one that takes time, with the data that
/// steps use.
struct Walk<'a, F> {
    iteration: &'a mut Iteration,
    text: &'a mut String,
    /// The maximum number of requests in an iteration.
    requests: u64,
    seed: u64,
    scenarios: &'a Scenarios,
    unix_time: &'a F,
}

/// The event for which a step waits.
enum StepWait {
    None,
    /// This request of the pool's list.
    Request(u32),
    Until(Nanos),
}

impl<F: Fn() -> u64> Walk<'_, F> {
    /// Executes the step at `place`, after the previous one was over at `over_at`.
    fn take_step(&mut self, step: &Step, place: u32, over_at: Nanos) -> StepWait {
        match step {
            Step::Request { request, .. } => return StepWait::Request(*request),
            Step::Pause(pause) => {
                let length = pause.drawn(self.iteration.random(self.seed, place));
                return StepWait::Until(over_at + length);
            }
            Step::PauseGiven(value) => match self.pause(&**value) {
                Ok(GivenPause::For(time)) => return StepWait::Until(over_at + time),
                Ok(GivenPause::Until(time)) => {
                    return StepWait::Until(self.iteration.intended + time);
                }
                Err(error) => self.give_up(error),
            },
            Step::Until(time) => return StepWait::Until(self.iteration.intended + *time),
            Step::AtLeast(time) => return StepWait::Until(self.iteration.begun + *time),
            Step::Set { variable, value } => self.set(*variable, &**value),
            Step::If {
                condition,
                otherwise,
            } => match condition.holds(&self.context()) {
                Ok(true) => {}
                Ok(false) => self.iteration.place = *otherwise,
                Err(error) => self.give_up(error),
            },
            Step::Jump(to) => self.iteration.place = *to,
            Step::Repeat {
                counter,
                passes,
                index,
                end,
            } => match self.passes(passes) {
                Ok(0) => self.iteration.place = *end,
                Ok(of) => self.count(*counter, LoopCounter { pass: 0, of }, *index),
                Err(error) => self.give_up(error),
            },
            Step::Again {
                counter,
                index,
                start,
            } => {
                let LoopCounter { pass, of } = self.iteration.counter(*counter);
                if pass + 1 < of {
                    self.count(*counter, LoopCounter { pass: pass + 1, of }, *index);
                    self.iteration.place = *start;
                }
            }
            Step::End => self.iteration.place = OVER,
        }
        StepWait::None
    }

    /// The context for values: the context of the iteration's next request.
    fn context(&self) -> RequestContext {
        let number = self.iteration.number(self.requests);
        let variables = self.iteration.variables.clone();
        let turn = self.iteration.turn;
        turn.context(number, 0, (self.unix_time)(), self.seed, variables)
    }

    /// Renders a value into the text.
    fn render(&mut self, value: &dyn Value) -> Result<ValueForm, DataError> {
        let context = self.context();
        self.text.clear();
        value.render(&context, self.text)
    }

    /// Sets a variable. The variables are copied if they are shared.
    fn set(&mut self, variable: VariableId, value: &dyn Value) {
        let rendered = self.render(value);
        if let Some(variables) = &mut self.iteration.variables {
            let form = rendered.as_ref().copied().unwrap_or_default();
            let rendered = rendered.map(|_| self.text.as_str());
            Arc::make_mut(variables).set_as(variable, form, rendered);
        }
    }

    /// The time of a pause; an error if the value is not a time.
    fn pause(&mut self, value: &dyn Value) -> Result<GivenPause, DataError> {
        self.render(value)?;
        GivenPause::parse(self.text).ok_or_else(|| {
            let text = secret::excerpt(self.text);
            DataError::new(format!(
                "invalid `pause` `{text}`; use a time such as `1.5s` or `until 3s`"
            ))
        })
    }

    /// The number of passes of a loop; an error if the value is not a valid number.
    fn passes(&mut self, passes: &Passes) -> Result<u32, DataError> {
        match passes {
            Passes::Fixed(passes) => Ok(*passes),
            Passes::Given(value) => {
                self.render(&**value)?;
                let passes = self.text.trim().parse().ok();
                let passes = passes.filter(|passes| *passes <= GIVEN_PASSES_MAX);
                passes.ok_or_else(|| {
                    let text = secret::excerpt(self.text);
                    DataError::new(format!(
                        "invalid `repeat` `{text}`; use a number from 0 to {GIVEN_PASSES_MAX}"
                    ))
                })
            }
        }
    }

    /// Ends the iteration because a value for the next step is missing. The next request of the
    /// program fails; after the last one, the first request of the scenario does.
    #[cold]
    fn give_up(&mut self, reason: DataError) {
        let iteration = &mut *self.iteration;
        let start = self.scenarios.starts()[iteration.scenario as usize];
        let next = self.scenarios.first_request(iteration.place);
        let request = next.or_else(|| self.scenarios.first_request(start));
        iteration.fail(data_outcome(reason.cause));
        iteration.place = OVER;
        let arrival = iteration.turn.arrival;
        iteration.prevented =
            request.map(|request| Box::new(Prevented::new(request, arrival, reason)));
    }

    /// Begins a pass of a loop.
    fn count(&mut self, counter: CounterId, at: LoopCounter, index: Option<VariableId>) {
        if let Some(counter) = self.iteration.counters.get_mut(usize::from(counter.0)) {
            *counter = at;
        }
        if let (Some(index), Some(variables)) = (index, &mut self.iteration.variables) {
            self.text.clear();
            // Writing to a string does not fail.
            let _ = write!(self.text, "{}", at.pass);
            Arc::make_mut(variables).set_as(index, ValueForm::Json, Ok(self.text));
        }
    }
}

impl Iteration {
    /// The state of a user that has begun no iteration, with this many loop counters.
    fn new(counters: usize) -> Self {
        Self {
            generation: Generation::default(),
            is_open: false,
            outcome: Outcome::Ok,
            scenario: 0,
            place: 0,
            requests: 0,
            retries: 0,
            stops_user: false,
            prevented: None,
            turn: Turn::default(),
            intended: Nanos::ZERO,
            begun: Nanos::ZERO,
            until: Nanos::ZERO,
            variables: None,
            counters: vec![LoopCounter::default(); counters].into(),
        }
    }

    /// The record of the iteration, with this end.
    const fn sample(&self, end: Nanos) -> IterationSample {
        IterationSample {
            scenario: self.scenario,
            intended: self.intended,
            end,
            outcome: self.outcome,
        }
    }

    /// The step that was executed last.
    fn step_before<'a>(&self, steps: &'a [Step]) -> Option<&'a Step> {
        let before = (self.place as usize).checked_sub(1);
        before.and_then(|place| steps.get(place))
    }

    /// Notes the first failure.
    fn fail(&mut self, outcome: Outcome) {
        if self.outcome == Outcome::Ok {
            self.outcome = outcome;
        }
    }

    fn counter(&self, counter: CounterId) -> LoopCounter {
        let counter = self.counters.get(usize::from(counter.0));
        counter.copied().unwrap_or_default()
    }

    /// The number of the iteration's next request within the run. Each arrival has as many numbers
    /// as an iteration has requests at most, so that numbers are unique without a counter that
    /// workers would share.
    fn number(&self, requests: u64) -> u64 {
        let before = self.turn.arrival.wrapping_mul(requests);
        before.wrapping_add(self.requests.into())
    }

    /// The random numbers of a step, which differ between passes of a loop: the passes are combined
    /// into one number as digits, each in the base of its loop's number of passes.
    fn random(&self, seed: u64, place: u32) -> Random {
        let Turn {
            number, iteration, ..
        } = self.turn;
        let passed = self.counters.iter().fold(0_u64, |passed, counter| {
            passed.wrapping_mul(counter.of.into()) + u64::from(counter.pass)
        });
        let place = u64::from(place) + (passed << 32);
        Random::new(seed, number.into(), iteration, place)
    }
}
