//! An agent: takes a share of a run, and reports its results.
//!
//! A free agent sends beats until a reply contains an assignment. [`AgentAction::Prepare`] then
//! requests its holder to prepare the plan, and the holder calls [`Agent::ready`] or
//! [`Agent::fail`]. After the start, the load begins, and the holder passes every event of the run
//! to [`Agent::report`]. The agent leaves when the coordinator has stored all reports, or when a
//! reply requests it. [`AgentAction::Leave`] is the last action.
//!
//! The lease starts when the agent sends a beat that is answered, measured by the agent's clock. A
//! late reply therefore does not extend the lease. After the lease has expired, the agent ends its
//! load for good, and reports the expiry before any event of the load's end. The agent stays for
//! two minutes, so that a returning coordinator or a successor gets the results.
//!
//! If its run has several coordinators, the agent follows the one with the highest term.
//!
//! Further agents in the same process take over the shares of lost agents, one for each
//! ([`AgentAction::Join`]). Each has its own lease, report numbers and end. Its load begins at a
//! given time of the run.

use crate::clock_facts::ClockFacts;
use crate::envelope::Message as _;
use crate::lease::{BEAT, BEAT_FREE, BEAT_SOON, LEASE, STAY};
use crate::message::{
    AgentKey, Assignment, Beat, Content, Dismissal, Hold, MachineFacts, Phase, Reply, Word,
};
use crate::offset::RoundTrips;
use crate::outbox::Outbox;
use crate::redacted::Redacted;
use drumfire_measure::form::FormError;
use drumfire_plan::{Command, StopReason};
use drumfire_units::Nanos;

/// The minimum number of round trips before an agent is ready, so that it knows its clock offset.
const ROUND_TRIPS_MIN: usize = 8;
/// The reason of an agent that leaves because its lease has expired.
const LOST: &str = "the coordinator did not answer within the lease";
/// The reason of an agent that leaves because its shares are no longer needed, although their load
/// has started.
const NOT_WANTED: &str =
    "its shares are no longer needed, and it has already sent part of their load";

/// A request to the holder of an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentAction {
    /// Send this beat, and pass its reply to [`Agent::handle_reply`].
    Beat(Vec<u8>),
    /// Publish this report.
    Publish(Vec<u8>),
    /// Prepare this share.
    Prepare(Assignment),
    /// The run started, or starts, at the first time by the agent's clock. Start the load at the
    /// second time, which is a time of the run.
    Start(Nanos, Nanos),
    /// Start another free agent with this name in this process. It will get a lost share in
    /// addition to this agent's.
    Join(String),
    /// Allow workers to send until this time by the agent's clock.
    Lease(Nanos),
    /// Pass this command to the run. If the run refuses it, call [`Agent::refuse`].
    Command(Command),
    /// Stop the load. With `true`, abort the requests in flight.
    Halt(StopReason, bool),
    /// Leave: everything was delivered, or the results are incomplete for this reason.
    Leave(Result<Left, String>),
}

/// How an agent left whose results are complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// All its results are stored.
    Stored,
    /// Its shares are no longer needed, and it has sent nothing.
    NotWanted,
}

/// An agent's side of the protocol. The documentation of this file has its life cycle.
#[derive(Clone, Debug)]
pub struct Agent {
    name: String,
    key: AgentKey,
    program: String,
    machine: MachineFacts,
    phase: Phase,
    held: Option<Held>,
    clock: RoundTrips,
    clock_facts: ClockFacts,
    beat_at: Nanos,
    outbox: Outbox,
    has_left: bool,
    /// The error of the first reply that could not be decoded.
    unread: Option<FormError>,
}

/// The share that the agent has.
#[derive(Clone, Debug)]
struct Held {
    assignment: Assignment,
    term: u64,
    lease_until: Nanos,
    /// The start of the run by the agent's clock, once known.
    start: Option<Nanos>,
    /// The time at which the agent noticed that its lease had expired.
    expired_at: Option<Nanos>,
    commands: u64,
    late: u64,
    halt: Option<(StopReason, bool)>,
    /// The number of further agents that were started for lost shares.
    joined: u64,
}

