//! The metrics of a run while it goes on: an observer with a thread of its own sums them up, the
//! page of a server has them whenever a scraper comes, and receivers are sent them.

mod pusher;

use crate::exit::Failure;
use crate::output;
use crate::storing::without_secrets;
use drumfire_document::{Outputs, Text};
use drumfire_engine::Events;
use drumfire_measure::{RunEvent, RunInfo};
use drumfire_metrics::{Books, Push, Snapshot, negotiate};
use drumfire_net::{Clock, Page, PageRequest, PageServer, yield_to_others};
use drumfire_units::Nanos;
use pusher::{Pusher, Queue, Receiver};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The path of the page.
const PATH: &str = "/metrics";

/// How often it is looked whether the last figures were taken.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What tells of a run's metrics, before the run begins.
pub(crate) struct Metering {
    latest: Arc<Latest>,
    /// How long the page stays for a last scrape.
    linger: Nanos,
    receivers: Vec<Receiver>,
}

/// The same while the run goes on.
pub(crate) struct Meter {
    latest: Arc<Latest>,
    linger: Nanos,
    thread: JoinHandle<()>,
    pushers: Vec<Pusher>,
}

/// The last snapshot, between the thread that takes it and those that serve it.
#[derive(Default)]
struct Latest(Mutex<State>);

#[derive(Default)]
struct State {
    snapshot: Arc<Snapshot>,
    /// Whether the run is over.
    is_last: bool,
    /// Whether a scraper has taken the last figures.
    taken: Arc<AtomicBool>,
}

impl Metering {
    /// Listens where the outputs say so, and finds the receivers that they name; `None` where they
    /// want nothing of it.
    pub(crate) fn open(outputs: &Outputs) -> Result<Option<Self>, Failure> {
        let linger = linger(outputs)?;
        let receivers = receivers(outputs)?;
        let latest = Arc::new(Latest::default());
        match &outputs.metrics {
            Some(address) => serve(address, &latest, is_quiet(outputs))?,
            None if receivers.is_empty() => return Ok(None),
            None => {}
        }
        Ok(Some(Self {
            latest,
            linger,
            receivers,
        }))
    }

    /// Tells of what happens in a run from now on.
    pub(crate) fn start(self, info: &RunInfo, events: Events) -> Result<Meter, Failure> {
        let wrong = |error| Failure::failed(format!("a thread can't be started: {error}"));
        let pushers = self.receivers.into_iter().map(Pusher::start);
        let pushers: Vec<Pusher> = pushers.collect::<Result<_, _>>().map_err(wrong)?;
        let books = Books::new(Arc::new(without_secrets(info)));
        let outlets = Outlets {
            latest: Arc::clone(&self.latest),
            queues: pushers.iter().map(Pusher::queue).collect(),
        };
        let thread = thread::Builder::new().name("metrics".to_owned());
        let body = move || outlets.keep(books, events);
        Ok(Meter {
            latest: self.latest,
            linger: self.linger,
            thread: thread.spawn(body).map_err(wrong)?,
            pushers,
        })
    }
}

fn is_quiet(outputs: &Outputs) -> bool {
    outputs.quiet.as_ref().is_some_and(|quiet| quiet.value)
}

/// Serves the page at an address.
fn serve(address: &Text, latest: &Arc<Latest>, is_quiet: bool) -> Result<(), Failure> {
    let shared = Arc::clone(latest);
    let pages = move |request: &PageRequest<'_>| shared.page(request);
    let server = PageServer::start(&address.value, Arc::new(pages)).map_err(|error| {
        let (place, shown) = (&address.place, address.value.escape_default());
        Failure::usage(format!("{place}: can't listen on `{shown}`: {error}"))
    })?;
    for address in server.addresses().iter().filter(|_| !is_quiet) {
        output::complain(&format!("metrics are at http://{address}{PATH}"));
    }
    Ok(())
}

