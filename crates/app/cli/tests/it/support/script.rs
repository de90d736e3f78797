//! A server that follows a test's script, and a minimal client.

use super::lab;
use super::patience::{PATIENCE, wait_until};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// `hello`, compressed with gzip.
pub(crate) const GZIPPED_HELLO: [u8; 25] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
];

/// A server on a free port of 127.0.0.1. The test's function handles each connection in a separate
/// thread.
#[derive(Debug)]
pub(crate) struct Script {
    address: SocketAddr,
    connections: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    heads: Arc<Mutex<Vec<String>>>,
}

/// One connection of a scripted server.
pub(crate) struct Peer {
    pub(crate) stream: BufReader<TcpStream>,
    heads: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
}

/// One request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WholeRequest {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Script {
    pub(crate) fn new(serve: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        Self::listen_at("127.0.0.1:0", serve)
    }

    /// A server that answers every request with 200 and an empty body. It applies `keep` to each
    /// request, and records the results in order of arrival.
    pub(crate) fn keeping<T: Send + 'static>(
        keep: impl Fn(WholeRequest) -> T + Send + Sync + 'static,
    ) -> (Self, Arc<Mutex<Vec<T>>>) {
        let arrived = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&arrived);
        let script = Self::new(move |peer| {
            while let Some(request) = peer.whole_request() {
                let kept = keep(request);
                into.lock().unwrap().push(kept);
                if !peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") {
                    return;
                }
            }
        });
        (script, arrived)
    }

    pub(crate) fn listen_at(
        address: &str,
        serve: impl Fn(&mut Peer) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let script = Self {
            address: listener.local_addr().unwrap(),
            connections: Arc::default(),
            over: Arc::default(),
            heads: Arc::default(),
        };
        let (over, heads) = (Arc::clone(&script.over), Arc::clone(&script.heads));
        let (count, serve) = (Arc::clone(&script.connections), Arc::new(serve));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                count.fetch_add(1, Ordering::Relaxed);
                let serve = Arc::clone(&serve);
                let mut peer = Peer {
                    stream: BufReader::new(stream),
                    heads: Arc::clone(&heads),
                    over: Arc::clone(&over),
                };
                thread::spawn(move || serve(&mut peer));
            }
        });
        script
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// The heads of the received requests, in order.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // Wake the listener, so that it notices the end.
        let _woken = TcpStream::connect(self.address);
    }
}

impl Peer {
    /// Reads a request's head and the body that it announces; `None` at the end of the stream.
    pub(crate) fn request(&mut self) -> Option<String> {
        self.whole_request().map(|request| request.head)
    }

    /// Reads a request's head and the body that it announces; `None` at the end of the stream.
    pub(crate) fn whole_request(&mut self) -> Option<WholeRequest> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let length = field(&head, "content-length").map_or(0, |text| text.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        self.heads.lock().unwrap().push(head.clone());
        Some(WholeRequest { head, body })
    }

    /// Sends bytes. Returns `false` if the client has closed the connection.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.get_mut().write_all(bytes.as_ref()).is_ok()
    }

    /// Sends bytes in the notation of a case: `\\r`, `\\n`, `\\t`, `\\0` and `\\xff` are bytes,
    /// `\\g` is [`GZIPPED_HELLO`], `\p` a pause between two pieces, and `{TEXT*3}` a text three
    /// times.
    pub(crate) fn send_written(&mut self, text: &str) -> bool {
        text.split("\\p").enumerate().all(|(index, piece)| {
            if index > 0 {
                self.await_read();
                thread::sleep(Duration::from_millis(30));
            }
            self.send(unescaped(&repeated(piece)))
        })
    }

    /// Holds sent bytes back until the end of the stream, so that both travel in the same packet.
    pub(crate) fn in_one_piece(&self) {
        rustix::net::sockopt::set_tcp_cork(self.stream.get_ref(), true).unwrap();
    }

    /// Closes the sending side of the connection.
    pub(crate) fn shut_down_write(&self) {
        let _ended = self.stream.get_ref().shutdown(Shutdown::Write);
    }

    /// Waits until the client has read all sent bytes, because a reset would discard them.
    pub(crate) fn await_read(&self) {
        let stream = self.stream.get_ref();
        let (Ok(own), Ok(client)) = (stream.local_addr(), stream.peer_addr()) else {
            return;
        };
        if cfg!(not(target_os = "linux")) {
            return thread::sleep(Duration::from_millis(50));
        }
        wait_until("the client has read it", || {
            self.is_over() || lab::unread(client, own).is_none_or(|bytes| bytes == 0)
        });
    }

    /// Resets the connection.
    pub(crate) fn reset(&self) {
        rustix::net::sockopt::set_socket_linger(self.stream.get_ref(), Some(Duration::ZERO))
            .unwrap();
    }

    /// Reads and discards bytes until the client disconnects or the test is over.
    pub(crate) fn hold(&mut self) {
        self.stream
            .get_ref()
            .set_read_timeout(Some(Duration::from_millis(50)))
            .unwrap();
        let mut piece = [0; 4096];
        while !self.over.load(Ordering::Relaxed) {
            match self.stream.get_mut().read(&mut piece) {
                Ok(0) => return,
                Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => return,
                _ => {}
            }
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// A text in which `{TEXT*3}` is replaced with `TEXT` three times.
fn repeated(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        result.push_str(before);
        let group = behind.split_once('}').and_then(|(within, after)| {
            let (part, count) = within.rsplit_once('*')?;
            Some((part.repeat(count.parse().ok()?), after))
        });
        rest = match group {
            Some((parts, after)) => {
                result.push_str(&parts);
                after
            }
            None => {
                result.push('{');
                behind
            }
        };
    }
    result + rest
}

/// The bytes of a text with escapes.
pub(crate) fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let escape = (character == '\\').then(|| characters.as_str().chars().next());
        match escape.flatten() {
            Some('r') => bytes.push(b'\r'),
            Some('n') => bytes.push(b'\n'),
            Some('t') => bytes.push(b'\t'),
            Some('0') => bytes.push(0),
            Some('g') => bytes.extend(GZIPPED_HELLO),
            Some('x') => {
                let digits: String = characters.by_ref().skip(1).take(2).collect();
                bytes.push(u8::from_str_radix(&digits, 16).expect("two hexadecimal digits"));
                continue;
            }
            _ => {
                bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
        }
        characters.next();
    }
    bytes
}

/// The value of a head's field.
pub(crate) fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut found = fields.filter(|(field, _)| field.eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value.trim())
}

/// Sends a GET request over a new connection. Returns the body, to the connection's end.
pub(crate) fn get(address: SocketAddr, target: &str) -> std::io::Result<String> {
    ask(address, "GET", target, "")
}

/// Sends an empty POST request over a new connection.
pub(crate) fn post(address: SocketAddr, target: &str) -> std::io::Result<String> {
    ask(address, "POST", target, "Content-Length: 0\r\n")
}

fn ask(address: SocketAddr, method: &str, target: &str, fields: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{fields}\r\n"
    )?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply)?;
    let reply = String::from_utf8_lossy(&reply).into_owned();
    let (_, body) = reply
        .split_once("\r\n\r\n")
        .ok_or_else(|| std::io::Error::other("no head"))?;
    Ok(body.to_owned())
}

/// A text escaped for a query: all but letters, digits, dots and underscores are percent-encoded.
pub(crate) fn escaped(text: &str) -> String {
    let escape = |byte: u8| match char::from(byte) {
        c if c.is_ascii_alphanumeric() || "._".contains(c) => c.to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}
