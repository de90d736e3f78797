//! Options and requests that a server refuses.

#![expect(clippy::unwrap_used, reason = "what goes wrong in a test ends it")]

use crate::client::{Client, start};
use drumfire_target::{Discipline, Exposure, Listen, Server, ServerOptions};

fn start_error(options: ServerOptions) -> String {
    Server::start(options).unwrap_err().to_string()
}

fn listen_on(address: &str) -> Vec<Listen> {
    vec![Listen::Tcp(address.parse().unwrap())]
}

#[test]
fn a_taken_port_is_named_with_the_remedy() {
    let server = start(ServerOptions::default());
    let address = server.tcp().unwrap();
    // Several threads of a server share its port, but two servers do not.
    for threads in [1, 2] {
        let error = start_error(ServerOptions {
            listen: vec![Listen::Tcp(address)],
            threads,
            ..ServerOptions::default()
        });
        let expected = format!(
            "{address} is in use by another process; stop it, choose another port, or use port 0 \
             to pick a free one"
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn other_machines_need_leave() {
    for address in ["0.0.0.0:0", "[::]:0", "[::ffff:192.0.2.1]:0"] {
        let error = start_error(ServerOptions {
            listen: listen_on(address),
            ..ServerOptions::default()
        });
        assert!(error.contains("--expose"), "{error}");
    }
    let exposed = Server::start(ServerOptions {
        listen: listen_on("0.0.0.0:0"),
        exposure: Exposure::Anywhere,
        ..ServerOptions::default()
    });
    assert!(exposed.is_ok());
}

#[test]
fn senseless_options_are_refused() {
    let error = |options| start_error(options);
    let threads = |threads| ServerOptions {
        listen: listen_on("127.0.0.1:0"),
        threads,
        ..ServerOptions::default()
    };
    assert!(error(threads(0)).contains("use 1 to 256"));
    assert!(error(threads(257)).contains("use 1 to 256"));
    let serial = error(ServerOptions {
        discipline: Discipline::Serial,
        ..threads(2)
    });
    assert!(serial.contains("--serial"), "{serial}");
    let nowhere = error(ServerOptions {
        listen: Vec::new(),
        ..ServerOptions::default()
    });
    assert!(nowhere.contains("127.0.0.1:0"), "{nowhere}");
}

#[test]
fn an_existing_path_is_left_alone() {
    let path = std::env::temp_dir().join(format!("drumfire-{}.file", std::process::id()));
    std::fs::write(&path, "precious").unwrap();
    let error = start_error(ServerOptions {
        listen: vec![Listen::Unix(path.clone())],
        ..ServerOptions::default()
    });
    assert!(error.contains("exists already"), "{error}");
    assert!(path.exists());
    std::fs::remove_file(&path).unwrap();
}

/// Sends a request that is refused; the answer must come, and then the end of the stream.
fn refused(server: &drumfire_target::Running, request: &[u8]) -> (u16, String) {
    let mut client = Client::connect(server);
    client.send(request);
    let reply = client.reply();
    assert_eq!(reply.field("connection"), Some("close"));
    assert_eq!(client.rest().unwrap(), b"");
    (reply.status, reply.text().to_owned())
}

#[test]
fn malformed_requests_get_an_answer_and_the_end() {
    let server = start(ServerOptions::default());
    let requests: [(&[u8], u16); 6] = [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03", 400),
        (b"PRI * HTTP/2.0\r\n\r\nGET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\nnonsense \r\n\r\n", 200),
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            400,
        ),
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000000\r\n\r\n",
            413,
        ),
    ];
    for (request, status) in requests {
        if status == 200 {
            let mut client = Client::connect(&server);
            client.send(request);
            assert_eq!((client.reply().status, client.reply().status), (200, 400));
        } else {
            assert_eq!(refused(&server, request).0, status);
        }
    }
    let counters = server.stop();
    // The request with the broken chunk counts as arrived.
    assert_eq!(
        (counters.refused, counters.requests, counters.responses),
        (6, 2, 1)
    );
}

#[test]
fn an_endless_head_is_cut_off() {
    let server = start(ServerOptions::default());
    let mut request = b"GET / HTTP/1.1\r\nHost: a\r\nX: ".to_vec();
    request.resize(200_000, b'x');
    assert_eq!(refused(&server, &request).0, 431);
}

#[test]
fn bad_parameters_are_explained() {
    let server = start(ServerOptions::default());
    let explained = |target: &str| {
        refused(
            &server,
            format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes(),
        )
    };
    for (target, explanation) in [
        (
            "/?delay=soon",
            "delay: `soon` is not a delay; use const:5ms",
        ),
        ("/?size=big", "size: `big` is not a size"),
        ("/?status=99", "status: `99` is not a status"),
        ("/?chunked=0", "chunked: 1 byte to 4 GiB"),
        ("/?case=nope", "case: unknown name `nope`"),
        ("/redirect?n=0", "n: 1 to 1000 redirects"),
        ("/redirect?to=a%0d%0aX:y", "to: a URL must be ASCII"),
        (
            "/?chunked=1&size=1GB",
            "size: a compressed or chunked body can have at most",
        ),
    ] {
        let (status, text) = explained(target);
        assert_eq!(status, 400);
        assert!(text.starts_with(explanation), "{target}: {text}");
    }
}
