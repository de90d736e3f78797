//! Pools that end, fail, redirect and change connections next to each other.

use crate::{failures, ms, secs};
use drumfire_engine::ControlError;
use drumfire_measure::{Figures, Outcome, RunEvent};
use drumfire_plan::{
    Change, DataError, Drain, Growth, KeepAlive, LatePolicy, RenderedFields, RequestContext,
    RequestData, StopReason, UserSteps, Varying,
};
use drumfire_testkit::{
    Answer, Http2Behaviour, Law, Server, Simulated, Simulation, World, closed, open,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// Every response takes 10 ms.
fn in_ten_ms() -> Server {
    Server::new().takes(Law::Const(ms(10)))
}

/// A pool's figures by its name.
#[track_caller]
fn pool_figures<'a>(result: &'a Simulated, name: &str) -> &'a Figures {
    let mut pools = result.summary.pools();
    let found = pools.find(|(pool, _)| pool.name == name);
    found.map(|(_, figures)| figures).expect("a pool's name")
}

/// The failures of a pool.
fn failed(figures: &Figures) -> Vec<(Outcome, u64)> {
    figures.outcomes().failures().collect()
}

#[test]
fn each_pool_has_a_stop_of_its_own() {
    for threads in [1, 2] {
        let counted = open("const(100/s)").connections(4).requests(150);
        let timed = closed(2).lasts(secs(3)).named("timed");
        let brief = open("const(50,1s)").connections(4).named("brief");
        let plan = counted.threads(threads).beside(timed).beside(brief);
        let result = crate::run(plan, World::new(in_ten_ms()));
        failures(&result.summary, &[]);
        assert_eq!(pool_figures(&result, "main").counts.ok, 150);
        assert_eq!(pool_figures(&result, "timed").counts.ok, 600);
        assert_eq!(pool_figures(&result, "brief").counts.ok, 50);
        assert_eq!(result.summary.duration, secs(3));
        let stops = result.events.iter().filter_map(|event| match event {
            RunEvent::Stopping { reason } => Some(*reason),
            _ => None,
        });
        let stops: Vec<StopReason> = stops.collect();
        // Once, regardless of which worker is the last to report.
        assert_eq!(stops, [StopReason::Duration], "{threads} threads");
    }
}

#[test]
fn a_pool_that_has_ended_does_nothing_more() {
    for threads in [1, 2] {
        let left = open("const(10,1s)").to(&["http://sut/never"]);
        let left = left.connections(10).lasts(secs(1)).with(|pool| {
            pool.stop.drain = Drain::Ignore;
            pool.timeouts.total = ms(2500);
        });
        let other = closed(2).lasts(secs(5)).named("other");
        let server = in_ten_ms().answers(|request| match request.target() {
            "/never" => Answer::never(),
            _ => Answer::ok(),
        });
        let plan = left.threads(threads).beside(other);
        let result = crate::run(plan, World::new(server));
        let left = &pool_figures(&result, "main").counts;
        assert_eq!((left.sent, left.in_flight, left.failed), (10, 10, 0));
        assert_eq!(pool_figures(&result, "other").counts.ok, 1000);
    }
}

#[test]
fn a_target_that_refuses_fails_its_own_pool_alone() {
    for threads in [1, 2] {
        let dead = open("const(20,5s)").to(&["http://dead/"]).connections(2);
        let buy = closed(3).lasts(secs(5)).named("buy").connections(3);
        let world = World::new(in_ten_ms()).host("10.9.9.9:80", Server::refusing());
        let world = world.name("dead", &["10.9.9.9:80"]);
        let plan = dead.threads(threads).beside(buy);
        let result = crate::run(plan, world);
        let dead = pool_figures(&result, "main");
        assert_eq!(failed(dead), [(Outcome::ConnectRefused, 100)]);
        let buy = pool_figures(&result, "buy");
        assert_eq!((buy.counts.ok, failed(buy).len()), (1500, 0));
        assert_eq!(buy.latency.response_time.max(), ms(10));
        assert_eq!((dead.connections.opened, buy.connections.opened), (0, 3));
    }
}

#[test]
fn pools_speak_different_versions_of_http() {
    for threads in [1, 2] {
        let streams = closed(20).to(&["http://two/"]).connections(2).http2(10);
        let streams = streams.lasts(secs(2)).named("streams");
        let two = Server::http2(Http2Behaviour::new()).takes(Law::Const(ms(10)));
        let world = World::new(in_ten_ms()).host("10.0.0.2:80", two);
        let world = world.name("two", &["10.0.0.2:80"]);
        let plan = open("const(100,2s)").connections(4).threads(threads);
        let result = crate::run(plan.beside(streams), world);
        failures(&result.summary, &[]);
        assert_eq!(pool_figures(&result, "main").counts.ok, 200);
        assert_eq!(pool_figures(&result, "streams").counts.ok, 4000);
        assert_eq!(result.log.connections, 4 + 2);
    }
}

