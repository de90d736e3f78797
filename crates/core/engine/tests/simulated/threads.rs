//! No figure depends on the number of threads: 1, 2, 4 and 8 give equal counts, and times that
//! differ only by the hand-over.

use crate::programs::{of_steps, send};
use crate::users::changing;
use crate::{failures, ms, secs, us};
use drumfire_measure::Summary;
use drumfire_plan::{Affinity, LatePolicy};
use drumfire_testkit::{
    Answer, Client, Draft, Http2Behaviour, Law, Server, Simulated, Simulation, World, closed, open,
    per_user,
};
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The time until a woken thread runs.
const WAKE: Nanos = Nanos::from_micros(30);

/// The time that a hand-over may add to a quantile.
const HAND_OVER: f64 = 50e-6;

/// The quantiles that are compared, up to the maximum.
const QUANTILES: [f64; 8] = [0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0];

fn world(server: Server) -> World {
    World::new(server).client(Client::ideal().wakes_threads_in(WAKE))
}

fn takes(time: Nanos) -> World {
    world(Server::new().takes(Law::Const(time)))
}

/// A server that takes `time` for every request, except for one, from any thread, which takes
/// seconds.
fn stalls_once(time: Nanos, request: u64, stall: Nanos) -> World {
    let seen = Arc::new(AtomicU64::new(0));
    world(Server::new().answers(move |_| {
        let is_it = seen.fetch_add(1, Ordering::Relaxed) == request;
        Answer::ok().after(if is_it { stall } else { time })
    }))
}

fn on(threads: u32, plan: &Draft, world: World) -> Simulated {
    Simulation::new(plan.clone().threads(threads), world).run()
}

/// Checks that a run on several threads has the figures of the run on one.
#[track_caller]
fn alike(what: &str, one: &Summary, other: &Summary) {
    assert_eq!(one.total.counts, other.total.counts, "{what}: counts");
    let (one, other) = (&one.total.latency, &other.total.latency);
    for (name, one, other) in [
        ("response", &one.response_time, &other.response_time),
        ("service", &one.service_time, &other.service_time),
        ("waiting", &one.waiting, &other.waiting),
        ("lag", &one.lag, &other.lag),
    ] {
        for q in QUANTILES {
            let time = |of: &drumfire_measure::Histogram| of.quantile_unchecked(q).as_secs_f64();
            let (one, other) = (time(one), time(other));
            assert!(
                (one - other).abs() <= HAND_OVER + one * 0.002,
                "{what}: {name} q{q} is {:.6} and not {:.6} ms",
                other * 1e3,
                one * 1e3
            );
        }
    }
}

/// Checks that 2, 4 and 8 threads have the figures of one thread.
#[track_caller]
fn on_any(what: &str, plan: &Draft, world: impl Fn() -> World) -> Simulated {
    let one = on(1, plan, world());
    for threads in [2, 4, 8] {
        let other = on(threads, plan, world());
        alike(
            &format!("{what}, {threads} threads"),
            &one.summary,
            &other.summary,
        );
    }
    one
}

#[test]
fn an_arrival_takes_a_free_connection_wherever_it_is() {
    // Five connections carry 54 a second; three of them 32, and two 21.
    let plan = open("const(50,4s)").connections(5);
    let one = on_any("five connections", &plan, || takes(ms(92)));
    assert_eq!(one.summary.total.counts.ok, 200);
    assert_eq!(one.summary.total.latency.response_time.max(), ms(92));
}

#[test]
fn a_queue_is_one_queue() {
    // Seven connections carry 70 a second.
    let plan = open("const(90,5s) const(10,5s)").connections(7);
    on_any("seven connections, overload", &plan, || takes(ms(100)));
    let plan = open("const(90,5s)").connections(7).lasts(secs(5));
    on_any("cut off", &plan, || takes(ms(100)));
}

#[test]
fn a_number_of_requests_belongs_to_all() {
    let plan = closed(3).requests(300);
    let one = on_any("three users", &plan, || takes(ms(20)));
    assert_eq!(one.summary.duration, secs(2));
    for threads in [2, 3, 4] {
        let other = on(threads, &plan, takes(ms(20)));
        assert_eq!(other.summary.duration, secs(2), "{threads} threads");
    }
}

#[test]
fn a_stalled_user_leaves_the_requests_to_the_others() {
    let plan = closed(5).requests(1000);
    let one = on_any("a stall", &plan, || stalls_once(ms(10), 77, secs(3)));
    assert_eq!(one.summary.duration, secs(3) + ms(150));
}

