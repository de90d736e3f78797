//! The run is stopped: nothing is lost, everything is accounted for.

use crate::{failures, ms, run, secs, us};
use drumfire_measure::{Outcome, RunEvent};
use drumfire_plan::{Drain, LatePolicy, StopReason, Threshold};
use drumfire_testkit::{Answer, Law, Server, Simulated, World, closed, open};
use drumfire_units::Nanos;

fn stopped(server: Server, at: Nanos) -> World {
    World::new(server).stopped_at(at)
}

/// A stop is noticed within 50 ms.
#[track_caller]
fn ended_at(result: &Simulated, at: Nanos) {
    let span = result.summary.duration;
    assert!(span >= at && span <= at + ms(60), "{span}");
}

/// The drain does not belong to the load's time.
#[test]
fn a_stop_ends_the_load_before_what_is_in_flight() {
    let server = Server::new().takes(Law::Const(secs(2)));
    let plan = open("const(100/s,60s)").connections(400).threads(2);
    let result = run(plan, stopped(server, secs(7)));
    let load_end = result.summary.load_end.at.unwrap();
    assert!(load_end >= secs(7) && load_end <= ms(7_060), "{load_end}");
    assert!(result.summary.duration >= secs(9) - ms(60));
}

/// A load that ends by itself has an end, too: that of its law, of its duration, or of its count.
#[test]
fn a_load_that_ends_by_itself_has_an_end() {
    let server = || Server::new().takes(Law::Const(secs(2)));
    let ramp = open("line(10,100,10s)").connections(400).threads(2);
    let result = run(ramp, World::new(server()));
    assert_eq!(result.summary.load_end.at, Some(secs(10)));
    assert!(result.summary.duration > secs(11));
    let asked = result.summary.intended_per_s().unwrap();
    assert!((54.0..=56.0).contains(&asked), "{asked}");
    for threads in [1, 3] {
        let counted = open("const(100/s,60s)").connections(400).threads(threads);
        let counted = counted.with(|pool| pool.stop.requests = Some(300));
        let result = run(counted, World::new(server()));
        let at = result.summary.load_end.at.unwrap();
        assert!(at >= ms(2_900) && at <= ms(3_100), "{at}");
    }
    let lasting = closed(5).lasts(secs(3));
    let result = run(lasting, World::new(server()));
    assert_eq!(result.summary.load_end.at, Some(secs(3)));
}

#[test]
fn an_open_run_ends_with_what_it_has() {
    for threads in [1, 4] {
        let server = Server::new().takes(Law::Const(ms(5)));
        let plan = open("const(1000/s,60s)").connections(40).threads(threads);
        let result = run(plan, stopped(server, secs(7)));
        let counts = result.summary.total.counts;
        failures(&result.summary, &[]);
        assert!((7000..=7060).contains(&counts.intended), "{counts:?}");
        assert_eq!(
            counts.ok, counts.intended,
            "what was in flight has finished"
        );
        assert_eq!(result.log.requests, counts.ok);
        ended_at(&result, secs(7));
    }
}

#[test]
fn a_closed_run_ends_with_what_it_has() {
    let server = Server::new().takes(Law::Const(ms(5)));
    let result = run(closed(10).lasts(secs(60)), stopped(server, secs(3)));
    let counts = result.summary.total.counts;
    assert_eq!(counts.ok, counts.sent);
    assert!((6000..=6020).contains(&counts.ok), "{counts:?}");
    ended_at(&result, secs(3));
}

#[test]
fn what_waits_is_pending() {
    for late in [
        LatePolicy::Queue,
        LatePolicy::Skip,
        LatePolicy::Drop(ms(500)),
    ] {
        let server = Server::new().takes(Law::Const(ms(10)));
        let plan = open("const(1000/s,60s)").connections(2).late(late);
        let result = run(plan, stopped(server, secs(4)));
        let counts = result.summary.total.counts;
        let pending = result.summary.total.counts.pending;
        assert!((4000..=4060).contains(&counts.intended), "{counts:?}");
        assert_eq!(counts.intended, counts.sent + counts.dropped + pending);
        assert!(counts.ok >= 800 && counts.ok <= 812, "{counts:?}");
        assert_eq!(
            pending > 100,
            late != LatePolicy::Skip,
            "{late:?}: {pending}"
        );
    }
}

