//! Signals: the first stops the load, the second the wait for requests in flight, the third the
//! program.
//!
//! After the second signal the program always ends: [`PATIENCE`] later it stops as after a third
//! signal, even if a script or a reader of the report blocks it.

use drumfire_engine::Control;
use drumfire_plan::StopReason;
use drumfire_session::{EndRequests, Observer, RunContext, SessionError};
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ,
};
use signal_hook::flag;
use signal_hook::iterator::Signals as Iterator;
use signal_hook::low_level;
use std::fs;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The exit code after a third SIGINT or SIGTERM.
const INTERRUPTED: i32 = 130;

/// The exit code of a Go program that SIGQUIT ends.
const QUIT: i32 = 2;

/// Whether SIGQUIT ends the program as it ends a Go program. Signal handling, too, is global to the
/// process.
static QUITS_AS_GO: AtomicBool = AtomicBool::new(false);

/// The time for the report and the last results after the second signal, without the time for which
/// the main thread waited for a core.
const PATIENCE: Duration = Duration::from_secs(5);

/// The maximum of [`PATIENCE`] with that time.
const PATIENCE_MAX: Duration = Duration::from_secs(60);

/// The time between two looks at the main thread.
const LOOK: Duration = Duration::from_millis(100);

/// The time to print the final message.
const LAST_WORD: Duration = Duration::from_millis(200);

/// Signals of the whole process, from the first [`Signals::watch`] until its end.
///
/// A command has one watch for all its runs: the setup of a plan, its load, its teardown. A signal
/// that arrived before a run counts for that run, so that none is lost between two of them. Only
/// the teardown starts without signals ([`Signals::afresh`]), because it also follows a load that a
/// signal ended. The program counts all signals: two during the load leave the teardown
/// [`PATIENCE`], and the third ends the program at any time.
///
/// A closed terminal (SIGHUP) stops the load too, unless the program was started with nohup. The
/// kernel and the shell may each send one for the same terminal, so only the first SIGHUP counts.
/// SIGQUIT keeps its default, an immediate end, but the screen is restored before.
#[derive(Clone, Default)]
pub(crate) struct Signals {
    state: Arc<Mutex<State>>,
    /// The number of signals that the next run ignores.
    passed: u32,
}

#[derive(Default)]
struct State {
    is_watching: bool,
    /// The number of signals that requested an end.
    count: u32,
    /// Whether a SIGHUP was one of them.
    is_hung_up: bool,
    /// The run that started last.
    run: Option<Commanded>,
}

/// A run that signals control.
struct Commanded {
    control: Control,
    end_requests: EndRequests,
    /// The number of signals that the run ignores.
    passed: u32,
}

impl Signals {
    /// Watches for signals in a separate thread, so that signals are handled even while the program
    /// is busy. Does nothing if the watch has started already.
    ///
    /// # Errors
    /// If the system does not allow the handlers.
    pub(crate) fn watch(&self) -> io::Result<()> {
        if std::mem::replace(&mut lock(&self.state).is_watching, true) {
            return Ok(());
        }
        let mut watched = vec![SIGINT, SIGTERM, SIGQUIT];
        if !ignores_hangup() {
            watched.push(SIGHUP);
        }
        // A limit on the size of files (`ulimit -f`) then fails the write, like a full disk, and
        // storing ends while the run continues. The other signals mean nothing here, and would end
        // the program without its results.
        for passed_over in [SIGXFSZ, SIGALRM, SIGUSR1, SIGUSR2] {
            flag::register(passed_over, Arc::new(AtomicBool::new(false)))?;
        }
        let mut signals = Iterator::new(watched)?;
        let body = {
            let state = Arc::clone(&self.state);
            move || {
                for signal in signals.forever() {
                    lock(&state).handle_signal(signal);
                }
            }
        };
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(body)?;
        Ok(())
    }

    /// Whether a signal has requested an end.
    pub(crate) fn have_come(&self) -> bool {
        lock(&self.state).count > self.passed
    }

    /// The number of signals that have requested an end.
    pub(crate) fn count(&self) -> u32 {
        lock(&self.state).count
    }

    /// A watch that shares the signals of this one, for a run that ignores the earlier signals.
    pub(crate) fn afresh(&self) -> Self {
        let passed = lock(&self.state).count;
        let state = Arc::clone(&self.state);
        Self { state, passed }
    }
}

impl Observer for Signals {
    /// Lets signals end the run, including earlier ones.
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
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
    fn handle_signal(&mut self, signal: i32) {
        if signal == SIGQUIT {
            if QUITS_AS_GO.load(Ordering::Acquire) {
                // Another thread handles this signal too, and ends the program.
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
            run.end_requests.increment();
        }
        self.act();
        if self.count == 2 {
            // If the thread cannot be started, a third signal still ends the program.
            let _none = thread::Builder::new()
                .name("last patience".to_owned())
                .spawn(give_up);
        }
    }

    /// Acts on the signals received so far.
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
            _ => run.control.stop_now(StopReason::Signal),
        }
    }
}

/// Ends a program that did not end in time.
fn give_up() {
    let before = waited();
    let mut slept = Duration::ZERO;
    while slept < PATIENCE_MAX.min(PATIENCE + waited().saturating_sub(before)) {
        thread::sleep(LOOK);
        slept += LOOK;
    }
    drumfire_screen::restore();
    // Standard error may block the program, so nothing waits for this message.
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

/// The total time for which the main thread was ready and had no core; zero if the kernel does not
/// report it.
fn waited() -> Duration {
    let text = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().nth(1);
    Duration::from_nanos(nanos.and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

/// Ends the program on SIGQUIT as Go's runtime does, but without the stacks of its threads.
///
/// # Errors
/// If the system does not allow the handler.
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

/// Ends the program as SIGPIPE does; other tools keep that default.
pub(crate) fn die_of_closed_pipe() -> ! {
    drumfire_screen::restore();
    let _dead = low_level::emulate_default_handler(SIGPIPE);
    low_level::exit(128 + SIGPIPE)
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Code under the lock cannot panic.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether SIGHUP was ignored when the program started; `false` if the kernel does not report it.
pub(crate) fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // One bit per signal; the lowest bit is signal 1.
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}