#[test]
fn streams_are_found_wherever_they_are() {
    let plan = open("const(55,4s)").connections(3).http2(2);
    let server = || Server::http2(Http2Behaviour::new()).takes(Law::Const(ms(92)));
    let one = on_any("streams", &plan, || world(server()));
    assert_eq!(one.summary.total.counts.ok, 220);
}

#[test]
fn a_stalled_connection_leaves_its_part_to_the_others() {
    // Five of six connections can carry 62 a second.
    let plan = open("const(50,10s)").connections(6);
    let one = on_any("a stall", &plan, || stalls_once(ms(80), 100, secs(4)));
    let response = &one.summary.total.latency.response_time;
    assert_eq!(response.max(), secs(4));
    assert_eq!(
        response.quantile_unchecked(0.99),
        response.quantile_unchecked(0.05)
    );
}

#[test]
fn users_who_come_late_take_what_waits() {
    let users = changing(&[(0, 2), (2, 3), (4, 7), (6, 4)]);
    let plan = open("const(25,8s)").connections(8).users(users);
    on_any("late users", &plan, || takes(ms(100)));
    let users = changing(&[(0, 1), (1, 6), (3, 2), (5, 9)]);
    let plan = closed(9).users(users).lasts(secs(7));
    on_any("late users of a closed load", &plan, || takes(ms(100)));
}

#[test]
fn users_share_connections() {
    for (users, connections) in [(7, 3), (10, 4), (9, 8)] {
        let plan = closed(users).connections(connections).requests(500);
        on_any("users of few connections", &plan, || takes(ms(20)));
        let plan = closed(users).connections(connections).thinks(ms(13));
        on_any("users who think", &plan.requests(500), || takes(ms(20)));
    }
}

#[test]
fn iterations_share_connections() {
    for (rate, connections) in [(11, 3), (14, 5)] {
        let law = format!("const({rate},5s)");
        let plan = of_steps(open(&law).connections(connections), vec![send(0), send(1)]);
        on_any("iterations at a rate", &plan, || takes(ms(100)));
    }
    let plan = closed(7).connections(4).iterations(100);
    let plan = of_steps(plan, vec![send(0), send(1), send(2)]);
    on_any("iterations of users", &plan, || takes(ms(30)));
}

#[test]
fn users_with_rates_of_their_own_share_connections() {
    let plan = per_user("const(5,6s)", 8).connections(5);
    on_any("own rates", &plan, || takes(ms(110)));
}

#[test]
fn ticks_that_are_late_vanish_for_all() {
    for policy in [LatePolicy::Skip, LatePolicy::Drop(ms(155))] {
        let plan = open("const(90,5s)").connections(7).late(policy);
        on_any(&format!("{policy:?}"), &plan, || takes(ms(100)));
    }
}

#[test]
fn a_lane_of_one_worker_serves_all() {
    let urls = ["http://a.test/", "http://b.test/"];
    let plan = open("const(60,5s)").to(&urls).connections(4);
    on_any("two targets", &plan, || takes(ms(92)));
}

#[test]
fn the_load_ends_for_all_at_once() {
    let plan = open("const(100,3s)").connections(3).requests(250);
    let one = on_any("a bound", &plan, || takes(ms(40)));
    failures(&one.summary, &[]);
    assert_eq!(one.summary.total.counts.ok, 250);
}

#[test]
fn users_of_all_threads_take_the_oldest() {
    // Three users send 15 a second, with slow and fast requests alternating; each thread has one
    // kind.
    let urls = ["http://a.test/slow", "http://a.test/fast"];
    let plan = open("const(20,8s)").to(&urls).connections(3);
    let plan = plan.users(changing(&[(0, 3)]));
    let plan = plan.with(|pool| pool.connections.affinity = Affinity::User);
    on_any("users with connections of their own", &plan, || {
        world(Server::new().answers(|request| {
            let is_slow = request.head.starts_with("GET /slow");
            Answer::ok().after(if is_slow { ms(300) } else { ms(100) })
        }))
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Poisson arrivals from any seed, below and above the connections' capacity.
    #[test]
    fn random_arrivals_find_any_free_connection(
        seed in any::<u64>(),
        rate in 20_u32..80,
        connections in 2_u32..9,
        threads in 2_u32..9,
        service in 20_u64..120,
    ) {
        let plan = open(&format!("const({rate},4s)")).poisson().seed(seed);
        let plan = plan.connections(connections);
        let one = on(1, &plan, takes(ms(service)));
        let other = on(threads, &plan, takes(ms(service)));
        alike("random arrivals", &one.summary, &other.summary);
        prop_assert!(other.summary.total.latency.lag.max() <= us(61));
    }
}
