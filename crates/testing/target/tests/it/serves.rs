//! A healthy server, from the client's point of view.

use crate::client::{Client, Reply, start};
use drumfire_target::{ArrivalLog, Listen, ServerOptions};
use flate2::read::GzDecoder;
use std::io::{Read as _, Write as _};
use std::net::{Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;

#[test]
fn keep_alive_gets_one_body_after_another() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    for _ in 0..3 {
        let Reply { status, body, .. } = client.get("/");
        assert_eq!((status, body.len()), (200, 100));
    }
    assert_eq!(client.get("/plaintext").body, b"Hello, World!");
    assert_eq!(client.get("/?size=0").body.len(), 0);
    assert_eq!(client.get("/?size=70000").body.len(), 70_000);
    assert_eq!(client.get("/?size=300kB").body.len(), 300_000);
    assert_eq!(client.get("/?size=30MB").body.len(), 30_000_000);
    let counters = server.stop();
    assert_eq!((counters.requests, counters.responses), (8, 8));
    assert_eq!((counters.connections, counters.connections_ended), (1, 1));
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    let mut requests = String::new();
    let paths = [
        "/plaintext",
        "/",
        "/?size=20000",
        "/echo?n=1",
        "/?size=400kB",
    ];
    for path in paths.iter().cycle().take(500) {
        requests.push_str(&format!("GET {path} HTTP/1.1\r\nHost: t\r\n\r\n"));
    }
    // The server stops reading while its answers are not read, so the test must do both
    // concurrently.
    let writer = TcpStream::connect(server.tcp().unwrap()).unwrap();
    let mut reader = Client::over(writer.try_clone().unwrap());
    let sender = std::thread::spawn(move || (&writer).write_all(requests.as_bytes()));
    for _ in 0..100 {
        assert_eq!(reader.reply().body, b"Hello, World!");
        assert_eq!(reader.reply().body.len(), 100);
        assert_eq!(reader.reply().body.len(), 20_000);
        assert!(reader.reply().text().starts_with("GET /echo?n=1"));
        assert_eq!(reader.reply().body.len(), 400_000);
    }
    sender.join().unwrap().unwrap();
    // A frequently repeated request is answered from the cache.
    client.get("/plaintext");
    client.send(
        "GET /plaintext HTTP/1.1\r\nHost: test\r\n\r\n"
            .repeat(1_000)
            .as_bytes(),
    );
    for _ in 0..1_000 {
        assert_eq!(client.reply().body, b"Hello, World!");
    }
    let counters = server.stop();
    assert_eq!((counters.requests, counters.responses), (1_501, 1_501));
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    let request = b"POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n\
        3\r\nabc\r\n0\r\n\r\n";
    for _ in 0..2 {
        for byte in request {
            client.send(&[*byte]);
        }
        assert!(client.reply().text().ends_with("body-length: 3\n"));
    }
}

#[test]
fn an_echo_tells_what_was_sent() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    client.send(
        b"PUT /echo?a=b HTTP/1.1\r\nHost: t\r\nX-Odd: \xff\r\nContent-Length: 5\r\n\r\nhello",
    );
    assert_eq!(
        client.reply().text(),
        "PUT /echo?a=b HTTP/1.1\nhost: t\nx-odd: \\xff\ncontent-length: 5\nbody-length: 5\n"
    );
}

#[test]
fn a_waiting_client_is_told_to_go_on() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    client.send(
        b"POST /echo HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
    );
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(b"hi");
    assert!(client.reply().text().ends_with("body-length: 2\n"));
}

#[test]
fn head_describes_and_sends_nothing() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    for _ in 0..2 {
        client.send(b"HEAD /?size=7 HTTP/1.1\r\nHost: t\r\n\r\n");
        assert!(client.head().contains("\r\nContent-Length: 7\r\n"));
    }
    assert_eq!(client.get("/").status, 200);
}

#[test]
fn connections_end_as_the_client_wishes() {
    let server = start(ServerOptions::default());
    let ends = |request: &[u8]| {
        let mut client = Client::connect(&server);
        client.send(request);
        let reply = client.reply();
        assert_eq!(client.rest().unwrap(), b"");
        reply.field("connection").map(str::to_owned)
    };
    let close = Some("close".to_owned());
    assert_eq!(ends(b"GET / HTTP/1.0\r\n\r\n"), close);
    assert_eq!(
        ends(b"GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"),
        close
    );
    let mut client = Client::connect(&server);
    for _ in 0..3 {
        client.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        assert_eq!(client.reply().field("connection"), Some("keep-alive"));
    }
}

