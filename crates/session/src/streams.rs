//! Files and terminals that are written to while a run goes on, each by its own thread behind a
//! queue with a bound, so that a slow disk delays nothing else.
//!
//! A pipe whose reader has gone takes nothing more: [`Streams::when_unread`] sets the action for
//! that. A pipe whose reader is there and does not read blocks its thread for ever:
//! [`Streams::finish`] waits for it until the user asks once more for the end.
//!
//! [`Streams::writers`] are given out once and may be cloned; a write copies its bytes into the
//! queue and returns. All of them are dropped before [`Streams::finish`], which would else wait for
//! bytes to come. What exceeds the bound is lost in whole writes, never in the middle of one, so
//! that lines stay lines; the number of bytes is reported.

use crate::EndRequests;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The interval between two looks at whether the user has asked again for the end.
const LOOK: Duration = Duration::from_millis(20);
/// The time that a place has for its last bytes once the user has asked twice for the end.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

/// Bytes that may wait for a place; a write beyond them is lost, and counted.
const WAITING_BYTES_MAX: u64 = 256 << 20;

/// A place that is open for writing, and its name in messages.
pub struct StreamPlace {
    /// The name of the file, or `stdout` or `stderr`.
    pub name: String,
    /// The open place.
    pub out: Box<dyn Write + Send>,
}

/// Results that did not reach their place.
#[derive(Debug)]
pub enum StreamError {
    /// A thread can't be started.
    Thread(io::Error),
    /// The place refused what was written.
    Write {
        /// Its name.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// The place was too slow.
    Lost {
        /// Its name.
        name: String,
        /// The number of bytes that are lost.
        bytes: u64,
    },
    /// The place was not read to its end before the user asked once more for the end.
    Unread {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread(error) => write!(f, "can't start a thread: {error}"),
            Self::Write { name, error } => write!(f, "can't write {name}: {error}"),
            Self::Lost { name, bytes } => write!(
                f,
                "{bytes} bytes of results were lost: they came faster than {name} could be written"
            ),
            Self::Unread { name } => write!(
                f,
                "the last results were not written to {name}: its reader stopped reading"
            ),
        }
    }
}

impl std::error::Error for StreamError {}

/// The places, and the threads that write to them.
pub struct Streams(Vec<Writing>);

/// One place.
struct Writing {
    name: String,
    writer: StreamWriter,
    /// Closed when its thread has written everything.
    done: Receiver<()>,
}

/// The way to a place's thread: a write puts bytes into its queue and waits for nothing. It fails
/// with an earlier failure of the place.
#[derive(Clone)]
pub struct StreamWriter {
    chunks: Sender<Vec<u8>>,
    state: Arc<State>,
}

/// The state that a place's thread and its writers share.
#[derive(Default)]
struct State {
    waiting_bytes: AtomicU64,
    lost_bytes: AtomicU64,
    failure: Mutex<Option<io::Error>>,
    /// Whether the reader has gone.
    is_unread: AtomicBool,
    when_unread: Mutex<Option<Unread>>,
}

/// The action when the reader of a place has gone.
type Unread = Box<dyn FnOnce() + Send>;

impl State {
    /// Notes that the reader has gone. Whichever comes second, this or [`Self::when_unread`], acts;
    /// the action is taken out, so that it is done once.
    fn lose_reader(&self) {
        self.is_unread.store(true, Ordering::SeqCst);
        self.act_if_unread();
    }

    fn when_unread(&self, act: Unread) {
        let mut slot = lock(&self.when_unread);
        *slot = Some(act);
        drop(slot);
        self.act_if_unread();
    }

    fn act_if_unread(&self) {
        if self.is_unread.load(Ordering::SeqCst)
            && let Some(act) = lock(&self.when_unread).take()
        {
            act();
        }
    }

