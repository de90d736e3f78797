//! Programs: the steps of one iteration of a user.
//!
//! Steps lie in one list, and a place in it is a number. Conditions and loops are jumps: an `If`
//! skips what follows it, a `Repeat` stands before the steps that it repeats and an `Again` behind
//! them, which goes back to the first of them as long as passes are left. All other jumps lead
//! forward, so that every iteration ends.

use crate::{Choice, Condition, Pause, Value, VariableId};
use drumfire_units::Nanos;
use std::sync::Arc;

/// How often steps are repeated at most whose number of passes is computed.
pub const GIVEN_PASSES_MAX: u32 = 1_000;
/// How many steps an iteration may go through, all its loops unrolled: those between two requests
/// are gone through at once.
pub const STEPS_MAX: u64 = 1_000_000;

/// The steps of one iteration of a user.
#[derive(Clone, Debug)]
pub enum Program {
    /// One request of the pool's list, which the arrival's number chooses.
    Requests(Choice),
    /// The steps of a scenario.
    Steps(Arc<Scenarios>),
}

/// The steps of all scenarios of a pool, one behind the other, each with an [`Step::End`].
#[derive(Clone, Debug)]
pub struct Scenarios {
    steps: Vec<Step>,
    /// Where each scenario begins.
    starts: Vec<u32>,
    /// What each is called, where there are several.
    names: Vec<Arc<str>>,
    /// Which one an arrival takes.
    choice: Choice,
    extent: Extent,
}

/// How much the iterations of scenarios need at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// How many steps an iteration goes through.
    pub steps: u64,
    /// How many requests it sends.
    pub requests: u64,
    /// How many variables the steps set or take.
    pub variables: usize,
    /// How many counters the loops have.
    pub counters: usize,
}

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends a request, and waits for the exchange's end.
    Request {
        /// Its number in the pool's list, from 0.
        request: u32,
        /// Whether it is sent again when it has failed.
        retry: Retry,
        /// What its failure means for the iteration.
        on_failure: OnFailure,
        /// The variables whose values are taken from its response. When it has failed, those have
        /// none.
        takes: Arc<[VariableId]>,
    },
    /// Waits.
    Pause(Pause),
    /// Waits until this long after the iteration's intended start.
    Until(Nanos),
    /// Waits until the iteration has lasted this long, from when its user began it.
    AtLeast(Nanos),
    /// Keeps a value for later steps of the iteration.
    Set {
        /// Where.
        variable: VariableId,
        /// The value.
        value: Arc<dyn Value>,
    },
    /// Goes on behind it where a condition holds, and elsewhere where it does not.
    If {
        /// The condition.
        condition: Arc<dyn Condition>,
        /// Where else; behind it.
        otherwise: u32,
    },
    /// Goes on elsewhere, behind it.
    Jump(u32),
    /// Repeats the steps behind it.
    Repeat {
        /// Its counter, of which no other loop around it is.
        counter: CounterId,
        /// How often.
        passes: Passes,
        /// The variable that counts the passes, from 0.
        index: Option<VariableId>,
        /// Where it goes on when there is no pass; behind its [`Step::Again`].
        end: u32,
    },
    /// Ends a pass of the loop with this counter, and begins the next where one is left.
    Again {
        /// The loop's counter.
        counter: CounterId,
        /// The variable that counts the passes.
        index: Option<VariableId>,
        /// Where a pass begins; behind its [`Step::Repeat`].
        start: u32,
    },
    /// Ends the iteration.
    End,
}

/// A place among the counters of an iteration's loops, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterId(pub u16);

/// How often the steps of a loop are gone through.
#[derive(Clone, Debug)]
pub enum Passes {
    /// This often.
    Fixed(u32),
    /// As a value says, up to [`GIVEN_PASSES_MAX`].
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

/// Whether a request that has failed is sent again: a request of its own, with an outcome of its
/// own. The iteration has failed only where the last one has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retry {
    /// How often at most.
    pub times: u32,
    /// How long after the failure.
    pub rest: Nanos,
}

