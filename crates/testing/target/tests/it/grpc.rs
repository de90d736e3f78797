//! The answers of the services, and requested faults.

use crate::calls::{Caller, frame};
use crate::frames::{run, start};
use drumfire_target::{ArrivalLog, Behaviour, ServerOptions, Services};
use h2::Reason;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const UNARY: &str = "drumfire.test.v1.TestService/Unary";
const SERVER: &str = "drumfire.test.v1.TestService/ServerStream";
const CLIENT: &str = "drumfire.test.v1.TestService/ClientStream";
const BIDI: &str = "drumfire.test.v1.TestService/BidiStream";

fn offering(behaviour: Behaviour) -> ServerOptions {
    ServerOptions {
        services: Services::Grpc,
        behaviour,
        ..ServerOptions::default()
    }
}

#[test]
fn the_greeter_greets_in_all_four_ways() {
    let server = start(ServerOptions {
        arrival_log: ArrivalLog::First(10),
        ..offering(Behaviour::default())
    });
    run(async {
        let mut caller = Caller::connect(&server, "v1").await;
        let names = [json!({"name": "bob"}), json!({"name": "eve"})];
        let rows: [(&str, &[Value], &[&str]); 4] = [
            ("SayHello", &names[..1], &["Hello bob"]),
            (
                "SayHellos",
                &[json!({})],
                &["Hello Ada", "Hello Grace", "Hello Barbara", "Hello Edsger"],
            ),
            ("SayHelloCS", &names, &["Hello count: 2"]),
            ("SayHelloBidi", &names, &["Hello bob", "Hello eve"]),
        ];
        for (method, messages, expected) in rows {
            let called = caller
                .call(&format!("helloworld.Greeter/{method}"), messages)
                .await;
            let greetings: Vec<_> = called.messages.iter().map(|m| &m["message"]).collect();
            assert_eq!(greetings, expected, "{method}");
            assert_eq!(called.code(), Some(0));
            assert!(called.reply.fields.get("grpc-status").is_none());
        }
    });
    // Reflection is not part of the load.
    assert_eq!(server.arrivals().len(), 4);
    let counters = server.stop();
    assert_eq!((counters.requests, counters.responses), (4, 4));
}

#[test]
fn both_versions_of_reflection_tell_the_same() {
    let server = start(offering(Behaviour::default()));
    run(async {
        for version in ["v1", "v1alpha"] {
            let caller = Caller::connect(&server, version).await;
            let expected = [
                "drumfire.test.v1.TestService",
                "grpc.reflection.v1.ServerReflection",
                "grpc.reflection.v1alpha.ServerReflection",
                "helloworld.Greeter",
            ];
            assert_eq!(caller.services(), expected);
        }
        let mut caller = Caller::connect(&server, "v1").await;
        for symbol in [
            "helloworld.Greeter.SayHello",
            "helloworld.HelloReply.message",
        ] {
            assert_eq!(caller.missing(symbol).await, None, "{symbol}");
        }
        assert_eq!(caller.missing("helloworld.Nobody").await, Some(5));
    });
}

#[test]
fn responses_are_as_wished() {
    let server = start(offering(Behaviour::default()));
    run(async {
        let mut caller = Caller::connect(&server, "v1").await;
        let wish = json!({"wish": {"size": 70_000, "delay": "0.02s"}, "text": "ho"});
        let start = Instant::now();
        let called = caller.call(UNARY, &[wish]).await;
        assert!(start.elapsed() >= Duration::from_millis(20));
        assert_eq!((called.code(), called.messages.len()), (Some(0), 1));
        assert_eq!(called.messages[0]["text"], "ho");
        assert_eq!(called.reply.body.len() / 1_000, 70);
        let wish = json!({"wish": {"count": 5, "gap": "0.01s"}});
        let start = Instant::now();
        let called = caller.call(SERVER, &[wish]).await;
        assert!(start.elapsed() >= Duration::from_millis(40));
        let clocks: Vec<u64> = called
            .messages
            .iter()
            .map(|m| m["clockNs"].as_str().unwrap().parse().unwrap())
            .collect();
        assert_eq!(clocks.len(), 5);
        // Each message has its own time, which a late message does not shift.
        assert!(clocks.is_sorted(), "{clocks:?}");
        assert_eq!(called.messages[4]["number"], "4");
        let none = caller.call(SERVER, &[json!({"wish": {"count": 0}})]).await;
        assert_eq!((none.code(), none.messages.len()), (Some(0), 0));
        let many = caller
            .call(SERVER, &[json!({"wish": {"count": 5_000, "size": 300}})])
            .await;
        assert_eq!(many.messages.len(), 5_000);
    });
}

