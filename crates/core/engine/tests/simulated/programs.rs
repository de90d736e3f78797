//! Iterations of several steps: their times, the values that their users keep, and their books.
//! Every run is checked for a balance of the books of both levels.

use crate::{failures, ms, run, secs};
use drumfire_measure::{Counts, Outcome};
use drumfire_plan::{
    Affinity, Choice, Condition, CounterId, DataError, Drain, LatePolicy, Load, OnFailure, Passes,
    Pause, Program, Random, RenderedFields, RequestContext, RequestData, Retry, Scenarios, Step,
    UserSteps, Value, ValueForm, VariableId, Varying,
};
use drumfire_testkit::{
    Answer, Draft, Http2Behaviour, Law, Reply, Server, Simulated, Simulation, World, closed, open,
};
use drumfire_units::Nanos;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const KEPT: VariableId = VariableId(0);

/// The user and its iteration, with a random number of the iteration.
#[derive(Debug)]
struct Name;

impl Value for Name {
    fn render(&self, request: &RequestContext, out: &mut String) -> Result<ValueForm, DataError> {
        let RequestContext {
            user, iteration, ..
        } = request;
        let drawn = Random::new(request.seed, u64::from(*user), *iteration, 0).bits();
        out.push_str(&format!("u{user} i{iteration} {drawn:x}"));
        Ok(ValueForm::Text)
    }
}

/// A value that can't be computed.
#[derive(Debug)]
struct Missing;

impl Value for Missing {
    fn render(&self, _: &RequestContext, out: &mut String) -> Result<ValueForm, DataError> {
        out.push_str("half");
        Err(DataError::new("no row"))
    }
}

/// Fields with the user's own kept value, and with the numbers of the request and its arrival.
#[derive(Debug)]
struct Kept;

impl RequestData for Kept {
    fn varying(&self) -> Varying {
        Varying {
            fields: true,
            ..Varying::default()
        }
    }

    fn fields(&self, request: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        let variables = request.variables.as_ref().expect("the program sets one");
        out.push("kept", variables.get(KEPT)?)?;
        out.push("own", &format!("u{} i{}", request.user, request.iteration))?;
        out.push("number", &format!("{} {}", request.arrival, request.number))
    }

    fn message(&self, _: &RequestContext, _: u64, _: &mut Vec<u8>) -> Result<(), DataError> {
        Ok(())
    }
}

pub(crate) fn send(request: u32) -> Step {
    Step::Request {
        request,
        retry: Retry::default(),
        on_failure: OnFailure::Continue,
        takes: Arc::default(),
    }
}

fn pause(time: Nanos) -> Step {
    Step::Pause(Pause::Even {
        from: time,
        to: time,
    })
}

fn set(value: impl Value + 'static) -> Step {
    Step::Set {
        variable: KEPT,
        value: Arc::new(value),
    }
}

/// A plan of steps that send to `/a`, `/b` and `/c`.
pub(crate) fn of_steps(plan: Draft, steps: Vec<Step>) -> Draft {
    plan.to(&["http://sut/a", "http://sut/b", "http://sut/c"])
        .with(|pool| pool.program = Program::of_steps(steps))
}

/// A, a pause of 20 ms, B, a pause of 30 ms, C.
fn shop(plan: Draft) -> Draft {
    let (short, long) = (pause(ms(20)), pause(ms(30)));
    of_steps(plan, vec![send(0), short, send(1), long, send(2)])
}

/// A world whose server takes ten milliseconds for each request.
fn world() -> World {
    World::new(Server::new().takes(Law::Const(ms(10)))).keeps_requests()
}

fn iterations(result: &Simulated) -> &Counts {
    let iterations = result.summary.total.iterations.as_ref();
    &iterations.expect("the program has steps").counts
}

/// The time and the path of each request that a server saw, in milliseconds.
fn seen(result: &Simulated) -> Vec<(u64, &str)> {
    let seen = result.log.seen.iter().map(|request| {
        let path = request.head.split(' ').nth(1).expect("a request line");
        (request.at.0 / 1_000_000, path)
    });
    let mut seen: Vec<_> = seen.collect();
    seen.sort_unstable();
    seen
}

