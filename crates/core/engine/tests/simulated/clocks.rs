//! Times by the kernel's clock: the program's lateness is in no figure of the target.
//!
//! The program is stopped in pauses. During them the network continues and the kernel stamps
//! arriving bytes.

use crate::{ms, run, secs, us};
use drumfire_measure::{ArrivalClock, Latency, Validity};
use drumfire_plan::{ClockChoice, Redirects};
use drumfire_testkit::{
    Answer, Client, Draft, Http2Behaviour, Law, Network, Server, Simulated, World, closed, open,
};
use drumfire_units::Nanos;

/// A program that is stopped for 60 ms in every 500 ms of ten seconds.
fn halting() -> Client {
    let starts = (0..20).map(|n| ms(500 * n + 233) + us(7));
    starts.fold(Client::ideal(), |client, at| client.stopped(at, ms(60)))
}

/// A server of 1 ms, 50 µs away.
fn world(server: Server, client: Client) -> World {
    World::new(server.takes(Law::Const(ms(1))))
        .network(Network::each_way(us(50)))
        .client(client)
}

/// The time that a request takes in that world.
const SERVICE: Nanos = Nanos::from_micros(1_100);

/// The parts of every request's response time add up to it.
#[track_caller]
fn is_balanced(latency: &Latency) {
    let parts = [&latency.waiting, &latency.lag, &latency.service_time];
    let sum: u128 = parts.iter().map(|part| part.sum()).sum();
    assert_eq!(latency.response_time.sum(), sum);
}

#[track_caller]
fn has_one_service_time(result: &Simulated) {
    let service = &result.summary.total.latency.service_time;
    assert_eq!((service.min(), service.max()), (SERVICE, SERVICE));
}

/// The plans and servers of an open load over either protocol.
fn open_loads(connections: u32) -> [(Draft, Server); 2] {
    let plan = open("const(1000/s,10s)").connections(connections);
    [
        (plan.clone(), Server::new()),
        (plan.http2(1), Server::http2(Http2Behaviour::new())),
    ]
}

#[test]
fn a_generator_that_stands_still_leaves_service_times_as_they_are() {
    for connections in [2, 100] {
        for (plan, server) in open_loads(connections) {
            let plan = plan.clock(ClockChoice::Receive);
            let result = run(plan.clone(), world(server.clone(), halting().stamps()));
            let total = &result.summary.total;
            assert_eq!(total.counts.ok, 10_000);
            has_one_service_time(&result);
            is_balanced(&total.latency);
            // The only delay of requests that became due in a stop is the stop.
            assert_eq!(total.latency.waiting.max(), Nanos::ZERO, "{connections}");
            assert!(total.latency.lag.max() > ms(59));
            assert_eq!(result.summary.generator.clock, ArrivalClock::Kernel);
            assert_ne!(result.summary.verdict.validity, Validity::Valid);
            // By the program's clock the service times include the stops.
            let result = run(plan, world(server, halting()));
            let service = &result.summary.total.latency.service_time;
            assert!(service.max() > ms(58), "{:?}", service.max());
            assert_eq!(result.summary.generator.clock, ArrivalClock::Program);
        }
    }
}

#[test]
fn users_that_stand_still_see_the_service_as_it_is() {
    let plan = closed(4).lasts(secs(10)).clock(ClockChoice::Receive);
    let result = run(plan, world(Server::new(), halting().stamps()));
    has_one_service_time(&result);
    let latency = &result.summary.total.latency;
    is_balanced(latency);
    assert_eq!(latency.lag.max(), Nanos::ZERO);
    assert_eq!(latency.waiting.max(), Nanos::ZERO);
    // The time for which responses waited to be read slows the users down.
    let handling = &result.summary.health.handling;
    assert_eq!(handling.count(), result.summary.total.counts.ok);
    assert!(handling.max() > ms(58) && handling.max() <= ms(60));
    assert_eq!(result.summary.generator.handling_p50, Nanos::ZERO);
}

