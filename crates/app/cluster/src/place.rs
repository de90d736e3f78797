//! An agent's place in a run, as the coordinator sees it.

use crate::Offset;
use crate::attachments::Attachments;
use crate::division::sum;
use crate::inbox::Inbox;
use crate::lease::{BEAT, INTERVAL_LATE, LEASE, LEASE_MARGIN, REPORTS_LATE, REPORTS_MISSED};
use crate::message::{Assignment, Beat, MachineFacts, Phase};
use crate::setup::Setup;
use crate::succession::{ShareOffer, Succession};
use crate::tally::Tally;
use drumfire_engine::Shares;
use drumfire_measure::{Ending, RunInfo, form};
use drumfire_units::Nanos;

/// The minimum movement of a clock that is reported. Good clocks drift as much within minutes,
/// which affects no figure.
const CLOCK_MOVED_MIN: Nanos = Nanos::from_millis(1);

/// The epoch of a place's share: each place has one agent.
const EPOCH: u64 = 1;

/// A share, and the agent that has it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) agent: String,
    pub(crate) assignment: Assignment,
    pub(crate) inbox: Inbox,
    pub(crate) state: PlaceState,
    /// The facts of the run as the agent sees them, once it is ready.
    pub(crate) info: Option<Box<RunInfo>>,
    /// The agent's ending, once reported.
    pub(crate) ending: Option<Box<Ending>>,
    /// The newest beat, and the time of its arrival.
    pub(crate) beat: Beat,
    pub(crate) heard: Nanos,
    /// The agent's estimate of the clock offset when the start was set.
    pub(crate) clock: Option<Offset>,
    /// The end of the last reported interval.
    pub(crate) reported: Nanos,
    /// The beats since the last report that was taken.
    pub(crate) awaited: Awaited,
    /// The number of events that the agent has reported besides its intervals.
    pub(crate) events: u32,
    /// The number of changes of the load that the agent has reported.
    pub(crate) changes: usize,
    /// Whether the agent has reported the end of its load.
    pub(crate) has_stopped: bool,
    /// The run time at which the agent was lost.
    pub(crate) lost_at: Option<Nanos>,
    /// How the place got its shares, if they belonged to a lost place.
    pub(crate) succeeds: Option<Succession>,
    /// The sums of the agent's intervals.
    pub(crate) tally: Tally,
    /// The longest time between two of the agent's beats since the start.
    pub(crate) silence: Nanos,
    /// Why the agent considers its own part invalid, if it does.
    pub(crate) own_verdict: Option<String>,
    /// The reason that the agent gave for its end, if any. For a failed offer without a reason, the
    /// cause of its failure.
    pub(crate) refusal: Option<String>,
    /// Why nothing more is taken from the agent, if one of its reports was wrong.
    pub(crate) distrust: Option<Distrust>,
    /// The time until which a lost agent may still send, if it was reachable when it was lost.
    pub(crate) sends_until: Nanos,
    /// After the agent is lost: the text about its shares for which no agent has room.
    pub(crate) unplaced: Option<String>,
}

/// Why nothing more is taken from an agent: one of its reports was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Distrust {
    /// The mistake.
    pub(crate) reason: String,
    /// Whether its earlier reports are in doubt, too.
    pub(crate) is_of_all: bool,
}

form! { struct Distrust { reason, is_of_all } }

/// The time for which an agent has answered without a due report. Only time between its beats
/// counts: while the agent is unreachable, only its lease matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Awaited {
    /// The time of the last beat.
    beaten: Nanos,
    /// The number of reports that were taken at that time.
    taken: u64,
    /// The time for which reports that the agent has made, or the last one of all, did not arrive.
    late: Nanos,
    /// The time for which no report arrived.
    quiet: Nanos,
}

