//! Remedies for a load that was not kept: each is followed, and then the load is kept.

use crate::programs::{of_steps, send};
use crate::{ms, run, secs};
use drumfire_measure::Remedy;
use drumfire_plan::{Pause, Step, UserSteps};
use drumfire_testkit::{Draft, Http2Behaviour, Law, Server, World, open};

/// The remedies of a load that was not kept; `None` if it was kept.
fn remedies(plan: Draft, server: Server) -> Option<Vec<Remedy>> {
    let load = run(plan, World::new(server)).summary.load.clone();
    let remedies = load.reasons.into_iter().flat_map(|reason| reason.remedies);
    (load.kept == Some(false)).then(|| remedies.collect())
}

/// Checks that a plan with few of something has a remedy, and that following it is enough. Returns
/// the number in the remedy.
#[track_caller]
fn follow(plan: impl Fn(u32) -> Draft, few: u32, server: impl Fn() -> Server) -> u64 {
    let named = remedies(plan(few), server()).expect("few are too few");
    let [Remedy::Connections(number) | Remedy::Users(number)] = named[..] else {
        panic!("{named:?}");
    };
    let again = remedies(plan(number as u32), server());
    assert_eq!(again, None, "{number} in place of {few}");
    number
}

#[test]
fn the_connections_that_are_named_keep_the_load() {
    let steady = |connections| {
        open("const(400/s,4s)")
            .connections(connections)
            .lasts(secs(4))
    };
    let twenty = || Server::new().takes(Law::Const(ms(20)));
    for few in [1, 2, 5, 7] {
        let number = follow(steady, few, twenty);
        assert!((9..=16).contains(&number), "{number}");
    }
    // Both arrivals and service are random: with only as many connections as are busy on average,
    // the queue grows without end.
    for seed in 0..8 {
        let random = |connections| {
            let plan = open("const(200/s,6s)").poisson().seed(seed);
            plan.connections(connections).lasts(secs(6))
        };
        let server = || Server::new().takes(Law::Exponential(ms(20)));
        follow(random, 2, server);
    }
}

#[test]
fn whoever_has_the_bare_minimum_is_told_of_more() {
    let plan = |seed| {
        let plan = open("const(200/s,6s)").poisson().seed(seed);
        plan.connections(4).lasts(secs(6))
    };
    let server = || Server::new().takes(Law::Exponential(ms(20)));
    let missed: Vec<_> = (0..8)
        .filter_map(|seed| remedies(plan(seed), server()))
        .collect();
    assert!(!missed.is_empty());
    for named in missed {
        assert!(matches!(named[..], [Remedy::Connections(6..)]), "{named:?}");
    }
}

#[test]
fn the_connections_that_a_bound_of_streams_takes_keep_the_load() {
    let plan = |connections| {
        let plan = open("const(400/s,4s)").http2(100).lasts(secs(4));
        plan.connections(connections)
    };
    let server = || Server::http2(Http2Behaviour::new().allows(3)).takes(Law::Const(ms(20)));
    let number = follow(plan, 1, server);
    assert!((3..=5).contains(&number), "{number}");
}

#[test]
fn the_users_that_are_named_keep_the_load_whatever_they_pause() {
    let plan = |users| {
        let pause = Step::Pause(Pause::Even {
            from: ms(1000),
            to: ms(1000),
        });
        let plan = of_steps(open("const(20/s,6s)"), vec![send(0), pause, send(1)]);
        let plan = plan.connections(200).users(UserSteps::constant(users));
        plan.lasts(secs(6))
    };
    let server = || Server::new().takes(Law::Const(ms(10)));
    for few in [5, 11, 16] {
        let number = follow(plan, few, server);
        assert!((21..=32).contains(&number), "{number} from {few}");
    }
}
