//! The coordinator's journal: everything on which its state depends, entry by entry.
//!
//! A frame is the length of its content, the CRC-32 of it, and the content; a journal that was cut
//! off ends before its last whole frame. The driver appends frames and syncs them; only then is what
//! they hold answered, acknowledged or told. A coordinator that is given the entries again, in their
//! order, therefore knows of everything that an agent or an observer has learned of the run.
//!
//! The first entry is the [`Head`]. A coordinator that goes on with a run copies what there is into a
//! journal of its own, and appends its [`Entry::Term`]: a journal without that was not finished, and
//! the one before it holds.

use crate::attachments::Attachments;
use crate::message::{Assignment, Beat};
use crate::on_loss::OnLoss;
use crate::place::Distrust;
use crate::succession::Offer;
use drumfire_measure::form;
use drumfire_measure::form::{Form, FormError, Input};
use drumfire_net::Clock;
use drumfire_plan::{Command, StopReason};
use drumfire_units::Nanos;
use std::io::{self, Read};

/// The largest frame that is read: a plan and its results are far smaller.
const FRAME_BYTES_MAX: u32 = 256 << 20;

/// The facts of a run that its coordinator had before it gathered agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The run's name.
    pub run: String,
    /// The version of the program, which one that goes on must have too.
    pub program: String,
    /// The plan with its setup and its teardown, as a text without secrets.
    pub text: String,
    /// The names and values that its setup took.
    pub taken: Vec<(String, String)>,
    /// What travels beside it.
    pub attachments: Attachments,
    /// The number of agents.
    pub agents: u64,
    /// What the loss of one does.
    pub on_loss: OnLoss,
    /// The URL of the server of NATS.
    pub url: String,
    /// The group of agents.
    pub group: String,
    /// The clock of the run.
    pub axis: Axis,
    /// A text that the caller stores for itself.
    pub caller: String,
}

/// The clock of a run, so that another process can go on by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The name of the machine's boot, within which `epoch` holds.
    pub boot: String,
    /// The monotonic clock's reading at the clock's epoch.
    pub epoch: u64,
    /// The wall clock's reading then, in nanoseconds since 1970.
    pub unix_ns: u64,
}

impl Axis {
    /// A clock's axis within a boot.
    pub(crate) fn of(clock: Clock, boot: &str) -> Self {
        Self {
            boot: boot.to_owned(),
            epoch: clock.epoch(),
            unix_ns: clock.unix_epoch(),
        }
    }

    /// The clock in this boot: the same one, or as close to it as the wall clock is.
    #[must_use]
    pub fn clock(&self, boot: &str) -> Clock {
        match self.boot == boot {
            true => Clock::of_epoch(self.epoch),
            false => Clock::of_unix_time(self.unix_ns),
        }
    }
}

/// The start of a run, with its places.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Begun {
    /// The start, by the coordinator's clock.
    pub(crate) start: Nanos,
    /// Each place's share, and the beat by which its agent was ready.
    pub(crate) places: Vec<(Assignment, Beat)>,
}

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    Head(Head),
    /// A coordinator goes on with the run.
    Term(u64),
    Begun(Begun),
    /// A report, as it came.
    Report(Vec<u8>),
    Command(Command),
    /// The load stops because an observer asked for it, at this run time.
    Halt(StopReason, bool, Nanos),
    /// The agent of this place was taken for lost at this run time.
    Lost(u32, Nanos),
    /// The agent of this place failed at this run time, for this reason.
    Failed(u32, Nanos, String),
    /// What the agent of this place reported can't be taken, which was found at this run time.
    Distrusted(u32, Nanos, Distrust),
    /// Shares of a lost place were offered, which makes the next place.
    Offered(Offer),
    /// The place with this number keeps its shares from this run time on; by this beat its agent was
    /// ready.
    Joined(u32, Nanos, Beat),
}

impl Entry {
    /// The entry in its frame.
    pub(crate) fn frame(&self) -> Vec<u8> {
        frame(&form::encode(self))
    }
}

form! {
    enum Entry {
        0 => Head(head),
        1 => Term(term),
        2 => Begun(begun),
        3 => Report(report),
        4 => Command(command),
        5 => Halt(reason, ends, at),
        6 => Lost(place, at),
        7 => Offered(offer),
        8 => Joined(place, from, beat),
        9 => Failed(place, at, reason),
        10 => Distrusted(place, at, distrust),
    }
}

