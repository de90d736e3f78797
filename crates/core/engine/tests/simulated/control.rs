//! Changes of an active run: exact for every request, with any number of workers.

use crate::{failures, ms, secs};
use drumfire_engine::ControlError;
use drumfire_measure::RunEvent;
use drumfire_plan::{Change, Command, StopReason, UserSteps};
use drumfire_testkit::{Client, Draft, Law, Server, Simulated, Simulation, World, closed, open};
use drumfire_units::Nanos;
use std::slice;

fn rate(law: &str) -> Change {
    Change::Rate {
        law: law.parse().expect("a law"),
    }
}

fn users(count: u32) -> Change {
    Change::Users {
        law: UserSteps::constant(count),
    }
}

/// A world that serves at once and records arrivals.
fn at_once() -> World {
    World::new(Server::new()).keeps_requests()
}

fn run(plan: Draft, world: World, commands: &[(Nanos, Change)]) -> Simulated {
    let simulation = Simulation::new(plan, world);
    let given = commands.iter().cloned();
    let simulation = given.fold(simulation, |run, (at, change)| run.command(at, change));
    simulation.run()
}

/// The requested URLs with their times, in chronological order.
fn asked(result: &Simulated) -> Vec<(Nanos, String)> {
    let mut asked: Vec<(Nanos, String)> = result
        .log
        .seen
        .iter()
        .map(|seen| {
            let url = seen.head.split(' ').nth(1);
            (seen.at, url.unwrap_or_default().to_owned())
        })
        .collect();
    asked.sort();
    asked
}

/// Times from `from` on, every `step`, before `end`.
fn evenly(from: Nanos, step: Nanos, end: Nanos) -> impl Iterator<Item = Nanos> {
    (0..)
        .map(move |n| from + Nanos(step.0 * n))
        .take_while(move |at| *at < end)
}

/// Three URLs in turn, which reveal a request's number.
fn three(law: &str) -> Draft {
    open(law)
        .to(&["http://sut/0", "http://sut/1", "http://sut/2"])
        .connections(12)
}

/// Checks that these arrivals came, each at its time and with its number.
#[track_caller]
fn came(result: &Simulated, expected: impl Iterator<Item = Nanos>) {
    failures(&result.summary, &[]);
    let expected: Vec<_> = (0..)
        .zip(expected)
        .map(|(n, at)| (at, format!("/{}", n % 3)))
        .collect();
    assert_eq!(asked(result), expected);
    assert_eq!(
        result.summary.total.counts.intended,
        expected.len() as u64,
        "what was due is what was sent"
    );
}

#[test]
fn a_rate_changed_twice_is_exact_to_the_request() {
    for threads in [1, 2, 3, 4] {
        let plan = three("const(100/s)").lasts(secs(8)).threads(threads);
        let commands = [
            (secs(3), rate("const(250/s)")),
            (ms(5_503), rate("const(40/s)")),
        ];
        let result = run(plan, at_once(), &commands);
        let first = evenly(Nanos::ZERO, ms(10), secs(3));
        let second = evenly(secs(3), ms(4), ms(5_503));
        let third = evenly(ms(5_503), ms(25), secs(8));
        came(&result, first.chain(second).chain(third));
        assert_eq!(result.summary.duration, secs(8));
    }
}

/// The load would end with its law, and still does so with another rate. A pause delays the end
/// like the end of the law.
#[test]
fn a_rate_without_an_end_takes_that_of_the_law_before() {
    for threads in [1, 2, 3] {
        let plan = || three("const(100/s,2s) const(50/s,2s)").threads(threads);
        let change = (secs(1), rate("const(200/s)"));
        let result = run(plan(), at_once(), slice::from_ref(&change));
        let first = evenly(Nanos::ZERO, ms(10), secs(1));
        came(&result, first.chain(evenly(secs(1), ms(5), secs(4))));
        assert_eq!(result.summary.duration, secs(4));

        let pause = [change, (secs(2), Change::Pause), (secs(5), Change::Resume)];
        let result = run(plan(), at_once(), &pause);
        assert_eq!(result.log.requests, 100 + 600);
        assert_eq!(result.summary.duration, secs(7));

        let own = [(secs(1), rate("const(200/s,10s)"))];
        let result = run(plan(), at_once(), &own);
        assert_eq!(result.summary.duration, secs(11));
    }
}

/// Only a command's time matters, not the order in which commands are given.
#[test]
fn commands_may_be_given_in_any_order() {
    let plan = || three("const(100/s)").lasts(secs(4)).threads(2);
    let (one, other) = (
        (secs(1), rate("const(10/s)")),
        (secs(3), rate("const(200/s)")),
    );
    let result = run(plan(), at_once(), &[one.clone(), other.clone()]);
    let turned = run(plan(), at_once(), &[other, one]);
    assert_eq!(asked(&result), asked(&turned));
    assert_eq!(result.log.requests, 100 + 20 + 200);
}

