//! Pages that are made when they are asked for, served over HTTP/1.1 beside a run.
//!
//! A client can cost one thread for ten seconds and nothing else: its request has bounds in time
//! and size, its answer a bound in time, and the clients at a time are limited.

use crate::process::yield_to_others;
use rustix::event::{PollFd, PollFlags, poll};
use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a client may take for its request, and again for its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A request with a longer head is refused.
const HEAD_BYTES_MAX: usize = 8_192;

/// A client that finds this many before it is refused.
const CLIENTS_MAX: usize = 16;

/// A client's request, as far as a page depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest<'a> {
    /// The path, without a query.
    pub path: &'a str,
    /// The forms that it accepts: the Accept fields, joined by commas.
    pub accept: &'a str,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Page {
    /// The content's type.
    pub media_type: &'static str,
    /// The content.
    pub content: Vec<u8>,
    /// Becomes true when it was sent whole to a client that had not gone away before.
    pub taken: Option<Arc<AtomicBool>>,
}

/// Makes the page that a client asks for; `None` where there is none.
pub type Pages = dyn Fn(&PageRequest<'_>) -> Option<Page> + Send + Sync;

/// A server of pages, whose threads do nothing else and end with the program.
///
/// Its threads yield to the run's: on a machine that others keep busy they may get no time for
/// seconds. Behind the run [`PageServer::hasten`] puts threads of usual weight in their place.
#[derive(Clone, Debug)]
pub struct PageServer {
    listeners: Vec<Arc<TcpListener>>,
    addresses: Vec<SocketAddr>,
    shared: Shared,
}

/// State that the threads of a server share.
#[derive(Clone)]
struct Shared {
    pages: Arc<Pages>,
    clients: Arc<AtomicUsize>,
    /// Whether the threads have the usual weight from now on.
    is_hasty: Arc<AtomicBool>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("clients", &self.clients)
            .finish_non_exhaustive()
    }
}

/// A client that is being answered; counted while it lives.
struct Client(Arc<AtomicUsize>);

impl Drop for Client {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PageServer {
    /// Serves pages at `HOST:PORT`: of every address of the host, and of all addresses of this
    /// machine where there is no host. Port 0 is one that is free.
    ///
    /// # Errors
    /// When the text is no address, when one of the addresses is taken, when none can be listened
    /// on, or no thread can be started.
    pub fn start(address: &str, pages: Arc<Pages>) -> io::Result<Self> {
        let listeners = listen(address)?;
        let addresses = listeners.iter().map(TcpListener::local_addr);
        let addresses = addresses.collect::<io::Result<_>>()?;
        let server = Self {
            listeners: listeners.into_iter().map(Arc::new).collect(),
            addresses,
            shared: Shared {
                pages,
                clients: Arc::default(),
                is_hasty: Arc::default(),
            },
        };
        server.listen(false)?;
        Ok(server)
    }

    /// Answers from now on with threads of usual weight: for when no load is left to be disturbed.
    ///
    /// # Errors
    /// When no thread can be started; the server stays as it was.
    pub fn hasten(&self) -> io::Result<()> {
        self.listen(true)?;
        self.shared.is_hasty.store(true, Ordering::Release);
        Ok(())
    }

    /// Starts a thread for each listener. Clients that a thread without time still has to answer
    /// must not keep out those of the hasty ones.
    fn listen(&self, is_hasty: bool) -> io::Result<()> {
        let shared = Shared {
            clients: Arc::default(),
            ..self.shared.clone()
        };
        for listener in &self.listeners {
            // Where several threads wait for a client, only one of them gets it.
            listener.set_nonblocking(true)?;
            let (listener, shared) = (Arc::clone(listener), shared.clone());
            spawn(is_hasty, move || shared.listen(&listener, is_hasty))?;
        }
        Ok(())
    }