impl Awaited {
    /// Adds the time up to a beat.
    fn count(&mut self, beat: &Beat, taken: u64, now: Nanos) {
        let since = (now - self.beaten).min(Nanos(2 * BEAT.0));
        let is_new = taken > self.taken;
        let is_due = match beat.phase {
            Phase::Ended | Phase::Expired => true,
            _ => beat.made > taken,
        };
        let sum = |is_counted, sum: Nanos| match is_counted && !is_new {
            true => sum + since,
            false => Nanos::ZERO,
        };
        *self = Self {
            beaten: now,
            taken,
            late: sum(is_due, self.late),
            quiet: sum(beat.phase == Phase::Running, self.quiet),
        };
    }
}

/// The state of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceState {
    /// The agent has the share.
    Taken,
    /// The last report was taken.
    Ended,
    /// The agent's lease has expired, and it delivers its earlier results.
    Expiring,
    /// The agent's lease has expired, and the run does not wait for it. Its reports are taken while
    /// the run continues.
    Lost,
}

impl Place {
    /// The places of the agents gathered for a run, each with its last beat and the time of its
    /// arrival.
    pub(crate) fn all(setup: &Setup, agents: Vec<(Beat, Nanos)>, shares: &[Shares]) -> Vec<Self> {
        let machines: Vec<MachineFacts> = agents.iter().map(|(beat, _)| beat.machine).collect();
        let places = (0..).zip(agents).zip(shares);
        let place = |((share, (beat, heard)), shares): ((u32, (Beat, Nanos)), &Shares)| {
            let assignment = Assignment {
                run: setup.run.clone(),
                share,
                epoch: EPOCH,
                shares: *shares,
                machine: sum(&machines),
                plan: setup.text.clone(),
                attachments: setup.attachments.clone(),
            };
            Self::new(assignment, beat, heard)
        };
        places.map(place).collect()
    }

    pub(crate) fn new(assignment: Assignment, beat: Beat, heard: Nanos) -> Self {
        Self {
            agent: beat.agent.clone(),
            assignment,
            inbox: Inbox::default(),
            state: PlaceState::Taken,
            info: None,
            ending: None,
            beat,
            heard,
            clock: None,
            reported: Nanos::ZERO,
            awaited: Awaited::default(),
            events: 0,
            changes: 0,
            has_stopped: false,
            lost_at: None,
            succeeds: None,
            tally: Tally::default(),
            silence: Nanos::ZERO,
            own_verdict: None,
            refusal: None,
            distrust: None,
            sends_until: Nanos::ZERO,
            unplaced: None,
        }
    }

    /// The place of an offer.
    pub(crate) fn offered(
        offer: &ShareOffer,
        share: u32,
        setup: &Setup,
        machine: MachineFacts,
        now: Nanos,
    ) -> Self {
        // The process of an agent with shares already has the plan and its files.
        let is_alone = offer.host == share;
        let assignment = Assignment {
            run: setup.run.clone(),
            share,
            epoch: EPOCH,
            shares: offer.shares,
            machine,
            plan: match is_alone {
                true => setup.text.clone(),
                false => String::new(),
            },
            attachments: match is_alone {
                true => setup.attachments.clone(),
                false => Attachments::default(),
            },
        };
        let name = (offer.agent.clone(), offer.key);
        let beat = Beat::free(name, setup.program.clone(), offer.machine);
        Self {
            succeeds: Some(Succession {
                of: offer.of,
                host: offer.host,
                from: None,
            }),
            ..Self::new(assignment, beat, now)
        }
    }

    /// Whether this is the agent's own place, in addition to which the agent may have others.
    /// `index` is the number of this place.
    pub(crate) fn is_own(&self, index: u32) -> bool {
        self.succeeds.is_none_or(|it| it.host == index)
    }

    /// Whether the time from which the place keeps its shares is set.
    pub(crate) fn has_begun(&self) -> bool {
        self.succeeds.is_none_or(|it| it.from.is_some())
    }

    /// The time of the run from which the place keeps its shares.
    pub(crate) fn begins(&self) -> Nanos {
        let from = self.succeeds.and_then(|it| it.from);
        from.unwrap_or_default()
    }

    /// Whether the lease of the agent has certainly expired, even by its own clock.
    pub(crate) fn is_overdue(&self, now: Nanos) -> bool {
        self.goes_on() && now - self.heard > LEASE + LEASE_MARGIN
    }

