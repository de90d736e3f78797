//! A run of an experiment as a separate process, started as a user would start it.
//!
//! The process has its own process group, so that Ctrl-C on the terminal reaches only the
//! experiment, which forwards each signal. The process ends with the experiment.

use crate::exit::Failure;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The time between two polls of a process.
pub(super) const LOOK: Duration = Duration::from_millis(50);
/// The maximum number of bytes that are kept, of the messages and of the output.
const KEPT_MAX: u64 = 1 << 20;

/// A running process. Dropping it ends the process.
pub(super) struct RunProcess {
    child: Child,
    messages: Option<JoinHandle<Vec<u8>>>,
    /// The reader of standard output, if the caller wants the output.
    output: Option<JoinHandle<Vec<u8>>>,
    /// The number of signals that were forwarded.
    passed: u32,
}

/// The result of a run's process.
pub(super) struct RunEnd {
    /// The exit code; `None` after a signal.
    pub(super) code: Option<i32>,
    /// The messages of the process.
    pub(super) stderr: String,
    /// Standard output, if the caller wanted it.
    pub(super) stdout: Vec<u8>,
}

impl RunEnd {
    /// All messages as one text, without the program's name.
    pub(super) fn message(&self) -> &str {
        let message = self.stderr.trim_end();
        message.strip_prefix("drumfire: ").unwrap_or(message)
    }
}

impl RunProcess {
    /// Starts this program with these arguments and discards its output, because the run is stored.
    pub(super) fn start(args: Vec<OsString>) -> Result<Self, Failure> {
        Self::start_with(args, Stdio::null())
    }

    /// Starts this program with these arguments and keeps its output.
    pub(super) fn start_printing(args: Vec<OsString>) -> Result<Self, Failure> {
        Self::start_with(args, Stdio::piped())
    }

    fn start_with(args: Vec<OsString>, stdout: Stdio) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(not_started)?;
        let child = Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let mut child = child.map_err(not_started)?;
        let messages = child.stderr.take().and_then(kept);
        let output = child.stdout.take().and_then(kept);
        Ok(Self {
            child,
            messages,
            output,
            passed: 0,
        })
    }

    /// The result, if the process has ended.
    pub(super) fn poll(&mut self) -> Result<Option<RunEnd>, Failure> {
        let status = self.child.try_wait();
        let status = status.map_err(|error| {
            Failure::failed(format!("can't wait for a run of the experiment: {error}"))
        })?;
        Ok(status.map(|status| self.collect_output(status)))
    }

    /// Waits until the process ends.
    pub(super) fn wait(mut self) -> Result<RunEnd, Failure> {
        loop {
            if let Some(end) = self.poll()? {
                return Ok(end);
            }
            thread::sleep(LOOK);
        }
    }

    /// Forwards signals until the run has received as many as the experiment.
    pub(super) fn pass_on(&mut self, count: u32) {
        while self.passed < count {
            self.passed += 1;
            let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
            // A process that has ended needs no signal.
            let _ended = id.map(|id| kill_process(id, Signal::INT));
        }
    }

    fn collect_output(&mut self, status: ExitStatus) -> RunEnd {
        let all = [self.messages.take(), self.output.take()];
        let [stderr, stdout] = all.map(|thread| {
            let bytes = thread.and_then(|thread| thread.join().ok());
            bytes.unwrap_or_default()
        });
        RunEnd {
            code: status.code(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            stdout,
        }
    }
}

/// Reads what a process writes in a new thread, and keeps the beginning.
fn kept(mut pipe: impl Read + Send + 'static) -> Option<JoinHandle<Vec<u8>>> {
    let reader = thread::Builder::new().name("messages".to_owned());
    let reader = reader.spawn(move || {
        let mut kept = Vec::new();
        let _cut = pipe.by_ref().take(KEPT_MAX).read_to_end(&mut kept);
        // A full pipe would block the run.
        let _read = io::copy(&mut pipe, &mut io::sink());
        kept
    });
    reader.ok()
}

impl Drop for RunProcess {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

fn not_started(error: io::Error) -> Failure {
    Failure::failed(format!("can't start a run of the experiment: {error}"))
}
