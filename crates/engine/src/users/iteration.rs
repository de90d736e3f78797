//! Iterations: the progress of each user in the program of its pool, and the values that it keeps.
//!
//! An iteration is open from [`Iterations::open_iteration`] until [`Iterations::go_on`] gives
//! [`NextStep::Over`]. Between the two the pool does what each `NextStep` says, and `go_on` is
//! called again when that is done: after a request, whose outcome [`Iterations::note_end`] takes
//! before, with the time at which its exchange ended, and after a pause with the time that
//! [`Iterations::woken`] gives.
//!
//! All values and pauses are functions of the pool's seed, the user's number, its iteration and the
//! step, so that any worker can repeat any iteration.
//!
//! A program is a flat list of steps: loops and conditions are jumps in it, and the state of an
//! iteration is a place, a counter for each loop, and the variables. `go_on` walks from the place
//! to the next step that takes time; steps that take none (values, jumps, passes) are done at once,
//! and a loop without a request or a pause is done whole, before anything else of the worker moves.
//! [`GIVEN_PASSES_MAX`] bounds the passes that come from data.
//!
//! A condition or a number of passes that can't be computed ends the iteration before its next
//! request. That request then counts as failed with the reason ([`Iterations::take_prevented`]): no
//! other book has a place for the reason, and a threshold on failures must see it.
//!
//! Times are the plan's: a step begins when the one before it was over, not when the worker came to
//! it, so that the worker's lateness does not add up over the steps of an iteration.

use super::Turn;
use super::prevented::Prevented;
use crate::arrivals::Arrival;
use crate::blame::data_outcome;
use crate::id::{Generation, UserId};
use drumfire_measure::{IterationSample, Outcome};
use drumfire_plan::{
    CounterId, DataError, GIVEN_PASSES_MAX, OnFailure, Passes, Program, Random, RequestContext,
    Scenarios, Step, Taken, Value, VariableId, Variables, secret,
};
use drumfire_units::Nanos;
use std::fmt::Write as _;
use std::sync::Arc;

/// The place behind all steps.
const OVER: u32 = u32::MAX;
/// The reason for which a variable has no value.
const NOT_TAKEN: &str = "the request that provides the value failed";

/// The iterations of one worker's users.
#[derive(Debug)]
pub(crate) struct Iterations {
    scenarios: Arc<Scenarios>,
    seed: u64,
    /// Whether the first request is due with its iteration: nothing but values comes before.
    pub(super) begins_with_request: bool,
    list: Vec<Iteration>,
    /// The number of open iterations.
    open: u32,
    /// A value on its way into a variable.
    text: String,
}

/// The iteration of one user; kept for the user's next, with its memory.
#[derive(Debug)]
struct Iteration {
    /// The generation by which a stale wake is known.
    generation: Generation,
    is_open: bool,
    /// The first failure among its requests; ok where there is none.
    outcome: Outcome,
    /// The number of the scenario that it goes through.
    scenario: u32,
    /// The number of the next step; behind the last where the iteration is over.
    place: u32,
    /// The number of requests that have become due.
    requests: u32,
    /// The number of times that the request before the place was sent again.
    retries: u32,
    /// Whether its user begins no other after it.
    stops_user: bool,
    /// The request before which it has given up.
    prevented: Option<Box<Prevented>>,
    turn: Turn,
    intended: Nanos,
    /// The time at which its user began it.
    begun: Nanos,
    /// The end of its pause by the plan.
    until: Nanos,
    /// The values of the iteration; `None` where the program sets none.
    variables: Option<Arc<Variables>>,
    /// The passes of each loop.
    counters: Box<[Counter]>,
}

/// Progress of one loop: pass `pass` of `of`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counter {
    pass: u32,
    of: u32,
}

