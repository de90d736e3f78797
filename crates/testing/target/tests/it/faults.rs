//! Requested faults, and their exact form.

#![expect(clippy::unwrap_used, reason = "what goes wrong in a test ends it")]

use crate::client::{Client, start};
use drumfire_target::{Behaviour, Discipline, Running, ServerOptions};
use std::io::ErrorKind;
use std::time::{Duration, Instant};

fn with(behaviour: Behaviour) -> Running {
    start(ServerOptions {
        behaviour,
        ..ServerOptions::default()
    })
}

fn delay_ns(reply: &crate::client::Reply) -> u64 {
    reply.field("x-drumfire-delay-ns").unwrap().parse().unwrap()
}

#[test]
fn a_delay_holds_the_answer_back_and_tells_how_long() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    for target in [
        "/?delay=20ms",
        "/?delay=exp:5ms",
        "/?delay=lognormal:5ms,0.5",
    ] {
        let before = Instant::now();
        let reply = client.get(target);
        assert!(
            before.elapsed() >= Duration::from_nanos(delay_ns(&reply)),
            "{target}"
        );
    }
    assert_eq!(delay_ns(&client.get("/?delay=20ms")), 20_000_000);
    assert_eq!(client.get("/").field("x-drumfire-delay-ns"), None);
}

#[test]
fn a_seed_repeats_every_draw() {
    let draws = |seed| {
        let server = start(ServerOptions {
            seed,
            behaviour: Behaviour {
                delay: Some("exp:100us".parse().unwrap()),
                status: Some("500:0.3".parse().unwrap()),
                ..Behaviour::default()
            },
            ..ServerOptions::default()
        });
        let mut client = Client::connect(&server);
        let mut draw = || {
            let reply = client.get("/");
            (delay_ns(&reply), reply.status)
        };
        (0..50).map(|_| draw()).collect::<Vec<_>>()
    };
    let first = draws(1);
    assert_eq!(draws(1), first);
    assert_ne!(draws(2), first);
    let failed = first.iter().filter(|(_, status)| *status == 500).count();
    assert!((5..=25).contains(&failed), "{failed}");
}

#[test]
fn delays_run_side_by_side() {
    let server = start(ServerOptions::default());
    let mut clients: Vec<Client> = (0..60).map(|_| Client::connect(&server)).collect();
    // If they were handled one after the other, the test would wait too long for the last.
    let (late, soon) = clients.split_at_mut(30);
    for client in late {
        client.send(b"GET /?delay=5m HTTP/1.1\r\nHost: t\r\n\r\n");
    }
    let before = Instant::now();
    for client in &mut *soon {
        client.send(b"GET /?delay=200ms HTTP/1.1\r\nHost: t\r\n\r\n");
    }
    for client in soon {
        assert_eq!(client.reply().status, 200);
    }
    assert!(before.elapsed() >= Duration::from_millis(200));
}

#[test]
fn a_serial_server_takes_one_at_a_time_in_order() {
    let server = start(ServerOptions {
        discipline: Discipline::Serial,
        behaviour: Behaviour {
            delay: Some("20ms".parse().unwrap()),
            ..Behaviour::default()
        },
        ..ServerOptions::default()
    });
    let mut clients: Vec<Client> = (0..10).map(|_| Client::connect(&server)).collect();
    let before = Instant::now();
    for client in &mut clients {
        client.send(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    }
    for (n, client) in (1..).zip(&mut clients) {
        let reply = client.reply();
        let elapsed = before.elapsed();
        assert_eq!(delay_ns(&reply), 20_000_000);
        assert!(elapsed >= Duration::from_millis(20) * n, "{n}: {elapsed:?}");
    }
    // Requests for counters do not queue.
    for client in &mut clients[1..] {
        client.send(b"GET /?delay=5m HTTP/1.1\r\nHost: t\r\n\r\n");
    }
    assert_eq!(clients[0].get("/counters").status, 200);
}

#[test]
fn statuses_come_as_asked() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    assert_eq!(client.get("/?status=503").status, 503);
    let reply = client.get("/?status=204");
    assert_eq!((reply.status, reply.field("content-length")), (204, None));
    assert_eq!(client.get("/?status=500:0").status, 200);
}

