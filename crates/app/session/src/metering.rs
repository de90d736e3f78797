//! The metrics of an active run. An observer sums them up, a page serves them to scrapers, and
//! receivers get them pushed.
//!
//! ```text
//!   events ─► Books ─► Snapshot ─┬─► Latest ◄── the page's thread, for each scraper
//!                                └─► Queue ──► Pusher's thread ──► Receiver, over HTTP
//! ```
//!
//! A snapshot is made at the beginning of the load, after each interval and at the end of the run.
//! Snapshots are shared and never change. During the run, nothing waits for scrapers or receivers: a
//! scraper gets the latest snapshot, and a receiver gets the snapshots that have accumulated. At the
//! end, the run waits for both for a limited time. The page stays for `metrics_linger` or until its
//! last figures were fetched, each pusher has its own time limit, and the user's next request for an
//! end stops both waits.
//!
//! [`Meter::open`] listens before the run, so that a port in use is a mistake of the plan and not of
//! the run. Everything is masked before it is summed up: the books get the facts without secrets.

mod backlog;
mod pace;
mod pusher;
mod receiver;

use crate::{
    Console, EndRequests, MeteringError, Note, Observer, Page, PageRequest, PageServer, Redactor,
    RunContext, SessionError,
};
use drumfire_document::{Outputs, Text};
use drumfire_measure::{RunEvent, Summary};
use drumfire_metrics::{Books, Push, Snapshot, negotiate};
use drumfire_net::Clock;
use drumfire_units::Nanos;
use pusher::{Pusher, Queue};
use receiver::Receiver;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The path of the page.
const PATH: &str = "/metrics";

/// The time between two checks whether the last figures were fetched.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The observer for the metrics of a run. `begin` starts a thread for each receiver and creates the
/// state of the run.
pub struct Meter {
    latest: Arc<Latest>,
    page: Option<PageServer>,
    /// The time for which the page waits for a last scrape.
    linger: Nanos,
    redactor: Redactor,
    receivers: Vec<Receiver>,
    under_way: Option<ObservedRun>,
}

/// The state of the observer during the run.
struct ObservedRun {
    /// The sums so far, without secrets.
    books: Books,
    /// The time of the last snapshot.
    at_unix_ns: u64,
    /// The threads that send to receivers.
    pushers: Vec<Pusher>,
    /// The destinations of each snapshot.
    outlets: Outlets,
    end_requests: EndRequests,
}

/// The last snapshot, shared by the thread that makes it and the threads that serve it.
#[derive(Default)]
struct Latest(Mutex<State>);

/// The snapshot for scrapers, and its place in the run.
#[derive(Default)]
struct State {
    snapshot: Arc<Snapshot>,
    /// Whether the run is over.
    is_last: bool,
    /// Whether a scraper has fetched the last figures.
    taken: Arc<AtomicBool>,
}

impl Meter {
    /// Listens and creates receivers as the outputs require; `None` if the outputs require no
    /// metrics. Without a console, no messages are shown.
    ///
    /// # Errors
    /// If an output is invalid, or its address cannot be listened on.
    pub fn open(
        outputs: &Outputs,
        redactor: &Redactor,
        console: Option<Arc<dyn Console>>,
    ) -> Result<Option<Self>, MeteringError> {
        let linger = linger(outputs)?;
        let voice = Voice {
            redactor: redactor.clone(),
            console,
        };
        let receivers = receivers(outputs, &voice)?;
        let latest = Arc::new(Latest::default());
        let page = match &outputs.monitoring.metrics {
            Some(address) => Some(serve(address, &latest, &voice)?),
            None if receivers.is_empty() => return Ok(None),
            None => None,
        };
        Ok(Some(Self {
            latest,
            page,
            linger,
            redactor: redactor.clone(),
            receivers,
            under_way: None,
        }))
    }
}

