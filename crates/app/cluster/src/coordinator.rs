//! The coordinator: gathers agents, divides the plan among them, and merges their reports.
//!
//! The reply to a beat contains the whole state that concerns the agent, so nothing depends on a
//! single message. The stages of a run follow from the coordinator's state: too few agents; all
//! agents but no start; a start; the end of every place. If an agent cannot run its share before
//! the start is set, the run fails, because no load was sent. After the load of its share began,
//! the loss of an agent is handled as the setup specifies. Between the two, a loss stops the load.
//!
//! The coordinator passes everything on which its state depends to its holder for writing
//! ([`CoordinatorAction::Journal`]), before anything that follows from it is answered or published.
//! Replies acknowledge a report only after [`Coordinator::journaled`].
//!
//! A successor ([`Coordinator::of_run`]) takes over the run of another coordinator. The holder
//! first passes the journal's entries in order ([`Coordinator::replay`]), and then the time
//! ([`Coordinator::go_on`]). A replay returns the events of the run again, in the same order. A
//! successor has a higher term, and agents refuse replies with a lower one. If a coordinator gets a
//! beat with a higher term than its own, its holder checks whether a successor exists, because
//! anyone can write a number into a beat.
//!
//! The coordinator checks agents as far as possible. An agent's key is the key of its first beat,
//! so that no agent can impersonate another. If an agent reports something wrong, or reports
//! nothing although it answers, it is lost, with the reason ([`reports`]).
//!
//! The places of the gathered agents come first. The places of lost shares that were offered to
//! others follow ([`redistribution`]).

mod losses;
mod redistribution;
mod replay;
mod reports;

use crate::contrast::Contrast;
use crate::division::divide;
use crate::envelope::Message as _;
use crate::event::{ClusterEvent, CoordinatorAction};
use crate::findings::{facts, findings};
use crate::journal::{Begun, Entry};
use crate::lease::START_LEAD;
use crate::merge::Merge;
use crate::message::{Beat, Dismissal, Hold, MachineFacts, Phase, Reply, Word};
use crate::offers::joined;
use crate::place::{Place, PlaceState};
use crate::room::Room;
use crate::setup::Setup;
use crate::status::{AgentStatus, Status};
use drumfire_measure::form::{self, FormError};
use drumfire_measure::{Interval, PoolInfo, RunEvent, RunInfo};
use drumfire_plan::{Command, StopReason};
use drumfire_units::Nanos;
use std::collections::HashMap;

/// A coordinator's side of the protocol.
#[derive(Debug)]
pub struct Coordinator {
    setup: Setup,
    /// The term: 1 for the first coordinator of a run.
    term: u64,
    /// Agents without a place, each with its newest beat and the time of its arrival. They wait
    /// until there are enough agents, and after the start for a lost share.
    waiting: Vec<(Beat, Nanos)>,
    places: Vec<Place>,
    /// The place of each agent by name, because each beat needs it.
    named: HashMap<String, usize>,
    merge: Merge,
    /// The memory into which intervals are decoded.
    read: Option<Interval>,
    contrast: Contrast,
    /// The connections of shares, once an agent is lost.
    room: Option<Room>,
    start: Option<Nanos>,
    commands: Vec<Command>,
    /// The number of changes of the load that were published.
    changes: usize,
    halt: Option<Halt>,
    has_stopped: bool,
    is_over: bool,
    /// The latest time that the holder passed; zero during the replay of a journal.
    now: Nanos,
    /// The time of the last check for lost agents.
    looked: Nanos,
    /// The time of the order to abort the requests in flight.
    ended_at: Option<Nanos>,
    /// The messages that could not be decoded.
    unread: Unread,
    /// Whether a note about two waiting agents with one name was published.
    has_namesakes: bool,
}

/// Counts the messages of a run that could not be decoded.
#[derive(Clone, Debug, Default)]
struct Unread {
    count: u64,
    /// The error of the first message.
    first: Option<FormError>,
}

impl Unread {
    /// Counts a message, and returns its error.
    fn note(&mut self, error: FormError) -> FormError {
        self.count = self.count.saturating_add(1);
        self.first.get_or_insert(error);
        error
    }

    /// The note about these messages in the report.
    fn text(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let (count, messages) = match self.count {
            1 => ("1".to_owned(), "message"),
            many => (many.to_string(), "messages"),
        };
        Some(format!(
            "{count} {messages} of the group's subjects could not be read and had no effect: {first}"
        ))
    }
}

