//! HTTP/2 without TLS, and HTTP/1.1 on the same port.

use crate::frames::{Client, request, reset, run, start};
use drumfire_target::{ArrivalLog, Behaviour, Discipline, ServerOptions};
use h2::Reason;
use http::Method;
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

fn behaves(behaviour: Behaviour) -> ServerOptions {
    ServerOptions {
        behaviour,
        ..ServerOptions::default()
    }
}

#[test]
fn both_protocols_share_a_port_and_its_counters() {
    let server = start(ServerOptions {
        arrival_log: ArrivalLog::First(100),
        ..ServerOptions::default()
    });
    run(async {
        let mut client = Client::connect(&server).await;
        for _ in 0..3 {
            let reply = client.get("/plaintext").await.unwrap();
            assert_eq!((reply.status, reply.text()), (200, "Hello, World!"));
            assert_eq!(reply.field("content-length"), Some("13"));
        }
        for size in [0, 1, 20_000, 300_000, 30_000_000] {
            let reply = client.get(&format!("/?size={size}")).await.unwrap();
            assert_eq!(reply.body.len(), size);
        }
        let head = client
            .send(request(Method::HEAD, "/?size=7"), b"")
            .await
            .unwrap();
        assert_eq!(
            (head.field("content-length"), head.body.len()),
            (Some("7"), 0)
        );
        let post = client
            .send(request(Method::POST, "/echo?a=b"), b"hello")
            .await
            .unwrap();
        assert_eq!(
            post.text(),
            "POST /echo?a=b HTTP/2\nhost: test\nbody-length: 5\n"
        );
        let odd = client
            .get("/?status=503&delay=3ms&chunked=9")
            .await
            .unwrap();
        assert_eq!((odd.status, odd.body.len()), (503, 100));
        assert_eq!(odd.field("x-drumfire-delay-ns"), Some("3000000"));
        assert_eq!(odd.field("content-length"), None);
        let arrivals = client.get("/arrivals").await.unwrap();
        assert_eq!(arrivals.text().lines().count(), 11);
    });
    let mut old = crate::client::Client::connect(&server);
    assert_eq!(old.get("/plaintext").body, b"Hello, World!");
    assert_eq!(server.arrivals().len(), 12);
    let counters = server.stop();
    assert_eq!((counters.requests, counters.responses), (12, 12));
    assert_eq!((counters.connections, counters.connections_ended), (2, 2));
    assert_eq!((counters.refused, counters.faults), (0, 0));
}

#[test]
fn a_preface_may_come_byte_by_byte() {
    let server = start(ServerOptions::default());
    let mut stream = std::net::TcpStream::connect(server.tcp().unwrap()).unwrap();
    stream.set_nodelay(true).unwrap();
    // With an empty SETTINGS frame.
    for byte in b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0" {
        stream.write_all(&[*byte]).unwrap();
    }
    let mut head = [0; 9];
    stream.read_exact(&mut head).unwrap();
    assert_eq!((head[3], &head[5..]), (4, &[0; 4][..]));
}

#[test]
fn broken_frames_end_the_connection_alone() {
    let server = start(ServerOptions::default());
    let mut stream = std::net::TcpStream::connect(server.tcp().unwrap()).unwrap();
    // DATA on a stream that was never opened.
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x05")
        .unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    let goaway = all.len() - 17;
    assert_eq!(all[goaway + 3], 7);
    run(async {
        let mut client = Client::connect(&server).await;
        assert_eq!(client.get("/").await.unwrap().status, 200);
    });
    let counters = server.stop();
    assert_eq!((counters.refused, counters.requests), (1, 1));
}

#[test]
fn small_windows_hold_a_body_back_and_lose_nothing() {
    let server = start(ServerOptions::default());
    run(async {
        let mut builder = h2::client::Builder::new();
        builder
            .initial_window_size(100)
            .initial_connection_window_size(70_000);
        let mut client = Client::connect_with(&server, builder).await;
        let (small, large) = (client.get("/?size=5000"), client.get("/?size=200kB"));
        assert_eq!(small.await.unwrap().body.len(), 5_000);
        assert_eq!(large.await.unwrap().body.len(), 200_000);
    });
}

