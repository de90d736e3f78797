//! Checking silent connections with PINGs.

use crate::{failures, ms, run, secs};
use drumfire_measure::{Closing, Outcome};
use drumfire_plan::Ping;
use drumfire_testkit::{Draft, Farewell, Http2Behaviour, LastId, Law, Server, World, closed, open};
use drumfire_units::Nanos;

const ENHANCE_YOUR_CALM: u32 = 11;

/// Requests whose connections are pinged after 8 s of silence, and given up after 5 s more.
fn pinging(plan: Draft) -> Draft {
    plan.with(|plan| {
        plan.timeouts.total = secs(600);
        plan.timeouts.head = secs(600);
        plan.connections.ping = Some(Ping {
            after: secs(8),
            timeout: secs(5),
        });
    })
}

fn world(script: Http2Behaviour, takes: Nanos) -> World {
    World::new(Server::http2(script).takes(Law::Const(takes)))
}

#[test]
fn a_slow_answer_is_waited_for_while_pings_are_answered() {
    let plan = closed(3).connections(1).http2(3).requests(3);
    let result = run(pinging(plan), world(Http2Behaviour::new(), secs(55)));
    failures(&result.summary, &[]);
    // At 8, 16, 24, 32, 40 and 48 s: each answer ends a silence.
    assert_eq!((result.log.pings, result.log.connections), (6, 1));
    assert_eq!(result.summary.duration, secs(55));
}

#[test]
fn a_connection_that_gives_no_sign_is_dead_and_another_is_made() {
    let plan = closed(4).connections(2).http2(2).requests(8);
    let script = Http2Behaviour::new().ignores_pings();
    let result = run(pinging(plan), world(script, secs(55)));
    failures(&result.summary, &[(Outcome::TimeoutPing, 8)]);
    assert_eq!((result.log.pings, result.log.connections), (4, 4));
    let failed = &result.summary.total.latency.failed;
    assert_eq!(failed.min(), secs(13));
    // The second connections wait for the pause after a connection without any response.
    assert!(failed.max() <= secs(13) + ms(2), "{:?}", failed.max());
}

#[test]
fn a_connection_that_speaks_is_not_asked() {
    let plan = open("const(1/s,120s)").http2(100);
    let result = run(
        pinging(plan),
        world(Http2Behaviour::new().ignores_pings(), secs(7)),
    );
    failures(&result.summary, &[]);
    assert_eq!((result.log.pings, result.log.connections), (0, 1));
}

#[test]
fn a_connection_without_requests_is_not_asked() {
    let plan = open("const(1/m,10m)").http2(10);
    let result = run(
        pinging(plan),
        world(Http2Behaviour::new().ignores_pings(), ms(10)),
    );
    failures(&result.summary, &[]);
    assert_eq!((result.log.pings, result.log.connections), (0, 1));
    assert_eq!(result.summary.total.counts.ok, 10);
}

#[test]
fn a_server_that_has_enough_of_pings_gets_half_as_many() {
    let script = Http2Behaviour::new()
        .says_why("too_many_pings")
        .goes_away_after(secs(25), LastId::Max, ENHANCE_YOUR_CALM, Farewell::WhenDone);
    let plan = closed(1).connections(1).http2(1).requests(2);
    let result = run(pinging(plan), world(script, secs(90)));
    failures(&result.summary, &[]);
    // The first connection is pinged at 8, 16 and 24 s, then after every 16 s of silence since the
    // bytes at 25 s: 41, 57, 73, 89. The second one has its pings refused at 25 s as well: 16 s,
    // then every 32 s: 57, 89.
    assert_eq!((result.log.pings, result.log.connections), (7 + 3, 2));
}

/// A request each second, on one connection, and none waits longer than 3 s.
fn impatient(law: &str) -> Draft {
    open(law).http2(10).connections(1).with(|plan| {
        plan.timeouts.total = secs(3);
    })
}

#[test]
fn a_connection_is_asked_when_a_request_on_it_was_waited_for_in_silence() {
    let script = Http2Behaviour::new().ignores_pings();
    let result = run(impatient("const(1/s,40s)"), world(script, secs(600)));
    // The request of 0 s is given up at 3 s. The connection shows no activity within 20 s, and then
    // carries the requests of 21 and 22 s; the second connection is pinged at 26 s.
    let dead = (Outcome::TimeoutPing, 2);
    failures(&result.summary, &[(Outcome::TimeoutHead, 38), dead]);
    assert_eq!((result.log.pings, result.log.connections), (2, 2));
    let silent = result.summary.total.connections.closed_by(Closing::Silent);
    assert_eq!(silent, 1);
}

#[test]
fn a_server_that_is_slow_is_asked_once_in_five_minutes() {
    let plan = impatient("const(1/s,599s)");
    let result = run(plan, world(Http2Behaviour::new(), secs(600)));
    failures(&result.summary, &[(Outcome::TimeoutHead, 599)]);
    assert_eq!((result.log.pings, result.log.connections), (2, 1));
}

#[test]
fn a_server_that_answers_others_is_not_asked() {
    // One in twenty takes longer than 3 s.
    let takes = Law::Lognormal {
        median: ms(100),
        sigma: 2.0,
    };
    let plan = impatient("const(10/s,60s)");
    let result = run(
        plan,
        World::new(Server::http2(Http2Behaviour::new()).takes(takes)),
    );
    assert!(result.summary.total.counts.failed > 0);
    assert_eq!((result.log.pings, result.log.connections), (0, 1));
}
