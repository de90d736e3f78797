//! Programs: the steps of one iteration of a user.
//!
//! All steps are in one list, and an index in the list identifies a step. Conditions and loops are
//! jumps: an `If` skips the steps after it; a `Repeat` precedes the steps that it repeats, and an
//! `Again` follows them, which jumps back to the first of them while passes are left. All other
//! jumps lead forward, so that every iteration ends.

use crate::{Choice, Condition, Pause, Value, VariableId};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The maximum number of passes of a loop whose number of passes is computed.
pub const GIVEN_PASSES_MAX: u32 = 1_000;
/// The maximum number of steps in an iteration, with all loops unrolled, because the steps between
/// two requests run at once.
pub const STEPS_MAX: u64 = 1_000_000;

/// The steps of one iteration of a user.
#[derive(Clone, Debug)]
pub enum Program {
    /// One request of the pool's list, selected by the arrival's number.
    Requests(Choice),
    /// The steps of a scenario.
    Steps(Arc<Scenarios>),
}

/// The steps of all scenarios of a pool, one after the other, each ending with a [`Step::End`].
#[derive(Clone, Debug)]
pub struct Scenarios {
    steps: Vec<Step>,
    /// The start of each scenario.
    starts: Vec<u32>,
    /// The names of the scenarios, if there are several.
    names: Vec<Arc<str>>,
    /// Which scenario an arrival takes.
    choice: Choice,
    extent: Extent,
}

/// The maximum resources of the scenarios' iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The number of steps in an iteration.
    pub steps: u64,
    /// The number of requests in an iteration.
    pub requests: u64,
    /// The number of variables that the steps set or take.
    pub variables: usize,
    /// The number of loop counters.
    pub counters: usize,
}

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends a request, and waits for the end of the exchange.
    Request {
        /// The index in the pool's list, from 0.
        request: u32,
        /// Whether the request is sent again if it failed.
        retry: Retry,
        /// The effect of its failure on the iteration.
        on_failure: OnFailure,
        /// The variables whose values come from the response. If the request failed, they have no
        /// values.
        takes: Arc<[VariableId]>,
    },
    /// Waits.
    Pause(Pause),
    /// Waits for the time in a value, as [`GivenPause`] parses it.
    PauseGiven(Arc<dyn Value>),
    /// Waits until this long after the iteration's intended start.
    Until(Nanos),
    /// Waits until the iteration has lasted this long since its user began it.
    AtLeast(Nanos),
    /// Stores a value for later steps of the iteration.
    Set {
        /// The variable.
        variable: VariableId,
        /// The value.
        value: Arc<dyn Value>,
    },
    /// Continues with the next step if a condition holds, and with `otherwise` if not.
    If {
        /// The condition.
        condition: Arc<dyn Condition>,
        /// The step to jump to; after this one.
        otherwise: u32,
    },
    /// Jumps to a later step.
    Jump(u32),
    /// Repeats the steps after it.
    Repeat {
        /// The loop's counter, which differs from the counters of all enclosing loops.
        counter: CounterId,
        /// The number of passes.
        passes: Passes,
        /// The variable that counts the passes, from 0.
        index: Option<VariableId>,
        /// The step after the last pass; it follows the loop's [`Step::Again`].
        end: u32,
    },
    /// Ends a pass of the loop with this counter, and starts the next one if any are left.
    Again {
        /// The loop's counter.
        counter: CounterId,
        /// The variable that counts the passes.
        index: Option<VariableId>,
        /// The first step of a pass; it follows the loop's [`Step::Repeat`].
        start: u32,
    },
    /// Ends the iteration.
    End,
}

/// The index of a loop counter of an iteration, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterId(pub u16);

/// A pause that is computed in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenPause {
    /// This time.
    For(Nanos),
    /// Until this time after the iteration's intended start.
    Until(Nanos),
}

impl GivenPause {
    /// Parses `1.5s` or `until 3s`; `None` if the text is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.strip_prefix("until ") {
            Some(time) => time.trim().parse().ok().map(Self::Until),
            None => text.parse().ok().map(Self::For),
        }
    }
}

