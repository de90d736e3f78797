//! Many exchanges on one connection: in flight, waiting, and with the server's limits and failures.

use crate::{failures, ms, run, secs, seen, us};
use drumfire_measure::{Outcome, Validity};
use drumfire_plan::{CallKind, Drain, KeepAlive, UserSteps, Verify};
use drumfire_testkit::{
    Answer, Client, Draft, Farewell, Http2Behaviour, LastId, Law, Network, RepliesAt, Reply, Said,
    Server, Simulated, Simulation, World, closed, open,
};
use drumfire_units::Nanos;

/// A server that takes 10 ms, 1 ms away.
fn world(script: Http2Behaviour) -> World {
    World::new(Server::http2(script).takes(Law::Const(ms(10)))).network(Network::each_way(ms(1)))
}

/// A world with such a server and without network delay.
fn near(script: Http2Behaviour) -> World {
    World::new(Server::http2(script).takes(Law::Const(ms(10))))
}

/// A number of users, all on one connection.
fn together(users: u32) -> Draft {
    closed(users).connections(1).http2(users)
}

/// Checks the number of answered requests and of connections, and that no request failed.
#[track_caller]
fn answered(result: &Simulated, requests: u64, connections: u64) {
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, requests);
    assert_eq!(result.log.requests, requests);
    assert_eq!(result.log.connections, connections);
}

#[test]
fn a_connection_carries_as_many_as_the_plan_says() {
    for (connections, streams) in [(1, 100), (2, 50), (10, 10), (100, 1)] {
        let plan = closed(100).connections(connections).http2(streams);
        let result = run(plan.requests(10_000), world(Http2Behaviour::new()));
        answered(&result, 10_000, u64::from(connections));
        assert_eq!(result.log.streams_most, u64::from(streams));
        // A hundred rounds of 12 ms.
        assert_eq!(result.summary.duration, ms(1200));
        let latency = &result.summary.total.latency;
        for times in [&latency.response_time, &latency.service_time] {
            assert_eq!((times.min(), times.max()), (ms(12), ms(12)));
        }
        assert_eq!(latency.lag.max(), Nanos::ZERO);
    }
}

#[test]
fn what_a_server_holds_back_is_waiting_and_neither_lag_nor_service() {
    let plan = together(100).requests(1000);
    let result = run(plan, world(Http2Behaviour::new().allows(1)));
    answered(&result, 1000, 1);
    assert_eq!(result.log.streams_most, 1);
    // All but the very first.
    let held_back = &result.summary.total.held_back;
    assert_eq!((held_back.requests, held_back.allowed), (999, Some(1)));
    let latency = &result.summary.total.latency;
    assert_eq!(latency.lag.max(), Nanos::ZERO);
    assert_eq!(latency.service_time.max(), ms(12));
    assert_eq!(latency.waiting.max(), ms(99 * 12));
    assert_eq!(latency.response_time.max(), ms(100 * 12));
    assert_eq!(result.summary.duration, secs(12));
}

#[test]
fn a_server_that_allows_none_is_waited_for() {
    let script = Http2Behaviour::new().allows(0).then_allows(secs(2), 1000);
    let plan = open("const(100/s,5s)").http2(300);
    let result = run(plan, near(script));
    answered(&result, 500, 1);
    let latency = &result.summary.total.latency;
    assert_eq!(latency.waiting.max(), secs(2));
    assert_eq!(latency.response_time.max(), secs(2) + ms(10));
    assert_eq!(latency.service_time.max(), ms(10));
    assert_eq!(latency.lag.max(), Nanos::ZERO);
    assert_eq!(result.summary.verdict.validity, Validity::Valid);
    // 200 requests were due before there was room, and the report contains the reason.
    let held_back = &result.summary.total.held_back;
    assert_eq!((held_back.requests, held_back.allowed), (200, Some(0)));
}

#[test]
fn a_server_that_allows_fewer_than_there_are_loses_none() {
    let script = Http2Behaviour::new().then_allows(ms(105), 1);
    let result = run(together(100).lasts(secs(1)), near(script));
    failures(&result.summary, &[]);
    // Eleven rounds of 100, then 100 requests, each of which has a successor if it ends from 120 ms
    // to 990 ms.
    assert_eq!(result.summary.total.counts.ok, 1100 + 100 + 88);
    assert_eq!(result.log.cancelled, 0);
}