/// What the failure of a request means for its iteration, which has failed in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The next step follows.
    #[default]
    Continue,
    /// The iteration is over.
    EndIteration,
    /// The iteration is over, and its user begins no other.
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

    /// The names of its scenarios, where there are several.
    #[must_use]
    pub fn scenario_names(&self) -> &[Arc<str>] {
        self.scenarios().map_or(&[], |scenarios| scenarios.names())
    }

    /// The scenarios; `None` where an iteration is one request.
    #[must_use]
    pub fn scenarios(&self) -> Option<&Arc<Scenarios>> {
        match self {
            Self::Requests(_) => None,
            Self::Steps(scenarios) => Some(scenarios),
        }
    }

    /// How many arrivals go through a list of `requests` once; 1 where an iteration has steps.
    #[must_use]
    pub fn round(&self, requests: usize) -> u64 {
        match self {
            Self::Requests(choice) => choice.round(requests as u64),
            Self::Steps(_) => 1,
        }
    }

    /// Whether an iteration is something else than one request, with books of its own.
    #[must_use]
    pub const fn has_steps(&self) -> bool {
        matches!(self, Self::Steps(_))
    }
}

impl Scenarios {
    /// Scenarios that begin at these places of a list of steps, of which an arrival chooses one.
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

    /// The same with a name for each, under which its iterations are reported.
    #[must_use]
    pub fn with_names(self, names: Vec<Arc<str>>) -> Self {
        Self { names, ..self }
    }

    /// What each is called; empty where they have no names.
    #[must_use]
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The steps of all.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Where each begins.
    #[must_use]
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Which one an arrival takes.
    #[must_use]
    pub const fn choice(&self) -> &Choice {
        &self.choice
    }

    /// How much their iterations need at most.
    #[must_use]
    pub const fn extent(&self) -> Extent {
        self.extent
    }

    /// Which scenario an arrival takes, from 0.
    #[must_use]
    pub fn which(&self, arrival: u64, seed: u64) -> u32 {
        self.choice.of(arrival, self.starts.len() as u64, seed)
    }

    /// Where the iteration of an arrival begins.
    #[must_use]
    pub fn start(&self, arrival: u64, seed: u64) -> u32 {
        self.starts[self.which(arrival, seed) as usize]
    }

    /// After how many arrivals it recurs where they begin.
    #[must_use]
    pub fn round(&self) -> u64 {
        self.choice.round(self.starts.len() as u64)
    }

    /// The request that comes first in an iteration from this place on, whatever comes before it.
    #[must_use]
    pub fn first_request(&self, start: u32) -> Option<u32> {
        let steps = self.steps.iter().skip(start as usize);
        let mut steps = steps.take_while(|step| !matches!(step, Step::End));
        steps.find_map(|step| match step {
            Step::Request { request, .. } => Some(*request),
            _ => None,
        })
    }

    /// Whether the first request of every iteration is due together with it: nothing but values
    /// comes before.
    #[must_use]
    pub fn begin_with_requests(&self) -> bool {
        self.starts.iter().all(|start| {
            let mut steps = self.steps.iter().skip(*start as usize);
            let first = steps.find(|step| !matches!(step, Step::Set { .. }));
            matches!(first, Some(Step::Request { .. }))
        })
    }

    /// Steps and requests with all loops unrolled and both ways of each condition, and the highest
    /// numbers of variables and counters.
    fn measured(&self) -> Extent {
        let mut all = Extent::default();
        let mut of_scenario = (0_u64, 0_u64);
        // Where the loops around a step end, and how often it is gone through within each.
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

    /// Whether every jump leads where it may, so that every iteration ends.
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

    /// Whether the step before a place ends the passes of a loop that begin at `start`.
    fn closes(&self, end: u32, start: u32, counter: CounterId) -> bool {
        let last = self.steps.get(end as usize - 1);
        matches!(last, Some(Step::Again { counter: of, start: at, .. })
            if *of == counter && *at == start)
    }

    /// Whether the step before a place begins the loop with this counter.
    fn opens(&self, start: u32, counter: CounterId) -> bool {
        let before = start.checked_sub(1);
        let before = before.and_then(|place| self.steps.get(place as usize));
        matches!(before, Some(Step::Repeat { counter: of, .. }) if *of == counter)
    }
}

impl Step {
    /// The variables that it gives values.
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

    fn of(steps: Vec<Step>) -> Arc<Scenarios> {
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
        let scenarios = of(steps);
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
        let endless = of(vec![
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
            assert!(!of(steps.clone()).are_sound(), "{steps:?}");
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
        assert!(of(vec![send(0)]).begin_with_requests());
    }
}
