//! Servers that refuse, each in a different way: the outcome contains the server's reason.

use crate::{failures, ms, run, secs};
use drumfire_measure::{Blame, Outcome, Summary};
use drumfire_plan::{CallKind, Expect, Header, Verify};
use drumfire_testkit::{
    Answer, Draft, Farewell, Http2Behaviour, LastId, Law, Network, Reply, Said, Server, World,
    closed, open,
};
use drumfire_units::Nanos;

/// The only message of a run's failures.
#[track_caller]
fn message(summary: &Summary) -> String {
    match &summary.total.errors()[..] {
        [only] => only.detail.to_string(),
        rows => panic!("{rows:#?}"),
    }
}

/// Every request that a GOAWAY with an error affects reports its code and text, for any last stream
/// and any later end of the connection.
#[test]
fn a_goaway_with_an_error_keeps_its_code_and_its_words() {
    for calls in [false, true] {
        for last in [LastId::Of(0), LastId::Of(1), LastId::Come, LastId::Max] {
            for farewell in [Farewell::WhenDone, Farewell::AtOnce] {
                let script = Http2Behaviour::new()
                    .says(Reply::never())
                    .goes_away(3, last, 11, farewell)
                    .says_why("header block too large");
                let plan = closed(3).connections(1).http2(3).requests(30);
                let plan = match calls {
                    true => plan.calls(CallKind::Unary, Said::once()),
                    false => plan,
                };
                let plan = plan.with(|plan| plan.timeouts.total = secs(1));
                let world = World::new(Server::http2(script)).network(Network::each_way(ms(1)));
                let result = run(plan, world);
                let total = &result.summary.total;
                // If the server keeps the connection, the requests that it accepted wait for ever.
                let late = total.counts.timed_out;
                let kept = farewell == Farewell::WhenDone && last != LastId::Of(0);
                assert_eq!(late > 0, kept, "{last:?} {farewell:?}");
                let named = total.outcomes().get(Outcome::H2ConnectionEnhanceYourCalm);
                assert_eq!(named + late, 30, "{:#?}", total.errors());
                for row in total.errors() {
                    let of_goaway = row.outcome == Outcome::H2ConnectionEnhanceYourCalm;
                    assert!(!of_goaway || row.detail.text == "header block too large");
                    assert!(!of_goaway || row.blame == Blame::Target);
                }
                assert_eq!(total.retried, 0);
            }
        }
    }
}

/// A server that fails because of one request, after it has answered others, gets the other
/// requests once more.
#[test]
fn a_goaway_with_an_error_behind_answers_gives_back_what_it_did_not_take() {
    let script = Http2Behaviour::new().goes_away(50, LastId::Of(79), 2, Farewell::WhenDone);
    let server = Server::http2(script).takes(Law::Const(ms(10)));
    let world = World::new(server).network(Network::each_way(ms(1)));
    let result = run(closed(20).connections(1).http2(20).requests(100), world);
    failures(&result.summary, &[]);
    assert_eq!(result.summary.total.retried, 40);
}

#[test]
fn a_head_that_is_larger_than_the_server_accepts_is_named_with_both_sizes() {
    let accepts = " bytes of header fields, the server accepts 50; ";
    let stream = Reply::only_reset(11);
    let closes = Reply::nothing().after(Nanos::ZERO).closes();
    for (script, outcome) in [
        (
            Http2Behaviour::new().goes_away(1, LastId::Of(0), 11, Farewell::AtOnce),
            Outcome::H2ConnectionEnhanceYourCalm,
        ),
        (
            Http2Behaviour::new().says(stream),
            Outcome::H2StreamEnhanceYourCalm,
        ),
        (Http2Behaviour::new().says(closes), Outcome::Closed),
    ] {
        let script = script.accepts_heads(50);
        let plan = closed(1).http2(1).requests(10);
        let result = run(plan, World::new(Server::http2(script)));
        failures(&result.summary, &[(outcome, 10)]);
        let message = message(&result.summary);
        assert!(message.starts_with("the request has "), "{message}");
        assert!(message.contains(accepts), "{message}");
    }
    // The setting is advisory: a server may still answer.
    let script = Http2Behaviour::new().accepts_heads(50);
    let result = run(
        closed(1).http2(1).requests(10),
        World::new(Server::http2(script)),
    );
    failures(&result.summary, &[]);
}