#[test]
fn a_body_waits_for_room_and_comes_whole() {
    for (script, waits) in [
        (Http2Behaviour::new(), 0),
        (Http2Behaviour::new().stream_window(1000), 0),
        (
            Http2Behaviour::new()
                .stream_window(0)
                .then_stream_window(secs(1), 700),
            1,
        ),
        (
            Http2Behaviour::new()
                .stream_window(300)
                .then_stream_window(secs(1), 0)
                .then_stream_window(secs(2), 100_000),
            0,
        ),
    ] {
        let plan = open("once(10)").http2(10).posting(&[b'x'; 10_000]);
        let result = run(plan, near(script).keeps_requests());
        answered(&result, 10, 1);
        assert!(result.log.seen.iter().all(|seen| seen.body == 10_000));
        let response = &result.summary.total.latency.response_time;
        assert_eq!(response.max(), secs(waits) + ms(10));
    }
}

#[test]
fn a_response_before_the_body_is_whole_is_a_response() {
    // With and without a reset with which the server refuses the rest of the body.
    for reply in [Reply::status(200), Reply::status(200).reset(0)] {
        let script = Http2Behaviour::new()
            .stream_window(1000)
            .replies_at(RepliesAt::Head)
            .says(reply.after(Nanos::ZERO));
        let plan = together(5).requests(100).posting(&[b'x'; 100_000]);
        let result = run(plan, world(script));
        answered(&result, 100, 1);
        assert_eq!(result.summary.total.latency.response_time.max(), ms(2));
    }
}

#[test]
fn streams_that_a_server_did_not_process_are_sent_again() {
    // Bursts of 20: the connection serves none of the third burst.
    for farewell in [Farewell::Stays, Farewell::WhenDone] {
        let script = Http2Behaviour::new().goes_away(50, LastId::Of(79), 0, farewell);
        let result = run(together(20).requests(1000), world(script));
        answered(&result, 1000, 25);
        assert_eq!(result.summary.total.retried, 24 * 20);
        // 50 rounds, and 24 times a round to be refused and one to connect.
        assert_eq!(result.summary.duration, ms(50 * 12 + 24 * (2 + 4)));
    }
}

#[test]
fn a_warning_moves_on_without_loss() {
    let script = Http2Behaviour::new()
        .goes_away_after(ms(40), LastId::Max, 0, Farewell::Stays)
        .goes_away_after(ms(60), LastId::Come, 0, Farewell::WhenDone);
    let result = run(together(20).lasts(secs(5)), world(script));
    failures(&result.summary, &[]);
    let total = &result.summary.total;
    assert_eq!(total.counts.ok, total.counts.sent);
    assert_eq!(result.log.requests, total.counts.ok);
    assert_eq!(total.retried, 0);
    assert!(total.latency.response_time.max() <= ms(12 + 4));
}

#[test]
fn streams_that_a_server_refuses_on_its_way_out_are_sent_again() {
    // The third burst is sent before the GOAWAY arrives; none of its streams is above the last
    // stream of the GOAWAY.
    let script = Http2Behaviour::new()
        .goes_away_after(ms(25), LastId::Max, 0, Farewell::Stays)
        .refuses_when_going();
    let result = run(together(20).requests(60), world(script));
    answered(&result, 60, 2);
    let retried = result.summary.total.retried;
    assert_eq!((retried, result.log.unserved), (20, 20));
}

#[test]
fn answers_that_come_with_a_farewell_are_followed_by_requests_elsewhere() {
    // The second burst's answers arrive after 20 ms, the GOAWAY a millisecond later; both are read
    // at once after 22 ms.
    let script = Http2Behaviour::new().goes_away_after(ms(21), LastId::Come, 0, Farewell::WhenDone);
    let world = near(script).client(Client::ideal().stopped(ms(18), ms(4)));
    let result = run(together(20).requests(60), world);
    answered(&result, 60, 2);
    assert_eq!((result.summary.total.retried, result.log.unserved), (0, 0));
    assert_eq!(result.summary.duration, ms(32));
    assert_eq!(result.summary.total.latency.lag.max(), Nanos::ZERO);
}