#[test]
fn streams_of_requests_are_counted_and_answered_one_by_one() {
    let server = start(offering(Behaviour::default()));
    run(async {
        let mut caller = Caller::connect(&server, "v1").await;
        let parts = [
            json!({"payload": "AAAA"}),
            json!({"payload": "AAAA", "text": "last"}),
        ];
        let called = caller.call(CLIENT, &parts).await;
        let summary = &called.messages[0];
        assert_eq!(
            (&summary["messages"], &summary["payloadBytes"]),
            (&json!("2"), &json!("6"))
        );
        assert_eq!(summary["clockNs"].as_array().unwrap().len(), 2);
        let asked = [
            json!({"wish": {"count": 2}}),
            json!({"wish": {"count": 0}}),
            json!({}),
        ];
        let called = caller.call(BIDI, &asked).await;
        let answered: Vec<_> = called
            .messages
            .iter()
            .map(|m| (m["number"].clone(), m["request"].clone()))
            .collect();
        let absent = Value::Null;
        assert_eq!(
            answered,
            [
                (absent.clone(), absent.clone()),
                (json!("1"), absent),
                (json!("2"), json!("2")),
            ]
        );
    });
}

#[test]
fn every_type_comes_back_as_it_was() {
    let server = start(offering(Behaviour::default()));
    run(async {
        let mut caller = Caller::connect(&server, "v1").await;
        let all = json!({"anInt64": "-3", "byText": {"a": 1}, "chosenNumber": "7",
            "duration": "1.5s", "structure": {"k": [1, null]}, "otherName": "x"});
        let called = caller
            .call(
                "drumfire.test.v1.TestService/Types",
                std::slice::from_ref(&all),
            )
            .await;
        assert_eq!(
            called.messages,
            [json!({"anInt64": "-3", "byText": {"a": 1},
            "chosenNumber": "7", "duration": "1.500s", "structure": {"k": [1.0, null]},
            "otherName": "x"})]
        );
        let called = caller
            .call("drumfire.test.v1.TestService/Empty", &[json!({})])
            .await;
        assert_eq!((called.code(), called.messages), (Some(0), vec![json!({})]));
    });
}

#[test]
fn statuses_carry_messages_and_details() {
    let server = start(offering(Behaviour::default()));
    run(async {
        let mut caller = Caller::connect(&server, "v1").await;
        let status = json!({"code": 9, "message": "na\u{ef}ve 5%", "details": [
            {"@type": "type.googleapis.com/helloworld.HelloReply", "message": "why"}]});
        let called = caller
            .call(UNARY, &[json!({"wish": {"status": status}})])
            .await;
        assert_eq!((called.code(), called.messages.len()), (Some(9), 0));
        assert_eq!(called.field("grpc-message"), "na%C3%AFve 5%25");
        assert!(
            called
                .field("grpc-status-details-bin")
                .starts_with("CAkSCW5h")
        );
        // Without a message, one head contains everything.
        assert!(called.reply.trailers.is_empty());
        let late = json!({"wish": {"count": 2, "status": {"code": 14}}});
        for method in [SERVER, BIDI] {
            let called = caller.call(method, std::slice::from_ref(&late)).await;
            assert_eq!((called.code(), called.messages.len()), (Some(14), 2));
        }
        let early = [late.clone(), json!({})];
        let called = caller.call(CLIENT, &early).await;
        assert_eq!((called.code(), called.messages.len()), (Some(14), 0));
        for method in [
            "drumfire.test.v1.TestService/Unimplemented",
            "a.B/C",
            "nothing",
        ] {
            let reply = caller.send(method, b"", &[]).await.unwrap();
            assert_eq!(reply.field("grpc-status"), Some("12"), "{method}");
        }
        let silent = caller.send(UNARY, b"", &[]).await.unwrap();
        assert_eq!(silent.field("grpc-status"), Some("13"));
        let broken = caller.send(UNARY, b"\0\0\0\0\x09abc", &[]).await.unwrap();
        assert_eq!(broken.field("grpc-status"), Some("13"));
        let large = caller.send(UNARY, b"\0\x10\0\0\0", &[]).await.unwrap();
        assert_eq!(large.field("grpc-status"), Some("8"));
    });
}

