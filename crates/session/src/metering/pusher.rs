//! Snapshots on their way to a receiver that the user has named: a queue that never fills, and a
//! thread that sends what is in it, again and again where the receiver does not answer.

use super::{LOOK_EVERY, Voice};
use crate::MeteringError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_document::{Field, Place, Text};
use drumfire_metrics::{Push, Snapshot};
use drumfire_net::{
    Clock, PostAnswer, PostTarget, TlsConfig, TlsIdentity, TlsMaterial, TlsOptions, TlsVerify,
    yield_to_others,
};
use drumfire_plan::{Header, Host, Scheme, Url};
use drumfire_report::untrusted::Untrusted;
use drumfire_units::Nanos;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Display;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often what has come is sent.
const SEND_EVERY: Duration = Duration::from_secs(5);
/// How far snapshots that are sent lie apart at least.
const SNAPSHOT_EVERY: Nanos = Nanos(1_000_000_000);
/// How many snapshots wait for a receiver at most. Beyond them every other one is left out, again
/// and again: what they count is in the next one.
const WAITING_MAX: usize = 300;
/// How many are sent at a time.
const BATCH_MAX: usize = 30;
/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a receiver that failed is left alone at first, and at most.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
const PAUSE_MOST: Duration = Duration::from_secs(30);
/// How long the end of a run waits for receivers.
const LAST_PATIENCE: Duration = Duration::from_secs(10);
/// How much of a receiver's answer a message quotes.
const QUOTE_CHARS: usize = 200;

/// A receiver.
pub(super) struct Receiver {
    /// Its name in messages, without secrets.
    name: String,
    push: Push,
    target: PostTarget,
    voice: Voice,
}

/// The way to a receiver while a run goes on.
pub(super) struct Pusher {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

/// What the thread shares with those that give it work.
struct Shared {
    receiver: Receiver,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Arc<Snapshot>>,
    /// When the last one came.
    last: Option<u64>,
    /// No more will come.
    is_over: bool,
    /// The end of the run no longer waits.
    is_given_up: bool,
    /// The last failure, if what came after it has not been sent.
    failure: Option<String>,
    /// How many the receiver has refused, and why it refused the first of them.
    refused: u64,
    refusal: Option<String>,
}

/// What becomes of snapshots that were sent.
enum Sent {
    Taken,
    /// They may be taken later.
    Failed(String),
    /// They never will be.
    Refused(String),
}

impl Receiver {
    /// The receiver at this URL, with these header fields more.
    pub(super) fn new(
        push: Push,
        url: &Text,
        fields: &[Field],
        voice: Voice,
    ) -> Result<Self, MeteringError> {
        let place = &url.place;
        let parsed = Url::parse(&url.value);
        let parsed = parsed.map_err(|error| wrong(place, &error))?;
        let origin = &parsed.origin;
        let host = match &origin.host {
            Host::Name(name) => name.clone(),
            Host::Address(address) => address.to_string(),
        };
        let tls = match origin.scheme {
            Scheme::Http => None,
            Scheme::Https => Some(TlsConfig::new(&TlsOptions {
                name: &host,
                material: &TlsMaterial::default(),
                identity: TlsIdentity::Withheld,
                verify: TlsVerify::Yes,
                alpn: &[],
                resumed_per_million: 1_000_000,
            })),
        };
        let tls = tls.transpose();
        let tls = tls.map_err(|error| wrong(place, &error))?;
        Ok(Self {
            name: format!("{place} {origin}"),
            push,
            target: PostTarget {
                host,
                port: origin.port,
                tls,
                target: push.target(&parsed.target),
                fields: header(push, &parsed, fields)?,
            },
            voice,
        })
    }

    /// Sends snapshots.
    fn send(&self, snapshots: &[Arc<Snapshot>]) -> Sent {
        let snapshots: Vec<&Snapshot> = snapshots.iter().map(|snapshot| &**snapshot).collect();
        let content = match self.push.print(&snapshots) {
            Ok(content) => content,
            Err(error) => return Sent::Refused(error),
        };
        match self.target.post(&content, PATIENCE) {
            Ok(answer) => self.judge(&answer),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                Sent::Failed("no answer in time".to_owned())
            }
            Err(error) => Sent::Failed(error.to_string()),
        }
    }

