//! The three messages, as bytes.
//!
//! An unknown number and an unknown kind are errors and change nothing. Numbers and texts of another
//! machine have bounds here, so that none of them makes a thread, a place or a line too many.

use crate::Offset;
use crate::attachments::Attachments;
use crate::bytes::{Input, MessageError, begin, open, put, put_bytes, put_optional, seal};
use crate::clock_facts::ClockFacts;
use drumfire_engine::Shares;
use drumfire_measure::{decode_command, encode_command, stop_number, stop_of_number};
use drumfire_plan::{Command, StopReason};
use drumfire_units::Nanos;
use std::fmt;

/// The bytes of a reason that are sent and shown.
const REASON_BYTES_MAX: usize = 1_024;
/// The bytes of the name of an agent or a run.
const NAME_BYTES_MAX: usize = 255;
/// The further agents that one agent starts for the shares of lost ones.
pub(crate) const JOINS_MAX: u64 = 64;
/// The bytes of a key.
const KEY_BYTES: usize = 16;

/// A random number by which a coordinator knows an agent. Agents send it and never receive that of
/// another, so that none can speak for another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AgentKey([u8; KEY_BYTES]);

impl AgentKey {
    /// The key of these random bytes.
    #[must_use]
    pub const fn new(random: [u8; KEY_BYTES]) -> Self {
        Self(random)
    }

    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        put_bytes(out, &self.0);
    }

    pub(crate) fn decode(input: &mut Input<'_>) -> Result<Self, MessageError> {
        let bytes = input.bytes()?.try_into();
        bytes
            .map(Self)
            .map_err(|_| MessageError::Malformed("a key of another length"))
    }
}

impl fmt::Debug for AgentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgentKey")
    }
}

/// What a machine brings along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineFacts {
    /// The cores that the agent may use.
    pub cores: u32,
    /// The descriptors that it may open; `None` is no limit.
    pub descriptors: Option<u64>,
}

/// The phase of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has no run.
    Free,
    /// It reads its plan and opens connections.
    Preparing,
    /// It waits for the start. The facts of the run as it sees them, encoded.
    Ready(Vec<u8>),
    /// Its load goes on.
    Running,
    /// Its lease has passed, which ends its load.
    Expired,
    /// Its last report is made.
    Ended,
    /// It can't run its share, for this reason.
    Failed(String),
}

/// A heartbeat of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Beat {
    /// The agent's name, unique among all.
    pub agent: String,
    /// Its key.
    pub key: AgentKey,
    /// The version of its program.
    pub program: String,
    /// The time at which it sent the beat, by its clock.
    pub sent: Nanos,
    /// What its machine brings along.
    pub machine: MachineFacts,
    /// The run that it belongs to; empty where it is free.
    pub run: String,
    /// The epoch of its share.
    pub epoch: u64,
    /// The highest term of a coordinator of its run that it has an answer of.
    pub term: u64,
    /// Its phase.
    pub phase: Phase,
    /// The number of reports that it has made.
    pub made: u64,
    /// The number of commands that it has.
    pub commands: u64,
    /// The commands among them that came too late to hold from their time.
    pub late: u64,
    /// Its estimate of the coordinator's clock.
    pub offset: Option<Offset>,
    /// The facts of its clock beside it.
    pub clock: ClockFacts,
}

/// A share that an agent is to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The run's name.
    pub run: String,
    /// The share's number among the agents', from 0.
    pub share: u32,
    /// The epoch of the share.
    pub epoch: u64,
    /// The agent's part of the load.
    pub shares: Shares,
    /// The sum of all agents' machines, to which the plan is fitted.
    pub machine: MachineFacts,
    /// The plan as a text, without secrets.
    pub plan: String,
    /// What travels beside it.
    pub attachments: Attachments,
}

/// The state of a run as it concerns one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// The epoch of its share.
    pub epoch: u64,
    /// The number of its reports that are stored, in order from the first.
    pub stored: u64,
    /// The start of the load, by the coordinator's clock.
    pub start: Option<Nanos>,
    /// The time of the run from which this agent keeps the share; 0 is its start.
    pub begins: Nanos,
    /// The number of further shares that the agent's process has been offered during the run, each
    /// for an agent of its own there.
    pub joins: u64,
    /// The number of the first of `commands`.
    pub from: u64,
    /// The commands behind those that the agent has.
    pub commands: Vec<Command>,
    /// The load stops for this reason; with `true` what is in flight is given up.
    pub halt: Option<(StopReason, bool)>,
    /// The coordinator took the agent for lost: its load is over, and what it has made is still
    /// taken.
    pub is_lost: bool,
    /// Everything of the agent is stored, or nothing more of it is taken: it may go.
    pub is_over: bool,
}

