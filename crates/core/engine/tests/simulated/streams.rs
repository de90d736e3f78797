//! Many exchanges on one connection: the rules are equal to one exchange on each connection.

use crate::{failures, ms, run, secs, seen, us};
use drumfire_measure::Outcome;
use drumfire_plan::{CallKind, KeepAlive, LatePolicy, Spread};
use drumfire_testkit::{
    Draft, Farewell, Http2Behaviour, LastId, Law, Network, Reply, Said, Server, World, closed, open,
};

fn http2() -> Server {
    Server::http2(Http2Behaviour::new())
}

/// A number of users, all on one connection.
fn together(users: u32) -> Draft {
    closed(users).connections(1).http2(users)
}

#[test]
fn a_queue_is_the_same_as_over_http1() {
    let world = |server: Server| {
        let server = server.takes(Law::Exponential(ms(1))).serves_at_a_time(1);
        World::new(server).network(Network::each_way(us(50)))
    };
    let plan = || open("const(800/s,100s)").poisson().seed(7);
    for late in [LatePolicy::Queue, LatePolicy::Skip, LatePolicy::Drop(ms(3))] {
        let one = run(plan().connections(6).late(late), world(Server::new()));
        let two = plan().connections(2).http2(3).late(late);
        let two = run(two, world(http2()));
        assert_eq!(
            two.summary.total.counts, one.summary.total.counts,
            "{late:?}"
        );
        let (one, two) = (&one.summary.total.latency, &two.summary.total.latency);
        assert_eq!(two.response_time, one.response_time, "{late:?}");
        assert_eq!(two.waiting, one.waiting, "{late:?}");
        assert_eq!(two.lag, one.lag, "{late:?}");
    }
}

#[test]
fn what_waits_too_long_for_room_has_timed_out() {
    let plan = open("const(100/s,5s)")
        .http2(1000)
        .with(|plan| plan.timeouts.total = secs(1));
    let result = run(
        plan,
        World::new(Server::http2(Http2Behaviour::new().allows(0))),
    );
    failures(&result.summary, &[(Outcome::TimeoutTotal, 500)]);
    let failed = &result.summary.total.latency.failed;
    assert!(failed.min() >= secs(1) && failed.max() <= secs(1) + ms(2));
    assert_eq!((result.log.requests, result.log.connections), (0, 1));
}

#[test]
fn a_stop_is_accounted_for() {
    for threads in [1, 2] {
        let plan = open("const(1000/s,60s)").connections(2).http2(20);
        let server = http2().takes(Law::Const(ms(30)));
        let result = run(
            plan.threads(threads),
            World::new(server).stopped_at(secs(3)),
        );
        let counts = result.summary.total.counts;
        failures(&result.summary, &[]);
        assert!((3000..=3060).contains(&counts.intended), "{counts:?}");
        assert_eq!(counts.ok, result.log.requests);
        assert!(result.summary.duration <= secs(3) + ms(60));
    }
}

#[test]
fn a_warm_up_is_not_measured() {
    let plan = open("const(100/s,10s)").http2(10).warmup(secs(2));
    let result = run(plan, World::new(http2().takes(Law::Const(ms(1)))));
    let total = &result.summary.total;
    assert_eq!((total.counts.ok, total.warmup.ok), (800, 200));
}

#[test]
fn one_dead_address_of_two_costs_nothing() {
    for dead in [Server::refusing(), Server::unreachable()] {
        let world = World::new(http2().takes(Law::Const(ms(1))))
            .host("10.0.0.2:80", dead)
            .name("sut", &["10.0.0.2:80", "10.0.0.1:80"]);
        let plan = open("const(1000/s,5s)").connections(4).http2(5);
        let result = run(plan, world);
        failures(&result.summary, &[]);
        assert_eq!(result.summary.total.counts.ok, 5000);
        assert!(result.log.dials < 12, "{} dials", result.log.dials);
    }
}

#[test]
fn connections_are_spread_over_addresses() {
    let created = Server::http2(Http2Behaviour::new().says(Reply::status(201)));
    let world = World::new(http2())
        .host("10.0.0.2:80", created)
        .name("sut", &["10.0.0.1:80", "10.0.0.2:80"]);
    // The connections of all workers take turns together.
    for threads in [1, 2, 4] {
        let plan = open("const(1000/s,2s)").connections(4).http2(5);
        let result = run(plan.threads(threads), world.clone());
        let status: Vec<(u16, u64)> = result.summary.total.status().collect();
        assert_eq!(status, [(200, 1000), (201, 1000)], "{threads} threads");
    }
}

/// A name with two servers, which are distinguished by their answers.
fn two_servers(first: Server) -> World {
    let created = Server::http2(Http2Behaviour::new().says(Reply::status(201)));
    World::new(http2())
        .host("10.0.0.2:80", created)
        .host("10.0.0.1:80", first)
        .name("sut", &["10.0.0.1:80", "10.0.0.2:80"])
}