impl Observer for Meter {
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        let receivers = self.receivers.drain(..);
        let pushers = receivers.map(Pusher::start).collect::<Result<Vec<_>, _>>();
        let pushers = pushers.map_err(SessionError::Thread)?;
        let outlets = Outlets {
            latest: Arc::clone(&self.latest),
            queues: pushers.iter().map(Pusher::queue).collect(),
        };
        let books = Books::new(Arc::new(self.redactor.info(&run.info)));
        let at_unix_ns = Clock::unix_time();
        outlets.publish(books.snapshot(at_unix_ns), false);
        self.under_way = Some(ObservedRun {
            books,
            at_unix_ns,
            pushers,
            outlets,
            end_requests: run.end_requests.clone(),
        });
        Ok(())
    }

    /// A snapshot made on a worker's core would delay its requests.
    fn yields(&self) -> bool {
        true
    }

    /// Sums up the run, and makes a snapshot after each interval.
    fn observe(&mut self, event: &RunEvent) {
        let Some(under_way) = &mut self.under_way else {
            return;
        };
        if let RunEvent::Started(info) = event {
            // Nothing was counted before, and the times start now.
            under_way.books = Books::new(Arc::new(self.redactor.info(info)));
        }
        let ObservedRun {
            books,
            at_unix_ns,
            outlets,
            ..
        } = under_way;
        books.observe(event);
        let is_last = matches!(event, RunEvent::Finished(_));
        let is_news = matches!(event, RunEvent::Started(_) | RunEvent::IntervalClosed(_));
        if is_last || is_news {
            // If the clock was set back, a snapshot must not be older than the previous one.
            *at_unix_ns = Clock::unix_time().max(*at_unix_ns + 1_000_000);
            outlets.publish(books.snapshot(*at_unix_ns), is_last);
        }
    }

    /// Waits until the last figures have arrived, at most for the configured time, or until the
    /// user stops the wait.
    fn finish(self: Box<Self>, _summary: &Summary) -> Vec<Note> {
        let Some(under_way) = self.under_way else {
            return Vec::new();
        };
        let ObservedRun {
            pushers,
            outlets,
            end_requests,
            ..
        } = under_way;
        // Without a queue, no more snapshots can come.
        drop(outlets);
        // All pushers send at once; then wait for each of them.
        let pushers: Vec<_> = pushers.into_iter().map(Pusher::finish).collect();
        let before = end_requests.count();
        let is_given_up = || end_requests.count() > before;
        if let Some(page) = &self.page {
            // If no thread can be started, the page continues as before.
            let _as_before = page.hasten();
        }
        let clock = Clock::start();
        while clock.now() < self.linger && !self.latest.is_taken() && !is_given_up() {
            thread::sleep(LOOK_EVERY);
        }
        let since = Clock::start();
        let pushers = pushers.into_iter();
        let notes = pushers.filter_map(|pusher| pusher.finish(&since, &is_given_up));
        notes.map(Note::Report).collect()
    }
}

/// The messages of a receiver or a page: the console, and the secrets to mask.
#[derive(Clone)]
struct Voice {
    redactor: Redactor,
    /// `None` in a quiet run.
    console: Option<Arc<dyn Console>>,
}

impl Voice {
    fn note(&self, message: &str) {
        if let Some(console) = &self.console {
            console.note(message);
        }
    }
}

/// Serves the page at an address.
fn serve(address: &Text, latest: &Arc<Latest>, voice: &Voice) -> Result<PageServer, MeteringError> {
    let shared = Arc::clone(latest);
    let pages = move |request: &PageRequest<'_>| shared.page(request);
    let server = PageServer::start(&address.value, Arc::new(pages));
    let server = server.map_err(|error| MeteringError::Listen {
        address: address.clone(),
        error,
    })?;
    for address in server.addresses() {
        voice.note(&format!("metrics are at http://{address}{PATH}"));
    }
    Ok(server)
}

/// The receivers in the outputs.
fn receivers(outputs: &Outputs, voice: &Voice) -> Result<Vec<Receiver>, MeteringError> {
    let named = [
        (Push::RemoteWrite, &outputs.monitoring.remote_write),
        (Push::Influx, &outputs.monitoring.influx),
        (Push::Otlp, &outputs.monitoring.otlp),
    ];
    let fields = &outputs.monitoring.push_headers;
    let named = named.into_iter();
    let named = named.filter_map(|(push, url)| Some((push, url.as_ref()?)));
    let receivers: Vec<Receiver> = named
        .map(|(push, url)| Receiver::new(push, url, fields, voice.clone()))
        .collect::<Result<_, _>>()?;
    match fields.first() {
        Some(field) if receivers.is_empty() => Err(MeteringError::NoReceiver {
            place: field.name.place.clone(),
        }),
        _ => Ok(receivers),
    }
}

/// The time for which the page stays; an error without a page.
fn linger(outputs: &Outputs) -> Result<Nanos, MeteringError> {
    let Some(Text { value, place, .. }) = &outputs.monitoring.metrics_linger else {
        return Ok(Nanos::ZERO);
    };
    let linger = value.parse::<Nanos>();
    let linger = linger.map_err(|error| MeteringError::Linger {
        place: place.clone(),
        reason: error.to_string(),
    })?;
    match outputs.monitoring.metrics {
        Some(_) => Ok(linger),
        None => Err(MeteringError::NoPage {
            place: place.clone(),
        }),
    }
}

/// The destinations of snapshots. Dropping the value ends the queues.
struct Outlets {
    latest: Arc<Latest>,
    queues: Vec<Queue>,
}

impl Outlets {
    /// Puts a snapshot into every queue, and sets it as the page's snapshot.
    fn publish(&self, snapshot: Snapshot, is_last: bool) {
        let snapshot = Arc::new(snapshot);
        for queue in &self.queues {
            match is_last {
                true => queue.give_last(&snapshot),
                false => queue.push(&snapshot),
            }
        }
        self.latest.set(snapshot, is_last);
    }
}

impl Latest {
    fn set(&self, snapshot: Arc<Snapshot>, is_last: bool) {
        let mut state = self.lock();
        state.snapshot = snapshot;
        state.is_last = is_last;
    }

    /// The page for a scraper's request, in a form that it accepts. For `/`, a line with the path
    /// of the page; `None` for any other path. The page is rendered outside of the lock, because a
    /// snapshot never changes.
    fn page(&self, request: &PageRequest<'_>) -> Option<Page> {
        if request.path == "/" {
            return Some(Page {
                media_type: "text/plain; charset=utf-8",
                content: format!("the metrics of this run are at {PATH}\n").into_bytes(),
                taken: None,
            });
        }
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

    /// Locks the state, even after a panic, because code under the lock cannot panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
