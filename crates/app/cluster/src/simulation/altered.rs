//! Reports that are altered by their agent or in transit, and agents that impersonate others. The
//! run ends and has every request, or reports which agent's requests are missing.

use super::conductor::{Conductor, Life, setup};
use super::{ClusterWorld, INTERVAL, INTERVALS, SimulatedAgent};
use crate::envelope::Message as _;
use crate::event::{ClusterEvent, CoordinatorAction};
use crate::lease::{END_LATE, LEASE};
use crate::message::{AgentKey, Beat, Phase, Report};
use crate::on_loss::OnLoss;
use drumfire_measure::form::FormError;
use drumfire_plan::StopReason;
use drumfire_units::{Nanos, Random};

/// The agent whose reports are altered.
const LIAR: usize = 0;

/// An alteration of some of an agent's reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alteration {
    kind: Kind,
    /// The number of the first altered report.
    first: u64,
    /// Whether later reports are altered, too.
    is_lasting: bool,
    /// The place and the mask of the alteration.
    at: usize,
    mask: u8,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Bits of the message change in transit.
    Bits,
    /// The message is cut off.
    Cut,
    /// The message is lost.
    Gone,
    /// The agent sends other bytes in its result.
    Content,
    /// The agent sends a huge number in its result.
    Huge,
    /// The agent sends another share, number, epoch or run, or omits the end.
    Share,
    Number,
    Epoch,
    Run,
    NoEnd,
}

const KINDS: [Kind; 10] = [
    Kind::Bits,
    Kind::Cut,
    Kind::Gone,
    Kind::Content,
    Kind::Huge,
    Kind::Share,
    Kind::Number,
    Kind::Epoch,
    Kind::Run,
    Kind::NoEnd,
];

impl Alteration {
    fn drawn(seed: u64) -> Self {
        let mut random = Random::from_state(seed ^ 0xa17e);
        let mut upto = |most: u64| random.bits() % most;
        Self {
            kind: KINDS[upto(KINDS.len() as u64) as usize],
            first: upto(INTERVALS + 2),
            is_lasting: upto(2) == 0,
            at: upto(1 << 20) as usize,
            mask: 1 << upto(8),
        }
    }

    /// The result of altering a report.
    fn apply(&self, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let mut report = Report::decode(&bytes).unwrap();
        let is_meant = match self.is_lasting {
            true => report.number >= self.first,
            false => report.number == self.first,
        };
        if !is_meant {
            return Some(bytes);
        }
        let at = self.at % report.piece.len();
        match self.kind {
            Kind::Bits => {
                let mut bytes = bytes;
                let at = self.at % bytes.len();
                bytes[at] ^= self.mask;
                return Some(bytes);
            }
            Kind::Cut => return Some(bytes[..self.at % bytes.len()].to_vec()),
            Kind::Gone => return None,
            Kind::Content => report.piece[at] ^= self.mask,
            Kind::Huge => {
                // The largest number, in the encoding of measurements.
                let huge = [0xff; 9].into_iter().chain([1]);
                report.piece.splice(at..=at, huge);
            }
            Kind::Share => report.share += 1,
            Kind::Number => report.number += 1_000,
            Kind::Epoch => report.epoch += 1,
            Kind::Run => report.run.push('x'),
            Kind::NoEnd => report.is_last = false,
        }
        Some(report.encode())
    }
}

impl ClusterWorld {
    /// The published bytes of an agent's report.
    pub(super) fn altered(&self, index: usize, bytes: Vec<u8>) -> Option<Vec<u8>> {
        match self.alteration.filter(|_| index == LIAR) {
            Some(alteration) => alteration.apply(bytes),
            None => Some(bytes),
        }
    }

    /// A world in which only the test causes events.
    fn quiet(seed: u64) -> Self {
        let mut world = Self::new(seed);
        let on_loss = OnLoss::Drop;
        world.conductors = vec![Conductor::first(setup(world.wanted, on_loss))];
        world.on_loss = on_loss;
        // No agent waits.
        world.processes.truncate(world.wanted);
        world
    }

    /// Runs until the run is over. Returns the time since the end of its load.
    fn run_to_end(&mut self) -> Nanos {
        let latest = self.now + Nanos::from_secs(60);
        while self.last().seen.over.is_none() {
            assert!(self.now < latest, "the run has no end");
            self.step();
        }
        let begun = self.processes.iter().filter_map(|it| it.started_at).min();
        begun.map_or(Nanos::ZERO, |begun| {
            self.now - (begun + Nanos(INTERVAL.0 * INTERVALS))
        })
    }