#[test]
fn the_first_address_takes_all_connections_and_the_next_where_it_refuses() {
    let rows = [
        (http2(), vec![(200, 2000)]),
        (Server::refusing(), vec![(201, 2000)]),
        (Server::unreachable(), vec![(201, 2000)]),
    ];
    for (first, expected) in rows {
        let plan = open("const(1000/s,2s)").connections(4).http2(5);
        let plan = plan.with(|plan| plan.connections.spread = Spread::First);
        let plan = plan.threads(2);
        let result = run(plan, two_servers(first));
        let status: Vec<(u16, u64)> = result.summary.total.status().collect();
        assert_eq!(status, expected);
    }
}

/// Connections that end are opened at the first address again once it is back.
#[test]
fn the_first_address_is_used_again_when_it_is_back() {
    let first = http2().is_dead(ms(0), secs(1));
    let plan = open("const(1000/s,6s)").connections(2).http2(5);
    let plan = plan.with(|plan| {
        plan.connections.spread = Spread::First;
        plan.connections.keep_alive = KeepAlive::AtMost(100);
        plan.timeouts.connect = ms(100);
    });
    let result = run(plan, two_servers(first));
    let status: Vec<(u16, u64)> = result.summary.total.status().collect();
    let [(200, first), (201, second)] = status[..] else {
        panic!("{status:?}");
    };
    assert!((3500..=4600).contains(&first), "{status:?}");
    assert!(second > 1000, "{status:?}");
}

#[test]
fn requests_in_turn_have_steps_of_their_own() {
    let urls = ["http://sut/a", "http://sut/b", "http://sut/c"];
    let world = World::new(http2().takes(Law::Const(ms(1)))).keeps_requests();
    let result = run(together(6).to(&urls).requests(600), world);
    failures(&result.summary, &[]);
    for step in result.summary.steps() {
        assert_eq!(step.counts.ok, 200);
    }
    let to = |path: &str| {
        let start = format!("GET {path} ");
        let seen = result.log.seen.iter();
        seen.filter(|seen| seen.head.starts_with(&start)).count()
    };
    assert_eq!([to("/a"), to("/b"), to("/c")], [200; 3]);
}

#[test]
fn a_call_that_is_sent_again_is_one_call() {
    for said in [Said::once(), Said::once().varying()] {
        let script = Http2Behaviour::new()
            .goes_away(50, LastId::Of(79), 0, Farewell::WhenDone)
            .says(Reply::unary(b"hi"));
        let plan = together(20).requests(1000).calls(CallKind::Unary, said);
        let server = Server::http2(script).takes(Law::Const(ms(10)));
        let result = run(plan, World::new(server).network(Network::each_way(ms(1))));
        failures(&result.summary, &[]);
        let total = &result.summary.total;
        assert_eq!((total.counts.ok, total.retried), (1000, 24 * 20));
        assert_eq!(total.messages.received, 1000);
        // A request that the server did not process counts as if it had never been sent.
        assert_eq!(total.messages.sent, 1000);
    }
}

/// Types of frames and their flags (RFC 9113 section 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

/// Replies that end their connection, and the outcomes.
fn replies_that_end_connections() -> Vec<(Reply, Outcome)> {
    let head = || Reply::head(200, &[]);
    let begun = |size| Reply::nothing().frame(HEADERS, 0, &vec![0x88; size]);
    let window = [0x7f, 0xff, 0xff, 0xff];
    vec![
        // Floods.
        (
            begun(1).frame(CONTINUATION, 0, &[]).times(10_001),
            Outcome::LimitFrames,
        ),
        (
            head().frame(DATA, 0, &[]).times(10_001),
            Outcome::LimitFrames,
        ),
        (
            head().connection_frame(PING, 0, &[0; 8]).times(10_001),
            Outcome::LimitFrames,
        ),
        (
            head().connection_frame(SETTINGS, 0, &[]).times(10_001),
            Outcome::LimitFrames,
        ),
        (
            head()
                .connection_frame(WINDOW_UPDATE, 0, &[0, 0, 0, 1])
                .times(10_001),
            Outcome::LimitFrames,
        ),
        // Frames that are never allowed.
        (
            head().frame(PUSH_PROMISE, END_HEADERS, &[0, 0, 0, 2, 0x82]),
            Outcome::H2ConnectionProtocolError,
        ),
        (
            head().frame(DATA, PADDED, &[4, 0, 0]),
            Outcome::H2ConnectionProtocolError,
        ),
        (
            Reply::nothing().frame(HEADERS, END_HEADERS, &[0x80]),
            Outcome::H2ConnectionCompressionError,
        ),
        (
            head().frame(DATA, 0, &[0; 16_385]),
            Outcome::H2ConnectionFrameSizeError,
        ),
        (
            head().connection_frame(WINDOW_UPDATE, 0, &window).times(2),
            Outcome::H2ConnectionFlowControlError,
        ),
    ]
}

