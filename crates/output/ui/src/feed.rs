//! The parts of a run's page, sent to its viewers as server-sent events while the run is active (the
//! HTML standard, section 9.2).
//!
//! ```text
//!   Run ── version ──► Feed ── look, only when it differs ──► parts ──► each viewer's own queue
//! ```
//!
//! A feed is one task for all viewers of a run. It checks the run's version several times a second,
//! and reads the run itself only if the version has changed and a viewer is connected. The page is
//! drawn once for all viewers, and each gets the parts that differ from its own. A new viewer gets
//! all parts. If the queue of a viewer is full, the viewer is disconnected; its browser reconnects
//! by itself and gets everything again. So a viewer may fall behind, but can delay neither the run
//! nor another viewer.

use crate::look::Look;
use crate::site::Run;
use bytes::Bytes;
use drumfire_net::Clock;
use drumfire_report::html::Part;
use serde::Serialize;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::watch;
use tokio::task;
use tokio::time::sleep;

/// The minimum time between two checks of the version.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The rest after a look, as a multiple of its duration: at most one request in two hundred is sent
/// during a look, so that looks do not affect the p99 of the lag.
const REST: u32 = 200;
/// The maximum rest between two looks.
const REST_MAX: Duration = Duration::from_secs(5);
/// The time after which a silent viewer is sent a comment, which detects whether it is still
/// connected.
const SIGN_EVERY: Duration = Duration::from_secs(15);
/// The maximum number of events that wait for a viewer: two pages of them.
const QUEUE: usize = 128;

/// The feeds of all watched runs, by the name of the run.
#[derive(Clone)]
pub(crate) struct Feeds {
    open: Arc<Mutex<HashMap<String, RunFeed>>>,
    /// Whether the server is ending.
    ending: watch::Receiver<bool>,
}

/// The viewers of one run that its task has not taken over yet.
#[derive(Default)]
struct RunFeed {
    arriving: Vec<Viewer>,
}

/// A browser that shows the page.
struct Viewer {
    queue: Sender<Bytes>,
    /// The digest of each part that the viewer has.
    seen: HashMap<&'static str, u64>,
}

/// The content of an event with a part.
#[derive(Serialize)]
struct PartEvent<'a> {
    id: &'a str,
    html: &'a str,
    /// The part that precedes it.
    after: Option<&'a str>,
}

impl Feeds {
    /// Creates a set without feeds. Feeds end when `ending` becomes true.
    pub(crate) fn new(ending: watch::Receiver<bool>) -> Self {
        Self {
            open: Arc::default(),
            ending,
        }
    }

    /// The events of a run for a further viewer.
    pub(crate) fn watch(&self, name: &str, run: Run) -> Receiver<Bytes> {
        let (queue, events) = mpsc::channel(QUEUE);
        let viewer = Viewer {
            queue,
            seen: HashMap::new(),
        };
        let mut open = self.lock();
        let is_new = !open.contains_key(name);
        open.entry(name.to_owned())
            .or_default()
            .arriving
            .push(viewer);
        drop(open);
        if is_new {
            task::spawn(self.clone().follow(name.to_owned(), run));
        }
        events
    }

