//! The coordinator: gathers agents, deals out the plan, and brings together what they report.
//!
//! It answers each beat with the whole state that concerns its agent, so that nothing depends on a
//! single message. Its stages follow from what it has: fewer agents than it needs; all of them, and
//! no start; a start; the end of every place. An agent that can't run its share before the start is
//! named fails the run, for no load was sent; one that is lost behind it is dealt with as the setup
//! says, and between the two ends it.
//!
//! What it takes from reports it hands to its holder to be written ([`CoordinatorAction::Journal`]).
//! Only after [`Coordinator::journaled`] do replies have it as stored.

use crate::attachments::Attachments;
use crate::bytes::MessageError;
use crate::division::{divide, sum};
use crate::journal::frame;
use crate::lease::START_LEAD;
use crate::merge::Merge;
use crate::message::{Assignment, Beat, Content, Hold, MachineFacts, Phase, Reply, Report, Word};
use crate::place::{Place, PlaceState};
use crate::relayed::{ClusterEvent, Loss};
use drumfire_measure::{Ending, RunEvent, RunInfo, decode_event};
use drumfire_plan::{Command, Plan, StopReason};
use drumfire_units::{Nanos, rounded};
use std::sync::Arc;

/// What the loss of an agent does to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLoss {
    /// The others go on, without its share.
    Drop,
    /// The load stops.
    Abort,
}

/// A run that is to be put together.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its name.
    pub run: String,
    /// The version of this program, which agents must have too.
    pub program: String,
    /// The plan.
    pub plan: Arc<Plan>,
    /// The same as a text, without secrets.
    pub text: String,
    /// What travels beside it.
    pub attachments: Attachments,
    /// The number of agents.
    pub agents: usize,
    /// What the loss of one does.
    pub on_loss: OnLoss,
}

/// What the holder of a coordinator is to do, in this order.
#[derive(Debug)]
pub enum CoordinatorAction {
    /// Append these bytes to the journal, sync them, and call [`Coordinator::journaled`].
    Journal(Vec<u8>),
    /// Let all agents beat at once.
    Nudge,
    /// Tell the run's observers.
    Tell(ClusterEvent),
}

/// A coordinator's side of the protocol.
#[derive(Debug)]
pub struct Coordinator {
    setup: Setup,
    /// Agents that wait until there are enough, each with its newest beat and when that came.
    waiting: Vec<(Beat, Nanos)>,
    places: Vec<Place>,
    merge: Merge,
    start: Option<Nanos>,
    commands: Vec<Command>,
    /// The changes of the load that were published.
    changes: usize,
    halt: Option<(StopReason, bool)>,
    has_stopped: bool,
    is_over: bool,
}

/// Agents that wait are forgotten when they have not beaten for this long.
const PATIENCE: Nanos = Nanos::from_secs(2);

