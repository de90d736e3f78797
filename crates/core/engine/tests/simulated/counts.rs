//! Exact counts, for every way to end a run.

use crate::{close, ms, quantile, run, secs, us};
use drumfire_measure::Outcome;
use drumfire_plan::Load;
use drumfire_testkit::{
    Answer, Draft, Law, Network, Server, Simulated, Simulation, World, closed, open,
};
use drumfire_units::Nanos;

fn fast() -> World {
    World::new(Server::new().takes(Law::Const(us(200)))).network(Network::each_way(us(30)))
}

/// Checks that exactly `count` requests were intended, sent, answered, and seen by the server.
#[track_caller]
fn exactly(result: &Simulated, count: u64) {
    let counts = result.summary.total.counts;
    assert_eq!(
        (counts.intended, counts.sent, counts.ok, counts.dropped),
        (count, count, count, 0)
    );
    assert_eq!(result.summary.total.counts.pending, 0);
    assert_eq!(result.summary.total.counts.in_flight, 0);
    assert_eq!(result.log.requests, count, "by the server's own count");
}

#[test]
fn fifty_thousand_a_second_are_half_a_million_in_ten() {
    let plan = open("const(50000/s,10s)").connections(64);
    let result = run(plan, fast());
    exactly(&result, 500_000);
    let latency = &result.summary.total.latency;
    assert_eq!(latency.lag.max(), Nanos::ZERO);
    assert_eq!(latency.waiting.max(), Nanos::ZERO);
    assert_eq!(latency.response_time.max(), us(260));
    assert_eq!(latency.response_time.min(), us(260));
    // The last one starts 20 µs before the end and is waited for.
    assert_eq!(result.summary.duration, secs(10) + us(240));
}

/// Every number of workers from one to more than the number of connections.
#[track_caller]
fn for_every_worker_count(count: u64, plan: impl Fn() -> Draft) {
    for threads in [1, 2, 3, 5, 8, 16] {
        exactly(&run(plan().threads(threads), fast()), count);
    }
}

#[test]
fn a_number_of_requests_is_exact() {
    for n in [1, 7, 1000, 1001] {
        for_every_worker_count(n, || closed(10).requests(n));
        for_every_worker_count(n, || open("const(5000/s)").connections(10).requests(n));
        for_every_worker_count(n, || open("unlimited").connections(10).requests(n));
    }
}

#[test]
fn a_number_of_iterations_is_exact() {
    let urls = ["http://sut/a", "http://sut/b", "http://sut/c"];
    for_every_worker_count(300, || closed(10).to(&urls).iterations(100));
    for_every_worker_count(300, || {
        open("const(5000/s)")
            .connections(10)
            .to(&urls)
            .iterations(100)
    });
    let result = run(closed(7).to(&urls).iterations(100).threads(4), fast());
    for step in result.summary.steps() {
        assert_eq!(step.counts.ok, 100, "{}", step.name);
    }
}

#[test]
fn a_number_of_requests_is_exact_over_unlimited_pieces() {
    for_every_worker_count(150, || {
        open("const(100/s,1s) unlimited(1s)")
            .connections(10)
            .requests(150)
    });
    for_every_worker_count(5000, || {
        open("unlimited(100ms) const(100/s)")
            .connections(10)
            .requests(5000)
    });
    // Arrivals after such a piece are counted, too, within one interval and over several.
    for interval in [ms(100), secs(100)] {
        let plan = open("unlimited(1s) const(10/s,1s)").interval(interval);
        let world = World::new(Server::new().takes(Law::Const(ms(1))));
        exactly(&run(plan, world), 1010);
    }
}

#[test]
fn the_first_of_two_ends_counts() {
    exactly(&run(closed(2).requests(50).lasts(secs(60)), fast()), 50);
    exactly(
        &run(
            open("const(100/s)")
                .connections(9)
                .requests(5000)
                .lasts(secs(3)),
            fast(),
        ),
        300,
    );
    exactly(
        &run(
            open("const(100/s,2s)").connections(9).requests(5000),
            fast(),
        ),
        200,
    );
}

#[test]
fn a_law_has_its_count() {
    for (law, count) in [
        ("const(333/s,3s)", 999),
        ("line(0/s,1000/s,10s)", 5000),
        ("step(100/s,500/s,100/s,2s)", 3000),
        ("step(500/s,100/s,100/s,2s)", 3000),
        ("once(777)", 777),
        ("line(5,200,60s) const(200,5m)", 6150 + 60_000),
        ("const(10/s,1s) once(5) const(20/s,1s)", 35),
        ("sine(100/s,50/s,10s,20s)", 2000),
    ] {
        for threads in [1, 3] {
            exactly(
                &run(open(law).connections(800).threads(threads), fast()),
                count,
            );
        }
    }
}

/// The times of arrival at the server, in order.
fn arrivals(law: &str) -> Vec<Nanos> {
    let world = World::new(Server::new()).keeps_requests();
    let result = run(open(law).connections(50), world);
    let times: Vec<Nanos> = result.log.seen.iter().map(|seen| seen.at).collect();
    assert!(times.is_sorted());
    times
}

