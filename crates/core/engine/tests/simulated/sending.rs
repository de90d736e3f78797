//! Sending requests: bodies, small windows, and servers that speak first.

use crate::{failures, ms, run, secs, us};
use drumfire_measure::Outcome;
use drumfire_plan::{CallKind, ExpectContinue};
use drumfire_testkit::{
    Answer, Client, Draft, Expecting, Http2Behaviour, Law, Network, Reply, Said, Server, Simulated,
    World, closed, open,
};
use drumfire_units::Nanos;

const BODY: usize = 100_000;

fn posting() -> Draft {
    closed(3).requests(30).posting(&vec![b'x'; BODY])
}

/// Checks that all bodies arrived completely.
#[track_caller]
fn all_came(result: &Simulated) {
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.counts.ok, 30);
    assert_eq!(result.log.seen.len(), 30);
    assert!(result.log.seen.iter().all(|seen| seen.body == BODY));
    let sent = result.summary.total.bytes.sent;
    let heads: usize = result.log.seen.iter().map(|seen| seen.head.len()).sum();
    assert_eq!(sent, (30 * BODY + heads) as u64);
}

fn slow_network(server: Server) -> World {
    World::new(server)
        .network(Network::each_way(ms(1)))
        .keeps_requests()
}

#[test]
fn a_small_window_takes_a_body_in_pieces() {
    for window in [1000, 10, 65_536, BODY, usize::MAX] {
        let requests = if window == 10 { 1 } else { 30 };
        let plan = posting()
            .requests(requests)
            .with(|plan| plan.timeouts.total = secs(60));
        let result = run(plan, slow_network(Server::new().window(window)));
        if requests == 30 {
            all_came(&result);
        }
        failures(&result.summary, &[]);
        assert_eq!(result.log.sends.partial > 0, window <= BODY, "{window}");
        let length = result.summary.total.bytes.sent / requests;
        let trips = length.div_ceil(window as u64);
        let least = Nanos(trips * 2_000_000);
        let service = result.summary.total.latency.service_time.min();
        assert!(
            service >= least && service <= least + ms(4),
            "{window}: {service}"
        );
    }
}

#[test]
fn sent_is_before_the_first_byte_of_many() {
    let plan = posting().with(|plan| plan.timeouts.total = secs(60));
    let result = run(plan, slow_network(Server::new().window(1000)));
    assert_eq!(result.summary.total.latency.lag.max(), Nanos::ZERO);
}

#[test]
fn a_window_that_never_opens_times_out() {
    let stuck = Answer::never();
    let server = Server::new().window(0).says(stuck);
    let plan = posting().with(|plan| plan.timeouts.total = ms(500));
    let result = run(plan, slow_network(server));
    failures(&result.summary, &[(Outcome::TimeoutTotal, 30)]);
    assert!(result.log.waits < 10_000, "{} turns", result.log.waits);
}

fn expecting(server: Server) -> Simulated {
    let plan = posting().with(|plan| plan.http.expect_continue = ExpectContinue::Wait(secs(1)));
    run(plan, slow_network(server))
}

#[test]
fn a_body_waits_for_the_servers_word() {
    let result = expecting(Server::new().on_expect(Expecting::Continues(ms(50))));
    all_came(&result);
    // A round trip and 50 ms until the server asks for the body, and a round trip for the body and
    // the answer.
    assert_eq!(result.summary.total.latency.service_time.max(), ms(54));
    assert_eq!(result.summary.total.interim, 30);
}

#[test]
fn a_body_does_not_wait_for_ever() {
    let result = expecting(Server::new().on_expect(Expecting::Silent));
    all_came(&result);
    let service = &result.summary.total.latency.service_time;
    assert!(service.min() >= secs(1) + ms(2));
    assert!(service.max() <= secs(1) + ms(4));
}

#[test]
fn a_body_that_is_not_wanted_is_not_sent() {
    let refusal = Answer::with(413, "Connection: close\r\n", b"too large")
        .then_closes(ms(0))
        .is_last();
    let result = expecting(Server::new().on_expect(Expecting::Answers(refusal)));
    failures(&result.summary, &[(Outcome::HttpStatus, 30)]);
    assert_eq!(
        result.summary.total.status().collect::<Vec<_>>(),
        [(413, 30)]
    );
    assert_eq!(result.log.requests, 0, "no whole request came");
    assert!(result.summary.total.bytes.sent < 30 * 300);
    assert!(result.summary.total.latency.failed.max() < ms(10));
}

