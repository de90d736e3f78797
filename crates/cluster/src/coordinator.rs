//! The coordinator: gathers agents, deals out the plan, and brings together what they report.
//!
//! It answers each beat with the whole state that concerns its agent, so that nothing depends on a
//! single message. Its stages follow from what it has: fewer agents than it needs; all of them, and
//! no start; a start; the end of every place. An agent that can't run its share before the start is
//! named fails the run, for no load was sent; one that is lost behind it is dealt with as the setup
//! says, and between the two ends it.
//!
//! Everything on which its state depends it hands to its holder to be written
//! ([`CoordinatorAction::Journal`]), before anything that follows from it is answered or published.
//! Only after [`Coordinator::journaled`] do replies have a report as stored.
//!
//! One that goes on with another's run ([`Coordinator::of_run`]) is given what was written, entry by
//! entry ([`Coordinator::replay`]), and then the time ([`Coordinator::go_on`]). A replay gives the
//! events of the run once more, in the same order. It has a higher term, by which agents refuse
//! the replies of the other; one that gets a beat with a higher term than its own lets its holder look
//! whether there is another, since anybody may write a number into a beat.
//!
//! An agent is believed as far as it can be checked. Its key is that of its first beat, so that none
//! speaks for another. One that reports something wrong, or reports nothing though it answers, is
//! lost, with the reason ([`reports`]).
//!
//! The places are those of the agents that gathered, and behind them those of shares that were lost
//! and offered to others ([`redistribution`]).

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
    /// Its term: 1 for the first of a run.
    term: u64,
    /// Agents without a place, each with its newest beat and when that came: they wait until there are
    /// enough, and behind the start for a share that is lost.
    waiting: Vec<(Beat, Nanos)>,
    places: Vec<Place>,
    /// The place of each agent, by its name: each beat asks for it.
    named: HashMap<String, usize>,
    merge: Merge,
    /// The memory that intervals are read into.
    read: Option<Interval>,
    contrast: Contrast,
    /// The connections of shares, once an agent is lost.
    room: Option<Room>,
    start: Option<Nanos>,
    commands: Vec<Command>,
    /// The changes of the load that were published.
    changes: usize,
    halt: Option<Halt>,
    has_stopped: bool,
    is_over: bool,
    /// The latest time that its holder has named; zero while a journal is replayed.
    now: Nanos,
    /// The time of the last look for agents that are lost.
    looked: Nanos,
    /// The time at which agents were told to give up what is in flight.
    ended_at: Option<Nanos>,
    /// Messages that could not be read.
    unread: Unread,
}

/// The messages of a run that could not be read.
#[derive(Clone, Debug, Default)]
struct Unread {
    count: u64,
    /// The mistake in the first of them.
    first: Option<FormError>,
}

impl Unread {
    /// Counts a message, and passes its mistake on.
    fn note(&mut self, error: FormError) -> FormError {
        self.count = self.count.saturating_add(1);
        self.first.get_or_insert(error);
        error
    }

