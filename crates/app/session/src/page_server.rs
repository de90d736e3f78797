//! Pages that are made for each request, served over HTTP/1.1 during a run.
//!
//! A client can cost little: its request is bounded in time and size, its answer in time, and the
//! number of clients at a time is limited. hyper reads the requests; each connection has one.

use drumfire_net::yield_to_others;
use http_body_ext::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderMap, HeaderValue, VARY};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_tokio::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::fmt;
use std::future::{pending, poll_fn};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

/// The time limit for a request's head, and for the client to close after the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time limit for a request and its answer.
const EXCHANGE_PATIENCE: Duration = Duration::from_secs(10);

/// The maximum length of a request's head; longer ones are refused.
const HEAD_BYTES_MAX: usize = 8_192;

/// The maximum number of clients at a time; further ones are refused.
const CLIENTS_MAX: usize = 16;

/// A client's request, as far as a page depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest<'a> {
    /// The path, without a query.
    pub path: &'a str,
    /// The media types that the client accepts: the Accept fields, joined by commas.
    pub accept: &'a str,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Page {
    /// The content's type.
    pub media_type: &'static str,
    /// The content.
    pub content: Vec<u8>,
    /// Becomes true when the page was sent whole to a client that had not disconnected before.
    pub taken: Option<Arc<AtomicBool>>,
}

/// Makes the page for a request; `None` if the path is unknown.
pub type Pages = dyn Fn(&PageRequest<'_>) -> Option<Page> + Send + Sync;

/// A server of pages on a dedicated thread that ends with the program.
///
/// The thread yields to the run's threads: on a busy machine it may get no time for seconds. After
/// the run, [`PageServer::hasten`] replaces it with a thread of normal priority.
#[derive(Clone)]
pub struct PageServer {
    listeners: Arc<Vec<TcpListener>>,
    addresses: Vec<SocketAddr>,
    pages: Arc<Pages>,
    /// Whether a thread of normal priority accepts clients from now on.
    is_hasty: Arc<AtomicBool>,
}

impl fmt::Debug for PageServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageServer")
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}

impl PageServer {
    /// Serves pages at `HOST:PORT`: at every address of the host, and at all addresses of this
    /// machine if the host is empty. Port 0 selects a free port.
    ///
    /// # Errors
    /// If the text is not an address, one of the addresses is in use, none can be bound, or no
    /// thread can be started.
    pub fn start(address: &str, pages: Arc<Pages>) -> io::Result<Self> {
        let listeners = listen(address)?;
        let addresses = listeners.iter().map(TcpListener::local_addr);
        let server = Self {
            addresses: addresses.collect::<io::Result<_>>()?,
            listeners: Arc::new(listeners),
            pages,
            is_hasty: Arc::default(),
        };
        server.clone().spawn(Weight::Idle)?;
        Ok(server)
    }

    /// From now on, answers with a thread of normal priority, because the load is over. The caller
    /// must have normal priority, because the new thread inherits its policy.
    ///
    /// # Errors
    /// If no thread can be started; the server stays as it was.
    pub fn hasten(&self) -> io::Result<()> {
        self.clone().spawn(Weight::Usual)?;
        self.is_hasty.store(true, Ordering::Release);
        Ok(())
    }

    /// The addresses on which the server listens.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Starts a thread that accepts and answers clients. The thread has its own limit of clients,
    /// so that clients that a thread without CPU time has not answered yet do not keep out others.
    #[expect(
        deprecated,
        reason = "the replacement is unsafe; the descriptor of a listener never changes"
    )]
    fn spawn(self, weight: Weight) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let clients = Arc::new(Semaphore::new(CLIENTS_MAX));
        {
            let _context = runtime.enter();
            for listener in self.listeners.iter() {
                listener.set_nonblocking(true)?;
                let listener = AsyncFd::new(listener.try_clone()?)?;
                runtime.spawn(self.clone().accept(listener, weight, Arc::clone(&clients)));
            }
        }
        let thread = thread::Builder::new().name("pages".to_owned());
        thread
            .spawn(move || {
                if weight == Weight::Idle {
                    yield_to_others();
                }
                runtime.block_on(pending::<()>());
            })
            .map(drop)
    }

    /// Accepts clients until the program ends, or until a hasty thread takes over. A thread that
    /// wakes for a client checks this first.
    async fn accept(self, listener: AsyncFd<TcpListener>, weight: Weight, clients: Arc<Semaphore>) {
        while let Ok(mut ready) = listener.readable().await {
            if weight == Weight::Idle && self.is_hasty.load(Ordering::Acquire) {
                return;
            }
            match ready.try_io(|listener| listener.get_ref().accept()) {
                Ok(Ok((stream, _))) => {
                    // Beyond the limit, the connection is closed without an answer, because writing
                    // one might block.
                    let stream = stream
                        .set_nonblocking(true)
                        .and_then(|()| TcpStream::from_std(stream));
                    if let (Ok(stream), Ok(client)) =
                        (stream, Arc::clone(&clients).try_acquire_owned())
                    {
                        let pages = Arc::clone(&self.pages);
                        tokio::spawn(async move {
                            // A client that disconnects needs no answer.
                            let _gone = answer(stream, &*pages).await;
                            drop(client);
                        });
                    }
                }
                // No descriptor is free: wait until others are closed.
                Ok(Err(_)) => sleep(Duration::from_millis(50)).await,
                // Another thread accepted the client, or the client disconnected.
                Err(_) => {}
            }
        }
    }
}

