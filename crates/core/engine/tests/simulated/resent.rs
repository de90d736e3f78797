//! Requests that are sent once more: each is counted when a connection has accepted it again, and a
//! request that no connection accepts ends with its first failure.

use crate::{ms, run, secs, seen};
use drumfire_measure::{Outcome, Summary};
use drumfire_plan::{
    DataError, Method, RenderedFields, RequestContext, RequestData, ReusedClosed, Varying,
};
use drumfire_testkit::{
    Answer, Draft, Farewell, Http2Behaviour, LastId, Law, Network, Server, World, closed, open,
};
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A target for each request, by its number.
#[derive(Debug)]
struct Numbered;

impl RequestData for Numbered {
    fn varying(&self) -> Varying {
        Varying {
            target: true,
            ..Varying::default()
        }
    }

    fn target(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError> {
        out.push_str(&format!("/n{}", request.number));
        Ok(())
    }

    fn fields(&self, _: &RequestContext, _: &mut RenderedFields) -> Result<(), DataError> {
        Ok(())
    }

    fn message(&self, _: &RequestContext, _: u64, _: &mut Vec<u8>) -> Result<(), DataError> {
        Ok(())
    }
}

/// A plan whose requests differ in their targets.
fn numbered(plan: Draft) -> Draft {
    plan.with(|pool| {
        for request in &mut pool.requests {
            request.data = Some(Arc::new(Numbered));
        }
    })
}

/// The number of heads with targets that occurred before.
fn repeated<'a>(heads: impl Iterator<Item = &'a str>) -> u64 {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for head in heads {
        let target = head.split(' ').nth(1).expect("a target");
        *counts.entry(target).or_default() += 1;
    }
    counts.values().map(|count| count - 1).sum()
}

/// The messages of failures with this outcome.
fn messages(summary: &Summary, outcome: Outcome) -> Vec<String> {
    let rows = summary.total.errors().into_iter();
    let rows = rows.filter(|row| row.outcome == outcome);
    rows.map(|row| row.detail.to_string()).collect()
}

/// A distant server that accepts one request on each connection, and returns the other requests
/// that were sent. The pauses between its connections are longer than requests wait.
#[test]
fn a_request_that_no_connection_takes_again_is_not_resent() {
    for code in [0, 11] {
        let script = Http2Behaviour::new().goes_away(1, LastId::Of(1), code, Farewell::AtOnce);
        let server = Server::http2(script).takes(Law::Const(ms(1)));
        let world = World::new(server).network(Network::each_way(ms(30)));
        let plan = open("const(100/s,3s)").http2(100).with(|plan| {
            plan.timeouts.total = ms(200);
            plan.connections.backoff_max = ms(250);
        });
        let result = run(numbered(plan), world.keeps_requests());
        let total = &result.summary.total;
        let heads = result.log.heads.iter().map(String::as_str);
        assert!(repeated(heads) <= total.retried, "code {code}");
        // The connections have carried each request that one of them accepted, once for each time
        // that it was accepted.
        let rows = total.connections.addresses.rows().iter();
        let carried: u64 = rows.map(|row| row.counts.carried).sum();
        let unsent = seen(&result.summary, Outcome::TimeoutConnect);
        let taken = total.counts.sent - unsent + total.retried;
        assert_eq!(carried, taken, "code {code}: {:#?}", total.errors());
        // Requests wait for the pause that the GOAWAYs cause, and their failures report it.
        assert_eq!(seen(&result.summary, Outcome::TimeoutTotal), 0);
        let waited = messages(&result.summary, Outcome::TimeoutConnect);
        assert!(!waited.is_empty(), "code {code}");
        let is_explained = |text: &String| text.contains("h2:goaway") || text.contains("h2:conn:");
        assert!(waited.iter().all(is_explained), "{waited:?}");
        assert!(total.connections.pauses > 0);
        let given_back = messages(&result.summary, Outcome::H2GoAway);
        match code {
            0 => {
                let lost = "not sent again: timeout:connect";
                assert!(
                    given_back.iter().any(|text| text.contains(lost)),
                    "{given_back:?}"
                );
            }
            _ => assert!(given_back.is_empty(), "{given_back:?}"),
        }
    }
}

/// A server that is killed and not restarted: a request that is in flight then is not sent again,
/// and keeps its first failure.
#[test]
fn a_retry_that_can_not_be_made_leaves_the_first_failure() {
    let server = Server::new()
        .takes(Law::Const(ms(5)))
        .is_dead(secs(2), secs(100));
    let plan = open("const(400/s,3s)").connections(8).with(|plan| {
        plan.connections.reused_closed = ReusedClosed::Retry;
    });
    let world = World::new(server).network(Network::each_way(ms(1)));
    let result = run(numbered(plan), world.keeps_requests());
    let total = &result.summary.total;
    assert_eq!(total.retried, 0);
    let lost = seen(&result.summary, Outcome::ClosedReused);
    assert!(lost > 0, "{:?}", total.errors());
    for message in messages(&result.summary, Outcome::ClosedReused) {
        let why = "; not sent again: connect:refused: ";
        assert!(message.contains(why), "{message}");
    }
    let heads = result.log.seen.iter().map(|seen| &*seen.head);
    assert_eq!(repeated(heads), 0);
}

