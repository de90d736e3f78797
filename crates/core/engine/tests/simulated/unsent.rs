//! Messages that calls intended to send but did not: the exact number that the plan still had.

use crate::{ms, run, secs};
use drumfire_measure::Summary;
use drumfire_plan::{CallKind, Streaming};
use drumfire_testkit::{
    Draft, Farewell, Http2Behaviour, LastId, Law, Network, RepliesAt, Reply, Said, Server,
    Simulated, World, closed,
};
use drumfire_units::Nanos;

/// How many calls each run makes, one after the other.
const CALLS: u64 = 10;

/// Calls of one user, which stream in this way and end after this time at the latest.
fn calls(kind: CallKind, said: Said, streaming: Streaming, deadline: Option<Nanos>) -> Draft {
    let plan = closed(1).http2(1).requests(CALLS);
    plan.calls_with(kind, said, |call| {
        call.streaming = streaming;
        call.deadline = deadline;
    })
}

/// A server without network delay that follows the script after 10 ms.
fn world(script: Http2Behaviour) -> World {
    World::new(Server::http2(script).takes(Law::Const(ms(10))))
}

/// A server that sends this reply as soon as it has received a call's head.
fn at_once(reply: Reply) -> World {
    world(
        Http2Behaviour::new()
            .replies_at(RepliesAt::Head)
            .says(reply),
    )
}

/// A message every 100 ms.
fn slowly() -> Streaming {
    Streaming {
        interval: ms(100),
        ..Streaming::default()
    }
}

/// Messages sent and not sent.
fn messages(summary: &Summary) -> (u64, u64) {
    let messages = &summary.total.messages;
    (messages.sent, messages.unsent)
}

/// Checks how many messages were sent and how many were not.
#[track_caller]
fn check(result: &Simulated, sent: u64, unsent: u64) {
    assert_eq!(messages(&result.summary), (sent, unsent));
    assert_eq!(result.log.messages, sent, "what came is what was sent");
}

#[test]
fn a_server_that_ends_early_leaves_the_rest_unsent() {
    for reply in [
        Reply::call().message(b"enough").trailers("0", ""),
        Reply::call().message(b"no").trailers("8", "full"),
        Reply::trailers_only("14", "going"),
        Reply::call().reset(8),
    ] {
        for kind in [CallKind::ClientStream, CallKind::Bidirectional] {
            for said in [Said::times(50), Said::times(50).varying()] {
                let plan = calls(kind, said, slowly(), None);
                check(&run(plan, at_once(reply.clone())), CALLS, 49 * CALLS);
            }
        }
    }
}

#[test]
fn a_deadline_leaves_the_rest_unsent() {
    for kind in [CallKind::ClientStream, CallKind::Bidirectional] {
        for said in [Said::times(50), Said::times(50).varying()] {
            let plan = calls(kind, said, slowly(), Some(ms(250)));
            let result = run(plan, world(Http2Behaviour::new().says(Reply::never())));
            assert_eq!(result.summary.total.counts.failed, CALLS);
            check(&result, 3 * CALLS, 47 * CALLS);
        }
    }
}

/// The server takes 35 bytes every 100 ms, and a message is ten bytes: after 250 ms half of the
/// eleventh message is sent.
#[test]
fn half_a_message_is_not_sent() {
    for said in [Said::times(20), Said::times(20).varying()] {
        let plan = calls(
            CallKind::ClientStream,
            said,
            Streaming::default(),
            Some(ms(250)),
        );
        let world = world(Http2Behaviour::new().stream_window(35).says(Reply::never()));
        let result = run(plan, world.network(Network::each_way(ms(50))));
        assert_eq!(result.summary.total.counts.failed, CALLS);
        let each = messages(&result.summary);
        assert_eq!(each, (10 * CALLS, 10 * CALLS), "{said:?}");
    }
}

#[test]
fn a_call_that_never_begins_leaves_all_unsent() {
    for kind in [CallKind::Unary, CallKind::Bidirectional] {
        for said in [Said::times(7), Said::times(7).varying()] {
            let each = if kind == CallKind::Unary { 1 } else { 7 };
            let plan = calls(kind, said, Streaming::default(), None);
            check(&run(plan, World::new(Server::refusing())), 0, each * CALLS);
        }
    }
}

#[test]
fn data_that_can_not_be_made_is_not_sent() {
    let said = Said::times(5).failing_at(2);
    let plan = calls(CallKind::ClientStream, said, slowly(), None);
    let result = run(
        plan,
        world(Http2Behaviour::new().says(Reply::unary(b"sum"))),
    );
    check(&result, 2 * CALLS, 3 * CALLS);
}

