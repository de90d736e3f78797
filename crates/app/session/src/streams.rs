//! Files and terminals that are written during a run. Each has a separate thread and a queue of
//! limited size, so that a slow disk delays nothing else.
//!
//! A pipe whose reader has closed it accepts nothing more: [`Streams::when_unread`] sets the action
//! for that. A pipe whose reader exists but does not read blocks its thread forever:
//! [`Streams::finish`] waits for it until the user requests the end again.
//!
//! [`Streams::writers`] returns the writers, which may be cloned. A write copies its bytes into the
//! queue and returns. All writers must be dropped before [`Streams::finish`], which would otherwise
//! wait for more bytes. Bytes beyond the limit are lost in whole writes, never in the middle of
//! one, so that lines stay complete. The number of lost bytes is reported.

use crate::EndRequests;
use drumfire_units::system_words;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The time between two checks whether the user has requested the end again.
const LOOK: Duration = Duration::from_millis(20);
/// The time limit for the last bytes of a place after the user has requested the end twice.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

/// The maximum number of bytes that wait for a place; a write beyond it is lost and counted.
const WAITING_BYTES_MAX: u64 = 256 << 20;

/// An open place, and its name in messages.
pub struct StreamPlace {
    /// The name of the file, or `stdout` or `stderr`.
    pub name: String,
    /// The open place.
    pub out: Box<dyn Write + Send>,
}

/// Results that did not reach their place.
#[derive(Debug)]
pub enum OutputError {
    /// A thread could not be started.
    Thread(io::Error),
    /// Writing to the place failed.
    Write {
        /// The name of the place.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// The place was too slow.
    Lost {
        /// The name of the place.
        name: String,
        /// The number of lost bytes.
        bytes: u64,
    },
    /// The place was not read to its end before the user requested the end again.
    Unread {
        /// The name of the place.
        name: String,
    },
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread(error) => write!(f, "can't start a thread: {}", system_words(error)),
            Self::Write { name, error } => {
                write!(f, "can't write {name}: {}", system_words(error))
            }
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

impl std::error::Error for OutputError {}

/// The places, and the threads that write to them.
pub struct Streams(Vec<Writing>);

/// One place.
struct Writing {
    name: String,
    writer: StreamWriter,
    /// Closed after the thread has written everything.
    done: Receiver<()>,
}

/// A handle to a place's thread. A write puts bytes into its queue without waiting, and fails with
/// an earlier failure of the place.
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
    /// Whether the reader has closed the pipe.
    is_unread: AtomicBool,
    when_unread: Mutex<Option<OnClosedPipe>>,
}

/// The action for a closed pipe.
type OnClosedPipe = Box<dyn FnOnce() + Send>;

impl State {
    /// Records that the reader has closed the pipe. Of this and [`Self::when_unread`], the later
    /// call runs the action. The action is removed, so that it runs once.
    fn lose_reader(&self) {
        self.is_unread.store(true, Ordering::SeqCst);
        self.act_if_unread();
    }

    fn when_unread(&self, act: OnClosedPipe) {
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
    // Code under the lock cannot panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Write for StreamWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(failure) = self.state.take_failure() {
            return Err(failure);
        }
        let count = bytes.len() as u64;
        // Count the bytes before sending them, because the thread subtracts them again.
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
    /// If a thread cannot be started.
    pub fn start(places: Vec<StreamPlace>) -> Result<Self, OutputError> {
        let places = places.into_iter();
        places
            .map(Writing::start)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// A writer for each place, in the same order.
    #[must_use]
    pub fn writers(&self) -> Vec<StreamWriter> {
        let writer = |writing: &Writing| writing.writer.clone();
        self.0.iter().map(writer).collect()
    }

    /// Sets an action that runs once for each place whose reader closes the pipe, or has closed it.
    pub fn when_unread(&self, act: impl Fn() + Clone + Send + 'static) {
        for writing in &self.0 {
            writing.writer.state.when_unread(Box::new(act.clone()));
        }
    }

    /// Whether any reader has closed its pipe.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        let mut all = self.0.iter();
        all.any(|writing| writing.writer.state.is_unread.load(Ordering::SeqCst))
    }

    /// Waits until everything is written, or until the user requests the end again. The writers
    /// must have been dropped.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn finish(self, end_requests: &EndRequests) -> Result<(), OutputError> {
        // Wait for every thread, even if another place failed.
        let writings = self.0.into_iter();
        let done: Vec<Result<(), OutputError>> = writings
            .map(|writing| writing.finish(end_requests))
            .collect();
        done.into_iter().collect()
    }
}

impl Writing {
    fn start(place: StreamPlace) -> Result<Self, OutputError> {
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
        // The thread ends with its last bytes, or with the process.
        thread.spawn(body).map_err(OutputError::Thread)?;
        Ok(Self {
            name,
            writer: StreamWriter { chunks, state },
            done,
        })
    }

    fn finish(self, end_requests: &EndRequests) -> Result<(), OutputError> {
        let Self {
            name,
            writer: StreamWriter { chunks, state },
            done,
        } = self;
        drop(chunks);
        if !is_done(&done, end_requests) {
            return Err(OutputError::Unread { name });
        }
        if let Some(error) = state.take_failure() {
            return Err(OutputError::Write { name, error });
        }
        match state.lost_bytes.load(Ordering::Relaxed) {
            0 => Ok(()),
            bytes => Err(OutputError::Lost { name, bytes }),
        }
    }
}

/// Waits for a thread's end; `false` if the user requested the end again before it came.
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

/// Writes chunks until all senders are dropped, or a write fails. A closed pipe is not an error.
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