/// The receivers that the outputs name.
fn receivers(outputs: &Outputs) -> Result<Vec<Receiver>, Failure> {
    let named = [
        (Push::RemoteWrite, &outputs.remote_write),
        (Push::Influx, &outputs.influx),
        (Push::Otlp, &outputs.otlp),
    ];
    let fields = &outputs.push_headers;
    let named = named.into_iter();
    let named = named.filter_map(|(push, url)| Some((push, url.as_ref()?)));
    let receivers: Vec<Receiver> = named
        .map(|(push, url)| Receiver::new(push, url, fields, is_quiet(outputs)))
        .collect::<Result<_, _>>()?;
    match fields.first() {
        Some(field) if receivers.is_empty() => Err(Failure::usage(format!(
            "{}: there is no receiver; add --remote-write, --influx or --otlp",
            field.name.place
        ))),
        _ => Ok(receivers),
    }
}

/// How long the page stays.
fn linger(outputs: &Outputs) -> Result<Nanos, Failure> {
    let Some(Text { value, place, .. }) = &outputs.metrics_linger else {
        return Ok(Nanos::ZERO);
    };
    let wrong = |error| Failure::usage(format!("{place}: {error}"));
    let linger = value.parse().map_err(wrong)?;
    match outputs.metrics {
        Some(_) => Ok(linger),
        None => Err(Failure::usage(format!(
            "{place}: there is no page that could stay; add --metrics ADDR"
        ))),
    }
}

/// Where snapshots go.
struct Outlets {
    latest: Arc<Latest>,
    queues: Vec<Queue>,
}

impl Outlets {
    /// Sums up a run, and has a snapshot after each interval.
    fn keep(self, mut books: Books, events: Events) {
        yield_to_others();
        let mut at = Clock::unix_time();
        self.put(books.snapshot(at), false);
        for event in events {
            books.observe(&event);
            let is_last = matches!(event, RunEvent::Finished(_));
            if is_last || matches!(event, RunEvent::IntervalClosed(_)) {
                // A clock that was set back must not make a snapshot older than the one before.
                at = Clock::unix_time().max(at + 1_000_000);
                self.put(books.snapshot(at), is_last);
            }
        }
    }

    fn put(&self, snapshot: Snapshot, is_last: bool) {
        let snapshot = Arc::new(snapshot);
        for queue in &self.queues {
            queue.give(&snapshot, is_last);
        }
        self.latest.set(snapshot, is_last);
    }
}

impl Meter {
    /// Waits until the last figures are where they belong, but no longer than was asked for, and
    /// not when the user gives up on it. Gives back notes for the report.
    pub(crate) fn finish(self, is_given_up: &dyn Fn() -> bool) -> Vec<String> {
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
        let clock = Clock::start();
        while clock.now() < self.linger && !self.latest.is_taken() && !is_given_up() {
            thread::sleep(LOOK_EVERY);
        }
        let since = Clock::start();
        let pushers = self.pushers.into_iter();
        pushers
            .filter_map(|pusher| pusher.finish(&since, is_given_up))
            .collect()
    }
}

impl Latest {
    fn set(&self, snapshot: Arc<Snapshot>, is_last: bool) {
        let mut state = self.lock();
        state.snapshot = snapshot;
        state.is_last = is_last;
    }

    /// The page that a scraper asks for.
    fn page(&self, request: &PageRequest<'_>) -> Option<Page> {
        if request.path != PATH {
            return None;
        }
        let (snapshot, taken) = {
            let state = self.lock();
            let taken = state.is_last.then(|| Arc::clone(&state.taken));
            (Arc::clone(&state.snapshot), taken)
        };
        let form = negotiate(request.accept);
        Some(Page {
            media_type: form.media_type(),
            content: form.print(&snapshot),
            taken,
        })
    }

    fn is_taken(&self) -> bool {
        self.lock().taken.load(Ordering::Relaxed)
    }

    /// Nothing that could panic is done under the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
