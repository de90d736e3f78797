//! The coordinator's journal: everything on which its state depends, entry by entry.
//!
//! A frame is the length of its content, the content's CRC-32, and the content. A journal that was
//! cut off ends after its last complete frame. The driver appends frames and syncs them. Only then
//! is anything that depends on them answered, acknowledged or published. A coordinator that replays
//! the entries in order therefore has everything that an agent or an observer has received.
//!
//! The first entry is the [`Head`]. A coordinator that takes over a run copies the existing journal
//! into its own, and appends its [`Entry::Term`]. A journal without this entry was not finished,
//! and the previous journal is valid.

use crate::attachments::Attachments;
use crate::message::{Assignment, Beat};
use crate::on_loss::OnLoss;
use crate::place::Distrust;
use crate::succession::ShareOffer;
use drumfire_measure::form;
use drumfire_measure::form::{Form, FormError, Input};
use drumfire_net::Clock;
use drumfire_plan::{Command, StopReason};
use drumfire_units::Nanos;
use std::io::{self, Read};

/// The maximum size of a frame that is read; a plan and its results are far smaller.
const FRAME_BYTES_MAX: u32 = 256 << 20;

/// The facts of a run before agents were gathered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The run's name.
    pub run: String,
    /// The version of the program; a successor must have the same one.
    pub program: String,
    /// The plan with its setup and teardown, as a text without secrets.
    pub text: String,
    /// The names and values that the setup produced.
    pub taken: Vec<(String, String)>,
    /// The files, folders and setup values of the plan.
    pub attachments: Attachments,
    /// The number of agents.
    pub agents: u64,
    /// The effect of a lost agent.
    pub on_loss: OnLoss,
    /// The URL of the NATS server.
    pub url: String,
    /// The group of agents.
    pub group: String,
    /// The clock of the run.
    pub axis: ClockAxis,
    /// A text that the caller stores for itself.
    pub caller: String,
}

/// The clock of a run, stored so that another process can continue it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockAxis {
    /// The id of the machine's boot, within which `epoch` is valid.
    pub boot: String,
    /// The monotonic clock's reading at the clock's epoch.
    pub epoch: u64,
    /// The wall clock's reading at that time, in nanoseconds since 1970.
    pub unix_ns: u64,
}

impl ClockAxis {
    /// A clock's axis within a boot.
    pub(crate) fn new(clock: Clock, boot: &str) -> Self {
        Self {
            boot: boot.to_owned(),
            epoch: clock.epoch(),
            unix_ns: clock.unix_epoch(),
        }
    }

    /// The clock in this boot: the original clock in the same boot, otherwise the clock derived
    /// from the wall clock.
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
    /// Each place's share, and the beat with which its agent was ready.
    pub(crate) places: Vec<(Assignment, Beat)>,
}

/// An entry of the journal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    Head(Head),
    /// A coordinator with this term takes over the run.
    Term(u64),
    Begun(Begun),
    /// A report, as received.
    Report(Vec<u8>),
    Command(Command),
    /// An observer stopped the load at this run time. With `true`, requests in flight were aborted.
    Halt(StopReason, bool, Nanos),
    /// The agent of this place was considered lost at this run time.
    Lost(u32, Nanos),
    /// The agent of this place failed at this run time, for this reason.
    Failed(u32, Nanos, String),
    /// The reports of this place's agent were found wrong at this run time.
    Distrusted(u32, Nanos, Distrust),
    /// Shares of a lost place were offered, which adds the next place.
    Offered(ShareOffer),
    /// The place with this number keeps its shares from this run time; this beat showed that its
    /// agent was ready.
    Joined(u32, Nanos, Beat),
}

impl Entry {
    /// The entry in a frame.
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

form! { struct ClockAxis { boot, epoch, unix_ns } }
form! { struct Begun { start, places as Vec<(BareAssignment, Beat)> } }

/// The form of an assignment without its plan and attachments, which are in the head.
struct BareAssignment;

impl Form<Assignment> for BareAssignment {
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

/// A content in a frame.
fn frame(content: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(8 + content.len());
    frame.extend_from_slice(&(content.len() as u32).to_le_bytes());
    frame.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    frame.extend_from_slice(content);
    frame
}

/// The entries of a journal, to its end or to the cut.
pub(crate) struct Entries {
    from: Box<dyn Read + Send>,
    /// The number of bytes of the complete frames that were read.
    read: u64,
}

impl Entries {
    pub(crate) fn new(from: Box<dyn Read + Send>) -> Self {
        Self { from, read: 0 }
    }

    /// The next entry.
    ///
    /// # Errors
    /// If the entry cannot be read, or is unknown.
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
    /// Reads only the head of a journal; `None` if it is incomplete.
    ///
    /// # Errors
    /// If the head cannot be read, or has another version.
    pub fn read(from: impl Read + Send + 'static) -> io::Result<Option<Self>> {
        match Entries::new(Box::new(from)).next()? {
            Some(Entry::Head(head)) => Ok(Some(head)),
            _ => Ok(None),
        }
    }
}

/// The summary of a journal that was read without replaying it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalOutline {
    /// The facts of the run.
    pub head: Head,
    /// The highest term of a coordinator.
    pub term: u64,
    /// Whether the run has a start.
    pub has_begun: bool,
    /// The length of the complete frames, in bytes.
    pub whole: u64,
}

impl JournalOutline {
    /// Reads a journal; `None` if its head is incomplete.
    ///
    /// # Errors
    /// If the journal cannot be read, or has another version.
    pub fn read(from: impl Read + Send + 'static) -> io::Result<Option<Self>> {
        let mut entries = Entries::new(Box::new(from));
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

    /// The frame with which a coordinator of this term takes over.
    #[must_use]
    pub fn frame_of_term(term: u64) -> Vec<u8> {
        Entry::Term(term).frame()
    }
}