/// The priority of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// The thread gets only time that no other thread needs.
    Idle,
    Usual,
}

/// The host, which may be empty, and the port of an address to listen on: `HOST:PORT` or `:PORT`.
///
/// # Errors
/// If the text is neither.
pub fn host_and_port(address: &str) -> io::Result<(&str, u16)> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidInput, "use HOST:PORT or :PORT");
    let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
    let port = port.parse().map_err(|_| wrong())?;
    Ok((host.trim_start_matches('[').trim_end_matches(']'), port))
}

/// Listens on every address of a text.
fn listen(address: &str) -> io::Result<Vec<TcpListener>> {
    let (host, port) = host_and_port(address)?;
    if host.is_empty() {
        // On a machine with IPv6, its socket accepts clients over IPv4, too.
        return match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)) {
            Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
                Ok(vec![TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?])
            }
            listener => Ok(vec![listener?]),
        };
    }
    let mut listeners: Vec<TcpListener> = Vec::new();
    let mut refused = None;
    for mut address in (host, port).to_socket_addrs()? {
        // Use the same free port for all addresses of the host.
        if let (0, Some(first)) = (port, listeners.first()) {
            address.set_port(first.local_addr()?.port());
        }
        match TcpListener::bind(address) {
            Ok(listener) => listeners.push(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
            Err(error) => refused = Some(error),
        }
    }
    match (listeners.is_empty(), refused) {
        (false, _) => Ok(listeners),
        (true, Some(error)) => Err(error),
        (true, None) => Err(io::Error::other("the name has no address")),
    }
}

/// Reads a request and answers it.
async fn answer(stream: TcpStream, pages: &Pages) -> io::Result<()> {
    let stream = TokioIo::new(stream);
    let taken = OnceLock::new();
    let service = service_fn(|request| Box::pin(respond(request, pages, &taken)));
    let mut connection = http1::Builder::new()
        .auto_date_header(false)
        .header_read_timeout(PATIENCE)
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES_MAX)
        .timer(TokioTimer::new())
        .serve_connection(stream, service);
    let exchange = poll_fn(|cx| connection.poll_without_shutdown(cx));
    let sent = timeout(EXCHANGE_PATIENCE, exchange).await?;
    let mut stream = connection.into_parts().io.into_inner();
    if let (Ok(()), Some(taken)) = (sent, taken.get()) {
        let taken: &Arc<AtomicBool> = taken;
        taken.store(true, Ordering::Relaxed);
    }
    // With unread input, the kernel would reset the connection, and the client could lose the
    // answer.
    stream.shutdown().await?;
    let mut rest = [0; 1_024];
    timeout(PATIENCE, async {
        while stream.read(&mut rest).await? > 0 {}
        Ok(())
    })
    .await?
}

