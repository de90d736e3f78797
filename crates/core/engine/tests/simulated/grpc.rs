//! gRPC calls: exact numbers and times of messages, and the outcome of every status.

use crate::{failures, ms, run, secs, us};
use drumfire_measure::{GRPC_STATUS, Kept, Outcome, RunEvent};
use drumfire_plan::{
    CallKind, CallStatuses, DataError, RenderedFields, RequestContext, RequestData, Samples,
    Streaming, Varying,
};
use drumfire_testkit::{
    Client, Draft, Farewell, Http2Behaviour, LastId, Law, Network, RepliesAt, Reply, Said, Server,
    Simulated, World, closed,
};
use drumfire_units::Nanos;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// A server that takes 10 ms, without network delay.
fn world(script: Http2Behaviour) -> World {
    World::new(Server::http2(script).takes(Law::Const(ms(10)))).keeps_requests()
}

/// Replies to every call in this way.
fn says(reply: Reply) -> World {
    world(Http2Behaviour::new().says(reply))
}

/// A number of users, all on one connection, and a number of calls.
fn calls(users: u32, count: u64, kind: CallKind, said: Said) -> Draft {
    let plan = closed(users).connections(1).http2(users).requests(count);
    plan.calls(kind, said)
}

/// A plan like that from `calls`, with a call that streams in this way.
fn streams(count: u64, kind: CallKind, said: Said, streaming: Streaming) -> Draft {
    let plan = closed(1).http2(1).requests(count);
    plan.calls_with(kind, said, |call| call.streaming = streaming)
}

/// Checks the number of ok calls, and of messages sent and received.
#[track_caller]
fn ok(result: &Simulated, calls: u64, sent: u64, received: u64) {
    failures(&result.summary, &[]);
    let total = &result.summary.total;
    assert_eq!(total.counts.ok, calls);
    assert_eq!(total.messages.sent, sent);
    assert_eq!(total.messages.received, received);
    assert_eq!(result.log.messages, sent, "what came is what was sent");
}

#[test]
fn a_call_may_end_with_the_statuses_that_are_expected() {
    let expecting = |expect| {
        let plan = closed(1).http2(1).requests(4);
        plan.calls_with(CallKind::Unary, Said::once(), move |call| {
            call.expect = expect
        })
    };
    let not_found = CallStatuses::NONE.with(5);
    let either = CallStatuses::OK.with(5);
    let refusal = || Reply::trailers_only("5", "none");
    for (expect, reply, outcome) in [
        (not_found, refusal(), None),
        (either, refusal(), None),
        (either, Reply::unary(b"hi"), None),
        (not_found, Reply::unary(b"hi"), Some(Outcome::GrpcOk)),
        (
            CallStatuses::OK.with(14),
            refusal(),
            Some(Outcome::GrpcNotFound),
        ),
        // A response that is not a gRPC reply has no status from the server.
        (
            CallStatuses::NONE.with(14),
            Reply::head(503, &[("content-type", "text/html")]).ends(),
            Some(Outcome::GrpcUnavailable),
        ),
    ] {
        let result = run(expecting(expect), says(reply));
        let failed: Vec<_> = outcome.map(|outcome| (outcome, 4)).into_iter().collect();
        failures(&result.summary, &failed);
    }
}

#[test]
fn mixed_kinds() {
    // Calls and plain requests alternate: each exchange was used for the other kind before.
    let urls = ["http://sut/", "http://sut/", "http://sut/"];
    let plan = closed(4).connections(1).http2(4).requests(600).to(&urls);
    let plan = plan.calls(CallKind::Unary, Said::once());
    let plan = plan.with(|pool| {
        let plain = &mut pool.requests[1];
        plain.call = None;
        plain.url.target = "/plain".to_owned();
    });
    let script = Http2Behaviour::new().answers(|request| match request.target() {
        "/plain" => Reply::ok(),
        _ => Reply::unary(b"hi"),
    });
    let result = run(plan, world(script));
    ok(&result, 600, 400, 400);
}

