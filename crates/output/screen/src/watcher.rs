//! The thread of the terminal: draws, reads keys, and carries out their acts.
//!
//! The thread checks for changes every [`FRAME`], and draws after an event, a message, a key or a
//! change of size, or when the clock has advanced by a second. It pauses while the program is
//! suspended or in the background, and ends when the screen's owner requests it or the terminal is
//! closed. The run continues in any case.
//!
//! The loop of [`Watcher::watch`] has three steps, in this order: it follows the shell's job
//! control, draws a frame if it would differ, and waits for a key, a signal or the next check. The
//! act of a key is carried out on this thread before the next frame, which shows the answer as its
//! message.
//!
//! A frame shows a copy of the shared state ([`Moment`]), so that its parts belong to one moment and
//! no thread waits while it is drawn. A frozen screen keeps its moment. Reports that are copied or
//! saved are made from a copy of the books, too.
//!
//! After the run's end, the owner may leave the last picture to the user
//! ([`Flags::stays`]): then the thread ends by the key that ends the run, or by a signal.

use crate::backend::Cells;
use crate::choice::{ScreenAct, ViewState};
use crate::clipboard;
use crate::console::{Shared, lock};
use crate::frame::Frame;
use crate::key::keys;
use crate::look::Look;
use crate::moment::Moment;
use crate::pictures::FramePictures;
use crate::terminal::{self, Woken};
use drumfire_measure::Summary;
use drumfire_plan::{Change, Command};
use drumfire_report::style::Style;
use drumfire_report::{markdown, text};
use drumfire_session::{RunContext, Steering};
use ratatui_core::layout::Size;
use ratatui_core::terminal::Terminal;
use rustix::fd::{AsFd as _, OwnedFd};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::low_level;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time between two checks.
const FRAME: Duration = Duration::from_millis(250);
/// The maximum number of names that are tried for a saved report.
const NAMES_MAX: u32 = 100;

/// The signals that concern the screen, received since the last check. Signal handlers set the
/// flags and write to the pipe, which ends the wait.
#[derive(Clone, Default)]
pub(crate) struct Flags {
    /// The owner has requested the end of the screen.
    pub(crate) is_over: Arc<AtomicBool>,
    /// Set by SIGTSTP, which Ctrl-Z sends.
    pub(crate) is_suspended: Arc<AtomicBool>,
    /// Set by SIGCONT, even if the program was stopped by SIGSTOP.
    pub(crate) is_continued: Arc<AtomicBool>,
    /// Set by a signal that ends the program: the screen stays no longer.
    pub(crate) is_interrupted: Arc<AtomicBool>,
    /// Whether the screen stays after the run's end until the user leaves it.
    pub(crate) stays: Arc<AtomicBool>,
}

/// The thread's state. The user's choices exist only here.
pub(crate) struct Watcher {
    shared: Shared,
    flags: Flags,
    waker: OwnedFd,
    look: Look,
    /// The user's choices: the view, the order, the filter, the typed text.
    choice: ViewState,
    /// The cells on the terminal; a frame rewrites only the ones that differ.
    cells: Terminal<Cells>,
    /// The pictures of the view that is shown.
    pictures: FramePictures,
    /// The moment that a frozen screen shows.
    frozen: Option<Moment>,
    /// The inputs of the newest frame; `None` if another frame is due in any case.
    drawn: Option<Sights>,
}

/// The inputs of a frame apart from the user's choices. Equal inputs produce an equal frame.
#[derive(Clone, Copy, PartialEq)]
struct Sights {
    events: u64,
    notes: u64,
    /// The run's time, which the clock shows in seconds.
    second: u64,
    size: Size,
}

/// Whether the user is still at the screen of a run that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Stays,
    Left,
}

impl Watcher {
    /// A watcher of a run. Signals and the owner write to `waker`.
    ///
    /// # Errors
    /// If the size of the terminal is unknown.
    pub(crate) fn new(
        shared: Shared,
        run: &RunContext,
        flags: Flags,
        waker: OwnedFd,
        look: Look,
    ) -> io::Result<Self> {
        let choice = ViewState {
            pools: u16::try_from(run.info.pools.len()).unwrap_or(u16::MAX),
            ..ViewState::default()
        };
        Ok(Self {
            shared,
            flags,
            waker,
            look,
            choice,
            cells: Terminal::new(Cells::new())?,
            pictures: FramePictures::default(),
            frozen: None,
            drawn: None,
        })
    }

