//! Users of the closed model who wait for a connection or a stream: *the* latency includes the
//! wait.

use crate::{close, failures, ms, quantile, run, secs};
use drumfire_measure::{LatencyKind, Remedy, Summary};
use drumfire_plan::KeepAlive;
use drumfire_testkit::{Http2Behaviour, Law, Network, Server, World, closed};
use drumfire_units::Nanos;

fn server() -> World {
    World::new(Server::new().takes(Law::Const(ms(20))))
}

/// Checks *the* latency, its median in seconds, and that the slowest request is its maximum.
#[track_caller]
fn check(summary: &Summary, kind: LatencyKind, median: f64) {
    failures(summary, &[]);
    assert_eq!(summary.latency_kind(), kind);
    close("p50", quantile(summary.latency(), 0.5), median, 0.002);
    let (by, slowest) = summary.slowest_requests();
    assert_eq!(by, kind);
    assert_eq!(slowest[0].time(kind), Some(summary.latency().max()));
    assert_eq!(summary.load.kept, Some(true));
}

/// The texts about shortages of the load, and the connections that they recommend.
fn advice(summary: &Summary) -> Vec<(&str, &[Remedy])> {
    let reasons = summary.load.reasons.iter();
    reasons
        .map(|reason| (&*reason.text, &*reason.remedies))
        .collect()
}

#[test]
fn users_who_share_connections_wait_for_each_other() {
    let plan = closed(10).connections(2).lasts(secs(10));
    let result = run(plan, server());
    let summary = &result.summary;
    check(summary, LatencyKind::Response, 0.1);
    assert_eq!(summary.total.latency.service_time.max(), ms(20));
    let text = "10 users shared 2 connections; about 10 are needed at this service time";
    assert_eq!(advice(summary), [(text, &[Remedy::Connections(10)][..])]);
    assert_eq!(summary.load.connections_needed, Some(10));
    // The rows over time include the wait, too.
    for row in summary.intervals().iter().filter(|row| row.good > 0) {
        let p50 = row.latency.p50.expect("a hundred requests a second").time;
        close("an interval", p50.as_secs_f64(), 0.1, 0.002);
    }
}

#[test]
fn users_wait_for_streams_that_a_server_does_not_allow() {
    let script = Http2Behaviour::new().allows(3);
    let world = World::new(Server::http2(script).takes(Law::Const(ms(20))));
    let plan = closed(30).connections(1).http2(30).lasts(secs(10));
    let result = run(plan, world);
    let summary = &result.summary;
    check(summary, LatencyKind::Response, 0.2);
    let text = "servers allow 3 concurrent streams; about 10 connections are needed at this \
                service time";
    assert_eq!(advice(summary), [(text, &[Remedy::Connections(10)][..])]);
}

/// A user who thinks for four fifths of the time leaves its connection to others.
#[test]
fn users_who_think_need_fewer_connections() {
    let plan = closed(100).connections(5).thinks(ms(80)).lasts(secs(20));
    let result = run(plan, server());
    let [reason] = &result.summary.load.reasons[..] else {
        panic!("{:?}", result.summary.load.reasons);
    };
    let text = "100 users shared 5 connections; about 20 are needed at this service time";
    assert_eq!(reason.text, text);
    assert_eq!(reason.remedies, [Remedy::Connections(29)]);
}

#[test]
fn users_with_connections_of_their_own_wait_for_nothing() {
    let result = run(closed(10).lasts(secs(10)), server());
    check(&result.summary, LatencyKind::Service, 0.02);
    assert_eq!(result.summary.total.latency.waiting.max(), Nanos::ZERO);
    assert_eq!(advice(&result.summary), []);
    assert_eq!(result.summary.load.connections_needed, None);
}

/// Each request waits for the opening of its connection, and more connections would not help.
#[test]
fn a_user_waits_for_a_connection_that_is_opened_for_its_request() {
    let plan = closed(4).with(|pool| pool.connections.keep_alive = KeepAlive::No);
    let result = run(
        plan.lasts(secs(10)),
        server().network(Network::each_way(ms(5))),
    );
    let summary = &result.summary;
    assert_eq!(summary.latency_kind(), LatencyKind::Response);
    let waited = quantile(&summary.total.latency.waiting, 0.5);
    close("p50", quantile(summary.latency(), 0.5), waited + 0.03, 0.01);
    assert!(waited >= 0.01, "{waited}");
    assert_eq!(advice(summary), []);
}
