//! Iterations: how far each user is in the program of its pool, and the values that it keeps.
//!
//! An iteration is open from [`Iterations::begin`] until [`Iterations::go_on`] gives
//! [`NextStep::Over`]. Between the two the pool does what each `NextStep` says, and `go_on` is called
//! again when that is done: after a request, whose outcome [`Iterations::note_end`] takes before,
//! with the time at which its exchange ended, and after a pause with the time that
//! [`Iterations::woken`] gives.
//!
//! All values and pauses are functions of the pool's seed, the user's number, its iteration and the
//! step, so that any worker can repeat any iteration.

use super::Turn;
use crate::id::{Generation, UserId};
use drumfire_measure::{IterationSample, Outcome};
use drumfire_plan::{
    DataError, OnFailure, Program, Random, RequestContext, Step, Taken, Variables,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// Why a variable has no value.
const NOT_TAKEN: &str = "the request from whose response the value is taken has failed";

/// The iterations of one worker's users.
#[derive(Debug)]
pub(crate) struct Iterations {
    steps: Arc<[Step]>,
    seed: u64,
    /// How many requests an iteration has at most.
    requests: u64,
    /// Which request of the list comes first.
    first_request: u32,
    /// Whether it is due with its iteration: no pause comes before.
    begins_with_request: bool,
    /// How many variables a user has.
    variables: usize,
    list: Vec<Iteration>,
    /// How many are open.
    open: u32,
    /// A value on its way into a variable.
    text: String,
}

/// The iteration of one user; kept for the user's next.
#[derive(Debug)]
struct Iteration {
    /// Tells a wake that is stale.
    generation: Generation,
    is_open: bool,
    /// The first failure among its requests; ok where there is none.
    outcome: Outcome,
    /// The number of the next step.
    place: u32,
    /// How many requests have become due.
    requests: u32,
    turn: Turn,
    intended: Nanos,
    /// When its pause ends by the plan.
    until: Nanos,
    /// `None` where the program sets none.
    variables: Option<Arc<Variables>>,
}

/// A request that is due for a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueRequest {
    /// Which request of the pool's list.
    pub(crate) request: u32,
    /// Its number within the run.
    pub(crate) number: u64,
    pub(crate) turn: Turn,
    pub(crate) intended: Nanos,
    /// Whether it became due with its iteration's arrival, and is counted as that is.
    pub(crate) came_with_arrival: bool,
}

/// What follows in an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// A request is due.
    Request(DueRequest),
    /// The user pauses.
    Pause(Pausing),
    /// The iteration is over.
    Over(Over),
}

/// A user that pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pausing {
    pub(crate) user: UserId,
    pub(crate) generation: Generation,
    pub(crate) until: Nanos,
}

/// A user whose iteration is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Over {
    pub(crate) user: UserId,
    /// The record of it.
    pub(crate) sample: IterationSample,
}

impl Iterations {
    /// None open; `None` where a pool's program has no steps, so that a request is an iteration.
    pub(crate) fn of(program: &Program, seed: u64) -> Option<Self> {
        let Program::Steps(steps) = program else {
            return None;
        };
        Some(Self {
            steps: Arc::clone(steps),
            seed,
            requests: program.requests(),
            first_request: program.first_request().unwrap_or_default(),
            begins_with_request: program.begins_with_request(),
            variables: program.variables(),
            list: Vec::new(),
            open: 0,
            text: String::new(),
        })
    }

    /// Which request of the pool's list comes first.
    pub(crate) const fn first_request(&self) -> u32 {
        self.first_request
    }

    /// Whether the first request is due with its iteration.
    pub(crate) const fn begins_with_request(&self) -> bool {
        self.begins_with_request
    }

    /// A user begins an iteration that is intended for a time.
    pub(crate) fn begin(&mut self, turn: Turn, intended: Nanos) {
        let index = turn.user.index();
        if self.list.len() <= index {
            self.list.resize_with(index + 1, Iteration::new);
        }
        let iteration = &mut self.list[index];
        iteration.is_open = true;
        iteration.outcome = Outcome::Ok;
        iteration.place = 0;
        iteration.requests = 0;
        iteration.turn = turn;
        iteration.intended = intended;
        match &mut iteration.variables {
            Some(variables) => Arc::make_mut(variables).clear(),
            None if self.variables > 0 => {
                iteration.variables = Some(Arc::new(Variables::new(self.variables)));
            }
            None => {}
        }
        self.open += 1;
    }