/// A request that is due for a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueRequest {
    /// The request's place in the pool's list.
    pub(crate) request: u32,
    /// Its number within the run.
    pub(crate) number: u64,
    /// The user that makes it, at one of the user's iterations.
    pub(crate) turn: Turn,
    /// The time at which it became due.
    pub(crate) intended: Nanos,
    /// Whether it became due with its iteration's arrival, and is counted as that is.
    pub(crate) came_with_arrival: bool,
}

impl DueRequest {
    /// The one request of an arrival's iteration, by its place in the pool's list.
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
    /// The user pauses until a time; the generation tells a stale wake.
    Pause {
        user: UserId,
        generation: Generation,
        until: Nanos,
    },
    /// The iteration is over, with this record.
    Over {
        user: UserId,
        sample: IterationSample,
        /// Whether the user begins no other.
        stops_user: bool,
    },
}

impl Iterations {
    /// None open; `None` where a pool's program has no steps, so that a request is an iteration.
    pub(crate) fn of(program: &Program, seed: u64) -> Option<Self> {
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

    /// The first request, by its place in the pool's list, of an arrival's iteration.
    pub(crate) fn first_request(&self, arrival: u64) -> u32 {
        let start = self.scenarios.start(arrival, self.seed);
        self.scenarios.first_request(start).unwrap_or_default()
    }

    /// The period, in arrivals, of the sequence of first requests.
    pub(crate) fn round(&self) -> u64 {
        self.scenarios.round()
    }

    /// Begins an iteration of a user now that is intended for a time, at the scenario whose turn it
    /// is.
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

    /// Notes the outcome with which the exchange of a user's request has ended, and moves the place
    /// back to the request where it is tried again. Gives the rest of the user before the next
    /// step.
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

    /// Keeps the values that the step of a user whose exchange has ended takes. Where it has
    /// failed, the variables have none: a request that reads them is not sent with the values of
    /// before.
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
            for (variable, text) in taken.iter().flat_map(|taken| taken.iter()) {
                variables.set(variable, Ok(text));
            }
        } else {
            for variable in takes.iter() {
                variables.set(*variable, Err(DataError::new(NOT_TAKEN.to_owned())));
            }
        }
    }

    /// Lets a user rest until a time, before which it is not ready.
    pub(crate) fn rest(&mut self, user: UserId, until: Nanos) -> NextStep {
        let iteration = &mut self.list[user.index()];
        iteration.until = until;
        NextStep::Pause {
            user,
            generation: iteration.generation,
            until,
        }
    }

    /// The action that continues the iteration of a user whose last step was over at a time.
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
                Halt::None => {}
                Halt::Until(until) if until <= over_at => {}
                Halt::Until(until) => return self.rest(user, until),
                Halt::Request(request) => {
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

    /// The request before which the iteration of a user, which is over, has given up; `None` where it
    /// has not, and after the first call.
    pub(crate) fn take_prevented(&mut self, user: UserId) -> Option<Box<Prevented>> {
        self.list[user.index()].prevented.take()
    }

    /// The end, by the plan, of the pause for which a wake was set; `None` where the wake is stale.
    pub(crate) fn woken(&self, user: UserId, generation: Generation) -> Option<Nanos> {
        let iteration = &self.list[user.index()];
        (iteration.is_open && iteration.generation == generation).then_some(iteration.until)
    }

    /// The values that a user keeps.
    pub(crate) fn variables(&self, user: UserId) -> Option<Arc<Variables>> {
        self.list[user.index()].variables.clone()
    }

    /// Whether any is open.
    pub(crate) const fn has_open(&self) -> bool {
        self.open > 0
    }

    /// The records of open iterations, as if they ended at this time.
    pub(crate) fn open_at(&self, now: Nanos) -> impl Iterator<Item = IterationSample> {
        let open = self.list.iter().filter(|iteration| iteration.is_open);
        open.map(move |iteration| iteration.sample(now))
    }
}

/// An iteration on its way to the next step that takes time, with the parts by which its steps
/// compute.
struct Walk<'a, F> {
    iteration: &'a mut Iteration,
    text: &'a mut String,
    /// The largest number of requests in an iteration.
    requests: u64,
    seed: u64,
    scenarios: &'a Scenarios,
    unix_time: &'a F,
}