#[test]
fn an_http10_client_gets_no_chunks() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    client.send(b"GET /?chunked=10&size=25 HTTP/1.0\r\n\r\n");
    assert_eq!(client.reply().field("content-length"), Some("25"));
    let mut client = Client::connect(&server);
    let reply = client.get("/?chunked=10&size=25");
    assert_eq!(reply.field("content-length"), None);
    assert_eq!(reply.body.len(), 25);
}

#[test]
fn a_client_that_stops_sending_still_gets_its_answer() {
    let server = start(ServerOptions::default());
    let stream = TcpStream::connect(server.tcp().unwrap()).unwrap();
    let mut client = Client::over(stream.try_clone().unwrap());
    client.send(b"GET /?delay=30ms HTTP/1.1\r\nHost: t\r\n\r\n");
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.reply().status, 200);
    assert_eq!(client.rest().unwrap(), b"");
}

#[test]
fn redirects_lead_to_their_end() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    let mut target = "/redirect?to=/plaintext?a=b%26c&n=3".to_owned();
    for _ in 0..3 {
        let reply = client.get(&target);
        assert_eq!(reply.status, 302);
        target = reply.field("location").unwrap().to_owned();
    }
    assert_eq!(target, "/plaintext?a=b&c");
    assert_eq!(client.get(&target).body, b"Hello, World!");
    assert_eq!(client.get("/redirect?status=307").status, 307);
}

#[test]
fn bodies_are_compressed_for_who_accepts_it() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    let plain = client.get("/gzip?size=50000");
    assert_eq!(
        (plain.field("content-encoding"), plain.body.len()),
        (None, 50_000)
    );
    client.send(b"GET /gzip?size=50000 HTTP/1.1\r\nHost: t\r\nAccept-Encoding: br, gzip\r\n\r\n");
    let packed = client.reply();
    assert_eq!(packed.field("content-encoding"), Some("gzip"));
    assert!(packed.body.len() < 5_000);
    let mut unpacked = Vec::new();
    GzDecoder::new(&*packed.body)
        .read_to_end(&mut unpacked)
        .unwrap();
    assert_eq!(unpacked, plain.body);
}

#[test]
fn counters_and_arrivals_tell_of_the_load_alone() {
    let server = start(ServerOptions {
        arrival_log: ArrivalLog::First(3),
        ..ServerOptions::default()
    });
    let mut client = Client::connect(&server);
    for _ in 0..5 {
        client.get("/");
    }
    let counters = client.get("/counters");
    assert_eq!(counters.field("content-type"), Some("application/json"));
    assert!(counters.text().contains("\"requests\":5,\"responses\":5,"));
    let printed: Vec<u64> = client
        .get("/arrivals")
        .text()
        .lines()
        .map(|line| line.parse().unwrap())
        .collect();
    let logged: Vec<u64> = server.arrivals().iter().map(|at| at.0).collect();
    assert_eq!(printed, logged);
    assert!(logged.len() == 3 && logged.is_sorted());
    assert_eq!(server.counters().requests, 5);
}

#[test]
fn several_workers_share_one_port() {
    let server = start(ServerOptions {
        threads: 3,
        ..ServerOptions::default()
    });
    let mut clients: Vec<Client> = (0..30).map(|_| Client::connect(&server)).collect();
    for client in &mut clients {
        assert_eq!(client.get("/").status, 200);
    }
    let counters = server.stop();
    assert_eq!((counters.connections, counters.requests), (30, 30));
}

#[test]
fn unix_sockets_serve_as_well() {
    let path = std::env::temp_dir().join(format!("drumfire-{}.socket", std::process::id()));
    let server = drumfire_target::Server::start(ServerOptions {
        listen: vec![Listen::Unix(path.clone())],
        threads: 2,
        ..ServerOptions::default()
    })
    .unwrap();
    let mut local = Client::over(UnixStream::connect(&path).unwrap());
    assert_eq!(local.get("/").status, 200);
    assert_eq!(server.stop().requests, 1);
    assert!(!path.exists());
}

#[test]
fn ipv6_serves_as_well() {
    let v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    if let Err(error) = TcpListener::bind(v6) {
        // Nothing can be installed to change this, so it is not a failure in CI.
        eprintln!("skipped: this machine has no IPv6 on the loopback: {error}");
        return;
    }
    let server = drumfire_target::Server::start(ServerOptions {
        listen: vec![Listen::Tcp(v6)],
        threads: 2,
        ..ServerOptions::default()
    })
    .unwrap();
    assert!(server.tcp().unwrap().is_ipv6());
    assert_eq!(Client::connect(&server).get("/").status, 200);
    assert_eq!(server.stop().requests, 1);
}
