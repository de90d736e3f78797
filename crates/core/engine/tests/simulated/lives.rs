//! How connections end, how long they live and how many requests they carry.

use crate::{ms, run, secs};
use drumfire_measure::{Closing, Connections, TargetState, Validity};
use drumfire_plan::{Churn, KeepAlive, KeepAliveHints, Life, Pause, Ping, Renewal};
use drumfire_testkit::{
    Answer, Draft, Farewell, Http2Behaviour, LastId, Law, Network, Server, World, closed, open,
};
use drumfire_units::Nanos;

/// The reasons why connections were closed, each with its number of connections.
fn ends(connections: &Connections) -> Vec<(Closing, u64)> {
    let all = Closing::ALL.iter();
    let all = all.map(|why| (*why, connections.closed_by(*why)));
    all.filter(|(_, count)| *count > 0).collect()
}

/// The connections of a run with a server that takes 1 ms for an answer.
fn lives(plan: Draft, server: Server) -> Connections {
    let world = World::new(server.takes(Law::Const(ms(1)))).network(Network::each_way(ms(1)));
    run(plan, world).summary.total.connections.clone()
}

/// Requests of one user, each after a pause.
fn pausing(requests: u64) -> Draft {
    closed(1).thinks(ms(1_500)).requests(requests)
}

fn kept(plan: Draft, keep_alive: KeepAlive) -> Draft {
    plan.with(|plan| plan.connections.keep_alive = keep_alive)
}

/// Checks the reasons why the connections of a run end.
#[track_caller]
fn check(plan: Draft, server: Server, expected: &[(Closing, u64)]) {
    assert_eq!(ends(&lives(plan, server)), expected);
}

/// The length of the interval in which the warm-up ends does not matter.
#[test]
fn connections_of_the_warm_up_are_left_out() {
    for (warmup, interval) in [
        (2_000, 1_000),
        (1_500, 1_000),
        (1_500, 10_000),
        (1_500, 100),
    ] {
        let asked = open("const(50/s,4s)").connections(3);
        let asked = asked.warmup(ms(warmup)).interval(ms(interval));
        let measured = 50 * (4_000 - warmup) / 1_000;
        let seen = lives(kept(asked.clone(), KeepAlive::No), Server::new());
        // Connections that are opened in advance for requests that are due later.
        let ahead = measured.abs_diff(seen.opened);
        assert!(ahead <= 3, "{} of {measured}", seen.opened);
        assert_eq!(seen.connect.count(), seen.opened);
        assert!(seen.open_before <= 3);
        let closed: u64 = Closing::ALL.iter().map(|why| seen.closed_by(*why)).sum();
        assert_eq!((seen.known(), seen.lifetime.count()), (closed, closed));

        let seen = lives(asked, Server::new());
        assert_eq!((seen.opened, seen.open_before), (0, 3));
        assert_eq!((seen.open_at_end(), seen.connect.count()), (3, 0));
        assert_eq!(ends(&seen), [(Closing::Ended, 3)]);
        let carried = seen.carried.mean() * 3.0;
        assert!((carried - measured as f64).abs() < 0.5, "{carried}");
        // The lives of these connections are counted completely.
        assert!(seen.lifetime.min() >= secs(4));
    }
}

#[test]
fn a_connection_that_we_throw_away_is_not_closed_by_the_server() {
    use Closing::{Announced, Discarded, Ended, Peer};
    let raw = |bytes: &[u8]| Server::new().says(Answer::raw(bytes));
    let excess = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloEXTRA");
    check(closed(2).requests(50), excess, &[(Discarded, 50)]);
    // The end may arrive with the response or after it.
    for after in [Nanos::ZERO, ms(10)] {
        let last = Answer::with(200, "Connection: close\r\n", b"bye").then_closes(after);
        check(
            closed(2).requests(40),
            Server::new().says(last),
            &[(Announced, 40)],
        );
    }
    let until = Answer::raw(b"HTTP/1.1 200 OK\r\n\r\nbye").then_closes(ms(1));
    check(
        closed(2).requests(40),
        Server::new().says(until),
        &[(Peer, 40)],
    );
    check(closed(2).requests(40), Server::new(), &[(Ended, 2)]);
}

