//! The order in which a session calls its observers, tested with a run against a local target.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use drumfire_measure::{RunEvent, RunInfo, Summary};
use drumfire_net::{Clock, ResolveError, Resolved};
use drumfire_plan::{Plan, Reach};
use drumfire_session::{
    Note, Observer, Outcome, OutputError, RunContext, Session, SessionError, prepare,
};
use drumfire_target::{Listen, Running, Server, ServerOptions};
use drumfire_testkit::closed;
use drumfire_units::Nanos;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The calls, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// An observer that records its calls, and has a note for the report.
struct Scribe {
    name: &'static str,
    log: Log,
    /// Whether opening fails.
    is_broken: bool,
    /// Whether beginning fails.
    is_late: bool,
}

impl Scribe {
    fn new(name: &'static str, log: &Log) -> Self {
        Self {
            name,
            log: Arc::clone(log),
            is_broken: false,
            is_late: false,
        }
    }

    fn write(&self, what: &str) {
        let line = format!("{} {what}", self.name);
        self.log.lock().unwrap().push(line);
    }
}

impl Observer for Scribe {
    fn open(&mut self, info: &mut RunInfo) -> Result<(), SessionError> {
        self.write("open");
        info.notes.push(format!("{} was opened", self.name));
        match self.is_broken {
            false => Ok(()),
            true => Err(OutputError::Thread(io::Error::other("none")).into()),
        }
    }

    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        assert!(run.info.notes.iter().any(|note| note == "store was opened"));
        self.write("begin");
        match self.is_late {
            false => Ok(()),
            true => Err(OutputError::Thread(io::Error::other("none")).into()),
        }
    }

    fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(_) => self.write("started"),
            RunEvent::Finished(_) => self.write("finished"),
            _ => {}
        }
    }

    fn finish(self: Box<Self>, summary: &Summary) -> Vec<Note> {
        let ended = summary.info.notes.iter();
        let ended: Vec<&str> = ended
            .filter_map(|note| note.strip_suffix(" has ended"))
            .collect();
        self.write(&format!("finish after [{}]", ended.join(" ")));
        vec![
            Note::Report(format!("{} has ended", self.name)),
            Note::Failure(format!("{} lacks its result", self.name)),
        ]
    }
}

fn never(_: &Reach, host: &str, _: u16, timeout: Nanos) -> Result<Resolved, ResolveError> {
    drumfire_net::resolve(host, 0, timeout)
}

/// A target.
fn server() -> Running {
    let any = Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
    let options = ServerOptions {
        listen: vec![any],
        ..ServerOptions::default()
    };
    Server::start(options).unwrap()
}

/// A plan with a number of requests to a target.
fn requests_to(server: &Running, requests: u64) -> Plan {
    let url = format!("http://{}/", server.tcp().unwrap());
    closed(1).to(&[&url]).requests(requests).plan().unwrap()
}

/// A session of ten requests to a target, with these observers in their own threads and in this
/// one.
fn run(beside: Vec<Scribe>, here: Vec<Scribe>) -> Result<Outcome, SessionError> {
    run_of(10, beside, here)
}

/// A session of a number of requests, with these observers.
fn run_of(requests: u64, beside: Vec<Scribe>, here: Vec<Scribe>) -> Result<Outcome, SessionError> {
    let server = server();
    let plan = requests_to(&server, requests);
    let prepared = prepare(plan, Arc::new(never)).unwrap();
    let mut session = Session::new(prepared).noted(&["first".to_owned()]);
    for scribe in beside {
        session = session.observed_beside(scribe.name, scribe);
    }
    for scribe in here {
        session = session.observed_by(scribe);
    }
    let outcome = session.run();
    let _counters = server.stop();
    outcome
}

#[test]
fn observers_end_in_the_opposite_order_of_their_attachment() {
    let log = Log::default();
    let scribe = |name| Scribe::new(name, &log);
    let outcome = run(
        vec![scribe("store"), scribe("metrics")],
        vec![scribe("line"), scribe("rows")],
    );
    let outcome = outcome.unwrap();
    assert_eq!(outcome.summary.total.counts.ok, 10);
    let log = log.lock().unwrap();
    let of = |what: &str| -> Vec<String> {
        let lines = log.iter().filter(|line| line.contains(what));
        lines.cloned().collect()
    };
    let names = ["store", "metrics", "line", "rows"];
    assert_eq!(of(" open"), names.map(|name| format!("{name} open")));
    assert_eq!(of(" begin"), names.map(|name| format!("{name} begin")));
    // Each observer sees the whole run, in any thread.
    assert_eq!(of(" started").len(), 4);
    assert_eq!(of(" finished").len(), 4);
    assert_eq!(
        of(" finish after"),
        [
            "rows finish after []",
            "line finish after [rows]",
            "metrics finish after [rows line]",
            "store finish after [rows line metrics]",
        ]
    );
    let notes = &outcome.summary.info.notes;
    assert_eq!(notes.first().map(String::as_str), Some("first"));
    assert_eq!(notes.last().map(String::as_str), Some("store has ended"));
    assert_eq!(
        outcome.failures,
        names.map(|name| format!("{name} lacks its result"))
    );
}

