//! The terminal itself: its modes, its two screens, its size.
//!
//! [`enter`] saves the modes and shows the alternate screen. [`leave`] and [`restore`] undo both,
//! and may be called from any thread, at any time and twice. Frames are written under a lock, and
//! only while the screen is shown, so that nothing is drawn on a restored terminal.
//!
//! Keys reach the program without line editing or echo. The terminal still converts Ctrl-C, Ctrl-Z
//! and Ctrl-\ to signals, so that they work even if the screen's own thread does not.

use ratatui_core::layout::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use rustix::stdio::{stdin, stdout};
use rustix::termios::{
    LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};
use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::Duration;

/// The minimum size of a terminal for the screen by default.
const LEAST: Size = Size::new(80, 24);
/// The alternate screen without a cursor and without wrapping at its right edge.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/// The time that [`restore`] waits for the writing thread while the terminal accepts bytes.
const PATIENCE: Duration = Duration::from_millis(200);
/// The time that [`restore`] waits for a terminal that accepts no bytes.
const PATIENCE_MAX: Duration = Duration::from_secs(2);

/// The terminal's modes before the screen, while it is shown. The lock is never held during a
/// write.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Locked by the thread that writes to the terminal.
static WRITER: Mutex<()> = Mutex::new(());

/// Whether the program is ending, so that no thread may show the screen again.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Whether a screen can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitness {
    /// A screen can be shown.
    Fits,
    /// Input or an output is not a terminal, the terminal has no cursor moves, or the program runs
    /// in the background.
    NoScreen,
    /// The terminal has fewer than 80 columns or 24 rows.
    TooSmall,
}

/// Whether this program's terminal can show a screen.
#[must_use]
pub fn fitness() -> Fitness {
    let all = io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if !all || is_dumb || !is_foreground() {
        return Fitness::NoScreen;
    }
    match size() {
        Ok(size) if size.width >= LEAST.width && size.height >= LEAST.height => Fitness::Fits,
        _ => Fitness::TooSmall,
    }
}

/// Leaves the screen if it is shown, before the program ends in another way than by the end of its
/// run. The screen is not shown again.
///
/// If another thread is writing, this function waits for it briefly, and longer if the terminal
/// accepts no bytes, as its reader may have no core. If that lasts, only the modes are restored.
pub fn restore() {
    IS_ENDING.store(true, Ordering::SeqCst);
    let mut waited = Duration::ZERO;
    let step = Duration::from_millis(5);
    let writer = loop {
        match WRITER.try_lock() {
            Ok(writer) => break Some(writer),
            Err(TryLockError::Poisoned(writer)) => break Some(writer.into_inner()),
            // The writing thread has no core, and its frame is cut.
            Err(TryLockError::WouldBlock) if waited >= PATIENCE && takes_bytes() => break None,
            Err(TryLockError::WouldBlock) if waited >= PATIENCE_MAX => {
                if let Some(modes) = lock(&BEFORE).take() {
                    let _gone = tcsetattr(stdin(), OptionalActions::Now, &modes);
                }
                return;
            }
            Err(TryLockError::WouldBlock) => {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "an end must not wait for a terminal"
                )]
                sleep(step);
                waited += step;
            }
        }
    };
    undo();
    drop(writer);
}

/// Whether the terminal accepts bytes now.
fn takes_bytes() -> bool {
    let stdout = stdout();
    let mut terminal = [PollFd::new(&stdout, PollFlags::OUT)];
    let ready = poll(&mut terminal, Some(&Timespec::default()));
    ready.is_ok() && terminal[0].revents().contains(PollFlags::OUT)
}

/// Shows the screen. Modes that were saved earlier are kept.
///
/// # Errors
/// If the terminal refuses its modes, or the program is ending.
pub(crate) fn enter() -> io::Result<()> {
    static HOOK: Once = Once::new();
    HOOK.call_once(restore_before_panics);
    let _writer = lock(&WRITER);
    // Read under the lock: if the screen was entered before, the ending thread leaves it.
    if IS_ENDING.load(Ordering::SeqCst) {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let now = tcgetattr(stdin())?;
    let mut ours = now.clone();
    ours.local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO);
    tcsetattr(stdin(), OptionalActions::Now, &ours)?;
    lock(&BEFORE).get_or_insert(now);
    write_all(ENTER)
}

/// Leaves the screen.
pub(crate) fn leave() {
    let _writer = lock(&WRITER);
    undo();
}

/// Forgets that the screen is shown: another program has the terminal now, and the shell has
/// restored the modes.
pub(crate) fn forget() {
    lock(&BEFORE).take();
}

/// Whether the screen is shown.
pub(crate) fn is_shown() -> bool {
    lock(&BEFORE).is_some()
}

/// Locks a value, even after a panic of the thread that held the lock: each value is always
/// consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn undo() {
    let before = lock(&BEFORE).take();
    if let Some(modes) = before {
        // A closed terminal needs no restoring.
        let _gone = write_all(LEAVE);
        let _gone = tcsetattr(stdin(), OptionalActions::Now, &modes);
    }
}

/// Prints a panic's message on the restored terminal, for any thread.
fn restore_before_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        before(panic);
    }));
}

/// Whether the program may use its terminal: it is not a background job.
pub(crate) fn is_foreground() -> bool {
    isatty(stdin()) && tcgetpgrp(stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// The terminal's size.
pub(crate) fn size() -> io::Result<Size> {
    let size = tcgetwinsize(stdout())?;
    Ok(Size::new(size.ws_col, size.ws_row))
}

/// Writes to the screen while it is shown.
pub(crate) fn write(bytes: &[u8]) -> io::Result<()> {
    let _writer = lock(&WRITER);
    match is_shown() {
        true => write_all(bytes),
        false => Ok(()),
    }
}

fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(stdout(), bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Why a wait ended.
pub(crate) enum Woken {
    /// Keys were typed; contains their bytes.
    Keys(Vec<u8>),
    /// The terminal was closed.
    Gone,
    /// The time has passed, or the waker was written to.
    Other,
}

/// Waits for keys, for a byte of `waker`, or until the time has passed. Without `takes_keys`, typed
/// keys are not read.
pub(crate) fn wait(waker: BorrowedFd<'_>, takes_keys: bool, time: Duration) -> Woken {
    let keys = stdin();
    let mut polled = [
        PollFd::new(&waker, PollFlags::IN),
        PollFd::new(&keys, PollFlags::IN),
    ];
    let polled = match takes_keys {
        true => &mut polled[..],
        false => &mut polled[..1],
    };
    let time = Timespec {
        tv_sec: time.as_secs().cast_signed(),
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    if poll(polled, Some(&time)).is_err() {
        // A signal, which the caller checks.
        return Woken::Other;
    }
    let is_woken = !polled[0].revents().is_empty();
    let typed = polled.get(1).map(PollFd::revents);
    if is_woken {
        // The bytes have no meaning except to wake the thread.
        let _read = rustix::io::read(waker, &mut [0; 64]);
    }
    match typed {
        Some(found) if found.contains(PollFlags::IN) => {
            let mut bytes = vec![0; 256];
            match rustix::io::read(stdin(), &mut bytes) {
                Ok(read @ 1..) => {
                    bytes.truncate(read);
                    Woken::Keys(bytes)
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Woken::Other,
                Ok(0) | Err(_) => Woken::Gone,
            }
        }
        Some(found) if !found.is_empty() => Woken::Gone,
        _ => Woken::Other,
    }
}
