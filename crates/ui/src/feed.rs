//! The parts of a run's page for those who watch it, as server-sent events (the HTML standard,
//! section 9.2), while the run goes on.
//!
//! ```text
//!   Run ── version ──► Feed ── look, only when it differs ──► parts ──► each viewer's own queue
//! ```
//!
//! A feed is one task for all viewers of a run. It looks at the run's version some times a second,
//! and at the run itself only when that has changed and a viewer is there: the page is drawn once
//! for all viewers, and each gets the parts that differ from what it has. A viewer that has seen
//! nothing gets all of them. A viewer whose queue is full is let go; its browser comes back by
//! itself, and gets the whole again. So a viewer may fall behind, and can hold up neither the run
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

/// The time between two looks at the version, at least.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// A look that took some time is not repeated before this multiple of it: a request in two hundred
/// may leave while one goes on, so that the lag's p99 does not know of it.
const REST: u32 = 200;
/// No more than this lies between two looks, whatever a look takes.
const REST_MAX: Duration = Duration::from_secs(5);
/// The time after which a silent viewer is sent a comment, which finds out whether it is there.
const SIGN_EVERY: Duration = Duration::from_secs(15);
/// Events that may wait for a viewer: those of two pages.
const QUEUE: usize = 128;

/// The feeds of all runs that are watched, by the name of the run.
#[derive(Clone)]
pub(crate) struct Feeds {
    open: Arc<Mutex<HashMap<String, Feed>>>,
    /// Whether the server ends.
    ending: watch::Receiver<bool>,
}

/// The viewers of one run that its task has not taken yet.
#[derive(Default)]
struct Feed {
    arriving: Vec<Viewer>,
}

/// A browser that shows the page.
struct Viewer {
    queue: Sender<Bytes>,
    /// The digest of each part that it has.
    seen: HashMap<&'static str, u64>,
}

/// The content of an event that has a part.
#[derive(Serialize)]
struct PartEvent<'a> {
    id: &'a str,
    html: &'a str,
    /// The part that stands before it.
    after: Option<&'a str>,
}

impl Feeds {
    /// None yet. They end when `ending` becomes true.
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

    /// Sends what changes until the run is over, the server ends or the last viewer has gone.
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
                let events = look.as_ref().map(Events::of);
                let is_over = look.as_ref().is_some_and(|look| !look.is_live);
                viewers.retain_mut(|viewer| viewer.is_sent(events.as_ref(), is_over));
                spoke = clock.now();
                rest = rest_after(Duration::from_nanos((spoke - began).0));
                // Of a run that can't be read any more nothing follows either.
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
                // An error is the server's end as well.
                _ = self.ending.changed() => {}
            }
        }
    }

    /// The viewers that have come since it was last asked.
    fn arrived(&self, name: &str) -> Vec<Viewer> {
        let mut open = self.lock();
        let feed = open.get_mut(name);
        feed.map(|feed| std::mem::take(&mut feed.arriving))
            .unwrap_or_default()
    }

    /// Whether no viewer has come meanwhile; the feed is closed then.
    fn is_left(&self, name: &str) -> bool {
        let mut open = self.lock();
        let is_left = open.get(name).is_none_or(|feed| feed.arriving.is_empty());
        if is_left {
            open.remove(name);
        }
        is_left
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Feed>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The run as it is now; `None` where it can't be read, or its drawing panicked.
async fn look(run: Run) -> Option<Look> {
    let looked = task::spawn_blocking(move || run.look()).await;
    looked.ok()?.ok()
}

/// The time until the next look, behind one that took this long.
fn rest_after(took: Duration) -> Duration {
    took.saturating_mul(REST).clamp(LOOK_EVERY, REST_MAX)
}

/// The events of all parts, each with its part's id and digest.
struct Events(Vec<(&'static str, u64, Bytes)>);

impl Events {
    fn of(look: &Look) -> Self {
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
    /// Sends the events of the parts that it has not seen, and of the run's end. Whether its queue had
    /// room for them.
    fn is_sent(&mut self, events: Option<&Events>, is_over: bool) -> bool {
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
            all.push(event("end", r#"{"note":"The run is over."}"#));
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
    // Texts and nothing else: there is nothing that JSON has no form for.
    let content = serde_json::to_string(&content).unwrap_or_default();
    event("part", &content)
}

/// An event whose data is one line.
fn event(name: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// A line that no browser shows.
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