/// The values in the requests of each iteration, by user and iteration.
fn kept(result: &Simulated) -> BTreeMap<String, Vec<String>> {
    let mut kept: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for request in &result.log.seen {
        let field = |name: &str| {
            let mut lines = request.head.lines();
            let value = lines.find_map(|line| line.strip_prefix(name));
            value.expect("a field").trim().to_owned()
        };
        kept.entry(field("own:")).or_default().push(field("kept:"));
    }
    kept
}

#[test]
fn a_users_steps_follow_each_other_at_their_times() {
    let result = run(shop(closed(1).iterations(3)), world());
    failures(&result.summary, &[]);
    let one = [(0, "/a"), (30, "/b"), (70, "/c")];
    let all = (0..3).flat_map(|n| one.map(|(at, path)| (80 * n + at, path)));
    assert_eq!(seen(&result), all.collect::<Vec<_>>());
    let counts = iterations(&result);
    assert_eq!((counts.intended, counts.sent, counts.ok), (3, 3, 3));
    assert_eq!(result.summary.total.counts.ok, 9);
    let list = result.summary.total.iterations.as_ref().expect("steps");
    assert_eq!(list.time.max(), ms(80));
    assert_eq!(result.summary.total.latency.lag.max(), ms(0));
    assert_eq!(result.summary.duration, ms(240));
}

#[test]
fn arrivals_begin_iterations_whatever_the_pauses_of_others() {
    for threads in [1, 2, 3] {
        let plan = shop(open("const(50/s,1s)").connections(6).threads(threads));
        let result = run(plan, world());
        failures(&result.summary, &[]);
        let starts = seen(&result);
        let starts = starts.iter().filter(|(_, path)| *path == "/a");
        let due: Vec<u64> = (0..50).map(|n| 20 * n).collect();
        assert_eq!(starts.map(|(at, _)| *at).collect::<Vec<_>>(), due);
        assert_eq!(result.summary.total.counts.ok, 150);
        assert_eq!(iterations(&result).ok, 50);
        let list = result.summary.total.iterations.as_ref().expect("steps");
        assert_eq!((list.time.min(), list.time.max()), (ms(80), ms(80)));
        assert_eq!(result.summary.total.latency.response_time.max(), ms(10));
        assert_eq!(result.summary.total.latency.waiting.max(), ms(0));
    }
}

#[test]
fn a_program_may_begin_with_a_pause() {
    let steps = || vec![pause(ms(5)), send(0), pause(ms(5)), send(1), pause(ms(5))];
    for plan in [open("const(10/s,1s)"), closed(1).iterations(10)] {
        let is_open = matches!(plan.load, Load::Open { .. });
        let period = if is_open { 100 } else { 35 };
        let result = run(of_steps(plan, steps()), world());
        failures(&result.summary, &[]);
        let both = (0..10).flat_map(|n| [(period * n + 5, "/a"), (period * n + 20, "/b")]);
        assert_eq!(seen(&result), both.collect::<Vec<_>>());
        assert_eq!(iterations(&result).ok, 10);
        let list = result.summary.total.iterations.as_ref().expect("steps");
        assert_eq!((list.time.min(), list.time.max()), (ms(35), ms(35)));
        assert_eq!(result.summary.total.counts.intended, 20);
    }
}

#[test]
fn four_users_on_any_threads_keep_values_of_their_own() {
    let steps = || vec![set(Name), send(0), pause(ms(20)), send(1), send(2)];
    let of_threads = |threads, affinity| {
        let plan = of_steps(closed(4).threads(threads).iterations(40), steps()).with(|pool| {
            pool.connections.affinity = affinity;
            for request in &mut pool.requests {
                request.data = Some(Arc::new(Kept));
            }
        });
        let result = run(plan, world());
        failures(&result.summary, &[]);
        kept(&result)
    };
    let one = of_threads(1, Affinity::Shared);
    assert_eq!(one.len(), 40, "ten iterations of each of four users");
    for (own, values) in &one {
        assert_eq!(values.len(), 3, "{own}");
        assert!(
            values[0].starts_with(&format!("{own} ")),
            "{own}: {values:?}"
        );
        assert!(values.iter().all(|value| *value == values[0]), "{own}");
    }
    for (threads, affinity) in [
        (2, Affinity::Shared),
        (4, Affinity::User),
        (2, Affinity::User),
    ] {
        assert_eq!(of_threads(threads, affinity), one, "{threads} threads");
    }
}