/// The number of passes of a loop.
#[derive(Clone, Debug)]
pub enum Passes {
    /// This number.
    Fixed(u32),
    /// The number in a value, up to [`GIVEN_PASSES_MAX`].
    Given(Arc<dyn Value>),
}

impl Passes {
    const fn most(&self) -> u32 {
        match self {
            Self::Fixed(passes) => *passes,
            Self::Given(_) => GIVEN_PASSES_MAX,
        }
    }
}

/// Whether a failed request is sent again. The retry is a separate request with its own outcome.
/// The iteration fails only if the last attempt failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retry {
    /// The maximum number of retries.
    pub times: u32,
    /// The delay after the failure.
    pub rest: Nanos,
}

/// The effect of a failed request on its iteration, which has failed in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The iteration continues with the next step.
    #[default]
    Continue,
    /// The iteration ends.
    EndIteration,
    /// The iteration ends, and its user starts no other.
    StopUser,
}

impl Default for Program {
    fn default() -> Self {
        Self::Requests(Choice::default())
    }
}

impl Program {
    /// The program of one scenario with these steps.
    #[must_use]
    pub fn of_steps(mut steps: Vec<Step>) -> Self {
        steps.push(Step::End);
        Self::Steps(Arc::new(Scenarios::new(steps, vec![0], Choice::InTurn)))
    }

    /// The names of the scenarios, if there are several.
    #[must_use]
    pub fn scenario_names(&self) -> &[Arc<str>] {
        self.scenarios().map_or(&[], |scenarios| scenarios.names())
    }

    /// The scenarios; `None` if an iteration is one request.
    #[must_use]
    pub fn scenarios(&self) -> Option<&Arc<Scenarios>> {
        match self {
            Self::Requests(_) => None,
            Self::Steps(scenarios) => Some(scenarios),
        }
    }

    /// The number of arrivals in one pass through a list of `requests`; 1 if an iteration has
    /// steps.
    #[must_use]
    pub fn round(&self, requests: usize) -> u64 {
        match self {
            Self::Requests(choice) => choice.round(requests as u64),
            Self::Steps(_) => 1,
        }
    }

    /// Whether an iteration contains times in which its user rests.
    #[must_use]
    pub fn rests(&self) -> bool {
        let steps = self.scenarios().into_iter().flat_map(|all| all.steps());
        let is_rest = |step: &Step| {
            matches!(
                step,
                Step::Pause(_) | Step::PauseGiven(_) | Step::Until(_) | Step::AtLeast(_)
            )
        };
        steps.into_iter().any(is_rest)
    }

    /// Whether an iteration is more than one request, with separate counts.
    #[must_use]
    pub const fn has_steps(&self) -> bool {
        matches!(self, Self::Steps(_))
    }
}

impl Scenarios {
    /// Scenarios that start at these steps of a list; each arrival takes one of them.
    #[must_use]
    pub fn new(steps: Vec<Step>, starts: Vec<u32>, choice: Choice) -> Self {
        let mut scenarios = Self {
            steps,
            starts,
            names: Vec::new(),
            choice,
            extent: Extent::default(),
        };
        scenarios.extent = scenarios.measured();
        scenarios
    }

    /// Sets the names under which iterations are reported, one for each scenario.
    #[must_use]
    pub fn with_names(self, names: Vec<Arc<str>>) -> Self {
        Self { names, ..self }
    }

    /// The names of the scenarios; empty if they have no names.
    #[must_use]
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The steps of all scenarios.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The start of each scenario.
    #[must_use]
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Which scenario an arrival takes.
    #[must_use]
    pub const fn choice(&self) -> &Choice {
        &self.choice
    }

    /// The maximum resources of the iterations.
    #[must_use]
    pub const fn extent(&self) -> Extent {
        self.extent
    }

    /// The scenario that an arrival takes, from 0.
    #[must_use]
    pub fn which(&self, arrival: u64, seed: u64) -> u32 {
        self.choice.pick(arrival, self.starts.len() as u64, seed)
    }