/// All gRPC clients send such a call once more by themselves.
#[test]
fn a_refused_call_is_sent_once_more() {
    let plan = calls(10, 1000, CallKind::Unary, Said::once());
    let script = Http2Behaviour::new().says(Reply::unary(b"hi")).refuses(0.3);
    let result = run(plan, world(script));
    let total = &result.summary.total;
    let refused = crate::seen(&result.summary, Outcome::H2StreamRefusedStream);
    failures(
        &result.summary,
        &[(Outcome::H2StreamRefusedStream, refused)],
    );
    // Nine of a hundred are refused twice: the bounds are five standard deviations.
    assert!((45..=135).contains(&refused), "{refused}");
    assert_eq!(result.log.requests, 1000 + total.retried);
    assert_eq!(
        (total.counts.ok, total.messages.sent),
        (1000 - refused, 1000)
    );
    let status: Vec<_> = total.status().collect();
    assert_eq!(
        status,
        [(GRPC_STATUS, 1000 - refused), (GRPC_STATUS + 14, refused)]
    );
    assert_eq!(result.log.connections, 1);
}

#[test]
fn unary_calls_are_exact() {
    for said in [Said::once(), Said::once().varying()] {
        let plan = calls(10, 1000, CallKind::Unary, said);
        let result = run(plan, says(Reply::unary(b"hi")));
        ok(&result, 1000, 1000, 1000);
        let times = &result.summary.total.latency.response_time;
        assert_eq!((times.min(), times.max()), (ms(10), ms(10)));
        let status: Vec<_> = result.summary.total.status().collect();
        assert_eq!(status, [(GRPC_STATUS, 1000)]);
        assert!(result.log.seen.iter().all(|seen| seen.body == 10));
        assert_eq!(result.log.connections, 1);
    }
}

#[test]
fn what_is_sent_again_counts_once() {
    let streaming = Streaming {
        interval: ms(1),
        ..Streaming::default()
    };
    for said in [Said::times(3), Said::times(3).varying()] {
        for streaming in [Streaming::default(), streaming] {
            // Bursts of 20: the connection serves none of the third burst.
            let script = Http2Behaviour::new().says(Reply::unary(b"sum"));
            let script = script.goes_away(50, LastId::Of(79), 0, Farewell::WhenDone);
            let plan = calls(20, 200, CallKind::ClientStream, said);
            let plan = plan.calls_with(CallKind::ClientStream, said, |call| {
                call.streaming = streaming;
            });
            let result = run(plan, world(script));
            failures(&result.summary, &[]);
            let total = &result.summary.total;
            assert_eq!((total.counts.ok, total.retried), (200, 4 * 20));
            assert_eq!(total.messages.sent, 200 * 3);
        }
    }
}

#[test]
fn what_varies_is_made_for_each_call() {
    let plan = calls(10, 1000, CallKind::Unary, Said::once().varying());
    let result = run(plan, says(Reply::unary(b"hi")));
    let numbers: BTreeSet<u64> = result
        .log
        .seen
        .iter()
        .filter_map(|seen| seen.head.lines().find_map(|line| line.strip_prefix("n: ")))
        .filter_map(|number| number.parse().ok())
        .collect();
    assert!(numbers.into_iter().eq(0..1000));
}

/// A server that fails every call with long details does not fill the memory, even if every sample
/// is kept.
#[test]
fn details_of_samples_are_bounded() {
    const LIMIT: usize = 16 << 20;
    let message = "x".repeat(8000);
    let plan = calls(100, 5000, CallKind::Unary, Said::once()).with(|plan| {
        plan.samples = Samples::Keep;
    });
    let result = run(plan, says(Reply::trailers_only("13", &message)));
    let kept = result.events.iter().filter_map(|event| match event {
        RunEvent::Kept(kept) => Some(kept),
        _ => None,
    });
    let lengths = |kept: &Vec<Kept>| -> Vec<usize> {
        let details = kept.iter().map(|kept| kept.detail.as_deref());
        let lengths = details.map(|detail| detail.map_or(0, |it| it.text.len()));
        lengths.collect()
    };
    let lengths: Vec<Vec<usize>> = kept.map(|kept| lengths(kept)).collect();
    assert_eq!(lengths.iter().flatten().count(), 5000);
    assert!(lengths.iter().flatten().any(|length| *length == 8000));
    for interval in lengths {
        let sum: usize = interval.iter().sum();
        let cut = interval.iter().filter(|length| **length == 256).count();
        assert!(sum <= LIMIT + 8000 + 256 * cut, "{sum}");
        assert!(sum < LIMIT || cut > 0, "{sum}");
    }
}