    /// The note of them in the report.
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

/// A stop of the load before its own end.
#[derive(Clone, Copy, Debug)]
struct Halt {
    reason: StopReason,
    /// Whether what is in flight is given up too.
    ends: bool,
    /// The run time of the first order to stop.
    at: Nanos,
    /// Whether the loss of an agent was the cause of that, and nobody's order.
    by_loss: bool,
}

/// The agents that may wait without a place, beside those of the run.
const WAITING_MAX: usize = 4_096;
/// The time without a look for lost agents from which a coordinator counts as having stood still.
const STOOD: Nanos = Nanos::from_secs(1);
/// Agents that wait are forgotten when they have not beaten for this long.
const PATIENCE: Nanos = Nanos::from_secs(5);

impl Coordinator {
    /// That of a run without agents yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self {
            setup,
            term: 1,
            waiting: Vec::new(),
            places: Vec::new(),
            named: HashMap::new(),
            merge: Merge::of(0),
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
        }
    }

    /// One that goes on with a run in this term.
    #[must_use]
    pub fn of_run(setup: Setup, term: u64) -> Self {
        Self {
            term,
            ..Self::new(setup)
        }
    }

    /// Goes on from here: everything that was replayed is stored, and any agent may have a lease
    /// that was given until now.
    pub fn go_on(&mut self, now: Nanos) {
        self.journaled();
        (self.now, self.looked) = (now, now);
        self.ended_at = self.halt.filter(|halt| halt.ends).map(|_| now);
        for place in &mut self.places {
            place.heard = now;
            place.note_lease(now);
        }
    }

    /// The number of agents that are there.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.waiting.len() + self.places.len()
    }

    /// Takes a beat. Its reply may be sent when the actions are done; one with a higher term has none.
    ///
    /// # Errors
    /// If the bytes are not a beat, or one that its agent has not sent: there is no answer to them.
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

    /// Everything that was handed out to be written is on the disk.
    pub fn journaled(&mut self) {
        for place in &mut self.places {
            place.inbox.journaled();
        }
    }

    /// Whether an agent answers whose reports do not arrive: they may be lost on the way.
    #[must_use]
    pub fn misses_reports(&self) -> bool {
        self.places.iter().any(Place::misses_reports)
    }

    /// Looks for agents that are lost.
    pub fn handle_time(&mut self, now: Nanos) -> Vec<CoordinatorAction> {
        let mut actions = Vec::new();
        if self.looked + STOOD <= now {
            // It stood still itself: what agents have sent meanwhile is there, and not read yet.
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

    /// Passes a command on, which has the time from which it holds.
    pub fn command(&mut self, command: Command) -> Vec<CoordinatorAction> {
        let entry = Entry::Command(command.clone());
        self.commands.push(command);
        vec![
            CoordinatorAction::Journal(entry.frame()),
            CoordinatorAction::Nudge,
        ]
    }

    /// Stops the load of all agents; with `true` they give up what is in flight.
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

    /// The state of the run; at the epoch of its clock the wall clock read `unix_ns`, in nanoseconds
    /// since 1970.
    #[must_use]
    pub fn status(&self, now: Nanos, unix_ns: u64) -> Status {
        let has_start = self.start.is_some();
        let placed = self.places.iter();
        let placed = placed.map(|place| AgentStatus::of(place, has_start, now, unix_ns));
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

    /// Whether every agent that is not lost has learned that the run is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The commands that it has passed on.
    pub(crate) fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// Whether the start has been named.
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
            // It is forgotten when it does not beat any more.
            return (Word::Wait, Vec::new());
        }
        if !beat.run.is_empty() {
            self.waiting.retain(|(it, _)| it.agent != beat.agent);
        }
        if !beat.run.is_empty() && beat.run != self.setup.run {
            // An agent passes over the replies of a run that is not its own.
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

    /// The word to a free agent: with the last of those that are needed all places are dealt out.
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
        // Those beyond the number that is asked for wait for a share that is lost.
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
        self.merge = Merge::of(self.places.len());
        let mine = self.named.get(&name).map(|index| &self.places[*index]);
        let word = mine.map_or(Word::Wait, |place| Word::Take(place.assignment.clone()));
        // The others wait for theirs, and beat seldom.
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
            // One that says so is waited for when its report of it is there.
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
        self.begin(now, &mut actions);
        (Word::Hold(self.hold(index, &beat, is_over)), actions)
    }

    /// The state of the run for the agent of a place that has its share.
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

    /// Takes the facts of the run as a place's agent sees them, once; why it can't, if they can't be
    /// those of this plan.
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

    /// Why the agent of a place that is lost has to leave.
    fn dismissal(&self, has_begun: bool) -> Dismissal {
        match self.start {
            _ if !has_begun => Dismissal::NotWanted,
            None => Dismissal::refused("the run failed before its load began"),
            Some(_) => Dismissal::refused("the coordinator considered it lost"),
        }
    }

    /// Names the start when all agents are ready for it.
    fn begin(&mut self, now: Nanos, actions: &mut Vec<CoordinatorAction>) {
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

    /// Publishes the end of the load: of a count when the last agent has none left, for any other
    /// reason with the first, for it is the reason of all, as is the loss of the last agent.
    fn stop(&mut self, reason: StopReason, actions: &mut Vec<CoordinatorAction>) {
        let goes_on = |place: &Place| place.state == PlaceState::Taken && !place.has_stopped;
        let waits = reason == StopReason::Counted && self.places.iter().any(goes_on);
        // A halt was published where it was asked for. One that the loss of an agent has caused nobody
        // has carried out, once all are lost.
        let is_published = match &self.halt {
            Some(halt) => !(halt.by_loss && reason == StopReason::Lost),
            None => false,
        };
        if !waits && !self.has_stopped && !is_published {
            self.has_stopped = true;
            tell(RunEvent::Stopping { reason }, actions);
        }
    }

    /// Publishes the intervals that are complete.
    fn close_intervals(&mut self, actions: &mut Vec<CoordinatorAction>) {
        while let Some(interval) = self.merge.take() {
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

/// The series of a pool, by which its intervals are read and merged.
fn shape(pool: &PoolInfo) -> (usize, bool, usize) {
    (pool.steps.len(), pool.iterations, pool.scenarios.len())
}

/// Tells the run's observers an event.
fn tell(event: RunEvent, actions: &mut Vec<CoordinatorAction>) {
    actions.push(CoordinatorAction::Tell(ClusterEvent::Run(event)));
}
