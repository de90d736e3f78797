//! Users: the actors of a run, each with its own number, and their iterations.
//!
//! A user takes one iteration at a time; the worker's population
//! ([`Population`](crate::population::Population)) chooses the user that begins the next. For each
//! iteration the calls come in this order:
//!
//! ```text
//!   begin_turn ─► first_step ─► Request ─► lend … take_back ─► go_on ─┐
//!                 │           ▲                                  ├─► Over
//!                 └─► Pause ──┴────────── wake ──────────────────┘
//! ```
//!
//! Between `lend` and `take_back` the exchange of a request has the user's state, and no other code
//! may read it. If an iteration is a single request, `only_request` is called instead of
//! `first_step`, and the iteration ends with its exchange.
//!
//! The requests of a user are a function of the plan's seed, the user's number and its iteration,
//! so that any worker on any machine can repeat them.
//!
//! A user without state costs sixteen bytes; cookies and the state of steps are in separate lists,
//! which exist only if the pool needs them. The lists grow to the largest user that has begun, and
//! never shrink.

mod iteration;
mod prevented;
mod user_state;

pub(crate) use iteration::{DueRequest, Iterations, NextStep};
pub(crate) use prevented::Prevented;
pub(crate) use user_state::UserState;

use crate::arrivals::{Arrival, dealt_to};
use crate::id::{Generation, Shard, UserId};
use drumfire_cookies::Jar;
use drumfire_measure::Outcome;
use drumfire_plan::{
    Choice, Cookies, Load, Pause, Pool, Program, Random, RequestContext, Taken, Variables,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The stream of the random numbers that users draw between iterations; the streams of steps count
/// from 0.
const THINKS: u64 = u64::MAX;

/// One worker's users.
#[derive(Debug)]
pub(crate) struct Users {
    /// The number of user `n` is `n · of + index`: the numbers of all workers' users are 0, 1, 2, …
    /// without gaps.
    shard: Shard,
    list: Vec<User>,
    /// The length of the pool's list of requests; `choice` and `seed` select an arrival's request.
    requests: u64,
    /// Whether every iteration sends the list's first request.
    always_first: bool,
    choice: Choice,
    seed: u64,
    /// The pause after an iteration, in the closed model.
    think: Pause,
    /// The minimum time between the starts of a user's iterations, in the closed model; 0 for no
    /// minimum.
    pace: Nanos,
    /// The pause, if it is constant and the pool has no pace.
    same_rest: Option<Nanos>,
    /// The number of parts of the arrivals; each part passes through the whole list.
    parts: u32,
    /// The offset of the arrivals' numbers: the number of arrivals of the run's earlier parts.
    begun: u64,
    /// Whether users keep any state that their requests read.
    pub(crate) keep_state: bool,
    cookies: Cookies,
    /// The cookies of each user, while they are not lent to a request.
    jars: Vec<Option<Box<Jar>>>,
    /// The iterations of a program with steps.
    pub(crate) iterations: Option<Iterations>,
}

/// One user.
#[derive(Clone, Copy, Debug, Default)]
struct User {
    /// The number of iterations that the user has begun.
    iterations: u64,
    /// The intended start of the user's last iteration.
    begun: Nanos,
}

/// A user in one of its iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The user.
    pub(crate) user: UserId,
    /// The user's number among the users of all workers.
    number: u32,
    /// The number of the iteration among the user's, from 0.
    iteration: u64,
    /// The number of the iteration's arrival within the run.
    pub(crate) arrival: u64,
    /// The number of parts of the arrivals.
    parts: u32,
}

impl Turn {
    /// The context of the request with this number, of a user with these values. The request is
    /// sent on a connection at `now` since the Unix epoch, in a pool with this seed.
    pub(crate) const fn context(
        self,
        number: u64,
        connection: u32,
        now: u64,
        seed: u64,
        variables: Option<Arc<Variables>>,
    ) -> RequestContext {
        RequestContext {
            number,
            arrival: self.arrival,
            parts: self.parts,
            user: self.number,
            iteration: self.iteration,
            connection,
            now,
            seed,
            variables,
        }
    }

    /// The position in the list, of requests or of scenarios.
    pub(crate) fn place(&self) -> u64 {
        place(self.arrival, self.parts)
    }
}

/// The position of an arrival in the rotation through a list. The numbers of a part are `parts`
/// apart: without a correction, the worker with more users would send more of certain requests.
#[inline]
fn place(arrival: u64, parts: u32) -> u64 {
    match u64::from(parts) {
        1 => arrival,
        parts => arrival / parts + arrival % parts,
    }
}

