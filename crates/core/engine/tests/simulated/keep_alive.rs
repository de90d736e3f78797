//! The life of connections, and the side that ends them.

use crate::{failures, ms, run, secs, us};
use drumfire_measure::{Outcome, Validity};
use drumfire_plan::{Header, KeepAlive, KeepAliveHints, Method, Opening, ReusedClosed};
use drumfire_testkit::{Answer, Law, Network, Server, Simulated, World, closed, open};
use drumfire_units::Nanos;

/// Checks the number of answered requests and of connections, and that no request failed.
#[track_caller]
fn answered(result: &Simulated, requests: u64, connections: u64) {
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, requests);
    assert_eq!(result.log.requests, requests);
    assert_eq!(result.log.connections, connections);
}

fn world(server: Server) -> World {
    World::new(server.takes(Law::Const(us(100)))).network(Network::each_way(us(10)))
}

#[test]
fn connections_are_kept() {
    let result = run(closed(5).requests(1000), world(Server::new()));
    answered(&result, 1000, 5);
    assert_eq!(result.summary.generator.connections_opened, 5);
}

#[test]
fn a_connection_carries_as_many_as_the_plan_says() {
    for (keep_alive, connections) in [
        (KeepAlive::No, 1000),
        (KeepAlive::AtMost(1), 1000),
        (KeepAlive::AtMost(10), 100),
        (KeepAlive::AtMost(1000), 1),
    ] {
        let plan = closed(1)
            .requests(1000)
            .with(|plan| plan.connections.keep_alive = keep_alive);
        let result = run(plan, world(Server::new()).keeps_requests());
        answered(&result, 1000, connections);
        let says_close = result.log.seen[0].head.contains("Connection: close\r\n");
        assert_eq!(says_close, keep_alive == KeepAlive::No);
    }
}

#[test]
fn a_server_says_that_it_closes() {
    for then in [ms(0), us(1), ms(5), secs(100)] {
        let answer = Answer::with(200, "Connection: close\r\n", b"bye")
            .then_closes(then)
            .is_last();
        let result = run(closed(3).requests(300), world(Server::new().says(answer)));
        answered(&result, 300, 300);
        assert_eq!(result.log.after_last, 0);
    }
}

#[test]
fn what_the_server_announces_is_obeyed_when_the_plan_says_so() {
    let (ignore, respect) = (KeepAliveHints::Ignore, KeepAliveHints::Respect);
    for (field, hints, connections) in [
        ("Keep-Alive: timeout=1\r\n", ignore, 1),
        ("Keep-Alive: timeout=1\r\n", respect, 10),
        ("Keep-Alive: timeout=2, max=5\r\n", respect, 1),
        ("Keep-Alive: max=0\r\n", ignore, 1),
        ("Keep-Alive: max=0\r\n", respect, 10),
    ] {
        let answer = Answer::with(200, field, b"bye");
        let plan = closed(1)
            .thinks(ms(1500))
            .requests(10)
            .with(|plan| plan.connections.hints = hints);
        let result = run(plan, world(Server::new().says(answer)));
        answered(&result, 10, connections);
    }
}

#[test]
fn a_body_that_ends_with_the_connection_is_whole_when_it_closes() {
    for then in [ms(0), us(1), ms(5), secs(20)] {
        for cut in [None, Some(40), Some(17)] {
            let mut answer = Answer::raw(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")
                .then_closes(then)
                .is_last();
            if let Some(place) = cut {
                answer = answer.cut_at(&[place.min(25)], us(3));
            }
            let result = run(closed(3).requests(30), world(Server::new().says(answer)));
            answered(&result, 30, 30);
        }
    }
}

#[test]
fn a_server_that_closes_after_some_is_noticed_before_the_next() {
    // The end arrives with the answer, so the next request must not be sent on this connection.
    let server = Server::new().closes_after(10);
    let result = run(closed(2).thinks(ms(1)).requests(1000), world(server));
    failures(&result.summary, &[]);
    assert_eq!(result.log.after_close, 0);
    assert_eq!(result.log.connections, 100);
}

#[test]
fn a_server_that_closes_at_once_is_noticed_with_the_answer() {
    // Without a pause, the answer and the end arrive together.
    let server = Server::new().closes_after(10);
    let result = run(closed(2).requests(1000), world(server));
    failures(&result.summary, &[]);
    assert_eq!(result.log.after_close, 0);
}

#[test]
fn idle_connections_that_the_server_closes_are_opened_again() {
    // One request in 200 ms on each connection; the server waits 100 ms.
    let server = Server::new().closes_idle(ms(100));
    let result = run(open("const(10/s,30s)").connections(2), world(server));
    answered(&result, 300, 300);
}

/// A server that closes the connection just while the next request is on its way.
fn racing() -> World {
    World::new(Server::new().closes_idle(ms(10))).network(Network::each_way(ms(2)))
}

#[test]
fn a_request_that_meets_the_end_of_its_connection_fails() {
    // The request is sent 8 ms after the server's answer, and arrives 1 ms after the server closed.
    let plan = closed(1).thinks(ms(7)).requests(100);
    let result = run(plan, racing());
    failures(&result.summary, &[(Outcome::ClosedReused, 50)]);
    assert_eq!(result.summary.total.counts.ok, 50);
    assert_eq!(result.log.after_close, 50);
}

#[test]
fn a_request_that_meets_the_end_is_sent_again_where_the_plan_says_so() {
    let plan = closed(1)
        .thinks(ms(7))
        .requests(100)
        .with(|plan| plan.connections.reused_closed = ReusedClosed::Retry);
    let result = run(plan, racing());
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, 100);
    assert_eq!(result.log.requests, 100);
    // A request that is not idempotent is not sent twice.
    let plan = closed(1)
        .thinks(ms(7))
        .requests(100)
        .posting(b"once")
        .with(|plan| plan.connections.reused_closed = ReusedClosed::Retry);
    let result = run(plan, racing());
    failures(&result.summary, &[(Outcome::ClosedReused, 50)]);
}