impl Agent {
    /// A free agent with this name and key.
    #[must_use]
    pub fn new((name, key): (&str, AgentKey), program: &str, machine: MachineFacts) -> Self {
        Self {
            name: name.to_owned(),
            key,
            program: program.to_owned(),
            machine,
            phase: Phase::Free,
            held: None,
            clock: RoundTrips::default(),
            clock_facts: ClockFacts::default(),
            beat_at: Nanos::ZERO,
            outbox: Outbox::default(),
            has_left: false,
            unread: None,
        }
    }

    /// Performs everything that is due: a beat, unacknowledged reports, the expiry of a lease.
    pub fn handle_time(&mut self, now: Nanos) -> Vec<AgentAction> {
        if self.has_left {
            return Vec::new();
        }
        let mut actions = self.look_at_lease(now);
        if self.has_left {
            return actions;
        }
        let due = self.outbox.due(now).into_iter();
        actions.extend(due.map(AgentAction::Publish));
        if now >= self.beat_at {
            actions.push(self.beat(now));
        }
        actions
    }

    /// Sends a beat immediately, because the coordinator has news.
    pub fn nudge(&mut self, now: Nanos) -> Vec<AgentAction> {
        self.beat_at = now;
        self.handle_time(now)
    }

    /// The time at which to call [`Self::handle_time`] again.
    #[must_use]
    pub fn next_time(&self) -> Nanos {
        let lease = self.held.as_ref().map(|held| held.lease_until);
        lease.map_or(self.beat_at, |lease| lease.min(self.beat_at))
    }

    /// Handles the reply to a beat. A reply of another version ends the agent. Any other reply that
    /// cannot be decoded is ignored. If no valid reply follows, the lease expires, and its reason
    /// contains the decoding error.
    pub fn handle_reply(&mut self, bytes: &[u8], now: Nanos) -> Vec<AgentAction> {
        let reply = match Reply::decode(bytes) {
            Ok(reply) => reply,
            Err(error @ FormError::Version(_)) if !self.has_left => {
                let advice = "run the same drumfire version on all machines";
                return self.leave(Err(format!("{error}; {advice}")));
            }
            Err(error) => {
                self.unread.get_or_insert(error);
                return Vec::new();
            }
        };
        if self.has_left || reply.sent > now {
            return Vec::new();
        }
        let is_mine = |held: &Held| held.assignment.run == reply.run && held.term <= reply.term;
        if !self.held.as_ref().is_none_or(is_mine) {
            return Vec::new();
        }
        let mut actions = self.look_at_lease(now);
        if self.has_left {
            return actions;
        }
        if let Some(held) = &mut self.held {
            held.term = reply.term;
        }
        self.clock.add(reply.sent, reply.at, now);
        actions.extend(match reply.word {
            Word::Wait => Vec::new(),
            Word::Take(assignment) => self.accept(assignment, (reply.term, reply.sent), now),
            Word::Hold(hold) => self.hold(hold, reply.sent, now),
            Word::Leave(Dismissal::Refused(reason)) => self.leave(Err(reason)),
            Word::Leave(Dismissal::NotWanted) => {
                let left = self.unwanted();
                self.leave(left)
            }
        });
        actions
    }

    /// Marks the share as prepared. The agent waits for the start, with the encoded facts of its
    /// run.
    pub fn ready(&mut self, info: Redacted<Vec<u8>>) {
        if self.phase == Phase::Preparing {
            self.phase = Phase::Ready(info.into_inner());
        }
    }

    /// Marks the share as failed, or as impossible to run. If its end was already reported, nothing
    /// changes.
    pub fn fail(&mut self, reason: Redacted<String>, now: Nanos) -> Vec<AgentAction> {
        if self.phase == Phase::Ended {
            return Vec::new();
        }
        self.phase = Phase::Failed(reason.into_inner());
        self.nudge(now)
    }