    /// The first step of an arrival's iteration.
    #[must_use]
    pub fn start(&self, arrival: u64, seed: u64) -> u32 {
        self.starts[self.which(arrival, seed) as usize]
    }

    /// The number of arrivals after which the choice of scenarios repeats.
    #[must_use]
    pub fn round(&self) -> u64 {
        self.choice.round(self.starts.len() as u64)
    }

    /// The first request of an iteration from this step on; conditions are ignored.
    #[must_use]
    pub fn first_request(&self, start: u32) -> Option<u32> {
        let steps = self.steps.iter().skip(start as usize);
        let mut steps = steps.take_while(|step| !matches!(step, Step::End));
        steps.find_map(|step| match step {
            Step::Request { request, .. } => Some(*request),
            _ => None,
        })
    }

    /// Whether the first request of every iteration is due together with the iteration, because
    /// only values precede it.
    #[must_use]
    pub fn begin_with_requests(&self) -> bool {
        self.starts.iter().all(|start| {
            let mut steps = self.steps.iter().skip(*start as usize);
            let first = steps.find(|step| !matches!(step, Step::Set { .. }));
            matches!(first, Some(Step::Request { .. }))
        })
    }

    /// The steps and requests with all loops unrolled and both branches of each condition, and the
    /// numbers of variables and counters.
    fn measured(&self) -> Extent {
        let mut all = Extent::default();
        let mut of_scenario = (0_u64, 0_u64);
        // The ends of the loops around a step, and how many times the step runs within each.
        let mut around: Vec<(u32, u64)> = Vec::new();
        for (place, step) in (0_u32..).zip(&self.steps) {
            around.retain(|(end, _)| *end > place);
            let times = around.last().map_or(1, |(_, times)| *times);
            of_scenario.0 = of_scenario.0.saturating_add(times);
            for variable in step.variables() {
                all.variables = all.variables.max(usize::from(variable.0) + 1);
            }
            match step {
                Step::Request { retry, .. } => {
                    let sent = times.saturating_mul(u64::from(retry.times) + 1);
                    of_scenario.1 = of_scenario.1.saturating_add(sent);
                }
                Step::Repeat {
                    counter,
                    passes,
                    end,
                    ..
                } => {
                    all.counters = all.counters.max(usize::from(counter.0) + 1);
                    around.push((*end, times.saturating_mul(passes.most().into())));
                }
                Step::End => {
                    all.steps = all.steps.max(of_scenario.0);
                    all.requests = all.requests.max(of_scenario.1);
                    of_scenario = (0, 0);
                }
                _ => {}
            }
        }
        all
    }

    /// Whether every jump is allowed, so that every iteration ends.
    pub(crate) fn are_sound(&self) -> bool {
        let ends = matches!(self.steps.last(), Some(Step::End));
        let begin = self.starts.iter().all(|start| self.has(*start));
        let mut steps = (0_u32..).zip(&self.steps);
        ends && begin
            && !self.starts.is_empty()
            && steps.all(|(place, step)| match step {
                Step::If { otherwise: to, .. } | Step::Jump(to) => *to > place && self.has(*to),
                Step::Repeat { counter, end, .. } => {
                    *end > place && self.has(*end) && self.closes(*end, place + 1, *counter)
                }
                Step::Again { counter, start, .. } => self.opens(*start, *counter),
                _ => true,
            })
    }

    fn has(&self, place: u32) -> bool {
        (place as usize) < self.steps.len()
    }

    /// Whether the step before `end` ends the passes of a loop that start at `start`.
    fn closes(&self, end: u32, start: u32, counter: CounterId) -> bool {
        let last = self.steps.get(end as usize - 1);
        matches!(last, Some(Step::Again { counter: of, start: at, .. })
            if *of == counter && *at == start)
    }

    /// Whether the step before `start` begins the loop with this counter.
    fn opens(&self, start: u32, counter: CounterId) -> bool {
        let before = start.checked_sub(1);
        let before = before.and_then(|place| self.steps.get(place as usize));
        matches!(before, Some(Step::Repeat { counter: of, .. }) if *of == counter)
    }
}