#[test]
fn a_server_that_always_goes_away_is_dialed_seldom() {
    for (code, outcome) in [
        (0, Outcome::H2GoAway),
        (11, Outcome::H2ConnectionEnhanceYourCalm),
    ] {
        let script = Http2Behaviour::new().goes_away(1, LastId::Of(0), code, Farewell::WhenDone);
        let plan = together(10)
            .lasts(secs(10))
            .with(|plan| plan.timeouts.total = secs(2));
        let result = run(plan, world(script));
        let total = &result.summary.total;
        failures(&result.summary, &[(outcome, total.counts.sent)]);
        // Each is sent once more and then fails; after an error none is sent again.
        let again = if code == 0 { total.counts.sent } else { 0 };
        assert_eq!(total.retried, again);
        assert!(total.counts.sent >= 40, "{}", total.counts.sent);
        assert!(result.log.dials < 150, "{} dials", result.log.dials);
        assert!(result.log.waits < 5000, "{} turns", result.log.waits);
    }
}

#[test]
fn a_server_that_greets_with_a_farewell_is_sent_nothing() {
    for (code, outcome) in [
        (0, Outcome::H2GoAway),
        (11, Outcome::H2ConnectionEnhanceYourCalm),
    ] {
        for farewell in [Farewell::Stays, Farewell::WhenDone, Farewell::AtOnce] {
            let script = Http2Behaviour::new().goes_away(0, LastId::Of(0), code, farewell);
            let result = run(together(10).lasts(secs(10)), world(script));
            let total = &result.summary.total;
            // Like a server that refuses connections: all waiting requests have failed.
            failures(&result.summary, &[(outcome, total.counts.sent)]);
            assert_eq!((result.log.requests, result.log.unserved), (0, 0));
            assert_eq!(total.retried, 0);
            assert!(total.counts.sent >= 900, "{}", total.counts.sent);
            // Soon at first, then every 104 ms.
            assert!(result.log.dials < 120, "{} dials", result.log.dials);
            assert!(result.log.waits < 1000, "{} turns", result.log.waits);
            assert_eq!(total.latency.lag.max(), Nanos::ZERO);
        }
    }
}

#[test]
fn one_farewell_as_a_greeting_costs_a_pause() {
    // The first connection returns 10 requests of the third burst, the second accepts none of them.
    let script = Http2Behaviour::new()
        .goes_away(50, LastId::Come, 0, Farewell::WhenDone)
        .on(0..1)
        .goes_away(0, LastId::Of(0), 0, Farewell::WhenDone)
        .on(1..2);
    let result = run(together(20).requests(1000), world(script));
    answered(&result, 1000, 3);
    assert_eq!(
        (result.summary.total.retried, result.log.unserved),
        (10, 10)
    );
    // Two more connections, a pause of 1 ms between them, and the time to be refused.
    let longest = result.summary.total.latency.response_time.max();
    assert!(longest <= ms(12 + 2 + 2 * 4 + 1), "{longest}");
}

#[test]
fn a_server_that_has_enough_is_obeyed() {
    // ENHANCE_YOUR_CALM, and the connection is closed with its exchanges.
    let script = Http2Behaviour::new().goes_away(30, LastId::Come, 11, Farewell::AtOnce);
    let result = run(together(10).requests(300), world(script));
    let total = &result.summary.total;
    let calm = seen(&result.summary, Outcome::H2ConnectionEnhanceYourCalm);
    failures(
        &result.summary,
        &[(Outcome::H2ConnectionEnhanceYourCalm, calm)],
    );
    assert_eq!(total.counts.ok + calm, 300);
    // On each connection, two of three bursts are answered.
    assert_eq!((calm, result.log.connections), (100, 10));
}

#[test]
fn a_connection_that_is_closed_over_what_it_carries_loses_that() {
    let script = Http2Behaviour::new().goes_away(30, LastId::Come, 0, Farewell::AtOnce);
    let result = run(together(10).requests(300), world(script));
    failures(&result.summary, &[(Outcome::Closed, 100)]);
    assert_eq!(result.summary.total.counts.ok, 200);
    assert_eq!(result.log.connections, 10);
}

#[test]
fn a_server_that_reads_slowly_gets_all() {
    for window in [100, 5000, 60_000] {
        let server = Server::http2(Http2Behaviour::new()).window(window);
        let world = World::new(server.takes(Law::Const(us(100))))
            .network(Network::each_way(us(50)))
            .keeps_requests();
        let plan = together(8).requests(80).posting(&[b'x'; 20_000]);
        let result = run(plan, world);
        answered(&result, 80, 1);
        assert!(result.log.seen.iter().all(|seen| seen.body == 20_000));
        assert!(result.log.sends.partial > 0);
    }
}