/// The response to a request. `taken` gets the flag that is set after the response was sent.
async fn respond(
    request: Request<Incoming>,
    pages: &Pages,
    taken: &OnceLock<Arc<AtomicBool>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let page = pages(&PageRequest {
        path: request.uri().path(),
        accept: &accepted(request.headers()),
    });
    // hyper now detects whether the client has disconnected meanwhile.
    yield_now().await;
    let Some(page) = page else {
        return Ok(text(StatusCode::NOT_FOUND, "404 Not Found\n"));
    };
    let method = request.method();
    if method != Method::GET && method != Method::HEAD {
        let mut refusal = text(StatusCode::METHOD_NOT_ALLOWED, "405 Method Not Allowed\n");
        let methods = HeaderValue::from_static("GET, HEAD");
        refusal.headers_mut().insert(ALLOW, methods);
        return Ok(refusal);
    }
    if let Some(flag) = page.taken.filter(|_| method == Method::GET) {
        // A connection has one request.
        let _first = taken.set(flag);
    }
    let mut response = content(page.media_type, page.content.into());
    let fields = response.headers_mut();
    fields.insert(VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// The Accept fields, joined by commas.
fn accepted(fields: &HeaderMap) -> String {
    let values = fields.get_all(ACCEPT).iter();
    let values: Vec<_> = values
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    values.join(",")
}

/// A line of text.
fn text(status: StatusCode, line: &'static str) -> Response<Full<Bytes>> {
    let mut response = content(
        "text/plain; charset=utf-8",
        Bytes::from_static(line.as_bytes()),
    );
    *response.status_mut() = status;
    response
}

fn content(media_type: &'static str, content: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(content));
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "clients in a test")]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    use std::sync::{Mutex, mpsc};

    fn page(content: String) -> Option<Page> {
        Some(Page {
            media_type: "text/plain",
            content: content.into_bytes(),
            taken: None,
        })
    }

    fn server() -> PageServer {
        let pages = |request: &PageRequest<'_>| match request.path {
            "/m" => page(format!("for {}", request.accept)),
            _ => None,
        };
        PageServer::start("127.0.0.1:0", Arc::new(pages)).unwrap()
    }

    /// Sends bytes in pieces and reads until the end.
    fn ask(server: &PageServer, pieces: &[&str]) -> String {
        let mut stream = TcpStream::connect(server.addresses()[0]).unwrap();
        for piece in pieces {
            stream.write_all(piece.as_bytes()).unwrap();
        }
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    #[test]
    fn a_page_is_made_for_its_request() {
        let server = server();
        let both = ask(
            &server,
            &[
                "GET /m?x=1 HTTP/1.1\r\naccept: a/b\r",
                "\nHost: h\r\nAccept:c\r\n\r",
                "\n",
            ],
        );
        assert!(both.starts_with("HTTP/1.1 200 OK\r\n"), "{both}");
        assert!(both.ends_with("\r\n\r\nfor a/b,c"), "{both}");
        let head = ask(&server, &["HEAD /m HTTP/1.1\r\n\r\n"]);
        assert!(head.contains("content-length: 4\r\n") && head.ends_with("\r\n\r\n"));
        for (request, status) in [
            ("GET / HTTP/1.1\r\n\r\n", "404"),
            ("POST /m HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", "405"),
            ("GET\r\n\r\n", "400"),
            ("\x16\x03\x01\x02\r\n\r\n", "400"),
        ] {
            let reply = ask(&server, &[request]);
            assert_eq!(reply.split(' ').nth(1), Some(status), "{request}: {reply}");
        }
        let long = format!("GET /m HTTP/1.1\r\nx: {}", "y".repeat(HEAD_BYTES_MAX));
        assert!(ask(&server, &[&long]).contains(" 431 "));
    }

    /// The scheduling policy of the thread that renders a page.
    #[test]
    #[cfg(target_os = "linux")]
    fn pages_after_a_run_have_a_thread_of_usual_weight() {
        let pages = |_: &PageRequest<'_>| {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            // The fields after the name start with the third; the policy is field 41.
            let fields = stat.rsplit_once(") ").unwrap().1;
            page(format!("policy {}", fields.split(' ').nth(38).unwrap()))
        };
        let server = PageServer::start("127.0.0.1:0", Arc::new(pages)).unwrap();
        let policy = || ask(&server, &["GET /m HTTP/1.1\r\n\r\n"]);
        let idle = policy();
        assert!(idle.ends_with("\r\n\r\npolicy 5"), "{idle}");
        server.hasten().unwrap();
        for _ in 0..20 {
            let usual = policy();
            assert!(usual.ends_with("\r\n\r\npolicy 0"), "{usual}");
        }
    }

    #[test]
    fn a_client_that_has_gone_has_taken_nothing() {
        let taken = Arc::new(AtomicBool::new(false));
        let (go, gone) = mpsc::channel::<()>();
        let gone = Mutex::new(gone);
        let told = Arc::clone(&taken);
        let pages = move |request: &PageRequest<'_>| {
            let waits = request.path == "/slow";
            if waits {
                gone.lock().unwrap().recv().unwrap();
            }
            Some(Page {
                media_type: "text/plain",
                content: b"x".repeat(100),
                taken: (request.path != "/free").then(|| Arc::clone(&told)),
            })
        };
        let server = PageServer::start("127.0.0.1:0", Arc::new(pages)).unwrap();
        let mut client = TcpStream::connect(server.addresses()[0]).unwrap();
        client.write_all(b"GET /slow HTTP/1.1\r\n\r\n").unwrap();
        drop(client);
        go.send(()).unwrap();
        for _ in 0..20 {
            ask(&server, &["GET /free HTTP/1.1\r\n\r\n"]);
        }
        assert!(!taken.load(Ordering::Relaxed));
        ask(&server, &["GET /m HTTP/1.1\r\n\r\n"]);
        assert!(taken.load(Ordering::Relaxed));
    }

    #[test]
    fn clients_that_say_nothing_do_not_hold_up_others() {
        let server = server();
        let silent: Vec<TcpStream> = (0..CLIENTS_MAX - 1)
            .map(|_| TcpStream::connect(server.addresses()[0]).unwrap())
            .collect();
        let reply = ask(&server, &["GET /m HTTP/1.1\r\n\r\n"]);
        assert!(reply.contains(" 200 "), "{reply}");
        drop(silent);
    }

    #[test]
    fn a_taken_port_is_an_error() {
        let server = server();
        let taken = server.addresses()[0].port();
        for host in ["127.0.0.1", "localhost", ""] {
            let refused = PageServer::start(&format!("{host}:{taken}"), Arc::new(|_| None));
            let refused = refused.unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::AddrInUse, "{host}");
        }
        for wrong in ["9090", "host:", "host:99999", ""] {
            let refused = PageServer::start(wrong, Arc::new(|_| None)).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{wrong}");
        }
    }
}