#[test]
fn what_ends_a_connection_is_the_failure_of_all_that_it_carries() {
    for (reply, outcome) in replies_that_end_connections() {
        // Only the first connection; its other streams are never answered.
        let script = Http2Behaviour::new().answers(move |request| {
            match (request.connection, request.number) {
                (0, 0) => reply.clone(),
                (0, _) => Reply::never(),
                _ => Reply::ok(),
            }
        });
        let server = Server::http2(script).takes(Law::Const(ms(10)));
        let world = World::new(server).network(Network::each_way(ms(1)));
        let result = run(together(4).requests(40), world);
        failures(&result.summary, &[(outcome, 4)]);
        assert_eq!(result.summary.total.counts.ok, 36, "{outcome:?}");
        assert_eq!(result.log.connections, 2, "{outcome:?}");
        assert!(result.summary.duration < ms(200), "{outcome:?}");
    }
}

/// A stream that ends before its declared length reports the bytes received (RFC 9113 section
/// 8.1.1); its connection continues.
#[test]
fn a_stream_that_ends_too_soon_says_after_how_many_bytes() {
    let short = Reply::head(200, &[("content-length", "7")]);
    let short = short.data(b"hello").ends();
    let result = run(
        together(2).requests(10),
        World::new(Server::http2(Http2Behaviour::new().says(short))),
    );
    failures(&result.summary, &[(Outcome::Truncated, 10)]);
    let errors = result.summary.total.errors();
    assert_eq!(errors[0].detail.text, "the stream ended after 5 of 7 bytes");
    assert_eq!(result.log.connections, 1);
}

/// An endless head is the failure of its stream; the other streams lose their connection.
#[test]
fn an_endless_head_is_the_failure_of_its_stream_alone() {
    let endless = Reply::nothing().frame(HEADERS, 0, &[0x88; 16]);
    let endless = endless.frame(CONTINUATION, 0, &[0x88; 16_000]).times(20);
    let script =
        Http2Behaviour::new().answers(move |request| match (request.connection, request.number) {
            (0, 0) => endless.clone(),
            (0, _) => Reply::never(),
            _ => Reply::ok(),
        });
    let server = Server::http2(script).takes(Law::Const(ms(10)));
    let world = World::new(server).network(Network::each_way(ms(1)));
    let result = run(together(4).requests(40), world);
    let lost = (Outcome::H2ConnectionEnhanceYourCalm, 3);
    failures(&result.summary, &[(Outcome::LimitHead, 1), lost]);
    assert_eq!(result.summary.total.counts.ok, 36);
    assert_eq!(result.log.connections, 2);
    assert!(result.summary.duration < ms(200));
}

/// A field `a: b`, as a literal.
const TRAILER: [u8; 5] = [0, 1, b'a', 1, b'b'];

/// A header block of 16 kB that decodes to 48 MB: a field of 4,000 bytes, repeated 12,000 times.
fn bomb() -> Vec<u8> {
    // A literal that is put into the table, whose value's length takes three bytes (RFC 7541
    // section 5.1).
    let mut block = vec![0x88, 0x40, 1, b'a', 0x7f, 0xa1, 0x1e];
    block.resize(block.len() + 4000, b'x');
    block.resize(block.len() + 12_000, 0xbe);
    block
}

#[test]
fn answers_that_break_the_protocol_end_their_streams_and_no_connection() {
    for (reply, outcome) in [
        (Reply::head(99, &[]).ends(), Outcome::InvalidStatus),
        (Reply::head(101, &[]), Outcome::H2StreamProtocolError),
        (
            Reply::head(200, &[("Upper", "case")]).ends(),
            Outcome::H2StreamProtocolError,
        ),
        (
            Reply::head(200, &[("connection", "close")]).ends(),
            Outcome::H2StreamProtocolError,
        ),
        (
            Reply::head(200, &[("content-length", "7")])
                .data(b"hello")
                .ends(),
            Outcome::Truncated,
        ),
        (
            Reply::head(200, &[("content-length", "3")])
                .data(b"hello")
                .ends(),
            Outcome::H2StreamProtocolError,
        ),
        (
            Reply::head(200, &[]).fields(&[(":status", "200")]),
            Outcome::H2StreamProtocolError,
        ),
        (
            Reply::head(200, &[]).frame(HEADERS, END_HEADERS, &TRAILER),
            Outcome::H2StreamProtocolError,
        ),
        (
            Reply::nothing().data(b"x").ends(),
            Outcome::H2StreamProtocolError,
        ),
        (Reply::head(103, &[]).times(1001), Outcome::LimitInterim),
        (
            Reply::nothing().frame(HEADERS, END_HEADERS, &bomb()),
            Outcome::LimitHead,
        ),
    ] {
        let told = format!("{reply:?}");
        let server = Server::http2(Http2Behaviour::new().says(reply));
        let result = run(together(4).requests(40), World::new(server));
        let count = seen(&result.summary, outcome);
        assert_eq!(count, 40, "{told}: {:?}", result.summary.total.errors());
        assert_eq!(result.log.connections, 1, "{told}");
    }
}
