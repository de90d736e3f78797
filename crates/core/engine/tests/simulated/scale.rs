//! Many connections, many origins, many workers; and repeatable runs.

use crate::{failures, ms, run, secs, seen, us};
use drumfire_measure::{Outcome, Summary};
use drumfire_testkit::{Answer, Draft, Law, Network, Server, World, closed, open};
use drumfire_units::Nanos;
use std::collections::HashMap;

#[test]
fn ten_thousand_connections_at_one_a_second() {
    let world = World::new(Server::new().takes(Law::Const(ms(2))))
        .network(Network::each_way(us(100)))
        .keeps_requests();
    let result = run(open("const(10000/s,5s)").connections(10_000), world);
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, 50_000);
    assert_eq!(result.log.connections, 10_000);
    let mut carried: HashMap<u64, u32> = HashMap::new();
    for seen in &result.log.seen {
        *carried.entry(seen.connection).or_default() += 1;
    }
    assert_eq!(carried.len(), 10_000);
    assert!(
        carried.values().all(|count| *count == 5),
        "each in its turn"
    );
    assert_eq!(
        result.summary.total.latency.response_time.max(),
        ms(2) + us(200)
    );
}

#[test]
fn ten_thousand_users_who_think() {
    let world = World::new(Server::new().takes(Law::Const(ms(1))));
    let result = run(closed(10_000).thinks(ms(999)).lasts(secs(5)), world);
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, 50_000);
}

/// Three origins: a fast one, a slow one, a dead one.
fn origins() -> World {
    World::new(Server::new().takes(Law::Const(us(100))))
        .host("10.0.0.2:80", Server::new().takes(Law::Const(ms(400))))
        .host("10.0.0.3:80", Server::refusing())
        .name("slow", &["10.0.0.2:80"])
        .name("dead", &["10.0.0.3:80"])
}

#[test]
fn origins_do_not_hinder_each_other() {
    let urls = ["http://fast/", "http://slow/", "http://dead/"];
    for threads in [1, 2] {
        // One a second for each; two connections carry five a second to the slow one.
        let plan = open("const(3/s,20s)")
            .to(&urls)
            .connections(2)
            .threads(threads);
        let result = run(plan, origins());
        let steps = result.summary.steps();
        let counts: Vec<(u64, u64)> = steps
            .iter()
            .map(|step| (step.counts.ok, step.counts.failed))
            .collect();
        assert_eq!(counts, [(20, 0), (20, 0), (0, 20)]);
        failures(&result.summary, &[(Outcome::ConnectRefused, 20)]);
        assert_eq!(steps[0].response_time.max(), us(100));
        assert_eq!(steps[1].response_time.max(), ms(400));
    }
}

#[test]
fn a_slow_origin_does_not_keep_the_others_waiting() {
    // Ten a second for the slow one, which can serve five a second on two connections.
    let plan = open("const(20/s,10s)")
        .to(&["http://fast/", "http://slow/"])
        .connections(2);
    let result = run(plan, origins());
    let steps = result.summary.steps();
    assert_eq!(steps[0].counts.ok, 100);
    assert_eq!(steps[0].response_time.max(), us(100));
    assert_eq!(
        steps[1].counts.ok, 100,
        "the schedule's own end waits for the queue"
    );
    assert!(steps[1].response_time.max() > secs(9));
}

/// A random world.
fn chance(seed: u64) -> World {
    let server = Server::new()
        .takes(Law::Lognormal {
            median: ms(2),
            sigma: 1.0,
        })
        .serves_at_a_time(3)
        .resets(0.01)
        .closes_after(100)
        .is_dead(secs(4), secs(5))
        .answers(|request| Answer::status(if request.index % 50 == 7 { 503 } else { 200 }));
    World::new(server)
        .network(Network::ways(
            Law::Exponential(us(200)),
            Law::Exponential(us(300)),
        ))
        .seed(seed)
}