/// Go's client treats a PUT like a POST, and treats either as repeatable if it has an idempotency
/// key.
#[test]
fn requests_are_sent_again_by_the_rule_of_the_plan() {
    let key = ("X-Idempotency-Key", "1");
    for (rule, method, field, lost) in [
        (ReusedClosed::Retry, "PUT", None, 0),
        (ReusedClosed::Retry, "DELETE", None, 0),
        (ReusedClosed::Retry, "POST", Some(key), 50),
        (ReusedClosed::RetryAsGo, "GET", None, 0),
        (ReusedClosed::RetryAsGo, "PUT", None, 50),
        (ReusedClosed::RetryAsGo, "DELETE", None, 50),
        (ReusedClosed::RetryAsGo, "POST", None, 50),
        (ReusedClosed::RetryAsGo, "POST", Some(key), 0),
    ] {
        let plan = closed(1).thinks(ms(7)).requests(100).with(|plan| {
            plan.connections.reused_closed = rule;
            plan.requests[0].method = Method::parse(method).unwrap();
            let field = field.map(|(name, value)| Header::new(name, value.as_bytes()).unwrap());
            plan.requests[0].headers.extend(field);
        });
        let result = run(plan, racing());
        let failed = result.summary.total.counts.failed;
        assert_eq!(failed, lost, "{rule:?} {method} {field:?}");
    }
}

#[test]
fn opening_a_connection_is_no_lag() {
    let plan = open("const(100/s,10s)")
        .connections(10)
        .with(|plan| plan.connections.keep_alive = KeepAlive::No);
    let world = World::new(Server::new()).network(Network::each_way(ms(20)));
    let result = run(plan, world);
    let latency = &result.summary.total.latency;
    assert_eq!(latency.lag.max(), Nanos::ZERO);
    assert_eq!(latency.waiting.min(), ms(40));
    assert_eq!(latency.response_time.max(), ms(80));
    assert_eq!(result.summary.verdict.validity, Validity::Valid);
}

#[test]
fn one_request_each_waits_for_its_connection() {
    let plan = closed(4)
        .lasts(secs(1))
        .with(|plan| plan.connections.keep_alive = KeepAlive::No);
    let world = World::new(Server::new()).network(Network::each_way(ms(1)));
    let result = run(plan, world);
    let latency = &result.summary.total.latency;
    // Two trips to connect, two to be served. Service time counts from the request's bytes.
    assert_eq!(latency.response_time.max(), ms(4));
    assert_eq!(latency.service_time.max(), ms(2));
    assert_eq!(result.summary.total.connections.connect.max(), ms(2));
    assert_eq!(result.summary.total.counts.ok, 4 * 250);
    assert_eq!(latency.response_time.min(), ms(4));
    assert!(result.summary.total.connections.connect.min() > Nanos::ZERO);
    assert_eq!(latency.lag.max(), Nanos::ZERO);
}

#[test]
fn a_server_that_speaks_first_is_no_http() {
    let banner = || Answer::raw(b"SSH-2.0-OpenSSH_9.6\r\n");
    for keep_alive in [KeepAlive::No, KeepAlive::Yes] {
        for (greeting, outcomes) in [
            (banner(), [Outcome::ProtoNotHttp, Outcome::ProtoNotHttp]),
            (
                banner().then_closes(ms(0)),
                [Outcome::ProtoNotHttp, Outcome::ProtoNotHttp],
            ),
            (
                Answer::raw(b"").then_closes(ms(0)),
                [Outcome::Closed, Outcome::Closed],
            ),
            (
                Answer::raw(b"").then_resets(ms(0)),
                [Outcome::Reset, Outcome::Send],
            ),
        ] {
            let plan = closed(2)
                .requests(20)
                .with(|plan| plan.connections.keep_alive = keep_alive);
            let result = run(plan, World::new(Server::new().greets(greeting)));
            let total = &result.summary.total;
            let seen = |outcome| total.outcomes().get(outcome);
            let mut count = seen(outcomes[0]);
            if outcomes[0] != outcomes[1] {
                count += seen(outcomes[1]);
            }
            assert_eq!(count, 20, "{:?}", total.errors());
            assert!(
                result.summary.total.latency.failed.max() < secs(1),
                "at once"
            );
        }
    }
}

/// With a connection for each request, most of a client's waiting is the opening.
#[test]
fn the_opening_of_a_connection_counts_where_the_plan_says() {
    for (opening, trips) in [(Opening::Waiting, 1), (Opening::Service, 2)] {
        let plan = closed(1).requests(10).with(|plan| {
            plan.connections.keep_alive = KeepAlive::No;
            plan.connections.opening = opening;
        });
        let slow = World::new(Server::new().takes(Law::Const(us(100))));
        let result = run(plan, slow.network(Network::each_way(ms(10))));
        answered(&result, 10, 10);
        // The first connection was opened before the run.
        let latency = &result.summary.total.latency;
        let most = us(100) + Nanos(ms(20).0 * trips);
        let found = latency.first_byte.max();
        assert!(
            found >= most && found < most + ms(1),
            "{opening:?}: {found}"
        );
        let found = latency.service_time.max();
        assert!(
            found >= most && found < most + ms(1),
            "{opening:?}: {found}"
        );
    }
}
