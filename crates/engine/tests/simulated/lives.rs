//! How connections end, how long they live and how many requests they carry.

use crate::{ms, run, secs};
use drumfire_measure::{Closing, Connections};
use drumfire_plan::{KeepAlive, KeepAliveHints, Ping};
use drumfire_testkit::{
    Answer, Draft, Farewell, Http2, LastId, Law, Network, Server, World, closed, open,
};
use drumfire_units::Nanos;

/// The reasons for which connections were closed, each with how many were.
fn ends(connections: &Connections) -> Vec<(Closing, u64)> {
    let all = Closing::ALL.iter();
    let all = all.map(|why| (*why, connections.closed_by(*why)));
    all.filter(|(_, count)| *count > 0).collect()
}

/// The connections of a run against a server that takes 1 ms for an answer.
fn lives(plan: Draft, server: Server) -> Connections {
    let world = World::of(server.takes(Law::Const(ms(1)))).network(Network::each_way(ms(1)));
    run(plan, world).summary.total.connections.clone()
}

/// Each request of one user, after a pause.
fn pausing(requests: u64) -> Draft {
    closed(1).thinks(ms(1_500)).requests(requests)
}

fn kept(plan: Draft, keep_alive: KeepAlive) -> Draft {
    plan.with(|plan| plan.connections.keep_alive = keep_alive)
}

/// Checks for which reasons the connections of a run end.
#[track_caller]
fn check(plan: Draft, server: Server, expected: &[(Closing, u64)]) {
    assert_eq!(ends(&lives(plan, server)), expected);
}

#[test]
fn an_end_by_the_plan_has_its_reason() {
    use Closing::{Ended, Failed, Idle, Spent};
    let server = Server::new;
    check(closed(3).requests(90), server(), &[(Ended, 3)]);
    let plan = kept(closed(2).requests(100), KeepAlive::AtMost(10));
    check(plan, server(), &[(Spent, 10)]);
    let plan = kept(closed(2).requests(100), KeepAlive::No);
    check(plan, server(), &[(Spent, 100)]);
    let plan = kept(closed(1).http2(1).requests(50), KeepAlive::AtMost(10));
    check(plan, Server::http2(Http2::new()), &[(Spent, 5)]);

    let hinting = Answer::with(200, "Keep-Alive: timeout=1\r\n", b"bye");
    let plan = pausing(10).with(|plan| plan.connections.hints = KeepAliveHints::Respect);
    check(plan, server().says(hinting), &[(Idle, 9), (Ended, 1)]);

    let plan = closed(1).requests(5);
    let plan = plan.with(|plan| plan.timeouts.total = ms(100));
    check(plan, server().says(Answer::never()), &[(Failed, 5)]);
    check(open("const(10,1s)"), Server::refusing(), &[]);
}

#[test]
fn an_end_by_the_server_has_its_reason() {
    use Closing::{Announced, Ended, GoAway, Peer, Reset, Silent};
    let last = Answer::with(200, "Connection: close\r\n", b"bye").is_last();
    let server = Server::new().says(last);
    check(closed(2).requests(100), server, &[(Announced, 100)]);
    let server = Server::new().closes_idle(secs(1));
    check(pausing(10), server, &[(Peer, 9), (Ended, 1)]);
    let server = Server::new().resets(1.0);
    check(closed(1).requests(5), server, &[(Reset, 5)]);
    let going = Http2::new().goes_away(20, LastId::Come, 0, Farewell::Stays);
    let plan = closed(1).http2(1).requests(50);
    check(plan, Server::http2(going), &[(GoAway, 2), (Ended, 1)]);

    let ping = Some(Ping {
        after: ms(50),
        timeout: ms(50),
    });
    let plan = closed(1).http2(1).requests(1);
    let plan = plan.with(|plan| plan.connections.ping = ping);
    let dead = Server::http2(Http2::new().ignores_pings()).takes(Law::Const(secs(55)));
    let seen = run(plan, World::of(dead)).summary;
    assert_eq!(ends(&seen.total.connections), [(Silent, 1)]);
}

#[test]
fn a_connection_lives_from_when_it_is_open_or_the_run_begins() {
    let ahead = lives(closed(1).lasts(secs(2)), Server::new());
    assert_eq!(ends(&ahead), [(Closing::Ended, 1)]);
    let time = ahead.lifetime.max();
    assert!(time >= secs(2) && time < ms(2_010), "{time}");
    // A request takes 3 ms.
    assert_eq!(ahead.carried.max(), Nanos(667));

    let plan = kept(closed(1).requests(40), KeepAlive::AtMost(10));
    let renewed = lives(plan, Server::new());
    assert_eq!((renewed.lifetime.count(), renewed.carried.count()), (4, 4));
    assert_eq!(
        (renewed.carried.min(), renewed.carried.max()),
        (Nanos(10), Nanos(10))
    );
    assert_eq!(
        (renewed.lifetime.min(), renewed.lifetime.max()),
        (ms(30), ms(30))
    );
}

#[test]
fn the_load_speaks_of_the_connections_that_are_open() {
    let dies = Server::new()
        .is_dead(secs(1), secs(100))
        .takes(Law::Const(ms(5)));
    let result = run(
        open("const(200/s)").lasts(secs(5)).connections(2),
        World::of(dies),
    );
    let load = &result.summary.load;
    assert!(!load.kept);
    assert_eq!(
        load.reasons[0].text,
        "only 0 of 2 connections could be opened"
    );
    assert_eq!(load.reasons[0].remedies, []);
}

#[test]
fn connections_that_are_renewed_are_in_place() {
    let plan = open("const(1000/s)").lasts(secs(3)).connections(2);
    let plan = kept(plan, KeepAlive::No);
    let slow = World::of(Server::new().takes(Law::Const(ms(5))));
    let result = run(plan, slow);
    let text = &result.summary.load.reasons[0].text;
    assert!(
        text.starts_with("both connections were busy; about 5 are needed"),
        "{text}"
    );
}