#[test]
fn requests_of_an_iteration_share_its_arrivals_number() {
    let steps = vec![set(Name), send(0), send(1)];
    let plan = of_steps(open("const(100/s,100ms)").threads(2), steps).with(|pool| {
        for request in &mut pool.requests {
            request.data = Some(Arc::new(Kept));
        }
    });
    let result = run(plan.connections(4), world());
    let numbers = result.log.seen.iter().map(|request| {
        let mut lines = request.head.lines();
        let value = lines.find_map(|line| line.strip_prefix("number: "));
        value.expect("a field").to_owned()
    });
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable();
    let all = (0..10).flat_map(|n| [format!("{n} {}", 2 * n), format!("{n} {}", 2 * n + 1)]);
    let mut all: Vec<_> = all.collect();
    all.sort_unstable();
    assert_eq!(numbers, all);
}

#[test]
fn a_value_that_cannot_be_computed_fails_the_requests_that_read_it() {
    let plan = of_steps(
        closed(1).iterations(4),
        vec![set(Missing), send(0), send(1)],
    );
    let plan = plan.with(|pool| pool.requests[1].data = Some(Arc::new(Kept)));
    let result = run(plan, world());
    failures(&result.summary, &[(Outcome::BadData, 4)]);
    assert_eq!(result.summary.total.counts.ok, 4);
    assert_eq!(iterations(&result).failed, 4);
}

#[test]
fn iterations_that_have_begun_go_before_arrivals() {
    let plan = of_steps(
        closed(3).connections(1).iterations(3),
        vec![send(0), send(1)],
    );
    let result = run(plan, world());
    failures(&result.summary, &[]);
    let right = [
        (0, "/a"),
        (10, "/b"),
        (20, "/a"),
        (30, "/b"),
        (40, "/a"),
        (50, "/b"),
    ];
    assert_eq!(seen(&result), right);
    // The third user waited for both others.
    assert_eq!(result.summary.total.latency.waiting.max(), ms(40));
}

#[test]
fn a_pause_holds_no_connection() {
    let steps = vec![send(0), pause(ms(10)), send(1), pause(ms(10))];
    let plan = of_steps(closed(2).connections(1).lasts(ms(400)), steps);
    let result = run(plan, world());
    failures(&result.summary, &[]);
    // Two users take turns: one pauses while the other's request is in progress.
    assert_eq!(result.summary.total.counts.ok, 40);
    assert_eq!(result.log.connections, 1);
}

#[test]
fn steps_go_to_several_targets() {
    let world = World::new(Server::new().takes(Law::Const(ms(10))))
        .host("10.0.0.2:80", Server::new().takes(Law::Const(ms(30))))
        .name("other", &["10.0.0.2:80"])
        .keeps_requests();
    let plan = closed(2)
        .connections(1)
        .lasts(ms(400))
        .to(&["http://sut/a", "http://other/b"])
        .with(|pool| pool.program = Program::of_steps(vec![send(0), send(1)]));
    let result = run(plan, world);
    failures(&result.summary, &[]);
    let steps = &result.summary.total.steps;
    let counts = steps.iter().map(|step| step.counts.ok);
    // The slower target has one connection, which is never idle after the first request.
    assert_eq!(counts.collect::<Vec<_>>(), [14, 14]);
}

#[test]
fn a_failed_request_ends_its_iteration_where_the_plan_says_so() {
    let server = || {
        Server::new()
            .takes(Law::Const(ms(10)))
            .answers(|request| match request.target() {
                "/b" => Answer::status(500),
                _ => Answer::ok(),
            })
    };
    for (on_failure, sent) in [(OnFailure::Continue, 30), (OnFailure::EndIteration, 20)] {
        let strict = Step::Request {
            request: 1,
            retry: Retry::default(),
            on_failure,
            takes: Arc::default(),
        };
        let plan = of_steps(closed(2).iterations(10), vec![send(0), strict, send(2)]);
        let result = run(plan, World::new(server()));
        let counts = iterations(&result);
        assert_eq!((counts.sent, counts.ok, counts.failed), (10, 0, 10));
        assert_eq!(result.summary.total.counts.sent, sent);
        assert_eq!(result.summary.total.counts.failed, 10);
    }
}