impl Step {
    /// The variables that the step sets.
    fn variables(&self) -> impl Iterator<Item = VariableId> {
        let (one, many): (Option<VariableId>, &[VariableId]) = match self {
            Self::Set { variable, .. } => (Some(*variable), &[]),
            Self::Repeat { index, .. } => (*index, &[]),
            Self::Request { takes, .. } => (None, takes),
            _ => (None, &[]),
        };
        one.into_iter().chain(many.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(times: u32) -> Step {
        Step::Request {
            request: 0,
            retry: Retry {
                times,
                rest: Nanos::ZERO,
            },
            on_failure: OnFailure::Continue,
            takes: Arc::new([VariableId(4)]),
        }
    }

    const fn repeat(counter: u16, passes: u32, end: u32) -> Step {
        Step::Repeat {
            counter: CounterId(counter),
            passes: Passes::Fixed(passes),
            index: None,
            end,
        }
    }

    const fn again(counter: u16, start: u32) -> Step {
        Step::Again {
            counter: CounterId(counter),
            index: None,
            start,
        }
    }

    fn from_steps(steps: Vec<Step>) -> Arc<Scenarios> {
        match Program::of_steps(steps) {
            Program::Steps(scenarios) => scenarios,
            Program::Requests(_) => unreachable!("it has steps"),
        }
    }

    #[test]
    fn loops_within_loops_multiply() {
        let steps = vec![
            send(0),
            repeat(0, 3, 7),
            send(0),
            repeat(1, 2, 6),
            send(1),
            again(1, 4),
            again(0, 2),
            Step::Pause(Pause::NONE),
        ];
        let scenarios = from_steps(steps);
        assert!(scenarios.are_sound());
        assert_eq!(
            scenarios.extent(),
            Extent {
                steps: 2 + 3 * 3 + 6 * 2 + 2,
                requests: 1 + 3 + 3 * 2 * 2,
                variables: 5,
                counters: 2,
            }
        );
        let endless = from_steps(vec![
            repeat(0, u32::MAX, 4),
            repeat(1, u32::MAX, 3),
            again(1, 2),
            again(0, 1),
        ]);
        assert!(endless.extent().steps > STEPS_MAX);
    }

    #[test]
    fn jumps_that_could_go_round_in_circles_are_refused() {
        for steps in [
            vec![Step::Jump(0)],
            vec![send(0), Step::Jump(1)],
            vec![Step::Jump(9)],
            vec![again(0, 0)],
            vec![send(0), again(0, 1)],
            vec![repeat(0, 2, 2), send(0)],
            vec![repeat(0, 2, 2), again(1, 1)],
            vec![repeat(0, 2, 9), again(0, 1)],
        ] {
            assert!(!from_steps(steps.clone()).are_sound(), "{steps:?}");
        }
        let none = Scenarios::new(vec![send(0)], vec![0], Choice::InTurn);
        assert!(!none.are_sound(), "it has no end");
        let nowhere = Scenarios::new(vec![Step::End], vec![1], Choice::InTurn);
        assert!(!nowhere.are_sound(), "it begins nowhere");
    }

    #[test]
    fn iterations_begin_where_their_arrivals_say() {
        let steps = vec![
            send(0),
            Step::End,
            Step::Until(Nanos(1)),
            Step::AtLeast(Nanos(1)),
            send(0),
            Step::End,
        ];
        let choice = Choice::blocks(&[2, 1], 10).expect("a cycle");
        let both = Scenarios::new(steps, vec![0, 2], choice);
        let starts: Vec<u32> = (0..4).map(|arrival| both.start(arrival, 0)).collect();
        assert_eq!(starts, [0, 0, 2, 0]);
        assert_eq!((both.round(), both.begin_with_requests()), (3, false));
        assert_eq!(both.first_request(2), Some(0));
        assert!(from_steps(vec![send(0)]).begin_with_requests());
    }
}