#[test]
fn a_refusal_leaves_no_connection_on_which_a_body_is_owed() {
    // The server keeps the connection. The client must not, because it has not sent the announced
    // body.
    let refusal = Answer::status(417).is_last();
    let result = expecting(Server::new().on_expect(Expecting::Answers(refusal)));
    assert_eq!(
        result.summary.total.status().collect::<Vec<_>>(),
        [(417, 30)]
    );
    assert_eq!(result.log.connections, 30);
    assert_eq!(result.log.after_last, 0);
}

#[test]
fn a_short_body_is_sent_with_its_head() {
    let plan = closed(1).requests(10).posting(b"x");
    let world = World::new(Server::new().takes(Law::Const(us(10)))).keeps_requests();
    let result = run(plan, world);
    failures(&result.summary, &[]);
    assert_eq!(result.log.sends.partial, 0);
    assert!(result.log.seen.iter().all(|seen| seen.body == 1));
}

#[test]
fn an_answer_before_the_body_is_out_is_kept_and_the_connection_is_not() {
    // 413 after the head alone; the rest of the body is in flight.
    let server = Server::new().window(1000).on_expect(Expecting::Answers(
        Answer::with(413, "", b"too large").is_last(),
    ));
    let mut plan = posting().with(|plan| plan.timeouts.total = secs(2));
    plan.http.expect_continue = ExpectContinue::Wait(us(500));
    let result = run(plan, slow_network(server));
    let status: Vec<_> = result.summary.total.status().collect();
    assert_eq!(status, [(413, 30)]);
    assert_eq!(result.log.after_last, 0);
}

#[test]
fn an_answer_behind_a_broken_send_is_read() {
    // The server sends a 408 to an idle client and closes before the next request.
    let big = "x".repeat(20_000);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", big.len());
    let late = "HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n";
    let answer = Answer::raw(format!("{head}{big}{late}").as_bytes())
        .cut_at(&[head.len()], ms(1))
        .then_resets(us(5));
    let plan = closed(1).requests(2);
    // The reset comes between the receive of the last byte and the send of the next request.
    let busy = Client::ideal().call_takes(us(10));
    let result = run(plan, World::new(Server::new().says(answer)).client(busy));
    let status: Vec<_> = result.summary.total.status().collect();
    assert_eq!(status, [(200, 1), (408, 1)]);
    failures(&result.summary, &[(Outcome::HttpStatus, 1)]);
    assert_eq!(result.log.connections, 1);
}

/// A server that pings with each reply, as grpc-go does to estimate the bandwidth.
fn pinging_server(takes: Law) -> World {
    const PING: u8 = 6;
    let reply = Reply::call().connection_frame(PING, 0, b"estimate");
    let reply = reply.message(b"hi").trailers("0", "");
    let server = Server::http2(Http2Behaviour::new().says(reply)).takes(takes);
    World::new(server).network(Network::each_way(us(50)))
}

/// One send of a connection carries everything that a turn has for it: the acknowledgements of the
/// server's pings, the users' next requests, and the requests that become due.
#[test]
fn a_turn_has_one_send_for_each_connection() {
    let calls = |plan: Draft| plan.calls(CallKind::Unary, Said::once());
    let closed = |users| closed(users).connections(2).requests(4000);
    let steady = || Law::Const(ms(1));
    let spread = || Law::Lognormal {
        median: ms(1),
        sigma: 0.5,
    };
    let thinking = closed(20).http2(10).thinks(ms(3));
    let arriving = open("const(4000/s,1s)").connections(2).http2(10);
    for (what, plan, takes) in [
        ("in step", closed(20).http2(10), steady()),
        ("out of step", closed(20).http2(10), spread()),
        ("thinking", thinking, steady()),
        ("arriving", arriving, steady()),
    ] {
        let result = run(calls(plan), pinging_server(takes));
        failures(&result.summary, &[]);
        assert_eq!(result.summary.total.counts.ok, 4000, "{what}");
        assert_eq!(result.log.sends.most, 1, "{what}");
    }
}
