//! The server of a site: HTTP/1.1 on loopback, on a thread that uses only time that no other thread
//! needs.
//!
//! hyper reads the requests, because browsers keep connections open, send bodies and disconnect in
//! the middle of streams, whereas the server of the metrics page answers one small request after
//! the other. The server runs on one tokio thread. Code that reads files or draws runs on one of
//! two further threads, so that a viewer's events do not wait for another's page.
//!
//! Everything is limited: connections, the size of a request's head and of a command, and the time
//! for a head.
//!
//! [`Server::start`] listens and starts the thread; afterwards only [`Server::close`] is called
//! from outside. A request takes one path: `connection` reads it, `answer` first lets [`Access`]
//! admit it, [`Route`] parses its address, and the [`RunSite`] has the run. No response is sent
//! before the access is checked, not even that a page is missing.
//!
//! Pages are drawn and commands sent on the further threads (`drawn`, `command`). When the server
//! ends, it accepts no more connections, viewers get the rest of their queues, and connections that
//! do not end in time are dropped.

use crate::access::{Access, Refusal};
use crate::content::Content;
use crate::feed::Feeds;
use crate::route::Route;
use crate::seats::{Seat, Seats};
use crate::site::{Run, RunSite};
use bytes::Bytes;
use drumfire_net::yield_to_others;
use drumfire_plan::ChangeKind;
use drumfire_session::{Order, host_and_port};
use http_body_ext::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_tokio::rt::{TokioIo, TokioTimer};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::{self, JoinSet};
use tokio::time::timeout;

/// The maximum number of connections at a time. A further one replaces the one that has been idle
/// longest, or is closed without a response if all have requests in progress. A browser opens a few
/// for a page.
const CONNECTIONS_MAX: usize = 64;
/// The time limit for a request's head.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
/// The maximum size of a request's head, in bytes.
const HEAD_BYTES_MAX: usize = 16_384;
/// The maximum size of a command, in bytes.
const COMMAND_BYTES_MAX: usize = 4_096;
/// The number of threads that read files and draw.
const DRAWING_THREADS: usize = 2;
/// The time for viewers to receive the last events.
const END_PATIENCE: Duration = Duration::from_secs(2);

/// The fields of every response: a page of this server cannot be shown in a frame, sends its
/// address to no other server, and cannot be read by other pages.
const FIELDS: [(HeaderName, &str); 6] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// A running server. It serves until [`Server::close`]; if the value is dropped, the server
/// continues until the program ends.
#[derive(Debug)]
pub struct Server {
    /// The address of the page of all runs, with the token.
    url: String,
    /// Becomes true when the server must end; every task watches it.
    ending: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

/// The immutable parts of the server that all connections share.
struct Shared {
    /// The rules for admitting requests.
    access: Access,
    /// The runs of the server.
    site: RunSite,
    /// The events of watched runs.
    feeds: Feeds,
}

/// A command as a page sends it. The names are those in `drumfire ctl`, and an empty value or pool
/// counts as missing. A command with unknown fields is invalid.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandText {
    command: String,
    value: Option<String>,
    pool: Option<String>,
}

/// The response to a command, as an object with one field: `answer` has the run's answer, `error`
/// the reason.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Answer(String),
    Error(String),
}

impl Server {
    /// Serves a site at `HOST:PORT`, whose host is an address of loopback; `:PORT` means 127.0.0.1.
    /// Port 0 selects a free port.
    ///
    /// # Errors
    /// If the text is not an address of loopback, or cannot be listened on, or the system has no
    /// random bytes or no thread.
    pub fn start(address: &str, site: RunSite) -> io::Result<Self> {
        let listener = TcpListener::bind(loopback(address)?)?;
        listener.set_nonblocking(true)?;
        let local = listener.local_addr()?;
        let access = Access::new(local.port()).map_err(io::Error::other)?;
        let url = format!("http://{local}/{}/", access.token());
        let (ending, ended) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(DRAWING_THREADS)
            .on_thread_start(yield_to_others)
            .build()?;
        let shared = Arc::new(Shared {
            access,
            site,
            feeds: Feeds::new(ended.clone()),
        });
        let thread = thread::Builder::new().name("ui".to_owned());
        let thread = thread.spawn(move || {
            yield_to_others();
            runtime.block_on(serve(listener, shared, ended));
            // Do not wait for a thread that is still drawing.
            runtime.shutdown_background();
        })?;
        Ok(Self {
            url,
            ending,
            thread,
        })
    }