#[test]
fn frames_that_come_in_pieces_are_whole() {
    for (size, apart) in [(1, Nanos::ZERO), (1, us(1)), (3, us(10)), (10, us(1))] {
        let body = Reply::head(200, &[("x-field", "value")]).data(&[b'x'; 300]);
        let script = Http2Behaviour::new()
            .dripping(size, apart)
            .says(body.ends());
        let result = run(together(8).requests(200), near(script));
        answered(&result, 200, 1);
    }
}

#[test]
fn a_dead_target_spins_no_core() {
    let plan = together(10).lasts(secs(10));
    let result = run(plan, World::new(Server::refusing()));
    let total = &result.summary.total;
    let refused = total.counts.sent;
    failures(&result.summary, &[(Outcome::ConnectRefused, refused)]);
    assert!(result.log.dials < 120, "{} dials", result.log.dials);
    assert!(result.log.waits < 1000, "{} turns", result.log.waits);
}

/// Consecutive failures lengthen the pause before a connection is dialed. Opening a connection
/// resets their count, even if it takes a single request and is replaced before its response.
#[test]
fn a_connection_that_was_opened_ends_a_row_of_failures() {
    let server = Server::http2(Http2Behaviour::new()).takes(Law::Const(ms(1)));
    let outages = 1..20;
    let server = outages.fold(server, |server, half| {
        server.is_dead(ms(500 * half), ms(500 * half + 3))
    });
    let plan = open("const(1000/s,10s)").connections(2).http2(5);
    let plan = plan.with(|pool| pool.connections.keep_alive = KeepAlive::No);
    let result = run(plan, World::new(server).network(Network::each_way(us(50))));
    let total = &result.summary.total;
    let longest = total.latency.waiting.max();
    assert!(longest <= ms(12), "{longest:?}");
    assert!(total.counts.failed <= 19 * 12, "{}", total.counts.failed);
}

#[test]
fn a_restart_loses_what_is_under_way_and_no_more() {
    for threads in [1, 2] {
        let server = Server::http2(Http2Behaviour::new())
            .takes(Law::Const(ms(1)))
            .is_dead(secs(3), secs(5));
        let world = World::new(server).network(Network::each_way(us(50)));
        let plan = open("const(1000/s,10s)")
            .connections(2)
            .http2(50)
            .threads(threads);
        let result = run(plan, world);
        let total = &result.summary.total;
        assert_eq!(total.counts.intended, 10_000);
        let reset = seen(&result.summary, Outcome::Reset);
        let refused = seen(&result.summary, Outcome::ConnectRefused);
        failures(
            &result.summary,
            &[(Outcome::ConnectRefused, refused), (Outcome::Reset, reset)],
        );
        assert!((1..=3).contains(&reset), "{reset}");
        assert!(refused > 1500, "{refused}");
        assert_eq!(total.counts.ok + reset + refused, 10_000);
        assert!(result.log.dials < 100, "{} dials", result.log.dials);
        assert_eq!(total.latency.lag.max(), Nanos::ZERO);
    }
}

#[test]
fn a_connection_that_breaks_takes_all_that_it_carries() {
    let script = Http2Behaviour::new().answers(|request| match request.index {
        99 => Reply::head(200, &[]).breaks(),
        _ => Reply::ok(),
    });
    let result = run(together(100).requests(100), world(script));
    failures(&result.summary, &[(Outcome::Truncated, 1)]);
    let script = Http2Behaviour::new().answers(|request| match request.index {
        0 => Reply::head(200, &[]).breaks().after(ms(5)),
        _ => Reply::ok(),
    });
    let result = run(together(100).requests(500), world(script));
    // The first request's response had begun, and was truncated.
    let cut_off = [(Outcome::Reset, 99), (Outcome::Truncated, 1)];
    failures(&result.summary, &cut_off);
    assert_eq!(result.summary.total.counts.ok, 400);
    assert_eq!(result.log.connections, 2);
}