    /// The exchange of a user's request has ended.
    pub(crate) fn note_end(&mut self, user: UserId, outcome: Outcome) {
        if outcome == Outcome::Ok {
            return;
        }
        let iteration = &mut self.list[user.index()];
        if iteration.outcome == Outcome::Ok {
            iteration.outcome = outcome;
        }
        let before = (iteration.place as usize).checked_sub(1);
        if let Some(Step::Request {
            on_failure: OnFailure::EndIteration,
            ..
        }) = before.and_then(|place| self.steps.get(place))
        {
            iteration.place = self.steps.len() as u32;
        }
    }

    /// The step of a user whose exchange has ended takes its values. Where it has failed, the
    /// variables have none: a request that reads them is not sent with what they had before.
    pub(crate) fn keep(&mut self, user: UserId, outcome: Outcome, taken: Option<&Taken>) {
        let iteration = &mut self.list[user.index()];
        let before = (iteration.place as usize).checked_sub(1);
        let step = before.and_then(|place| self.steps.get(place));
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
                variables.set(*variable, Err(DataError(NOT_TAKEN.to_owned())));
            }
        }
    }

    /// Lets a user rest that is not ready before a time.
    pub(crate) fn rest(&mut self, user: UserId, until: Nanos) -> Pausing {
        let iteration = &mut self.list[user.index()];
        iteration.until = until;
        Pausing {
            user,
            generation: iteration.generation,
            until,
        }
    }

    /// What follows for a user whose last step was over at a time.
    pub(crate) fn go_on(
        &mut self,
        user: UserId,
        over_at: Nanos,
        unix_time: impl Fn() -> u64,
    ) -> NextStep {
        let iteration = &mut self.list[user.index()];
        loop {
            let place = iteration.place;
            let Some(step) = self.steps.get(place as usize) else {
                iteration.is_open = false;
                iteration.generation = iteration.generation.next();
                self.open -= 1;
                let sample = IterationSample {
                    intended: iteration.intended,
                    end: over_at,
                    outcome: iteration.outcome,
                };
                return NextStep::Over(Over { user, sample });
            };
            iteration.place += 1;
            match step {
                Step::Request { request, .. } => {
                    let came_with_arrival = iteration.requests == 0 && self.begins_with_request;
                    let due = DueRequest {
                        request: *request,
                        number: iteration.number(self.requests),
                        turn: iteration.turn,
                        intended: over_at,
                        came_with_arrival,
                    };
                    iteration.requests += 1;
                    return NextStep::Request(due);
                }
                Step::Pause(pause) => {
                    let length = pause.drawn(iteration.bits(self.seed, place));
                    if length > Nanos::ZERO {
                        return NextStep::Pause(self.rest(user, over_at + length));
                    }
                }
                Step::Set { variable, value } => {
                    let context = iteration.context(self.requests, self.seed, unix_time());
                    self.text.clear();
                    let rendered = value.render(&context, &mut self.text);
                    // The variables are copied where any other holds them.
                    drop(context);
                    if let Some(variables) = &mut iteration.variables {
                        let rendered = rendered.map(|()| self.text.as_str());
                        Arc::make_mut(variables).set(*variable, rendered);
                    }
                }
            }
        }
    }

    /// When the pause ends by the plan for which a wake was set; `None` where the wake is stale.
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

    /// When those that are open were intended.
    pub(crate) fn open_intended(&self) -> impl Iterator<Item = Nanos> {
        let open = self.list.iter().filter(|iteration| iteration.is_open);
        open.map(|iteration| iteration.intended)
    }
}

impl Iteration {
    /// That of a user that has begun none.
    fn new() -> Self {
        Self {
            generation: Generation::default(),
            is_open: false,
            outcome: Outcome::Ok,
            place: 0,
            requests: 0,
            turn: Turn::default(),
            intended: Nanos::ZERO,
            until: Nanos::ZERO,
            variables: None,
        }
    }

    /// The number of its next request within the run.
    fn number(&self, requests: u64) -> u64 {
        let before = self.turn.arrival.wrapping_mul(requests);
        before.wrapping_add(self.requests.into())
    }

    /// The random bits of a step.
    fn bits(&self, seed: u64, place: u32) -> u64 {
        let Turn {
            number, iteration, ..
        } = self.turn;
        Random::new(seed, number.into(), iteration, place.into()).bits()
    }

    fn context(&self, requests: u64, seed: u64, now: u64) -> RequestContext {
        RequestContext {
            number: self.number(requests),
            arrival: self.turn.arrival,
            user: self.turn.number,
            iteration: self.turn.iteration,
            connection: 0,
            now,
            seed,
            variables: self.variables.clone(),
        }
    }
}