    /// Runs until the owner ends it or the terminal is closed.
    pub(crate) fn watch(mut self) {
        while !self.flags.is_over.load(Ordering::Acquire) {
            self.follow_jobs();
            let is_shown = terminal::is_shown();
            if is_shown && self.draw().is_err() {
                return;
            }
            match terminal::wait(self.waker.as_fd(), is_shown, FRAME) {
                Woken::Keys(bytes) => {
                    if self.press(&bytes) == Presence::Left {
                        return;
                    }
                }
                Woken::Gone => return terminal::forget(),
                Woken::Other => {}
            }
            let is_interrupted = self.flags.is_interrupted.load(Ordering::Acquire);
            if is_interrupted && lock(&self.shared).standing.is_over() {
                return;
            }
        }
    }

    /// Leaves the terminal to the shell when the program is suspended, and takes it back
    /// afterwards.
    fn follow_jobs(&mut self) {
        if self.flags.is_suspended.swap(false, Ordering::AcqRel) {
            terminal::leave();
            // The program stops here, and continues after SIGCONT.
            let _stopped = low_level::emulate_default_handler(SIGTSTP);
        }
        let is_continued = self.flags.is_continued.swap(false, Ordering::AcqRel);
        let is_foreground = terminal::is_foreground();
        match (terminal::is_shown(), is_foreground) {
            // The shell has changed the modes meanwhile, even if SIGSTOP had stopped the program.
            (true, true) if is_continued => self.show_again(),
            (true, true) | (false, false) => {}
            (false, true) => self.show_again(),
            (true, false) => terminal::forget(),
        }
    }

    /// Takes the terminal back and redraws everything.
    fn show_again(&mut self) {
        self.drawn = None;
        // If the terminal refuses, the next frame tries again.
        let _shown = terminal::enter().and_then(|()| self.cells.clear());
    }

    /// Draws a frame, unless an equal one is on the terminal.
    fn draw(&mut self) -> io::Result<()> {
        let size = terminal::size()?;
        let known = lock(&self.shared);
        let elapsed = known.standing.elapsed();
        let is_frozen = self.choice.is_frozen && self.frozen.is_some();
        let sights = Sights {
            events: if is_frozen { 0 } else { known.events },
            notes: known.notes.count(),
            second: if is_frozen {
                0
            } else {
                elapsed.0 / 1_000_000_000
            },
            size,
        };
        if self.drawn == Some(sights) {
            return Ok(());
        }
        self.drawn = Some(sights);
        let now = known.moment(elapsed);
        drop(known);
        let moment = match self.frozen.take().filter(|_| self.choice.is_frozen) {
            Some(frozen) => Moment {
                note: now.note,
                ..frozen
            },
            None => now,
        };
        self.pictures.renew(&moment, &self.choice, size);
        let frame = Frame {
            moment: &moment,
            choice: &self.choice,
            figures: self.pictures.figures(),
            look: &self.look,
        };
        let mut positions = self.choice.positions();
        let drawn = self.cells.draw(|cells| {
            positions = frame.draw(cells.area(), cells.buffer_mut());
        });
        self.frozen = self.choice.is_frozen.then_some(moment);
        drawn?;
        self.choice.settle(positions);
        Ok(())
    }

    /// Carries out the acts of keys in order. The answer to the last one is the message.
    fn press(&mut self, bytes: &[u8]) -> Presence {
        self.drawn = None;
        for key in keys(bytes) {
            let Some(act) = self.choice.press(key) else {
                continue;
            };
            let is_over = lock(&self.shared).standing.is_over();
            if act == ScreenAct::End && is_over {
                return Presence::Left;
            }
            let answer = match act {
                ScreenAct::End => {
                    // Counted together with signals from outside: the second one ends the wait too.
                    let raised = low_level::raise(SIGINT);
                    raised.err().map(|error| error.to_string())
                }
                ScreenAct::Pause => Some(self.pause()),
                ScreenAct::Scale(factor) => Some(self.scale(factor)),
                ScreenAct::Mark(text) => Some(self.send(&Command::soon(Change::Mark { text }))),
                ScreenAct::Copy => Some(self.copy()),
                ScreenAct::CopyPage => Some(self.copy_page()),
                ScreenAct::Save => Some(self.save()),
                ScreenAct::Stay => Some(self.stay()),
            };
            self.choice.message = answer;
        }
        Presence::Stays
    }

    /// Lets the screen stay after the run's end, or no longer. Returns the answer.
    fn stay(&self) -> String {
        let stays = !self.flags.stays.fetch_xor(true, Ordering::AcqRel);
        match stays {
            true => "the screen stays after the end until q".to_owned(),
            false => "the screen is left at the end".to_owned(),
        }
    }

    /// Pauses or resumes the load, depending on the latest state of the run.
    fn pause(&self) -> String {
        let known = lock(&self.shared);
        let load = known.standing.steering();
        let is_paused = load.is_some_and(Steering::is_paused);
        drop(known);
        self.send(&Command::soon(match is_paused {
            true => Change::Resume,
            false => Change::Pause,
        }))
    }