form! {
    struct Head {
        run, program, text, taken, attachments, agents, on_loss, url, group, axis, caller,
    }
}

form! { struct Axis { boot, epoch, unix_ns } }
form! { struct Begun { start, places as Vec<(Bare, Beat)> } }

/// An assignment without its plan and attachments, which the head has.
struct Bare;

impl Form<Assignment> for Bare {
    fn write(value: &Assignment, out: &mut Vec<u8>) {
        let bare = Assignment {
            plan: String::new(),
            attachments: Attachments::default(),
            ..value.clone()
        };
        form::write(&bare, out);
    }

    fn read(input: &mut Input<'_>) -> Result<Assignment, FormError> {
        let assignment: Assignment = form::read(input)?;
        let is_bare =
            |it: &Assignment| it.plan.is_empty() && it.attachments == Attachments::default();
        form::check(&assignment, is_bare, "a plan beside that of the head")?;
        Ok(assignment)
    }
}

/// The frame of a content.
fn frame(content: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(8 + content.len());
    frame.extend_from_slice(&(content.len() as u32).to_le_bytes());
    frame.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    frame.extend_from_slice(content);
    frame
}

/// The entries of a journal, to its end or to where it was cut off.
pub(crate) struct Entries {
    from: Box<dyn Read + Send>,
    /// The bytes of the whole frames that were read.
    read: u64,
}

impl Entries {
    pub(crate) fn of(from: Box<dyn Read + Send>) -> Self {
        Self { from, read: 0 }
    }

    /// The next entry.
    ///
    /// # Errors
    /// When it can't be read, or is none that is written here.
    pub(crate) fn next(&mut self) -> io::Result<Option<Entry>> {
        let Some(content) = self.content()? else {
            return Ok(None);
        };
        self.read += 8 + content.len() as u64;
        let entry = form::decode(&content);
        entry.map(Some).map_err(io::Error::other)
    }

    fn content(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut head = Vec::new();
        self.from.by_ref().take(8).read_to_end(&mut head)?;
        let [a, b, c, d, sum @ ..] = head.as_slice() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes([*a, *b, *c, *d]);
        let mut content = Vec::new();
        if length > FRAME_BYTES_MAX {
            return Ok(None);
        }
        let rest = self.from.by_ref().take(length.into());
        { rest }.read_to_end(&mut content)?;
        let is_whole = content.len() as u64 == u64::from(length)
            && *sum == crc32fast::hash(&content).to_le_bytes();
        Ok(is_whole.then_some(content))
    }
}

impl Head {
    /// Reads the head of a journal alone; `None` if it is not whole.
    ///
    /// # Errors
    /// If it can't be read, or is of another version.
    pub fn read(from: impl Read + Send + 'static) -> io::Result<Option<Self>> {
        match Entries::of(Box::new(from)).next()? {
            Some(Entry::Head(head)) => Ok(Some(head)),
            _ => Ok(None),
        }
    }
}

/// What can be seen of a journal without playing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The facts of the run.
    pub head: Head,
    /// The highest term of a coordinator.
    pub term: u64,
    /// Whether the run has a start.
    pub has_begun: bool,
    /// The length of its whole frames, in bytes.
    pub whole: u64,
}

impl Outline {
    /// Reads a journal; `None` where its head is not whole.
    ///
    /// # Errors
    /// When it can't be read, or is of another version.
    pub fn read(from: impl Read + Send + 'static) -> io::Result<Option<Self>> {
        let mut entries = Entries::of(Box::new(from));
        let Some(Entry::Head(head)) = entries.next()? else {
            return Ok(None);
        };
        let (mut term, mut has_begun) = (1, false);
        while let Some(entry) = entries.next()? {
            match entry {
                Entry::Term(next) => term = next,
                Entry::Begun(_) => has_begun = true,
                _ => {}
            }
        }
        Ok(Some(Self {
            head,
            term,
            has_begun,
            whole: entries.read,
        }))
    }

    /// The frame by which a coordinator of this term goes on.
    #[must_use]
    pub fn frame_of_term(term: u64) -> Vec<u8> {
        Entry::Term(term).frame()
    }
}
