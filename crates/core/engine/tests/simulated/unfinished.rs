//! The end of a run: requests that were due but not sent, or in flight, stay in the record.

use crate::{close, ms, quantile, run, secs};
use drumfire_measure::Histogram;
use drumfire_testkit::{Answer, Http2Behaviour, Law, Server, Simulated, World, closed, open};
use drumfire_units::Nanos;

/// The duration of an answer.
const SERVICE: Nanos = Nanos::from_millis(1);

/// A server that works until 9 s and then hangs.
fn frozen(server: Server) -> World {
    World::new(
        server
            .takes(Law::Const(SERVICE))
            .stalls(secs(91), secs(100)),
    )
}

/// The wait of an arrival at 200/s that was unsent at the run's end at 10 s.
fn waited(arrival: u64) -> Nanos {
    secs(10) - ms(5 * arrival)
}

/// 200/s for 10 s; during the last second the server hangs: 8 requests on 8 connections time out,
/// and 192 are never sent.
#[track_caller]
fn shows_the_freeze(result: &Simulated) {
    let latency = &result.summary.total.latency;
    let (mut response, mut waiting) = (Histogram::new(), Histogram::new());
    for arrival in 0..2000 {
        match arrival {
            0..1800 => response.record(SERVICE),
            1800..1808 => response.record_at_least(secs(30)),
            _ => response.record_at_least(waited(arrival)),
        }
        match arrival {
            0..1808 => waiting.record(Nanos::ZERO),
            _ => waiting.record_at_least(waited(arrival)),
        }
    }
    assert_eq!(latency.response_time, response);
    assert_eq!(latency.waiting, waiting);
    // The 20 slowest are the 8 and the requests that were due in the 60 ms after them.
    close("p99", quantile(&response, 0.99), 0.9, 0.001);
    assert!(latency.response_time.is_at_least(0.99));
    assert_eq!(latency.service_time.count(), 1808);
    let pending = result.summary.total.counts.pending;
    assert_eq!((pending, result.summary.total.counts.intended), (192, 2000));
}

#[test]
fn a_freeze_at_the_end_is_in_the_response_time() {
    for threads in [1, 2, 4] {
        let plan = open("const(200/s)").connections(8).lasts(secs(10));
        let plan = plan.threads(threads);
        shows_the_freeze(&run(plan.clone(), frozen(Server::new())));
        let streams = Server::http2(Http2Behaviour::new());
        shows_the_freeze(&run(plan.http2(1), frozen(streams)));
    }
}

#[test]
fn a_freeze_of_one_of_two_targets_is_in_the_response_time() {
    // Requests of the frozen target wait for its connections; requests of the other target
    // continue.
    let world = frozen(Server::new()).host("10.0.0.2:80", Server::new().takes(Law::Const(SERVICE)));
    let world = world
        .name("b", &["10.0.0.2:80"])
        .name("a", &["10.0.0.1:80"]);
    let plan = open("const(200/s)").to(&["http://a/", "http://b/"]);
    let result = run(plan.connections(8).lasts(secs(10)), world);
    let total = &result.summary.total;
    assert_eq!(result.summary.total.counts.pending, 92);
    assert_eq!(total.latency.response_time.count(), 2000);
    let [a, b] = &total.steps[..] else {
        panic!("two steps");
    };
    assert_eq!(
        (a.response_time.count(), a.response_time.max()),
        (1000, secs(30))
    );
    assert!(a.response_time.is_at_least(0.95));
    assert_eq!(
        (b.response_time.count(), b.response_time.max()),
        (1000, SERVICE)
    );
    assert_eq!(b.response_time.at_least_from(), None);
    // The 51st longest is the 43rd of the waiting ones, the first of which was due at 9.08 s.
    close("p95", quantile(&a.response_time, 0.95), 0.5, 0.001);
    assert_eq!(total.latency.waiting.max(), secs(10) - ms(9080));
}

#[test]
fn what_waits_when_the_run_is_stopped_has_waited_until_then() {
    let world = frozen(Server::new()).stopped_at(ms(9500));
    let result = run(open("const(200/s,60s)").connections(8), world);
    let pending = result.summary.total.counts.pending;
    // A stop is noticed within 50 ms.
    assert!((92..=102).contains(&pending), "{pending}");
    let waiting = &result.summary.total.latency.waiting;
    assert_eq!(waiting.count(), 1808 + pending);
    let longest = waiting.max();
    assert!((ms(460)..=ms(510)).contains(&longest), "{longest}");
}

#[test]
fn what_was_due_in_the_warm_up_is_left_out() {
    let plan = open("const(200/s)").connections(8).lasts(secs(10));
    let result = run(plan.warmup(ms(9500)), frozen(Server::new()));
    let latency = &result.summary.total.latency;
    assert_eq!(result.summary.total.counts.pending, 100);
    assert_eq!(latency.response_time.count(), 100);
    assert_eq!(latency.response_time.max(), ms(500));
    assert_eq!(latency.service_time.count(), 0);
}

#[test]
fn what_is_in_flight_when_the_drain_ends_is_in_the_service_time() {
    for http2 in [false, true] {
        let mut plan = closed(5).lasts(secs(3)).with(|plan| {
            plan.timeouts.total = Nanos::MAX;
            plan.timeouts.head = Nanos::MAX;
        });
        let mut server = Server::new().says(Answer::never());
        if http2 {
            plan = plan.http2(1);
            server = Server::http2(Http2Behaviour::new()).takes(Law::Const(secs(1000)));
        }
        let result = run(plan, World::new(server));
        let counts = result.summary.total.counts;
        assert_eq!((counts.pending, counts.in_flight, counts.sent), (0, 5, 5));
        let latency = &result.summary.total.latency;
        // Three seconds of load, and a drain of one minute.
        for times in [&latency.response_time, &latency.service_time] {
            assert_eq!((times.count(), times.min()), (5, secs(63)));
            assert_eq!(times.at_least_from(), Some(secs(63)));
        }
        assert_eq!(latency.lag.count(), 5);
    }
}

#[test]
fn any_number_of_requests_may_be_pending() {
    let world = World::new(Server::new().takes(Law::Const(ms(10))));
    let urls = ["http://sut/a", "http://sut/b", "http://sut/c"];
    let plan = open("const(3000000/s)").to(&urls).lasts(secs(1));
    let result = run(plan, world);
    let pending = result.summary.total.counts.pending;
    assert_eq!(pending, 3_000_000 - 101);
    let total = &result.summary.total;
    let response = &total.latency.response_time;
    assert_eq!(response.count(), 3_000_000);
    // Waits are evenly distributed from 0 to 1 s; a portion of 46 arrivals counts with its
    // shortest.
    close("mean", response.mean() / 1e9, 0.5, 0.001);
    close("p90", quantile(response, 0.9), 0.9, 0.002);
    for step in &total.steps {
        close("of a step", step.response_time.count() as f64, 1e6, 0.001);
        close("its mean", step.response_time.mean() / 1e9, 0.5, 0.001);
    }
}
