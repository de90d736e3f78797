//! The three messages between a coordinator and its agents, and their forms.
//!
//! Numbers and texts from another machine are limited here, because threads, places and lines are
//! made from them.

use crate::Offset;
use crate::attachments::Attachments;
use crate::clock_facts::ClockFacts;
use crate::envelope::Message;
use drumfire_engine::Shares;
use drumfire_measure::form;
use drumfire_measure::form::{Form, FormError, Input, Text};
use drumfire_plan::{Command, StopReason};
use drumfire_units::Nanos;
use std::fmt;

/// The maximum length of a reason that is sent and shown, in bytes.
const REASON_BYTES_MAX: usize = 1_024;
/// The maximum length of the name of an agent, a run or a version, in bytes.
const NAME_BYTES_MAX: usize = 255;
/// The form of such a name.
type Name = Text<NAME_BYTES_MAX>;
/// The maximum number of further agents that one agent starts for the shares of lost ones.
pub(crate) const JOINS_MAX: u64 = 64;
/// The length of a key in bytes.
const KEY_BYTES: usize = 16;

/// A random number by which a coordinator recognises an agent. Agents send their key and never
/// receive another agent's, so that no agent can impersonate another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AgentKey([u8; KEY_BYTES]);

impl AgentKey {
    /// The key with these random bytes.
    #[must_use]
    pub const fn new(random: [u8; KEY_BYTES]) -> Self {
        Self(random)
    }
}

impl fmt::Debug for AgentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgentKey")
    }
}

/// The resources of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineFacts {
    /// The number of cores that the agent may use.
    pub cores: u32,
    /// The number of descriptors that the agent may open; `None` means no limit.
    pub descriptors: Option<u64>,
}

/// The phase of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The agent has no run.
    Free,
    /// The agent reads its plan and opens connections.
    Preparing,
    /// The agent waits for the start. Contains the encoded facts of the run as the agent sees them.
    Ready(Vec<u8>),
    /// The load is running.
    Running,
    /// The lease has expired, which ended the load.
    Expired,
    /// The last report was made.
    Ended,
    /// The agent cannot run its share, for this reason.
    Failed(String),
}

/// The heartbeat of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Beat {
    /// The agent's unique name.
    pub agent: String,
    /// The agent's key.
    pub key: AgentKey,
    /// The version of the agent's program.
    pub program: String,
    /// The time at which the beat was sent, by the agent's clock.
    pub sent: Nanos,
    /// The resources of the agent's machine.
    pub machine: MachineFacts,
    /// The agent's run; empty if the agent is free.
    pub run: String,
    /// The epoch of the agent's share.
    pub epoch: u64,
    /// The highest term of a coordinator of the run from which the agent received a reply.
    pub term: u64,
    /// The agent's phase.
    pub phase: Phase,
    /// The number of reports that the agent has made.
    pub made: u64,
    /// The number of commands that the agent has received.
    pub commands: u64,
    /// The number of commands that arrived too late for their time.
    pub late: u64,
    /// The agent's estimate of the coordinator's clock.
    pub offset: Option<Offset>,
    /// Further facts about the agent's clock.
    pub clock: ClockFacts,
}

/// A share that an agent must run.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The run's name.
    pub run: String,
    /// The number of the share, from 0.
    pub share: u32,
    /// The epoch of the share.
    pub epoch: u64,
    /// The agent's part of the load.
    pub shares: Shares,
    /// The sum of all agents' machines, to which the plan is fitted.
    pub machine: MachineFacts,
    /// The plan as a text, without secrets.
    pub plan: String,
    /// The files, folders and setup values of the plan.
    pub attachments: Attachments,
}