#[test]
fn a_random_rate_is_the_same_for_any_number_of_workers() {
    let with = |threads| {
        let plan = three("const(300/s)").poisson().lasts(secs(6));
        let commands = [
            (secs(2), rate("line(100/s,500/s,2s)")),
            (secs(3), Change::Pause),
            (ms(3_300), Change::Resume),
            (secs(4), rate("const(50/s)")),
        ];
        asked(&run(plan.threads(threads), at_once(), &commands))
    };
    let one = with(1);
    assert!(one.len() > 700, "{}", one.len());
    let pause = one
        .iter()
        .filter(|(at, _)| secs(3) <= *at && *at < ms(3_300));
    assert_eq!(pause.count(), 0);
    for threads in [2, 5] {
        assert_eq!(with(threads), one);
    }
}

#[test]
fn after_a_pause_the_law_goes_on_where_it_stood() {
    for threads in [1, 2, 3] {
        let plan = three("const(100/s)").lasts(secs(5)).threads(threads);
        let commands = [(ms(2_003), Change::Pause), (secs(3), Change::Resume)];
        let result = run(plan, at_once(), &commands);
        // A request due 7 ms after the pause's start is sent 7 ms after its end.
        let first = evenly(Nanos::ZERO, ms(10), ms(2_003));
        came(&result, first.chain(evenly(ms(3_007), ms(10), secs(5))));
    }
}

#[test]
fn a_pause_makes_a_law_s_run_longer() {
    let plan = three("const(100/s,2s) const(50/s,2s)").threads(2);
    let commands = [(secs(1), Change::Pause), (ms(1_500), Change::Resume)];
    let result = run(plan, at_once(), &commands);
    let first = evenly(Nanos::ZERO, ms(10), secs(1));
    let rest = evenly(ms(1_500), ms(10), ms(2_500));
    let second = evenly(ms(2_500), ms(20), ms(4_500));
    came(&result, first.chain(rest).chain(second));
    assert_eq!(result.summary.duration, ms(4_500));
}

#[test]
fn what_was_due_before_a_pause_is_still_sent() {
    let world = World::new(Server::new().takes(Law::Const(ms(10))));
    let plan = open("const(1000/s)").lasts(secs(5));
    let result = run(
        plan,
        world,
        &[(ms(100), Change::Pause), (secs(4), rate("const(1/s)"))],
    );
    // A hundred were due; the last of them waits some 0.9 s. A law that is set during a pause
    // starts at the pause's end.
    assert_eq!(result.summary.total.counts.sent, 100);
    assert_eq!(result.summary.total.latency.waiting.max(), ms(990 - 99));
    assert_eq!(result.summary.duration, secs(5));
}

#[test]
fn a_worker_that_stands_still_loses_nothing() {
    // The client is stopped from 2.95 s to 3.25 s, during which the rate changes.
    let client = Client::ideal().stopped(ms(2_950), ms(300));
    let plan = three("const(100/s)").lasts(secs(5)).threads(2);
    let result = run(
        plan,
        at_once().client(client),
        &[(ms(3_100), rate("const(500/s)"))],
    );
    let counts = result.summary.total.counts;
    assert_eq!((counts.intended, counts.sent), (310 + 950, 310 + 950));
    let urls: Vec<u64> = (0..3)
        .map(|n| {
            let url = format!("/{n}");
            asked(&result).iter().filter(|(_, u)| *u == url).count() as u64
        })
        .collect();
    assert_eq!(urls, [420, 420, 420], "each number came once");
    assert!(result.summary.total.latency.response_time.max() >= ms(290));
}

#[test]
fn a_stop_is_exact_too() {
    for threads in [1, 3] {
        let plan = three("const(100/s,60s)").threads(threads);
        let reason = StopReason::Threshold;
        let result = run(plan, at_once(), &[(ms(4_001), Change::Stop { reason })]);
        came(&result, evenly(Nanos::ZERO, ms(10), ms(4_001)));
        assert_eq!(result.summary.duration, ms(4_001));
        assert_eq!(stops(&result), [reason]);
    }
}

#[test]
fn the_count_goes_on_over_all_laws() {
    for threads in [1, 2, 3] {
        let plan = three("const(100/s)").requests(350).threads(threads);
        let result = run(plan, at_once(), &[(secs(3), rate("const(10/s)"))]);
        let first = evenly(Nanos::ZERO, ms(10), secs(3));
        came(&result, first.chain(evenly(secs(3), ms(100), secs(8))));
        assert_eq!(result.summary.duration, secs(8));
        assert_eq!(stops(&result), [StopReason::Counted]);
    }
}

