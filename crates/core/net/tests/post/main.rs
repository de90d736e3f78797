//! Requests to receivers of metrics, and how their answers are interpreted.

use drumfire_net::{PostAnswer, PostTarget};
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a request may take; one that takes this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server's next step after its answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Close,
    /// Waits for the client to close.
    Wait,
}

/// Starts a server of one connection that reads this much of a request's content before it answers;
/// its thread returns the request's head.
fn serve(answer: String, reads: usize, then: Then) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let head = read_head(&mut stream, reads);
        let _gone = stream.write_all(answer.as_bytes());
        if then == Then::Wait {
            let _closed = stream.read(&mut [0]);
        }
        head
    });
    (format!("http://{address}/write?db=x"), thread)
}

/// Reads a head and `reads` further bytes.
fn read_head(stream: &mut TcpStream, reads: usize) -> String {
    let mut bytes = Vec::new();
    let mut chunk = [0; 1_024];
    loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end.filter(|end| bytes.len() >= end + 4 + reads) {
            return String::from_utf8_lossy(&bytes[..end + 4]).into_owned();
        }
        match stream.read(&mut chunk).expect("a request") {
            0 => return String::from_utf8_lossy(&bytes).into_owned(),
            count => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}

fn post(url: &str, content: &[u8]) -> io::Result<PostAnswer> {
    let target = PostTarget::new(url, None, PATIENCE).expect("a URL");
    target.post([("X-Token", &b"a b"[..])], content)
}

/// A complete answer is returned at once, whether or not the server closes the connection after it.
#[test]
fn answers_are_those_that_servers_give() {
    let partial = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                   3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n";
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
                   HTTP/1.1 204 No Content\r\n\r\n";
    let refusal = "HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n\
                   1d\r\nout of order sample; rejected\r\n0\r\n\r\n";
    let moved = "HTTP/1.1 308 Permanent Redirect\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n";
    let later =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 4\r\nContent-Length: 4\r\n\r\nbusy";
    let closed = "HTTP/1.1 200 OK\r\n\r\nuntil the end";
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf";
    for (answer, then, status, content) in [
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
            Then::Wait,
            200,
            "abc",
        ),
        (partial, Then::Close, 200, "abcdefg"),
        (partial, Then::Wait, 200, "abcdefg"),
        (interim, Then::Wait, 204, ""),
        (refusal, Then::Wait, 400, "out of order sample; rejected"),
        (moved, Then::Wait, 308, ""),
        (later, Then::Wait, 503, "busy"),
        (closed, Then::Close, 200, "until the end"),
        (cut, Then::Close, 200, "half"),
    ] {
        let (url, server) = serve(answer.to_owned(), 4, then);
        let began = Instant::now();
        let seen = post(&url, b"data").expect(answer);
        assert!(began.elapsed() < PATIENCE / 2, "{answer}");
        assert_eq!((seen.status, &*seen.text()), (status, content), "{answer}");
        assert_eq!(
            seen.location.as_deref(),
            (status == 308).then_some("/there")
        );
        assert_eq!(seen.retry_after.as_deref(), (status == 503).then_some("4"));
        let head = server.join().expect("a server").to_ascii_lowercase();
        assert!(head.starts_with("post /write?db=x http/1.1\r\n"), "{head}");
        for field in ["x-token: a b", "content-length: 4", "connection: close"] {
            let count = head.matches(&format!("\r\n{field}\r\n")).count();
            assert_eq!(count, 1, "{field}\n{head}");
        }
    }
}

#[test]
fn a_request_that_is_refused_before_its_end_has_an_answer() {
    let answer = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nmuch";
    let (url, server) = serve(answer.to_owned(), 0, Then::Close);
    let seen = post(&url, &vec![b'x'; 32 << 20]).expect("an answer");
    assert_eq!(seen.status, 413);
    server.join().expect("a server");
}

#[test]
fn a_head_without_an_end_is_an_error() {
    let field = format!("X-Field: {}\r\n", "x".repeat(1_000));
    let answer = format!("HTTP/1.1 200 OK\r\n{}", field.repeat(100));
    let (url, server) = serve(answer, 4, Then::Wait);
    let began = Instant::now();
    assert!(post(&url, b"data").is_err());
    assert!(began.elapsed() < PATIENCE / 2);
    server.join().expect("a server");
}

#[test]
fn the_users_host_stands_alone() {
    let (url, server) = serve("HTTP/1.1 204 No Content\r\n\r\n".to_owned(), 0, Then::Wait);
    let target = PostTarget::new(&url, None, PATIENCE).expect("a URL");
    let answer = target.post([("Host", &b"other.test"[..])], b"");
    assert_eq!(answer.expect("an answer").status, 204);
    let head = server.join().expect("a server").to_ascii_lowercase();
    assert_eq!(head.matches("\r\nhost: ").count(), 1, "{head}");
    assert!(head.contains("\r\nhost: other.test\r\n"), "{head}");
}