#[test]
fn a_connection_that_is_closed_without_a_word_is_a_failure_of_all_that_it_carries() {
    let script = Http2Behaviour::new().answers(|request| match request.index {
        0 => Reply::head(200, &[]).closes().after(ms(5)),
        _ => Reply::ok(),
    });
    let result = run(together(100).requests(500), world(script));
    let cut_off = [(Outcome::Closed, 99), (Outcome::Truncated, 1)];
    failures(&result.summary, &cut_off);
    assert_eq!(result.summary.total.counts.ok, 400);
    assert_eq!(result.log.connections, 2);
}

/// Checks that all `count` requests timed out in this way after this time, that their streams were
/// cancelled, and that their connection was kept.
#[track_caller]
fn all_timed_out(result: &Simulated, outcome: Outcome, count: u64, after: Nanos) {
    failures(&result.summary, &[(outcome, count)]);
    let total = &result.summary.total;
    assert_eq!(total.counts.timed_out, count);
    let failed = &total.latency.failed;
    assert_eq!(failed.count(), count, "they stay in the record");
    assert!(failed.min() >= after && failed.max() <= after + ms(2));
    assert_eq!(result.log.connections, 1);
}

#[test]
fn a_timeout_cancels_its_stream_and_keeps_the_connection() {
    let plan = || {
        together(10)
            .requests(100)
            .with(|plan| plan.timeouts.total = secs(1))
    };
    let result = run(plan(), world(Http2Behaviour::new().says(Reply::never())));
    all_timed_out(&result, Outcome::TimeoutHead, 100, secs(1));
    assert!(result.log.cancelled >= 90, "{}", result.log.cancelled);
    let head = Reply::head(200, &[]);
    let result = run(plan(), world(Http2Behaviour::new().says(head)));
    all_timed_out(&result, Outcome::TimeoutBody, 100, secs(1));
}

#[test]
fn bodies_that_never_end_cost_no_room() {
    // 40 MB in total, but the connection has room for 16 MB: the server checks that there is room.
    let endless = Reply::head(200, &[]).data(&[b'x'; 4000]);
    let plan = together(100)
        .requests(10_000)
        .with(|plan| plan.timeouts.total = ms(100));
    let result = run(plan, world(Http2Behaviour::new().says(endless)));
    all_timed_out(&result, Outcome::TimeoutTotal, 10_000, ms(100));
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let plan = together(4)
        .requests(8)
        .with(|plan| plan.timeouts.connect = ms(700));
    let result = run(plan, world(Http2Behaviour::new().silent()));
    failures(&result.summary, &[(Outcome::TimeoutConnect, 8)]);
    let failed = &result.summary.total.latency.failed;
    // The connection itself takes 2 ms, and a scan may be 2 ms late.
    assert!(failed.max() <= ms(704), "{}", failed.max());
}

#[test]
fn a_server_of_http1_is_named() {
    let result = run(together(10).requests(100), World::new(Server::new()));
    failures(&result.summary, &[(Outcome::ProtoNotHttp2, 100)]);
    assert!(result.log.dials < 30, "{} dials", result.log.dials);
}

#[test]
fn a_server_that_does_not_begin_with_settings_is_named() {
    // A PING.
    let first = b"\0\0\x08\x06\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let server = Server::new().greets(Answer::raw(first));
    let result = run(together(4).requests(40), World::new(server));
    failures(&result.summary, &[(Outcome::H2ConnectionProtocolError, 40)]);
    assert!(result.log.dials < 15, "{} dials", result.log.dials);
}

#[test]
fn every_reset_has_its_name() {
    for code in (0..14).filter(|code| *code != 7) {
        let script = Http2Behaviour::new().says(Reply::only_reset(code));
        let result = run(together(3).requests(30), world(script));
        failures(&result.summary, &[(Outcome::h2_stream(code), 30)]);
        assert_eq!(result.log.connections, 1);
    }
}

#[test]
fn refused_streams_are_counted_exactly() {
    let script = Http2Behaviour::new().refuses(0.1);
    let plan = open("const(1000/s,20s)").http2(100);
    let result = run(plan, world(script));
    let total = &result.summary.total;
    assert_eq!(total.counts.ok + total.counts.failed, 20_000);
    assert_eq!(result.log.requests, 20_000 + total.retried);
    // Binomial: a standard deviation of 42.
    let refused = result.log.requests - total.counts.ok;
    assert!((1800..2400).contains(&refused), "{refused}");
    assert_eq!(result.log.connections, 1);
}

