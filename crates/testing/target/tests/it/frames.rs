//! An HTTP/2 client.

#![expect(clippy::unwrap_used, reason = "a client in a test")]

use bytes::{Bytes, BytesMut};
use drumfire_target::{Listen, Running, Server, ServerOptions};
use h2::client::{Builder, SendRequest};
use h2::{Reason, RecvStream};
use http::{HeaderMap, Method, Request, Response};
use std::future::{Future, poll_fn};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::timeout;

/// Starts a server at a free port of 127.0.0.1.
pub(crate) fn start(options: ServerOptions) -> Running {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Server::start(ServerOptions {
        listen: vec![Listen::Tcp(any)],
        ..options
    })
    .unwrap()
}

/// Runs a test's clients, for at most a minute.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let test = async { timeout(Duration::from_secs(60), test).await };
    LocalSet::new().block_on(&runtime, test).unwrap()
}

/// One complete response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) fields: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: HeaderMap,
}

impl Reply {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let value = self.fields.get(name).or_else(|| self.trailers.get(name));
        value.map(|value| value.to_str().unwrap())
    }
}

/// One connection.
pub(crate) struct Client {
    pub(crate) requests: SendRequest<Bytes>,
    /// Completes when the connection ends.
    pub(crate) end: JoinHandle<Result<(), h2::Error>>,
}

impl Client {
    pub(crate) async fn connect(server: &Running) -> Self {
        Self::connect_with(server, Builder::new()).await
    }

    pub(crate) async fn connect_with(server: &Running, builder: Builder) -> Self {
        let stream = TcpStream::connect(server.tcp().unwrap()).await.unwrap();
        let (requests, connection) = builder.handshake(stream).await.unwrap();
        Self {
            requests,
            end: tokio::task::spawn_local(connection),
        }
    }

    /// Sends a request with a body immediately; the future returns its reply.
    pub(crate) fn send(
        &mut self,
        request: Request<()>,
        body: &[u8],
    ) -> impl Future<Output = Result<Reply, h2::Error>> + use<> {
        let sent = self.requests.send_request(request, body.is_empty());
        let body = Bytes::copy_from_slice(body);
        async move {
            let (response, mut stream) = sent?;
            if !body.is_empty() {
                stream.send_data(body, true)?;
            }
            reply(response.await?).await
        }
    }

    /// Sends GET.
    pub(crate) fn get(
        &mut self,
        target: &str,
    ) -> impl Future<Output = Result<Reply, h2::Error>> + use<> {
        self.send(request(Method::GET, target), b"")
    }
}

pub(crate) fn request(method: Method, target: &str) -> Request<()> {
    Request::builder()
        .method(method)
        .uri(format!("http://test{target}"))
        .body(())
        .unwrap()
}

async fn reply(response: Response<RecvStream>) -> Result<Reply, h2::Error> {
    let (head, mut stream) = response.into_parts();
    let mut body = BytesMut::new();
    while let Some(data) = poll_fn(|cx| stream.poll_data(cx)).await {
        let data = data?;
        stream.flow_control().release_capacity(data.len())?;
        body.extend_from_slice(&data);
    }
    let trailers = poll_fn(|cx| stream.poll_trailers(cx)).await?;
    Ok(Reply {
        status: head.status.as_u16(),
        fields: head.headers,
        body: body.to_vec(),
        trailers: trailers.unwrap_or_default(),
    })
}

/// The reason of a reset stream.
pub(crate) fn reset(result: Result<Reply, h2::Error>) -> Option<Reason> {
    result
        .err()
        .filter(h2::Error::is_reset)
        .and_then(|error| error.reason())
}