#[test]
fn metadata_comes_back_where_it_is_asked_for() {
    let server = start(offering(Behaviour::default()));
    run(async {
        let mut caller = Caller::connect(&server, "v1").await;
        let metadata = [
            ("echo-initial", "first"),
            ("echo-trailing-bin", "AAEC"),
            ("x-blob-bin", "/w=="),
        ];
        let wish = json!({"wish": {"echoMetadata": true}});
        let called = caller.call_with(UNARY, &[wish], &metadata).await.unwrap();
        let reply = &called.reply;
        assert_eq!(reply.fields.get("echo-initial").unwrap(), "first");
        assert_eq!(reply.trailers.get("echo-trailing-bin").unwrap(), "AAEC");
        let told = called.messages[0]["metadata"].as_array().unwrap();
        assert!(
            told.contains(&json!({"name": "x-blob-bin", "value": "/w=="})),
            "{told:?}"
        );
        assert!(told.contains(&json!({"name": "te", "value": "dHJhaWxlcnM="})));
    });
}

#[test]
fn messages_are_compressed_in_both_directions() {
    let server = start(offering(Behaviour::default()));
    run(async {
        let mut caller = Caller::connect(&server, "v1").await;
        for name in ["gzip", "zstd"] {
            let wish = json!({"wish": {"encoding": name, "size": 20_000}});
            let called = caller.call(UNARY, &[wish]).await;
            assert_eq!(called.field("grpc-encoding"), name);
            assert!(called.reply.body.len() < 1_000 && called.messages.len() == 1);
        }
        let hello = b"\x0a\x03bob";
        let mut body = Vec::new();
        frame(&mut body, 1, &zstd::encode_all(&hello[..], 0).unwrap());
        let path = "helloworld.Greeter/SayHello";
        let metadata = [
            ("grpc-encoding", "zstd"),
            ("grpc-accept-encoding", "gzip, zstd"),
        ];
        let reply = caller.send(path, &body, &metadata).await.unwrap();
        assert_eq!((reply.field("grpc-status"), reply.body[0]), (Some("0"), 1));
        let reply = caller.send(path, &body, &metadata[..1]).await.unwrap();
        assert_eq!((reply.field("grpc-status"), reply.body[0]), (Some("0"), 0));
        let unknown = [("grpc-encoding", "snappy")];
        let reply = caller.send(path, &body, &unknown).await.unwrap();
        assert_eq!(reply.field("grpc-status"), Some("12"));
        assert_eq!(
            reply.field("grpc-accept-encoding"),
            Some("identity,gzip,zstd")
        );
        let reply = caller.send(path, &body, &[]).await.unwrap();
        assert_eq!(reply.field("grpc-status"), Some("13"));
    });
}