    /// Where it listens.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

/// Starts a thread, which takes no time that others need unless it is a hasty one. A thread has the
/// policy of the one that starts it, so that a hasty one must be started by such a one.
fn spawn(is_hasty: bool, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name("pages".to_owned());
    thread
        .spawn(move || {
            if !is_hasty {
                yield_to_others();
            }
            body();
        })
        .map(drop)
}

/// The host, which may be empty, and the port of an address to listen at: `HOST:PORT` or `:PORT`.
///
/// # Errors
/// When the text is neither.
pub fn host_and_port(address: &str) -> io::Result<(&str, u16)> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidInput, "use HOST:PORT or :PORT");
    let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
    let port = port.parse().map_err(|_| wrong())?;
    Ok((host.trim_start_matches('[').trim_end_matches(']'), port))
}

/// Listens on every address that a text means.
fn listen(address: &str) -> io::Result<Vec<TcpListener>> {
    let (host, port) = host_and_port(address)?;
    if host.is_empty() {
        // A socket of IPv6 takes clients of IPv4 as well, where there is IPv6 at all.
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
        // One free port for all addresses of the host.
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

impl Shared {
    /// Takes clients until the program ends, or hasty threads are there in the place of this one.
    fn listen(&self, listener: &TcpListener, is_hasty: bool) {
        loop {
            let waited = poll(&mut [PollFd::new(listener, PollFlags::IN)], None);
            if !is_hasty && self.is_hasty.load(Ordering::Acquire) {
                return;
            }
            match waited
                .map_err(io::Error::from)
                .and_then(|_| listener.accept())
            {
                Ok((stream, _)) => self.take(stream, is_hasty),
                // Another thread has taken it, or it has gone.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // No descriptor is left: others need time to give some back.
                Err(_) => thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// Answers a client, on a thread of its own.
    fn take(&self, stream: TcpStream, is_hasty: bool) {
        let before = self.clients.fetch_add(1, Ordering::Relaxed);
        let client = Client(Arc::clone(&self.clients));
        if before >= CLIENTS_MAX {
            // Closed without an answer: to write one might wait.
            return;
        }
        let pages = Arc::clone(&self.pages);
        // A client that goes away is no one's loss, nor is one for which there is no thread.
        let _refused = spawn(is_hasty, move || {
            // Elsewhere than on Linux it is as its listener.
            let _gone = stream.set_nonblocking(false);
            let _gone = answer(stream, &*pages);
            drop(client);
        });
    }
}

/// Reads a request's head and answers it.
fn answer(mut stream: TcpStream, pages: &Pages) -> io::Result<()> {
    let (reply, taken) = match read_head(&mut stream)? {
        None => return Ok(()),
        Some(Err(status)) => (reply(status, &Page::text(status), ""), None),
        Some(Ok(head)) => reply_to(&String::from_utf8_lossy(&head), pages),
    };
    let taken = taken.filter(|_| is_there(&stream));
    let deadline = Instant::now() + PATIENCE;
    let mut left = &reply[..];
    while !left.is_empty() {
        stream.set_write_timeout(Some(remaining(deadline)?))?;
        let written = stream.write(left)?;
        left = &left[written..];
    }
    if let Some(taken) = taken {
        taken.store(true, Ordering::Relaxed);
    }
    // What a client sent beyond its head would make the kernel reset the connection, and with it
    // the answer.
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut rest = [0; 1_024];
    loop {
        stream.set_read_timeout(Some(remaining(deadline)?))?;
        if stream.read(&mut rest)? == 0 {
            return Ok(());
        }
    }
}

/// Whether a client still waits for its answer: one whose own time is up has ended the connection.
fn is_there(stream: &TcpStream) -> bool {
    let look = || {
        stream.set_nonblocking(true)?;
        let seen = stream.peek(&mut [0]);
        stream.set_nonblocking(false)?;
        seen
    };
    match look() {
        Ok(count) => count > 0,
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    }
}

/// The time that is left; an error where none is.
fn remaining(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(io::ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

/// A request's head, or the status by which it is refused; `None` where the client went away.
fn read_head(stream: &mut TcpStream) -> io::Result<Option<Result<Vec<u8>, &'static str>>> {
    let deadline = Instant::now() + PATIENCE;
    let mut head = Vec::new();
    let mut chunk = [0; 1_024];
    loop {
        stream.set_read_timeout(Some(remaining(deadline)?))?;
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            return Ok(None);
        }
        // The end may lie over the edge between two pieces.
        let from = head.len().saturating_sub(3);
        head.extend_from_slice(&chunk[..count]);
        let ends = |end: &[u8]| end == b"\r\n\r\n";
        if let Some(at) = head[from..].windows(4).position(ends) {
            head.truncate(from + at);
            return Ok(Some(Ok(head)));
        }
        if head.len() > HEAD_BYTES_MAX {
            return Ok(Some(Err("431 Request Header Fields Too Large")));
        }
    }
}

/// The answer to a request with this head, and what it is to set once it was sent.
fn reply_to(head: &str, pages: &Pages) -> (Vec<u8>, Option<Arc<AtomicBool>>) {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next(), words.next());
    let (Some(target), Some(_)) = (target, words.next()) else {
        let status = "400 Bad Request";
        return (reply(status, &Page::text(status), ""), None);
    };
    let fields = lines.filter_map(|line| line.split_once(':'));
    let accept = fields.filter(|(name, _)| name.eq_ignore_ascii_case("accept"));
    let accept: Vec<&str> = accept.map(|(_, value)| value.trim()).collect();
    let request = PageRequest {
        path: target.split('?').next().unwrap_or_default(),
        accept: &accept.join(","),
    };
    let (status, page, fields) = match (method, pages(&request)) {
        (Some("GET" | "HEAD"), Some(page)) => ("200 OK", page, "Vary: Accept\r\n"),
        (_, Some(_)) => {
            let status = "405 Method Not Allowed";
            (status, Page::text(status), "Allow: GET, HEAD\r\n")
        }
        (_, None) => ("404 Not Found", Page::text("404 Not Found"), ""),
    };
    let mut reply = reply(status, &page, fields);
    if method == Some("HEAD") {
        reply.truncate(reply.len() - page.content.len());
        return (reply, None);
    }
    (reply, page.taken)
}

/// An answer with this status and these further fields.
fn reply(status: &str, page: &Page, fields: &str) -> Vec<u8> {
    let (length, media_type) = (page.content.len(), page.media_type);
    let mut reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\
         {fields}Connection: close\r\n\r\n"
    )
    .into_bytes();
    reply.extend_from_slice(&page.content);
    reply
}

impl Page {
    /// A line of text.
    fn text(line: &str) -> Self {
        Self {
            media_type: "text/plain; charset=utf-8",
            content: format!("{line}\n").into_bytes(),
            taken: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, mpsc};

    fn server() -> PageServer {
        let pages = |request: &PageRequest<'_>| {
            (request.path == "/m").then(|| Page {
                media_type: "text/plain",
                content: format!("for {}", request.accept).into_bytes(),
                taken: None,
            })
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
        assert!(head.contains("Content-Length: 4\r\n") && head.ends_with("\r\n\r\n"));
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

    /// The policy of the thread that makes a page.
    #[test]
    #[cfg(target_os = "linux")]
    fn pages_behind_a_run_have_threads_of_usual_weight() {
        let pages = |_: &PageRequest<'_>| {
            // SAFETY: a call without pointers; thread 0 is the calling one.
            #[expect(unsafe_code, reason = "no crate in use has this call")]
            let policy = unsafe { libc::sched_getscheduler(0) };
            Some(Page::text(&format!("policy {policy}")))
        };
        let server = PageServer::start("127.0.0.1:0", Arc::new(pages)).unwrap();
        let policy = || ask(&server, &["GET /m HTTP/1.1\r\n\r\n"]);
        let says = |policy: i32| format!("\r\n\r\npolicy {policy}\n");
        assert!(policy().ends_with(&says(libc::SCHED_IDLE)));
        server.hasten().unwrap();
        for _ in 0..20 {
            assert!(policy().ends_with(&says(libc::SCHED_OTHER)));
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