/// A plan whose requests have a head of 9 kB.
fn large(calls: bool) -> Draft {
    let plan = closed(1).http2(1).requests(10);
    let plan = match calls {
        true => plan.calls(CallKind::Unary, Said::once()),
        false => plan,
    };
    plan.with(|plan| {
        let field = Header::new("x-large", &[b'a'; 9_000]).expect("a valid field");
        for request in &mut plan.requests {
            request.headers.push(field.clone());
        }
    })
}

#[test]
fn a_431_has_the_sizes_of_the_head_and_of_the_announced_limit() {
    for calls in [false, true] {
        for (script, limit) in [
            (Http2Behaviour::new(), ", the server announced no limit"),
            (
                Http2Behaviour::new().accepts_heads(50),
                ", the server accepts 50",
            ),
            (
                Http2Behaviour::new().accepts_heads(20_000),
                ", the server announced a limit of 20,000",
            ),
        ] {
            for reply in [Reply::status(431), Reply::head(431, &[]).data(b"no").ends()] {
                let script = script.clone().says(reply);
                let result = run(large(calls), World::new(Server::http2(script)));
                let message = message(&result.summary);
                // drumfire itself reports that the status is not a gRPC reply.
                let found = message.strip_prefix("found by drumfire: ");
                assert_eq!(found.is_some(), calls, "{message}");
                let size = found
                    .unwrap_or(&message)
                    .strip_prefix("the request has 9,")
                    .and_then(|rest| rest.split_once(" bytes of header fields"));
                let (_, rest) = size.unwrap_or_else(|| panic!("{message}"));
                assert!(rest.starts_with(limit), "{message}");
                assert_eq!(rest.len() > limit.len(), calls, "{message}");
            }
        }
    }
    // A plan may expect the status, and then the failure of the next request has its own message.
    let script = Http2Behaviour::new().answers(|request| match request.index % 2 {
        0 => Reply::status(431),
        _ => Reply::head(200, &[]).reset(2),
    });
    let plan = large(false).with(|plan| plan.expect = "431".parse::<Expect>().unwrap());
    let result = run(plan, World::new(Server::http2(script)));
    assert_eq!(result.summary.total.counts.ok, 5);
    assert!(!message(&result.summary).contains("header fields"));
}

#[test]
fn an_error_for_an_excess_has_the_size_of_a_large_head_that_no_limit_was_announced_for() {
    let away = |code| Http2Behaviour::new().goes_away(1, LastId::Of(1), code, Farewell::AtOnce);
    let reset = |code| Http2Behaviour::new().says(Reply::only_reset(code));
    let text = " bytes of header fields, the server announced no limit; ";
    for (script, is_explained) in [
        (away(11), true),
        (reset(11), true),
        (reset(6), true),
        (away(2), false),
        (reset(2), false),
    ] {
        let result = run(large(false), World::new(Server::http2(script.clone())));
        let explained = message(&result.summary);
        assert_eq!(explained.contains(text), is_explained, "{explained}");
        let plan = closed(1).http2(1).requests(10);
        let result = run(plan, World::new(Server::http2(script)));
        let explained = message(&result.summary);
        assert!(!explained.contains("header fields"), "{explained}");
    }
}

