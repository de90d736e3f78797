//! HTTP requests that send a run's metrics to a receiver during the run, by the library ureq.
//!
//! A [`PostTarget`] is created once and posts one request at a time, each over a separate
//! connection. The target's patience limits the whole request, including the look-up of the name,
//! and only as much of an answer is kept as a message needs. Redirects are not followed: another
//! receiver is not the configured one, and the header fields may hold a password. Proxies from the
//! environment are not used, because the answer of a failing proxy would look like the receiver's.

use crate::tls::TlsConfig;
use rustls::{ClientConnection, StreamOwned};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;
use ureq::config::{AutoHeaderValue, Config};
use ureq::http::{HeaderMap, Request, Response, Uri, header};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, TcpConnector, Transport,
    TransportAdapter,
};
use ureq::{Agent, Body, Error};

/// The maximum number of bytes that are read of an answer's content.
const ANSWER_BYTES_MAX: u64 = 16_384;
/// The maximum number of bytes that are read of a requested content.
const CONTENT_BYTES_MAX: u64 = 4 << 20;
/// The maximum length of an answer's head.
const HEAD_BYTES_MAX: usize = 16_384;

/// A receiver of requests.
#[derive(Debug)]
pub struct PostTarget {
    uri: Uri,
    agent: Agent,
}

/// A receiver's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostAnswer {
    /// The status of the final answer.
    pub status: u16,
    /// The value of its Location field.
    pub location: Option<String>,
    /// The value of its Retry-After field.
    pub retry_after: Option<String>,
    /// The beginning of its content, without the framing of chunks.
    pub content: Vec<u8>,
}

impl PostAnswer {
    /// The content as text; invalid bytes are replaced.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.content)
    }
}

impl PostTarget {
    /// Creates the receiver at a URL without user information. If the scheme is https, the
    /// connection uses these TLS settings. A request may take as long as `patience`.
    ///
    /// # Errors
    /// If the URL is invalid.
    pub fn new(url: &str, tls: Option<TlsConfig>, patience: Duration) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("{error}"))?;
        let config = Config::builder()
            .timeout_global(Some(patience))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .max_idle_connections(0)
            .max_response_header_size(HEAD_BYTES_MAX)
            .user_agent(AutoHeaderValue::None)
            .accept(AutoHeaderValue::None)
            .accept_encoding(AutoHeaderValue::None)
            .build();
        let connector = TcpConnector::default().chain(Channels(tls));
        let agent = Agent::with_parts(config, connector, DefaultResolver::default());
        Ok(Self { uri, agent })
    }

    /// Sends `content` with these header fields and waits for the final answer. Adds the fields
    /// that frame the request, and a Host field with the receiver's name unless the fields contain
    /// one.
    ///
    /// # Errors
    /// If a field is malformed, if no connection can be opened, or if no HTTP answer comes in time.
    pub fn post<'f>(
        &self,
        fields: impl IntoIterator<Item = (&'f str, &'f [u8])>,
        content: &[u8],
    ) -> io::Result<PostAnswer> {
        let mut request = Request::post(&self.uri).header(header::CONNECTION, "close");
        for (name, value) in fields {
            request = request.header(name, value);
        }
        let request = request.body(content).map_err(io::Error::other)?;
        let response = self.agent.run(request).map_err(io_error)?;
        Ok(answer(response, ANSWER_BYTES_MAX))
    }

    /// Requests the content of the URL, of which at most 4 MiB are read.
    ///
    /// # Errors
    /// If no connection can be opened, or if no HTTP answer comes in time.
    pub fn get(&self) -> io::Result<PostAnswer> {
        let request = Request::get(&self.uri).header(header::CONNECTION, "close");
        let request = request.body(()).map_err(io::Error::other)?;
        let response = self.agent.run(request).map_err(io_error)?;
        Ok(answer(response, CONTENT_BYTES_MAX))
    }
}

