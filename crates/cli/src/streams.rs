//! Files and terminals that are written to while a run goes on, each by a thread of its own behind
//! a queue with a bound, so that a slow disk delays nothing else.

use crate::exit::Failure;
use drumfire_dialects::{Stream, StreamPlace};
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Bytes that may wait for a place; what comes then is lost, and counted.
const WAITING_BYTES_MAX: u64 = 256 << 20;

/// The places, and the threads that write to them.
pub(crate) struct Streams(Vec<Writing>);

/// One place.
struct Writing {
    name: String,
    queue: Queue,
    thread: JoinHandle<()>,
}

/// The way to a place's thread.
#[derive(Clone)]
struct Queue {
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

impl Write for Queue {
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
    /// Opens the places; files are emptied.
    pub(crate) fn open(places: &[StreamPlace<'_>]) -> Result<Self, Failure> {
        let open = |place: &StreamPlace<'_>| {
            let (name, file): (&str, Box<dyn Write + Send>) = match *place {
                StreamPlace::Stdout => ("stdout", Box::new(io::stdout())),
                StreamPlace::Stderr => ("stderr", Box::new(io::stderr())),
                StreamPlace::File(path) => (path, Box::new(create(path)?)),
            };
            Writing::start(name, file)
        };
        places.iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// A writer for each place, in their order.
    pub(crate) fn writers(&self) -> Vec<Box<dyn Stream>> {
        let writer = |writing: &Writing| Box::new(writing.queue.clone()) as Box<dyn Stream>;
        self.0.iter().map(writer).collect()
    }

    /// Waits until everything is written. The writers must be gone.
    ///
    /// # Errors
    /// When something could not be written.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        // Each thread is waited for, whatever became of another.
        let done: Vec<Result<(), Failure>> = self.0.into_iter().map(Writing::finish).collect();
        done.into_iter().collect()
    }
}

fn create(path: &str) -> Result<File, Failure> {
    let wrong = |error| Failure::failed(format!("can't write {path}: {error}"));
    File::create(path).map_err(wrong)
}

impl Writing {
    fn start(name: &str, mut file: Box<dyn Write + Send>) -> Result<Self, Failure> {
        let (chunks, waiting) = channel();
        let state = Arc::new(State::default());
        let body = {
            let state = Arc::clone(&state);
            move || write_all(&mut *file, &waiting, &state)
        };
        let thread = thread::Builder::new().name("results".to_owned());
        let thread = thread.spawn(body);
        let wrong = |error| Failure::failed(format!("a thread can't be started: {error}"));
        Ok(Self {
            name: name.to_owned(),
            queue: Queue { chunks, state },
            thread: thread.map_err(wrong)?,
        })
    }

    fn finish(self) -> Result<(), Failure> {
        let Self {
            name,
            queue: Queue { chunks, state },
            thread,
        } = self;
        drop(chunks);
        // Nothing in the thread panics.
        let _ended = thread.join();
        if let Some(error) = state.take_failure() {
            return Err(Failure::failed(format!("can't write {name}: {error}")));
        }
        match state.lost_bytes.load(Ordering::Relaxed) {
            0 => Ok(()),
            lost => Err(Failure::failed(format!(
                "{lost} bytes of results are lost: {name} could not be written as fast as they came"
            ))),
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