#[test]
fn a_flood_of_resets_is_accounted_for() {
    let reply = Reply::only_reset(8).after(Nanos::ZERO);
    let plan = open("const(100000/s,1s)").http2(100);
    let result = run(plan, world(Http2Behaviour::new().says(reply)));
    failures(&result.summary, &[(Outcome::H2StreamCancel, 100_000)]);
    assert_eq!((result.log.requests, result.log.connections), (100_000, 1));
    let total = &result.summary.total;
    assert_eq!(total.latency.lag.max(), Nanos::ZERO);
}

#[test]
fn a_server_that_refuses_all_is_no_hot_loop() {
    let plan = together(5).requests(50);
    let result = run(plan, world(Http2Behaviour::new().refuses(1.0)));
    let total = &result.summary.total;
    failures(&result.summary, &[(Outcome::H2StreamRefusedStream, 50)]);
    assert_eq!(total.counts.ok, 0);
    assert!(result.log.requests <= 100, "{}", result.log.requests);
}

#[test]
fn a_stall_shows_as_over_http1() {
    let server =
        |server: Server| World::new(server.takes(Law::Const(us(20))).stalls(secs(1), secs(10)));
    let plan = || open("const(1000/s,50s)");
    for (connections, streams) in [(4, 300), (2, 2)] {
        let many = plan().connections(connections * streams);
        let one = run(many, server(Server::new()));
        let two = plan().connections(connections).http2(streams);
        let two = run(two, server(Server::http2(Http2Behaviour::new())));
        assert_eq!(two.summary.total.counts, one.summary.total.counts);
        let (one, two) = (&one.summary.total.latency, &two.summary.total.latency);
        assert_eq!(two.response_time, one.response_time);
        assert_eq!(two.lag.max(), Nanos::ZERO);
    }
}

#[test]
fn users_come_and_go_as_over_http1() {
    let users = || {
        let changes = vec![(Nanos::ZERO, 1), (secs(1), 5), (secs(2), 2)];
        UserSteps::changing(changes).expect("times ascend from the start")
    };
    let server = |server: Server| World::new(server.takes(Law::Const(ms(10))));
    let one = run(
        closed(5).users(users()).lasts(secs(3)),
        server(Server::new()),
    );
    let plan = together(5).users(users()).lasts(secs(3));
    let two = run(plan, server(Server::http2(Http2Behaviour::new())));
    assert_eq!(two.summary.total.counts, one.summary.total.counts);
    assert_eq!(two.log.streams_most, 5);
    assert!((795..=805).contains(&two.summary.total.counts.ok));
}

#[test]
fn what_is_under_way_at_the_end_is_accounted_for() {
    for (drain, ok, cancelled, in_flight) in [
        (Drain::Wait, 2020, 0, 0),
        (Drain::Close, 2000, 20, 0),
        (Drain::Ignore, 2000, 0, 20),
    ] {
        let plan = together(20)
            .lasts(ms(1005))
            .with(|plan| plan.stop.drain = drain);
        let result = run(plan, near(Http2Behaviour::new()));
        let counts = result.summary.total.counts;
        assert_eq!(
            (counts.ok, counts.sent),
            (ok, ok + cancelled + in_flight),
            "{drain:?}"
        );
        assert_eq!(seen(&result.summary, Outcome::LocalCancelled), cancelled);
        assert_eq!(counts.failed, cancelled);
        assert_eq!(result.summary.total.counts.in_flight, in_flight);
    }
}

#[test]
fn answers_to_what_was_cancelled_at_the_end_end_nothing() {
    // A turn takes the client some time, during which answers arrive.
    for (call, seed) in (0..20).map(|n| (us(10 + 150 * n), n)) {
        let plan = closed(60)
            .connections(3)
            .http2(20)
            .lasts(ms(505))
            .with(|plan| plan.stop.drain = Drain::Close);
        let server = Server::http2(Http2Behaviour::new()).takes(Law::Exponential(ms(10)));
        let world = World::new(server).seed(seed);
        let result = run(plan, world.client(Client::ideal().call_takes(call)));
        let counts = result.summary.total.counts;
        let cancelled = seen(&result.summary, Outcome::LocalCancelled);
        assert_eq!(
            (counts.failed, result.summary.total.counts.in_flight),
            (cancelled, 0)
        );
        assert!(cancelled > 0 && counts.ok > 0);
        // Some of the cancelled requests had reached the server.
        assert!(result.log.requests >= counts.ok, "{}", result.log.requests);
    }
}