#[test]
fn what_has_begun_when_the_time_is_over_is_finished_or_in_flight() {
    // Stopped in the first pause of the second iteration.
    let plan = |drain| shop(closed(1).lasts(ms(100))).with(|pool| pool.stop.drain = drain);
    let result = run(plan(Drain::Wait), world());
    assert_eq!(iterations(&result).ok, 2);
    assert_eq!(result.summary.total.counts.ok, 6);
    for drain in [Drain::Close, Drain::Ignore] {
        let result = run(plan(drain), world());
        let counts = iterations(&result);
        assert_eq!((counts.sent, counts.ok), (2, 1), "{drain:?}");
        assert_eq!(result.summary.total.counts.ok, 4);
        assert_eq!(result.summary.total.counts.sent, 4);
        let list = result.summary.total.iterations.as_ref().expect("steps");
        assert_eq!(list.time.count(), 2, "the one in flight counts");
    }
}

#[test]
fn what_waits_for_a_seat_at_the_end_is_pending() {
    let slow = || World::new(Server::new().takes(Law::Const(ms(400))));
    let plan = open("const(10/s,2s)").connections(1).lasts(secs(1));
    let plan = of_steps(plan, vec![send(0), send(1)]);
    let result = run(plan.with(|pool| pool.stop.drain = Drain::Ignore), slow());
    let (all, each) = (iterations(&result), &result.summary.total.counts);
    // Two requests end within a second, both in the first iteration; a third is in progress.
    assert_eq!((all.intended, all.sent, all.pending, all.ok), (10, 2, 8, 1));
    assert_eq!((each.sent, each.ok, each.pending), (3, 2, 8));
    assert_eq!(each.intended, 11);
}

#[test]
fn late_arrivals_are_dropped_in_both_books() {
    let plan = of_steps(
        open("const(100/s,1s)").connections(1),
        vec![send(0), send(1)],
    );
    let result = run(plan.late(LatePolicy::Drop(ms(0))), world());
    failures(&result.summary, &[]);
    let (all, each) = (iterations(&result), &result.summary.total.counts);
    assert_eq!((all.intended, all.sent, all.dropped), (100, 50, 50));
    assert_eq!((each.sent, each.dropped, each.intended), (100, 50, 150));
}

#[test]
fn a_warm_up_is_in_neither_book() {
    let result = run(shop(closed(1).lasts(ms(800)).warmup(ms(160))), world());
    let counts = iterations(&result);
    assert_eq!((counts.intended, counts.ok), (8, 8));
    assert_eq!(result.summary.total.counts.ok, 24);
}

#[test]
fn pauses_are_drawn_alike_whatever_the_threads() {
    let range = Step::Pause(Pause::Even {
        from: ms(10),
        to: ms(30),
    });
    let of_threads = |threads| {
        let steps = vec![send(0), range.clone(), send(1)];
        let plan = of_steps(closed(4).threads(threads).iterations(4), steps);
        seen(&run(plan, world()))
            .into_iter()
            .map(|(at, path)| (at, path.to_owned()))
            .collect::<Vec<_>>()
    };
    let one = of_threads(1);
    let late = one.iter().filter(|(_, path)| path == "/b");
    let late: Vec<u64> = late.map(|(at, _)| *at).collect();
    assert!(late.iter().all(|at| (20..=40).contains(at)), "{late:?}");
    assert!(late.windows(2).any(|pair| pair[0] != pair[1]), "{late:?}");
    assert_eq!(of_threads(2), one);
    assert_eq!(of_threads(4), one);
}