    /// The address of the page of all runs, with the token.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sends the last events to viewers, and ends the server. Waits for viewers for a limited time.
    pub fn close(self) {
        // An error means that the server has ended.
        let _ended = self.ending.send(true);
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// The address of loopback in a text. A name is resolved and must lead to this machine: the pages
/// control runs, and a server on another address would let the whole network do so.
fn loopback(address: &str) -> io::Result<SocketAddr> {
    let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why);
    let (host, port) = host_and_port(address)?;
    let found = match host {
        "" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        host => {
            let mut addresses = (host, port).to_socket_addrs()?;
            addresses
                .next()
                .ok_or_else(|| wrong("the name has no address"))?
                .ip()
        }
    };
    match found.is_loopback() {
        true => Ok(SocketAddr::new(found, port)),
        false => Err(wrong(
            "its pages control runs, so it must be on loopback; from another machine, use `ssh -L`",
        )),
    }
}

/// Accepts connections until the server ends, then waits for the remaining ones.
async fn serve(listener: TcpListener, shared: Arc<Shared>, mut ended: watch::Receiver<bool>) {
    // The listener is nonblocking, so the runtime accepts it.
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let seats = Seats::new(CONNECTIONS_MAX);
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ended.changed() => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            // Without a seat, closed without a response, because writing one might block.
            Ok((stream, _)) => {
                if let Some(seat) = seats.take() {
                    let (shared, ended) = (Arc::clone(&shared), ended.clone());
                    connections.spawn(connection(stream, seat, shared, ended));
                }
            }
            // No descriptor is free: wait until others are closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    let all = async { while connections.join_next().await.is_some() {} };
    // Connections that have not ended by then are dropped.
    let _late = timeout(END_PATIENCE, all).await;
}

/// Serves one connection. Ignores the error if the client disconnects or sends invalid HTTP.
async fn connection(
    stream: TcpStream,
    seat: Arc<Seat>,
    shared: Arc<Shared>,
    mut ended: watch::Receiver<bool>,
) {
    let own = Arc::clone(&seat);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        let busy = Arc::clone(&own).begin();
        async move {
            let response = answer(shared, request).await;
            Ok::<_, Infallible>(response.map(|content| content.ending(busy)))
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = std::pin::pin!(served);
    tokio::select! {
        _ = served.as_mut() => return,
        () = seat.lost() => return,
        _ = ended.changed() => served.as_mut().graceful_shutdown(),
    }
    let _gone = served.await;
}

/// Answers one request, by its address and its method. Only commands use POST.
async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Content> {
    let (head, body) = request.into_parts();
    let path = match shared.access.admit(&head) {
        Ok(path) => path,
        Err(refusal) => {
            let (status, words) = refusal.answer();
            return text(status, words);
        }
    };
    let is_command = head.method == Method::POST;
    match (Route::parse(path, head.uri.query()), is_command) {
        (None, _) => text(StatusCode::NOT_FOUND, "no such page"),
        (Some(Route::Command(run)), true) => command(&shared, run, body).await,
        (Some(Route::Command(_)), false) | (Some(_), true) => {
            let (status, words) = Refusal::Method.answer();
            text(status, words)
        }
        (Some(Route::Slash), false) => moved(head.uri.path()),
        (Some(Route::Runs(query)), false) => drawn(move || Ok(shared.site.runs(&query))).await,
        (Some(Route::Compare { base, candidate }), false) => {
            drawn(move || shared.site.compare(&base, &candidate)).await
        }
        (Some(Route::History(run)), false) => drawn(move || shared.site.history(&run)).await,
        (Some(Route::Page(run)), false) => {
            drawn(move || Ok(shared.site.run(&run)?.look()?.page())).await
        }
        (Some(Route::Events(name)), false) => match shared.site.run(&name) {
            Ok(run) => {
                let events = shared.feeds.watch(&name, run);
                response(StatusCode::OK, EVENTS, Content::events(events))
            }
            Err(why) => text(StatusCode::NOT_FOUND, &why),
        },
    }
}

/// A page that is drawn on a separate thread. If drawing panics, the response is a server error and
/// nothing else ends.
async fn drawn(
    draw: impl FnOnce() -> Result<Vec<u8>, String> + Send + 'static,
) -> Response<Content> {
    match task::spawn_blocking(draw).await {
        Ok(Ok(page)) => response(StatusCode::OK, HTML, Content::whole(Bytes::from(page))),
        Ok(Err(why)) => text(StatusCode::NOT_FOUND, &why),
        Err(_) => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the page could not be generated",
        ),
    }
}

/// Carries out a command: checks its run, its size and its format in this order. A separate thread
/// sends it, because another process may be involved.
async fn command(shared: &Shared, name: String, body: Incoming) -> Response<Content> {
    let run = match shared.site.run(&name) {
        Ok(run) => run,
        Err(why) => return answered(StatusCode::NOT_FOUND, Answer::Error(why)),
    };
    let Ok(body) = Limited::new(body, COMMAND_BYTES_MAX).collect().await else {
        let why = format!("a command can have at most {COMMAND_BYTES_MAX} bytes");
        return answered(StatusCode::PAYLOAD_TOO_LARGE, Answer::Error(why));
    };
    let body = body.to_bytes();
    let done = task::spawn_blocking(move || carried_out(&run, &body)).await;
    match done {
        Ok(Ok(what)) => answered(StatusCode::OK, Answer::Answer(what)),
        Ok(Err(why)) => answered(StatusCode::BAD_REQUEST, Answer::Error(why)),
        Err(_) => {
            let why = "the command could not be carried out".to_owned();
            answered(StatusCode::INTERNAL_SERVER_ERROR, Answer::Error(why))
        }
    }
}

/// Sends a command to a run. Returns the run's answer.
///
/// # Errors
/// If the bytes are not a command, or the run refuses it; as text.
fn carried_out(run: &Run, body: &[u8]) -> Result<String, String> {
    let text: CommandText =
        serde_json::from_slice(body).map_err(|error| format!("invalid command: {error}"))?;
    let act = ChangeKind::of_name(&text.command);
    let act = act.ok_or_else(|| format!("unknown command `{}`", text.command.escape_default()))?;
    let given = |text: &'_ Option<String>| text.clone().filter(|text| !text.is_empty());
    let (argument, pool) = (given(&text.value), given(&text.pool));
    run.carry_out(&Order {
        act,
        argument: argument.as_deref(),
        pool: pool.as_deref(),
    })
}

/// The response to a command as JSON.
fn answered(status: StatusCode, answer: Answer) -> Response<Content> {
    // The content is only a text, which JSON can always represent.
    let content = serde_json::to_vec(&answer).unwrap_or_default();
    response(status, JSON, Content::whole(Bytes::from(content)))
}

/// A line of text.
fn text(status: StatusCode, line: &str) -> Response<Content> {
    let content = Bytes::from(format!("{line}\n"));
    response(status, TEXT, Content::whole(content))
}

/// A redirect to the same path with a slash at its end.
fn moved(path: &str) -> Response<Content> {
    let mut response = text(
        StatusCode::PERMANENT_REDIRECT,
        "the address ends with a slash",
    );
    if let Ok(location) = HeaderValue::from_str(&format!("{path}/")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// A response with the fields that every response has.
fn response(status: StatusCode, media_type: &'static str, content: Content) -> Response<Content> {
    let mut response = Response::new(content);
    *response.status_mut() = status;
    let fields = response.headers_mut();
    for (name, value) in FIELDS {
        fields.insert(name, HeaderValue::from_static(value));
    }
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