fn by_chance(threads: u32) -> Draft {
    open("line(100/s,900/s,10s)")
        .poisson()
        .connections(24)
        .threads(threads)
        .warmup(secs(1))
        .seed(42)
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    for threads in [1, 4] {
        let first: Summary = (*run(by_chance(threads), chance(1)).summary).clone();
        for _ in 0..3 {
            assert!(*run(by_chance(threads), chance(1)).summary == first);
        }
        assert!(seen(&first, Outcome::HttpStatus) > 10);
        assert!(first.total.counts.failed > 30);
        let other = run(by_chance(threads), chance(2)).summary;
        assert!(*other != first, "another seed is another run");
    }
}

#[test]
fn many_workers_do_what_one_does() {
    let world = || World::new(Server::new().takes(Law::Const(us(300))));
    let result = |threads| {
        let urls = ["http://sut/a", "http://sut/b", "http://sut/c"];
        let plan = open("line(10/s,500/s,7s) const(99/s,3s)")
            .to(&urls)
            .connections(50);
        run(plan.threads(threads), world()).summary
    };
    let one = result(1);
    for threads in [2, 3, 7] {
        let many = result(threads);
        assert_eq!(many.total.counts, one.total.counts);
        assert_eq!(many.total.bytes, one.total.bytes);
        assert_eq!(many.total.latency, one.total.latency);
        assert_eq!(many.steps(), one.steps());
        assert_eq!(many.duration, one.duration);
    }
}

#[test]
fn intervals_follow_each_other_and_add_up() {
    let world = World::new(Server::new().takes(Law::Const(us(300))));
    let plan = open("const(1000/s,10s)").connections(10).threads(2);
    let result = drumfire_testkit::Simulation::new(plan, world)
        .keeps_intervals()
        .run();
    assert!(
        (10..=11).contains(&result.intervals.len()),
        "{}",
        result.intervals.len()
    );
    let mut end = Nanos::ZERO;
    let mut sum = 0;
    for interval in &result.intervals {
        assert_eq!(interval.start, end);
        end = interval.end;
        sum += interval.total.counts.ok;
    }
    assert_eq!(sum, 10_000);
    assert!(
        result.intervals[..9]
            .iter()
            .all(|interval| interval.total.counts.intended == 1000)
    );
}

#[test]
fn edges_of_intervals_are_exact_after_a_week() {
    let world = World::new(Server::new().takes(Law::Const(us(300))));
    // Five hours, minus a few nanoseconds.
    let length = Nanos(17_999_999_999_977);
    let plan = open("const(0.05/s,168h)").connections(1).threads(2);
    let result = drumfire_testkit::Simulation::new(plan.interval(length), world)
        .keeps_intervals()
        .run();
    let (last, whole) = result.intervals.split_last().unwrap();
    assert_eq!(whole.len(), 33);
    for (n, interval) in (0..).zip(whole) {
        let edge = |n: u64| Nanos(n * length.0);
        assert_eq!((interval.start, interval.end), (edge(n), edge(n + 1)));
    }
    assert_eq!(last.start, Nanos(33 * length.0));
    let rows = result.summary.intervals();
    assert_eq!(rows.last().map(|row| row.end), Some(last.end));
}

#[test]
fn users_of_a_dead_target_dial_one_after_the_other() {
    let world = || World::new(Server::refusing());
    for users in [5_000, 50_000] {
        let result = run(closed(users).lasts(secs(10)), world());
        let counts = result.summary.total.counts;
        assert_eq!(counts.failed, counts.sent);
        // A thousand users dial independently, at first with pauses from 1 ms on; in addition, one
        // dial follows every 200 µs.
        let (least, most) = (50_000, 50_000 + 2_000);
        assert!((least..=most).contains(&counts.failed), "{}", counts.failed);
        assert_eq!(result.summary.total.latency.lag.max(), Nanos::ZERO);
    }
    // Few users are not slowed down: each dials 105 times in 10 s, because the longest pause is 100
    // ms.
    let result = run(closed(100).lasts(secs(10)), world());
    assert_eq!(result.summary.total.counts.failed, 100 * 105);
}
