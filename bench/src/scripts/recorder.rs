//! A server that records what it receives, and answers by path.

use super::echo;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// The most requests that are kept.
const REQUESTS_MAX: usize = 200_000;
/// The longest body.
const BODY_MAX: usize = 16 << 20;

/// The begin of the line of a frame of a WebSocket.
const FRAME: &str = "a frame: ";

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Received {
    /// The number of the connection.
    pub(super) connection: usize,
    /// Method and target.
    pub(super) line: String,
    /// Values by name in small letters.
    pub(super) headers: BTreeMap<String, String>,
    /// The body.
    pub(super) body: Vec<u8>,
}

/// A running server.
#[derive(Debug)]
pub(super) struct Recorder {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    ends: Arc<AtomicBool>,
    acceptor: JoinHandle<()>,
}

impl Recorder {
    /// Listens on a free port of loopback.
    ///
    /// # Errors
    /// If no port is free.
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let (received, ends) = (
            Arc::<Mutex<Vec<Received>>>::default(),
            Arc::<AtomicBool>::default(),
        );
        let (kept, is_over) = (Arc::clone(&received), Arc::clone(&ends));
        let acceptor = thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let kept = Arc::clone(&kept);
                if let Ok(stream) = stream {
                    // A connection ends when the client closes it; an error of a connection ends only that one.
                    thread::spawn(move || serve(number, &stream, &kept).ok());
                }
            }
        });
        Ok(Self {
            address,
            received,
            ends,
            acceptor,
        })
    }

    /// The URL of a WebSocket that repeats messages.
    #[must_use]
    pub(super) fn socket_url(&self) -> String {
        format!("ws://{}/socket", self.address)
    }

    /// The address as a URL.
    #[must_use]
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends the server; returns the requests in the order of their arrival, and the frames of each WebSocket
    /// after its handshake: a client may begin the next request before its last frame has arrived.
    #[must_use]
    pub(super) fn finish(self) -> Vec<Received> {
        self.ends.store(true, Ordering::SeqCst);
        // The acceptor looks whether it is over after each connection.
        drop(TcpStream::connect(self.address));
        drop(self.acceptor.join());
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut frames, requests): (Vec<Received>, Vec<Received>) = std::mem::take(&mut *received)
            .into_iter()
            .partition(|one| one.line.starts_with(FRAME));
        let mut ordered = Vec::new();
        for request in requests {
            let connection = request.connection;
            let opens = request.headers.contains_key("sec-websocket-key");
            ordered.push(request);
            if opens {
                let own = frames.extract_if(.., |frame| frame.connection == connection);
                ordered.extend(own);
            }
        }
        ordered
    }
}

fn serve(connection: usize, stream: &TcpStream, kept: &Mutex<Vec<Received>>) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut headers = BTreeMap::new();
        loop {
            let mut field = String::new();
            reader.read_line(&mut field)?;
            let Some((name, value)) = field.trim_end().split_once(':') else {
                break;
            };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers
            .get("content-length")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        let mut body = vec![0; BODY_MAX.min(length)];
        reader.read_exact(&mut body)?;
        let line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
        let key = headers.get("sec-websocket-key").cloned();
        let response = answer(
            &line,
            &body,
            headers
                .get("content-type")
                .map_or("text/plain", String::as_str),
        );
        let mut list = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if list.len() < REQUESTS_MAX {
            list.push(Received {
                connection,
                line,
                headers,
                body,
            });
        }
        drop(list);
        if let Some(key) = key {
            (&*stream).write_all(&echo::answer(&key)?)?;
            return talk(connection, &mut reader, stream, kept);
        }
        (&*stream).write_all(&response)?;
    }
}

/// Repeats the messages of a WebSocket, and keeps them.
fn talk(
    connection: usize,
    reader: &mut BufReader<&TcpStream>,
    stream: &TcpStream,
    kept: &Mutex<Vec<Received>>,
) -> Result<()> {
    let mut record = |name: &str, payload: &[u8]| {
        let mut list = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if list.len() < REQUESTS_MAX {
            list.push(Received {
                connection,
                line: format!("{FRAME}{name}"),
                headers: BTreeMap::new(),
                body: payload.to_vec(),
            });
        }
    };
    echo::repeat(reader, &mut &*stream, &mut record)
}

const PAGE: &[u8] = b"<html><body><a class=\"first\" href=\"/one\">1</a><a class=\"next\" href=\"/page/next\">2</a>\
<form action=\"/submitted\" method=\"post\"><input type=\"hidden\" name=\"csrf\" value=\"c-1\">\
<input name=\"email\" value=\"\"><input type=\"submit\" id=\"go\" name=\"go\" value=\"Go\"></form></body></html>";

const OBJECT: &[u8] =
    br#"{"id":1,"name":"item","items":[{"id":1,"sku":"a"},{"id":2,"sku":"b"}],"status":"ok","token":"t-1"}"#;

/// The bytes of the answer, as the table in `conformance/k6/README.md` says.
fn answer(line: &str, body: &[u8], content_type: &str) -> Vec<u8> {
    let (method, target) = line.split_once(' ').unwrap_or((line, "/"));
    let path = target.split('?').next().unwrap_or(target);
    let mut status: u32 = if method == "POST" { 201 } else { 200 };
    let mut more = String::new();
    let number = |start: &str| {
        path.strip_prefix(start)
            .and_then(|rest| rest.parse::<u32>().ok())
    };
    let (kind, content) = if let Some(wanted) = number("/status/") {
        status = wanted;
        ("application/json", OBJECT)
    } else if let Some(left @ 1..) = number("/redirect/") {
        status = 302;
        more = format!("Location: /redirect/{}\r\n", left - 1);
        ("text/plain", &b""[..])
    } else if path.starts_with("/page") || path == "/submitted" {
        ("text/html", PAGE)
    } else if path == "/echo" {
        (content_type, body)
    } else {
        if path == "/cookies" {
            "Set-Cookie: session=s-1; Path=/\r\nSet-Cookie: XSRF-TOKEN=x-1; Path=/\r\n"
                .clone_into(&mut more);
        }
        ("application/json", OBJECT)
    };
    let length = content.len();
    let head = format!(
        "HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n"
    );
    let content = if method == "HEAD" { &[][..] } else { content };
    [head.as_bytes(), content].concat()
}