/// Any pauses leave service times unchanged: they equal the times of a program that was never
/// stopped.
#[test]
fn service_times_do_not_depend_on_pauses() {
    for seed in 0..24 {
        let plan = open("const(400/s,5s)").connections(400).poisson();
        let plan = match seed % 2 {
            0 => plan,
            _ => plan.http2(4),
        };
        let plan = plan.seed(seed).clock(ClockChoice::Receive);
        let run_with = |client: Client| {
            let server = match seed % 2 {
                0 => Server::new(),
                _ => Server::http2(Http2Behaviour::new()),
            };
            let world = World::new(server.takes(Law::Exponential(ms(3))))
                .network(Network::each_way(us(20)))
                .client(client)
                .seed(seed);
            run(plan.clone(), world)
        };
        let mut pauses = Client::ideal();
        let (mut at, mut state) = (ms(40), seed * 2 + 1);
        while at < secs(5) {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let length = us(state >> 47);
            pauses = match state >> 63 {
                0 => pauses.stopped(at, length),
                _ => pauses.starved(at, length),
            };
            at = at + length + us(state >> 40 & 0x3ffff);
        }
        let (still, paused) = (run_with(Client::ideal()), run_with(pauses.stamps()));
        let (still, paused) = (&still.summary.total.latency, &paused.summary.total.latency);
        assert_eq!(still.service_time, paused.service_time, "seed {seed}");
        assert!(paused.lag.max() > still.lag.max(), "seed {seed}");
        is_balanced(paused);
    }
}

/// A program that loses its core within a send: by the kernel's clock of departures that time is
/// lag, by the program's own clock it would be service time.
#[test]
fn what_a_send_takes_is_in_no_service_time() {
    for (plan, server) in open_loads(100) {
        let slow = |pauses: Client| pauses.stamps().call_takes(us(50));
        let wire = plan.clone().clock(ClockChoice::Wire);
        let result = run(wire, world(server.clone(), slow(halting()).departs()));
        let summary = &result.summary;
        assert_eq!(summary.total.counts.ok, 10_000);
        has_one_service_time(&result);
        is_balanced(&summary.total.latency);
        assert_eq!(summary.generator.clock, ArrivalClock::Wire);
        let leaving = &summary.health.leaving;
        assert_eq!(leaving.count(), 10_000);
        assert_eq!(leaving.min(), us(50));
        assert!(leaving.max() > ms(55), "{:?}", leaving.max());
        assert!(summary.total.latency.lag.min() >= us(50));
        // With time stamps only for arriving bytes, service time counts from the hand-over.
        let plan = plan.clock(ClockChoice::Receive);
        let result = run(plan, world(server, slow(halting())));
        let service = &result.summary.total.latency.service_time;
        assert_eq!(service.min(), SERVICE + us(50));
        assert!(service.max() > ms(55), "{:?}", service.max());
        assert_eq!(result.summary.generator.clock, ArrivalClock::Kernel);
    }
}

/// With any pauses, even within calls, service times depend only on the network and the server.
#[test]
fn service_times_do_not_depend_on_calls() {
    for seed in 0..12 {
        let plan = open("const(400/s,5s)").connections(400).poisson();
        let plan = plan.seed(seed).clock(ClockChoice::Wire);
        let mut client = Client::ideal().call_takes(us(40 + seed * 11));
        let (mut at, mut state) = (ms(40), seed * 2 + 1);
        while at < secs(5) {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let length = us(state >> 49);
            client = client.stopped(at, length);
            at = at + length + us(state >> 42 & 0xffff);
        }
        let result = run(plan, world(Server::new(), client.stamps().departs()));
        has_one_service_time(&result);
        is_balanced(&result.summary.total.latency);
        let departures = result.summary.health.departures;
        let sent = result.summary.total.counts.sent;
        assert_eq!(
            (departures.taken, departures.lost()),
            (sent, 0),
            "seed {seed}"
        );
    }
}

/// Requests with an unknown departure count from their hand-over, and are counted.
#[test]
fn departures_that_are_missing_or_refused_fall_back() {
    for (plan, server) in open_loads(100) {
        let slow = || halting().call_takes(us(100));
        let receive = plan.clone().clock(ClockChoice::Receive);
        let wire = plan.clone().clock(ClockChoice::Wire);
        let kernel = run(receive, world(server.clone(), slow().stamps()));
        let late = slow().stamps().departs_late(secs(1));
        let refused = run(wire.clone(), world(server.clone(), late));
        let (kernel, refused) = (&kernel.summary, &refused.summary);
        assert_eq!(refused.health.departures.refused, 10_000);
        assert_eq!(refused.health.leaving.count(), 0);
        assert_eq!(refused.generator.clock, ArrivalClock::Kernel);
        assert_eq!(
            kernel.total.latency.service_time,
            refused.total.latency.service_time
        );
        let missing = slow().stamps_from(secs(9)).departs();
        let missing = run(wire, world(server, missing)).summary;
        let departures = missing.health.departures;
        assert!(departures.missing > 8_900, "{departures:?}");
        assert_eq!(departures.missing + departures.taken, 10_000);
        assert_eq!(missing.generator.clock, ArrivalClock::Program);
    }
}