#[test]
fn users_come_and_go_by_command() {
    let slow = || World::new(Server::new().takes(Law::Const(ms(100))));
    for threads in [1, 2] {
        let plan = closed(2).connections(6).threads(threads).lasts(secs(4));
        let commands = [
            (secs(1), users(5)),
            (secs(2), users(0)),
            (secs(3), users(1)),
        ];
        let result = run(plan, slow(), &commands);
        failures(&result.summary, &[]);
        // Ten requests a second for each user.
        assert_eq!(result.summary.total.counts.ok, 20 + 50 + 10);
        assert_eq!(result.summary.total.latency.lag.max(), ms(0));
    }
}

#[test]
fn users_rest_in_a_pause_and_go_on_where_they_stood() {
    for threads in [1, 2] {
        // Each user begins a request every 150 ms: the request takes 100 ms, the rest 50 ms.
        let world = World::new(Server::new().takes(Law::Const(ms(100)))).keeps_requests();
        let plan = closed(2).thinks(ms(50)).threads(threads).lasts(secs(2));
        // In the first pause both requests are in flight, in the second both users have rested 20
        // ms.
        let commands = [
            (ms(310), Change::Pause),
            (ms(800), Change::Resume),
            (ms(970), Change::Pause),
            (ms(1_500), Change::Resume),
        ];
        let result = run(plan, world, &commands);
        let mut begun: Vec<u64> = result
            .log
            .seen
            .iter()
            .map(|seen| seen.at.0 / 1_000_000)
            .collect();
        begun.sort_unstable();
        begun.dedup();
        assert_eq!(begun, [0, 150, 300, 850, 1_530, 1_680, 1_830, 1_980]);
        assert_eq!(result.summary.total.counts.ok, 16);
    }
}

/// The reported reasons for the end of the run.
fn stops(result: &Simulated) -> Vec<StopReason> {
    let reason = |event: &RunEvent| match event {
        RunEvent::Stopping { reason } => Some(*reason),
        _ => None,
    };
    result.events.iter().filter_map(reason).collect()
}

#[test]
fn observers_hear_of_each_change_once_and_at_its_time() {
    for threads in [1, 3] {
        let mark = Change::Mark {
            text: "deployed".to_owned(),
        };
        let commands = [
            (ms(3_500), Change::Resume),
            (ms(1_500), mark),
            (ms(2_500), Change::Pause),
        ];
        let plan = three("const(100/s)").lasts(secs(5)).threads(threads);
        let result = run(plan, at_once(), &commands);
        let changed: Vec<Command> = result
            .events
            .iter()
            .filter_map(|event| match event {
                RunEvent::Changed(command) => Some(Command::clone(command)),
                _ => None,
            })
            .collect();
        let mut expected = commands.clone().map(|(at, change)| Command {
            at,
            pool: None,
            change,
        });
        expected.sort_by_key(|command| command.at);
        assert_eq!(changed, expected);
        assert_eq!(stops(&result), [StopReason::Duration]);
        assert_eq!(result.log.requests, 400, "a mark changes nothing");
    }
}

/// A refused command changes nothing.
#[test]
fn a_command_without_effect_is_refused() {
    let given = |plan: Draft, commands: &[(Nanos, Change)]| {
        let simulation = Simulation::new(plan, at_once());
        let commands = commands.iter().cloned();
        commands
            .fold(simulation, |run, (at, change)| run.command(at, change))
            .give_commands()
    };
    let late = |end| Err(ControlError::TooLate { end });
    let brief = || open("const(100/s,2s)");
    assert_eq!(
        given(brief(), &[(ms(2_001), Change::Pause)]),
        [late(secs(2))]
    );
    assert_eq!(
        given(brief(), &[(secs(1), users(3))]),
        [Err(ControlError::NoUsers)]
    );
    assert_eq!(
        given(closed(3).lasts(secs(2)), &[(secs(1), users(1_000_000_000))]),
        [Err(ControlError::TooManyUsers)]
    );
    assert_eq!(
        given(closed(3).lasts(secs(2)), &[(secs(1), rate("5/s"))]),
        [Err(ControlError::NoRate)]
    );
    let stop = Change::Stop {
        reason: StopReason::Command,
    };
    // A pause, a law or a resumption moves the end.
    let commands = [
        (secs(1), Change::Pause),
        (secs(9), Change::Resume),
        (secs(11), Change::Pause),
        (secs(10), rate("const(1/s,5s)")),
        (secs(15), Change::Pause),
        (ms(15_001), Change::Resume),
        (secs(14), stop.clone()),
        (secs(14), stop),
    ];
    let taken = given(brief(), &commands);
    assert_eq!(taken[..3], [Ok(secs(1)), Ok(secs(9)), late(secs(10))]);
    assert_eq!(taken[3..6], [Ok(secs(10)), Ok(secs(15)), Ok(ms(15_001))]);
    assert_eq!(taken[6..], [Ok(secs(14)), late(secs(14))]);
    let bad = given(brief().poisson(), &[(secs(1), rate("const(1000000000/s)"))]);
    assert!(
        matches!(bad[..], [Err(ControlError::Schedule(_))]),
        "{bad:?}"
    );
}