#[test]
fn what_never_ends_is_waited_for_within_its_timeout() {
    let plan = closed(5)
        .lasts(secs(100))
        .with(|plan| plan.timeouts.total = secs(10));
    let world = stopped(Server::new().says(Answer::never()), secs(3));
    let result = run(plan, world);
    failures(&result.summary, &[(Outcome::TimeoutHead, 5)]);
    assert!(result.summary.duration >= secs(10));
}

#[test]
fn what_never_ends_at_all_is_in_flight() {
    let plan = closed(5).lasts(secs(100)).with(|plan| {
        plan.timeouts.total = Nanos::MAX;
        plan.timeouts.head = Nanos::MAX;
    });
    let world = stopped(Server::new().says(Answer::never()), secs(3));
    let result = run(plan, world);
    assert_eq!(result.summary.total.counts.in_flight, 5);
    assert_eq!(result.summary.total.counts.sent, 5);
    assert_eq!(result.summary.total.counts.failed, 0);
}

#[test]
fn a_stop_within_an_outage_balances() {
    let server = Server::new()
        .takes(Law::Const(us(700)))
        .is_dead(secs(2), secs(9));
    for threads in [1, 2] {
        let plan = open("const(500/s,60s)").connections(20).threads(threads);
        let result = run(plan, stopped(server.clone(), secs(3)));
        let counts = result.summary.total.counts;
        assert!((1500..=1530).contains(&counts.intended), "{counts:?}");
        assert!(counts.failed > 0);
    }
}

#[test]
fn a_stop_at_once_sends_nothing_more() {
    let result = run(
        open("const(100/s,60s)"),
        stopped(Server::new(), Nanos::ZERO),
    );
    assert!(result.summary.total.counts.sent <= 6);
}

#[test]
fn a_stop_in_the_warm_up_measures_nothing() {
    let plan = open("const(100/s,60s)").connections(5).warmup(secs(10));
    let result = run(plan, stopped(Server::new(), secs(5)));
    let total = &result.summary.total;
    assert_eq!(total.counts.intended, 0);
    assert_eq!(total.warmup.ok, result.log.requests);
    assert!((500..=506).contains(&total.warmup.ok));
}

/// The collector reads intervals when they arrive, while a worker's virtual time continues: the run
/// ends some time after the interval that causes the end, and long before the plan's end.
#[test]
fn a_threshold_that_fails_ends_the_run() {
    for threads in [1, 3] {
        let server = Server::new().takes(Law::Const(us(700)));
        let server = server.is_dead(secs(2), secs(1_000_000));
        let mut plan = open("const(100/s,1000000s)")
            .connections(20)
            .threads(threads);
        plan.thresholds = vec![Threshold::abort_on("failed>10%").expect("a condition")];
        let result = run(plan, World::new(server));
        let row = &result.summary.thresholds[0];
        assert_eq!(
            (row.passed, row.ended_run_at),
            (false, Some(secs(3))),
            "{row:?}"
        );
        let reasons = result.events.iter().filter_map(|event| match event {
            RunEvent::Stopping { reason } => Some(*reason),
            _ => None,
        });
        assert_eq!(reasons.collect::<Vec<_>>(), [StopReason::Threshold]);
        assert!(result.summary.duration < secs(900_000));
    }
}

/// If the end closes exchanges in flight, a request that becomes due between the signal and its
/// detection is not begun.
#[test]
fn nothing_begins_to_be_cut_off() {
    for late in 0..50 {
        let plan = open("const(20/s,60s)").connections(1);
        let plan = plan.with(|plan| plan.stop.drain = Drain::Close);
        let world = stopped(Server::new().takes(Law::Const(us(300))), ms(530 + late));
        let result = run(plan, world);
        failures(&result.summary, &[]);
        let counts = result.summary.total.counts;
        assert_eq!(counts.ok, result.log.requests, "{counts:?}");
    }
}