/// The answer, with at most this much of its content.
fn answer(response: Response<Body>, bytes_max: u64) -> PostAnswer {
    let (head, body) = response.into_parts();
    let mut content = Vec::new();
    // The status tells the result of the request, even if the content is truncated.
    let _cut = body.into_reader().take(bytes_max).read_to_end(&mut content);
    PostAnswer {
        status: head.status.as_u16(),
        location: text_of(&head.headers, header::LOCATION),
        retry_after: text_of(&head.headers, header::RETRY_AFTER),
        content,
    }
}

/// The value of a field as text; invalid bytes are replaced.
fn text_of(fields: &HeaderMap, name: header::HeaderName) -> Option<String> {
    let value = fields.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Converts ureq's error to an I/O error.
fn io_error(error: Error) -> io::Error {
    match error {
        Error::Timeout(_) => io::ErrorKind::TimedOut.into(),
        Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            io::Error::new(error.kind(), "the connection was closed")
        }
        Error::Io(error) => error,
        Error::LargeResponseHeader(..) => io::Error::other("the response header is too long"),
        Error::Protocol(error) => io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the answer is not HTTP: {error}"),
        ),
        error => io::Error::other(error),
    }
}

/// Opens channels, with TLS if settings for it are given.
#[derive(Debug)]
struct Channels(Option<TlsConfig>);

impl<In: Transport> Connector<In> for Channels {
    type Out = PostConnection;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<PostConnection>, Error> {
        let Some(connection) = chained else {
            return Ok(None);
        };
        let connection: Box<dyn Transport> = Box::new(connection);
        let clock = Arc::clone(&details.current_time);
        let mut plain = TransportAdapter::new(connection, clock);
        plain.set_timeout(details.timeout);
        let stream = match &self.0 {
            None => Stream::Plain(plain),
            Some(tls) => {
                let mut tls = tls.clone();
                let client = ClientConnection::new(tls.next(), tls.name.clone());
                let mut client = client.map_err(io::Error::other)?;
                client.complete_io(&mut plain)?;
                Stream::Tls(Box::new(StreamOwned::new(client, plain)))
            }
        };
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        Ok(Some(PostConnection {
            stream,
            buffers,
            cut: None,
        }))
    }
}

/// A connection to the receiver.
struct PostConnection {
    stream: Stream,
    buffers: LazyBuffers,
    /// Why the request could not be sent completely. A receiver that refuses a request may answer
    /// before it has read all of it, and close the connection.
    cut: Option<io::Error>,
}

impl fmt::Debug for PostConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel")
            .field("cut", &self.cut)
            .finish_non_exhaustive()
    }
}

enum Stream {
    Plain(Adapter),
    Tls(Box<StreamOwned<ClientConnection, Adapter>>),
}

/// ureq's connection, which reads and writes within its timeouts.
type Adapter = TransportAdapter<Box<dyn Transport>>;

impl Stream {
    const fn connection(&mut self) -> &mut Adapter {
        match self {
            Self::Plain(plain) => plain,
            Self::Tls(tls) => &mut tls.sock,
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(plain) => plain.write_all(bytes),
            Self::Tls(tls) => tls.write_all(bytes).and_then(|()| tls.flush()),
        }
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = match self {
            Self::Plain(plain) => plain.read(into),
            Self::Tls(tls) => tls.read(into),
        };
        match read {
            // An end without a close_notify is an end, too.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }
}

impl Transport for PostConnection {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        if self.cut.is_some() {
            return Ok(());
        }
        self.stream.connection().set_timeout(timeout);
        match self.stream.write_all(&self.buffers.output()[..amount]) {
            Err(error) if is_closed(&error) => self.cut = Some(error),
            sent => sent?,
        }
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.connection().set_timeout(timeout);
        let read = self.stream.read(self.buffers.input_append_buf());
        match (read, self.cut.take()) {
            (Ok(0) | Err(_), Some(cut)) => Err(cut.into()),
            (read, cut) => {
                self.cut = cut;
                let count = read?;
                self.buffers.input_appended(count);
                Ok(count > 0)
            }
        }
    }

    fn is_open(&mut self) -> bool {
        self.stream.connection().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        matches!(self.stream, Stream::Tls(_))
    }
}

/// Whether the peer has closed the connection, or its half of it.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset
    )
}