#[test]
fn a_stream_is_reset_and_the_connection_goes_on() {
    let server = start(ServerOptions::default());
    run(async {
        let mut client = Client::connect(&server).await;
        let (ill, well) = (client.get("/?reset=1&delay=5ms"), client.get("/"));
        assert_eq!(reset(ill.await), Some(Reason::INTERNAL_ERROR));
        assert_eq!(well.await.unwrap().status, 200);
        // Half of the body, then a reset instead of the rest.
        let (head, _) = client
            .requests
            .send_request(request(Method::GET, "/?cut=1&size=1000"), true)
            .unwrap();
        let mut body = head.await.unwrap().into_body();
        let mut length = 0;
        let error = loop {
            match std::future::poll_fn(|cx| body.poll_data(cx)).await.unwrap() {
                Ok(data) => length += data.len(),
                Err(error) => break error,
            }
        };
        assert_eq!(
            (length, error.reason()),
            (500, Some(Reason::INTERNAL_ERROR))
        );
        let bad = client.get("/?case=07-minor-2").await.unwrap();
        assert_eq!((bad.status, bad.text().contains("HTTP/1.1")), (400, true));
    });
    let counters = server.stop();
    assert_eq!((counters.requests, counters.responses), (3, 1));
    assert_eq!((counters.faults, counters.refused), (2, 1));
    assert_eq!(counters.connections, 1);
}

#[test]
fn connections_end_as_asked() {
    let server = start(ServerOptions::default());
    run(async {
        let mut client = Client::connect(&server).await;
        // Requests in flight are answered after the GOAWAY.
        let (slow, last) = (client.get("/?delay=50ms"), client.get("/?close=1"));
        assert_eq!(last.await.unwrap().status, 200);
        assert_eq!(slow.await.unwrap().status, 200);
        client.end.await.unwrap().unwrap();
        let mut client = Client::connect(&server).await;
        let held = client.get("/?delay=1m");
        assert!(client.get("/?hangup=1").await.is_err());
        assert!(held.await.is_err());
    });
    assert_eq!(server.stop().connections_ended, 2);
    let server = start(behaves(Behaviour {
        close_after: Some(3),
        ..Behaviour::default()
    }));
    run(async {
        let mut client = Client::connect(&server).await;
        for _ in 0..3 {
            assert_eq!(client.get("/").await.unwrap().status, 200);
        }
        client.end.await.unwrap().unwrap();
    });
}

#[test]
fn who_leaves_is_not_answered() {
    let server = start(ServerOptions::default());
    run(async {
        let mut client = Client::connect(&server).await;
        // The delay is long enough for the server to receive the reset before it answers.
        let held = request(Method::GET, "/?delay=800ms");
        let (response, _) = client.requests.send_request(held, true).unwrap();
        drop(response);
        assert_eq!(client.get("/?delay=850ms").await.unwrap().status, 200);
    });
    let counters = server.stop();
    assert_eq!((counters.requests, counters.responses), (2, 1));
}

#[test]
fn a_goaway_names_the_last_request_that_is_served() {
    let server = start(ServerOptions {
        goaway_after: Some(3),
        ..ServerOptions::default()
    });
    run(async {
        let mut client = Client::connect(&server).await;
        let replies: Vec<_> = (0..5).map(|_| client.get("/?delay=10ms")).collect();
        for (n, reply) in replies.into_iter().enumerate() {
            match reply.await {
                Ok(reply) => assert!(n < 3 && reply.status == 200),
                Err(error) => assert!(n >= 3 && error.is_go_away(), "{n}: {error}"),
            }
        }
        client.end.await.unwrap().unwrap();
    });
    let counters = server.stop();
    assert_eq!((counters.requests, counters.responses), (3, 3));
    assert_eq!(counters.connections_ended, 1);
}

#[test]
fn streams_are_limited_and_delays_run_side_by_side() {
    let server = start(ServerOptions {
        max_streams: 7,
        ..behaves(Behaviour {
            delay: Some("500ms".parse().unwrap()),
            ..Behaviour::default()
        })
    });
    run(async {
        let mut client = Client::connect(&server).await;
        client.get("/").await.unwrap();
        assert_eq!(client.requests.current_max_send_streams(), 7);
        let start = Instant::now();
        // If they were handled one after the other, the test would wait too long for the last.
        let _late: Vec<_> = (0..4).map(|_| client.get("/?delay=5m")).collect();
        let soon: Vec<_> = (0..3).map(|_| client.get("/")).collect();
        for reply in soon {
            assert_eq!(reply.await.unwrap().status, 200);
        }
        assert!(start.elapsed() >= Duration::from_millis(500));
    });
}

#[test]
fn a_serial_server_serves_both_protocols_one_by_one() {
    let server = start(ServerOptions {
        discipline: Discipline::Serial,
        ..behaves(Behaviour {
            delay: Some("5ms".parse().unwrap()),
            ..Behaviour::default()
        })
    });
    run(async {
        let mut client = Client::connect(&server).await;
        let start = Instant::now();
        let replies: Vec<_> = (0..10).map(|_| client.get("/")).collect();
        for reply in replies {
            reply.await.unwrap();
        }
        assert!(start.elapsed() >= Duration::from_millis(50));
    });
}