/// The word of a coordinator to an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// There is no place for it yet.
    Wait,
    /// It has a share.
    Take(Assignment),
    /// Its lease goes on.
    Hold(Hold),
    /// It has no place.
    Leave(Dismissal),
}

/// Why an agent has no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dismissal {
    /// The load goes on or has ended without the shares that the agent was offered during it. The time
    /// from which it was to keep them was not named.
    NotWanted,
    /// It is refused, for this reason.
    Refused(String),
}

impl Dismissal {
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }
}

/// The answer to a beat.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The coordinator's run.
    pub run: String,
    /// The coordinator's term: each that goes on with a run has a higher one.
    pub term: u64,
    /// The beat's time, as the agent sent it.
    pub sent: Nanos,
    /// The time at which it was answered, by the coordinator's clock.
    pub at: Nanos,
    /// What it says.
    pub word: Word,
}

/// A part of an agent's results, under its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The run's name.
    pub run: String,
    /// The share.
    pub share: u32,
    /// The share's epoch.
    pub epoch: u64,
    /// The key of its agent.
    pub key: AgentKey,
    /// Its number, from 0.
    pub number: u64,
    /// Whether a content ends with it.
    pub is_last: bool,
    /// A piece of a [`Content`].
    pub piece: Vec<u8>,
}

/// What reports carry, piece by piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// An event of the agent's run, as `measure` encodes it.
    Event(Vec<u8>),
    /// The ending of the agent's run, behind which nothing comes.
    Ending(Vec<u8>),
    /// The agent holds its own part for invalid, for this reason.
    Invalid(String),
    /// The agent's lease passed at this run time, and its load ended by that.
    Expired(Nanos),
}

/// The beginning of a reason, with a mark if that is not all of it.
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

/// The reason in these bytes.
fn reason(bytes: &[u8]) -> String {
    cut_reason(&String::from_utf8_lossy(bytes))
}

/// The next text, which names an agent, a run or a version.
fn name(input: &mut Input<'_>) -> Result<String, MessageError> {
    let name = input.text()?;
    match name.len() <= NAME_BYTES_MAX {
        true => Ok(name),
        false => Err(MessageError::Malformed("a name is too long")),
    }
}

impl MachineFacts {
    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        put(out, self.cores.into());
        put_optional(out, self.descriptors);
    }

    pub(crate) fn decode(input: &mut Input<'_>) -> Result<Self, MessageError> {
        Ok(Self {
            cores: input.small()?,
            descriptors: input.optional()?,
        })
    }
}

impl Phase {
    fn encode(&self, out: &mut Vec<u8>) {
        let (kind, content) = match self {
            Self::Free => (0, &[][..]),
            Self::Preparing => (1, &[][..]),
            Self::Ready(info) => (2, &info[..]),
            Self::Running => (3, &[][..]),
            Self::Ended => (4, &[][..]),
            Self::Failed(reason) => (5, reason.as_bytes()),
            Self::Expired => (6, &[][..]),
        };
        put(out, kind);
        put_bytes(out, content);
    }

    fn decode(input: &mut Input<'_>) -> Result<Self, MessageError> {
        let kind = input.number()?;
        let content = input.bytes()?;
        match (kind, content) {
            (0, []) => Ok(Self::Free),
            (1, []) => Ok(Self::Preparing),
            (2, info) => Ok(Self::Ready(info.to_vec())),
            (3, []) => Ok(Self::Running),
            (4, []) => Ok(Self::Ended),
            (5, bytes) => Ok(Self::Failed(reason(bytes))),
            (6, []) => Ok(Self::Expired),
            _ => Err(MessageError::Malformed("an unknown phase")),
        }
    }
}

impl Beat {
    /// The first beat of an agent that is free: it has said and made nothing yet.
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