/// The state of a run as it concerns one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// The epoch of the agent's share.
    pub epoch: u64,
    /// The number of the agent's reports that are stored, in order from the first.
    pub stored: u64,
    /// The start of the load, by the coordinator's clock.
    pub start: Option<Nanos>,
    /// The time of the run from which this agent keeps the share; 0 is the run's start.
    pub begins: Nanos,
    /// The number of further shares that the agent's process has been offered during the run. The
    /// process starts a further agent for each.
    pub joins: u64,
    /// The number of the first of `commands`.
    pub from: u64,
    /// The commands that the agent has not received yet.
    pub commands: Vec<Command>,
    /// The load stops for this reason. With `true`, requests in flight are aborted.
    pub halt: Option<(StopReason, bool)>,
    /// The coordinator considers the agent lost. Its load is over, but its reports are still taken.
    pub is_lost: bool,
    /// The agent may leave: everything is stored, or nothing more is taken.
    pub is_over: bool,
}

/// The content of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// Wait: no place is free yet.
    Wait,
    /// Take this share.
    Take(Assignment),
    /// Continue: the lease is extended.
    Hold(Hold),
    /// Leave: the agent has no place.
    Leave(Dismissal),
}

/// Why an agent has no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dismissal {
    /// The load continues, or has ended, without the shares that the agent was offered during the
    /// run. The time from which the agent would have kept them was not set.
    NotWanted,
    /// The agent is refused, for this reason.
    Refused(String),
}

impl Dismissal {
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }
}

/// The reply to a beat.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The coordinator's run.
    pub run: String,
    /// The coordinator's term. Each successor has a higher term.
    pub term: u64,
    /// The time of the beat, copied from the beat.
    pub sent: Nanos,
    /// The time of the reply, by the coordinator's clock.
    pub at: Nanos,
    /// The content of the reply.
    pub word: Word,
}

/// A part of an agent's results, with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The run's name.
    pub run: String,
    /// The share.
    pub share: u32,
    /// The share's epoch.
    pub epoch: u64,
    /// The key of the share's agent.
    pub key: AgentKey,
    /// The number of the report, from 0.
    pub number: u64,
    /// Whether this report completes a content.
    pub is_last: bool,
    /// A piece of a [`Content`].
    pub piece: Vec<u8>,
}

/// The content of reports, split into pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// An event of the agent's run, as `measure` encodes it.
    Event(Vec<u8>),
    /// The ending of the agent's run, which is the last content.
    Ending(Vec<u8>),
    /// The agent considers its own part invalid, for this reason.
    Invalid(String),
    /// The agent's lease expired at this run time, which ended its load.
    Expired(Nanos),
}

/// The beginning of a reason, with a mark if the reason was cut.
pub(crate) fn cut_reason(reason: &str) -> String {
    if reason.len() <= REASON_BYTES_MAX {
        return reason.to_owned();
    }
    let mut end = REASON_BYTES_MAX;
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &reason[..end])
}

/// The form of a reason, which cuts long texts.
struct ReasonForm;

impl Form<String> for ReasonForm {
    fn write(value: &String, out: &mut Vec<u8>) {
        form::write(value, out);
    }

    fn read(input: &mut Input<'_>) -> Result<String, FormError> {
        input.text().map(cut_reason)
    }
}

/// The form of shares, which are checked to be a part of the whole.
pub(crate) struct SharesForm;

form! {
    struct Shares for SharesForm { first, count, of }
    check |shares| shares.count > 0
        && shares.first.checked_add(shares.count).is_some_and(|end| end <= shares.of),
        "shares beyond the whole";
}

form! { struct AgentKey(key) }
form! { struct MachineFacts { cores, descriptors } }

form! {
    enum Phase {
        0 => Free,
        1 => Preparing,
        2 => Ready(info),
        3 => Running,
        4 => Expired,
        5 => Ended,
        6 => Failed(reason as ReasonForm),
    }
}

form! {
    struct Beat {
        agent as Name, key, program as Name, sent, machine, run as Name, epoch, term, phase, made,
        commands, late, offset, clock,
    }
}

form! {
    struct Assignment {
        run as Name, share, epoch, shares as SharesForm, machine, plan, attachments,
    }
}

