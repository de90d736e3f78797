//! Timeouts come on time, and the requests that they end stay in the record.

use crate::{failures, ms, run, secs, us};
use drumfire_measure::Outcome;
use drumfire_plan::{Drain, Growth};
use drumfire_testkit::{Answer, Client, Law, Server, Simulated, World, closed, open};
use drumfire_units::Nanos;

/// Checks that all `count` requests timed out in this way, after this time, within the 2 ms that a
/// scan may be late.
#[track_caller]
fn all_timed_out(result: &Simulated, outcome: Outcome, count: u64, after: Nanos) {
    let total = &result.summary.total;
    failures(&result.summary, &[(outcome, count)]);
    assert_eq!(total.counts.timed_out, count);
    let failed = &total.latency.failed;
    assert_eq!(failed.count(), count, "they stay in the record");
    assert!(failed.min() >= after, "{} is before {after}", failed.min());
    assert!(
        failed.max() <= after + ms(2),
        "{} is after {after}",
        failed.max()
    );
    // The latency, too, is marked as "at least this long".
    assert_eq!(total.latency.response_time.count(), count + total.counts.ok);
}

fn world(answer: Answer) -> World {
    World::new(Server::new().says(answer))
}

#[test]
fn the_whole_exchange_has_a_time() {
    let plan = closed(10)
        .requests(100)
        .with(|plan| plan.timeouts.total = secs(1));
    let flood = Answer::with(200, "", &[b'x'; 1_000_000]).dripping(5_000, ms(10));
    let result = run(plan, world(flood));
    all_timed_out(&result, Outcome::TimeoutTotal, 100, secs(1));
    assert_eq!(result.log.connections, 100, "none is used again");
}

#[test]
fn the_head_has_a_time() {
    let plan = || {
        closed(4)
            .requests(40)
            .with(|plan| plan.timeouts.head = ms(300))
    };
    let result = run(plan(), world(Answer::never()));
    all_timed_out(&result, Outcome::TimeoutHead, 40, ms(300));
    let drip = Answer::ok().dripping(1, ms(20));
    let result = run(plan(), world(drip));
    all_timed_out(&result, Outcome::TimeoutHead, 40, ms(300));
    // The body may take longer than the head.
    let slow_body = Answer::with(200, "", &[b'x'; 1000]).dripping(300, ms(250));
    let result = run(plan(), world(slow_body));
    assert_eq!(result.summary.total.counts.ok, 40);
}

#[test]
fn a_body_that_trickles_is_late_by_itself() {
    let plan = closed(4)
        .requests(12)
        .with(|plan| plan.timeouts.total = secs(5));
    let trickle = Answer::with(200, "", &[b'x'; 1000]).dripping(60, ms(1000));
    let result = run(plan, world(trickle));
    all_timed_out(&result, Outcome::TimeoutBody, 12, secs(5));
}

#[test]
fn opening_a_connection_has_a_time() {
    let plan = closed(4)
        .requests(8)
        .with(|plan| plan.timeouts.connect = ms(700));
    let result = run(plan, World::new(Server::swallowing()));
    let total = &result.summary.total;
    failures(&result.summary, &[(Outcome::TimeoutConnect, 8)]);
    assert_eq!(total.counts.timed_out, 8);
    // The first four were dialed before the start, without success within two seconds.
    assert!(total.latency.failed.max() >= ms(700));
    assert!(total.latency.failed.max() <= ms(702));
}

/// A request that ends while its connection is being opened has waited; it was never served.
#[test]
fn what_ends_while_its_connection_is_opened_has_waited() {
    let plan = || {
        let plan = open("const(10/s,2s)").connections(50);
        plan.with(|plan| plan.connections.growth = Growth::AsNeeded)
    };
    let dead = plan().with(|plan| plan.timeouts.connect = ms(300));
    let summary = run(dead, World::new(Server::swallowing())).summary;
    failures(&summary, &[(Outcome::TimeoutConnect, 20)]);
    let latency = &summary.total.latency;
    assert_eq!(latency.service_time.count(), 0);
    assert_eq!(latency.waiting.count(), 20);
    assert!(latency.waiting.min() >= ms(300) && latency.waiting.is_at_least(0.5));
    assert_eq!(latency.response_time.min(), latency.waiting.min());
    assert_eq!(latency.lag.max(), Nanos::ZERO);

    // A run that ends first has equal figures.
    let cut = plan().with(|plan| plan.stop.drain = Drain::Ignore);
    let summary = run(cut, World::new(Server::swallowing())).summary;
    let latency = &summary.total.latency;
    assert_eq!(latency.service_time.count(), 0);
    assert_eq!(
        (latency.waiting.count(), latency.lag.max()),
        (20, Nanos::ZERO)
    );
    assert!(latency.waiting.is_at_least(0.5));

    // A connection that is refused has also taken time.
    let summary = run(plan(), World::new(Server::refusing())).summary;
    let latency = &summary.total.latency;
    assert_eq!(
        (latency.service_time.count(), latency.waiting.count()),
        (0, 20)
    );
    assert_eq!(latency.waiting.max(), latency.failed.max());
    assert!(!latency.waiting.is_at_least(0.5));
}

#[test]
fn a_timeout_counts_from_the_connection_and_response_time_from_the_schedule() {
    // One connection: each request waits for the timeouts of the requests before it.
    let plan = open("once(5)").with(|plan| plan.timeouts.total = ms(100));
    let result = run(plan, world(Answer::never()));
    let total = &result.summary.total;
    // The missing part determines the outcome: it was the head.
    failures(&result.summary, &[(Outcome::TimeoutHead, 5)]);
    assert!(total.latency.failed.max() >= ms(500));
    assert!(total.latency.failed.max() <= ms(510));
    assert_eq!(total.latency.lag.max(), Nanos::ZERO);
}

#[test]
fn a_timeout_is_scanned_for_and_no_more() {
    // Fifty answers a second need no deadline checks; only a thousand would.
    let plan = open("const(50/s,60s)").connections(1000);
    let result = run(plan, World::new(Server::new().takes(Law::Const(us(100)))));
    assert_eq!(result.summary.total.counts.ok, 3000);
    // Two turns per request, one per second for the interval, one every 50 ms to check for signals.
    assert!(
        result.log.waits < 3000 * 3 + 60 * 21 + 200,
        "{}",
        result.log.waits
    );
}

#[test]
fn a_client_that_stood_still_does_not_blame_the_target_for_what_had_arrived() {
    // The answers had arrived when the client continued, after the time was up.
    let plan = closed(4)
        .thinks(ms(1))
        .lasts(secs(4))
        .with(|plan| plan.timeouts.total = secs(1));
    let world = World::new(Server::new().takes(Law::Const(ms(10))))
        .client(Client::ideal().stopped(ms(1005), secs(2)));
    let result = run(plan, world);
    failures(&result.summary, &[]);
}