    /// Sends changes until the run is over, the server ends or the last viewer has disconnected.
    async fn follow(mut self, name: String, run: Run) {
        let mut viewers = Vec::new();
        let mut shown = None;
        let clock = Clock::start();
        let mut spoke = clock.now();
        loop {
            let is_ending = *self.ending.borrow_and_update();
            let arrived = self.arrived(&name);
            let has_news = !arrived.is_empty() || shown != Some(run.version());
            viewers.extend(arrived);
            let mut rest = LOOK_EVERY;
            if has_news || is_ending {
                let began = clock.now();
                shown = Some(run.version());
                let look = look(run.clone()).await;
                let events = look.as_ref().map(PartEvents::from_look);
                let is_over = look.as_ref().is_some_and(|look| !look.is_live);
                viewers.retain_mut(|viewer| viewer.is_sent(events.as_ref(), is_over));
                spoke = clock.now();
                rest = rest_after(Duration::from_nanos((spoke - began).0));
                // No events follow for a run that cannot be read any more, either.
                if is_ending || is_over || look.is_none() {
                    self.lock().remove(&name);
                    return;
                }
            } else if Duration::from_nanos((clock.now() - spoke).0) >= SIGN_EVERY {
                spoke = clock.now();
                viewers.retain(|viewer| viewer.queue.try_send(comment()).is_ok());
            }
            viewers.retain(|viewer| !viewer.queue.is_closed());
            if viewers.is_empty() && self.is_left(&name) {
                return;
            }
            tokio::select! {
                () = sleep(rest) => {}
                // An error also means that the server is ending.
                _ = self.ending.changed() => {}
            }
        }
    }

    /// The viewers that have arrived since the last call.
    fn arrived(&self, name: &str) -> Vec<Viewer> {
        let mut open = self.lock();
        let feed = open.get_mut(name);
        feed.map(|feed| std::mem::take(&mut feed.arriving))
            .unwrap_or_default()
    }

    /// Whether no viewer has arrived meanwhile; if so, the feed is closed.
    fn is_left(&self, name: &str) -> bool {
        let mut open = self.lock();
        let is_left = open.get(name).is_none_or(|feed| feed.arriving.is_empty());
        if is_left {
            open.remove(name);
        }
        is_left
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, RunFeed>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The current run; `None` if it cannot be read, or drawing it panicked.
async fn look(run: Run) -> Option<Look> {
    let looked = task::spawn_blocking(move || run.look()).await;
    looked.ok()?.ok()
}

/// The time until the next look, after a look that took `took`.
fn rest_after(took: Duration) -> Duration {
    took.saturating_mul(REST).clamp(LOOK_EVERY, REST_MAX)
}

/// The events of all parts, each with its part's id and digest.
struct PartEvents(Vec<(&'static str, u64, Bytes)>);

impl PartEvents {
    fn from_look(look: &Look) -> Self {
        let mut before = None;
        let events = look.parts.iter().map(|part| {
            let event = of_part(part, before);
            before = Some(part.id);
            (part.id, digest(&part.html), event)
        });
        Self(events.collect())
    }
}

impl Viewer {
    /// Sends the events of the parts that the viewer has not seen, and of the run's end. Returns
    /// whether its queue had room for them.
    fn is_sent(&mut self, events: Option<&PartEvents>, is_over: bool) -> bool {
        let mut all = Vec::new();
        for (id, digest, event) in events.iter().flat_map(|events| &events.0) {
            if self.seen.insert(id, *digest) != Some(*digest) {
                all.push(event.clone());
            }
        }
        if !all.is_empty() {
            all.push(event("batch", "{}"));
        }
        if is_over {
            all.push(event("end", r#"{"note":"the run is over"}"#));
        }
        all.into_iter()
            .all(|event| self.queue.try_send(event).is_ok())
    }
}

fn of_part(part: &Part, after: Option<&str>) -> Bytes {
    let content = PartEvent {
        id: part.id,
        html: &part.html,
        after,
    };
    // The content consists only of texts, which JSON can always represent.
    let content = serde_json::to_string(&content).unwrap_or_default();
    event("part", &content)
}

/// An event whose data is one line.
fn event(name: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// A line that browsers do not show.
const fn comment() -> Bytes {
    Bytes::from_static(b":\n\n")
}

fn digest(html: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    html.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_takes_a_two_hundredth_of_the_time_and_stays_alive() {
        let ms = Duration::from_millis;
        assert_eq!(rest_after(Duration::ZERO), ms(250));
        assert_eq!(rest_after(ms(1)), ms(250));
        assert_eq!(rest_after(ms(4)), ms(800));
        assert_eq!(rest_after(ms(30)), ms(5_000));
        assert_eq!(rest_after(Duration::MAX), ms(5_000));
    }
}