fn rate(law: &str) -> Change {
    let law = law.parse().expect("a law");
    Change::Rate { law }
}

#[test]
fn a_command_must_name_a_pool_that_can_carry_it_out() {
    let plan = || open("const(10,10s)").beside(closed(2).lasts(secs(10)).named("users"));
    let given = |run: Simulation| run.give_commands();
    let run = || Simulation::new(plan(), World::new(in_ten_ms()));
    let users = || Change::Users {
        law: UserSteps::constant(3),
    };
    let commands = run()
        .command(secs(1), rate("5/s"))
        .command_to(2, secs(1), rate("5/s"))
        .command_to(1, secs(1), rate("5/s"))
        .command_to(0, secs(1), users())
        .command_to(0, secs(1), rate("5/s"))
        .command_to(1, secs(1), users());
    assert_eq!(
        given(commands),
        [
            Err(ControlError::WhichPool),
            Err(ControlError::NoPool(2)),
            Err(ControlError::NoRate),
            Err(ControlError::NoUsers),
            Ok(secs(1)),
            Ok(secs(1)),
        ]
    );
}

#[test]
fn a_signal_ends_all_pools() {
    for threads in [1, 2] {
        let plan = open("const(100/s)").connections(4).lasts(secs(60));
        let plan = plan.threads(threads);
        let plan = plan.beside(closed(2).lasts(secs(60)).named("users"));
        let result = crate::run(plan, World::new(in_ten_ms()).stopped_at(secs(2)));
        failures(&result.summary, &[]);
        let (main, users) = (
            pool_figures(&result, "main"),
            pool_figures(&result, "users"),
        );
        assert!((200..=206).contains(&main.counts.ok), "{}", main.counts.ok);
        assert!(
            (400..=412).contains(&users.counts.ok),
            "{}",
            users.counts.ok
        );
    }
}

/// Redirects use separate connections for each pool.
#[test]
fn redirects_stay_within_their_pool() {
    let follows = |name: &str| {
        let plan = open("const(10,1s)").to(&["http://sut/from"]).connections(1);
        let plan = plan.with(|pool| pool.http.redirects = drumfire_plan::Redirects::Follow(1));
        plan.named(name)
    };
    let server = in_ten_ms().answers(|request| match request.target() {
        "/from" => Answer::redirect(302, "/to"),
        _ => Answer::ok(),
    });
    let result = crate::run(follows("a").beside(follows("b")), World::new(server));
    failures(&result.summary, &[]);
    assert_eq!(pool_figures(&result, "a").counts.ok, 10);
    assert_eq!(pool_figures(&result, "b").counts.ok, 10);
    assert_eq!((result.log.requests, result.log.connections), (40, 2));
}

#[test]
fn connections_come_and_go_in_each_pool() {
    for threads in [1, 2] {
        let grows = open("const(100,3s)").connections(50);
        let grows = grows.with(|pool| pool.connections.growth = Growth::AsNeeded);
        let single = closed(4).lasts(secs(3)).named("single");
        let single = single.with(|pool| pool.connections.keep_alive = KeepAlive::No);
        let replaced = closed(20).to(&["http://two/"]).connections(2).http2(10);
        let replaced = replaced.lasts(secs(3)).named("replaced");
        let replaced = replaced.with(|pool| pool.connections.keep_alive = KeepAlive::AtMost(100));
        let two = Server::http2(Http2Behaviour::new()).takes(Law::Const(ms(10)));
        let world = World::new(in_ten_ms()).host("10.0.0.2:80", two);
        let world = world.name("two", &["10.0.0.2:80"]);
        let plan = grows.threads(threads).beside(single).beside(replaced);
        let result = crate::run(plan, world);
        failures(&result.summary, &[]);
        let (grown, single) = (
            pool_figures(&result, "main"),
            pool_figures(&result, "single"),
        );
        assert_eq!(grown.counts.ok, 300);
        // A response takes at most the time until the next arrival of its worker.
        let opened = grown.connections.opened;
        assert!(
            (1..=4).contains(&opened),
            "{opened} connections for one at a time"
        );
        assert_eq!(single.counts.ok, 1200);
        assert_eq!(single.connections.opened, 1200);
        let replaced = pool_figures(&result, "replaced");
        assert_eq!(replaced.counts.ok, 6000);
        let opened = replaced.connections.opened;
        assert!((60..=64).contains(&opened), "{opened} for 6,000 requests");
    }
}

#[test]
fn a_warm_up_and_drops_are_counted_by_pool() {
    let drops = open("const(100,10s)").connections(1).late(LatePolicy::Skip);
    let drops = drops.warmup(secs(2)).to(&["http://sut/slow"]);
    let users = closed(2).lasts(secs(10)).named("users");
    let server = in_ten_ms().answers(|request| match request.target() {
        "/slow" => Answer::ok().after(ms(15)),
        _ => Answer::ok(),
    });
    let result = crate::run(drops.beside(users), World::new(server));
    failures(&result.summary, &[]);
    let (drops, users) = (
        pool_figures(&result, "main"),
        pool_figures(&result, "users"),
    );
    assert_eq!(drops.counts.intended, 800);
    // A response every 15 ms, for eight seconds.
    assert_eq!((drops.counts.ok, drops.counts.dropped), (533, 267));
    assert_eq!((users.counts.ok, users.counts.dropped), (1600, 0));
    assert_eq!(users.warmup.ok, 400);
}

