//! Targets that refuse, die or reset connections, and machines that run out of resources.

use crate::{failures, ms, run, secs, seen, us};
use drumfire_engine::RunError;
use drumfire_measure::{AddressCounts, Outcome, Validity};
use drumfire_plan::Unresolved;
use drumfire_testkit::{Client, Law, Network, Server, Simulation, World, closed, open};
use drumfire_units::Nanos;
use std::net::SocketAddr;

fn world(server: Server) -> World {
    World::new(server.takes(Law::Const(ms(1)))).network(Network::each_way(us(50)))
}

/// With `Unresolved::Fail`, a name without an address fails each of its requests, with pauses as
/// for a dead target, and nothing is dialed.
#[test]
fn a_name_without_an_address_fails_every_request() {
    for plan in [closed(10), closed(10).connections(2).http2(5)] {
        let plan = plan.lasts(secs(10)).with(|plan| {
            plan.reach.unresolved = Unresolved::Fail;
        });
        let result = run(plan, world(Server::new()).name("sut", &[]));
        let total = &result.summary.total;
        failures(
            &result.summary,
            &[(Outcome::DnsNotFound, total.counts.sent)],
        );
        assert!(
            (100..1200).contains(&total.counts.sent),
            "{}",
            total.counts.sent
        );
        assert_eq!(result.log.dials, 0);
        assert!(result.log.waits < 5000, "{} turns", result.log.waits);
    }
}

#[test]
fn a_dead_target_spins_no_core() {
    // Ten users for ten seconds: with pauses of at most 100 ms each, some hundred dials each.
    let result = run(closed(10).lasts(secs(10)), world(Server::refusing()));
    let total = &result.summary.total;
    assert_eq!(total.counts.ok, 0);
    assert_eq!(
        seen(&result.summary, Outcome::ConnectRefused),
        total.counts.sent
    );
    assert!(
        (1000..1200).contains(&total.counts.sent),
        "{}",
        total.counts.sent
    );
    assert!(result.log.dials < 1200, "{} dials", result.log.dials);
    assert!(result.log.waits < 5000, "{} turns", result.log.waits);
}

#[test]
fn a_dead_target_in_the_open_model_fails_what_was_due() {
    let plan = open("const(100/s,10s)").connections(10);
    let result = run(plan, world(Server::refusing()));
    let total = &result.summary.total;
    assert_eq!(total.counts.intended, 1000);
    assert_eq!(
        seen(&result.summary, Outcome::ConnectRefused),
        total.counts.failed
    );
    assert_eq!(total.counts.failed, 1000);
    assert!(result.log.dials < 1200, "{} dials", result.log.dials);
    assert_eq!(
        total.latency.lag.max(),
        Nanos::ZERO,
        "no connection was free"
    );
}

#[test]
fn every_way_to_fail_has_its_name() {
    for (server, outcome) in [
        (Server::refusing(), Outcome::ConnectRefused),
        (Server::unreachable(), Outcome::ConnectUnreachable),
        (Server::new().resets(1.0), Outcome::Reset),
        (
            Server::new().says(drumfire_testkit::Answer::raw(b"").then_closes(ms(1))),
            Outcome::Closed,
        ),
    ] {
        let result = run(closed(3).requests(30), world(server));
        failures(&result.summary, &[(outcome, 30)]);
    }
}

/// A message has the address, so that a wrong port is seen.
#[test]
fn a_failure_to_connect_has_its_address() {
    for (server, what) in [
        (Server::refusing(), " refused the connection"),
        (Server::unreachable(), "no route to "),
    ] {
        let result = run(closed(3).requests(30), world(server));
        for row in result.summary.total.errors() {
            let text = row.detail.to_string();
            let address: String = text.split(what).collect();
            assert!(text.contains(what), "{text}");
            assert!(address.parse::<SocketAddr>().is_ok(), "{text}");
        }
        let reasons = &result.summary.target.reasons;
        assert!(reasons[0].text.contains(what), "{reasons:?}");
    }
    let plan = closed(2).requests(4).with(|plan| {
        plan.reach.unresolved = Unresolved::Fail;
    });
    let result = run(plan, world(Server::new()).name("sut", &[]));
    let rows = result.summary.total.errors();
    assert_eq!(rows[0].detail.text, "sut: the name does not exist");
}

#[test]
fn a_restart_loses_what_it_must_and_no_more() {
    for threads in [1, 3] {
        let server = Server::new().is_dead(secs(3), secs(5));
        let plan = open("const(1000/s,10s)").connections(30).threads(threads);
        let result = run(plan, world(server));
        let total = &result.summary.total;
        assert_eq!(total.counts.intended, 10_000);
        // Requests in flight at that moment are reset. Requests that become due during the outage
        // are refused or wait for a connection that pauses.
        let reset = seen(&result.summary, Outcome::ClosedReused);
        let refused = seen(&result.summary, Outcome::ConnectRefused);
        assert!((1..=5).contains(&reset), "{reset}");
        assert!(refused > 100, "{refused}");
        assert_eq!(total.counts.ok + reset + refused, 10_000);
        assert!(total.latency.response_time.max() < secs(2) + ms(200));
        assert_eq!(total.latency.lag.max(), Nanos::ZERO);
        assert!(
            result.log.dials < 30 * 27 + 60,
            "{} dials",
            result.log.dials
        );
    }
}