    fn has_begun(&self) -> bool {
        self.processes.iter().all(|it| it.started_at.is_some())
    }

    /// The number of requests that agents with a share have sent.
    fn sent(&self) -> u64 {
        let all = self.processes.iter();
        all.map(|it| it.requests.iter().sum::<u64>()).sum()
    }

    /// The number of requests of the run.
    fn merged(&self) -> u64 {
        self.last().seen.merged.iter().map(|it| it.sent).sum()
    }

    /// Whether the run reports something about an agent.
    fn names(&self, process: &SimulatedAgent) -> bool {
        let mut texts = self.last().seen.texts.iter();
        texts.any(|text| text.contains(&*process.name))
    }

    /// Passes a report to the coordinator.
    fn report(&mut self, report: &Report) -> Result<(), FormError> {
        let actions = self.conductors[0].machine.handle_report(&report.encode())?;
        self.conduct(0, actions);
        Ok(())
    }
}

/// For any altered byte or number of an agent's reports, the run has all requests or reports the
/// agent whose requests are missing, and it ends within the lease.
#[test]
fn a_run_with_altered_reports_is_whole_or_names_their_agent() {
    let (mut whole, mut named) = (0, 0);
    for seed in 0..1_000 {
        let mut world = ClusterWorld::quiet(seed);
        world.alteration = Some(Alteration::drawn(seed));
        let took = world.run_to_end();
        let what = format!("seed {seed}: {:?}", world.alteration);
        if matches!(world.last().seen.over, Some(Err(_))) {
            // The broker lost so much that no load began.
            assert_eq!(world.sent(), 0, "{what}");
            continue;
        }
        // Some beats are lost, and messages take time.
        assert!(took < Nanos(2 * LEASE.0), "{what}: {took}");
        for other in &world.processes[LIAR + 1..] {
            // The broker loses messages of any agent.
            let is_meant = |text: &&String| {
                text.contains(&*other.name) && !text.contains("received the start too late")
            };
            let mut texts = world.last().seen.texts.iter();
            assert_eq!(texts.find(is_meant), None, "{what}");
        }
        let is_named = world.names(&world.processes[LIAR]);
        let is_whole = world.merged() == world.sent();
        assert!(is_named || is_whole, "{what}");
        whole += u32::from(is_whole && !is_named);
        named += u32::from(is_named);
    }
    assert!(whole > 20 && named > 300, "{whole} whole, {named} named");
}

/// After requests in flight are aborted, the run waits for no agent that reports nothing.
#[test]
fn a_second_stop_ends_a_run_whose_agents_bring_nothing() {
    let mut world = ClusterWorld::quiet(3);
    world.alteration = Some(Alteration {
        kind: Kind::Gone,
        first: 0,
        is_lasting: true,
        at: 0,
        mask: 0,
    });
    while !world.has_begun() {
        world.step();
    }
    let now = world.now;
    for ends in [false, true] {
        let halt = world.conductors[0]
            .machine
            .halt(StopReason::Signal, ends, now);
        world.conduct(0, halt);
    }
    while world.last().seen.over.is_none() {
        assert!(world.now < now + END_LATE + Nanos::from_millis(500));
        world.step();
    }
    assert!(
        world.names(&world.processes[LIAR]),
        "{:?}",
        world.last().seen.texts
    );
    assert!(!world.names(&world.processes[LIAR + 1]));
}

/// An agent that answers but whose run does nothing any more is lost.
#[test]
fn an_agent_that_reports_nothing_is_lost() {
    let mut world = ClusterWorld::quiet(4);
    while !world.has_begun() {
        world.step();
    }
    // The agent's workers are stopped, and its driver sends beats.
    world.processes[LIAR].run = None;
    let took = world.run_to_end();
    assert!(took < Nanos(5 * LEASE.0), "{took}");
    let said = world.last().seen.texts.concat();
    assert!(
        said.contains("agent-0") && said.contains("it reported nothing for"),
        "{said}"
    );
}

