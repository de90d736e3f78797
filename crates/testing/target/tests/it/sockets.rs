//! `/ws`, by tungstenite's client, and over HTTP/2 by h2's.

#![expect(clippy::unwrap_used, reason = "what goes wrong in a test ends it")]

use crate::client::{Client, start};
use crate::frames;
use bytes::Bytes;
use drumfire_target::{Running, ServerOptions};
use h2::ext::Protocol;
use http::{Method, Request};
use std::future::poll_fn;
use std::net::TcpStream;
use std::time::Duration;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::protocol::WebSocket;
use tungstenite::{Error, Message};

/// A handshake without offers.
const HANDSHAKE: &str = "Host: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                         Sec-WebSocket-Version: 13\r\n\
                         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

fn open(server: &Running, query: &str) -> Result<WebSocket<TcpStream>, String> {
    let address = server.tcp().unwrap();
    let stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let request = format!("ws://{address}/ws?{query}");
    let request = request.into_client_request().unwrap();
    let opened = tungstenite::client(request, stream);
    opened
        .map(|(socket, _)| socket)
        .map_err(|error| error.to_string())
}

/// Everything that the server sends, in words.
fn conversation(server: &Running, query: &str) -> Vec<String> {
    let mut socket = open(server, query).unwrap();
    let mut seen = Vec::new();
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => seen.push(text.to_string()),
            Ok(Message::Close(frame)) => {
                let code = frame.map_or(1005, |frame| u16::from(frame.code));
                seen.push(format!("close {code}"));
            }
            Ok(message) => seen.push(format!("{message:?}")),
            Err(Error::ConnectionClosed) => {
                seen.push("closed".to_owned());
                return seen;
            }
            Err(error) => {
                seen.push(error.to_string());
                return seen;
            }
        }
    }
}

#[test]
fn messages_come_back_as_they_were_sent() {
    let server = start(ServerOptions::default());
    for query in ["", "delay=2ms"] {
        let mut socket = open(&server, query).unwrap();
        let messages = [
            Message::text("hello é"),
            Message::binary(vec![7; 100_000]),
            Message::text(""),
            Message::binary(vec![1; 126]),
        ];
        for message in &messages {
            socket.send(message.clone()).unwrap();
        }
        for message in &messages {
            assert_eq!(socket.read().unwrap(), *message, "{query}");
        }
        socket.send(Message::Ping("are you there".into())).unwrap();
        assert_eq!(
            socket.read().unwrap(),
            Message::Pong("are you there".into())
        );
        socket.close(None).unwrap();
        assert_eq!(socket.read().unwrap(), Message::Close(None));
        assert!(matches!(socket.read(), Err(Error::ConnectionClosed)));
    }
    let counters = server.counters();
    assert_eq!((counters.requests, counters.responses), (2, 2));
}

#[test]
fn the_query_selects_what_is_sent_unasked() {
    let server = start(ServerOptions::default());
    let message = |n| format!("{{\"n\":{n},\"text\":\"This\"}}");
    let expected = [
        message(0),
        message(1),
        message(2),
        "close 4000".into(),
        "closed".into(),
    ];
    let seen = conversation(&server, "n=3&gap=1ms&size=4&code=4000");
    assert_eq!(seen, expected);
    assert_eq!(conversation(&server, "code=1005"), ["close 1005", "closed"]);
    let mut socket = open(&server, "after=2&code=1000&echo=no&ping=1ms").unwrap();
    socket.send(Message::text("one")).unwrap();
    assert_eq!(socket.read().unwrap(), Message::Ping("ping".into()));
    socket.send(Message::text("two")).unwrap();
    while let Message::Ping(_) = socket.read().unwrap() {}
    assert!(matches!(socket.read(), Err(Error::ConnectionClosed)));
}

#[test]
fn faults_are_what_their_names_promise() {
    let server = start(ServerOptions::default());
    for (fault, words) in [
        ("cut", "Connection reset without closing handshake"),
        ("half", "Connection reset without closing handshake"),
        ("masked", "Received a masked frame from server"),
        ("opcode", "Encountered invalid opcode: 3"),
        ("reserved", "Reserved bits are non-zero"),
        ("utf8", "UTF-8"),
        ("reset", "reset"),
    ] {
        let seen = conversation(&server, &format!("n=1&size=1&fault={fault}"));
        assert_eq!(seen.len(), 2, "{fault}: {seen:?}");
        assert_eq!(seen[0], "{\"n\":0,\"text\":\"T\"}");
        assert!(seen[1].contains(words), "{fault}: {seen:?}");
    }
    let refused = open(&server, "fault=accept").unwrap_err();
    assert!(refused.contains("Key mismatch"), "{refused}");
    let refused = open(&server, "status=503").unwrap_err();
    assert!(refused.contains("503"), "{refused}");
    assert_eq!(server.counters().faults, 7);
}

#[test]
fn a_request_that_asks_for_no_websocket_is_told_the_version() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    let reply = client.get("/ws");
    assert_eq!(
        (reply.status, reply.field("sec-websocket-version")),
        (426, Some("13"))
    );
    assert_eq!(client.get("/ws?n=x").status, 400);
    // A refused request ends its connection.
    let mut client = Client::connect(&server);
    let old = HANDSHAKE.replace("Version: 13", "Version: 8");
    client.send(format!("GET /ws HTTP/1.1\r\n{old}\r\n").as_bytes());
    assert_eq!(client.reply().status, 426);
}