#[test]
fn arrivals_come_at_the_nanosecond() {
    let times = arrivals("const(3/s,2s)");
    let expected: Vec<Nanos> = (0..6).map(|n| Nanos(n * 1_000_000_000 / 3)).collect();
    for (time, expected) in times.iter().zip(&expected) {
        assert!(time.0.abs_diff(expected.0) <= 1, "{time} is not {expected}");
    }
    assert_eq!(times.len(), 6);
}

#[test]
fn a_line_rises_and_steps_follow_each_other() {
    // N(t) = t²/2 · 100/10: half of the arrivals come in the last 29 %.
    let times = arrivals("line(0/s,100/s,10s)");
    for (n, time) in times.iter().enumerate() {
        let expected = (n as f64 / 5.0).sqrt();
        assert!((time.as_secs_f64() - expected).abs() < 1e-6, "{n}: {time}");
    }
    let times = arrivals("step(10/s,30/s,10/s,1s)");
    for (second, count) in [(0, 10), (1, 20), (2, 30)] {
        let within = |time: &&Nanos| time.0 / 1_000_000_000 == second;
        assert_eq!(
            times.iter().filter(within).count(),
            count,
            "second {second}"
        );
    }
}

#[test]
fn the_warm_up_is_sent_and_not_measured() {
    // Slow at first, like a cold cache.
    let server = |cold| {
        Server::new().answers(move |request| {
            let time = if request.index < cold {
                ms(40)
            } else {
                us(500)
            };
            Answer::ok().after(time)
        })
    };
    let plan = open("const(1000/s,5s)").connections(100).warmup(secs(1));
    let result = run(plan, World::new(server(1000)));
    let total = &result.summary.total;
    assert_eq!(result.log.requests, 5000);
    assert_eq!(total.counts.ok, 4000);
    assert_eq!(total.counts.intended, 4000);
    assert_eq!(total.warmup.ok, 1000);
    assert_eq!(total.latency.response_time.max(), us(500));
    close(
        "the span",
        result.summary.duration.as_secs_f64(),
        4.0,
        0.001,
    );
    let result = run(
        closed(10).lasts(secs(2)).warmup(secs(1)),
        World::new(server(100)),
    );
    let total = &result.summary.total;
    assert_eq!(total.latency.service_time.max(), us(500));
    assert_eq!(total.warmup.ok + total.counts.ok, result.log.requests);
    close("the rate", result.summary.achieved_per_s(), 20_000.0, 0.001);
}

/// Answers take longer than the warm-up. Before and after the end of the warm-up, and with any
/// number of threads, each request is counted in the second in which it becomes due.
#[test]
fn the_warm_up_counts_what_becomes_due_when_it_does() {
    for threads in [1, 2] {
        let plan = open("const(100/s,8s)").connections(1_000).threads(threads);
        let plan = plan.warmup(ms(5_500)).interval(secs(1));
        let world = World::new(Server::new().takes(Law::Const(ms(2_500))));
        let result = Simulation::new(plan, world).keeps_intervals().run();
        let due = result.intervals.iter().map(|interval| {
            let total = &interval.total;
            total.warmup.intended + total.counts.intended
        });
        let mut due: Vec<u64> = due.collect();
        let drain = due.split_off(8);
        assert_eq!(due, [100; 8], "{threads} threads");
        assert_eq!(drain.iter().sum::<u64>(), 0);
        let total = &result.summary.total;
        assert_eq!((total.warmup.intended, total.warmup.sent), (550, 550));
        assert_eq!(total.counts.intended, 250);
    }
}

#[test]
fn users_think() {
    // 10 ms of service and 40 ms of thinking: twenty requests a second for each user.
    let world = World::new(Server::new().takes(Law::Const(ms(10))));
    let result = run(closed(5).thinks(ms(40)).lasts(secs(10)), world);
    exactly(&result, 5 * 20 * 10);
    assert_eq!(result.summary.total.latency.lag.max(), Nanos::ZERO);
    assert_eq!(result.summary.total.latency.response_time.max(), ms(10));
}

#[test]
fn more_users_than_connections_wait_for_one() {
    let mut plan = closed(8).requests(800);
    plan.connections.count = 2;
    let world = World::new(Server::new().takes(Law::Const(ms(1))));
    let result = run(plan, world);
    exactly(&result, 800);
    assert_eq!(result.log.connections_most, 2);
    let latency = &result.summary.total.latency;
    assert_eq!(latency.service_time.max(), ms(1));
    assert_eq!(latency.lag.max(), Nanos::ZERO);
    close("the wait", quantile(&latency.waiting, 0.5), 3e-3, 0.001);
}

#[test]
fn unlimited_is_as_fast_as_the_connections_allow() {
    let world = World::new(Server::new().takes(Law::Const(ms(1))));
    let plan = open("unlimited(2s)").connections(4);
    assert!(matches!(plan.load, Load::Open { .. }));
    let result = run(plan, world);
    exactly(&result, 4 * 2000);
    assert_eq!(result.summary.total.outcomes().get(Outcome::Ok), 8000);
}
