//! A process that ends with its test, and its output.

use super::turn;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub(crate) use rustix::process::Signal;

/// The exit of a process, and its output.
#[derive(Debug)]
pub(crate) struct Run {
    /// `None` after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The bytes of a stream so far, and whether the stream has ended.
#[derive(Debug, Default)]
struct Stream {
    state: Mutex<(Vec<u8>, bool)>,
    news: Condvar,
}

impl Stream {
    /// Reads a pipe to its end in a separate thread.
    fn follow(mut pipe: impl Read + Send + 'static) -> (Arc<Self>, JoinHandle<()>) {
        let stream = Arc::new(Self::default());
        let writer = Arc::clone(&stream);
        let thread = thread::spawn(move || {
            let mut piece = [0; 65_536];
            loop {
                let read = pipe.read(&mut piece).unwrap_or(0);
                let mut state = writer.state.lock().unwrap();
                state.0.extend_from_slice(&piece[..read]);
                state.1 = read == 0;
                writer.news.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        (stream, thread)
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.state.lock().unwrap().0).into_owned()
    }
}

/// A running process; dropping it kills it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    what: String,
    stdout: Option<(Arc<Stream>, JoinHandle<()>)>,
    stderr: Option<(Arc<Stream>, JoinHandle<()>)>,
}

impl Process {
    /// Starts a command. Its output is collected unless the command redirects it.
    pub(crate) fn start(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::start_as_it_is(command)
    }

    /// Starts a command whose streams are already configured.
    pub(crate) fn start_as_it_is(command: &mut Command) -> Self {
        turn::share();
        let what = format!("{command:?}");
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("can't start {what}: {error}"));
        let stdout = child.stdout.take().map(Stream::follow);
        let stderr = child.stderr.take().map(Stream::follow);
        Self {
            child,
            what,
            stdout,
            stderr,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// The maximum resident memory so far, in bytes; `None` if the process has ended. For a moment after the
    /// start, this is the maximum of the test's own process, so only the last value before the end counts.
    pub(crate) fn memory_most(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
        let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes * 1024)
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Whether a signal has stopped all threads of the process.
    pub(crate) fn stands(&self) -> bool {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.id())).unwrap();
        let mut states = tasks.map(|task| {
            // The format is `123 (name) S …`, and the name may contain any characters.
            let text = fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default();
            text.rsplit(") ")
                .next()
                .and_then(|rest| rest.chars().next())
        });
        states.all(|state| state == Some('T'))
    }

    /// The standard output so far.
    pub(crate) fn stdout(&self) -> String {
        self.stdout
            .as_ref()
            .map_or_else(String::new, |s| s.0.text())
    }

    /// The standard error so far.
    pub(crate) fn stderr(&self) -> String {
        self.stderr
            .as_ref()
            .map_or_else(String::new, |s| s.0.text())
    }

    /// Waits for the first line of standard output.
    pub(crate) fn first_line(&self, limit: Duration) -> String {
        let (stream, _) = self.stdout.as_ref().unwrap();
        let end = Instant::now() + limit;
        let mut state = stream.state.lock().unwrap();
        loop {
            if let Some(at) = state.0.iter().position(|byte| *byte == b'\n') {
                return String::from_utf8_lossy(&state.0[..at]).into_owned();
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !state.1,
                "{} said no line; stderr: {}",
                self.what,
                self.stderr()
            );
            state = stream.news.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits for the process to end within the limit.
    pub(crate) fn finish(mut self, limit: Duration) -> Run {
        let status = self.wait(limit);
        let text = |stream: Option<(Arc<Stream>, JoinHandle<()>)>| {
            stream.map_or_else(String::new, |(stream, thread)| {
                thread.join().unwrap();
                stream.text()
            })
        };
        let (stdout, stderr) = (self.stdout.take(), self.stderr.take());
        Run {
            code: status.code(),
            signal: status.signal(),
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }

    /// Waits for the process to end, and does not collect its output.
    pub(crate) fn wait(&mut self, limit: Duration) -> ExitStatus {
        let end = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if Instant::now() >= end {
                let _gone = self.child.kill();
                let _status = self.child.wait();
                panic!(
                    "{} did not end within {limit:?}\nstdout: {}\nstderr: {}",
                    self.what,
                    self.stdout(),
                    self.stderr()
                );
            }
            self.await_end(end.saturating_duration_since(Instant::now()));
        }
    }

    /// Waits until the process has ended, or for this time. Sleeping instead, with hundreds of
    /// processes in a run of the tests, would take a tenth of their CPU time.
    #[cfg(target_os = "linux")]
    fn await_end(&self, limit: Duration) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        let process = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty());
        let limit = Timespec::try_from(limit).expect("a limit of minutes");
        match process {
            Ok(process) => {
                // After a signal to the test, the caller calls again.
                let _ended = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit));
            }
            Err(_) => thread::sleep(Duration::from_millis(2)),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn await_end(&self, _limit: Duration) {
        thread::sleep(Duration::from_millis(2));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}
