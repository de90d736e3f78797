//! Users that each follow a separate rate, which starts when the user comes.

use crate::users::changing;
use crate::{failures, ms, run, secs};
use drumfire_plan::{Affinity, Change, LatePolicy};
use drumfire_testkit::{Law, Server, Simulated, Simulation, World, per_user};
use drumfire_units::Nanos;

fn takes(time: Nanos) -> World {
    World::new(Server::new().takes(Law::Const(time)))
}

/// Intended, sent, ok, dropped and pending.
fn counts(result: &Simulated) -> [u64; 5] {
    let counts = result.summary.total.counts;
    [
        counts.intended,
        counts.sent,
        counts.ok,
        counts.dropped,
        counts.pending,
    ]
}

#[test]
fn each_user_keeps_the_rate_by_itself() {
    for threads in [1, 2, 3, 7, 16] {
        let result = run(
            per_user("const(10/s,5s)", 7).threads(threads),
            takes(ms(20)),
        );
        failures(&result.summary, &[]);
        assert_eq!(counts(&result), [350, 350, 350, 0, 0]);
        let latency = &result.summary.total.latency;
        assert_eq!(latency.response_time.max(), ms(20), "{threads}");
        assert_eq!(latency.lag.max(), Nanos::ZERO);
        // The requested duration, and not the time of the last response.
        assert_eq!(result.summary.duration, secs(5));
    }
}

#[test]
fn a_law_begins_when_its_user_comes() {
    let users = changing(&[(0, 1), (1, 3), (4, 4)]);
    for threads in [1, 3] {
        let plan = per_user("const(10/s,2s)", 4).users(users.clone());
        let result = run(plan.threads(threads), takes(ms(1)));
        assert_eq!(counts(&result), [80, 80, 80, 0, 0]);
        // The last user comes after four seconds, and its law takes two.
        assert_eq!(result.summary.duration, secs(6));
    }
}

#[test]
fn a_slow_server_makes_no_fewer_due_and_the_wait_is_no_lag() {
    // Ten are due for each user per second, and a user can do four of them.
    let plan = || per_user("const(10/s,10s)", 3).lasts(secs(10));
    for threads in [1, 2] {
        let result = run(plan().threads(threads), takes(ms(250)));
        assert_eq!(counts(&result), [300, 120, 120, 0, 180]);
        let latency = &result.summary.total.latency;
        assert_eq!(latency.lag.max(), Nanos::ZERO);
        // The 40th was due at 3.9 s, and starts at 9.75 s.
        assert_eq!(latency.waiting.max(), ms(9_750 - 3_900));
        assert_eq!(latency.service_time.max(), ms(250));
    }
    // Each user has a separate connection.
    let own = plan().with(|pool| pool.connections.affinity = Affinity::User);
    let result = run(own, takes(ms(250)));
    assert_eq!(counts(&result), [300, 120, 120, 0, 180]);
    assert_eq!(result.summary.total.latency.lag.max(), Nanos::ZERO);
}

#[test]
fn late_arrivals_are_done_after_the_law_or_dropped() {
    // Without a time limit all due requests are sent.
    let result = run(per_user("const(10/s,1s)", 2), takes(ms(250)));
    assert_eq!(counts(&result), [20, 20, 20, 0, 0]);
    assert_eq!(result.summary.duration, ms(2_500));

    let dropped = per_user("const(10/s,10s)", 2).late(LatePolicy::Drop(ms(500)));
    let result = run(dropped, takes(ms(250)));
    let [intended, sent, ok, dropped, pending] = counts(&result);
    assert_eq!((intended, pending), (200, 0));
    assert_eq!((sent, sent + dropped), (ok, 200));
    let waited = result.summary.total.latency.waiting.max();
    assert!(waited > ms(400) && waited <= ms(500), "{waited}");

    let skipped = per_user("const(10/s,10s)", 2).late(LatePolicy::Skip);
    let result = run(skipped, takes(ms(250)));
    let [intended, sent, ok, dropped, pending] = counts(&result);
    assert_eq!((intended, pending), (200, 0));
    assert_eq!((sent, sent + dropped), (ok, 200));
    // The very last request is not too late, because none follows it.
    assert_eq!(result.summary.total.latency.waiting.max(), ms(100));
}