    /// Multiplies the load of the chosen pool, or of all pools, by a factor. Returns the answers.
    fn scale(&self, factor: f64) -> String {
        let known = lock(&self.shared);
        let Some(steering) = known.standing.steering() else {
            return "the load has not started".to_owned();
        };
        let commands = steering.scaled(self.choice.pool, factor);
        drop(known);
        match commands {
            Ok(commands) => {
                let answers: Vec<String> =
                    commands.iter().map(|command| self.send(command)).collect();
                answers.join("; ")
            }
            Err(why) => why,
        }
    }

    /// Sends a command to the run. Returns the answer.
    fn send(&self, command: &Command) -> String {
        let mut known = lock(&self.shared);
        let carried_out = known.standing.carry_out(command);
        carried_out.unwrap_or_else(|why| why)
    }

    /// The books so far.
    fn summary(&self) -> Option<Arc<Summary>> {
        lock(&self.shared).summary.clone()
    }

    /// Sends the current report to the terminal's clipboard, with secrets masked. Returns the
    /// answer.
    fn copy(&self) -> String {
        let Some(summary) = self.summary() else {
            return "nothing to copy yet".to_owned();
        };
        let report = text::summary(&summary, &Style::default().naming(self.look.naming()));
        let report = self.look.redactor().text(&report);
        if report.len() > clipboard::TEXT_MAX {
            return "the report is too long for the clipboard: press s to save it".to_owned();
        }
        let has_page = lock(&self.shared).page().is_some();
        match (
            terminal::write(clipboard::copying(&report).as_bytes()),
            has_page,
        ) {
            (Ok(()), false) => "sent the report so far to the clipboard".to_owned(),
            (Ok(()), true) => {
                "sent the report so far to the clipboard; y again sends the page's address"
                    .to_owned()
            }
            (Err(error), _) => format!("can't write to the terminal: {error}"),
        }
    }

    /// Sends the address of the run's page to the terminal's clipboard; the report if the run has no
    /// page. Returns the answer.
    fn copy_page(&self) -> String {
        let page = lock(&self.shared).page().map(str::to_owned);
        let Some(page) = page else {
            return self.copy();
        };
        match terminal::write(clipboard::copying(&page).as_bytes()) {
            Ok(()) => "sent the address of the run's page to the clipboard".to_owned(),
            Err(error) => format!("can't write to the terminal: {error}"),
        }
    }

    /// Saves the current report as Markdown in the working directory, with secrets masked. Returns
    /// the answer.
    fn save(&self) -> String {
        let Some(summary) = self.summary() else {
            return "nothing to save yet".to_owned();
        };
        let report = markdown::summary(&summary, self.look.naming());
        let report = self.look.redactor().bytes(&report);
        match saved(&summary.info.id, &report) {
            Ok(name) => format!("saved the report so far as {name}"),
            Err(error) => format!("can't save the report: {error}"),
        }
    }
}

/// Writes a new file and returns its name. Existing files are never overwritten.
fn saved(id: &str, report: &[u8]) -> io::Result<String> {
    for number in 1..=NAMES_MAX {
        let name = match number {
            1 => format!("drumfire-{id}.md"),
            number => format!("drumfire-{id}-{number}.md"),
        };
        match OpenOptions::new().write(true).create_new(true).open(&name) {
            Ok(mut file) => return file.write_all(report).map(|()| name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Registers the signals that concern the screen. SIGCONT keeps its default effect.
///
/// # Errors
/// If the system does not allow the handlers.
pub(crate) fn register(flags: &Flags, waker: &OwnedFd) -> io::Result<Vec<signal_hook::SigId>> {
    let mut registered = Vec::new();
    for (signal, flag) in [
        (SIGTSTP, &flags.is_suspended),
        (SIGCONT, &flags.is_continued),
    ] {
        registered.push(signal_hook::flag::register(signal, Arc::clone(flag))?);
        registered.push(low_level::pipe::register(signal, waker.try_clone()?)?);
    }
    Ok(registered)
}

/// Registers the signals that end the program, for a screen that stays after its run. The program
/// handles them too.
///
/// # Errors
/// If the system does not allow the handlers.
pub(crate) fn register_ends(flags: &Flags, waker: &OwnedFd) -> io::Result<Vec<signal_hook::SigId>> {
    let mut registered = Vec::new();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let flag = Arc::clone(&flags.is_interrupted);
        registered.push(signal_hook::flag::register(signal, flag)?);
        registered.push(low_level::pipe::register(signal, waker.try_clone()?)?);
    }
    Ok(registered)
}
