//! The coordinators of a simulated run, one after the other, each with its journal.

use super::PLAN;
use crate::coordinator::Coordinator;
use crate::envelope::Message as _;
use crate::event::{ClusterEvent, CoordinatorAction, Loss};
use crate::journal::{Entries, Entry, JournalOutline};
use crate::message::Report;
use crate::on_loss::OnLoss;
use crate::setup::Setup;
use drumfire_measure::RunEvent;
use drumfire_plan::StopReason;
use drumfire_units::Nanos;
use std::collections::BTreeSet;
use std::io::Cursor;
use std::sync::Arc;

/// The state of a coordinator's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Lives,
    /// The process is stopped until this time, and its mail stays in a buffer.
    Still(Nanos),
    /// The process was killed, or has given up.
    Dead,
}

/// The recorded facts of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    pub(super) weight: u64,
    pub(super) sent: u64,
}

/// What an observer of a run has seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) merged: Vec<Span>,
    pub(super) losses: usize,
    /// The texts about agents.
    pub(super) texts: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) over: Option<Result<usize, String>>,
    /// The end of the load, if all agents are lost.
    pub(super) lost_at: Option<Nanos>,
    /// The reasons for the end of the load.
    pub(super) stops: Vec<StopReason>,
}

impl Seen {
    pub(super) fn record(&mut self, event: ClusterEvent) {
        assert!(self.over.is_none(), "nothing comes after the end");
        match event {
            ClusterEvent::Run(RunEvent::IntervalClosed(interval)) => {
                self.merged.push(Span {
                    start: interval.start,
                    end: interval.end,
                    weight: interval.health.cpu.0,
                    sent: interval.total.counts.sent,
                });
            }
            ClusterEvent::Suspect(text) | ClusterEvent::Lost(Loss { text, .. }) => {
                self.losses += 1;
                self.texts.push(text);
            }
            ClusterEvent::Note(note) => self.notes.push(note),
            ClusterEvent::Over { endings, lost_at } => {
                self.over = Some(Ok(endings.len()));
                self.lost_at = lost_at;
            }
            ClusterEvent::Run(RunEvent::Stopping { reason }) => self.stops.push(reason),
            ClusterEvent::Aborted => self.stops.push(StopReason::AgentLost),
            ClusterEvent::Failed(reason) => self.over = Some(Err(reason)),
            ClusterEvent::Run(_) | ClusterEvent::Gathered(..) | ClusterEvent::Kept => {}
        }
    }

    /// Whether the other observer saw all of this first.
    pub(super) fn is_beginning_of(&self, other: &Self) -> bool {
        other.merged.starts_with(&self.merged)
    }
}

/// A coordinator's process.
pub(super) struct Conductor {
    pub(super) machine: Coordinator,
    pub(super) life: Life,
    pub(super) seen: Seen,
    journal: Vec<u8>,
    /// The process is killed during its next write, of which this number of bytes reaches the disk.
    dies_within: Option<usize>,
}

/// The remaining work after a coordinator's actions are written and published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// Whether the coordinator is still alive.
    pub(super) lives: bool,
    pub(super) nudges: bool,
}

pub(super) fn setup(agents: usize, on_loss: OnLoss) -> Setup {
    Setup {
        run: "r".to_owned(),
        program: "1".to_owned(),
        plan: Arc::clone(&PLAN),
        text: "drumfire: 1".to_owned(),
        attachments: crate::Attachments::default(),
        agents,
        on_loss,
    }
}

impl Conductor {
    /// The first coordinator of a run.
    pub(super) fn first(setup: Setup) -> Self {
        let head = crate::journal::Head {
            run: setup.run.clone(),
            program: setup.program.clone(),
            text: setup.text.clone(),
            taken: Vec::new(),
            attachments: crate::Attachments::default(),
            agents: setup.agents as u64,
            on_loss: setup.on_loss,
            url: "nats://here".to_owned(),
            group: "default".to_owned(),
            axis: crate::journal::ClockAxis {
                boot: "b".to_owned(),
                epoch: 0,
                unix_ns: 0,
            },
            caller: String::new(),
        };
        Self {
            journal: Entry::Head(head).frame(),
            machine: Coordinator::new(setup),
            life: Life::Lives,
            seen: Seen::default(),
            dies_within: None,
        }
    }

    /// A successor of this coordinator; `None` if the run had no start.
    pub(super) fn after(&self, setup: Setup, term: u64, now: Nanos) -> Option<Self> {
        let read = |length: u64| {
            let bytes = self.journal[..usize::try_from(length).unwrap()].to_vec();
            Cursor::new(bytes)
        };
        let outline = JournalOutline::read(read(self.journal.len() as u64));
        let outline = outline.unwrap().unwrap();
        if !outline.has_begun {
            return None;
        }
        let mut machine = Coordinator::of_run(setup, term);
        let mut entries = Entries::new(Box::new(read(outline.whole)));
        let (mut seen, mut reports) = (Seen::default(), BTreeSet::new());
        while let Some(entry) = entries.next().unwrap() {
            if let Entry::Report(bytes) = &entry {
                let report = Report::decode(bytes).unwrap();
                let is_new = reports.insert((report.share, report.epoch, report.number));
                assert!(is_new, "a report is journaled once");
            }
            for event in machine.replay(entry).unwrap() {
                seen.record(event);
            }
        }
        machine.go_on(now);
        let mut journal = read(outline.whole).into_inner();
        journal.extend(Entry::Term(term).frame());
        Some(Self {
            machine,
            life: Life::Lives,
            seen,
            journal,
            dies_within: None,
        })
    }

    /// Cuts the next write after this number of bytes, and ends the process.
    pub(super) const fn die_within_write(&mut self, bytes: usize) {
        self.dies_within = Some(bytes);
    }

    /// The length of the journal in bytes.
    pub(super) fn journaled(&self) -> usize {
        self.journal.len()
    }

    /// Whether the process receives mail now.
    pub(super) fn is_awake(&self, now: Nanos) -> bool {
        match self.life {
            Life::Lives => true,
            Life::Still(until) => until <= now,
            Life::Dead => false,
        }
    }

    /// Carries out actions as the driver does: first the journal, then the events. A coordinator
    /// with a successor notices it after the write.
    pub(super) fn carry_out(&mut self, actions: Vec<CoordinatorAction>, is_last: bool) -> Done {
        let mut events = Vec::new();
        let mut written = Vec::new();
        let mut done = Done {
            lives: true,
            nudges: false,
        };
        for action in actions {
            match action {
                // Check for a successor.
                CoordinatorAction::Fence if is_last => {}
                CoordinatorAction::Fence => {
                    self.life = Life::Dead;
                    return Done::default();
                }
                CoordinatorAction::Journal(frame) => written.extend(frame),
                CoordinatorAction::Nudge => done.nudges = true,
                CoordinatorAction::Tell(event) => events.push(event),
            }
        }
        if !written.is_empty() {
            let length = self
                .dies_within
                .map_or(written.len(), |at| at % written.len());
            self.journal.extend(&written[..length]);
            if self.dies_within.is_some() || !is_last {
                self.life = Life::Dead;
                return Done::default();
            }
            self.machine.journaled();
        }
        for event in events {
            self.seen.record(event);
        }
        done
    }
}