    /// The bytes of the beat.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = begin();
        put_bytes(&mut out, self.agent.as_bytes());
        self.key.encode(&mut out);
        put_bytes(&mut out, self.program.as_bytes());
        put(&mut out, self.sent.0);
        self.machine.encode(&mut out);
        put_bytes(&mut out, self.run.as_bytes());
        put(&mut out, self.epoch);
        put(&mut out, self.term);
        self.phase.encode(&mut out);
        for number in [self.made, self.commands, self.late] {
            put(&mut out, number);
        }
        put(&mut out, self.offset.is_some().into());
        let offset = self.offset.unwrap_or_default();
        put(&mut out, offset.ahead.cast_unsigned());
        put(&mut out, offset.uncertainty.0);
        self.clock.encode(&mut out);
        seal(out)
    }

    /// The beat of these bytes.
    ///
    /// # Errors
    /// When they are none, or those of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut input = open(bytes)?;
        let beat = Self {
            agent: name(&mut input)?,
            key: AgentKey::decode(&mut input)?,
            program: name(&mut input)?,
            sent: Nanos(input.number()?),
            machine: MachineFacts::decode(&mut input)?,
            run: name(&mut input)?,
            epoch: input.number()?,
            term: input.number()?,
            phase: Phase::decode(&mut input)?,
            made: input.number()?,
            commands: input.number()?,
            late: input.number()?,
            offset: {
                let is_there = input.flag()?;
                let offset = Offset {
                    ahead: input.number()?.cast_signed(),
                    uncertainty: Nanos(input.number()?),
                };
                is_there.then_some(offset)
            },
            clock: ClockFacts::decode(&mut input)?,
        };
        input.end()?;
        Ok(beat)
    }
}

impl Assignment {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.run.as_bytes());
        put(out, self.share.into());
        put(out, self.epoch);
        for number in [self.shares.first, self.shares.count, self.shares.of] {
            put(out, number.into());
        }
        self.machine.encode(out);
        put_bytes(out, self.plan.as_bytes());
        self.attachments.encode(out);
    }

    pub(crate) fn decode(input: &mut Input<'_>) -> Result<Self, MessageError> {
        let assignment = Self {
            run: name(input)?,
            share: input.small()?,
            epoch: input.number()?,
            shares: Shares {
                first: input.small()?,
                count: input.small()?,
                of: input.small()?,
            },
            machine: MachineFacts::decode(input)?,
            plan: input.text()?,
            attachments: Attachments::decode(input)?,
        };
        let Shares { first, count, of } = assignment.shares;
        match first.checked_add(count) {
            Some(end) if end <= of && count > 0 => Ok(assignment),
            _ => Err(MessageError::Malformed("shares beyond the whole")),
        }
    }
}

impl Hold {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.epoch);
        put(out, self.stored);
        put_optional(out, self.start.map(|start| start.0));
        put(out, self.begins.0);
        put(out, self.joins);
        put(out, self.from);
        put(out, self.commands.len() as u64);
        for command in &self.commands {
            put_bytes(out, &encode_command(command));
        }
        put_optional(out, self.halt.map(|(reason, _)| stop_number(reason)));
        put(out, self.halt.is_some_and(|(_, ends)| ends).into());
        put(out, self.is_lost.into());
        put(out, self.is_over.into());
    }

    fn decode(input: &mut Input<'_>) -> Result<Self, MessageError> {
        let epoch = input.number()?;
        let stored = input.number()?;
        let start = input.optional()?.map(Nanos);
        let begins = Nanos(input.number()?);
        let joins = input.number()?;
        if joins > JOINS_MAX {
            return Err(MessageError::Malformed("too many further agents"));
        }
        let from = input.number()?;
        let count = input.number()?;
        let mut commands = Vec::new();
        for _ in 0..count {
            let command = decode_command(input.bytes()?);
            commands.push(command.map_err(|_| MessageError::Malformed("a command"))?);
        }
        let reason = match input.optional()? {
            None => None,
            Some(number) => {
                Some(stop_of_number(number).ok_or(MessageError::Malformed("an unknown reason"))?)
            }
        };
        let ends = input.flag()?;
        Ok(Self {
            epoch,
            stored,
            start,
            begins,
            joins,
            from,
            commands,
            halt: reason.map(|reason| (reason, ends)),
            is_lost: input.flag()?,
            is_over: input.flag()?,
        })
    }
}

impl Reply {
    /// The bytes of the reply.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = begin();
        put_bytes(&mut out, self.run.as_bytes());
        put(&mut out, self.term);
        put(&mut out, self.sent.0);
        put(&mut out, self.at.0);
        match &self.word {
            Word::Wait => put(&mut out, 0),
            Word::Take(assignment) => {
                put(&mut out, 1);
                assignment.encode(&mut out);
            }
            Word::Hold(hold) => {
                put(&mut out, 2);
                hold.encode(&mut out);
            }
            Word::Leave(Dismissal::Refused(reason)) => {
                put(&mut out, 3);
                put_bytes(&mut out, reason.as_bytes());
            }
            Word::Leave(Dismissal::NotWanted) => put(&mut out, 4),
        }
        seal(out)
    }

    /// The reply of these bytes.
    ///
    /// # Errors
    /// When they are none, or those of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut input = open(bytes)?;
        let reply = Self {
            run: name(&mut input)?,
            term: input.number()?,
            sent: Nanos(input.number()?),
            at: Nanos(input.number()?),
            word: match input.number()? {
                0 => Word::Wait,
                1 => Word::Take(Assignment::decode(&mut input)?),
                2 => Word::Hold(Hold::decode(&mut input)?),
                3 => Word::Leave(Dismissal::Refused(reason(input.bytes()?))),
                4 => Word::Leave(Dismissal::NotWanted),
                _ => return Err(MessageError::Malformed("an unknown word")),
            },
        };
        input.end()?;
        Ok(reply)
    }
}