#[test]
fn every_status_has_its_outcome() {
    for code in 1..17_u8 {
        let number = code.to_string();
        for reply in [
            Reply::trailers_only(&number, "why%20not"),
            Reply::call().trailers(&number, ""),
            Reply::call().message(b"hi").trailers(&number, "no"),
        ] {
            let result = run(calls(2, 20, CallKind::Unary, Said::once()), says(reply));
            failures(&result.summary, &[(Outcome::grpc(code), 20)]);
            let status: Vec<_> = result.summary.total.status().collect();
            assert_eq!(status, [(GRPC_STATUS + u16::from(code), 20)]);
        }
    }
}

#[test]
fn replies_that_are_none_have_an_outcome() {
    let html = |status| {
        Reply::head(status, &[("content-type", "text/html")])
            .data(b"<p>no")
            .ends()
    };
    let unary = |fields: &[(&str, &str)]| Reply::call().message(b"hi").fields(fields);
    for (reply, outcome) in [
        // No trailers, no status, an invalid status.
        (Reply::call().message(b"hi").ends(), Outcome::GrpcInternal),
        (unary(&[("other", "1")]), Outcome::GrpcUnknown),
        (unary(&[("grpc-status", "99")]), Outcome::GrpcUnknown),
        (unary(&[("grpc-status", "abc")]), Outcome::GrpcUnknown),
        // Too few messages, too many.
        (Reply::call().trailers("0", ""), Outcome::GrpcUnimplemented),
        (
            Reply::call().message(b"1").message(b"2").trailers("0", ""),
            Outcome::GrpcUnimplemented,
        ),
        // Half a message, and one that is larger than the limit.
        (
            Reply::call().data(&[0, 0, 0, 0, 9, 1]).trailers("0", ""),
            Outcome::GrpcInternal,
        ),
        (
            Reply::call()
                .data(&[0, 0xff, 0xff, 0xff, 0xff])
                .trailers("0", ""),
            Outcome::LimitMessage,
        ),
        (
            Reply::call().data(&[1, 0, 0, 0, 1, 1]).trailers("0", ""),
            Outcome::GrpcInternal,
        ),
        // A proxy's answer.
        (html(200), Outcome::GrpcUnknown),
        (html(400), Outcome::GrpcInternal),
        (html(401), Outcome::GrpcUnauthenticated),
        (html(403), Outcome::GrpcPermissionDenied),
        (html(404), Outcome::GrpcUnimplemented),
        (html(429), Outcome::GrpcUnavailable),
        (html(502), Outcome::GrpcUnavailable),
        (html(503), Outcome::GrpcUnavailable),
        (html(504), Outcome::GrpcUnavailable),
        (html(500), Outcome::GrpcUnknown),
    ] {
        let told = format!("{reply:?}");
        let result = run(calls(2, 20, CallKind::Unary, Said::once()), says(reply));
        let seen: Vec<_> = result.summary.total.outcomes().failures().collect();
        assert_eq!(seen, [(outcome, 20)], "{told}");
        assert_eq!(result.log.connections, 1, "{told}");
    }
}

#[test]
fn messages_of_a_client_go_out_at_their_times() {
    let at = |result: &Simulated| -> Vec<u64> {
        let times = result.log.messages_at.iter();
        times.map(|time| time.0 / 1_000_000).collect()
    };
    let interval = ms(100);
    let (send, duration) = (Some(100), Some(ms(250)));
    for said in [Said::times(5), Said::times(5).varying()] {
        for (streaming, times, took) in [
            (Streaming::default(), vec![0; 5], 0),
            (
                Streaming {
                    interval,
                    ..Streaming::default()
                },
                vec![0, 100, 200, 300, 400],
                400,
            ),
            (
                Streaming {
                    send: Some(3),
                    interval,
                    ..Streaming::default()
                },
                vec![0, 100, 200],
                200,
            ),
            (
                Streaming {
                    send,
                    interval,
                    duration,
                    ..Streaming::default()
                },
                vec![0, 100, 200],
                250,
            ),
        ] {
            let plan = streams(1, CallKind::ClientStream, said, streaming);
            let result = run(plan, says(Reply::unary(b"sum")));
            ok(&result, 1, times.len() as u64, 1);
            assert_eq!(at(&result), times);
            let response = &result.summary.total.latency.response_time;
            assert_eq!(response.max(), ms(took + 10));
        }
    }
}