#[test]
fn compression_and_a_subprotocol_are_those_of_the_offer() {
    let server = start(ServerOptions::default());
    let offers = "Sec-WebSocket-Protocol: chat, bus\r\n\
                  Sec-WebSocket-Extensions: x-other, permessage-deflate; client_max_window_bits\r\n";
    for (query, compressed) in [("", true), ("?deflate=no", false)] {
        let mut client = Client::connect(&server);
        client.send(format!("GET /ws{query} HTTP/1.1\r\n{HANDSHAKE}{offers}\r\n").as_bytes());
        let reply = client.reply();
        assert_eq!(
            (reply.status, reply.field("sec-websocket-protocol")),
            (101, Some("chat"))
        );
        let accept = reply.field("sec-websocket-accept");
        assert_eq!(accept, Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        let extensions = reply.field("sec-websocket-extensions");
        assert_eq!(extensions, compressed.then_some("permessage-deflate"));
        if compressed {
            // RFC 7692 section 7.2.3.2: `Hello` twice, the second time from the context.
            client.send(b"\xc1\x87\0\0\0\0\xf2\x48\xcd\xc9\xc9\x07\x00");
            let first = client.bytes(2);
            assert_eq!(first[0], 0xc1);
            client.bytes(usize::from(first[1]));
            client.send(b"\xc1\x85\0\0\0\0\xf2\x00\x11\x00\x00");
            assert_eq!(client.bytes(1), [0xc1]);
        } else {
            client.send(b"\x81\x85\0\0\0\0Hello");
            assert_eq!(client.bytes(7), b"\x81\x05Hello");
        }
    }
}

#[test]
fn clients_that_violate_the_protocol_are_closed_with_the_reason() {
    let server = start(ServerOptions::default());
    for (frame, code) in [
        (&b"\x81\x05Hello"[..], 1002_u16),
        (b"\x80\x80\0\0\0\0", 1002),
        (b"\x81\x82\0\0\0\0\xc3\x28", 1007),
        (b"\xc1\x80\0\0\0\0", 1002),
        (b"\x82\xff\x00\x00\x00\xff\0\0\0\0\0\0\0\0", 1009),
    ] {
        let mut client = Client::connect(&server);
        client.send(format!("GET /ws HTTP/1.1\r\n{HANDSHAKE}\r\n").as_bytes());
        assert_eq!(client.reply().status, 101);
        client.send(frame);
        let [high, low] = code.to_be_bytes();
        assert_eq!(
            client.bytes(4),
            [0x88, 2, high, low],
            "{}",
            frame.escape_ascii()
        );
    }
    assert_eq!(server.counters().refused, 5);
}

/// The bytes that the server sends on a stream of HTTP/2 until it ends, and whether it was reset.
async fn over_http2(client: &mut frames::Client, query: &str, sent: &[u8]) -> (Vec<u8>, bool) {
    let request = Request::builder()
        .method(Method::CONNECT)
        .uri(format!("http://test/ws?{query}"))
        .header("sec-websocket-version", "13")
        .header("sec-websocket-protocol", "bus")
        .extension(Protocol::from_static("websocket"))
        .body(())
        .unwrap();
    let (response, mut stream) = client.requests.send_request(request, false).unwrap();
    let response = response.await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["sec-websocket-protocol"], "bus");
    assert!(!response.headers().contains_key("sec-websocket-accept"));
    // A server that has ended the stream takes no bytes.
    if !sent.is_empty() {
        let bytes = Bytes::copy_from_slice(sent);
        stream.send_data(bytes, false).unwrap();
    }
    let (mut body, mut received) = (response.into_body(), Vec::new());
    while let Some(data) = poll_fn(|cx| body.poll_data(cx)).await {
        let Ok(data) = data else {
            return (received, true);
        };
        body.flow_control().release_capacity(data.len()).unwrap();
        received.extend_from_slice(&data);
    }
    (received, false)
}

#[test]
fn websockets_over_http2_are_streams_beside_others() {
    let server = start(ServerOptions::default());
    frames::run(async {
        let mut client = frames::Client::connect(&server).await;
        assert_eq!(client.get("/plaintext").await.unwrap().status, 200);
        assert!(client.requests.is_extended_connect_protocol_enabled());
        let close = b"\x88\x82\0\0\0\0\x0f\xa0";
        let sent = [&b"\x81\x82\0\0\0\0hi"[..], close].concat();
        let echo = b"\x81\x02hi\x88\x02\x0f\xa0".to_vec();
        assert_eq!(over_http2(&mut client, "", &sent).await, (echo, false));
        let pushed = b"\x81\x12{\"n\":0,\"text\":\"T\"}".to_vec();
        let reset = over_http2(&mut client, "n=1&size=1&fault=reset", b"").await;
        assert_eq!(reset, (pushed.clone(), true));
        let cut = over_http2(&mut client, "n=1&size=1&fault=cut", b"").await;
        assert_eq!(cut, (pushed, false));
        let refused = client.get("/ws").await.unwrap();
        assert_eq!(refused.status, 426);
        assert_eq!(client.get("/plaintext").await.unwrap().status, 200);
    });
    let counters = server.stop();
    assert_eq!(
        (counters.requests, counters.responses, counters.faults),
        (6, 6, 2)
    );
}