    /// What an answer means: a server that has trouble may take the same later, one that finds
    /// something wrong with it never will.
    fn judge(&self, answer: &PostAnswer) -> Sent {
        let status = answer.status;
        let left_out = match status {
            200..300 => self.push.left_out(&answer.content),
            _ => None,
        };
        let text = left_out.clone().map_or_else(|| answer.text(), Cow::Owned);
        let text: String = text.trim().chars().take(QUOTE_CHARS).collect();
        let text = Untrusted::new(&text).escaped(drumfire_report::style::Unicode::On);
        let text = self.voice.redactor.text(&text);
        let said = match text.is_empty() {
            true => format!("it answered {status}"),
            false => format!("it answered {status}: {text}"),
        };
        match status {
            200..300 if left_out.is_none() => Sent::Taken,
            408 | 429 | 500..600 => Sent::Failed(said),
            _ => Sent::Refused(said),
        }
    }
}

/// A mistake in what was written of a receiver.
fn wrong(place: &Place, error: &dyn Display) -> MeteringError {
    MeteringError::Receiver {
        place: place.clone(),
        reason: error.to_string(),
    }
}

/// The header fields of every request.
fn header(push: Push, url: &Url, fields: &[Field]) -> Result<String, MeteringError> {
    let mut header = format!(
        "Host: {}\r\nUser-Agent: drumfire/{}\r\n{}",
        url.origin.host_header(),
        env!("CARGO_PKG_VERSION"),
        push.fields()
    );
    if let Some(userinfo) = &url.userinfo {
        header += &format!("Authorization: Basic {}\r\n", STANDARD.encode(userinfo));
    }
    for field in fields {
        let (name, value) = (&field.name.value, &field.value.value);
        let checked = Header::new(name, value.as_bytes());
        checked.map_err(|error| wrong(&field.name.place, &error))?;
        header += &format!("{name}: {value}\r\n");
    }
    Ok(header)
}

impl Pusher {
    /// Starts a thread that sends the snapshots of its queue to a receiver.
    pub(super) fn start(receiver: Receiver) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            receiver,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let body = {
            let shared = Arc::clone(&shared);
            move || shared.work()
        };
        let thread = thread::Builder::new().name("push".to_owned());
        let thread = thread.spawn(body)?;
        Ok(Self { shared, thread })
    }

    /// The way to give it snapshots.
    pub(super) fn queue(&self) -> Queue {
        Queue(Arc::clone(&self.shared))
    }

    /// Waits until everything was sent, or for as long as the end of a run waits from `since` on.
    /// Gives back a note
    /// where something was not.
    pub(super) fn finish(self, since: &Clock, is_given_up: &dyn Fn() -> bool) -> Option<String> {
        while !self.thread.is_finished() && since.now() < Nanos::from(LAST_PATIENCE) {
            if is_given_up() {
                break;
            }
            thread::sleep(LOOK_EVERY);
        }
        let mut state = self.shared.lock();
        state.is_given_up = true;
        self.shared.changed.notify_all();
        let name = &self.shared.receiver.name;
        let left = state.waiting.len();
        let mut losses = Vec::new();
        if state.refused > 0 {
            let why = state.refusal.as_deref().unwrap_or_default();
            losses.push(format!(
                "it refused {} snapshots of the metrics ({why})",
                state.refused
            ));
        }
        if left > 0 {
            let why = state.failure.as_deref().unwrap_or("no answer in time");
            losses.push(format!(
                "it has not taken the last {left} snapshots of the metrics ({why})"
            ));
        }
        (!losses.is_empty()).then(|| format!("{name}: {}", losses.join(", and ")))
    }
}

/// The way into a receiver's queue.
pub(super) struct Queue(Arc<Shared>);

impl Queue {
    /// Gives a snapshot; the last one always goes, others where the last is long enough ago.
    pub(super) fn give(&self, snapshot: &Arc<Snapshot>, is_last: bool) {
        let mut state = self.0.lock();
        let at = snapshot.at_unix_ns;
        let next = state.last.map(|last| last + SNAPSHOT_EVERY.0);
        if is_last || next.is_none_or(|next| at >= next) {
            state.last = Some(at);
            state.waiting.push_back(Arc::clone(snapshot));
            if state.waiting.len() > WAITING_MAX {
                thin(&mut state.waiting);
            }
        }
        state.is_over |= is_last;
        if is_last {
            self.0.changed.notify_all();
        }
    }
}