#[test]
fn of_a_stream_with_an_open_end_nothing_is_unsent() {
    let by_time = Streaming {
        duration: Some(ms(5000)),
        ..slowly()
    };
    let by_replies = Streaming {
        receive: Some(3),
        ..slowly()
    };
    for streaming in [by_time, by_replies] {
        for said in [Said::times(50), Said::times(50).varying()] {
            let reply = Reply::call().message(b"enough").trailers("0", "");
            let plan = calls(CallKind::Bidirectional, said, streaming, None);
            check(&run(plan, at_once(reply)), CALLS, 0);
        }
    }
    // When the call has received enough, the plan itself ends it.
    let reply = Reply::call().for_ever(b"tick", ms(20));
    let plan = calls(
        CallKind::Bidirectional,
        Said::times(50),
        Streaming {
            receive: Some(1),
            ..Streaming::default()
        },
        None,
    );
    check(&run(plan, at_once(reply)), 50 * CALLS, 0);
}

#[test]
fn the_warm_up_s_messages_are_left_out() {
    let plan = calls(CallKind::Bidirectional, Said::times(50), slowly(), None);
    // A call takes 10 ms: three begin before the warm-up ends.
    let plan = plan.warmup(ms(25));
    let reply = Reply::call().message(b"enough").trailers("0", "");
    let result = run(plan, at_once(reply));
    let total = &result.summary.total;
    assert_eq!((total.warmup.ok, total.counts.ok), (3, CALLS - 3));
    assert_eq!(messages(&result.summary), (CALLS - 3, 49 * (CALLS - 3)));
    assert_eq!(total.messages.received, CALLS - 3);
    assert_eq!(total.messages.first.count(), CALLS - 3);
    assert_eq!(result.log.messages, CALLS);
}

/// How servers treat calls, partly in violation of the protocol.
fn servers() -> Vec<Http2Behaviour> {
    let early = Reply::call().message(b"enough").trailers("0", "");
    let broken = Reply::call().frame(9, 0, &[]);
    let away = |last| Http2Behaviour::new().goes_away(3, last, 0, Farewell::WhenDone);
    vec![
        Http2Behaviour::new().says(Reply::unary(b"sum")),
        Http2Behaviour::new().says(Reply::never()),
        Http2Behaviour::new()
            .replies_at(RepliesAt::Head)
            .says(early),
        Http2Behaviour::new()
            .replies_at(RepliesAt::Head)
            .says(Reply::call().reset(2)),
        Http2Behaviour::new()
            .replies_at(RepliesAt::Head)
            .says(broken),
        Http2Behaviour::new().says(Reply::call().breaks()),
        Http2Behaviour::new().says(Reply::call().closes()),
        Http2Behaviour::new()
            .refuses(0.3)
            .says(Reply::unary(b"sum")),
        away(LastId::Of(3)).says(Reply::unary(b"sum")),
        away(LastId::Of(0)).says(Reply::unary(b"sum")),
        Http2Behaviour::new().stream_window(0).says(Reply::never()),
        Http2Behaviour::new()
            .stream_window(25)
            .says(Reply::unary(b"sum")),
        Http2Behaviour::new().allows(1).says(Reply::unary(b"sum")),
        Http2Behaviour::new().silent(),
    ]
}

/// For every end of a call, each message of an ended call is either sent or unsent.
#[test]
fn every_message_of_the_plan_is_sent_or_unsent() {
    let kinds = [
        CallKind::Unary,
        CallKind::ClientStream,
        CallKind::ServerStream,
        CallKind::Bidirectional,
    ];
    let mut runs = 0;
    for script in servers() {
        for kind in kinds {
            for (count, interval) in [(0, 0), (1, 0), (9, 0), (9, 30), (9000, 0)] {
                for said in [Said::times(count), Said::times(count).varying()] {
                    let streaming = Streaming {
                        interval: ms(interval),
                        ..Streaming::default()
                    };
                    let plan = closed(4).connections(1).http2(4).requests(20);
                    let plan = plan.calls_with(kind, said, |call| {
                        call.streaming = streaming;
                        call.deadline = Some(ms(200));
                    });
                    let plan = plan.with(|plan| plan.timeouts.connect = secs(1));
                    let world = world(script.clone()).network(Network::each_way(ms(5)));
                    let result = run(plan, world);
                    let each = if kind.client_streams() { count } else { 1 };
                    let total = &result.summary.total;
                    let (sent, unsent) = messages(&result.summary);
                    let ended = total.counts.ok + total.counts.failed;
                    assert_eq!(sent + unsent, each * ended, "{script:?} {kind:?} {said:?}");
                    assert_eq!(ended, 20, "{script:?} {kind:?}");
                    runs += 1;
                }
            }
        }
    }
    assert_eq!(runs, 14 * 4 * 10);
}
