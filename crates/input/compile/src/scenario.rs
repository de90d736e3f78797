//! Compiles the steps of scenarios to a program: conditions and loops become jumps.
//!
//! ```text
//!   if C            If C else ─┐       repeat N        Repeat counter, N, end ─┐
//!     A             A          │         A             A ◄──┐                  │
//!   else            Jump ──┐   │         until C       If C else ─┐            │
//!     B             B ◄────┼───┘                       Jump end   │            │
//!                   … ◄────┘                           Again ◄────┘ (to A)     │
//!                                                      … ◄─────────────────────┘
//! ```
//!
//! A program is a flat list of steps. The state of a user is a position in this list and a counter
//! per loop. All scenarios of a pool are in one list, each ends with [`Step::End`], and
//! [`Scenarios`] contains the start of each. [`ScenarioBuilder`] writes a jump before its destination is
//! known, and sets the destination when the builder reaches it.
//!
//! Templates are compiled in the order of the steps. A step may read the variables that earlier
//! steps set, on any path to the step.
//!
//! Every loop is bounded before the run: the steps of the longest path through a scenario are added
//! up, and a path that is too long is refused. A number of passes that a template computes counts
//! with its maximum. No iteration of a plan can therefore run forever.

use crate::ammo::refuse_step;
use crate::made::Made;
use crate::scope::Scope;
use crate::template_scope::TemplateScope;
use drumfire_data::{SetValue, StepCondition};
use drumfire_document::Layer as _;
use drumfire_document::{
    Ask, Branch, Count, Loop, Pool, Request, RequestStep, Scenario as WrittenScenario,
    Step as Written, Text,
};
use drumfire_plan::{
    Choice, CounterId, GIVEN_PASSES_MAX, OnFailure, Passes, Pause, Program, Retry, STEPS_MAX,
    Scenarios, Shares, Step,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The maximum sum of weights, divided by their greatest common divisor, for which a cycle of
/// choices is kept in memory. Drawn choices have no such bound.
const CYCLE_MAX: u64 = 100_000;
/// The maximum number of retries of a failed request. A retry is load, and unbounded retries would
/// hide a target that is down.
const RETRIES_MAX: u32 = 100;
/// The maximum depth of conditions and loops, because the builder recurses.
const NESTED_MAX: u32 = 16;

/// The program of a pool, with its requests. A program refers to requests by their index in `made`,
/// so both must be kept together until the plan is made.
pub(crate) struct Scenario {
    pub(crate) made: Made,
    pub(crate) program: Program,
}

/// Builds the program of a pool's scenarios. `add` compiles the request of a step and adds it to
/// the requests made so far; its templates may read values that earlier steps set.
///
/// All variables of all scenarios are declared before any step is built, because a template of one
/// step may contain a variable that another step sets. Each scenario then begins with a copy of
/// that state, so no scenario reads values that another one set. If all requests of a scenario have
/// mistakes, the program is a default one. It never runs, because mistakes were noted.
pub(crate) fn scenario(
    pool: &Pool,
    mut templates: TemplateScope,
    scope: &mut Scope<'_>,
    add: impl FnMut(&Request, &TemplateScope, &mut Made, &mut Scope<'_>),
) -> Scenario {
    check(pool, scope);
    let place = pool.place("scenario").unwrap_or(&pool.name.place);
    let single = WrittenScenario {
        name: Text::new(pool.name.value.clone(), place.clone()),
        weight: None,
        steps: pool.scenario.clone(),
    };
    let written = match pool.scenarios.as_slice() {
        [] => std::slice::from_ref(&single),
        several => several,
    };
    for scenario in written {
        templates.declare(&scenario.steps, scope);
    }
    let mut builder = ScenarioBuilder {
        add,
        made: Made::default(),
        steps: Vec::new(),
        counters: 0,
        nested: 0,
        has_connect: false,
        scope,
    };
    let (mut starts, mut is_sound) = (Vec::new(), true);
    // The scenario of each request.
    let mut chosen = Vec::new();
    for (scenario, number) in written.iter().zip(0..) {
        starts.push(builder.place());
        let first = builder.made.requests.len();
        builder.has_connect = false;
        builder.steps(&scenario.steps, &mut templates.clone());
        builder.steps.push(Step::End);
        let message = "there is nothing to send; give at least one request";
        // If the scenario has requests and none could be made, a mistake was noted.
        let silent = scenario.steps.iter().all(|step| step.requests().is_empty());
        let found = &mut builder.scope.found;
        found.add_if(silent, &scenario.name.place, message);
        is_sound &= builder.made.requests.len() > first;
        chosen.resize(builder.made.requests.len(), number);
    }
    let ScenarioBuilder {
        mut made, steps, ..
    } = builder;
    let weights: Vec<Option<&Count>> = written.iter().map(|one| one.weight.as_ref()).collect();
    let choice = choice(&weights, pool.mix.as_ref(), scope);
    made.settle(&choice, &chosen, scope);
    let mut scenarios = Scenarios::new(steps, starts, choice);
    if let [_, _, ..] = written {
        let names = written.iter().map(|one| one.name.value.as_str().into());
        scenarios = scenarios.with_names(names.collect());
    }
    let message = "an iteration would run more than 1,000,000 steps; reduce the repetitions";
    let long = scenarios.extent().steps > STEPS_MAX;
    scope.found.add_if(long, &written[0].name.place, message);
    let program = match is_sound {
        true => Program::Steps(Arc::new(scenarios)),
        // All mistakes of the scenario were noted. A default program keeps the plan's check from
        // noting a missing program.
        false => Program::default(),
    };
    Scenario { made, program }
}

/// Notes a pool with two descriptions of its users' steps. One of them is still compiled, so that
/// its mistakes are found too.
fn check(pool: &Pool, scope: &mut Scope<'_>) {
    let first = pool.place("scenario").or_else(|| pool.place("scenarios"));
    if let (Some(first), false) = (first, pool.requests.is_empty()) {
        let message =
            "a pool has either `requests` or a `scenario`; move one of them to another pool";
        scope.found.add(first, message);
    }
    if let (Some(first), Some(_)) = (pool.place("scenarios"), pool.scenario.first()) {
        let message = "a pool has either `scenario` or `scenarios`; move the `scenario` to the \
                       `scenarios`, under a name";
        scope.found.add(first, message);
    }
}

/// The choice among a list of weighted requests or scenarios: spread evenly over a cycle, in
/// blocks, or drawn at random. Without weights, they take turns.
pub(crate) fn choice(
    weights: &[Option<&Count>],
    mix: Option<&Text>,
    scope: &mut Scope<'_>,
) -> Choice {
    let words = [("spread", 0), ("blocks", 1), ("random", 2)];
    let mix = scope.word(mix, &words, "mix").unwrap_or(0);
    let Some(first) = weights.iter().copied().flatten().next() else {
        let equal = vec![1; weights.len()];
        return match Shares::new(&equal).filter(|_| mix == 2) {
            Some(shares) => Choice::Drawn(shares),
            None => Choice::InTurn,
        };
    };
    let numbers: Vec<u64> = weights
        .iter()
        .map(|weight| weight.map_or(1, |weight| weight.value))
        .collect();
    let choice = match mix {
        0 => Choice::spread(&numbers, CYCLE_MAX),
        1 => Choice::blocks(&numbers, CYCLE_MAX),
        _ => Shares::new(&numbers).map(Choice::Drawn),
    };
    choice.unwrap_or_else(|| {
        let message = match numbers.iter().all(|weight| *weight == 0) {
            true => "every weight is 0, so nothing is sent".to_owned(),
            false => format!(
                "the weights, divided by their common divisor, add up to more than {CYCLE_MAX}; \
                 use smaller ones, or `mix: random`"
            ),
        };
        scope.found.add(&first.place, message);
        Choice::InTurn
    })
}

/// Builds the program from the steps of scenarios.
///
/// A step is written at its final index. Only forward jumps are written with destination 0, which
/// is set later. The random values of a step follow from its index, so they depend on the position
/// in the document and not on the path of a user.
struct ScenarioBuilder<'a, 's, Add> {
    /// Compiles a step's request and adds it to the requests made so far.
    add: Add,
    made: Made,
    steps: Vec<Step>,
    /// The number of loops so far; each has a separate counter.
    counters: u16,
    /// The nesting depth of the current steps.
    nested: u32,
    /// Whether a step of the scenario so far opens a WebSocket.
    has_connect: bool,
    scope: &'a mut Scope<'s>,
}

impl<'s, Add> ScenarioBuilder<'_, 's, Add>
where
    Add: FnMut(&Request, &TemplateScope, &mut Made, &mut Scope<'s>),
{
    /// The index of the next step.
    const fn place(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Builds steps one after the other. A step with a mistake is left out, but the variables that
    /// it would set count as set for the next step.
    fn steps(&mut self, written: &[Written], templates: &mut TemplateScope) {
        for step in written {
            match step {
                Written::Pause(text) => self.pause(text, templates),
                Written::Set(fields) => {
                    for field in fields {
                        let number = self.place();
                        if let Some((step, count)) = templates.set(field, number, self.scope) {
                            self.steps.push(step);
                            self.made.bound(count);
                        }
                    }
                }
                Written::Request(step) => self.request(step, templates),
                Written::If(branch) => {
                    let place = &branch.condition.place;
                    self.within(place, |all| all.branch(branch, templates));
                }
                Written::Repeat(repeated) => {
                    let place = &repeated.passes.place;
                    self.within(place, |all| all.repeat(repeated, templates));
                }
            }
        }
    }

    /// Builds steps one level deeper, unless that exceeds the maximum depth. Steps that are too
    /// deep are left out as a whole, and noted once.
    fn within(&mut self, place: &drumfire_document::Place, add: impl FnOnce(&mut Self)) {
        if self.nested == NESTED_MAX {
            let message = format!("steps can be nested at most {NESTED_MAX} deep");
            self.scope.found.add(place, message);
            return;
        }
        self.nested += 1;
        add(self);
        self.nested -= 1;
    }

    /// Builds a pause: a time, a law, `until` a time after the iteration's intended start, `at
    /// least` a time since it began, or a template whose value is a time or `until` a time.
    fn pause(&mut self, text: &Text, templates: &TemplateScope) {
        let pause = text.value.trim();
        if pause.contains("{{") {
            let value = templates.given(pause, self.place());
            let value = self.scope.found.ok(&text.place, value);
            self.made.bound(value.as_ref().and_then(SetValue::count));
            self.steps
                .extend(value.map(|value| Step::PauseGiven(Arc::new(value))));
            return;
        }
        let until = pause.strip_prefix("until ");
        let until = until.map(|time| (time, Step::Until as fn(Nanos) -> Step));
        let least = pause.strip_prefix("at least ");
        let least = least.map(|time| (time, Step::AtLeast as fn(Nanos) -> Step));
        let step = match until.or(least) {
            Some((time, step)) => {
                let time = self.scope.found.ok(&text.place, time.trim().parse());
                time.map(step)
            }
            None => {
                let pause: Option<Pause> = self.scope.found.parse(Some(text));
                pause.map(Step::Pause)
            }
        };
        self.steps.extend(step);
    }

    /// Notes a step on a WebSocket that no earlier step of the scenario opens.
    fn connect(&mut self, ask: &Ask) {
        let Ask::Socket(socket) = ask else {
            return;
        };
        self.has_connect |= socket.connect.is_some();
        let message = "no earlier step opens a WebSocket; write one such as `connect: /chat`";
        let found = &mut self.scope.found;
        found.add_if(!self.has_connect, &ask.text().place, message);
    }

    /// Builds a step that sends a request. A step whose request has mistakes is left out.
    fn request(&mut self, step: &RequestStep, templates: &mut TemplateScope) {
        let next = self.made.requests.len();
        self.connect(&step.request.ask);
        refuse_step(&step.request.ask, self.scope);
        if let Ask::List { file, .. } = &step.request.ask {
            let message = "a list of URLs can't be a step; write its requests one by one";
            self.scope.found.add(&file.place, message);
        } else {
            (self.add)(&step.request, templates, &mut self.made, self.scope);
        }
        if let Some(weight) = &step.request.weight {
            let message = "steps run in order and can't have weights; use weights in `scenarios`";
            self.scope.found.add(&weight.place, message);
        }
        let takes = templates.declare_taken(&step.request.take);
        let usual = match step.request.ask {
            // After a failure, the messages of a conversation do not fit any more.
            Ask::Socket(_) => OnFailure::EndIteration,
            _ => OnFailure::default(),
        };
        let (retry, on_failure) = on_failure(step.on_fail.as_ref(), usual, self.scope);
        if self.made.requests.len() > next {
            self.steps.push(Step::Request {
                request: next as u32,
                retry,
                on_failure,
                takes,
            });
        }
    }

    /// Builds a condition, its steps, and its `else` steps. Both branches begin with the same
    /// variables and join at the end.
    ///
    /// A jump over the `else` steps is written only if there are any.
    fn branch(&mut self, branch: &Branch, templates: &mut TemplateScope) {
        let asked = self.ask(&branch.condition, templates);
        let mut also = templates.clone();
        self.steps(&branch.steps, templates);
        let jump = self.steps.len();
        if !branch.otherwise.is_empty() {
            self.steps.push(Step::Jump(0));
        }
        self.jump_here(asked);
        self.steps(&branch.otherwise, &mut also);
        if !branch.otherwise.is_empty() {
            self.steps[jump] = Step::Jump(self.place());
        }
        templates.join(&also);
    }

    /// Adds the test of a condition, whose jump is not known yet. Returns the index of the test
    /// unless the condition has a mistake. The caller sets the jump with [`Self::jump_here`] when it
    /// has reached the place.
    fn ask(&mut self, text: &Text, templates: &TemplateScope) -> Option<usize> {
        let place = self.place();
        let condition = StepCondition::compile(&text.value, place, &templates.for_values());
        let condition = self.scope.found.ok(&text.place, condition)?;
        let tried = templates.try_condition(&condition, &text.place);
        self.scope.found.ok(&text.place, tried)?;
        self.made.bound(condition.count());
        self.steps.push(Step::If {
            condition: Arc::new(condition),
            otherwise: 0,
        });
        Some(place as usize)
    }

    /// Makes a failed test continue at the next step. `None` means that the condition had a
    /// mistake, and then nothing is set.
    fn jump_here(&mut self, asked: Option<usize>) {
        let place = self.place();
        let step = asked.and_then(|at| self.steps.get_mut(at));
        if let Some(Step::If { otherwise, .. }) = step {
            *otherwise = place;
        }
    }

    /// Builds a loop: its number of passes, its steps, and the condition that ends it early.
    ///
    /// The loop's first step is written twice: at the beginning to reserve its index, and again
    /// when the end is known. The condition comes after the steps, because it usually tests a value
    /// from a response of this pass. If it holds, the loop ends without counting another pass.
    fn repeat(&mut self, repeated: &Loop, templates: &mut TemplateScope) {
        let counter = CounterId(self.counters);
        self.counters = self.counters.saturating_add(1);
        let opens = self.steps.len();
        let passes = self.passes(&repeated.passes, templates);
        let index = repeated.index.as_ref();
        let index = index.and_then(|name| templates.count(name));
        self.steps.push(Step::Repeat {
            counter,
            passes: Passes::Fixed(0),
            index,
            end: 0,
        });
        let start = self.place();
        self.steps(&repeated.steps, templates);
        let until = repeated.until.as_ref();
        let asked = until.and_then(|text| self.ask(text, templates));
        let leaves = asked.map(|_| {
            self.steps.push(Step::Jump(0));
            self.steps.len() - 1
        });
        self.jump_here(asked);
        self.steps.push(Step::Again {
            counter,
            index,
            start,
        });
        let end = self.place();
        if let Some(at) = leaves {
            self.steps[at] = Step::Jump(end);
        }
        self.steps[opens] = Step::Repeat {
            counter,
            passes,
            index,
            end,
        };
    }

    /// The number of passes of a loop: fixed, or computed by a template in each iteration.
    fn passes(&mut self, text: &Text, templates: &TemplateScope) -> Passes {
        if let Ok(passes) = text.value.trim().parse() {
            return Passes::Fixed(passes);
        }
        if text.value.contains("{{") {
            let value = templates.given(&text.value, self.place());
            let value = self.scope.found.ok(&text.place, value);
            self.made.bound(value.as_ref().and_then(SetValue::count));
            return value.map_or(Passes::Fixed(0), |value| Passes::Given(Arc::new(value)));
        }
        let shown = text.value.escape_debug();
        let message = format!(
            "`{shown}` is not a number of repetitions; write a number such as 3, or a template \
             whose value is a number, at most {GIVEN_PASSES_MAX}"
        );
        self.scope.found.add(&text.place, message);
        Passes::Fixed(0)
    }
}

/// The consequence of a request's failure for its iteration, such as `retry(2,1s) end_iteration`;
/// the default has no effect. The iteration continues after a failure unless the text sets another
/// consequence, also after retries that failed.
fn on_failure(
    written: Option<&Text>,
    usual: OnFailure,
    scope: &mut Scope<'_>,
) -> (Retry, OnFailure) {
    let Some(text) = written else {
        return (Retry::default(), usual);
    };
    let (retry, then) = match text.value.trim().strip_prefix("retry") {
        Some(rest) => match rest.trim_start().split_once(')') {
            Some((inside, then)) => (Some(inside), then.trim()),
            None => (Some(rest), ""),
        },
        None => (None, text.value.trim()),
    };
    let retry = retry.map(|inside| retry_of(inside.trim_start().strip_prefix('(')));
    let on_failure = match then {
        "continue" => Some(OnFailure::Continue),
        "" if retry.is_some() => Some(OnFailure::Continue),
        "end_iteration" => Some(OnFailure::EndIteration),
        "stop_user" => Some(OnFailure::StopUser),
        _ => None,
    };
    match (retry.unwrap_or_else(|| Some(Retry::default())), on_failure) {
        (Some(retry), Some(on_failure)) => (retry, on_failure),
        _ => {
            let shown = text.value.escape_debug();
            let message = format!(
                "unknown action `{shown}`; use continue, end_iteration or stop_user, optionally \
                 after retry(TIMES) or retry(TIMES,REST) with at most {RETRIES_MAX} times, such as \
                 retry(2,500ms) end_iteration"
            );
            scope.found.add(&text.place, message);
            Default::default()
        }
    }
}

/// Parses the number of retries and the rest before each, such as `2` or `2,500ms`. Returns `None`
/// if the text is invalid or exceeds the maximum number of retries. Without a rest, the request is
/// sent again immediately.
fn retry_of(inside: Option<&str>) -> Option<Retry> {
    let inside = inside?;
    let (times, rest) = match inside.split_once(',') {
        Some((times, rest)) => (times, rest.trim().parse().ok()?),
        None => (inside, Nanos::ZERO),
    };
    let times = times.trim().parse().ok()?;
    (1..=RETRIES_MAX)
        .contains(&times)
        .then_some(Retry { times, rest })
}
