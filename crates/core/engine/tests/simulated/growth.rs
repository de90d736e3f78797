//! Connections that are opened on demand.

use crate::{failures, ms, run, secs, us};
use drumfire_plan::Growth;
use drumfire_testkit::{
    Client, Draft, Farewell, Http2Behaviour, LastId, Law, Network, Server, World, open,
};
use drumfire_units::Nanos;

/// An open load on as many connections as it needs, up to a limit.
fn growing(law: &str, bound: u32) -> Draft {
    open(law)
        .connections(bound)
        .with(|plan| plan.connections.growth = Growth::AsNeeded)
}

fn takes(time: Nanos) -> World {
    World::new(Server::new().takes(Law::Const(time)))
}

#[test]
fn there_are_as_many_connections_as_requests_at_a_time() {
    // By Little's law 100/s of 35 ms each are 3.5 at a time.
    let result = run(growing("const(100/s,5s)", 1000), takes(ms(35)));
    failures(&result.summary, &[]);
    let total = &result.summary.total;
    assert_eq!((total.counts.ok, result.log.connections), (500, 4));
    assert_eq!(total.latency.response_time.max(), ms(35));
    assert_eq!(total.latency.waiting.max(), ms(0));
}

#[test]
fn a_slow_load_uses_one_connection_over_and_over() {
    let result = run(growing("const(10/s,5s)", 1000), takes(ms(35)));
    assert_eq!(result.summary.total.counts.ok, 50);
    assert_eq!(result.log.connections, 1);
}

#[test]
fn the_time_to_connect_is_part_of_the_wait() {
    let far = takes(ms(30)).network(Network::each_way(ms(20)));
    let result = run(growing("const(10/s,2s)", 1000), far);
    failures(&result.summary, &[]);
    let latency = &result.summary.total.latency;
    // A round trip for the connection, a round trip for the request, and the service.
    assert_eq!(latency.response_time.max(), ms(40 + 40 + 30));
    assert_eq!(latency.waiting.max(), ms(40));
    assert_eq!(latency.lag.max(), ms(0));
}

#[test]
fn our_own_lateness_is_no_wait_for_a_connection() {
    // A response comes just before the late start of the next request, which takes its connection.
    // No connection was free when the request was due, and another one could have been opened.
    let late = takes(ms(10) - us(10)).client(Client::ideal().wakes_late(us(30)));
    let result = run(growing("const(100/s,5s)", 1000), late);
    failures(&result.summary, &[]);
    let latency = &result.summary.total.latency;
    assert_eq!(latency.waiting.max(), ms(0));
    assert_eq!(latency.lag.quantile(0.5), Some(us(30)));

    let stopped = takes(us(100)).client(Client::ideal().stopped(secs(3), secs(1)));
    let result = run(growing("const(1000/s,10s)", 1200), stopped);
    let latency = &result.summary.total.latency;
    assert_eq!(latency.waiting.max(), ms(0));
    assert_eq!(latency.lag.max(), secs(1));
}

#[test]
fn the_bound_holds_and_what_exceeds_it_waits() {
    for threads in [1, 2] {
        let plan = growing("const(100/s,1s)", 2).threads(threads);
        let result = run(plan, takes(ms(100)));
        failures(&result.summary, &[]);
        assert_eq!(result.log.connections, 2, "{threads} threads");
        assert!(result.summary.total.latency.waiting.max() > ms(500));
    }
}

#[test]
fn each_origin_has_as_many_as_it_needs() {
    let world = takes(ms(35))
        .host("10.0.0.2:80", Server::new().takes(Law::Const(ms(15))))
        .name("other", &["10.0.0.2:80"]);
    let plan = growing("const(100/s,4s)", 100).to(&["http://sut/", "http://other/"]);
    let result = run(plan, world);
    failures(&result.summary, &[]);
    // Fifty a second for each target, every 20 ms: two at a time for one, one for the other.
    assert_eq!(result.log.connections, 2 + 1);
}

#[test]
fn streams_fill_a_connection_before_there_is_another() {
    let server = Server::http2(Http2Behaviour::new()).takes(Law::Const(ms(100)));
    let plan = growing("const(50/s,2s)", 100).http2(4);
    let result = run(plan, World::new(server));
    failures(&result.summary, &[]);
    // Five at a time, four on each connection.
    assert_eq!(result.summary.total.counts.ok, 100);
    assert_eq!(result.log.connections, 2);
    assert!(result.summary.duration >= secs(2));
}

/// A pool of streams, 100 on each connection, that needs 5 requests at a time.
fn streams(server: Http2Behaviour) -> (Draft, World) {
    let server = Server::http2(server).takes(Law::Const(ms(100)));
    let far = World::new(server).network(Network::each_way(ms(5)));
    (growing("const(50/s,3s)", 1000).http2(100), far)
}

#[test]
fn a_server_that_allows_fewer_streams_gets_more_connections() {
    let (plan, world) = streams(Http2Behaviour::new().allows(2));
    let result = run(plan, world);
    failures(&result.summary, &[]);
    let total = &result.summary.total;
    assert_eq!(total.counts.ok, 150);
    // A response takes 110 ms: six at a time, two on each connection, and more while connections
    // are opened.
    assert_eq!(result.log.connections, 4);
    // Only requests before the server's SETTINGS waited for a stream: two round trips. No request
    // had to take turns.
    assert!(
        total.latency.waiting.max() <= ms(20),
        "{:?}",
        total.latency.waiting.max()
    );
}

#[test]
fn a_server_without_a_limit_gets_one_connection() {
    let (plan, world) = streams(Http2Behaviour::new());
    let result = run(plan, world);
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, 150);
    assert_eq!(result.log.connections, 1);
}

#[test]
fn a_burst_before_the_servers_word_waits_for_its_turns() {
    let server = Server::http2(Http2Behaviour::new().allows(3)).takes(Law::Const(ms(100)));
    let far = World::new(server).network(Network::each_way(ms(5)));
    let plan = growing("once(9) const(20/s,1s)", 1000).http2(100);
    let result = run(plan, far);
    failures(&result.summary, &[]);
    let total = &result.summary.total;
    assert_eq!(total.counts.ok, 9 + 20);
    // Nine on the first connection, in three turns; from then on it has three seats.
    assert!(
        total.latency.waiting.max() >= ms(220),
        "{:?}",
        total.latency.waiting.max()
    );
    assert!(total.held_back.requests >= 6 || total.held_back.allowed.is_none());
    assert_eq!(result.log.connections, 2);
}

#[test]
fn a_connection_that_takes_over_has_its_own_number_of_seats() {
    // The first connection allows two streams and ends after twenty; so do the following ones.
    let server = Http2Behaviour::new()
        .allows(2)
        .goes_away(20, LastId::Come, 0, Farewell::Stays);
    let (plan, world) = streams(server);
    let result = run(plan, world);
    failures(&result.summary, &[]);
    let total = &result.summary.total;
    assert_eq!(total.counts.ok, 150);
    assert!(
        total.latency.waiting.max() <= ms(150),
        "{:?}",
        total.latency.waiting.max()
    );
}