    /// Reports an event of the run. The holder calls this in the order of the events.
    pub fn report(&mut self, content: &Redacted<Content>, now: Nanos) -> Vec<AgentAction> {
        // Report the expiry of the lease before the events that it causes.
        let mut actions = self.look_at_lease(now);
        let Some(held) = self.held.as_ref().filter(|_| !self.has_left) else {
            return actions;
        };
        let to = (&held.assignment, self.key);
        let messages = match self.outbox.add(to, content, now) {
            Ok(messages) => messages,
            Err(bound) => {
                actions.extend(self.fail(Redacted::fixed(bound), now));
                return actions;
            }
        };
        actions.extend(messages.into_iter().map(AgentAction::Publish));
        if matches!(content.get(), Content::Ending(_)) {
            self.phase = Phase::Ended;
            actions.extend(self.nudge(now));
        }
        actions
    }

    /// Counts a command that arrived too late for its time, and that the run therefore refused.
    pub fn refuse(&mut self) {
        if let Some(held) = &mut self.held {
            held.late += 1;
        }
    }

    /// Records the state of the system's clock, and the time at which the load started.
    pub const fn note_clock(&mut self, facts: ClockFacts) {
        self.clock_facts = facts;
    }

    fn beat(&mut self, now: Nanos) -> AgentAction {
        let knows_clock = self.clock.len() >= ROUND_TRIPS_MIN;
        self.beat_at = now
            + match self.phase {
                Phase::Free => BEAT_FREE,
                Phase::Preparing | Phase::Ready(_) if !knows_clock => BEAT_SOON,
                _ => BEAT,
            };
        let held = self.held.as_ref();
        // Without a known clock offset, the agent would miss the start.
        let phase = match &self.phase {
            Phase::Ready(_) if !knows_clock => Phase::Preparing,
            Phase::Running if held.is_some_and(|held| held.expired_at.is_some()) => Phase::Expired,
            phase => phase.clone(),
        };
        let beat = Beat {
            agent: self.name.clone(),
            key: self.key,
            program: self.program.clone(),
            sent: now,
            machine: self.machine,
            run: held.map_or_else(String::new, |held| held.assignment.run.clone()),
            epoch: held.map_or(0, |held| held.assignment.epoch),
            term: held.map_or(0, |held| held.term),
            phase,
            made: self.outbox.made(),
            commands: held.map_or(0, |held| held.commands),
            late: held.map_or(0, |held| held.late),
            offset: self.clock.best(),
            clock: self.clock_facts,
        };
        AgentAction::Beat(beat.encode())
    }

    fn accept(
        &mut self,
        assignment: Assignment,
        (term, sent): (u64, Nanos),
        now: Nanos,
    ) -> Vec<AgentAction> {
        if self.held.is_some() {
            return Vec::new();
        }
        let lease_until = sent + LEASE;
        if lease_until <= now {
            // The agent has waited for longer than the coordinator does.
            return Vec::new();
        }
        self.phase = Phase::Preparing;
        self.held = Some(Held {
            assignment: assignment.clone(),
            term,
            lease_until,
            start: None,
            expired_at: None,
            commands: 0,
            late: 0,
            halt: None,
            joined: 0,
        });
        self.beat_at = now;
        vec![AgentAction::Prepare(assignment)]
    }