impl Drop for Queue {
    /// A run that fails has no last snapshot.
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

/// Leaves out every other snapshot, but not the newest one.
fn thin(waiting: &mut VecDeque<Arc<Snapshot>>) {
    let newest = waiting.len() - 1;
    let mut at = 0..;
    waiting.retain(|_| at.next().is_some_and(|at| (newest - at).is_multiple_of(2)));
}

impl Shared {
    /// Nothing that could panic is done under the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends until nothing is left and nothing will come.
    fn work(&self) {
        yield_to_others();
        let mut pause = SEND_EVERY;
        let mut failures = 0_u32;
        loop {
            let batch = {
                let state = self.lock();
                // The last figures are not waited for; after a failure the receiver is left alone.
                let state = match state.is_over && (failures == 0 || state.is_given_up) {
                    true => state,
                    false => self.rest(state, pause, failures > 0),
                };
                if state.is_given_up || state.waiting.is_empty() && state.is_over {
                    return;
                }
                state
                    .waiting
                    .iter()
                    .take(BATCH_MAX)
                    .cloned()
                    .collect::<Vec<_>>()
            };
            if batch.is_empty() {
                continue;
            }
            let sent = self.receiver.send(&batch);
            let is_taken = !matches!(sent, Sent::Failed(_));
            let is_more = self.settle(sent, &batch);
            failures = if is_taken {
                0
            } else {
                failures.saturating_add(1)
            };
            pause = match (failures, is_more) {
                (0, true) => Duration::ZERO,
                (0, false) => SEND_EVERY,
                (failures, _) => (PAUSE_FIRST * 2_u32.saturating_pow(failures - 1)).min(PAUSE_MOST),
            };
        }
    }

    /// Waits for a time, or for the end of the run; that does not shorten the pause after a failure
    /// below a fraction of it.
    fn rest<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        pause: Duration,
        has_failed: bool,
    ) -> MutexGuard<'a, State> {
        let end = Clock::start();
        let mut state = state;
        loop {
            let pause = match state.is_over {
                true if has_failed => pause.min(PAUSE_FIRST / 4),
                true => Duration::ZERO,
                false => pause,
            };
            let left = Nanos::from(pause).0.saturating_sub(end.now().0);
            if left == 0 || state.is_given_up {
                return state;
            }
            let waited = self.changed.wait_timeout(state, Duration::from_nanos(left));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes from the queue what was settled; whether more than a batch is left.
    fn settle(&self, sent: Sent, batch: &[Arc<Snapshot>]) -> bool {
        let mut state = self.lock();
        let mut complaint = None;
        match sent {
            Sent::Taken => state.failure = None,
            Sent::Failed(why) => {
                if state.failure.is_none() {
                    complaint = Some(format!("{why}; it is tried again"));
                }
                state.failure = Some(why);
                return self.complain(complaint, state);
            }
            Sent::Refused(why) => {
                state.failure = None;
                if state.refused == 0 {
                    complaint = Some(why.clone());
                    state.refusal = Some(why);
                }
                state.refused += batch.len() as u64;
            }
        }
        // Some may have been left out meanwhile.
        let newest = batch.last().map_or(0, |last| last.at_unix_ns);
        state.waiting.retain(|waiting| waiting.at_unix_ns > newest);
        self.complain(complaint, state)
    }

    /// Shows a complaint after the lock is released.
    fn complain(&self, complaint: Option<String>, state: MutexGuard<'_, State>) -> bool {
        let is_more = state.waiting.len() >= BATCH_MAX;
        drop(state);
        if let Some(complaint) = complaint {
            let receiver = &self.receiver;
            receiver
                .voice
                .note(&format!("{}: {complaint}", receiver.name));
        }
        is_more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_is_full_becomes_coarser_and_keeps_the_newest() {
        let snapshot = |n: u64| {
            Arc::new(Snapshot {
                at_unix_ns: n,
                ..Snapshot::default()
            })
        };
        for count in [2, 3, 300, 301] {
            let mut waiting: VecDeque<_> = (1..=count).map(snapshot).collect();
            thin(&mut waiting);
            assert_eq!(waiting.len() as u64, count.div_ceil(2));
            assert_eq!(waiting.back().unwrap().at_unix_ns, count);
            let times: Vec<u64> = waiting.iter().map(|one| one.at_unix_ns).collect();
            assert!(times.windows(2).all(|two| two[1] - two[0] == 2));
        }
    }
}