/// A stop of the load before its planned end.
#[derive(Clone, Copy, Debug)]
struct Halt {
    reason: StopReason,
    /// Whether requests in flight are aborted too.
    ends: bool,
    /// The run time of the first order to stop.
    at: Nanos,
    /// Whether the loss of an agent caused the stop, and not an order.
    by_loss: bool,
}

/// The maximum number of agents that wait without a place, in addition to the run's agents.
const WAITING_MAX: usize = 4_096;
/// If the holder does not call the coordinator for this long, the coordinator counts as having been
/// stopped.
const STOOD: Nanos = Nanos::from_secs(1);
/// A waiting agent that has not sent a beat for this long is forgotten.
const PATIENCE: Nanos = Nanos::from_secs(5);

impl Coordinator {
    /// The coordinator of a new run without agents.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self {
            setup,
            term: 1,
            waiting: Vec::new(),
            places: Vec::new(),
            named: HashMap::new(),
            merge: Merge::new(0),
            read: None,
            contrast: Contrast::default(),
            room: None,
            start: None,
            commands: Vec::new(),
            changes: 0,
            halt: None,
            has_stopped: false,
            is_over: false,
            now: Nanos::ZERO,
            looked: Nanos::ZERO,
            ended_at: None,
            unread: Unread::default(),
            has_namesakes: false,
        }
    }

    /// A successor for a run, with this term.
    #[must_use]
    pub fn of_run(setup: Setup, term: u64) -> Self {
        Self {
            term,
            ..Self::new(setup)
        }
    }

    /// Ends the replay at this time: everything that was replayed is stored, and any agent may have
    /// a lease that was granted until now.
    pub fn go_on(&mut self, now: Nanos) {
        self.journaled();
        (self.now, self.looked) = (now, now);
        self.ended_at = self.halt.filter(|halt| halt.ends).map(|_| now);
        for place in &mut self.places {
            place.heard = now;
            place.note_lease(now);
        }
    }

    /// The number of agents, waiting or placed.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.waiting.len() + self.places.len()
    }

    /// Handles a beat. The holder may send the reply when the actions are done. A beat with a
    /// higher term gets no reply.
    ///
    /// # Errors
    /// If the bytes are not a beat, or their agent did not send it. The beat gets no reply.
    pub fn handle_beat(
        &mut self,
        bytes: &[u8],
        now: Nanos,
    ) -> Result<(Option<Vec<u8>>, Vec<CoordinatorAction>), FormError> {
        self.now = self.now.max(now);
        let beat = Beat::decode(bytes).map_err(|error| self.unread.note(error))?;
        if beat.run == self.setup.run && beat.term > self.term {
            return Ok((None, vec![CoordinatorAction::Fence]));
        }
        let sent = beat.sent;
        let (word, actions) = self.word(beat, now);
        let reply = Reply {
            run: self.setup.run.clone(),
            term: self.term,
            sent,
            at: now,
            word,
        };
        Ok((Some(reply.encode()), actions))
    }

    /// Confirms that all bytes passed for writing are on the disk.
    pub fn journaled(&mut self) {
        for place in &mut self.places {
            place.inbox.journaled();
        }
    }

    /// Whether an agent answers but its reports do not arrive, so that they may have been lost on
    /// the way.
    #[must_use]
    pub fn misses_reports(&self) -> bool {
        self.places.iter().any(Place::misses_reports)
    }

    /// Checks for lost agents.
    pub fn handle_time(&mut self, now: Nanos) -> Vec<CoordinatorAction> {
        let mut actions = Vec::new();
        if self.looked + STOOD <= now {
            // The coordinator itself was stopped: messages that agents sent meanwhile have arrived,
            // but are not read yet.
            for place in &mut self.places {
                place.heard = place.heard.max(now - STOOD);
            }
        }
        self.looked = now;
        self.now = self.now.max(now);
        self.waiting.retain(|(_, heard)| now - *heard <= PATIENCE);
        for index in 0..self.places.len() {
            if self.places[index].is_overdue(now) {
                self.miss(index, now, &mut actions);
            } else if let Some(reason) = self.is_late(index, now) {
                self.places[index].note_lease(now);
                self.fail(index, reason, now, &mut actions);
            }
        }
        self.redistribute(now, &mut actions);
        actions
    }

    /// Passes on a command, which contains the time from which it takes effect.
    pub fn command(&mut self, command: Command) -> Vec<CoordinatorAction> {
        let entry = Entry::Command(command.clone());
        self.commands.push(command);
        vec![
            CoordinatorAction::Journal(entry.frame()),
            CoordinatorAction::Nudge,
        ]
    }

    /// Stops the load of all agents. With `true`, agents abort the requests in flight.
    pub fn halt(&mut self, reason: StopReason, ends: bool, now: Nanos) -> Vec<CoordinatorAction> {
        let at = self.start.map_or(Nanos::ZERO, |start| now - start);
        if ends {
            self.ended_at.get_or_insert(now);
        }
        self.halt_at(reason, ends, at)
    }

    fn halt_at(&mut self, reason: StopReason, ends: bool, at: Nanos) -> Vec<CoordinatorAction> {
        let entry = Entry::Halt(reason, ends, at);
        let before = self.halt;
        self.halt = Some(Halt {
            reason,
            ends,
            at: before.map_or(at, |before| before.at),
            by_loss: before.is_some_and(|before| before.by_loss),
        });
        vec![
            CoordinatorAction::Journal(entry.frame()),
            CoordinatorAction::Nudge,
        ]
    }

    /// The state of the run. `unix_ns` is the wall clock's reading at the epoch of the
    /// coordinator's clock, in nanoseconds since 1970.
    #[must_use]
    pub fn status(&self, now: Nanos, unix_ns: u64) -> Status {
        let has_start = self.start.is_some();
        let placed = self.places.iter();
        let placed = placed.map(|place| AgentStatus::from_place(place, has_start, now, unix_ns));
        let waiting = self.waiting.iter();
        let waiting =
            waiting.map(|(beat, heard)| AgentStatus::waiting(beat, now - *heard, unix_ns));
        Status {
            run: self.setup.run.clone(),
            term: self.term,
            wanted: self.setup.agents as u64,
            elapsed: self.start.map(|start| now - start),
            is_over: self.is_over,
            agents: placed.chain(waiting).collect(),
        }
    }

    /// Whether every agent that is not lost knows that the run is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The commands that were passed on.
    pub(crate) fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// Whether the start is set.
    #[must_use]
    pub const fn has_start(&self) -> bool {
        self.start.is_some()
    }

    /// The places, for tests.
    #[cfg(test)]
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    fn word(&mut self, beat: Beat, now: Nanos) -> (Word, Vec<CoordinatorAction>) {
        if beat.program != self.setup.program {
            let (theirs, ours) = (&beat.program, &self.setup.program);
            let reason = format!(
                "the agent runs drumfire {theirs}, the coordinator {ours}; run the same version \
                 on both"
            );
            return (Word::Leave(Dismissal::Refused(reason)), Vec::new());
        }
        let name = &beat.agent;
        let placed = self.named.get(name).map(|index| &self.places[*index].beat);
        if placed.is_some_and(|placed| placed.key != beat.key) {
            let reason = format!(
                "another agent of this run has the name {name}; give each agent a different --name"
            );
            return (Word::Leave(Dismissal::Refused(reason)), Vec::new());
        }
        let mut waiting = self.waiting.iter().map(|(waiting, _)| waiting);
        if waiting.any(|it| it.agent == *name && it.key != beat.key) {
            // The agent is forgotten when its beats stop.
            let note = format!(
                "two waiting agents have the name {name}, and only one of them joins; give each \
                 agent a different --name"
            );
            let is_known = std::mem::replace(&mut self.has_namesakes, true);
            let note = (!is_known).then_some(CoordinatorAction::Tell(ClusterEvent::Note(note)));
            return (Word::Wait, note.into_iter().collect());
        }
        if !beat.run.is_empty() {
            self.waiting.retain(|(it, _)| it.agent != beat.agent);
        }
        if !beat.run.is_empty() && beat.run != self.setup.run {
            // An agent ignores the replies of a run that is not its own.
            let other = Dismissal::refused("the agent has a share of another run");
            return (Word::Leave(other), Vec::new());
        }
        match self.named.get(&beat.agent).copied() {
            Some(index) => self.word_to_place(index, beat, now),
            None if beat.run.is_empty() => self.word_to_free(beat, now),
            None => {
                let unknown = Dismissal::refused("the run does not know this agent");
                (Word::Leave(unknown), Vec::new())
            }
        }
    }

    fn add_place(&mut self, place: Place) {
        self.named.insert(place.agent.clone(), self.places.len());
        self.places.push(place);
    }

    /// The reply to a free agent. When the last required agent arrives, all places are assigned.
    fn word_to_free(&mut self, beat: Beat, now: Nanos) -> (Word, Vec<CoordinatorAction>) {
        if self.is_over {
            return (Word::Wait, Vec::new());
        }
        let name = beat.agent.clone();
        let is_full = self.waiting.len() >= WAITING_MAX;
        match self.waiting.iter_mut().find(|(it, _)| it.agent == name) {
            Some(known) => *known = (beat, now),
            None if is_full => {
                let reason = format!("more than {WAITING_MAX} agents wait for a run of the group");
                return (Word::Leave(Dismissal::Refused(reason)), Vec::new());
            }
            None => self.waiting.push((beat, now)),
        }
        // Agents beyond the required number wait for a lost share.
        if !self.places.is_empty() || self.waiting.len() < self.setup.agents {
            return (Word::Wait, Vec::new());
        }
        let spare = self.waiting.split_off(self.setup.agents);
        let waiting = std::mem::replace(&mut self.waiting, spare);
        let machines: Vec<MachineFacts> = waiting.iter().map(|(beat, _)| beat.machine).collect();
        let shares = match divide(&self.setup.plan, &machines) {
            Ok(shares) => shares,
            Err(error) => {
                self.is_over = true;
                let event = ClusterEvent::Failed(error.to_string());
                let failed = vec![CoordinatorAction::Tell(event)];
                return (Word::Leave(Dismissal::Refused(error.to_string())), failed);
            }
        };
        let places = Place::all(&self.setup, waiting, &shares);
        places.into_iter().for_each(|place| self.add_place(place));
        self.merge = Merge::new(self.places.len());
        let mine = self.named.get(&name).map(|index| &self.places[*index]);
        let word = mine.map_or(Word::Wait, |place| Word::Take(place.assignment.clone()));
        // The other agents wait for their shares, and send beats rarely.
        (word, vec![CoordinatorAction::Nudge])
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
        if let Some(distrust) = &place.distrust {
            let reason = distrust.reason.clone();
            return (Word::Leave(Dismissal::Refused(reason)), actions);
        }
        let has_begun = place.has_begun();
        if place.state == PlaceState::Lost
            && (self.start.is_none() || beat.run.is_empty() || !has_begun)
        {
            return (Word::Leave(self.dismissal(has_begun)), actions);
        }
        // The beats of one agent may overtake each other.
        if beat.sent >= place.beat.sent {
            // If an agent beats as expired, wait for it only after its report of the expiry has
            // arrived.
            if beat.phase != Phase::Expired || place.state == PlaceState::Expiring {
                if self.start.is_some() && beat.phase == Phase::Running {
                    place.silence = place.silence.max(now - place.heard);
                }
                place.heard = now;
            }
            if self.start.is_some() && !beat.run.is_empty() {
                place.await_reports(&beat, now);
            }
            place.beat = beat.clone();
        }
        if beat.run.is_empty() {
            let word = match self.start.filter(|_| has_begun) {
                None => Word::Take(place.assignment.clone()),
                Some(_) => Word::Leave(Dismissal::refused("its share belonged to another process")),
            };
            return (word, actions);
        }
        if beat.epoch != place.assignment.epoch {
            let other = Dismissal::refused("the share has another epoch");
            return (Word::Leave(other), actions);
        }
        if let Phase::Ready(info) = &beat.phase
            && let Err(reason) = self.take_facts(index, info)
        {
            self.fail(index, reason, now, &mut actions);
            if self.start.is_none() {
                return (Word::Leave(self.dismissal(true)), actions);
            }
        }
        let place = &mut self.places[index];
        if let Phase::Failed(reason) = &beat.phase
            && place.goes_on()
        {
            self.fail(index, reason.clone(), now, &mut actions);
            if self.start.is_none() {
                return (Word::Leave(self.dismissal(true)), actions);
            }
        }
        self.set_start(now, &mut actions);
        (Word::Hold(self.hold(index, &beat, is_over)), actions)
    }

    /// The state of the run for the agent of a place with a share.
    fn hold(&self, index: usize, beat: &Beat, is_over: bool) -> Hold {
        let place = &self.places[index];
        let is_lost = place.is_lost();
        let from = usize::try_from(beat.commands).unwrap_or(usize::MAX);
        Hold {
            epoch: place.assignment.epoch,
            stored: place.inbox.stored(),
            start: self.start.filter(|_| place.has_begun()),
            begins: place.begins(),
            joins: match place.is_own(index as u32) {
                true => joined(&self.places, index as u32),
                false => 0,
            },
            from: beat.commands,
            commands: self.commands.iter().skip(from).cloned().collect(),
            halt: self.halt.map(|halt| (halt.reason, halt.ends)),
            is_lost,
            is_over: is_over && (is_lost || place.state == PlaceState::Ended),
        }
    }

    /// Takes the facts of the run as a place's agent sees them, once. Fails with a reason if the
    /// facts cannot belong to this plan.
    fn take_facts(&mut self, index: usize, info: &[u8]) -> Result<(), String> {
        if self.places[index].info.is_some() {
            return Ok(());
        }
        let info = form::decode::<RunInfo>(info);
        let info = info.map_err(|error| format!("it sent facts that can't be read: {error}"))?;
        let names = self.setup.plan.pools().iter().map(|pool| &pool.name);
        let of_plan = info.pools.iter().map(|pool| &pool.name).eq(names);
        let others = self.places.iter().find_map(|place| place.info.as_ref());
        let of_others = others.is_none_or(|others| {
            let shapes = |pools: &[PoolInfo]| pools.iter().map(shape).collect::<Vec<_>>();
            shapes(&others.pools) == shapes(&info.pools)
        });
        if !of_plan || !of_others {
            return Err("its pools or steps are not those of the plan".to_owned());
        }
        self.places[index].info = Some(Box::new(info));
        Ok(())
    }

    /// Why the agent of a lost place must leave.
    fn dismissal(&self, has_begun: bool) -> Dismissal {
        match self.start {
            _ if !has_begun => Dismissal::NotWanted,
            None => Dismissal::refused("the run failed before its load began"),
            Some(_) => Dismissal::refused("the coordinator considered it lost"),
        }
    }

    /// Sets the start when all agents are ready.
    fn set_start(&mut self, now: Nanos, actions: &mut Vec<CoordinatorAction>) {
        if self.start.is_some() || !self.places.iter().all(Place::is_ready) {
            return;
        }
        let start = now + START_LEAD;
        let ready = self.places.iter();
        let begun = Begun {
            start,
            places: ready
                .map(|place| (place.assignment.clone(), place.beat.clone()))
                .collect(),
        };
        actions.push(CoordinatorAction::Journal(Entry::Begun(begun).frame()));
        self.name_start(start, actions);
        actions.push(CoordinatorAction::Nudge);
    }

    fn name_start(&mut self, start: Nanos, actions: &mut Vec<CoordinatorAction>) {
        self.start = Some(start);
        for place in &mut self.places {
            place.clock = place.beat.offset;
        }
        if let Some(info) = facts(&self.places, &self.setup) {
            let event = ClusterEvent::Gathered(Box::new(info), start);
            actions.push(CoordinatorAction::Tell(event));
        }
    }

    /// Publishes the end of the load. An end by count is published when the last agent has sent its
    /// requests. Any other reason applies to all agents, so it is published with the first agent
    /// that reports it. This includes the loss of the last agent.
    fn stop(&mut self, reason: StopReason, actions: &mut Vec<CoordinatorAction>) {
        let goes_on = |place: &Place| place.state == PlaceState::Taken && !place.has_stopped;
        let waits = reason == StopReason::Counted && self.places.iter().any(goes_on);
        // A halt was published when it was requested. A stop that the loss of an agent caused was
        // not carried out by any agent if all are lost.
        let is_published = match &self.halt {
            Some(halt) => !(halt.by_loss && reason == StopReason::Lost),
            None => false,
        };
        if !waits && !self.has_stopped && !is_published {
            self.has_stopped = true;
            tell(RunEvent::Stopping { reason }, actions);
        }
    }

    /// Publishes the complete intervals.
    fn close_intervals(&mut self, actions: &mut Vec<CoordinatorAction>) {
        while let Some(interval) = self.merge.next_merged() {
            tell(RunEvent::IntervalClosed(interval), actions);
        }
    }

    /// Ends the run when every place has ended or is lost.
    fn finish(&mut self, actions: &mut Vec<CoordinatorAction>) {
        if self.is_over || self.start.is_none() || self.places.iter().any(Place::goes_on) {
            return;
        }
        self.is_over = true;
        for event in findings(
            &self.places,
            self.contrast.close(),
            self.room.as_ref(),
            self.term,
        ) {
            actions.push(CoordinatorAction::Tell(event));
        }
        let unread = self.unread.text().map(ClusterEvent::Note);
        actions.extend(unread.map(CoordinatorAction::Tell));
        let endings = self.places.iter_mut().filter_map(|it| it.ending.take());
        let endings = endings.map(|ending| *ending).collect();
        let lost_at = self.all_lost_at();
        let over = ClusterEvent::Over { endings, lost_at };
        actions.push(CoordinatorAction::Tell(over));
        actions.push(CoordinatorAction::Nudge);
    }
}

/// The numbers of series of a pool, which decide how its intervals are decoded and merged.
fn shape(pool: &PoolInfo) -> (usize, bool, usize) {
    (pool.steps.len(), pool.iterations, pool.scenarios.len())
}

/// Publishes an event to the run's observers.
fn tell(event: RunEvent, actions: &mut Vec<CoordinatorAction>) {
    actions.push(CoordinatorAction::Tell(ClusterEvent::Run(event)));
}
