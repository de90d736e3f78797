//! The meaning of the figures: response time includes the waiting that a target caused, lag is the
//! generator's own.

use crate::{close, ms, quantile, run, secs, us};
use drumfire_measure::{Latency, Validity};
use drumfire_plan::UserSteps;
use drumfire_testkit::{Client, Http2Behaviour, Law, Network, Server, World, closed, open};
use drumfire_units::Nanos;

/// A fast server that stalls for 1 s in every 10 s.
fn stalling() -> World {
    World::new(
        Server::new()
            .takes(Law::Const(us(20)))
            .stalls(secs(1), secs(10)),
    )
}

/// One request in ten meets a stall, and waits for the rest of it: p95 = 0.5 s, p99 = 0.9 s.
#[track_caller]
fn shows_the_stall(latency: &Latency) {
    let response = &latency.response_time;
    close("p95", quantile(response, 0.95), 0.5, 0.01);
    close("p99", quantile(response, 0.99), 0.9, 0.01);
    close("p99.9", quantile(response, 0.999), 0.99, 0.01);
    close("p50", quantile(response, 0.5), 20e-6, 0.001);
    close("max", response.max().as_secs_f64(), 1.0, 0.001);
}

#[test]
fn a_stall_is_in_the_response_time_with_few_connections() {
    let plan = open("const(1000/s,100s)").connections(4);
    let result = run(plan, stalling());
    let total = &result.summary.total;
    assert_eq!(total.counts.ok, 100_000);
    shows_the_stall(&total.latency);
    // Four requests in 10,000 were in flight when the server stalled. A tool that sends the next
    // request when the previous one is done sees only the service time.
    let service = &total.latency.service_time;
    close("p0.95", quantile(service, 0.95), 20e-6, 0.001);
    close("p0.99", quantile(service, 0.99), 20e-6, 0.001);
    close("p0.999", quantile(service, 0.999), 20e-6, 0.001);
    close("max", service.max().as_secs_f64(), 1.0, 0.001);
    // The target made them wait, so the run is valid.
    assert_eq!(total.latency.lag.max(), Nanos::ZERO);
    close("wait", quantile(&total.latency.waiting, 0.99), 0.9, 0.01);
    assert_eq!(result.summary.verdict.validity, Validity::Valid);
}

#[test]
fn a_stall_is_in_the_response_time_with_many_connections() {
    let plan = open("const(1000/s,100s)").connections(1200);
    let result = run(plan, stalling());
    let total = &result.summary.total;
    assert_eq!(total.counts.ok, 100_000);
    shows_the_stall(&total.latency);
    // Each request finds a connection, so no request waits for one.
    assert_eq!(total.latency.waiting.max(), Nanos::ZERO);
    assert_eq!(total.latency.lag.max(), Nanos::ZERO);
    close(
        "p99",
        quantile(&total.latency.service_time, 0.99),
        0.9,
        0.01,
    );
    assert_eq!(result.summary.verdict.validity, Validity::Valid);
}

#[test]
fn a_closed_loop_does_not_see_the_stall() {
    let server = Server::new()
        .takes(Law::Const(ms(1)))
        .stalls(secs(1), secs(10));
    let result = run(closed(4).lasts(secs(100)), World::new(server));
    let service = &result.summary.total.latency.service_time;
    // Four users, 90 s in which the server serves, and one request each that met the last stall.
    assert_eq!(service.count(), 4 * (90 * 1000 + 1));
    close("p99.9", quantile(service, 0.999), 1e-3, 0.001);
    close("max", service.max().as_secs_f64(), 1.0, 0.001);
}

/// Requests of one run through a queue.
const REQUESTS: u32 = 1_000_000;