/// A status that the plan does not expect is the result, even if the body is incomplete.
#[test]
fn an_unexpected_status_wins_over_what_its_body_lacks() {
    let early = |head: &str| Answer::raw(format!("HTTP/1.1 {head}\r\n\r\nsome").as_bytes());
    let sized = || early("431 Too Large\r\nContent-Length: 100");
    for (answer, lack) in [
        (early("431 Too Large").then_resets(ms(1)), "truncated: "),
        (sized().then_closes(ms(1)), "truncated: "),
        (sized().then_resets(ms(1)), "truncated: "),
        (sized(), "timeout:body: "),
    ] {
        let plan = closed(2).requests(10);
        let plan = plan.with(|plan| plan.timeouts.total = secs(1));
        let result = run(plan, World::new(Server::new().says(answer)));
        failures(&result.summary, &[(Outcome::HttpStatus, 10)]);
        let message = message(&result.summary);
        assert!(message.starts_with(lack), "{message}");
    }
    let head = || Reply::head(413, &[("content-length", "100")]).data(b"some");
    for (reply, lack) in [
        (head().reset(8), "h2:stream:cancel: "),
        (head().ends(), "truncated: "),
        (head().closes(), "truncated: "),
        (head(), "timeout:body: "),
    ] {
        let plan = closed(2).http2(2).requests(10);
        let plan = plan.with(|plan| plan.timeouts.total = secs(1));
        let result = run(
            plan,
            World::new(Server::http2(Http2Behaviour::new().says(reply))),
        );
        failures(&result.summary, &[(Outcome::HttpStatus, 10)]);
        let message = message(&result.summary);
        assert!(message.starts_with(lack), "{message}");
    }
    // The body of an expected status must be complete.
    let answer = early("200 OK").then_resets(ms(1));
    let result = run(
        closed(1).requests(5),
        World::new(Server::new().says(answer)),
    );
    failures(&result.summary, &[(Outcome::Truncated, 5)]);
}

/// Requests that wait although no connection is opened end by the connect timeout, and not by the
/// total timeout.
#[test]
fn a_request_that_never_had_a_connection_says_so() {
    let plan = open("const(50/s,2s)").http2(100).with(|plan| {
        plan.timeouts.total = ms(300);
    });
    let result = run(plan, World::new(Server::swallowing()));
    failures(&result.summary, &[(Outcome::TimeoutConnect, 100)]);
    // A server that allows no stream has a connection, but no room on it.
    let script = Http2Behaviour::new().allows(0);
    let plan = open("const(50/s,200ms)").http2(100).with(|plan| {
        plan.timeouts.total = ms(300);
    });
    let result = run(plan, World::new(Server::http2(script)));
    failures(&result.summary, &[(Outcome::TimeoutTotal, 10)]);
    let words = "no stream was free; the server allows 0 at a time";
    assert_eq!(message(&result.summary), words);
}

/// A server that requires a client certificate may close the connection without an alert.
#[test]
fn a_certificate_that_the_server_asked_for_is_named() {
    let requested = "the server requested a client certificate, and none was sent";
    let secured = |plan: Draft| {
        let plan = plan.to(&["https://sut/"]);
        plan.with(|plan| plan.reach.tls.verify = Verify::No)
    };
    let closing = || Answer::raw(b"").then_closes(ms(1));
    let server = Server::new().agrees_to(b"").says(closing());
    let plan = || secured(closed(1).requests(5));
    let result = run(plan(), World::new(server.clone().asks_for_certificate()));
    failures(&result.summary, &[(Outcome::Closed, 5)]);
    assert_eq!(message(&result.summary), requested);
    let result = run(plan(), World::new(server));
    assert_eq!(message(&result.summary), Outcome::Closed.words());
    // Over HTTP/2 the connection is not ready by then.
    let greeting = Answer::raw(b"").then_closes(ms(0));
    let server = Server::new().agrees_to(b"h2").greets(greeting);
    let plan = secured(closed(1).http2(1).requests(5));
    let result = run(plan, World::new(server.asks_for_certificate()));
    failures(&result.summary, &[(Outcome::ConnectReset, 5)]);
    let message = message(&result.summary);
    let reset = message
        .strip_suffix(requested)
        .expect("the request of the server");
    assert!(
        reset.ends_with(":443 reset the connection while it opened; "),
        "{reset}"
    );
}