/// A handler that works for a second and then closes the connection has received the request: it is
/// not sent again, with any method.
#[test]
fn a_request_that_was_worked_on_is_not_sent_again() {
    let (ours, go) = (ReusedClosed::Retry, ReusedClosed::RetryAsGo);
    for (method, rule, retried) in [
        ("GET", ours, 0),
        ("PUT", ours, 0),
        // Go's client has no such limit.
        ("GET", go, 18),
        ("PUT", go, 0),
    ] {
        let server = Server::new().answers(|request| match request.number {
            0 => Answer::ok(),
            _ => Answer::raw(b"").after(secs(1)).then_closes(Nanos::ZERO),
        });
        let plan = closed(2).requests(20).with(|plan| {
            plan.connections.reused_closed = rule;
            plan.requests[0].method = Method::parse(method).expect("a method");
        });
        let world = World::new(server).network(Network::each_way(ms(1)));
        let result = run(plan, world);
        let total = &result.summary.total;
        let ran = total.counts.sent + total.retried;
        assert_eq!(
            (total.retried, result.log.requests),
            (retried, ran),
            "{method}"
        );
        if retried == 0 {
            assert_eq!(seen(&result.summary, Outcome::Closed), 10, "{method}");
        }
    }
}

/// Over a long distance, the news that an idle connection has ended takes as long as the trip.
#[test]
fn a_race_lasts_as_long_as_the_way() {
    let server = Server::new().closes_idle(ms(100));
    let plan = closed(1).thinks(ms(50)).requests(20);
    let world = World::new(server).network(Network::each_way(ms(60)));
    let result = run(plan, world);
    assert_eq!(seen(&result.summary, Outcome::ClosedReused), 10);
    assert_eq!(seen(&result.summary, Outcome::Closed), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    /// A server never receives more requests than were counted as sent and resent.
    #[test]
    fn a_server_counts_no_more_than_was_sent_and_resent(
        seed in any::<u64>(), code in prop::sample::select(vec![0_u32, 2, 11]),
        streams in 1..20_u32, goes_after in 1..40_u64, last in 0..40_u32, way in 0..40_u64,
        refused in 0..3_u32, timeout in 20..400_u64,
        farewell in prop::sample::select(vec![Farewell::Stays, Farewell::WhenDone, Farewell::AtOnce]),
    ) {
        let script = Http2Behaviour::new()
            .goes_away(goes_after, LastId::Of(last), code, farewell)
            .refuses(f64::from(refused) / 10.0);
        let server = Server::http2(script).takes(Law::Const(ms(7)));
        let world = World::new(server).network(Network::each_way(ms(way))).seed(seed);
        let plan = open("const(200/s,1s)").http2(streams).connections(2).with(|plan| {
            plan.timeouts.total = ms(timeout);
        });
        let result = run(numbered(plan), world.keeps_requests());
        let total = &result.summary.total;
        let heads = result.log.heads.iter().map(String::as_str);
        prop_assert!(repeated(heads) <= total.retried);
        prop_assert!(result.log.heads.len() as u64 <= total.counts.sent + total.retried);
    }

    /// The HTTP/1.1 counterpart, with servers that close and die.
    #[test]
    fn a_server_of_http1_counts_no_more_than_was_sent_and_resent(
        seed in any::<u64>(), idle in 1..60_u64, way in 0..20_u64, takes in 0..30_u64,
        dies in 0..900_u64, resets in 0..3_u32, timeout in 20..400_u64,
    ) {
        let server = Server::new()
            .takes(Law::Const(ms(takes)))
            .closes_idle(ms(idle))
            .resets(f64::from(resets) / 10.0)
            .is_dead(ms(dies), ms(dies + 50));
        let world = World::new(server).network(Network::each_way(ms(way))).seed(seed);
        let plan = open("const(200/s,1s)").connections(4).with(|plan| {
            plan.timeouts.total = ms(timeout);
            plan.connections.reused_closed = ReusedClosed::Retry;
        });
        let result = run(numbered(plan), world.keeps_requests());
        let total = &result.summary.total;
        let requests = result.log.seen.len() as u64;
        let heads = result.log.seen.iter().map(|seen| &*seen.head);
        prop_assert!(repeated(heads) <= total.retried);
        prop_assert!(requests <= total.counts.sent + total.retried);
        prop_assert!(requests >= total.counts.ok);
    }
}