/// True in the iterations with these numbers.
#[derive(Debug)]
struct Iterations(&'static [u64]);

impl Condition for Iterations {
    fn holds(&self, request: &RequestContext) -> Result<bool, DataError> {
        match request.iteration {
            9.. => Err(DataError::new("no such iteration")),
            iteration => Ok(self.0.contains(&iteration)),
        }
    }
}

/// The number of the iteration.
#[derive(Debug)]
struct AsOften;

impl Value for AsOften {
    fn render(&self, request: &RequestContext, out: &mut String) -> Result<ValueForm, DataError> {
        out.push_str(&request.iteration.to_string());
        Ok(ValueForm::Json)
    }
}

fn unless(otherwise: u32, iterations: &'static [u64]) -> Step {
    Step::If {
        condition: Arc::new(Iterations(iterations)),
        otherwise,
    }
}

fn repeat(counter: u16, passes: Passes, end: u32) -> Step {
    Step::Repeat {
        counter: CounterId(counter),
        passes,
        index: Some(KEPT),
        end,
    }
}

fn again(counter: u16, start: u32) -> Step {
    Step::Again {
        counter: CounterId(counter),
        index: Some(KEPT),
        start,
    }
}

/// The paths of the requests that a server saw, in their order.
fn paths(result: &Simulated) -> String {
    seen(result).iter().map(|(_, path)| &path[1..]).collect()
}

#[test]
fn conditions_choose_among_steps() {
    let steps = vec![unless(3, &[1, 3]), send(0), Step::Jump(4), send(1), send(2)];
    let result = run(of_steps(closed(1).iterations(4), steps), world());
    failures(&result.summary, &[]);
    assert_eq!(paths(&result), "bcacbcac");
}

#[test]
fn a_condition_without_a_value_fails_its_iteration() {
    let steps = vec![send(0), unless(3, &[0, 1, 2, 3, 4, 5, 6, 7, 8]), send(1)];
    let result = run(of_steps(closed(1).iterations(11), steps), world());
    assert_eq!(result.summary.total.counts.ok, 11 + 9);
    let counts = iterations(&result);
    assert_eq!((counts.ok, counts.failed), (9, 2));
}

/// The texts of failures, with the number of each.
fn reasons(result: &Simulated) -> Vec<(String, u64)> {
    let errors = result.summary.total.errors().into_iter();
    errors
        .map(|row| (row.detail.to_string(), row.count))
        .collect()
}

#[test]
fn the_request_behind_a_condition_without_a_value_fails_with_the_reason() {
    let steps = vec![send(0), unless(3, &[0, 1, 2, 3, 4, 5, 6, 7, 8]), send(1)];
    let result = run(of_steps(closed(1).iterations(11), steps), world());
    failures(&result.summary, &[(Outcome::BadData, 2)]);
    assert_eq!(reasons(&result), [("no such iteration".to_owned(), 2)]);
    for step in result.summary.steps() {
        let failed = if step.name.ends_with("/b") { 2 } else { 0 };
        assert_eq!(step.counts.failed, failed, "{}", step.name);
    }
}

#[test]
fn passes_that_are_none_fail_the_request_behind_them_with_the_reason() {
    let steps = vec![
        send(0),
        repeat(0, Passes::Given(Arc::new(Name)), 4),
        send(1),
        again(0, 2),
    ];
    let result = run(of_steps(closed(1).iterations(3), steps), world());
    failures(&result.summary, &[(Outcome::BadData, 3)]);
    assert_eq!(
        (paths(&result), iterations(&result).failed),
        ("aaa".to_owned(), 3)
    );
    for (reason, _) in reasons(&result) {
        let begins = reason.starts_with("invalid `repeat` `u0 i");
        let ends = reason.ends_with("; use a number from 0 to 1000");
        assert!(begins && ends, "{reason}");
    }
}

#[test]
fn loops_go_round_as_often_as_they_say() {
    let steps = vec![
        repeat(0, Passes::Fixed(2), 6),
        send(0),
        repeat(1, Passes::Given(Arc::new(AsOften)), 5),
        send(1),
        again(1, 3),
        again(0, 1),
        send(2),
    ];
    let result = run(of_steps(closed(1).iterations(3), steps), world());
    failures(&result.summary, &[]);
    assert_eq!(paths(&result), "aacababcabbabbc");
    assert_eq!(iterations(&result).ok, 3);
}

#[test]
fn a_loop_counts_its_passes_and_draws_apart() {
    let steps = vec![
        repeat(0, Passes::Fixed(4), 4),
        send(0),
        Step::Pause(Pause::Even {
            from: ms(1),
            to: secs(1),
        }),
        again(0, 1),
    ];
    let plan = of_steps(closed(1).iterations(1), steps).with(|pool| {
        pool.requests[0].data = Some(Arc::new(Kept));
    });
    let result = run(plan, world());
    failures(&result.summary, &[]);
    assert_eq!(kept(&result)["u0 i0"], ["0", "1", "2", "3"]);
    let times: Vec<u64> = seen(&result).iter().map(|(at, _)| *at).collect();
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps[0] != gaps[1] && gaps[1] != gaps[2], "{gaps:?}");
}