impl Report {
    /// The bytes of the report.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = begin();
        put_bytes(&mut out, self.run.as_bytes());
        put(&mut out, self.share.into());
        put(&mut out, self.epoch);
        self.key.encode(&mut out);
        put(&mut out, self.number);
        put(&mut out, self.is_last.into());
        put_bytes(&mut out, &self.piece);
        seal(out)
    }

    /// The report of these bytes.
    ///
    /// # Errors
    /// When they are none, or those of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut input = open(bytes)?;
        let report = Self {
            run: name(&mut input)?,
            share: input.small()?,
            epoch: input.number()?,
            key: AgentKey::decode(&mut input)?,
            number: input.number()?,
            is_last: input.flag()?,
            piece: input.bytes()?.to_vec(),
        };
        input.end()?;
        Ok(report)
    }
}

impl Content {
    /// The bytes of the content.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let at;
        let (kind, bytes) = match self {
            Self::Event(bytes) => (0, &bytes[..]),
            Self::Ending(bytes) => (1, &bytes[..]),
            Self::Invalid(reason) => (3, reason.as_bytes()),
            Self::Expired(time) => {
                at = time.0.to_le_bytes();
                (2, &at[..])
            }
        };
        let mut out = Vec::with_capacity(1 + bytes.len());
        out.push(kind);
        out.extend_from_slice(bytes);
        out
    }

    /// The content of these bytes.
    ///
    /// # Errors
    /// When its kind is unknown.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        match bytes {
            [0, event @ ..] => Ok(Self::Event(event.to_vec())),
            [1, ending @ ..] => Ok(Self::Ending(ending.to_vec())),
            [3, bytes @ ..] => Ok(Self::Invalid(reason(bytes))),
            [2, at @ ..] => {
                let mut input = Input::new(at);
                let at = Nanos(input.number()?);
                input.end()?;
                Ok(Self::Expired(at))
            }
            _ => Err(MessageError::Malformed("an unknown content")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_plan::Change;

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
    fn messages_come_back_and_cut_off_ones_are_refused() {
        let words = [
            Word::Wait,
            Word::Leave(Dismissal::refused("é")),
            Word::Leave(Dismissal::NotWanted),
            Word::Take(Assignment {
                run: "r".to_owned(),
                share: 1,
                epoch: 2,
                shares: Shares {
                    first: 1,
                    count: 2,
                    of: 3,
                },
                machine: beat().machine,
                plan: "drumfire: 1".to_owned(),
                attachments: Attachments::default(),
            }),
            Word::Hold(Hold {
                epoch: 1,
                stored: 4,
                start: Some(Nanos(3)),
                begins: Nanos(4),
                joins: 1,
                from: 0,
                commands: vec![Command::soon(Change::Pause)],
                halt: Some((StopReason::Signal, true)),
                is_lost: true,
                is_over: false,
            }),
        ];
        assert_eq!(Beat::decode(&beat().encode()), Ok(beat()));
        for word in words {
            let reply = reply(word);
            let bytes = reply.encode();
            assert_eq!(Reply::decode(&bytes), Ok(reply));
            for end in 0..bytes.len() {
                assert!(Reply::decode(&bytes[..end]).is_err(), "{end}");
            }
        }
    }

    #[test]
    fn another_version_is_refused_by_its_number() {
        let mut bytes = reply(Word::Wait).encode();
        bytes[8] = 9;
        assert_eq!(Reply::decode(&bytes), Err(MessageError::Version(9)));
        // Earlier ones began with their number.
        let bare = 4_u64.to_le_bytes();
        assert_eq!(Reply::decode(&bare), Err(MessageError::Version(4)));
    }

    /// Bytes of something else are not another version, and no altered message is read as another.
    #[test]
    fn what_is_not_a_message_is_not_another_version() {
        for bytes in [&b""[..], b"{}", b"HTTP/1.1 200 OK", &[0; 64], &[0xff; 64]] {
            assert_eq!(Reply::decode(bytes), Err(MessageError::Unknown));
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
        assert_eq!(error, Err(MessageError::Malformed("a name is too long")));
    }
}
