//! Files and terminals that are written to while a run goes on, each by a thread of its own behind
//! a queue with a bound, so that a slow disk delays nothing else.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Bytes that may wait for a place; what comes then is lost, and counted.
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
        /// How much is lost, in bytes.
        bytes: u64,
    },
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread(error) => write!(f, "a thread can't be started: {error}"),
            Self::Write { name, error } => write!(f, "can't write {name}: {error}"),
            Self::Lost { name, bytes } => write!(
                f,
                "{bytes} bytes of results are lost: {name} could not be written as fast as they \
                 came"
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
    thread: JoinHandle<()>,
}

/// The way to a place's thread: a write puts bytes into its queue and waits for nothing. It fails
/// with an earlier failure of the place.
#[derive(Clone)]
pub struct StreamWriter {
    chunks: Sender<Vec<u8>>,
    state: Arc<State>,
}

/// What a place's thread and its senders know of each other.
#[derive(Default)]
struct State {
    waiting_bytes: AtomicU64,
    lost_bytes: AtomicU64,
    failure: Mutex<Option<io::Error>>,
}

impl State {
    fn take_failure(&self) -> Option<io::Error> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }
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

    /// Waits until everything is written. The writers must be gone.
    ///
    /// # Errors
    /// When something could not be written.
    pub fn finish(self) -> Result<(), StreamError> {
        // Each thread is waited for, whatever became of another.
        let done: Vec<Result<(), StreamError>> = self.0.into_iter().map(Writing::finish).collect();
        done.into_iter().collect()
    }
}

impl Writing {
    fn start(place: StreamPlace) -> Result<Self, StreamError> {
        let StreamPlace { name, mut out } = place;
        let (chunks, waiting) = channel();
        let state = Arc::new(State::default());
        let body = {
            let state = Arc::clone(&state);
            move || write_all(&mut *out, &waiting, &state)
        };
        let thread = thread::Builder::new().name("results".to_owned());
        Ok(Self {
            name,
            writer: StreamWriter { chunks, state },
            thread: thread.spawn(body).map_err(StreamError::Thread)?,
        })
    }

    fn finish(self) -> Result<(), StreamError> {
        let Self {
            name,
            writer: StreamWriter { chunks, state },
            thread,
        } = self;
        drop(chunks);
        // Nothing in the thread panics.
        let _ended = thread.join();
        if let Some(error) = state.take_failure() {
            return Err(StreamError::Write { name, error });
        }
        match state.lost_bytes.load(Ordering::Relaxed) {
            0 => Ok(()),
            bytes => Err(StreamError::Lost { name, bytes }),
        }
    }
}

/// Writes chunks until their senders are gone, or something goes wrong. A reader that has gone away
/// is no error.
fn write_all(file: &mut dyn Write, chunks: &Receiver<Vec<u8>>, state: &State) {
    let mut done = Ok(());
    while let Ok(chunk) = chunks.recv() {
        let count = chunk.len() as u64;
        if done.is_ok() {
            done = file.write_all(&chunk).and_then(|()| file.flush());
            if let Err(error) = &done
                && error.kind() != io::ErrorKind::BrokenPipe
            {
                let mut failure = state.failure.lock().unwrap_or_else(PoisonError::into_inner);
                *failure = Some(io::Error::new(error.kind(), error.to_string()));
            }
        }
        state.waiting_bytes.fetch_sub(count, Ordering::Relaxed);
    }
}