/// M/M/1: response times are exponential with the rate μ − λ, so the quantile p is −ln(1 − p) / (μ
/// − λ). The network's delay is added. Successive response times are correlated over some (1 + ρ) /
/// (1 − ρ)² requests, so 1,000,000 are worth 22,000 independent ones at ρ = 0.8: their p99 has a
/// standard error of 1.5 %, p99.9 one of 3 %.
#[track_caller]
fn is_mm1(rate: u32, tolerance: f64) {
    let service_rate = 1000.0;
    let seconds = REQUESTS / rate;
    let plan = open(&format!("const({rate}/s,{seconds}s)"))
        .poisson()
        .connections(400)
        .seed(7);
    let server = Server::new()
        .takes(Law::Exponential(ms(1)))
        .serves_at_a_time(1);
    let world = World::new(server).network(Network::each_way(us(50)));
    let result = run(plan, world);
    let total = &result.summary.total;
    let response = &total.latency.response_time;
    for q in [0.5_f64, 0.9, 0.99, 0.999] {
        let expected = -(1.0 - q).ln() / (service_rate - f64::from(rate)) + 100e-6;
        close(
            &format!("p{q} at {rate}"),
            quantile(response, q),
            expected,
            tolerance,
        );
    }
    let mean = 1.0 / (service_rate - f64::from(rate)) + 100e-6;
    close("the mean", response.mean() / 1e9, mean, tolerance);
    // A Poisson count of mean 1,000,000 has a standard deviation of 1,000.
    close(
        "the count",
        total.counts.ok as f64,
        f64::from(REQUESTS),
        0.003,
    );
}

#[test]
fn mm1_at_half_load() {
    is_mm1(500, 0.03);
}

#[test]
fn mm1_at_four_fifths_load() {
    is_mm1(800, 0.08);
}

#[test]
fn few_connections_do_not_hide_a_queue() {
    // With two connections, a third request waits in the generator. Its response time does not
    // change.
    let plan = |connections| open("const(800/s,500s)").poisson().connections(connections);
    let world = || {
        World::new(
            Server::new()
                .takes(Law::Exponential(ms(1)))
                .serves_at_a_time(1),
        )
    };
    let (few, many) = (run(plan(2), world()), run(plan(1000), world()));
    assert_eq!(
        few.summary.total.latency.response_time,
        many.summary.total.latency.response_time
    );
    assert!(few.summary.total.latency.waiting.max() > ms(10));
    assert_eq!(many.summary.total.latency.waiting.max(), Nanos::ZERO);
}

/// A client that is stopped at 3 s, for `pause`.
fn halted(pause: Nanos) -> World {
    World::new(Server::new().takes(Law::Const(us(100))))
        .client(Client::ideal().stopped(secs(3), pause))
}

#[test]
fn a_stop_of_the_client_is_lag() {
    let result = run(open("const(1000/s,10s)").connections(1200), halted(secs(1)));
    let total = &result.summary.total;
    assert_eq!(total.counts.ok, 10_000);
    // A tenth of the requests was up to a second late, evenly distributed.
    let lag = &total.latency.lag;
    close("p95", quantile(lag, 0.95), 0.5, 0.005);
    close("p99", quantile(lag, 0.99), 0.9, 0.005);
    close("max", lag.max().as_secs_f64(), 1.0, 0.001);
    assert_eq!(total.latency.waiting.max(), Nanos::ZERO);
    assert_eq!(result.summary.verdict.validity, Validity::Invalid);
}

#[test]
fn a_stop_of_a_client_with_few_connections_is_found() {
    // Fifty of the late requests find a free connection. Later ones wait for connections that would
    // have been free if the client had sent the others in time.
    let result = run(open("const(1000/s,10s)").connections(50), halted(ms(999)));
    assert_eq!(result.summary.verdict.validity, Validity::Invalid);
    let total = &result.summary.total;
    let lag = &total.latency.lag;
    close("p95", quantile(lag, 0.95), 0.5, 0.01);
    close("p99", quantile(lag, 0.99), 0.9, 0.01);
    // Each of the fifty carries twenty requests in a row, of 0.1 ms each.
    let waiting = total.latency.waiting.max();
    assert!(waiting <= ms(2), "{waiting}");
}

/// A client that is stopped for 60 ms in every 500 ms.
fn halting() -> Client {
    let stops = (1..12).map(|n| ms(500 * n));
    stops.fold(Client::ideal(), |client, at| client.stopped(at, ms(60)))
}

