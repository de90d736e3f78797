//! Signals: the first stops the load, the second the wait for requests in flight, the third the
//! program.
//!
//! After the second the program ends in any case: what has not come to its end [`PATIENCE`] later,
//! for a script or a reader of the report holds it, is given up as after a third signal.

use drumfire_engine::Control;
use drumfire_plan::StopReason;
use drumfire_session::{EndRequests, Observer, RunContext, SessionError};
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ,
};
use signal_hook::flag;
use signal_hook::iterator::Signals as Iterator;
use signal_hook::low_level;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Exit code after a third SIGINT or SIGTERM.
const INTERRUPTED: i32 = 130;

/// Exit code of a program in Go that SIGQUIT ends.
const QUIT: i32 = 2;

/// Whether SIGQUIT ends the program as it does one in Go. Signals are the whole process' too.
static QUITS_AS_GO: AtomicBool = AtomicBool::new(false);

/// The time that the report and the last results have after the second signal.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time that its message then has.
const LAST_WORD: Duration = Duration::from_millis(200);

/// Signals of the whole process, from the first [`Signals::watch`] until its end.
///
/// A command has one watch for all its runs: the setup of a plan, its load, its teardown. A signal
/// that came before a run begins counts for that run, so that none is lost between two of them; the
/// teardown alone begins with none ([`Signals::afresh`]), for it follows a load that a signal
/// ended. The program counts them all: two in the load leave a teardown [`PATIENCE`], and the third
/// signal ends the program wherever it comes.
///
/// A terminal that goes away (SIGHUP) stops the load too, unless the program was started with
/// nohup. The kernel and the shell may each send one for the same terminal, so only the first
/// SIGHUP counts, whatever came before it.
/// SIGQUIT keeps its default, the end at once, but leaves a screen before.
#[derive(Clone, Default)]
pub(crate) struct Signals {
    state: Arc<Mutex<State>>,
    /// The number of signals that the next run passes over.
    passed: u32,
}

#[derive(Default)]
struct State {
    is_watching: bool,
    /// The number of signals that asked for an end.
    count: u32,
    /// Whether a SIGHUP is among them.
    is_hung_up: bool,
    /// The run that began last.
    run: Option<Commanded>,
}

/// A run that signals command.
struct Commanded {
    control: Control,
    end_requests: EndRequests,
    /// The number of signals that it passes over.
    passed: u32,
}

impl Signals {
    /// Watches for signals on a thread of its own, which does nothing else: a signal is taken even
    /// while the program is busy. Does nothing where they are watched for.
    ///
    /// # Errors
    /// When the system does not let signals be watched for.
    pub(crate) fn watch(&self) -> io::Result<()> {
        if std::mem::replace(&mut lock(&self.state).is_watching, true) {
            return Ok(());
        }
        let mut watched = vec![SIGINT, SIGTERM, SIGQUIT];
        if !ignores_hangup() {
            watched.push(SIGHUP);
        }
        // A limit on the size of files (`ulimit -f`) is then an error of the write, as a full disk
        // is, and storing ends while the run goes on. The others mean nothing here, and would end
        // the program without its results.
        for passed_over in [SIGXFSZ, SIGALRM, SIGUSR1, SIGUSR2] {
            flag::register(passed_over, Arc::new(AtomicBool::new(false)))?;
        }
        let mut signals = Iterator::new(watched)?;
        let body = {
            let state = Arc::clone(&self.state);
            move || {
                for signal in signals.forever() {
                    lock(&state).take(signal);
                }
            }
        };
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(body)?;
        Ok(())
    }

    /// Whether a signal asked for an end so far.
    pub(crate) fn have_come(&self) -> bool {
        lock(&self.state).count > self.passed
    }

    /// The number of signals that asked for an end so far.
    pub(crate) fn count(&self) -> u32 {
        lock(&self.state).count
    }

    /// The same watch for a run that those before do not end.
    pub(crate) fn afresh(&self) -> Self {
        let passed = lock(&self.state).count;
        let state = Arc::clone(&self.state);
        Self { state, passed }
    }
}

impl Observer for Signals {
    /// Lets signals end the run, also those that came before.
    fn begin(&mut self, run: &RunContext) -> Result<(), SessionError> {
        let mut state = lock(&self.state);
        state.run = Some(Commanded {
            control: run.control.clone(),
            end_requests: run.end_requests.clone(),
            passed: self.passed,
        });
        state.act();
        Ok(())
    }
}

impl State {
    fn take(&mut self, signal: i32) {
        if signal == SIGQUIT {
            if QUITS_AS_GO.load(Ordering::Acquire) {
                // Another thread takes it too, and ends the program.
                return;
            }
            drumfire_screen::restore();
            let _dead = low_level::emulate_default_handler(SIGQUIT);
        }
        if signal == SIGHUP && std::mem::replace(&mut self.is_hung_up, true) {
            return self.act();
        }
        self.count += 1;
        if let Some(run) = &self.run {
            run.end_requests.add();
        }
        self.act();
        if self.count == 2 {
            // Without a thread the third signal remains.
            let _none = thread::Builder::new()
                .name("last patience".to_owned())
                .spawn(give_up);
        }
    }

    /// Carries out the signals so far.
    fn act(&self) {
        if self.count >= 3 {
            drumfire_screen::restore();
            low_level::exit(INTERRUPTED);
        }
        let Some(run) = &self.run else {
            return;
        };
        match self.count.saturating_sub(run.passed) {
            0 => {}
            1 => run.control.stop(StopReason::Signal),
            _ => run.control.end(StopReason::Signal),
        }
    }
}

/// Ends a program that has not ended by itself.
fn give_up() {
    thread::sleep(PATIENCE);
    drumfire_screen::restore();
    // Standard error may be what holds the program, so nothing waits for this message.
    let _unsaid = thread::Builder::new().spawn(|| {
        let _closed = writeln!(
            io::stderr(),
            "drumfire: exiting without the last results: a script did not return, or the output \
             was not read"
        );
    });
    thread::sleep(LAST_WORD);
    low_level::exit(INTERRUPTED);
}

/// Ends the program by SIGQUIT as Go's runtime does, but for the stacks of its threads.
///
/// # Errors
/// When the system does not let the signal be watched for.
pub(crate) fn quit_as_go() -> io::Result<()> {
    QUITS_AS_GO.store(true, Ordering::Release);
    let mut signals = Iterator::new([SIGQUIT])?;
    thread::Builder::new()
        .name("quit".to_owned())
        .spawn(move || {
            if signals.forever().next().is_some() {
                let _closed = writeln!(io::stderr(), "SIGQUIT: quit");
                low_level::exit(QUIT);
            }
        })?;
    Ok(())
}

/// Ends the program as SIGPIPE does, which other tools leave at its default.
pub(crate) fn die_of_closed_pipe() -> ! {
    drumfire_screen::restore();
    let _dead = low_level::emulate_default_handler(SIGPIPE);
    low_level::exit(128 + SIGPIPE)
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Nothing that could panic is done under the lock.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether SIGHUP was ignored when the program started. Where the kernel does not report it, it was
/// not.
pub(crate) fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // A bit for each signal, the first for number 1.
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}