/// The sent time is the departure of the first request, even after redirects.
#[test]
fn the_departure_is_that_of_the_first_request() {
    let plan = open("const(100/s,1s)").connections(100);
    let plan = plan.to(&["http://sut/3"]).clock(ClockChoice::Wire);
    let plan = plan.with(|pool| pool.http.redirects = Redirects::Follow(3));
    let server = Server::new().answers(|request| match request.target() {
        "/3" => Answer::redirect(302, "/2"),
        "/2" => Answer::redirect(302, "/1"),
        _ => Answer::ok(),
    });
    let client = Client::ideal().stamps().departs().call_takes(us(100));
    let result = run(plan, world(server, client));
    let latency = &result.summary.total.latency;
    is_balanced(latency);
    // Three round trips, and the program's time between them.
    assert!(latency.service_time.min() > Nanos(SERVICE.0 * 3));
    assert_eq!(result.summary.health.leaving.count(), 100);
    assert_eq!(result.summary.health.leaving.max(), us(100));
}

/// Responses on one connection that are read at once have the time stamp of the newest. It may be
/// later than their own arrival, but never later than the program's time.
#[test]
fn streams_that_are_read_at_once_have_the_newest_stamp() {
    let plan = open("const(1000/s,10s)").connections(2).http2(8);
    let plan = plan.clock(ClockChoice::Receive);
    let server = || Server::http2(Http2Behaviour::new());
    let halting = halting();
    let program = run(plan.clone(), world(server(), halting.clone()));
    let kernel = run(plan, world(server(), halting.stamps()));
    let [program, kernel] = [program, kernel].map(|result| {
        let total = &result.summary.total;
        assert_eq!(total.counts.ok, 10_000);
        is_balanced(&total.latency);
        total.latency.service_time.clone()
    });
    assert_eq!(kernel.min(), SERVICE);
    assert_eq!(kernel.max(), SERVICE + ms(1));
    assert!(program.max() > ms(58));
}

/// A time stamp that is earlier than its request is refused: the program's time is used instead.
#[test]
fn a_stamp_before_the_request_is_refused() {
    for (plan, server) in open_loads(100) {
        let program = run(plan.clone(), world(server.clone(), halting()));
        let plan = plan.clock(ClockChoice::Receive);
        let early = run(plan, world(server, halting().stamps_early(secs(1))));
        let (program, early) = (&program.summary, &early.summary);
        assert_eq!(early.health.stamps.refused, 10_000);
        assert_eq!(early.generator.clock, ArrivalClock::Program);
        assert_eq!(
            program.total.latency.service_time,
            early.total.latency.service_time
        );
        assert_eq!(
            program.total.latency.first_byte,
            early.total.latency.first_byte
        );
    }
}

#[test]
fn what_the_kernel_does_not_stamp_is_timed_by_the_program() {
    let plan = open("const(1000/s,10s)").connections(100);
    let plan = plan.clock(ClockChoice::Receive);
    let result = run(plan, world(Server::new(), halting().stamps_from(secs(9))));
    let stamps = result.summary.health.stamps;
    assert_eq!(stamps.taken + stamps.missing, 10_000);
    assert!(
        stamps.missing > 8_900 && stamps.missing < 9_100,
        "{stamps:?}"
    );
    assert_eq!(result.summary.generator.clock, ArrivalClock::Program);
    assert!(result.summary.total.latency.service_time.max() > ms(58));
}

/// When several segments are read at once, only the last one's time is known.
#[test]
fn the_first_byte_is_that_of_the_first_read() {
    let answer = Answer::ok().cut_at(&[10], ms(5));
    let plan = open("const(10/s,1s)").connections(10);
    let plan = plan.clock(ClockChoice::Receive);
    let server = || Server::new().says(answer.clone());
    let result = run(plan.clone(), world(server(), Client::ideal().stamps()));
    let latency = &result.summary.total.latency;
    assert_eq!(latency.first_byte.max(), SERVICE);
    assert_eq!(latency.service_time.min(), SERVICE + ms(5));
    let halting = Client::ideal().stopped(us(100), ms(50)).stamps();
    let result = run(plan, world(server(), halting));
    let latency = &result.summary.total.latency;
    assert_eq!(latency.first_byte.max(), SERVICE + ms(5));
    assert_eq!(latency.first_byte.min(), SERVICE);
    assert_eq!(latency.service_time.max(), SERVICE + ms(5));
}