/// Three messages, each of which notes its time in milliseconds.
#[derive(Debug)]
struct Clock {
    seen: Arc<Mutex<Vec<u64>>>,
    renews_time: bool,
}

impl RequestData for Clock {
    fn varying(&self) -> Varying {
        Varying {
            body: true,
            ..Varying::default()
        }
    }

    fn fields(&self, _: &RequestContext, _: &mut RenderedFields) -> Result<(), DataError> {
        Ok(())
    }

    fn renews_time(&self) -> bool {
        self.renews_time
    }

    fn messages(&self, _: &RequestContext) -> u64 {
        3
    }

    fn message(&self, call: &RequestContext, _: u64, _: &mut Vec<u8>) -> Result<(), DataError> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(call.now / 1_000_000);
        Ok(())
    }
}

/// If the data request it, each message is rendered with the message's own time.
#[test]
fn time_goes_on_within_a_call() {
    for renews_time in [true, false] {
        let seen: Arc<Mutex<Vec<u64>>> = Arc::default();
        let clock = Arc::new(Clock {
            seen: Arc::clone(&seen),
            renews_time,
        });
        let plan = closed(1).http2(1).requests(2);
        let plan = plan.calls_with(CallKind::ClientStream, Said::once(), |call| {
            call.data = clock;
            call.streaming.interval = ms(100);
        });
        let result = run(plan, says(Reply::unary(b"sum")));
        failures(&result.summary, &[]);
        let seen = seen.lock().unwrap();
        let span = if renews_time { 100 } else { 0 };
        for call in seen.chunks(3) {
            assert_eq!((call[1] - call[0], call[2] - call[1]), (span, span));
        }
        assert_eq!(seen.len(), 6);
        assert!(seen[3] > seen[2], "each call has its own time: {seen:?}");
    }
}

#[test]
fn messages_of_a_server_are_timed_one_by_one() {
    let reply = Reply::call().messages(5, b"tick", ms(20)).trailers("0", "");
    let plan = calls(3, 30, CallKind::ServerStream, Said::once());
    let result = run(plan, says(reply));
    ok(&result, 30, 30, 150);
    let messages = &result.summary.total.messages;
    assert_eq!((messages.first.count(), messages.gap.count()), (30, 120));
    assert_eq!(
        (messages.first.min(), messages.first.max()),
        (ms(10), ms(10))
    );
    assert_eq!((messages.gap.min(), messages.gap.max()), (ms(20), ms(20)));
    let response = &result.summary.total.latency.response_time;
    assert_eq!((response.min(), response.max()), (ms(90), ms(90)));
}

/// Two streams in turn: three messages with pauses of 20 ms, and five with pauses of 50 ms.
#[test]
fn messages_are_timed_by_step() {
    let plan = closed(1).http2(1).requests(20);
    let plan = plan.to(&["http://sut/quick", "http://sut/slow"]);
    let plan = plan.calls(CallKind::ServerStream, Said::once());
    let plan = plan.with(|pool| {
        for (request, target) in pool.requests.iter_mut().zip(["/quick", "/slow"]) {
            request.url.target = target.to_owned();
        }
    });
    let script = Http2Behaviour::new().answers(|request| {
        let (count, gap) = match request.target() {
            "/quick" => (3, ms(20)),
            _ => (5, ms(50)),
        };
        Reply::call()
            .messages(count, b"tick", gap)
            .trailers("0", "")
    });
    let result = run(plan, world(script));
    failures(&result.summary, &[]);
    // Two calls take 260 ms, so that streams run across the ends of intervals.
    let steps = result.summary.steps();
    for (step, received, gap) in [(&steps[0], 3, 20), (&steps[1], 5, 50)] {
        let messages = step.messages().unwrap();
        assert_eq!(messages.sent, step.counts.ok, "{}", step.name);
        assert_eq!(messages.received, step.counts.ok * received);
        assert_eq!(messages.first.count(), step.counts.ok);
        assert_eq!(messages.gap.count(), step.counts.ok * (received - 1));
        assert_eq!((messages.gap.min(), messages.gap.max()), (ms(gap), ms(gap)));
    }
    let total = &result.summary.total;
    assert_eq!((steps[0].counts.ok, steps[1].counts.ok), (10, 10));
    assert_eq!(total.messages.received, 10 * 3 + 10 * 5);
    assert_eq!(total.messages.gap.count(), 10 * 2 + 10 * 4);
}