#[test]
fn connections_close_after_an_answer() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    assert_eq!(client.get("/?close=1").field("connection"), Some("close"));
    assert_eq!(client.rest().unwrap(), b"");

    let server = with(Behaviour {
        close_after: Some(3),
        ..Behaviour::default()
    });
    for _ in 0..2 {
        let mut client = Client::connect(&server);
        assert_eq!(client.get("/").field("connection"), None);
        assert_eq!(client.get("/").field("connection"), None);
        assert_eq!(client.get("/").field("connection"), Some("close"));
        assert_eq!(client.rest().unwrap(), b"");
    }
    assert_eq!(server.stop().responses, 6);
}

#[test]
fn connections_end_in_place_of_an_answer() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    client.send(b"GET /?hangup=1 HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_eq!(client.rest().unwrap(), b"");
    let mut client = Client::connect(&server);
    client.send(b"GET /?reset=100% HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_eq!(
        client.rest().unwrap_err().kind(),
        ErrorKind::ConnectionReset
    );
    let counters = server.stop();
    assert_eq!(
        (counters.requests, counters.responses, counters.faults),
        (2, 0, 2)
    );
}

#[test]
fn a_body_drips() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    for target in ["/?size=50&drip=10/20ms", "/?size=50&chunked=5&drip=10/20ms"] {
        let before = Instant::now();
        assert_eq!(client.get(target).body.len(), 50);
        let elapsed = before.elapsed();
        assert!(
            elapsed >= Duration::from_millis(80),
            "{target}: {elapsed:?}"
        );
    }
    // A second request during the drip neither speeds it up nor mixes with it.
    let before = Instant::now();
    client.send(b"GET /?size=5&drip=1/20ms HTTP/1.1\r\nHost: t\r\n\r\n");
    client.send(b"GET /plaintext HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_eq!(client.reply().body.len(), 5);
    assert!(before.elapsed() >= Duration::from_millis(80));
    assert_eq!(client.reply().body, b"Hello, World!");
}

#[test]
fn a_stall_stops_everything_for_its_length() {
    let server = start(ServerOptions {
        stall: Some("200ms/400ms".parse().unwrap()),
        ..ServerOptions::default()
    });
    let mut client = Client::connect(&server);
    let begun = Instant::now();
    let (mut short, mut long) = (0, 0);
    // Each stall delays the one request in progress, unless the client was paused when it began;
    // without stalls, an answer takes almost no time.
    while long < 3 || short < 10 {
        let before = Instant::now();
        client.get("/");
        let waited = before.elapsed();
        *if waited > Duration::from_millis(150) {
            &mut long
        } else {
            &mut short
        } += 1;
        let patience = Duration::from_secs(60);
        assert!(begun.elapsed() < patience, "{short} short, {long} long");
    }
    assert_eq!(server.stop().requests, short + long);
}

#[test]
fn a_stalled_server_stops_at_once() {
    let server = start(ServerOptions {
        stall: Some("599s/600s".parse().unwrap()),
        ..ServerOptions::default()
    });
    let mut client = Client::connect(&server);
    let before = Instant::now();
    client.send(b"GET /?delay=1s HTTP/1.1\r\nHost: t\r\n\r\n");
    drop(server);
    assert!(before.elapsed() < Duration::from_secs(60));
}

#[test]
fn odd_responses_come_by_name() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    let names = client.get("/cases");
    assert!(names.text().lines().any(|name| name == "00-control"));
    assert_eq!(client.get("/?case=00-control").text(), "hello");
    assert_eq!(client.get("/plaintext").status, 200);
    for case in drumfire_corpus::all() {
        use drumfire_corpus::StreamEnd;
        let target = format!("GET /?case={} HTTP/1.1\r\nHost: t\r\n\r\n", case.name);
        let mut client = Client::connect(&server);
        client.send(target.as_bytes());
        let bytes = case.bytes();
        assert_eq!(client.bytes(bytes.len()), bytes, "{}", case.name);
        match case.end {
            StreamEnd::Open => assert_eq!(client.get("/").status, 200, "{}", case.name),
            StreamEnd::Fin => assert_eq!(client.rest().unwrap(), b"", "{}", case.name),
            StreamEnd::Rst => {
                let error = client.rest().unwrap_err().kind();
                assert_eq!(error, ErrorKind::ConnectionReset, "{}", case.name);
            }
        }
    }
}