#[test]
fn a_restart_in_the_closed_model_balances() {
    let server = Server::new()
        .is_dead(secs(2), secs(3))
        .is_dead(secs(4), secs(5));
    let result = run(closed(20).lasts(secs(8)), world(server));
    let total = &result.summary.total;
    assert_eq!(seen(&result.summary, Outcome::ClosedReused), 40);
    assert_eq!(total.counts.ok + total.counts.failed, total.counts.sent);
    // 20 users, 6 s, 1.1 ms each, minus the time to notice that the server is back.
    let best = 20 * 6_000_000 / 1100;
    assert!(
        (best - 20 * 200..best + 40).contains(&total.counts.ok),
        "{}",
        total.counts.ok
    );
}

#[test]
fn a_target_that_is_dead_at_first_is_found_when_it_comes() {
    let server = Server::new().is_dead(Nanos::ZERO, secs(1));
    let result = run(closed(5).lasts(secs(2)), world(server));
    let refused = seen(&result.summary, Outcome::ConnectRefused);
    failures(&result.summary, &[(Outcome::ConnectRefused, refused)]);
    assert!(result.summary.total.counts.ok > 4000);
}

#[test]
fn resets_at_random_are_counted_exactly() {
    let server = Server::new().resets(0.1);
    let result = run(open("const(1000/s,20s)").connections(20), world(server));
    let total = &result.summary.total;
    // A reset before any byte counts as the end of a kept-alive connection, except on the
    // connection's first request.
    let first = seen(&result.summary, Outcome::Reset);
    let reset = first + seen(&result.summary, Outcome::ClosedReused);
    assert_eq!(total.counts.ok + reset, 20_000);
    // Binomial: a standard deviation of 42.
    assert!((1800..2200).contains(&reset), "{reset}");
    assert_eq!(result.log.requests, 20_000);
}

#[test]
fn one_dead_address_of_two_costs_nothing() {
    for dead in [Server::refusing(), Server::unreachable()] {
        let world = world(Server::new())
            .host("10.0.0.2:80", dead)
            .name("sut", &["10.0.0.2:80", "10.0.0.1:80"]);
        let plan = open("const(1000/s,10s)").connections(10);
        let result = run(plan, world);
        failures(&result.summary, &[]);
        assert_eq!(result.summary.total.counts.ok, 10_000);
        assert!(result.log.dials < 30, "{} dials", result.log.dials);
    }
}

#[test]
fn connections_are_spread_over_addresses() {
    let world = world(Server::new())
        .host(
            "10.0.0.2:80",
            Server::new().says(drumfire_testkit::Answer::status(201)),
        )
        .name("sut", &["10.0.0.1:80", "10.0.0.2:80"]);
    let result = run(open("const(1000/s,2s)").connections(10), world);
    let status: Vec<(u16, u64)> = result.summary.total.status().collect();
    assert_eq!(status, [(200, 1000), (201, 1000)]);
    let rows = result.summary.total.connections.addresses.rows();
    let rows: Vec<_> = rows.iter().map(|row| (row.address, row.counts)).collect();
    let each = AddressCounts::new(5, 1000);
    let address = |text: &str| text.parse().expect(text);
    assert_eq!(
        rows,
        [
            (address("10.0.0.1:80"), each),
            (address("10.0.0.2:80"), each)
        ]
    );
}

#[test]
fn an_address_that_swallows_is_given_up_for_the_other() {
    let world = world(Server::new())
        .host("10.0.0.2:80", Server::swallowing())
        .name("sut", &["10.0.0.2:80", "10.0.0.1:80"]);
    let plan = closed(4)
        .requests(400)
        .with(|plan| plan.timeouts.connect = ms(500));
    let result = run(plan, world);
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, 400);
}

#[test]
fn what_the_machine_lacks_is_the_generators_fault() {
    for (client, outcome) in [
        (Client::ideal().descriptors(3), Outcome::LocalDescriptors),
        (Client::ideal().ports(3, secs(60)), Outcome::LocalPorts),
    ] {
        let plan = open("const(100/s,5s)").connections(10);
        let result = run(plan, world(Server::new()).client(client));
        let total = &result.summary.total;
        let lacking = seen(&result.summary, outcome);
        failures(&result.summary, &[(outcome, lacking)]);
        assert!(lacking > 0);
        assert_eq!(total.counts.ok + lacking, 500);
        assert_eq!(result.summary.verdict.validity, Validity::Invalid);
        assert_eq!(result.summary.generator.limited_by, [outcome]);
    }
}

/// A driver that can't wait ends the run, whether connections are being opened or later; only the
/// generator is blamed.
#[test]
fn a_wait_that_fails_ends_the_run() {
    for waits in [0, 7, 100] {
        let plan = closed(10).requests(1000).threads(2);
        let world = world(Server::new()).client(Client::ideal().waits(waits));
        let ended = Simulation::new(plan, world).try_run().map(|_| ());
        assert!(
            matches!(ended, Err(RunError::Driver(_))),
            "{waits}: {ended:?}"
        );
    }
}

#[test]
fn ports_run_out_when_each_request_has_its_own() {
    let plan = closed(2)
        .requests(1000)
        .with(|plan| plan.connections.keep_alive = drumfire_plan::KeepAlive::No);
    let result = run(
        plan,
        world(Server::new()).client(Client::ideal().ports(100, secs(60))),
    );
    let lacking = seen(&result.summary, Outcome::LocalPorts);
    assert_eq!(result.summary.total.counts.ok, 100);
    assert_eq!(lacking, 900);
}