#[test]
fn a_stream_without_messages_is_ok() {
    for reply in [
        Reply::call().trailers("0", ""),
        Reply::trailers_only("0", ""),
    ] {
        let plan = calls(3, 30, CallKind::ServerStream, Said::once());
        ok(&run(plan, says(reply)), 30, 30, 0);
    }
}

#[test]
fn a_stream_is_cancelled_when_enough_has_come() {
    let endless = || says(Reply::call().for_ever(b"tick", ms(20)));
    for (streaming, received, took) in [
        (
            Streaming {
                receive: Some(10),
                ..Streaming::default()
            },
            10,
            10 + 9 * 20,
        ),
        (
            Streaming {
                duration: Some(ms(105)),
                ..Streaming::default()
            },
            5,
            105,
        ),
    ] {
        let plan = streams(20, CallKind::ServerStream, Said::once(), streaming);
        let result = run(plan, endless());
        ok(&result, 20, 20, 20 * received);
        let response = &result.summary.total.latency.response_time;
        assert_eq!((response.min(), response.max()), (ms(took), ms(took)));
        // The last call is cancelled because its connection is closed.
        assert!(result.log.cancelled >= 19, "{}", result.log.cancelled);
        assert_eq!(result.log.connections, 1);
    }
}

/// An endless stream is cancelled after ten messages: the server is notified one round trip after
/// it has sent the tenth.
#[test]
fn a_cancel_is_told_at_once() {
    let reply = Reply::call().for_ever(b"tick", us(100));
    let streaming = Streaming {
        receive: Some(10),
        ..Streaming::default()
    };
    let plan = streams(20, CallKind::ServerStream, Said::once(), streaming);
    let result = run(plan, says(reply).network(Network::each_way(ms(5))));
    ok(&result, 20, 20, 200);
    // The way to the server, its 10 ms, ten messages, and the way back; then the way to the server
    // once more.
    let call = 5_000 + 10_000 + 9 * 100 + 5_000;
    let expected: Vec<Nanos> = (1..20).map(|n| us(n * call + 5_000)).collect();
    assert_eq!(result.log.cancelled_at[..19], expected);
}

#[test]
fn a_server_that_dies_ends_its_streams_and_is_found_again() {
    let reply = Reply::call()
        .messages(10, b"tick", ms(20))
        .trailers("0", "");
    let server = Server::http2(Http2Behaviour::new().says(reply)).is_dead(ms(1050), ms(2050));
    let plan = closed(5).connections(1).http2(5).lasts(secs(4));
    let plan = plan.calls(CallKind::ServerStream, Said::once());
    let result = run(plan, World::new(server));
    let total = &result.summary.total;
    // A call takes 180 ms. Each user has five answered before the server dies during the sixth.
    // After the server is found again, within 100 ms, at least ten follow, the last of them after
    // the end.
    let refused = crate::seen(&result.summary, Outcome::ConnectRefused);
    failures(
        &result.summary,
        &[(Outcome::ConnectRefused, refused), (Outcome::Reset, 5)],
    );
    assert!((50..=130).contains(&refused), "{refused}");
    assert!((80..=85).contains(&total.counts.ok), "{}", total.counts.ok);
    // The interrupted call had received eight messages: at 900 ms, and every 20 ms until 1,040 ms.
    assert_eq!(total.messages.received, total.counts.ok * 10 + 5 * 8);
    assert_eq!(total.messages.first.count(), total.counts.ok + 5);
}

#[test]
fn both_sides_speak_at_the_same_time() {
    let reply = Reply::call()
        .messages(4, b"tock", ms(50))
        .pause(ms(300))
        .trailers("0", "");
    let script = Http2Behaviour::new()
        .replies_at(RepliesAt::Head)
        .says(reply);
    let streaming = Streaming {
        interval: ms(100),
        ..Streaming::default()
    };
    let plan = streams(10, CallKind::Bidirectional, Said::times(5), streaming);
    let result = run(plan, world(script));
    ok(&result, 10, 50, 40);
    let response = &result.summary.total.latency.response_time;
    assert_eq!(response.max(), ms(10 + 3 * 50 + 300));
    let messages = &result.summary.total.messages;
    assert_eq!((messages.gap.min(), messages.gap.max()), (ms(50), ms(50)));
}