/// A limit on connections, streams or users does not turn the generator's stops into the target's
/// delay.
#[test]
fn stops_of_the_client_are_lag_whatever_bounds_the_load() {
    let http1 = || Server::new().takes(Law::Const(us(24)));
    let http2 = || Server::http2(Http2Behaviour::new()).takes(Law::Const(us(24)));
    let load = || open("const(1000/s,6s)");
    let users = |n| UserSteps::changing(vec![(Nanos::ZERO, n)]).expect("a number");
    let free = run(
        load().connections(100),
        World::new(http1()).client(halting()),
    );
    let expected = quantile(&free.summary.total.latency.lag, 0.99);
    close("without a bound", expected, 0.054, 0.05);
    for (what, plan, server) in [
        ("two connections", load().connections(2), http1()),
        ("one connection", load().connections(1), http1()),
        ("two streams", load().connections(1).http2(2), http2()),
        ("users", load().connections(50).users(users(3)), http1()),
    ] {
        for threads in [1, 2] {
            let world = World::new(server.clone()).client(halting());
            let result = run(plan.clone().threads(threads), world);
            let total = &result.summary.total;
            assert_eq!(total.counts.ok, 6000);
            let lag = quantile(&total.latency.lag, 0.99);
            close(&format!("{what}, {threads} threads"), lag, expected, 0.05);
            assert!(total.latency.waiting.max() <= ms(2), "{what}");
            assert_eq!(result.summary.verdict.validity, Validity::Invalid, "{what}");
        }
    }
}

/// The whole queue that a stop leaves shares the cost of the stop, which does not grow with the
/// queue.
#[test]
fn a_stop_before_overload_does_not_add_up() {
    let client = Client::ideal().stopped(secs(1), ms(60)).wakes_late(us(20));
    let world =
        World::new(Server::new().takes(Law::Const(ms(10)))).client(client.call_takes(us(1)));
    let result = run(open("const(10/s,1s) const(150/s,9s)").connections(1), world);
    let lag = &result.summary.total.latency.lag;
    assert!(lag.max() >= ms(59) && lag.max() <= ms(61), "{}", lag.max());
    close("p50", quantile(lag, 0.5), 0.06, 0.02);
}

#[test]
fn a_stop_of_the_client_is_found_in_the_closed_model() {
    for (pause, validity) in [
        (ms(50), Validity::Valid),
        (ms(300), Validity::Suspect),
        (secs(2), Validity::Invalid),
    ] {
        let result = run(closed(4).lasts(secs(10)), halted(pause));
        let verdict = &result.summary.verdict;
        assert_eq!(verdict.validity, validity, "{pause}: {:?}", verdict.reasons);
    }
}

#[test]
fn a_stop_of_an_idle_client_is_found() {
    // One request a second: none was due in the pause, and nothing arrived.
    let result = run(open("const(1/s,10s)"), halted(ms(600)));
    let verdict = &result.summary.verdict;
    assert_eq!(verdict.validity, Validity::Suspect, "{:?}", verdict.reasons);
}

#[test]
fn a_busy_client_says_so() {
    // 20 µs a call, three calls a request: 1,000 requests take 60 ms, 12,000 do not fit.
    let world = || {
        World::new(Server::new().takes(Law::Const(us(100))))
            .client(Client::ideal().call_takes(us(20)))
    };
    let idle = run(open("const(1000/s,5s)").connections(50), world());
    assert_eq!(idle.summary.verdict.validity, Validity::Valid);
    assert!(idle.summary.generator.cpu_share_max < 0.2);
    let busy = run(open("const(30000/s,5s)").connections(50), world());
    assert!(busy.summary.generator.cpu_share_max > 0.85);
    assert_ne!(busy.summary.verdict.validity, Validity::Valid);
}

#[test]
fn a_client_without_a_cpu_says_so() {
    let starved = Client::ideal()
        .starved(secs(2), ms(90))
        .starved(secs(3), ms(90))
        .starved(secs(4), ms(90))
        .starved(secs(5), ms(90))
        .starved(secs(6), ms(90))
        .starved(secs(7), ms(90));
    let world = World::new(Server::new()).client(starved);
    let result = run(closed(4).thinks(ms(1)).lasts(secs(10)), world);
    let verdict = &result.summary.verdict;
    assert_eq!(result.summary.generator.run_queue_delay, ms(6 * 90));
    assert_eq!(verdict.validity, Validity::Suspect, "{:?}", verdict.reasons);
}

#[test]
fn a_late_wake_is_lag_and_nothing_else() {
    let world = World::new(Server::new().takes(Law::Const(ms(2))))
        .client(Client::ideal().wakes_late(us(30)));
    let result = run(open("const(100/s,20s)").connections(10), world);
    let latency = &result.summary.total.latency;
    assert_eq!(latency.lag.quantile(0.5), Some(us(30)));
    assert_eq!(latency.waiting.max(), Nanos::ZERO);
    assert_eq!(latency.service_time.max(), ms(2));
    assert_eq!(latency.response_time.max(), ms(2) + us(30));
    assert_eq!(result.summary.verdict.validity, Validity::Valid);
}