    /// Counts the time up to a beat of a run that has begun.
    pub(crate) fn await_reports(&mut self, beat: &Beat, now: Nanos) {
        self.awaited.count(beat, self.inbox.taken(), now);
    }

    /// Whether the agent answers but its reports do not arrive.
    pub(crate) fn misses_reports(&self) -> bool {
        self.goes_on() && self.awaited.late > REPORTS_MISSED
    }

    /// Why the run stops waiting for the agent's reports, although the agent answers; `None` if the
    /// run continues to wait. `interval` is the length of the run's intervals.
    pub(crate) fn is_late(&self, interval: Nanos) -> Option<String> {
        let Awaited { late, quiet, .. } = self.awaited;
        let seconds = |time: Nanos| time.as_secs_f64();
        if !self.goes_on() {
            None
        } else if late > REPORTS_LATE {
            let late = seconds(late);
            Some(format!("its reports did not arrive for {late:.1} s"))
        } else if quiet > interval + INTERVAL_LATE {
            let quiet = seconds(quiet);
            Some(format!("it reported nothing for {quiet:.1} s"))
        } else {
            None
        }
    }

    /// Whether the agent may still send load, although the place is lost.
    pub(crate) fn may_send(&self, now: Nanos) -> bool {
        now < self.sends_until
    }

    /// Records that the agent may have a lease that was granted until now.
    pub(crate) fn note_lease(&mut self, now: Nanos) {
        self.sends_until = now + LEASE + LEASE_MARGIN;
    }

    /// The run time of a loss at this moment. The time is not before the agent's last interval,
    /// even if the clock was set back while the machine booted.
    pub(crate) fn lost_now(&self, now: Nanos) -> Nanos {
        match self.tally.intervals {
            0 => now,
            _ => now.max(self.reported),
        }
    }

    /// Whether the run waits for this place.
    pub(crate) const fn goes_on(&self) -> bool {
        matches!(self.state, PlaceState::Taken | PlaceState::Expiring)
    }

    /// Whether the agent's lease has expired.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self.state, PlaceState::Lost | PlaceState::Expiring)
    }

    /// The sentence about the loss of the agent.
    pub(crate) fn loss_text(&self) -> String {
        let at = self.lost_at.unwrap_or_default();
        let shares = self.assignment.shares;
        let lost = format!(
            "agent {} ({} of {} shares) {} at {:.1} s",
            self.agent,
            shares.count,
            shares.of,
            if self.refusal.is_some() {
                "failed"
            } else {
                "was lost"
            },
            at.as_secs_f64()
        );
        let lost = match &self.refusal {
            Some(reason) => format!("{lost} ({reason})"),
            None => lost,
        };
        if self.distrust.as_ref().is_some_and(|it| it.is_of_all) {
            return format!("{lost}: its numbers, which are in those of the run, can't be trusted");
        }
        let reported = self.reported.as_secs_f64();
        match self.ending {
            None => {
                format!("{lost}: its requests after {reported:.1} s are unknown and not counted")
            }
            Some(_) => format!(
                "{lost}: it had stopped at {reported:.1} s, and its full results arrived later"
            ),
        }
    }

    /// The run time from which the share of a lost agent is unaccounted for.
    pub(crate) fn unknown_from(&self) -> Nanos {
        match &self.distrust {
            Some(distrust) if distrust.is_of_all => self.begins(),
            _ => self.reported,
        }
    }

    /// The movement of the agent's clock since the start was set, if it exceeds the uncertainty of
    /// both estimates.
    pub(crate) fn clock_moved(&self) -> Option<Nanos> {
        let (before, now) = self.clock.zip(self.beat.offset)?;
        let moved = Nanos(before.ahead.abs_diff(now.ahead));
        let left_open = before.uncertainty + now.uncertainty;
        (moved > left_open.max(CLOCK_MOVED_MIN)).then_some(moved)
    }

    /// Whether the agent waits for the start.
    pub(crate) const fn is_ready(&self) -> bool {
        matches!(self.beat.phase, Phase::Ready(_)) && self.info.is_some()
    }
}
