//! Shares that begin during a run, because another process had them before: from their beginning on
//! they have exactly the requests of the whole run.

use crate::{ms, secs};
use drumfire_plan::{Change, LatePolicy, UserSteps};
use drumfire_testkit::{Draft, Server, Simulated, Simulation, World, closed, open};
use drumfire_units::Nanos;
use proptest::prelude::*;

/// The requested URLs with their times, in chronological order, starting at a time.
fn asked(result: &Simulated, from: Nanos) -> Vec<(Nanos, String)> {
    let seen = result.log.seen.iter().filter(|seen| seen.at >= from);
    let mut asked: Vec<(Nanos, String)> = seen
        .map(|seen| {
            let url = seen.head.split(' ').nth(1);
            (seen.at, url.unwrap_or_default().to_owned())
        })
        .collect();
    asked.sort();
    asked
}

fn simulation(plan: Draft, commands: &[(Nanos, Change)]) -> Simulation {
    let world = World::new(Server::new()).keeps_requests();
    let given = commands.iter().cloned();
    given.fold(Simulation::new(plan, world), |run, (at, change)| {
        run.command(at, change)
    })
}

/// Seven URLs in turn, which reveal a request's number.
fn seven(law: &str) -> Draft {
    let urls: Vec<String> = (0..7).map(|n| format!("http://sut/{n}")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    open(law).to(&urls).connections(16)
}

const LAWS: [&str; 8] = [
    "const(97,3s)",
    "line(1,300,3s)",
    "line(300,0,3s)",
    "step(10,200,30,500ms)",
    "const(50,1s) line(50,200,1s) once(9) const(20,1s)",
    "once(40) const(111,2s)",
    "const(0.7,3s)",
    "const(333)",
];

/// Orders that apply before or after a time of the run.
fn orders() -> impl Strategy<Value = Vec<(Nanos, Change)>> {
    let at = (1..2_800u64).prop_map(ms);
    let change = prop_oneof![
        Just(Change::Pause),
        Just(Change::Resume),
        (0..LAWS.len()).prop_map(|law| Change::Rate {
            law: LAWS[law].parse().expect("a law"),
        }),
    ];
    prop::collection::vec((at, change), 0..4).prop_map(|mut orders| {
        orders.sort_by_key(|(at, _)| *at);
        orders
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arrivals_from_then_on_are_those_of_the_whole_run(
        law in 0..LAWS.len(), seed in any::<u64>(), is_random in any::<bool>(), threads in 1..4u32,
        from in 1..3_200u64, skips in any::<bool>(), counted in prop::option::of(1..400u64),
        orders in orders(),
    ) {
        let mut plan = seven(LAWS[law]).threads(threads).seed(seed).lasts(secs(3));
        if is_random {
            plan = plan.poisson();
        }
        if skips {
            plan = plan.late(LatePolicy::Skip);
        }
        if let Some(count) = counted {
            plan = plan.requests(count);
        }
        let from = ms(from);
        let run = simulation(plan, &orders);
        // An order after the end of the load is refused, and does not belong to this test.
        prop_assume!(run.give_commands().iter().all(Result::is_ok));
        let whole = run.run();
        let late = run.begins_from(from).run();
        let expected = asked(&whole, from);
        prop_assert_eq!(&asked(&late, Nanos::ZERO), &expected);
        // Arrivals that are too late for a plan that skips still count as due.
        let (counts, all) = (late.summary.total.counts, whole.summary.total.counts);
        prop_assert_eq!(counts.sent, expected.len() as u64, "nothing of before is counted");
        prop_assert_eq!(counts.intended, counts.sent + counts.dropped);
        prop_assert!(counts.dropped <= all.dropped);
    }
}

#[test]
fn intervals_have_the_numbers_of_the_run() {
    let plan = seven("const(100,3s)").interval(secs(1));
    let late = simulation(plan, &[]).keeps_intervals();
    let late = late.begins_from(ms(1_500)).run();
    let spans = late.intervals.iter().map(|it| (it.index, it.start, it.end));
    let spans: Vec<_> = spans.take(2).collect();
    assert_eq!(spans, [(1, ms(1_500), secs(2)), (2, secs(2), secs(3))]);
    let counts = late.intervals.iter().map(|it| it.total.counts.sent);
    assert_eq!(counts.take(2).collect::<Vec<_>>(), [50, 100]);
}

#[test]
fn as_many_users_begin_anew_as_there_are_then() {
    let ramp =
        UserSteps::changing(vec![(Nanos::ZERO, 2), (secs(1), 6), (secs(2), 3)]).expect("a law");
    for (from, orders, expected) in [
        (ms(500), vec![], [2, 6, 3]),
        (ms(1_000), vec![], [6, 6, 3]),
        (ms(2_500), vec![], [3, 3, 3]),
        // During a pause they wait for its end.
        (
            ms(1_500),
            vec![(ms(1_200), Change::Pause), (ms(1_800), Change::Resume)],
            [0, 6, 3],
        ),
    ] {
        let plan = closed(6).users(ramp.clone()).thinks(ms(100)).lasts(secs(4));
        let late = simulation(plan, &orders).begins_from(from).run();
        let at = |at: Nanos| {
            let asked = asked(&late, at);
            asked.iter().filter(|(sent, _)| *sent < at + ms(1)).count()
        };
        assert_eq!(asked(&late, Nanos::ZERO).len(), asked(&late, from).len());
        let seen = [at(from), at(ms(1_800).max(from)), at(ms(3_300).max(from))];
        assert_eq!(seen, expected, "from {from}");
    }
}