#[test]
fn a_server_that_ends_early_is_believed() {
    let reply = Reply::call().message(b"enough").trailers("0", "");
    let script = Http2Behaviour::new()
        .replies_at(RepliesAt::Head)
        .says(reply);
    let streaming = Streaming {
        interval: ms(100),
        ..Streaming::default()
    };
    let plan = streams(10, CallKind::Bidirectional, Said::times(50), streaming);
    let result = run(plan, world(script));
    failures(&result.summary, &[]);
    let total = &result.summary.total;
    assert_eq!((total.counts.ok, total.messages.sent), (10, 10));
    assert_eq!(total.latency.response_time.max(), ms(10));
}

#[test]
fn a_deadline_ends_a_call() {
    for kind in [CallKind::Unary, CallKind::ServerStream] {
        let plan = calls(5, 50, kind, Said::once()).calls_with(kind, Said::once(), |call| {
            call.deadline = Some(ms(100));
        });
        let result = run(plan, says(Reply::call().pause(secs(100)).trailers("0", "")));
        let total = &result.summary.total;
        let status: Vec<_> = total.status().collect();
        assert_eq!(status, [(GRPC_STATUS + 4, 50)]);
        assert_eq!(total.counts.failed, 50);
        let failed = &total.latency.failed;
        assert!(failed.min() >= ms(100) && failed.max() <= ms(102));
        assert!(result.log.cancelled >= 45, "{}", result.log.cancelled);
        assert_eq!(result.log.connections, 1);
        let told = |head: &str| head.lines().any(|line| line.starts_with("grpc-timeout: "));
        assert!(result.log.seen.iter().all(|seen| told(&seen.head)));
    }
}

/// A server that also observes the deadline may end the call before our timer expires: both orders
/// have one outcome. A server with a shorter deadline is a different case.
#[test]
fn who_is_first_to_see_a_deadline_is_no_outcome() {
    let late = Client::ideal().wakes_late(ms(5));
    for (patience, outcome) in [
        (92, Outcome::TimeoutTotal),
        (50, Outcome::GrpcDeadlineExceeded),
    ] {
        let unary = CallKind::Unary;
        let plan = calls(5, 50, unary, Said::once()).calls_with(unary, Said::once(), |call| {
            call.deadline = Some(ms(100));
        });
        for reply in [
            Reply::call().pause(ms(patience)).trailers("4", "too late"),
            Reply::trailers_only("4", "too late").after(ms(patience + 10)),
        ] {
            let result = run(plan.clone(), says(reply).client(late.clone()));
            failures(&result.summary, &[(outcome, 50)]);
            let status: Vec<_> = result.summary.total.status().collect();
            assert_eq!(status, [(GRPC_STATUS + 4, 50)]);
        }
    }
}

#[test]
fn data_that_can_not_be_made_spins_no_core() {
    let said = Said::once().failing_at(0);
    let plan = closed(10).connections(1).http2(10).lasts(secs(1));
    let result = run(plan.calls(CallKind::Unary, said), says(Reply::unary(b"hi")));
    let failed = result.summary.total.counts.failed;
    failures(&result.summary, &[(Outcome::BadData, failed)]);
    assert!((1..=10_010).contains(&failed), "{failed}");
    assert!(result.log.waits < 5000, "{} turns", result.log.waits);
    assert_eq!(result.log.requests, 0);
}

#[test]
fn a_stream_whose_data_ends_in_an_error_is_cancelled() {
    for interval in [Nanos::ZERO, ms(100)] {
        let streaming = Streaming {
            interval,
            ..Streaming::default()
        };
        let said = Said::times(5).failing_at(2);
        let plan = streams(10, CallKind::ClientStream, said, streaming);
        let result = run(plan, says(Reply::unary(b"sum")));
        failures(&result.summary, &[(Outcome::BadData, 10)]);
        assert_eq!(result.log.requests, 0, "no request was whole");
    }
}
