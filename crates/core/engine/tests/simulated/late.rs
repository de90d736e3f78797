//! What happens to arrivals that find no connection.

use crate::{ms, run, secs};
use drumfire_measure::Validity;
use drumfire_plan::LatePolicy;
use drumfire_testkit::{Law, Server, Simulated, World, open};
use drumfire_units::Nanos;

/// 1,000 arrivals a second for ten seconds at one connection that can carry 100 a second.
fn overloaded(policy: LatePolicy) -> Simulated {
    let world = World::new(Server::new().takes(Law::Const(ms(10))));
    run(open("const(1000/s,10s)").late(policy), world)
}

/// Checks how many were sent and dropped, and how many are still pending.
#[track_caller]
fn counts(result: &Simulated, sent: u64, dropped: u64, pending: u64) {
    let counts = result.summary.total.counts;
    let all = (counts.intended, counts.sent, counts.dropped);
    assert_eq!(all, (sent + dropped + pending, sent, dropped));
    assert_eq!(result.summary.total.counts.pending, pending);
    assert_eq!(result.log.requests, sent);
}

#[test]
fn skip_sends_the_latest_and_drops_the_others() {
    let result = overloaded(LatePolicy::Skip);
    // The first at 0 ms, then every 10 ms the one that is due right then, and at the end the very
    // last, which no later one has replaced.
    counts(&result, 1001, 8999, 0);
    let latency = &result.summary.total.latency;
    assert_eq!(latency.waiting.max(), ms(1));
    assert_eq!(latency.waiting.quantile(0.99), Some(Nanos::ZERO));
    assert_eq!(latency.response_time.max(), ms(11));
    assert_eq!(result.summary.verdict.validity, Validity::Valid);
}

#[test]
fn drop_sends_what_is_young_enough() {
    // Requests that waited 100 ms are still sent; the wait grows to that and stays constant.
    let result = overloaded(LatePolicy::Drop(ms(100)));
    let total = &result.summary.total;
    assert_eq!(total.latency.waiting.max(), ms(100));
    // One every 10 ms for 10 s, and ten more that have waited less than 100 ms at the end.
    counts(&result, 1010, 8990, 0);
    assert_eq!(result.summary.verdict.validity, Validity::Valid);
}

#[test]
fn queue_sends_all_in_their_order() {
    // The schedule ends after a second; all of its arrivals are sent, however late.
    let world = World::new(Server::new().takes(Law::Const(ms(10))));
    let result = run(open("const(1000/s,1s)"), world);
    counts(&result, 1000, 0, 0);
    let latency = &result.summary.total.latency;
    assert_eq!(latency.response_time.max(), secs(10) - ms(999));
    assert_eq!(latency.lag.max(), Nanos::ZERO);
    assert_eq!(result.summary.verdict.validity, Validity::Valid);
}

/// A rate that nothing could ever reach is accounted for without iterating over its arrivals.
#[test]
fn an_absurd_rate_balances() {
    for (policy, pending) in [
        (LatePolicy::Queue, 1_999_999_999_999_799),
        (LatePolicy::Skip, 0),
        // The last millisecond's arrivals are still young enough, except the ones that were sent.
        (LatePolicy::Drop(ms(1)), 1_000_000_000_000),
    ] {
        for (connections, threads) in [(1, 1), (2, 1), (2, 2)] {
            let world = World::new(Server::new().takes(Law::Const(ms(10))));
            let plan = open("const(1000000000000000/s)").lasts(secs(2));
            let plan = plan.late(policy).connections(connections).threads(threads);
            let result = run(plan, world);
            let total = result.summary.total.counts;
            assert_eq!(total.intended, 2_000_000_000_000_000, "{policy:?}");
            // Only one tick is valid at a time: the second connection is a nanosecond later, and
            // gets no request at the end.
            let sent = match (policy, connections) {
                (LatePolicy::Skip, 2) => 401,
                _ => 201 * u64::from(connections),
            };
            assert_eq!(total.sent, sent, "{policy:?}, {threads} threads");
            let left = result.summary.total.counts.pending;
            assert!(left.abs_diff(pending) <= 201 * 2, "{policy:?}: {left}");
        }
    }
}

/// A rate like this within a warm-up has no effect on measured counts.
#[test]
fn an_absurd_rate_in_the_warm_up_drops_nothing_measured() {
    for policy in [LatePolicy::Skip, LatePolicy::Drop(ms(1))] {
        let world = World::new(Server::new().takes(Law::Const(ms(10))));
        let plan =
            open("const(1000000000000/s,1s) const(0/s,100ms) const(10/s,1s)").warmup(secs(1));
        let result = run(plan.late(policy), world);
        let counts = result.summary.total.counts;
        assert_eq!((counts.intended, counts.dropped), (10, 0), "{policy:?}");
    }
}

#[test]
fn the_end_of_the_plan_leaves_the_queue_pending() {
    let world = World::new(Server::new().takes(Law::Const(ms(10))));
    let result = run(open("const(1000/s)").lasts(secs(10)), world);
    // The connection becomes free at the very end, and requests that were due before still start.
    counts(&result, 1001, 0, 8999);
    // This is the target's limit and not the generator's.
    assert_eq!(result.summary.verdict.validity, Validity::Valid);
}

#[test]
fn a_fast_target_meets_every_policy() {
    for policy in [LatePolicy::Queue, LatePolicy::Skip, LatePolicy::Drop(ms(1))] {
        let world = World::new(Server::new().takes(Law::Const(Nanos::from_micros(900))));
        let result = run(open("const(1000/s,5s)").late(policy), world);
        counts(&result, 5000, 0, 0);
    }
}