/// An observer with a slow thread, which records the threads in which it sees events. Its first
/// event takes longer than the run: until the next observer in the log has ended.
struct Sluggard(Arc<Mutex<Vec<ThreadId>>>, Log);

impl Observer for Sluggard {
    fn yields(&self) -> bool {
        true
    }

    fn observe(&mut self, event: &RunEvent) {
        self.0.lock().unwrap().push(thread::current().id());
        if let RunEvent::Started(_) = event {
            let has_ended = |line: &String| line.starts_with("store finish after");
            for _ in 0..60_000 {
                if self.1.lock().unwrap().iter().any(has_ended) {
                    break;
                }
                thread::sleep(Duration::from_millis(1));
            }
            // Then this observer is taken over.
            thread::sleep(Duration::from_millis(300));
        }
    }
}

/// The run ends long before this observer has seen the first event.
#[test]
fn events_that_wait_behind_a_run_are_seen_in_the_callers_thread() {
    let log = Log::default();
    let threads = Arc::default();
    let server = server();
    let prepared = prepare(requests_to(&server, 10), Arc::new(never)).unwrap();
    let session = Session::new(prepared)
        .observed_beside("sluggard", Sluggard(Arc::clone(&threads), Arc::clone(&log)))
        .observed_beside("store", Scribe::new("store", &log));
    session.run().unwrap();
    let threads = threads.lock().unwrap();
    // On a busy machine, the observer's own thread has not even seen the first event.
    let (_first, rest) = threads.split_first().unwrap();
    let here = thread::current().id();
    assert!(!rest.is_empty() && rest.iter().all(|thread| *thread == here));
    assert!(log.lock().unwrap().contains(&"store finished".to_owned()));
}

/// An observer with a defect.
struct Broken;

impl Observer for Broken {
    fn observe(&mut self, event: &RunEvent) {
        assert!(!matches!(event, RunEvent::Started(_)), "a defect");
    }
}

#[test]
fn a_panic_of_an_observers_thread_is_the_sessions() {
    let server = server();
    let prepared = prepare(requests_to(&server, 10), Arc::new(never)).unwrap();
    let session = Session::new(prepared).observed_beside("broken", Broken);
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| session.run().map(drop)));
    let panic = panicked.expect_err("the observer's panic");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a defect"));
}

/// An observer that reads the wall clock when the run starts.
struct Watchmaker(Arc<Mutex<Option<(u64, u64)>>>);

impl Observer for Watchmaker {
    fn observe(&mut self, event: &RunEvent) {
        if let RunEvent::Started(info) = event {
            let times = (info.started_at_unix_ns, Clock::unix_time());
            *self.0.lock().unwrap() = Some(times);
        }
    }
}

/// A target that finishes no handshake delays the load by two seconds, and the run's start time as
/// well.
#[test]
fn a_run_starts_when_its_connections_were_given_their_time() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let plan = closed(2).to(&[&url]).requests(2);
    let plan = plan.with(|pool| pool.timeouts.total = Nanos::from_millis(50));
    let prepared = prepare(plan.plan().unwrap(), Arc::new(never)).unwrap();
    let seen = Arc::default();
    let before = Clock::unix_time();
    let session = Session::new(prepared).observed_by(Watchmaker(Arc::clone(&seen)));
    let summary = session.run().unwrap().summary;
    let (started, now) = seen.lock().unwrap().unwrap();
    assert_eq!(summary.info.started_at_unix_ns, started);
    assert!(started >= before + 1_900_000_000, "{}", started - before);
    assert!(started <= now);
}

#[test]
fn an_observer_that_cant_be_opened_keeps_the_run_from_starting() {
    let log = Log::default();
    let broken = Scribe {
        is_broken: true,
        ..Scribe::new("store", &log)
    };
    let outcome = run(vec![broken], vec![Scribe::new("line", &log)]);
    assert!(matches!(outcome, Err(SessionError::Stream(_))));
    assert_eq!(*log.lock().unwrap(), ["store open"]);
}

/// The load has begun, and ends before the error is returned.
#[test]
fn an_observer_that_can_not_begin_ends_the_run() {
    let log = Log::default();
    let late = |name| Scribe {
        is_late: true,
        ..Scribe::new(name, &log)
    };
    for (beside, here) in [
        (vec![Scribe::new("store", &log), late("late")], Vec::new()),
        (vec![Scribe::new("store", &log)], vec![late("late")]),
    ] {
        // More requests than a test would wait for.
        let outcome = run_of(u64::MAX, beside, here);
        assert!(outcome.is_err(), "{outcome:?}");
        let log = std::mem::take(&mut *log.lock().unwrap());
        assert!(log.iter().any(|line| line == "store finished"), "{log:?}");
    }
}
