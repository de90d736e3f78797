//! Several pools in one run: each has its own load, connections and figures, and none affects the
//! others except by the time that they take.

use crate::{ms, run, secs, us};
use drumfire_engine::ControlError;
use drumfire_measure::{Figures, Outcome, RunEvent};
use drumfire_plan::{Change, HttpVersion, LatePolicy, Load, StopReason};
use drumfire_testkit::{Draft, Law, Network, Server, Simulated, Simulation, World, closed, open};
use drumfire_units::Nanos;

fn world() -> World {
    World::new(Server::new().takes(Law::Const(ms(10)))).network(Network::each_way(us(500)))
}

/// Requests at a rate.
fn browse() -> Draft {
    open("const(100/s,10s)").named("browse").connections(4)
}

/// Users that begin again as soon as they are done.
fn buy() -> Draft {
    closed(3).named("buy").lasts(secs(10))
}

fn figures<'a>(result: &'a Simulated, name: &str) -> &'a Figures {
    let mut pools = result.summary.pools();
    let found = pools.find(|(info, _)| info.name == name);
    found.expect("a pool with this name").1
}

/// Intended, sent and ok.
fn counts(figures: &Figures) -> [u64; 3] {
    let counts = figures.counts;
    [counts.intended, counts.sent, counts.ok]
}

#[test]
fn two_pools_of_different_models_run_as_each_would_alone() {
    let alone = [run(browse(), world()), run(buy(), world())];
    for threads in 1..=5 {
        let both = run(browse().beside(buy()).threads(threads), world());
        // A response takes 11 ms: in 10 s a user begins 910 requests.
        assert_eq!(counts(figures(&both, "browse")), [1000; 3]);
        assert_eq!(counts(figures(&both, "buy")), [2730; 3]);
        assert_eq!(counts(&both.summary.total), [3730; 3]);
        assert_eq!(both.log.requests, 3730, "by the server's own count");
        for (name, alone) in ["browse", "buy"].into_iter().zip(&alone) {
            let (joint, alone) = (figures(&both, name), &alone.summary.total);
            assert_eq!(joint.latency, alone.latency, "{name}, {threads} threads");
            assert_eq!(joint.counts, alone.counts, "{name}, {threads} threads");
        }
        assert_eq!(both.summary.total.latency.lag.max(), Nanos::ZERO);
    }
}

#[test]
fn the_sum_is_that_of_the_pools_in_every_interval() {
    let plan = browse().beside(buy()).threads(2).interval(ms(100));
    let result = Simulation::new(plan, world()).keeps_intervals().run();
    let mut seen = [0; 2];
    for interval in &result.intervals {
        let sent: Vec<u64> = interval
            .pools()
            .iter()
            .map(|pool| pool.counts.sent)
            .collect();
        assert_eq!(sent.iter().sum::<u64>(), interval.total.counts.sent);
        seen[0] += sent[0];
        seen[1] += sent[1];
    }
    assert_eq!(seen, [1000, 2730]);
}

#[test]
fn a_pool_that_ends_early_leaves_the_others_alone() {
    let few = closed(2).named("few").requests(10);
    let long = open("const(10/s,5s)").named("long");
    for plan in [few.clone().beside(long.clone()), long.beside(few)] {
        let result = run(plan, world());
        assert_eq!(counts(figures(&result, "few")), [10; 3]);
        assert_eq!(counts(figures(&result, "long")), [50; 3]);
        // The last request of the long pool is due 100 ms before the end of its time.
        assert_eq!(result.summary.duration, secs(5));
        let stops = result.events.iter().filter_map(|event| match event {
            RunEvent::Stopping { reason } => Some(*reason),
            _ => None,
        });
        assert_eq!(stops.collect::<Vec<_>>(), [StopReason::Duration]);
    }
}

