//! An agent: takes a share of a run, and sends what comes of it.
//!
//! Its life: it is free and beats until a reply has an assignment for it; [`AgentAction::Prepare`]
//! asks its holder to prepare the plan, who answers by [`Agent::ready`] or [`Agent::fail`]. With a
//! start the load begins; everything that the run has to say is given to [`Agent::report`]. It
//! leaves when the coordinator has stored all of it, or when a reply says so; behind
//! [`AgentAction::Leave`] nothing more comes of it.
//!
//! Its lease runs from the sending of the last beat that was answered, by its own clock. A reply that
//! comes late therefore lengthens nothing. When the lease has passed, its load ends, for good, and
//! the report of that stands before whatever the end of the load makes it report. It stays for
//! two minutes, so that a coordinator that comes back, or another one that goes on with the run, gets
//! what was sent.
//!
//! Of several coordinators of its run it follows the one of the highest term.
//!
//! Shares that another agent has lost are kept by further agents in the same process, one for each
//! ([`AgentAction::Join`]): each has a lease, numbers and an end of its own. Its load begins at a time
//! of the run.

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

/// The round trips before an agent is ready, so that its clock is known.
const ROUND_TRIPS_MIN: usize = 8;
/// The reason for which an agent leaves whose lease has passed.
const LOST: &str = "the coordinator did not answer within the lease";
/// The reason for which an agent leaves whose shares are not wanted any more, though it has begun.
const NOT_WANTED: &str =
    "its shares are no longer needed, and it has already sent part of their load";

/// What the holder of an agent is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentAction {
    /// Send this beat, and give its reply to [`Agent::handle_reply`].
    Beat(Vec<u8>),
    /// Publish this report.
    Publish(Vec<u8>),
    /// Prepare this share.
    Prepare(Assignment),
    /// The run begins or has begun at this time of the own clock: let the load begin at this time of
    /// the run.
    Start(Nanos, Nanos),
    /// Start a further agent of this name, free, in this process: it is to have a share that was lost
    /// beside this one's.
    Join(String),
    /// Let workers send until this time of the own clock.
    Lease(Nanos),
    /// Give this command to the run; one that it refuses is told by [`Agent::refuse`].
    Command(Command),
    /// Stop the load; with `true` give up what is in flight.
    Halt(StopReason, bool),
    /// Go: nothing of the agent is lacking, or something is, for this reason.
    Leave(Result<Left, String>),
}

/// How an agent has left of which nothing is lacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Everything that it has made is stored.
    Stored,
    /// Its shares are not wanted any more, and it has sent nothing.
    NotWanted,
}

/// An agent's side of the protocol; the head of this file has its life.
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
    /// The first answer that could not be read.
    unread: Option<FormError>,
}

/// A share that it has.
#[derive(Clone, Debug)]
struct Held {
    assignment: Assignment,
    term: u64,
    lease_until: Nanos,
    /// The start of its load by its own clock, once it has one.
    start: Option<Nanos>,
    /// The time at which it found that its lease had passed.
    expired_at: Option<Nanos>,
    commands: u64,
    late: u64,
    halt: Option<(StopReason, bool)>,
    /// The number of further agents that were started for shares that were lost.
    joined: u64,
}

impl Agent {
    /// A free agent of this name and key.
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

    /// What is due: a beat, reports that nobody acknowledged, the end of a lease.
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

    /// Beats at once: the coordinator has news.
    pub fn nudge(&mut self, now: Nanos) -> Vec<AgentAction> {
        self.beat_at = now;
        self.handle_time(now)
    }

    /// The time of the next call of [`Self::handle_time`].
    #[must_use]
    pub fn next_time(&self) -> Nanos {
        let lease = self.held.as_ref().map(|held| held.lease_until);
        lease.map_or(self.beat_at, |lease| lease.min(self.beat_at))
    }

    /// Takes the reply to a beat. One of another version ends the agent. Any other that can't be read
    /// is no reply: if none comes, the lease passes, and the reason of that names it.
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
            Word::Take(assignment) => self.take(assignment, (reply.term, reply.sent), now),
            Word::Hold(hold) => self.hold(hold, reply.sent, now),
            Word::Leave(Dismissal::Refused(reason)) => self.leave(Err(reason)),
            Word::Leave(Dismissal::NotWanted) => {
                let left = self.unwanted();
                self.leave(left)
            }
        });
        actions
    }

    /// The share is prepared: with the facts of its run, encoded, it waits for the start.
    pub fn ready(&mut self, info: Redacted<Vec<u8>>) {
        if self.phase == Phase::Preparing {
            self.phase = Phase::Ready(info.into_inner());
        }
    }

    /// The share can't be run, or has failed; what was reported to its end stays so.
    pub fn fail(&mut self, reason: Redacted<String>, now: Nanos) -> Vec<AgentAction> {
        if self.phase == Phase::Ended {
            return Vec::new();
        }
        self.phase = Phase::Failed(reason.into_inner());
        self.nudge(now)
    }

    /// Takes what the run has to say, in its order.
    pub fn report(&mut self, content: &Redacted<Content>, now: Nanos) -> Vec<AgentAction> {
        // What the end of the lease makes of the run comes behind the report of that.
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

    /// A command came too late to hold from its time, and was refused.
    pub fn refuse(&mut self) {
        if let Some(held) = &mut self.held {
            held.late += 1;
        }
    }

    /// Notes what its system says of the clock, and when the load began.
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
        // A clock that is not known yet would make it miss the start.
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

    fn take(
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
            // It has waited for longer than the coordinator does.
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
        // Before the start a command may hold from any time.
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

    /// Ends the load when the lease has passed, and the agent when nothing more can come of that.
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
        // What has ended needs no lease, but somebody who takes it.
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

    /// The reason for which the agent has no lease any more.
    fn lost(&self) -> String {
        match &self.phase {
            Phase::Failed(reason) => reason.clone(),
            _ => match &self.unread {
                None => LOST.to_owned(),
                Some(error) => format!("{LOST}; an answer could not be read: {error}"),
            },
        }
    }

    /// The end of an agent whose shares are not wanted any more.
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
        // What has ended has nothing left to halt.
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

    /// The actions that follow from a reply a second later.
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

    /// Garbage in an agent's inbox is not an answer: it keeps its lease, and names the garbage when that
    /// has passed. Another version ends it.
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

    /// An agent whose shares are not wanted any more has failed only if something of it is lacking.
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
            agent.ready(Redacted::of(Vec::new()));
            if let Some(start) = start {
                let actions = hear(&mut agent, &mut now, Word::Hold(start));
                let begins = |action: &AgentAction| matches!(action, AgentAction::Start(..));
                assert!(actions.iter().any(begins), "{actions:?}");
            }
            if fails {
                agent.fail(Redacted::of("it broke".to_owned()), now);
            }
            let actions = hear(&mut agent, &mut now, Word::Leave(Dismissal::NotWanted));
            let halt = AgentAction::Halt(StopReason::Command, true);
            assert_eq!(actions, [halt, AgentAction::Leave(expected)]);
        }
    }
}