#[test]
fn a_number_of_requests_is_exact_and_what_it_leaves_out_is_not_due() {
    for threads in [1, 2, 5] {
        let plan = per_user("const(10/s,10s)", 5).requests(123);
        let result = run(plan.threads(threads), takes(ms(1)));
        assert_eq!(counts(&result), [123, 123, 123, 0, 0], "{threads}");
    }
    // Each user has an equal share of the number, even if threads have different numbers of users.
    for threads in [1, 2, 3, 5] {
        let plan = per_user("const(10/s,10s)", 3).requests(12);
        let result = run(plan.threads(threads), takes(ms(1)));
        assert_eq!(counts(&result), [12, 12, 12, 0, 0], "{threads}");
        assert_eq!(result.summary.duration, ms(301), "{threads}");
    }
    // Four of ten a second for each user are sent; the dropped ones do not count towards the
    // number.
    for late in [LatePolicy::Skip, LatePolicy::Drop(ms(100))] {
        let plan = per_user("const(10/s)", 2).requests(40).late(late);
        let result = run(plan, takes(ms(250)));
        let [intended, sent, ok, dropped, pending] = counts(&result);
        assert_eq!((sent, ok, pending), (40, 40, 0), "{late:?}");
        assert_eq!(intended, sent + dropped);
        assert!((55..=60).contains(&dropped), "{dropped}");
        assert_eq!(result.summary.duration, secs(5));
    }
}

#[test]
fn the_warm_up_is_sent_and_not_counted() {
    let plan = per_user("const(10/s,5s)", 4).warmup(secs(2));
    let result = run(plan, takes(ms(1)));
    assert_eq!(counts(&result), [120, 120, 120, 0, 0]);
    assert_eq!(result.log.requests, 200);
    let slow = per_user("const(10/s,5s)", 4).warmup(secs(2)).lasts(secs(5));
    let result = run(slow, takes(ms(250)));
    let [intended, sent, _, _, pending] = counts(&result);
    assert_eq!((intended, sent + pending), (120, 120));
}

#[test]
fn a_pause_moves_the_laws_and_users_come_by_command() {
    let plan = || per_user("const(10/s,4s)", 2);
    let simulation = Simulation::new(plan(), takes(ms(1)))
        .command(secs(1), Change::Pause)
        .command(secs(6), Change::Resume);
    let result = simulation.run();
    assert_eq!(counts(&result), [80, 80, 80, 0, 0]);
    assert_eq!(result.summary.total.latency.response_time.max(), ms(1));
    assert_eq!(result.summary.duration, secs(9));

    let law = "const(5)".parse().expect("a law");
    let (law, _) = drumfire_plan::UserSteps::of_law(&law).expect("users");
    let result = Simulation::new(plan(), takes(ms(1)))
        .command(secs(2), Change::Users { law })
        .run();
    assert_eq!(counts(&result), [200, 200, 200, 0, 0]);
    assert_eq!(result.summary.duration, secs(6));
}

#[test]
fn what_is_due_is_told_while_it_waits() {
    // A server that is dead for a while: requests that become due during that time appear in each
    // interval.
    let server = Server::new()
        .takes(Law::Const(ms(1)))
        .stalls(secs(3), secs(10));
    let plan = per_user("const(10/s,8s)", 5).interval(secs(1));
    let result = Simulation::new(plan, World::new(server))
        .keeps_intervals()
        .run();
    let due: Vec<u64> = result
        .intervals
        .iter()
        .map(|interval| interval.total.counts.intended)
        .collect();
    assert_eq!(due[..8], [50; 8]);
    assert_eq!(counts(&result), [400, 400, 400, 0, 0]);
}