/// The number of parts of a pool's arrivals. If a schedule or a count deals out the arrivals, each
/// worker has equally many, and all workers pass through the list together. Otherwise each worker
/// passes through the whole list separately, so that all requests are sent equally often however
/// many users each worker has; so does each user with its own rate, to which numbers are dealt.
fn parts_of(pool: &Pool, shard: Shard) -> u32 {
    let choice = match &pool.program {
        Program::Requests(choice) => choice,
        Program::Steps(scenarios) => scenarios.choice(),
    };
    let has_turns = matches!(choice, Choice::InTurn | Choice::Cycle(_));
    let is_counted = pool.stop.requests.is_some() || pool.stop.iterations.is_some();
    match pool.load {
        _ if is_counted || !has_turns => 1,
        Load::Open { .. } => 1,
        Load::Closed { .. } => shard.of,
        Load::PerUser { users, .. } => dealt_to(&pool.users_over_time(users), shard.of),
    }
}

impl Users {
    /// One worker's users of a pool with a seed.
    pub(crate) fn new(shard: Shard, pool: &Pool, seed: u64) -> Self {
        let iterations = Iterations::for_program(&pool.program, seed);
        let parts = parts_of(pool, shard);
        let (think, pace) = match pool.load {
            Load::Closed { think, pace, .. } => (think, pace),
            Load::Open { .. } | Load::PerUser { .. } => (Pause::NONE, Nanos::ZERO),
        };
        Self {
            requests: pool.requests.len() as u64,
            always_first: pool.requests.len() == 1 && iterations.is_none(),
            choice: match &pool.program {
                Program::Requests(choice) => choice.clone(),
                Program::Steps(_) => Choice::default(),
            },
            seed,
            think,
            pace,
            same_rest: think.fixed().filter(|_| pace == Nanos::ZERO),
            parts,
            // The numbers of each part keep their remainder.
            begun: pool.begun.next_multiple_of(u64::from(parts)),
            cookies: pool.cookies,
            keep_state: iterations.is_some() || pool.cookies != Cookies::Ignore,
            jars: Vec::new(),
            iterations,
            shard,
            list: Vec::new(),
        }
    }

    /// The period, in arrivals, of the sequence of first requests.
    pub(crate) fn round(&self) -> u64 {
        match &self.iterations {
            None => self.choice.round(self.requests),
            Some(iterations) => iterations.round(),
        }
    }

    /// The first request of an arrival's iteration, as an index into the list.
    #[inline]
    pub(crate) fn first_request(&self, arrival: Arrival) -> u32 {
        if self.always_first {
            return 0;
        }
        self.chosen(self.number_of(arrival))
    }

    /// The number of an arrival within the run, including the run's earlier parts.
    #[inline]
    const fn number_of(&self, arrival: Arrival) -> u64 {
        arrival.index.wrapping_add(self.begun)
    }

    #[inline(never)]
    fn chosen(&self, arrival: u64) -> u32 {
        let place = place(arrival, self.parts);
        match &self.iterations {
            None => self.choice.pick(place, self.requests, self.seed),
            Some(iterations) => iterations.first_request(place),
        }
    }

    /// Whether an iteration's first request is due with the iteration, without a pause before it.
    #[inline]
    pub(crate) fn begins_with_request(&self) -> bool {
        match &self.iterations {
            None => true,
            Some(iterations) => iterations.begins_with_request,
        }
    }

    /// Begins the iteration of an arrival for a user.
    #[inline(always)]
    pub(crate) fn begin_turn(&mut self, user: UserId, arrival: Arrival) -> Turn {
        if self.list.len() <= user.index() {
            self.add_up_to(user);
        }
        let begins = &mut self.list[user.index()];
        let iteration = begins.iterations;
        begins.iterations += 1;
        begins.begun = arrival.intended;
        if self.cookies == Cookies::Iteration {
            self.forget_cookies(user);
        }
        Turn {
            user,
            number: self.number(user),
            iteration,
            arrival: self.number_of(arrival),
            parts: self.parts,
        }
    }

    /// Adds users up to and including this one.
    #[cold]
    fn add_up_to(&mut self, user: UserId) {
        self.list.resize(user.index() + 1, User::default());
    }