/// No agent's beat ends a coordinator, and no agent can impersonate another.
#[test]
fn agents_speak_for_themselves_alone() {
    let mut world = ClusterWorld::quiet(5);
    while !world.has_begun() {
        world.step();
    }
    let key = AgentKey::new([99; 16]);
    let victim = world.coordinator().places()[1].beat.clone();
    let assignment = world.coordinator().places()[1].assignment.clone();
    for (key, term) in [(key, 7), (key, 1), (victim.key, 7)] {
        let beat = Beat {
            key,
            term,
            phase: Phase::Failed("it says so".to_owned()),
            sent: Nanos::MAX,
            ..victim.clone()
        };
        let now = world.now;
        let machine = &mut world.conductors[0].machine;
        let (reply, actions) = machine.handle_beat(&beat.encode(), now).unwrap();
        let is_fence = |action: &CoordinatorAction| matches!(action, CoordinatorAction::Fence);
        assert_eq!(reply.is_none(), term > 1);
        assert_eq!(actions.iter().any(is_fence), term > 1);
        world.conduct(0, actions);
    }
    let forged = Report {
        run: "r".to_owned(),
        share: 1,
        epoch: assignment.epoch,
        key,
        number: 0,
        is_last: true,
        piece: vec![9],
    };
    assert!(world.report(&forged).is_err());
    world.run_to_end();
    assert_eq!(world.merged(), world.sent());
    assert_eq!(world.last().seen.losses, 0, "{:?}", world.last().seen.texts);
    let notes = world.last().seen.notes.join("; ");
    assert!(
        notes.contains("1 message of the group's subjects could not be read"),
        "{notes}"
    );
}

/// A second agent with the name of a waiting one does not join, and a note has the name.
#[test]
fn agents_with_one_name_are_noted() {
    let mut world = ClusterWorld::quiet(5);
    while !world.has_begun() {
        world.step();
    }
    let placed = world.coordinator().places()[1].beat.clone();
    let now = world.now;
    let machine = &mut world.conductors[0].machine;
    let mut notes = |key: u8| {
        let beat = Beat {
            agent: "spare".to_owned(),
            run: String::new(),
            key: AgentKey::new([key; 16]),
            ..placed.clone()
        };
        let (_, actions) = machine.handle_beat(&beat.encode(), now).unwrap();
        let notes = actions.into_iter().filter_map(|action| match action {
            CoordinatorAction::Tell(ClusterEvent::Note(note)) => Some(note),
            _ => None,
        });
        notes.collect::<Vec<_>>().concat()
    };
    assert_eq!(notes(1), "");
    let note = notes(2);
    assert!(
        note.contains("two waiting agents have the name spare"),
        "{note}"
    );
    assert_eq!(notes(2), "", "once is enough");
}

/// Endless messages of one agent use only a limited part of a coordinator's memory and journal.
#[test]
fn an_agent_that_floods_is_lost() {
    let mut world = ClusterWorld::quiet(6);
    while !world.has_begun() {
        world.step();
    }
    let place = &world.coordinator().places()[LIAR];
    let mut report = Report {
        run: "r".to_owned(),
        share: 0,
        epoch: place.assignment.epoch,
        key: place.beat.key,
        number: place.inbox.taken(),
        is_last: false,
        piece: vec![0; 1 << 20],
    };
    for _ in 0..100 {
        world.report(&report).unwrap();
        report.number += 1;
    }
    let written = world.conductors[0].journaled();
    assert!(written < 80 << 20, "{written}");
    world.run_to_end();
    let said = world.last().seen.texts.concat();
    assert!(said.contains("more bytes than a report may have"), "{said}");
}

/// A coordinator that was stopped for longer than a lease reads the messages that agents sent
/// meanwhile before it considers any lost. Their load has ended by itself, and the run contains all
/// of it.
#[test]
fn a_coordinator_that_stood_still_reads_before_it_judges() {
    let mut world = ClusterWorld::quiet(7);
    // The load lasts longer than a lease.
    world.on_loss = OnLoss::Redistribute;
    while world.last().seen.merged.len() < 2 {
        world.step();
    }
    world.conductors[0].life = Life::Still(world.now + Nanos(2 * LEASE.0));
    world.run_to_end();
    assert_eq!(world.merged(), world.sent());
    let texts = &world.last().seen.texts;
    for process in &world.processes {
        let of_it = |text: &&String| text.contains(&*process.name);
        let text = texts.iter().find(of_it).unwrap();
        assert!(text.contains("its full results arrived later"), "{text}");
    }
}