form! {
    struct Hold { epoch, stored, start, begins, joins, from, commands, halt, is_lost, is_over }
    check |hold| hold.joins <= JOINS_MAX, "too many further agents";
}

form! { enum Word { 0 => Wait, 1 => Take(assignment), 2 => Hold(hold), 3 => Leave(dismissal) } }
form! { enum Dismissal { 0 => NotWanted, 1 => Refused(reason as ReasonForm) } }
form! { struct Reply { run as Name, term, sent, at, word } }
form! { struct Report { run as Name, share, epoch, key, number, is_last, piece } }
form! {
    enum Content {
        0 => Event(event),
        1 => Ending(ending),
        2 => Expired(at),
        3 => Invalid(reason as ReasonForm),
    }
}

impl Message for Beat {}
impl Message for Reply {}
impl Message for Report {}

impl Beat {
    /// The first beat of a free agent, which has sent and made nothing yet.
    pub(crate) fn free(
        (agent, key): (String, AgentKey),
        program: String,
        machine: MachineFacts,
    ) -> Self {
        Self {
            agent,
            key,
            program,
            sent: Nanos::ZERO,
            machine,
            run: String::new(),
            epoch: 0,
            term: 0,
            phase: Phase::Free,
            made: 0,
            commands: 0,
            late: 0,
            offset: None,
            clock: ClockFacts::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beat() -> Beat {
        Beat {
            agent: "a".to_owned(),
            key: AgentKey::new([7; KEY_BYTES]),
            program: "0.1.0".to_owned(),
            sent: Nanos(7),
            machine: MachineFacts {
                cores: 2,
                descriptors: Some(1024),
            },
            run: "r".to_owned(),
            epoch: 1,
            term: 2,
            phase: Phase::Ready(vec![1, 2]),
            made: 3,
            commands: 1,
            late: 0,
            offset: Some(Offset {
                ahead: -5,
                uncertainty: Nanos(9),
            }),
            clock: ClockFacts::default(),
        }
    }

    fn reply(word: Word) -> Reply {
        Reply {
            run: "r".to_owned(),
            term: 2,
            sent: Nanos(7),
            at: Nanos(8),
            word,
        }
    }

    #[test]
    fn another_version_is_refused_by_its_number() {
        let mut bytes = reply(Word::Wait).encode();
        bytes[8] = 9;
        assert_eq!(Reply::decode(&bytes), Err(FormError::Version(9)));
    }

    /// Bytes of something else are not mistaken for another version, and no altered message decodes
    /// as another message.
    #[test]
    fn what_is_not_a_message_is_not_another_version() {
        for bytes in [&b""[..], b"{}", b"HTTP/1.1 200 OK", &[0; 64], &[0xff; 64]] {
            assert_eq!(Reply::decode(bytes), Err(FormError::Unknown));
        }
        let sent = beat().encode();
        for at in 0..sent.len() {
            for bit in 0..8 {
                let mut bytes = sent.clone();
                bytes[at] ^= 1 << bit;
                assert!(Beat::decode(&bytes).is_err(), "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn reasons_and_names_of_others_have_bounds() {
        let long = "é".repeat(500_000);
        let mut beat = Beat {
            phase: Phase::Failed(long.clone()),
            ..beat()
        };
        let Phase::Failed(reason) = Beat::decode(&beat.encode()).unwrap().phase else {
            panic!("it failed");
        };
        assert!(reason.len() <= REASON_BYTES_MAX + 3 && reason.ends_with("é…"));
        let refused = reply(Word::Leave(Dismissal::refused(&*long)));
        let Word::Leave(Dismissal::Refused(reason)) =
            Reply::decode(&refused.encode()).unwrap().word
        else {
            panic!("it was refused");
        };
        assert!(reason.len() <= REASON_BYTES_MAX + 3);
        beat.agent = long;
        let error = Beat::decode(&beat.encode());
        assert_eq!(error, Err(FormError::Malformed("a text is too long")));
    }
}