    fn hold(&mut self, hold: Hold, sent: Nanos, now: Nanos) -> Vec<AgentAction> {
        let is_ready = matches!(self.phase, Phase::Ready(_));
        let clock = self.clock.best();
        let Some(held) = &mut self.held else {
            return Vec::new();
        };
        if held.assignment.epoch != hold.epoch {
            return Vec::new();
        }
        self.outbox.acknowledge(hold.stored);
        let is_expired = held.expired_at.is_some();
        if hold.is_over {
            let ended = match hold.is_lost || is_expired {
                true => Err(self.lost()),
                false => Ok(Left::Stored),
            };
            return self.leave(ended);
        }
        if is_expired || hold.is_lost {
            let is_running = !is_expired && self.phase == Phase::Running;
            held.expired_at.get_or_insert(now);
            let halt = AgentAction::Halt(StopReason::Command, true);
            return is_running.then_some(halt).into_iter().collect();
        }
        held.lease_until = held.lease_until.max(sent + LEASE);
        let mut actions = vec![AgentAction::Lease(held.lease_until)];
        // Before the start, a command may take effect at any time.
        for (number, command) in (hold.from..).zip(hold.commands) {
            if number == held.commands {
                held.commands += 1;
                actions.push(AgentAction::Command(command));
            }
        }
        if let Some((start, offset)) = hold.start.zip(clock)
            && is_ready
            && held.start.is_none()
        {
            let at = offset.to_own(start);
            let Some(at) = at.filter(|at| *at + hold.begins > now) else {
                let reason = "it received the start too late";
                actions.extend(self.fail(Redacted::fixed(reason), now));
                return actions;
            };
            held.start = Some(at);
            self.phase = Phase::Running;
            actions.push(AgentAction::Start(at, hold.begins));
        }
        while held.joined < hold.joins {
            held.joined += 1;
            let name = format!("{}+{}", self.name, held.joined);
            actions.push(AgentAction::Join(name));
        }
        if let Some((reason, ends)) = hold.halt
            && held.halt != Some((reason, ends))
        {
            held.halt = Some((reason, ends));
            actions.push(AgentAction::Halt(reason, ends));
        }
        actions
    }

    /// Ends the load when the lease has expired, and the agent when nothing more can be delivered.
    fn look_at_lease(&mut self, now: Nanos) -> Vec<AgentAction> {
        let Some(held) = self.held.as_mut().filter(|_| !self.has_left) else {
            return Vec::new();
        };
        if let Some(at) = held.expired_at {
            let is_delivered =
                self.outbox.is_empty() && matches!(self.phase, Phase::Ended | Phase::Failed(_));
            return match is_delivered || now - at > STAY {
                true => self.leave(Err(self.lost())),
                false => Vec::new(),
            };
        }
        // An ended share needs no lease, but a coordinator that accepts its reports.
        let patience = match self.phase {
            Phase::Ended => STAY,
            _ => Nanos::ZERO,
        };
        if held.lease_until + patience > now {
            return Vec::new();
        }
        let Some(start) = held.start else {
            return self.leave(Err(self.lost()));
        };
        held.expired_at = Some(now);
        if self.phase != Phase::Running {
            return Vec::new();
        }
        let expired = Redacted::expired(held.lease_until - start);
        let to = (&held.assignment, self.key);
        let messages = self.outbox.add(to, &expired, now);
        let messages = messages.into_iter().flatten().map(AgentAction::Publish);
        messages
            .chain([AgentAction::Halt(StopReason::Command, true)])
            .collect()
    }

    /// The reason of an agent whose lease has expired.
    fn lost(&self) -> String {
        match &self.phase {
            Phase::Failed(reason) => reason.clone(),
            _ => match &self.unread {
                None => LOST.to_owned(),
                Some(error) => format!("{LOST}; an answer could not be read: {error}"),
            },
        }
    }

    /// How an agent leaves whose shares are no longer needed.
    fn unwanted(&self) -> Result<Left, String> {
        let has_begun = self.held.as_ref().is_some_and(|held| held.start.is_some());
        match &self.phase {
            Phase::Failed(reason) => Err(reason.clone()),
            _ if has_begun => Err(NOT_WANTED.to_owned()),
            _ => Ok(Left::NotWanted),
        }
    }

