//! The control socket of a run with slow clients.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(clippy::disallowed_methods, reason = "the socket has a folder")]

use drumfire_engine::Control;
use drumfire_measure::{RunEvent, Summary, form};
use drumfire_net::{ResolveError, Resolved};
use drumfire_plan::{Change, Command, Reach, StopReason};
use drumfire_session::{
    Answer, Note, Observer, Question, Redactor, Remote, RunContext, SOCKET_EXTENSION, Session,
    SessionError, prepare,
};
use drumfire_target::{Listen, Server, ServerOptions};
use drumfire_testkit::closed;
use drumfire_units::Nanos;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Two clients of a run's socket. The first sends a byte now and then, forever.
struct Clients {
    folder: PathBuf,
    second: Option<JoinHandle<io::Result<Answer>>>,
}

impl Observer for Clients {
    /// Begins after the observer that opens the socket.
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        let mut first = connect(&self.folder);
        first.write_all(b"x").unwrap();
        thread::spawn(move || drip(first));
        let second = connect(&self.folder);
        let control = run.control.clone();
        self.second = Some(thread::spawn(move || stop(second, &control)));
        Ok(())
    }

    fn observe(&mut self, _event: &RunEvent) {}

    fn finish(mut self: Box<Self>, _summary: &Summary) -> Vec<Note> {
        let answer = self.second.take().unwrap().join().unwrap();
        assert!(matches!(answer, Ok(Answer::Done(_))), "{answer:?}");
        Vec::new()
    }
}

/// A connection to the only socket in a folder.
fn connect(folder: &Path) -> UnixStream {
    let mut entries = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let socket = entries.find(|path| path.extension().is_some_and(|it| it == SOCKET_EXTENSION));
    UnixStream::connect(socket.unwrap()).unwrap()
}

/// Sends a byte after each wait for an answer, until the connection is closed.
fn drip(mut stream: UnixStream) {
    let wait = Some(Duration::from_millis(100));
    stream.set_read_timeout(wait).unwrap();
    while stream.write_all(b"x").is_ok() {
        let waited = stream.read(&mut [0]);
        if !waited.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            return;
        }
    }
}

/// Sends a command to stop the run, and then stops it in any case.
fn stop(mut stream: UnixStream, control: &Control) -> io::Result<Answer> {
    let reason = StopReason::Command;
    let question = Question::Command(Command::soon(Change::Stop { reason }));
    let mut answer = Vec::new();
    let wait = Some(Duration::from_secs(60));
    let read = stream
        .set_read_timeout(wait)
        .and_then(|()| stream.write_all(&form::encode(&question)))
        .and_then(|()| stream.shutdown(Shutdown::Write))
        .and_then(|()| stream.read_to_end(&mut answer));
    control.stop_now(reason);
    read?;
    form::decode(&answer).map_err(|error| io::Error::other(error.to_string()))
}

fn never(_: &Reach, host: &str, _: u16, timeout: Nanos) -> Result<Resolved, ResolveError> {
    drumfire_net::resolve(host, 0, timeout)
}

/// Runs a plan with one user to its end, with these observers.
fn run(folder: &Path, requests: u64, observed: impl FnOnce(Session<'_>) -> Session<'_>) {
    let any = Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
    let options = ServerOptions {
        listen: vec![any],
        ..ServerOptions::default()
    };
    let server = Server::start(options).unwrap();
    let url = format!("http://{}/", server.tcp().unwrap());
    let plan = closed(1).to(&[&url]).requests(requests).plan().unwrap();
    let prepared = prepare(plan, Arc::new(never)).unwrap();
    std::fs::create_dir(folder).unwrap();
    let outcome = observed(Session::new(prepared)).run();
    let _counters = server.stop();
    std::fs::remove_dir_all(folder).unwrap();
    assert!(outcome.is_ok(), "{outcome:?}");
}

/// A folder for sockets that does not exist yet.
fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("drumfire-{name}-{}", std::process::id()))
}

#[test]
fn a_client_that_drips_does_not_hold_up_the_next() {
    let folder = folder("remote");
    let clients = Clients {
        folder: folder.clone(),
        second: None,
    };
    run(&folder, u64::MAX, |session| {
        let remote = Remote::within(Ok(folder.clone()), &Redactor::default(), None);
        session.observed_by(remote).observed_by(clients)
    });
}

/// The socket of a stopped process whose run another process took over. The socket is dropped at
/// the run's first event.
struct Paused {
    folder: PathBuf,
    remote: Option<Remote>,
    /// Whether the other process's socket existed afterwards.
    is_left: Arc<AtomicBool>,
}

impl Observer for Paused {
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        self.remote.as_mut().unwrap().run_started(run)
    }

    fn observe(&mut self, _event: &RunEvent) {
        if let Some(remote) = self.remote.take() {
            drop(remote);
            let left = self.folder.read_dir().unwrap().flatten().next();
            let is_left = left.is_some_and(|left| UnixStream::connect(left.path()).is_ok());
            self.is_left.store(is_left, Ordering::Relaxed);
        }
    }

    fn finish(self: Box<Self>, _summary: &Summary) -> Vec<Note> {
        Vec::new()
    }
}

#[test]
fn a_socket_goes_with_its_own_process() {
    let folder = folder("paused");
    let is_left = Arc::new(AtomicBool::new(false));
    let remote = || Remote::within(Ok(folder.clone()), &Redactor::default(), None);
    let paused = Paused {
        folder: folder.clone(),
        remote: Some(remote()),
        is_left: Arc::clone(&is_left),
    };
    run(&folder, 10, |session| {
        session.observed_by(paused).observed_by(remote())
    });
    assert!(is_left.load(Ordering::Relaxed), "the other one's is there");
}
