//! A minimal client; the tests contain its bytes.

#![expect(clippy::unwrap_used, reason = "a client in a test")]

use drumfire_target::{Listen, Running, Server, ServerOptions};
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Starts a server at a free port of 127.0.0.1.
pub(crate) fn start(options: ServerOptions) -> Running {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Server::start(ServerOptions {
        listen: vec![Listen::Tcp(any)],
        ..options
    })
    .unwrap()
}

/// One response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// A header field's value.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

/// A stream to a server.
pub(crate) trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// One connection.
pub(crate) struct Client {
    stream: BufReader<Box<dyn Stream>>,
}

impl Client {
    pub(crate) fn connect(server: &Running) -> Self {
        let stream = TcpStream::connect(server.tcp().unwrap()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        Self::over(stream)
    }

    pub(crate) fn over(stream: impl Stream + 'static) -> Self {
        Self {
            stream: BufReader::new(Box::new(stream)),
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
        self.stream.get_mut().flush().unwrap();
    }

    pub(crate) fn get(&mut self, target: &str) -> Reply {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: test\r\n\r\n").as_bytes());
        self.reply()
    }

    /// Reads until the end of the stream.
    pub(crate) fn rest(&mut self) -> std::io::Result<Vec<u8>> {
        let mut all = Vec::new();
        self.stream.read_to_end(&mut all).map(|_| all)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// The head of the next response.
    pub(crate) fn head(&mut self) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(self.stream.read_line(&mut head).unwrap(), 0, "{head:?}");
        }
        head
    }

    /// The next response, delimited by its length or its chunks.
    pub(crate) fn reply(&mut self) -> Reply {
        let head = self.head();
        let status = head[9..12].parse().unwrap();
        let mut reply = Reply {
            status,
            head,
            body: Vec::new(),
        };
        if let Some(length) = reply.field("content-length") {
            reply.body = self.bytes(length.parse().unwrap());
        } else if reply.field("transfer-encoding").is_some() {
            reply.body = self.chunks();
        }
        reply
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let size = usize::from_str_radix(line.trim_end(), 16).unwrap();
            let mut chunk = self.bytes(size + 2);
            assert_eq!(chunk.split_off(size), b"\r\n");
            if size == 0 {
                return body;
            }
            body.extend(chunk);
        }
    }
}