#[test]
fn connections_are_replaced_before_their_stream_ids_run_out() {
    // Each connection has ids for 101 streams, minus the ids whose slots are occupied.
    for (users, most) in [(1, 10), (20, 20), (100, 20)] {
        let simulation =
            Simulation::new(together(users).requests(1000), world(Http2Behaviour::new()));
        let result = simulation.first_stream_id(0x7fff_ffff - 200).run();
        failures(&result.summary, &[]);
        let total = &result.summary.total;
        assert_eq!((total.counts.ok, total.retried), (1000, 0));
        assert_eq!((result.log.requests, result.log.unserved), (1000, 0));
        let opened = result.log.connections;
        assert!((10..=most).contains(&opened), "{users}: {opened}");
        // A new connection takes 4 ms, which is not lag.
        let longest = total.latency.response_time.max();
        assert!(longest <= ms(12 + 4), "{users}: {longest}");
        assert_eq!(total.latency.lag.max(), Nanos::ZERO);
    }
}

#[test]
fn a_server_that_agrees_to_no_http2_is_sent_nothing() {
    let plan = || {
        let plan = together(4).to(&["https://sut/"]).requests(40);
        plan.with(|plan| plan.reach.tls.verify = Verify::No)
    };
    for protocol in [&b"http/1.1"[..], b""] {
        let server = Server::new().agrees_to(protocol);
        let result = run(plan(), World::new(server));
        failures(&result.summary, &[(Outcome::TlsAlpn, 40)]);
        assert_eq!(result.log.requests, 0);
    }
    let server = Server::http2(Http2Behaviour::new()).agrees_to(b"h2");
    answered(&run(plan(), World::new(server)), 40, 1);
}

#[test]
fn connections_are_replaced_before_they_carry_too_many() {
    for (keep_alive, connections) in [
        (KeepAlive::No, 1000),
        (KeepAlive::AtMost(20), 50),
        (KeepAlive::AtMost(100), 10),
        (KeepAlive::AtMost(1000), 1),
    ] {
        let plan = together(20)
            .requests(1000)
            .with(|plan| plan.connections.keep_alive = keep_alive);
        let result = run(plan, world(Http2Behaviour::new().leaves_when_told()));
        failures(&result.summary, &[]);
        assert_eq!(result.summary.total.counts.ok, 1000);
        assert_eq!((result.log.requests, result.log.unserved), (1000, 0));
        assert_eq!(result.log.connections, connections);
        // Opening a connection takes 4 ms, without a pause before it.
        let each = 12 + if connections > 1 { 4 } else { 0 };
        let longest = if keep_alive == KeepAlive::No {
            20 * 4 + 12
        } else {
            each
        };
        let seen = result.summary.total.latency.response_time.max();
        assert!(seen <= ms(longest), "{keep_alive:?}: {seen}");
    }
}

#[test]
fn the_head_has_its_time_and_the_rest_has_more() {
    let hurried = |plan: Draft| plan.with(|plan| plan.timeouts.head = ms(100));
    // The head arrives before the request is complete, and the body long after it.
    let early = Reply::head(200, &[]).pause(secs(1)).data(b"late").ends();
    let script = Http2Behaviour::new()
        .says(early)
        .replies_at(RepliesAt::Head)
        .stream_window(1000)
        .then_stream_window(ms(300), 100_000);
    let plan = hurried(together(2).posting(&[b'x'; 50_000]).requests(2));
    let result = run(plan, near(script));
    failures(&result.summary, &[]);
    // A call's head, and messages for a second.
    let ticking = Reply::call()
        .messages(10, b"tick", ms(100))
        .trailers("0", "");
    let call = |script: Http2Behaviour| {
        let plan = together(2).calls(CallKind::ServerStream, Said::once());
        run(hurried(plan.requests(2)), near(script))
    };
    let result = call(Http2Behaviour::new().says(ticking));
    failures(&result.summary, &[]);
    let result = call(Http2Behaviour::new().says(Reply::never()));
    failures(&result.summary, &[(Outcome::TimeoutHead, 2)]);
    assert!(result.summary.total.latency.failed.max() <= ms(102));
}
