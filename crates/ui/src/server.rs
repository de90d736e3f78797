//! The server of a site: HTTP/1.1 on loopback, on a thread that takes no time which others need.
//!
//! hyper reads the requests, since browsers keep connections, send bodies and go away in the middle
//! of streams, and the server of the metrics' page answers one bounded question after the other. It
//! runs on a thread of tokio's. What reads files or draws does so on one of two further threads, so
//! that a viewer's events do not wait for another's page.
//!
//! Everything is bounded: connections, the size of a request's head and of a command, and the time
//! for a head.
//!
//! [`Server::start`] listens and starts the thread; from then on nothing here is called from
//! outside but [`Server::close`]. A request takes one way: `connection` reads it, `answer` asks
//! [`Access`] whether it is let in before anything else, [`Route`] says what its address means, and
//! the [`Site`] has the run. No answer is made before the access is checked, not even that a page
//! is missing.
//!
//! Pages are drawn and commands sent on the further threads (`drawn`, `command`). When the server
//! ends, no connection is accepted any more, viewers get what is left in their queues, and what has
//! not ended in time is given up.

use crate::access::{Access, Refusal};
use crate::content::Content;
use crate::feed::Feeds;
use crate::route::Route;
use crate::site::{Run, Site};
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
use tokio::sync::{Semaphore, watch};
use tokio::task;
use tokio::time::timeout;

/// Connections at a time: those beyond are closed without an answer. A browser opens a handful for
/// a page.
const CONNECTIONS_MAX: usize = 64;
/// The time for a request's head.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
/// The size of a request's head, in bytes.
const HEAD_BYTES_MAX: usize = 16_384;
/// The size of a command, in bytes.
const COMMAND_BYTES_MAX: usize = 4_096;
/// Threads that read files and draw.
const DRAWING_THREADS: usize = 2;
/// The time that viewers have for the last events.
const END_PATIENCE: Duration = Duration::from_secs(2);

/// The fields of every answer: a page of this server is shown in no frame, tells no other server its
/// address, and is read by no other page.
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

/// A server that has begun. It serves until [`Server::close`]; one that is dropped goes on until
/// the program ends.
#[derive(Debug)]
pub struct Server {
    /// The address of the page of all runs, with the token.
    url: String,
    /// Becomes true when the server is to end, which every task watches.
    ending: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

/// The parts of the server that each connection shares, none of which changes.
struct Shared {
    /// The rules by which a request is let in.
    access: Access,
    /// The runs that there are.
    site: Site,
    /// The events of runs that are watched.
    feeds: Feeds,
}

/// A command as a page sends it: the names are those of `drumfire ctl`, and a value or a pool that
/// is empty counts as not given. Fields that it does not know make it none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandText {
    command: String,
    value: Option<String>,
    pool: Option<String>,
}

/// The answer to it, as an object with one field: `answer` has the run's words, `error` the reason.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Answer(String),
    Error(String),
}

impl Server {
    /// Serves a site at `HOST:PORT`, whose host is an address of loopback; `:PORT` is 127.0.0.1. Port
    /// 0 is one that is free.
    ///
    /// # Errors
    /// When the text is no address of loopback, or can't be listened on, or the system has no
    /// random bytes or no thread.
    pub fn start(address: &str, site: Site) -> io::Result<Self> {
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
            // A thread that still draws is not waited for.
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

    /// Sends those who watch the last events, and ends. It waits for them, for a bounded time.
    pub fn close(self) {
        // An error is a server that has ended.
        let _ended = self.ending.send(true);
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// The address of loopback that a text means. A name is looked up and must lead to this machine:
/// the pages command runs, and a server on another address would let the whole network do so.
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

/// Takes connections until the server ends, then waits for those that are left.
async fn serve(listener: TcpListener, shared: Arc<Shared>, mut ended: watch::Receiver<bool>) {
    // It was made for this and is ours: the runtime takes it.
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ended.changed() => break,
        };
        match (accepted, Arc::clone(&room).try_acquire_owned()) {
            (Ok((stream, _)), Ok(seat)) => {
                let shared = Arc::clone(&shared);
                let ended = ended.clone();
                task::spawn(async move {
                    connection(stream, shared, ended).await;
                    drop(seat);
                });
            }
            // Closed without an answer: to write one might wait.
            (Ok(_), Err(_)) => {}
            // No descriptor is left: others need time to give some back.
            (Err(_), _) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    let all = room.acquire_many(CONNECTIONS_MAX as u32);
    // What has not ended by then is given up.
    let _late = timeout(END_PATIENCE, all).await;
}

/// Serves one connection. A client that goes away, or sends what is no HTTP, is no one's loss.
async fn connection(stream: TcpStream, shared: Arc<Shared>, mut ended: watch::Receiver<bool>) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(shared, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = std::pin::pin!(served);
    tokio::select! {
        _ = served.as_mut() => return,
        _ = ended.changed() => served.as_mut().graceful_shutdown(),
    }
    let _gone = served.await;
}

/// Answers one request, by its address and its method. Commands alone are sent by POST; all else is
/// read.
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
    match (Route::of(path, head.uri.query()), is_command) {
        (None, _) => text(StatusCode::NOT_FOUND, "no such page"),
        (Some(Route::Command(run)), true) => command(&shared, run, body).await,
        (Some(Route::Command(_)), false) | (Some(_), true) => {
            let (status, words) = Refusal::Method.answer();
            text(status, words)
        }
        (Some(Route::Slash), false) => moved(head.uri.path()),
        (Some(Route::Runs), false) => drawn(move || Ok(shared.site.runs())).await,
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
                response(StatusCode::OK, EVENTS, Content::Events(events))
            }
            Err(why) => text(StatusCode::NOT_FOUND, &why),
        },
    }
}

/// A page that is drawn on a thread of its own; a page that panics is an error of the server and
/// ends nothing else.
async fn drawn(
    draw: impl FnOnce() -> Result<Vec<u8>, String> + Send + 'static,
) -> Response<Content> {
    match task::spawn_blocking(draw).await {
        Ok(Ok(page)) => response(
            StatusCode::OK,
            HTML,
            Content::Whole(Some(Bytes::from(page))),
        ),
        Ok(Err(why)) => text(StatusCode::NOT_FOUND, &why),
        Err(_) => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the page could not be generated",
        ),
    }
}

/// Carries out a command: its run, its size and its form are checked in this order, and a thread
/// sends it, since another process may be asked.
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

/// Carries out a command for a run; gives the run's words.
///
/// # Errors
/// In words, when the bytes are no command, or the run refuses it.
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

/// The answer to a command as JSON.
fn answered(status: StatusCode, answer: Answer) -> Response<Content> {
    // A text and nothing else: there is nothing that JSON has no form for.
    let content = serde_json::to_vec(&answer).unwrap_or_default();
    response(status, JSON, Content::Whole(Some(Bytes::from(content))))
}

/// A line of text.
fn text(status: StatusCode, line: &str) -> Response<Content> {
    let content = Bytes::from(format!("{line}\n"));
    response(status, TEXT, Content::Whole(Some(content)))
}

/// The way to the same path with a slash at its end.
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

/// An answer with the fields that every one has.
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