#[test]
fn each_pool_has_settings_of_its_own() {
    let impatient = open("const(10/s,2s)").named("impatient").with(|pool| {
        pool.timeouts.total = ms(5);
    });
    let patient = open("const(10/s,2s)").named("patient");
    let streams = closed(4)
        .named("streams")
        .requests(40)
        .connections(2)
        .with(|pool| {
            pool.http.version = HttpVersion::Http2;
            pool.connections.streams = 2;
        });
    let server = Server::new().takes(Law::Const(ms(10)));
    let result = run(impatient.beside(patient.clone()), World::new(server));
    let late = figures(&result, "impatient").outcomes().failures();
    let late: Vec<_> = late.collect();
    assert_eq!(late, [(Outcome::TimeoutHead, 20)]);
    assert_eq!(counts(figures(&result, "patient")), [20; 3]);

    let server = Server::http2(drumfire_testkit::Http2Behaviour::new()).takes(Law::Const(ms(10)));
    let other = patient.with(|pool| pool.http.version = HttpVersion::Http2);
    let result = run(streams.beside(other).threads(2), World::new(server));
    assert_eq!(counts(figures(&result, "streams")), [40; 3]);
    assert_eq!(counts(figures(&result, "patient")), [20; 3]);
}

#[test]
fn late_arrivals_are_pending_in_their_own_pool() {
    // One connection carries 100 requests per second; twice as many are due.
    let slow = open("const(200/s,1s)").named("slow").with(|pool| {
        pool.stop.duration = Some(secs(1));
        if let Load::Open { late, .. } = &mut pool.load {
            *late = LatePolicy::Queue;
        }
    });
    let server = || World::new(Server::new().takes(Law::Const(ms(10))));
    let alone = run(slow.clone(), server());
    let both = run(browse().beside(slow), server());
    assert!(alone.summary.total.counts.pending > 0);
    assert_eq!(figures(&both, "slow").counts, alone.summary.total.counts);
    assert_eq!(figures(&both, "browse").counts.pending, 0);
}

#[test]
fn a_command_changes_the_pool_that_it_names() {
    let rate = |law: &str| Change::Rate {
        law: law.parse().expect("a law"),
    };
    for threads in [1, 3] {
        let plan = browse().beside(buy()).threads(threads);
        let result = Simulation::new(plan, world())
            .command_to(0, secs(5), rate("const(200/s,5s)"))
            .run();
        assert_eq!(counts(figures(&result, "browse")), [500 + 1000; 3]);
        assert_eq!(counts(figures(&result, "buy")), [2730; 3]);
        let changes = result.events.iter();
        let changes = changes.filter(|event| matches!(event, RunEvent::Changed(_)));
        assert_eq!(changes.count(), 1, "one report, however many workers");
    }
    let refused = Simulation::new(browse().beside(buy()), world())
        .command(secs(5), rate("const(200/s,5s)"))
        .command_to(2, secs(5), Change::Pause)
        .command_to(1, secs(5), rate("const(200/s,5s)"))
        .give_commands();
    assert_eq!(
        refused,
        [
            Err(ControlError::WhichPool),
            Err(ControlError::NoPool(2)),
            Err(ControlError::NoRate)
        ]
    );
}

#[test]
fn a_pause_without_a_name_holds_for_all_pools() {
    let plan = browse().beside(buy());
    let result = Simulation::new(plan, world())
        .command(secs(4), Change::Pause)
        .command(secs(6), Change::Resume)
        .run();
    // The law's time is stopped for 2 s, so the law ends 2 s later; the users' duration does not
    // change.
    assert_eq!(counts(figures(&result, "browse")), [1000; 3]);
    let bought = figures(&result, "buy").counts.sent;
    assert!((2150..=2200).contains(&bought), "{bought} of 2,730");
}

#[test]
fn a_pool_with_one_user_runs_beside_one_with_many_on_any_number_of_threads() {
    for threads in 1..=6 {
        let one = closed(1).named("one").lasts(secs(1));
        let many = closed(8).named("many").lasts(secs(1));
        let result = run(one.beside(many).threads(threads), world());
        assert_eq!(counts(figures(&result, "one")), [91; 3], "{threads}");
        assert_eq!(counts(figures(&result, "many")), [91 * 8; 3], "{threads}");
    }
}