    fn leave(&mut self, ended: Result<Left, String>) -> Vec<AgentAction> {
        self.has_left = true;
        // A share whose results are all stored has nothing to halt.
        let halt = (ended != Ok(Left::Stored) && self.held.is_some())
            .then_some(AgentAction::Halt(StopReason::Command, true));
        let leave = AgentAction::Leave(ended);
        halt.into_iter().chain([leave]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attachments::Attachments;
    use drumfire_engine::Shares;

    const MACHINE: MachineFacts = MachineFacts {
        cores: 1,
        descriptors: None,
    };

    fn new_agent() -> Agent {
        Agent::new(("a", AgentKey::new([0; 16])), "1", MACHINE)
    }

    fn assignment() -> Assignment {
        Assignment {
            run: "r".to_owned(),
            share: 2,
            epoch: 1,
            shares: Shares {
                first: 0,
                count: 1,
                of: 1,
            },
            machine: MACHINE,
            plan: String::new(),
            attachments: Attachments::default(),
        }
    }

    /// The actions after a reply that arrives one second later.
    fn hear(agent: &mut Agent, now: &mut Nanos, word: Word) -> Vec<AgentAction> {
        let sent = *now;
        *now += Nanos::from_secs(1);
        let reply = Reply {
            run: "r".to_owned(),
            term: 1,
            sent,
            at: sent,
            word,
        };
        agent.handle_reply(&reply.encode(), *now)
    }

    /// Garbage in an agent's inbox is not a reply. The agent keeps its lease, and the reason
    /// contains the decoding error after the lease has expired. A reply of another version ends the
    /// agent.
    #[test]
    fn bytes_that_are_not_a_reply_end_no_agent() {
        let (mut agent, mut now) = (new_agent(), Nanos::ZERO);
        assert_eq!(agent.handle_reply(&[7; 60], now), []);
        hear(&mut agent, &mut now, Word::Take(assignment()));
        assert_eq!(agent.handle_reply(b"{\"error\":1}", now), []);
        let actions = agent.handle_time(now + LEASE);
        let Some(AgentAction::Leave(Err(reason))) = actions.last() else {
            panic!("its lease has passed: {actions:?}");
        };
        assert!(reason.contains("a message of no known form"), "{reason}");
        let mut agent = new_agent();
        let actions = agent.handle_reply(b"drumfire\x04 and more", Nanos::ZERO);
        let Some(AgentAction::Leave(Err(reason))) = actions.last() else {
            panic!("another version ends it: {actions:?}");
        };
        assert!(reason.contains("format version 4"), "{reason}");
    }

    /// An agent whose shares are no longer needed has failed only if its results are incomplete.
    #[test]
    fn one_that_is_not_wanted_any_more_has_not_failed() {
        let start = Hold {
            epoch: 1,
            stored: 0,
            start: Some(Nanos::from_secs(5)),
            begins: Nanos::ZERO,
            joins: 0,
            from: 0,
            commands: Vec::new(),
            halt: None,
            is_lost: false,
            is_over: false,
        };
        let failed = Err("it broke".to_owned());
        for (start, fails, expected) in [
            (None, false, Ok(Left::NotWanted)),
            (None, true, failed),
            (Some(start), false, Err(NOT_WANTED.to_owned())),
        ] {
            let (mut agent, mut now) = (new_agent(), Nanos::ZERO);
            hear(&mut agent, &mut now, Word::Take(assignment()));
            agent.ready(Redacted::new_for_test(Vec::new()));
            if let Some(start) = start {
                let actions = hear(&mut agent, &mut now, Word::Hold(start));
                let begins = |action: &AgentAction| matches!(action, AgentAction::Start(..));
                assert!(actions.iter().any(begins), "{actions:?}");
            }
            if fails {
                agent.fail(Redacted::new_for_test("it broke".to_owned()), now);
            }
            let actions = hear(&mut agent, &mut now, Word::Leave(Dismissal::NotWanted));
            let halt = AgentAction::Halt(StopReason::Command, true);
            assert_eq!(actions, [halt, AgentAction::Leave(expected)]);
        }
    }
}