    /// The first action of an iteration that has begun now.
    #[inline]
    pub(crate) fn first_step(
        &mut self,
        turn: Turn,
        arrival: Arrival,
        now: Nanos,
        unix_time: impl Fn() -> u64,
    ) -> NextStep {
        match &mut self.iterations {
            None => NextStep::Request(self.only_request(turn, arrival)),
            Some(iterations) => {
                iterations.open_iteration(turn, arrival.intended, now);
                iterations.go_on(turn.user, arrival.intended, unix_time)
            }
        }
    }

    /// The single request of an iteration without steps.
    #[inline]
    pub(crate) fn only_request(&self, turn: Turn, arrival: Arrival) -> DueRequest {
        DueRequest::of_arrival(self.first_request(arrival), turn, arrival)
    }

    /// The action that continues an iteration of steps whose request has ended now with an outcome,
    /// for a user that is ready at `ready`, which may be later; `None` if an iteration is one
    /// request.
    pub(crate) fn go_on(
        &mut self,
        user: UserId,
        outcome: Outcome,
        ready: Nanos,
        now: Nanos,
        unix_time: impl Fn() -> u64,
    ) -> Option<NextStep> {
        let iterations = self.iterations.as_mut()?;
        let rest = iterations.note_end(user, outcome);
        let ready = ready.max(now + rest);
        Some(if ready > now {
            iterations.rest(user, ready)
        } else {
            iterations.go_on(user, ready, unix_time)
        })
    }

    /// Lends a user's state to the exchange of its request.
    #[cold]
    pub(crate) fn lend(&mut self, user: UserId) -> UserState {
        let jar = match self.cookies {
            Cookies::Ignore => None,
            Cookies::Iteration | Cookies::User => Some(self.jar(user).take().unwrap_or_default()),
        };
        let iterations = self.iterations.as_ref();
        UserState {
            variables: iterations.and_then(|iterations| iterations.variables(user)),
            jar,
        }
    }

    /// Takes the state back from an exchange that ended with an outcome, with the values taken from
    /// its response. Call it before [`Self::go_on`].
    #[cold]
    pub(crate) fn take_back(
        &mut self,
        user: UserId,
        outcome: Outcome,
        jar: Option<Box<Jar>>,
        taken: Option<&Taken>,
    ) {
        if self.cookies != Cookies::Ignore {
            *self.jar(user) = jar;
        }
        if let Some(iterations) = &mut self.iterations {
            iterations.keep(user, outcome, taken);
        }
    }

    /// The storage for a user's cookies.
    fn jar(&mut self, user: UserId) -> &mut Option<Box<Jar>> {
        if self.jars.len() <= user.index() {
            self.jars.resize_with(user.index() + 1, || None);
        }
        &mut self.jars[user.index()]
    }

    #[cold]
    fn forget_cookies(&mut self, user: UserId) {
        if let Some(jar) = self.jar(user) {
            jar.clear();
        }
    }

    /// The action that continues a user's iteration after a pause; `None` if the timer is stale.
    pub(crate) fn wake(
        &mut self,
        user: UserId,
        generation: Generation,
        unix_time: impl Fn() -> u64,
    ) -> Option<NextStep> {
        let iterations = self.iterations.as_mut()?;
        let over_at = iterations.woken(user, generation)?;
        Some(iterations.go_on(user, over_at, unix_time))
    }

    /// The request that a user's ended iteration could not reach, if there is one.
    pub(crate) fn take_prevented(&mut self, user: UserId) -> Option<Box<Prevented>> {
        self.iterations.as_mut()?.take_prevented(user)
    }

    /// Whether an iteration has steps instead of a single request.
    #[inline]
    pub(crate) const fn has_steps(&self) -> bool {
        self.iterations.is_some()
    }

    /// The time at which a user of the closed model that is ready at `ready` begins its next
    /// iteration: after its pause, and not before its pace allows.
    #[inline]
    pub(crate) fn next_begin(&self, user: UserId, ready: Nanos) -> Nanos {
        match self.same_rest {
            Some(rest) => ready + rest,
            None => self.drawn_begin(user, ready),
        }
    }

    #[cold]
    fn drawn_begin(&self, user: UserId, ready: Nanos) -> Nanos {
        let (number, state) = (self.number(user), &self.list[user.index()]);
        let random = Random::new(self.seed, number.into(), state.iterations, THINKS);
        let paced = match self.pace {
            Nanos::ZERO => ready,
            pace => state.begun + pace,
        };
        paced.max(ready + self.think.drawn(random))
    }

    /// A user's number among the users of all workers.
    #[inline]
    const fn number(&self, user: UserId) -> u32 {
        user.place()
            .wrapping_mul(self.shard.of)
            .wrapping_add(self.shard.index)
    }
}
