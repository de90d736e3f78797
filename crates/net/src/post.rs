//! One POST at a time over HTTP/1.1, for reports on a run that leave while it goes on.
//!
//! Every step has its place in one deadline, and of an answer no more is kept than a message needs.

use crate::tls::TlsConfig;
use rustls::{ClientConnection, StreamOwned};
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

/// How much of an answer is read.
const ANSWER_BYTES_MAX: usize = 16_384;

/// Where requests go.
#[derive(Clone, Debug)]
pub struct PostTarget {
    /// A name or an address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The settings for TLS, where the scheme is https.
    pub tls: Option<TlsConfig>,
    /// Path and query.
    pub target: String,
    /// The header fields of every request, each with its CRLF.
    pub fields: String,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostAnswer {
    /// The status.
    pub status: u16,
    /// The beginning of its content.
    pub content: Vec<u8>,
}

impl PostAnswer {
    /// The same as text, as far as it is any.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.content)
    }
}

/// A connection with one deadline for all that is done with it.
struct Timed {
    stream: TcpStream,
    deadline: Instant,
}

impl Timed {
    fn remaining(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(left),
        }
    }
}

/// A blocking socket reports its timeout as "would block"; give it its own name.
fn timed_out(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => error,
    }
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.remaining()?))?;
        self.stream.read(into).map_err(timed_out)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.remaining()?))?;
        self.stream.write(bytes).map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PostTarget {
    /// Sends `content` and waits for the answer, both within `patience`; only looking up a name
    /// takes as long as the system does.
    ///
    /// # Errors
    /// When there is no connection or no answer of HTTP in time.
    pub fn post(&self, content: &[u8], patience: Duration) -> io::Result<PostAnswer> {
        let addresses = (&*self.host, self.port).to_socket_addrs()?;
        let deadline = Instant::now() + patience;
        let stream = connect(addresses, deadline)?;
        stream.set_nodelay(true)?;
        let timed = Timed { stream, deadline };
        match &self.tls {
            None => self.exchange(timed, content),
            Some(tls) => {
                let mut tls = tls.clone();
                let client = ClientConnection::new(tls.next(), tls.name.clone());
                let client = client.map_err(io::Error::other)?;
                self.exchange(StreamOwned::new(client, timed), content)
            }
        }
    }

    fn exchange(&self, mut stream: impl Read + Write, content: &[u8]) -> io::Result<PostAnswer> {
        let (target, fields, length) = (&self.target, &self.fields, content.len());
        let head = format!(
            "POST {target} HTTP/1.1\r\n{fields}Content-Length: {length}\r\n\
             Connection: close\r\n\r\n"
        );
        let sent = stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(content))
            .and_then(|()| stream.flush());
        // A server that refuses a request may answer before it has taken all of it.
        match (sent, read_answer(&mut stream)) {
            (_, Ok(answer)) => Ok(answer),
            (Err(error), Err(_)) | (Ok(()), Err(error)) => Err(error),
        }
    }
}

/// Connects to the first address that accepts.
fn connect(
    addresses: impl Iterator<Item = SocketAddr>,
    deadline: Instant,
) -> io::Result<TcpStream> {
    let mut refused = io::Error::other("the name has no address");
    for address in addresses {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Reads an answer to its end, or as far as its length says.
fn read_answer(stream: &mut impl Read) -> io::Result<PostAnswer> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4_096];
    loop {
        if let Some(answer) = answer_in(&bytes, bytes.len() >= ANSWER_BYTES_MAX)? {
            return Ok(answer);
        }
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            // An end without a close_notify is one all the same.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
        }
    }
    let none = || io::Error::new(io::ErrorKind::UnexpectedEof, "the connection was closed");
    answer_in(&bytes, true)?.ok_or_else(none)
}

/// The answer in these bytes, if it is all there, or all that there will be.
fn answer_in(bytes: &[u8], is_end: bool) -> io::Result<Option<PostAnswer>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let (head, content) = (String::from_utf8_lossy(&bytes[..end]), &bytes[end + 4..]);
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP");
    let mut lines = head.split("\r\n");
    let status = lines.next().filter(|line| line.starts_with("HTTP/1."));
    let status = status.and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let status: u16 = status.ok_or_else(wrong)?;
    let fields = lines.filter_map(|line| line.split_once(':'));
    let mut lengths = fields.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = lengths
        .next()
        .and_then(|(_, value)| value.trim().parse::<usize>().ok());
    let is_whole = match (status, length) {
        (204 | 304, _) => true,
        (_, Some(length)) => content.len() >= length,
        (_, None) => false,
    };
    let answer = PostAnswer {
        status,
        content: content.to_owned(),
    };
    Ok((is_whole || is_end).then_some(answer))
}