/// The event for which a step waits.
enum Halt {
    None,
    /// This request of the pool's list.
    Request(u32),
    Until(Nanos),
}

impl<F: Fn() -> u64> Walk<'_, F> {
    /// Takes the step with this number, where the one before was over at a time.
    fn take_step(&mut self, step: &Step, place: u32, over_at: Nanos) -> Halt {
        match step {
            Step::Request { request, .. } => return Halt::Request(*request),
            Step::Pause(pause) => {
                let length = pause.drawn(self.iteration.random(self.seed, place));
                return Halt::Until(over_at + length);
            }
            Step::Until(time) => return Halt::Until(self.iteration.intended + *time),
            Step::AtLeast(time) => return Halt::Until(self.iteration.begun + *time),
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
                Ok(of) => self.count(*counter, Counter { pass: 0, of }, *index),
                Err(error) => self.give_up(error),
            },
            Step::Again {
                counter,
                index,
                start,
            } => {
                let Counter { pass, of } = self.iteration.counter(*counter);
                if pass + 1 < of {
                    self.count(*counter, Counter { pass: pass + 1, of }, *index);
                    self.iteration.place = *start;
                }
            }
            Step::End => self.iteration.place = OVER,
        }
        Halt::None
    }

    /// The context of values: that of the iteration's next request.
    fn context(&self) -> RequestContext {
        let number = self.iteration.number(self.requests);
        let variables = self.iteration.variables.clone();
        let turn = self.iteration.turn;
        turn.context(number, 0, (self.unix_time)(), self.seed, variables)
    }

    /// Renders a value into the text.
    fn render(&mut self, value: &dyn Value) -> Result<(), DataError> {
        let context = self.context();
        self.text.clear();
        value.render(&context, self.text)
    }

    /// Gives a variable its value. The variables are copied where any other holds them.
    fn set(&mut self, variable: VariableId, value: &dyn Value) {
        let rendered = self.render(value);
        if let Some(variables) = &mut self.iteration.variables {
            let rendered = rendered.map(|()| self.text.as_str());
            Arc::make_mut(variables).set(variable, rendered);
        }
    }

    /// The number of passes of a loop; an error where its value is no such number.
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

    /// Ends the iteration for want of a value that the next step depends on. The request that comes
    /// next in the program fails by it; behind the last, the first of the scenario does.
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
    fn count(&mut self, counter: CounterId, at: Counter, index: Option<VariableId>) {
        if let Some(counter) = self.iteration.counters.get_mut(usize::from(counter.0)) {
            *counter = at;
        }
        if let (Some(index), Some(variables)) = (index, &mut self.iteration.variables) {
            self.text.clear();
            // Writing to a string does not fail.
            let _ = write!(self.text, "{}", at.pass);
            Arc::make_mut(variables).set(index, Ok(self.text));
        }
    }
}

impl Iteration {
    /// The state of a user that has begun no iteration, with this many counters of loops.
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
            counters: vec![Counter::default(); counters].into(),
        }
    }

    /// The record of it, with this end.
    const fn sample(&self, end: Nanos) -> IterationSample {
        IterationSample {
            scenario: self.scenario,
            intended: self.intended,
            end,
            outcome: self.outcome,
        }
    }

    /// The step that was gone through last.
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

    fn counter(&self, counter: CounterId) -> Counter {
        let counter = self.counters.get(usize::from(counter.0));
        counter.copied().unwrap_or_default()
    }

    /// The number of its next request within the run: each arrival has as many numbers as an
    /// iteration has requests at most, so that numbers are unique without a counter that workers
    /// would share.
    fn number(&self, requests: u64) -> u64 {
        let before = self.turn.arrival.wrapping_mul(requests);
        before.wrapping_add(self.requests.into())
    }

    /// The random numbers of a step, which differ in the passes of a loop: the passes are folded
    /// into one number as digits, each to the base of its loop's passes.
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