#[test]
fn calls_end_in_odd_ways() {
    let server = start(offering(Behaviour::default()));
    run(async {
        let mut caller = Caller::connect(&server, "v1").await;
        let odd = |oddity: &str, code: u32| json!({"wish": {"oddity": oddity, "oddityCode": code, "status": {"code": 5}}});
        let first = caller.call(UNARY, &[odd("ODDITY_HEADERS_FIRST", 0)]).await;
        assert_eq!(
            (first.code(), first.reply.trailers.is_empty()),
            (Some(5), false)
        );
        let none = caller.call(SERVER, &[odd("ODDITY_NO_STATUS", 0)]).await;
        assert_eq!((none.code(), none.messages.len()), (None, 1));
        let bad = caller.call(UNARY, &[odd("ODDITY_BAD_STATUS", 0)]).await;
        assert_eq!(bad.field("grpc-status"), "lots");
        let plain = caller.call(UNARY, &[odd("ODDITY_HTTP", 502)]).await;
        assert_eq!((plain.reply.status, plain.code()), (502, None));
        let kind = caller.call(UNARY, &[odd("ODDITY_CONTENT_TYPE", 0)]).await;
        assert_eq!(
            (kind.field("content-type"), kind.code()),
            ("text/html", Some(5))
        );
        let half = caller.call(SERVER, &[odd("ODDITY_HALF_MESSAGE", 0)]).await;
        assert_eq!((half.messages.len(), half.code()), (1, Some(5)));
        assert!(half.reply.body.ends_with(b"\0\0\0\0\x08\x1a\x06h"));
        let flag = caller
            .call(SERVER, &[odd("ODDITY_COMPRESSED_FLAG", 0)])
            .await;
        assert!(flag.reply.body.ends_with(b"\x01\0\0\0\x02\x1a\0"));
        let reset = caller
            .call_with(SERVER, &[odd("ODDITY_RESET", 7)], &[])
            .await;
        assert_eq!(reset.unwrap_err(), Some(Reason::REFUSED_STREAM));
        let deadline = [("grpc-timeout", "20m")];
        let hang = [odd("ODDITY_HANG", 0)];
        let silent = caller
            .call_with(UNARY, &hang, &[("grpc-timeout", "x")])
            .await
            .unwrap();
        assert_eq!(silent.code(), Some(13));
        let slow = [json!({"wish": {"delay": "5s"}})];
        let late = caller.call_with(UNARY, &slow, &deadline).await.unwrap();
        assert_eq!(late.code(), Some(4));
    });
}

#[test]
fn the_flags_hold_for_calls_and_calls_can_ask_for_more() {
    let server = start(offering(Behaviour {
        delay: Some("10ms".parse().unwrap()),
        grpc_status: Some("UNAVAILABLE:0.5".parse().unwrap()),
        ..Behaviour::default()
    }));
    run(async {
        let mut caller = Caller::connect(&server, "v1").await;
        let path = "helloworld.Greeter/SayHello";
        let hello = [json!({"name": "x"})];
        let start = Instant::now();
        let mut codes = [0; 2];
        for _ in 0..40 {
            let called = caller.call(path, &hello).await;
            codes[usize::from(called.code() == Some(14))] += 1;
            assert!(matches!(called.code(), Some(0 | 14)));
        }
        assert!(start.elapsed() >= Duration::from_millis(400));
        assert!(codes.iter().all(|count| *count > 5), "{codes:?}");
        let words = |words: &'static str| [("x-drumfire", words)];
        let reset = caller
            .call_with(path, &hello, &words("reset=1&delay=0s"))
            .await;
        assert_eq!(reset.unwrap_err(), Some(Reason::INTERNAL_ERROR));
        let cut = caller
            .call_with(path, &hello, &words("cut=1&grpc-status=OK:0"))
            .await;
        assert_eq!(cut.unwrap_err(), Some(Reason::INTERNAL_ERROR));
        let code = caller
            .call_with(path, &hello, &words("grpc-status=ABORTED"))
            .await;
        assert_eq!(code.unwrap().code(), Some(10));
        let bad = caller
            .call_with(path, &hello, &words("delay=soon"))
            .await
            .unwrap();
        assert_eq!(bad.code(), Some(3));
        assert!(bad.field("grpc-message").contains("delay"));
        let last = caller.call_with(path, &hello, &words("hangup=1")).await;
        assert!(last.is_err());
    });
    let counters = server.stop();
    assert_eq!((counters.requests, counters.faults), (45, 3));
}

#[test]
fn without_the_flag_calls_are_ended_at_once() {
    let server = start(ServerOptions::default());
    run(async {
        let mut client = crate::frames::Client::connect(&server).await;
        let mut request =
            crate::frames::request(http::Method::POST, "/helloworld.Greeter/SayHello");
        let kind = "application/grpc".parse().unwrap();
        request.headers_mut().insert("content-type", kind);
        let reply = client.send(request, b"\0\0\0\0\0").await.unwrap();
        // The call ends immediately, with the code that clients use for unimplemented methods.
        assert_eq!(reply.field("grpc-status"), Some("12"));
    });
}