#[test]
fn scenarios_have_their_shares_whatever_the_threads() {
    let steps = || {
        let of_a = [send(0), send(0), Step::End];
        let of_b = [send(1), pause(ms(1)), send(2), Step::End];
        let choice = Choice::spread(&[3, 1], 10).expect("a cycle");
        let steps: Vec<Step> = of_a.into_iter().chain(of_b).collect();
        let scenarios = Scenarios::new(steps, vec![0, 3], choice);
        let names = vec!["a twice".into(), "b and c".into()];
        Program::Steps(Arc::new(scenarios.with_names(names)))
    };
    for threads in [1, 3] {
        let plan = of_steps(open("const(40/s,1s)").threads(threads), vec![send(0)]);
        let result = run(plan.with(|pool| pool.program = steps()), world());
        failures(&result.summary, &[]);
        let all = paths(&result);
        let count = |path| all.matches(path).count();
        assert_eq!((count("a"), count("b"), count("c")), (60, 10, 10));
        assert_eq!(iterations(&result).ok, 40);
        let of_each = &result.summary.total.scenarios;
        let counts: Vec<u64> = of_each.iter().map(|of| of.counts.ok).collect();
        assert_eq!(counts, [30, 10]);
        // Two requests at 10 ms each, and in the second scenario a pause between them.
        let longest: Vec<Nanos> = of_each.iter().map(|of| of.time.max()).collect();
        assert!(longest[1] >= longest[0] + ms(1), "{longest:?}");
    }
}

/// A world whose server refuses every second request.
fn moody() -> World {
    let count = AtomicU32::new(0);
    let server = Server::new().takes(Law::Const(ms(10)));
    let server = server.answers(move |_| match count.fetch_add(1, Ordering::Relaxed) % 2 {
        0 => Answer::status(503),
        _ => Answer::ok(),
    });
    World::new(server).keeps_requests()
}

#[test]
fn a_failed_request_is_sent_again_within_its_iteration() {
    let strict = |times, on_failure| Step::Request {
        request: 0,
        retry: Retry {
            times,
            rest: ms(100),
        },
        on_failure,
        takes: Arc::default(),
    };
    let plan = of_steps(
        closed(1).iterations(3),
        vec![strict(2, OnFailure::EndIteration)],
    );
    let result = run(plan, moody());
    assert_eq!(iterations(&result).ok, 3);
    let counts = &result.summary.total.counts;
    assert_eq!((counts.intended, counts.ok, counts.failed), (6, 3, 3));
    let times: Vec<u64> = seen(&result).iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0, 110, 120, 230, 240, 350]);
    // Without a repetition the first of two fails.
    let plan = of_steps(
        closed(1).iterations(4),
        vec![strict(0, OnFailure::Continue)],
    );
    let counts = *iterations(&run(plan, moody()));
    assert_eq!((counts.ok, counts.failed), (2, 2));
}