#[test]
fn a_run_that_no_connection_was_ready_for_says_so() {
    let plan = open("const(50/s,4s)").connections(5);
    let plan = plan.with(|plan| {
        plan.timeouts.connect = secs(60);
        plan.stop.duration = Some(secs(3));
    });
    let summary = run(plan, World::new(Server::swallowing())).summary;
    assert_eq!(summary.total.counts.pending, 150);
    assert_eq!(summary.target.state, TargetState::Failed);
    assert_eq!(summary.verdict.validity, Validity::Valid);
    let texts: Vec<_> = summary
        .target
        .reasons
        .iter()
        .map(|reason| &*reason.text)
        .collect();
    assert_eq!(
        texts,
        ["no request could be sent: none of 5 connections could be opened"]
    );
    let texts: Vec<_> = summary
        .load
        .reasons
        .iter()
        .map(|reason| &*reason.text)
        .collect();
    assert_eq!(texts, ["only 0 of 5 connections could be opened"]);
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
    check(plan, Server::http2(Http2Behaviour::new()), &[(Spent, 5)]);

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
    let going = Http2Behaviour::new().goes_away(20, LastId::Come, 0, Farewell::Stays);
    let plan = closed(1).http2(1).requests(50);
    check(plan, Server::http2(going), &[(GoAway, 2), (Ended, 1)]);

    let ping = Some(Ping {
        after: ms(50),
        timeout: ms(50),
    });
    let plan = closed(1).http2(1).requests(1);
    let plan = plan.with(|plan| plan.connections.ping = ping);
    let dead = Server::http2(Http2Behaviour::new().ignores_pings()).takes(Law::Const(secs(55)));
    let seen = run(plan, World::new(dead)).summary;
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
        World::new(dies),
    );
    let load = &result.summary.load;
    assert_eq!(load.kept, Some(false));
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
    let slow = World::new(Server::new().takes(Law::Const(ms(5))));
    let result = run(plan, slow);
    let text = &result.summary.load.reasons[0].text;
    assert!(
        text.starts_with("both connections were busy; about 5 are needed"),
        "{text}"
    );
}

fn living(plan: Draft, life: Life) -> Draft {
    plan.with(|plan| plan.connections.life = life)
}

/// Connections leave at their ages, after the exchange in progress: nothing fails, and connections
/// that began together do not end together.
#[test]
fn connections_leave_at_their_ages() {
    let life = Life {
        age: Some(Pause::Even {
            from: secs(9),
            to: secs(10),
        }),
        ..Life::default()
    };
    let minute = || open("const(400/s,60s)");
    for threads in [1, 3] {
        for (plan, server) in [
            (minute().connections(8), Server::new()),
            (
                minute().connections(8).http2(5),
                Server::http2(Http2Behaviour::new()),
            ),
        ] {
            let plan = living(plan.threads(threads), life);
            let world =
                World::new(server.takes(Law::Const(ms(3)))).network(Network::each_way(ms(1)));
            let result = run(plan, world);
            let total = &result.summary.total;
            assert_eq!((total.counts.ok, total.counts.failed), (24_000, 0));
            let connections = &total.connections;
            let aged = connections.closed_by(Closing::Aged);
            assert!((48..=56).contains(&aged), "{aged}");
            assert_eq!(
                ends(connections),
                [(Closing::Aged, aged), (Closing::Ended, 8)]
            );
            let longest = connections.lifetime.max();
            assert!(longest <= secs(10) + ms(70), "{longest}");
        }
    }
}

/// A connection with a long exchange leaves after the exchange.
#[test]
fn a_connection_leaves_behind_its_exchange() {
    let life = Life {
        age: Some(Pause::constant(secs(1))),
        ..Life::default()
    };
    for (plan, server) in [
        (closed(1), Server::new()),
        (closed(1).http2(1), Server::http2(Http2Behaviour::new())),
    ] {
        let plan = living(plan.requests(4), life);
        let world = World::new(server.takes(Law::Const(ms(700))));
        let total = run(plan, world).summary.total.clone();
        assert_eq!((total.counts.ok, total.counts.failed), (4, 0));
        assert_eq!(
            total.connections.closed_by(Closing::Aged),
            2,
            "{:?}",
            ends(&total.connections)
        );
    }
}