/// The targets that servers saw, with their times, in chronological order.
fn asked(result: &Simulated, prefix: &str) -> Vec<(Nanos, String)> {
    let targets = result.log.seen.iter().map(|seen| {
        let target = seen.head.split(' ').nth(1).unwrap_or_default();
        (seen.at, target.to_owned())
    });
    let mut asked: Vec<_> = targets
        .filter(|(_, target)| target.starts_with(prefix))
        .collect();
    asked.sort();
    asked
}

#[test]
fn random_arrivals_of_two_pools_are_independent() {
    let pool = |path: &str| {
        let url = format!("http://sut/{path}");
        open("const(100,10s)").poisson().to(&[&url]).connections(50)
    };
    let world = || World::new(Server::new()).keeps_requests();
    let times = |result: &Simulated, prefix: &str| -> Vec<Nanos> {
        asked(result, prefix)
            .into_iter()
            .map(|(at, _)| at)
            .collect()
    };
    let both = crate::run(pool("a").beside(pool("b").named("b")), world());
    let (first, second) = (times(&both, "/a"), times(&both, "/b"));
    assert!(first.len() > 900 && second.len() > 900);
    let shared = second.iter().filter(|at| first.contains(at)).count();
    assert!(shared < 5, "{shared} of {} at the same time", second.len());
    let alone = crate::run(pool("a"), world());
    assert_eq!(
        times(&alone, "/a"),
        first,
        "a pool behind it changes nothing"
    );
}

/// A target made of the seed that a request is rendered with.
#[derive(Debug)]
struct Seeds(&'static str);

impl RequestData for Seeds {
    fn varying(&self) -> Varying {
        Varying {
            target: true,
            ..Varying::default()
        }
    }

    fn target(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError> {
        out.push_str(&format!("/{}{}", self.0, request.seed));
        Ok(())
    }

    fn fields(&self, _: &RequestContext, _: &mut RenderedFields) -> Result<(), DataError> {
        Ok(())
    }

    fn message(&self, _: &RequestContext, _: u64, _: &mut Vec<u8>) -> Result<(), DataError> {
        Ok(())
    }
}

#[test]
fn random_data_of_two_pools_are_independent() {
    let pool = |name: &'static str| {
        let plan = closed(1).requests(2).named(name).seed(7);
        plan.with(move |pool| pool.requests[0].data = Some(Arc::new(Seeds(name))))
    };
    let world = World::new(Server::new()).keeps_requests();
    let result = crate::run(pool("a").beside(pool("b")), world);
    let targets = |prefix| -> Vec<String> {
        let asked = asked(&result, prefix).into_iter();
        asked.map(|(_, target)| target[2..].to_owned()).collect()
    };
    let (first, second) = (targets("/a"), targets("/b"));
    assert_eq!(first, ["7", "7"], "the plan's own");
    assert!(second.len() == 2 && second != first, "{second:?}");
}

#[test]
fn small_pools_run_on_threads_of_their_own() {
    let small = |name| {
        let pool = open("const(100,2s)").connections(1).named(name);
        pool.lasts(secs(2))
    };
    for (threads, expected) in [(1, 1), (2, 2), (3, 3), (8, 3)] {
        let plan = small("a").threads(threads);
        let plan = plan.beside(small("b")).beside(small("c"));
        let result = crate::run(plan, World::new(in_ten_ms()));
        failures(&result.summary, &[]);
        assert_eq!(result.summary.generator.threads, expected, "of {threads}");
        for name in ["a", "b", "c"] {
            assert_eq!(
                pool_figures(&result, name).counts.ok,
                200,
                "{name} of {threads}"
            );
        }
        assert_eq!(result.log.connections, 3);
    }
}

#[test]
fn a_silent_target_takes_no_dials_of_other_pools() {
    let silent = open("const(1,1s)")
        .to(&["http://silent/"])
        .connections(1000);
    let silent = silent.lasts(secs(1)).with(|pool| {
        pool.stop.drain = Drain::Ignore;
    });
    let buy = closed(500).lasts(secs(1)).named("buy").connections(500);
    let world = World::new(in_ten_ms()).host("10.9.9.9:80", Server::swallowing());
    let world = world.name("silent", &["10.9.9.9:80"]);
    let result = crate::run(silent.beside(buy), world);
    let buy = pool_figures(&result, "buy");
    assert_eq!((buy.counts.ok, failed(buy).len()), (50_000, 0));
    // All connections were open before the start.
    assert_eq!(buy.latency.waiting.max(), Nanos::ZERO);
    assert_eq!(buy.connections.opened, 500);
}