    fn take_failure(&self) -> Option<io::Error> {
        lock(&self.failure).take()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nothing that could panic is done under the lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Write for StreamWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(failure) = self.state.take_failure() {
            return Err(failure);
        }
        let count = bytes.len() as u64;
        // Counted before it is sent, for the thread takes it off again.
        let waiting = self.state.waiting_bytes.fetch_add(count, Ordering::Relaxed);
        let fits = waiting + count <= WAITING_BYTES_MAX;
        if !fits || self.chunks.send(bytes.to_vec()).is_err() {
            self.state.waiting_bytes.fetch_sub(count, Ordering::Relaxed);
            self.state.lost_bytes.fetch_add(count, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Streams {
    /// Starts a thread for each place.
    ///
    /// # Errors
    /// When there is none to be had.
    pub fn start(places: Vec<StreamPlace>) -> Result<Self, StreamError> {
        let places = places.into_iter();
        places
            .map(Writing::start)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// A writer for each place, in their order.
    #[must_use]
    pub fn writers(&self) -> Vec<StreamWriter> {
        let writer = |writing: &Writing| writing.writer.clone();
        self.0.iter().map(writer).collect()
    }

    /// Lets this be done once for each place whose reader goes, or has gone.
    pub fn when_unread(&self, act: impl Fn() + Clone + Send + 'static) {
        for writing in &self.0 {
            writing.writer.state.when_unread(Box::new(act.clone()));
        }
    }

    /// Whether the reader of any place has gone.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        let mut all = self.0.iter();
        all.any(|writing| writing.writer.state.is_unread.load(Ordering::SeqCst))
    }

    /// Waits until everything is written, or the user asks once more for the end. The writers must
    /// be gone.
    ///
    /// # Errors
    /// When something could not be written.
    pub fn finish(self, end_requests: &EndRequests) -> Result<(), StreamError> {
        // Each thread is waited for, whatever became of another.
        let writings = self.0.into_iter();
        let done: Vec<Result<(), StreamError>> = writings
            .map(|writing| writing.finish(end_requests))
            .collect();
        done.into_iter().collect()
    }
}

impl Writing {
    fn start(place: StreamPlace) -> Result<Self, StreamError> {
        let StreamPlace { name, mut out } = place;
        let (chunks, waiting) = channel();
        let state = Arc::new(State::default());
        let (finished, done) = channel();
        let body = {
            let state = Arc::clone(&state);
            move || {
                write_all(&mut *out, &waiting, &state);
                drop(finished);
            }
        };
        let thread = thread::Builder::new().name("results".to_owned());
        // It ends with its last bytes, or with the process.
        thread.spawn(body).map_err(StreamError::Thread)?;
        Ok(Self {
            name,
            writer: StreamWriter { chunks, state },
            done,
        })
    }

    fn finish(self, end_requests: &EndRequests) -> Result<(), StreamError> {
        let Self {
            name,
            writer: StreamWriter { chunks, state },
            done,
        } = self;
        drop(chunks);
        if !is_done(&done, end_requests) {
            return Err(StreamError::Unread { name });
        }
        if let Some(error) = state.take_failure() {
            return Err(StreamError::Write { name, error });
        }
        match state.lost_bytes.load(Ordering::Relaxed) {
            0 => Ok(()),
            bytes => Err(StreamError::Lost { name, bytes }),
        }
    }
}

/// Waits for a thread's end; `false` when the user asked once more for the end before it came.
fn is_done(done: &Receiver<()>, end_requests: &EndRequests) -> bool {
    let before = end_requests.count();
    if before > 1 {
        return done.recv_timeout(LAST_PATIENCE) == Err(RecvTimeoutError::Disconnected);
    }
    while end_requests.count() == before {
        if done.recv_timeout(LOOK) == Err(RecvTimeoutError::Disconnected) {
            return true;
        }
    }
    false
}

/// Writes chunks until their senders are gone, or something goes wrong. A reader that has gone away
/// is no error.
fn write_all(file: &mut dyn Write, chunks: &Receiver<Vec<u8>>, state: &State) {
    let mut done = Ok(());
    while let Ok(chunk) = chunks.recv() {
        let count = chunk.len() as u64;
        if done.is_ok() {
            done = file.write_all(&chunk).and_then(|()| file.flush());
            match &done {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => state.lose_reader(),
                Err(error) => {
                    let error = io::Error::new(error.kind(), error.to_string());
                    *lock(&state.failure) = Some(error);
                }
                Ok(()) => {}
            }
        }
        state.waiting_bytes.fetch_sub(count, Ordering::Relaxed);
    }
}