#[test]
fn idle_connections_are_closed_at_their_time() {
    let life = Life {
        idle: Some(secs(1)),
        ..Life::default()
    };
    use Closing::{Ended, Idle};
    for (plan, server) in [
        (pausing(10), Server::new()),
        (pausing(10).http2(1), Server::http2(Http2Behaviour::new())),
    ] {
        let lived = lives(living(plan.clone(), life), server.clone());
        assert_eq!(ends(&lived), [(Idle, 9), (Ended, 1)]);
        let (least, most) = (lived.lifetime.min(), lived.lifetime.max());
        assert!(most < secs(1) + ms(80), "{least} to {most}");
        let patient = Life {
            idle: Some(secs(2)),
            ..life
        };
        assert_eq!(ends(&lives(living(plan, patient), server)), [(Ended, 1)]);
    }
}

/// Each second, a random tenth of fifty connections leaves.
#[test]
fn churn_replaces_its_part_of_the_connections() {
    let life = Life {
        churn: Some(Churn { mean: secs(10) }),
        ..Life::default()
    };
    let plan = || open("const(500/s,100s)").connections(50);
    for (plan, server) in [
        (plan(), Server::new()),
        (plan().http2(2), Server::http2(Http2Behaviour::new())),
    ] {
        let lived = lives(living(plan, life), server);
        let aged = lived.closed_by(Closing::Aged);
        assert!((420..580).contains(&aged), "{aged}");
        // A connection of HTTP/1.1 that leaves at the very end has no successor.
        assert!(
            (aged + 48..=aged + 50).contains(&lived.opened),
            "{}",
            lived.opened
        );
    }
}

/// A name is looked up again whenever its time to live of 10 s has passed. It leads to two more
/// servers after 20 s and to one alone after 60 s. Connections follow and nothing fails; each
/// server has its share.
#[test]
fn connections_follow_a_name() {
    let two = ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"];
    for (plan, server) in [
        (open("const(300/s,100s)").connections(6), Server::new()),
        (
            open("const(300/s,100s)").connections(6).http2(5),
            Server::http2(Http2Behaviour::new()),
        ),
    ] {
        let server = server.takes(Law::Const(ms(2)));
        let mut world = World::new(server.clone()).network(Network::each_way(ms(1)));
        for address in two {
            world = world.host(address, server.clone());
        }
        let world = world.name("sut", &two[..1]);
        let world = world
            .moves(secs(20), "sut", &two)
            .moves(secs(60), "sut", &two[2..]);
        let plan = plan.with(|pool| pool.reach.renewal = Renewal::Ttl);
        let result = run(plan.interval(secs(1)), world);
        let total = &result.summary.total;
        assert_eq!((total.counts.ok, total.counts.failed), (30_000, 0));
        let moved = total.connections.closed_by(Closing::Moved);
        assert_eq!(
            ends(&total.connections),
            [(Closing::Moved, moved), (Closing::Ended, 6)]
        );
        // Four of the six connections move to three addresses, and four again to the last one.
        assert_eq!(moved, 8);
    }
}

/// A name that has no address for a while does not change its connections.
#[test]
fn a_name_without_an_answer_changes_nothing() {
    let plan = open("const(100/s,100s)").connections(4);
    let world = World::new(Server::new().takes(Law::Const(ms(2))));
    let world = world.moves(secs(20), "sut", &[]);
    let plan = plan.with(|pool| pool.reach.renewal = Renewal::Each(secs(5)));
    let total = run(plan, world).summary.total.clone();
    assert_eq!((total.counts.ok, total.counts.failed), (10_000, 0));
    assert_eq!(ends(&total.connections), [(Closing::Ended, 4)]);
}