#[test]
fn a_user_that_stops_begins_no_other_iteration() {
    let steps = || {
        vec![Step::Request {
            request: 0,
            retry: Retry::default(),
            on_failure: OnFailure::StopUser,
            takes: Arc::default(),
        }]
    };
    let broken = || World::new(Server::new().says(Answer::status(500)));
    // All users stop at their first request, and the run ends with them.
    let result = run(of_steps(closed(5).lasts(secs(60)), steps()), broken());
    assert_eq!(iterations(&result).failed, 5);
    assert!(
        result.summary.duration < secs(1),
        "{}",
        result.summary.duration
    );
    let users = UserSteps::constant(5);
    let plan = of_steps(open("const(10/s,2s)"), steps()).with(|pool| pool.users = Some(users));
    let result = run(plan, broken());
    assert_eq!(iterations(&result).failed, 5);
    assert_eq!(iterations(&result).intended, 5);
    assert!(
        result.summary.duration < ms(600),
        "{}",
        result.summary.duration
    );
}

#[test]
fn users_think_by_a_law_and_keep_a_pace() {
    let plan = |think, pace| {
        shop(closed(1).iterations(4)).with(move |pool| {
            pool.load = Load::Closed {
                users: 1,
                think,
                pace,
            };
        })
    };
    let begins = |result: &Simulated| -> Vec<u64> {
        let seen = seen(result);
        let first = seen.iter().filter(|(_, path)| *path == "/a");
        first.map(|(at, _)| *at).collect()
    };
    // An iteration takes 80 ms.
    let paced = run(plan(Pause::NONE, ms(100)), world());
    assert_eq!(begins(&paced), [0, 100, 200, 300]);
    assert_eq!(paced.summary.total.latency.lag.max(), ms(0));
    let both = run(plan(Pause::constant(ms(50)), ms(100)), world());
    assert_eq!(begins(&both), [0, 130, 260, 390]);
    let late = run(plan(Pause::NONE, ms(10)), world());
    assert_eq!(begins(&late), [0, 80, 160, 240]);
    let law = Pause::Exponential { mean: ms(100) };
    let drawn = begins(&run(plan(law, Nanos::ZERO), world()));
    let gaps: Vec<u64> = drawn
        .windows(2)
        .map(|pair| pair[1] - pair[0] - 80)
        .collect();
    assert!(gaps[0] != gaps[1] && gaps[1] != gaps[2], "{gaps:?}");
    assert_eq!(begins(&run(plan(law, Nanos::ZERO), world())), drawn);
}

#[test]
fn a_step_waits_until_a_time_of_its_iteration() {
    let steps = vec![
        send(0),
        Step::Until(ms(50)),
        send(1),
        Step::Until(ms(20)),
        send(2),
    ];
    let result = run(of_steps(closed(1).iterations(1), steps), world());
    assert_eq!(seen(&result), [(0, "/a"), (50, "/b"), (60, "/c")]);
}

#[test]
fn an_iteration_lasts_at_least_as_long_as_it_should_from_when_it_began() {
    let steps = vec![send(0), Step::AtLeast(ms(50)), send(1)];
    // Both are due at once, and one user takes them one after the other.
    let users = UserSteps::constant(1);
    let plan = of_steps(open("once(2)"), steps).with(|pool| pool.users = Some(users));
    let result = run(plan, world());
    assert_eq!(
        seen(&result),
        [(0, "/a"), (50, "/b"), (60, "/a"), (110, "/b")]
    );
}

#[test]
fn calls_and_streams_have_programs_too() {
    let server = Server::http2(Http2Behaviour::new().says(Reply::ok())).takes(Law::Const(ms(10)));
    let plan = shop(closed(8)).connections(2).http2(4).threads(2);
    let result = run(plan.lasts(secs(1)), World::new(server).keeps_requests());
    failures(&result.summary, &[]);
    // An iteration takes 80 ms, and each user's thirteenth begins at 960 ms.
    assert_eq!(iterations(&result).ok, 8 * 13);
    assert_eq!(result.summary.total.counts.ok, 3 * 8 * 13);
    assert_eq!(result.log.connections, 2);
}

#[test]
fn a_connection_that_rests_delays_its_own_users_next_step() {
    let plan = shop(closed(1)).with(|pool| pool.connections.affinity = Affinity::User);
    let result = Simulation::new(plan.lasts(secs(1)), World::new(Server::refusing())).run();
    let counts = &result.summary.total.counts;
    assert_eq!(counts.ok, 0);
    assert!(counts.failed > 3 && counts.failed < 60, "{counts:?}");
    assert!(iterations(&result).failed >= 1);
}