impl Coordinator {
    /// That of a run without agents yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self {
            setup,
            waiting: Vec::new(),
            places: Vec::new(),
            merge: Merge::of(0),
            start: None,
            commands: Vec::new(),
            changes: 0,
            halt: None,
            has_stopped: false,
            is_over: false,
        }
    }

    /// The number of agents that are there.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.waiting.len() + self.places.len()
    }

    /// Answers a beat.
    ///
    /// # Errors
    /// When the bytes are none: there is no answer to them.
    pub fn handle_beat(
        &mut self,
        bytes: &[u8],
        now: Nanos,
    ) -> Result<(Vec<u8>, Vec<CoordinatorAction>), MessageError> {
        let beat = Beat::decode(bytes)?;
        let sent = beat.sent;
        let (word, actions) = self.word(beat, now);
        let reply = Reply {
            run: self.setup.run.clone(),
            sent,
            at: now,
            word,
        };
        Ok((reply.encode(), actions))
    }

    /// Takes a report. One of another run, of an epoch that is fenced, or that was taken already,
    /// changes nothing.
    ///
    /// # Errors
    /// When the bytes are none, or what they carry is not what an agent of this run reports.
    pub fn handle_report(&mut self, bytes: &[u8]) -> Result<Vec<CoordinatorAction>, MessageError> {
        let report = Report::decode(bytes)?;
        let index = report.share as usize;
        let Some(place) = self.places.get_mut(index) else {
            return Ok(Vec::new());
        };
        let is_ours = report.run == self.setup.run && report.epoch == place.assignment.epoch;
        if !is_ours || place.state != PlaceState::Taken {
            return Ok(Vec::new());
        }
        let mut actions = Vec::new();
        for (report, content) in place.inbox.take(report)? {
            actions.push(CoordinatorAction::Journal(frame(&report.encode())));
            if let Some(content) = content {
                self.take(index, content, &mut actions)?;
            }
        }
        self.close_intervals(&mut actions);
        self.finish(&mut actions);
        Ok(actions)
    }

    /// Everything that was handed out to be written is on the disk.
    pub fn journaled(&mut self) {
        for place in &mut self.places {
            place.inbox.journaled();
        }
    }

    /// Looks for agents that are lost.
    pub fn handle_time(&mut self, now: Nanos) -> Vec<CoordinatorAction> {
        let mut actions = Vec::new();
        self.waiting.retain(|(_, heard)| now - *heard <= PATIENCE);
        for index in 0..self.places.len() {
            if self.places[index].is_overdue(now) {
                self.lose(index, now, &mut actions);
            }
        }
        self.close_intervals(&mut actions);
        self.finish(&mut actions);
        actions
    }

    /// Passes a command on, which has the time from which it holds.
    pub fn command(&mut self, command: Command) -> Vec<CoordinatorAction> {
        self.commands.push(command);
        vec![CoordinatorAction::Nudge]
    }

    /// Stops the load of all agents; with `true` they give up what is in flight.
    pub fn halt(&mut self, reason: StopReason, ends: bool) -> Vec<CoordinatorAction> {
        self.halt = Some((reason, ends));
        vec![CoordinatorAction::Nudge]
    }

    /// Whether every agent that is not lost has learned that the run is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The places, for tests.
    #[cfg(test)]
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    fn word(&mut self, beat: Beat, now: Nanos) -> (Word, Vec<CoordinatorAction>) {
        if beat.program != self.setup.program {
            let (theirs, ours) = (&beat.program, &self.setup.program);
            let reason = format!("the agent is drumfire {theirs}, the coordinator {ours}");
            return (Word::Leave(reason), Vec::new());
        }
        let found = self.places.iter().position(|it| it.agent == beat.agent);
        match found {
            Some(index) => self.word_to_place(index, beat, now),
            None if beat.run.is_empty() => self.word_to_free(beat, now),
            None => {
                let reason = "the run has no place for this agent".to_owned();
                (Word::Leave(reason), Vec::new())
            }
        }
    }

    /// The word to a free agent: with the last of those that are needed all places are dealt out.
    fn word_to_free(&mut self, beat: Beat, now: Nanos) -> (Word, Vec<CoordinatorAction>) {
        if !self.places.is_empty() || self.is_over {
            return (Word::Wait, Vec::new());
        }
        let name = beat.agent.clone();
        match self.waiting.iter_mut().find(|(it, _)| it.agent == name) {
            Some(known) => *known = (beat, now),
            None => self.waiting.push((beat, now)),
        }
        if self.waiting.len() < self.setup.agents {
            return (Word::Wait, Vec::new());
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.truncate(self.setup.agents);
        let machines: Vec<MachineFacts> = waiting.iter().map(|(beat, _)| beat.machine).collect();
        let shares = match divide(&self.setup.plan, &machines) {
            Ok(shares) => shares,
            Err(error) => {
                self.is_over = true;
                let event = ClusterEvent::Failed(error.to_string());
                let failed = vec![CoordinatorAction::Tell(event)];
                return (Word::Leave(error.to_string()), failed);
            }
        };
        let places = (0..).zip(waiting).zip(shares);
        self.places = places
            .map(|((share, (beat, heard)), shares)| {
                let assignment = Assignment {
                    run: self.setup.run.clone(),
                    share,
                    epoch: 1,
                    shares,
                    machine: sum(&machines),
                    plan: self.setup.text.clone(),
                    attachments: self.setup.attachments.clone(),
                };
                Place::new(assignment, beat, heard)
            })
            .collect();
        self.merge = Merge::of(self.places.len());
        let mine = self.places.iter().find(|it| it.agent == name);
        let word = mine.map_or(Word::Wait, |place| Word::Take(place.assignment.clone()));
        (word, Vec::new())
    }

    fn word_to_place(
        &mut self,
        index: usize,
        beat: Beat,
        now: Nanos,
    ) -> (Word, Vec<CoordinatorAction>) {
        let mut actions = Vec::new();
        let is_over = self.is_over;
        let place = &mut self.places[index];
        if place.state == PlaceState::Lost {
            let reason = "the coordinator took it for lost".to_owned();
            return (Word::Leave(reason), actions);
        }
        // The beats of one agent may overtake each other.
        if beat.sent >= place.beat.sent {
            (place.beat, place.heard) = (beat.clone(), now);
        }
        if beat.run.is_empty() {
            return (Word::Take(place.assignment.clone()), actions);
        }
        if beat.epoch != place.assignment.epoch || beat.run != self.setup.run {
            let reason = "the share has another epoch".to_owned();
            return (Word::Leave(reason), actions);
        }
        if let (Phase::Ready(info), None) = (&beat.phase, &place.info) {
            match RunInfo::decode(info) {
                Ok(info) => place.info = Some(Box::new(info)),
                Err(error) => return (Word::Leave(error.to_string()), actions),
            }
        }
        if let Phase::Failed(reason) = &beat.phase
            && place.state == PlaceState::Taken
        {
            let reason = format!("{}: {reason}", beat.agent);
            self.fail(index, reason, now, &mut actions);
            return (Word::Leave("the run has failed".to_owned()), actions);
        }
        self.begin(now, &mut actions);
        let place = &self.places[index];
        let from = usize::try_from(beat.commands).unwrap_or(usize::MAX);
        let hold = Hold {
            epoch: place.assignment.epoch,
            stored: place.inbox.stored(),
            start: self.start,
            from: beat.commands,
            commands: self.commands.iter().skip(from).cloned().collect(),
            halt: self.halt,
            is_over: is_over && place.state == PlaceState::Ended,
        };
        (Word::Hold(hold), actions)
    }

    /// Names the start when all agents are ready for it.
    fn begin(&mut self, now: Nanos, actions: &mut Vec<CoordinatorAction>) {
        if self.start.is_some() || !self.places.iter().all(Place::is_ready) {
            return;
        }
        let start = now + START_LEAD;
        self.start = Some(start);
        for place in &mut self.places {
            place.clock = place.beat.offset;
        }
        let infos = self.places.iter().filter_map(|place| place.info.as_deref());
        let infos: Vec<&RunInfo> = infos.collect();
        if let Some(info) = merged(&infos, &self.setup.run) {
            let event = ClusterEvent::Gathered(Box::new(info), start);
            actions.push(CoordinatorAction::Tell(event));
        }
        actions.push(CoordinatorAction::Nudge);
    }

    /// Takes what an agent has reported.
    fn take(
        &mut self,
        index: usize,
        content: Content,
        actions: &mut Vec<CoordinatorAction>,
    ) -> Result<(), MessageError> {
        let place = &mut self.places[index];
        let Some(info) = &place.info else {
            return Err(MessageError::Malformed("a report of a run without facts"));
        };
        let bytes = match content {
            Content::Event(bytes) => bytes,
            Content::Ending(bytes) => {
                let ending = Ending::decode(&bytes);
                let ending = ending.map_err(|_| MessageError::Malformed("an ending"))?;
                place.ending = Some(Box::new(ending));
                place.state = PlaceState::Ended;
                self.merge.close(index);
                return Ok(());
            }
        };
        let event = decode_event(&bytes, info);
        match event.map_err(|_| MessageError::Malformed("an event"))? {
            RunEvent::IntervalClosed(interval) => {
                place.reported = interval.end;
                self.merge.add(index, Arc::unwrap_or_clone(interval));
            }
            RunEvent::Changed(command) => {
                place.changes += 1;
                if place.changes > self.changes {
                    self.changes = place.changes;
                    tell(RunEvent::Changed(command), actions);
                }
            }
            RunEvent::Stopping { reason } => {
                place.has_stopped = true;
                self.stop(reason, actions);
            }
            event @ (RunEvent::Kept(_) | RunEvent::Transcripts(_) | RunEvent::Failed(_)) => {
                tell(event, actions);
            }
            RunEvent::Started(_) | RunEvent::Finished(_) => {
                return Err(MessageError::Malformed("an event out of its order"));
            }
        }
        Ok(())
    }

    /// Publishes the end of the load: of a count when the last agent has none left, for any other
    /// reason with the first, for it is the reason of all.
    fn stop(&mut self, reason: StopReason, actions: &mut Vec<CoordinatorAction>) {
        let goes_on = |place: &Place| place.state == PlaceState::Taken && !place.has_stopped;
        let waits = reason == StopReason::Counted && self.places.iter().any(goes_on);
        // A halt was published where it was asked for.
        if !waits && !self.has_stopped && self.halt.is_none() {
            self.has_stopped = true;
            tell(RunEvent::Stopping { reason }, actions);
        }
    }

    /// Publishes the intervals that are complete.
    fn close_intervals(&mut self, actions: &mut Vec<CoordinatorAction>) {
        while let Some(interval) = self.merge.take() {
            tell(RunEvent::IntervalClosed(Arc::new(interval)), actions);
        }
    }

    /// Ends the run when every place has ended or is lost.
    fn finish(&mut self, actions: &mut Vec<CoordinatorAction>) {
        let goes_on = |place: &Place| place.state == PlaceState::Taken;
        if self.is_over || self.start.is_none() || self.places.iter().any(goes_on) {
            return;
        }
        self.is_over = true;
        let endings = self.places.iter_mut().filter_map(|it| it.ending.take());
        let endings = endings.map(|ending| *ending).collect();
        for event in self.findings() {
            actions.push(CoordinatorAction::Tell(event));
        }
        actions.push(CoordinatorAction::Tell(ClusterEvent::Over(endings)));
        actions.push(CoordinatorAction::Nudge);
    }

    /// What the report has to say of the agents' clocks, and of commands that came too late.
    fn findings(&self) -> Vec<ClusterEvent> {
        let count = self.places.len();
        let clocks = self.places.iter().filter_map(|place| place.clock);
        let mut bounds: Vec<Nanos> = clocks.map(|clock| clock.uncertainty).collect();
        bounds.sort_unstable();
        // Two starts differ by no more than the two widest bounds together.
        let apart = bounds
            .iter()
            .rev()
            .take(2)
            .fold(Nanos::ZERO, |sum, it| sum + *it);
        let apart = rounded::time(apart.0 as f64);
        let mut events = vec![ClusterEvent::Note(format!(
            "{count} agents were to begin at one moment; by their clocks, within {apart}"
        ))];
        for place in &self.places {
            let (agent, late) = (&place.agent, place.beat.late);
            if late > 0 {
                let note = format!("agent {agent} got {late} commands too late to carry them out");
                events.push(ClusterEvent::Suspect(note));
            }
            if let Some(moved) = place.clock_moved() {
                let moved = rounded::time(moved.0 as f64);
                let note = format!("the clock of agent {agent} moved by {moved} during the run");
                events.push(ClusterEvent::Suspect(note));
            }
        }
        events
    }

    /// Takes an agent for lost, and fences its epoch.
    fn lose(&mut self, index: usize, now: Nanos, actions: &mut Vec<CoordinatorAction>) {
        let Some(start) = self.start else {
            let reason = format!("agent {} is gone", self.places[index].agent);
            return self.fail(index, reason, now, actions);
        };
        let place = &mut self.places[index];
        place.state = PlaceState::Lost;
        place.assignment.epoch += 1;
        let (reported, agent) = (place.reported, &place.agent);
        let share = place.assignment.shares;
        let note = format!(
            "agent {agent} ({} of {} shares) was lost at {:.1} s: what it sent after {:.1} s is \
             unknown, and in no figure",
            share.count,
            share.of,
            (now - start).as_secs_f64(),
            reported.as_secs_f64(),
        );
        actions.push(CoordinatorAction::Tell(ClusterEvent::Lost(Loss {
            text: note,
            share: f64::from(share.count) / f64::from(share.of),
            reported,
        })));
        self.merge.close(index);
        // A load that would miss a share from its beginning is none: others may have begun it.
        let is_early = now <= start;
        if (self.setup.on_loss == OnLoss::Abort || is_early) && self.halt.is_none() {
            let reason = StopReason::Command;
            actions.push(CoordinatorAction::Tell(ClusterEvent::Aborted));
            actions.extend(self.halt(reason, is_early));
        }
    }

    /// Ends the run because of an agent: before its start is named as if it had not been, behind that
    /// as by a loss.
    fn fail(
        &mut self,
        index: usize,
        reason: String,
        now: Nanos,
        actions: &mut Vec<CoordinatorAction>,
    ) {
        if self.start.is_some() {
            return self.lose(index, now, actions);
        }
        if self.is_over {
            return;
        }
        self.is_over = true;
        for place in &mut self.places {
            place.state = PlaceState::Lost;
        }
        actions.push(CoordinatorAction::Tell(ClusterEvent::Failed(reason)));
        actions.push(CoordinatorAction::Nudge);
    }
}

fn tell(event: RunEvent, actions: &mut Vec<CoordinatorAction>) {
    actions.push(CoordinatorAction::Tell(ClusterEvent::Run(event)));
}

/// The facts of the whole run: those that all agents have alike, and the notes of any.
fn merged(infos: &[&RunInfo], run: &str) -> Option<RunInfo> {
    let (first, others) = infos.split_first()?;
    let mut info = RunInfo::clone(first);
    run.clone_into(&mut info.id);
    for note in others.iter().flat_map(|other| &other.notes) {
        if !info.notes.contains(note) {
            info.notes.push(note.clone());
        }
    }
    Some(info)
}
