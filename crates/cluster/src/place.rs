//! An agent's place in a run, as the coordinator sees it.

use crate::Offset;
use crate::attachments::Attachments;
use crate::division::sum;
use crate::inbox::Inbox;
use crate::lease::{BEAT, INTERVAL_LATE, LEASE, LEASE_MARGIN, REPORTS_LATE, REPORTS_MISSED};
use crate::message::{Assignment, Beat, MachineFacts, Phase};
use crate::setup::Setup;
use crate::succession::{Offer, Succession};
use crate::tally::Tally;
use drumfire_engine::Shares;
use drumfire_measure::{Ending, RunInfo, form};
use drumfire_units::Nanos;

/// Crystals of good clocks differ by as much within minutes, and no figure does by it.
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
    /// Its ending, once it was reported.
    pub(crate) ending: Option<Box<Ending>>,
    /// The newest beat, and when it came.
    pub(crate) beat: Beat,
    pub(crate) heard: Nanos,
    /// Its estimate of the clock when the start was named.
    pub(crate) clock: Option<Offset>,
    /// The end of its last interval.
    pub(crate) reported: Nanos,
    /// The beats since the last report that was taken.
    pub(crate) awaited: Awaited,
    /// The events that it has reported beside its intervals.
    pub(crate) events: u32,
    /// The changes of the load that it has reported.
    pub(crate) changes: usize,
    /// Whether it has reported the end of its load.
    pub(crate) has_stopped: bool,
    /// The run time at which it was lost.
    pub(crate) lost_at: Option<Nanos>,
    /// How it came by its shares, where it has them of a lost place.
    pub(crate) succeeds: Option<Succession>,
    /// The sums of its intervals.
    pub(crate) tally: Tally,
    /// The longest time between two of its beats since the start.
    pub(crate) silence: Nanos,
    /// Why its agent holds its own part for invalid, where it does.
    pub(crate) own_verdict: Option<String>,
    /// The reason that its agent gave for its end, where it gave one; of an offer that came to nothing
    /// without one, what became of it.
    pub(crate) refusal: Option<String>,
    /// Why nothing more of its agent is taken, if what that reported was wrong.
    pub(crate) distrust: Option<Distrust>,
    /// The time until which an agent that was lost while it was there may send.
    pub(crate) sends_until: Nanos,
    /// What is said of those of its shares that no agent has room for, once it is lost.
    pub(crate) unplaced: Option<String>,
}

/// Why nothing more of an agent is taken: what it reported was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Distrust {
    /// The mistake.
    pub(crate) reason: String,
    /// Whether what it reported before is in doubt, too.
    pub(crate) is_of_all: bool,
}

form! { struct Distrust { reason, is_of_all } }

/// The time for which an agent has answered without a report that was due. Only time between its beats
/// counts: while it can't be reached, nothing is due but its lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Awaited {
    /// The time of its last beat.
    beaten: Nanos,
    /// The number of reports that were taken by then.
    taken: u64,
    /// The time for which reports that it has made, or the last one of all, did not come.
    late: Nanos,
    /// The time for which no report came.
    quiet: Nanos,
}

impl Awaited {
    /// Counts the time up to a beat.
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
    /// Its agent has it.
    Taken,
    /// Its last report was taken.
    Ended,
    /// Its agent has no lease any more, and brings what it had made until then.
    Expiring,
    /// Its agent has no lease any more, and the run does not wait for it. What it brings is taken as
    /// long as the run goes on.
    Lost,
}

impl Place {
    /// The places of agents that gathered for a run, each with its last beat and when that came.
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
        offer: &Offer,
        share: u32,
        setup: &Setup,
        machine: MachineFacts,
        now: Nanos,
    ) -> Self {
        // The process of an agent that has shares has plan and files.
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

    /// Whether it is the one of its agent beside which that may have further ones, where its number is
    /// this.
    pub(crate) fn is_own(&self, index: u32) -> bool {
        self.succeeds.is_none_or(|it| it.host == index)
    }

    /// Whether the time from which it keeps its shares is named.
    pub(crate) fn has_begun(&self) -> bool {
        self.succeeds.is_none_or(|it| it.from.is_some())
    }

    /// The time of the run from which it keeps its shares.
    pub(crate) fn begins(&self) -> Nanos {
        let from = self.succeeds.and_then(|it| it.from);
        from.unwrap_or_default()
    }

    /// Whether its agent has no lease any more, whatever its clock says.
    pub(crate) fn is_overdue(&self, now: Nanos) -> bool {
        self.goes_on() && now - self.heard > LEASE + LEASE_MARGIN
    }

    /// Counts the time up to a beat of a run that has begun.
    pub(crate) fn await_reports(&mut self, beat: &Beat, now: Nanos) {
        self.awaited.count(beat, self.inbox.taken(), now);
    }

    /// Whether its agent answers and has reports that do not arrive.
    pub(crate) fn misses_reports(&self) -> bool {
        self.goes_on() && self.awaited.late > REPORTS_MISSED
    }

    /// Why the run waits no longer for its reports, though its agent answers; `None` if it waits. A
    /// run has intervals of this length.
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

    /// Whether its agent may still send load, though the place is lost.
    pub(crate) fn may_send(&self, now: Nanos) -> bool {
        now < self.sends_until
    }

    /// Notes that its agent may have a lease that was given until now.
    pub(crate) fn note_lease(&mut self, now: Nanos) {
        self.sends_until = now + LEASE + LEASE_MARGIN;
    }

    /// The run time of its loss, if that is now: not before what it has reported, though a clock that
    /// was set back while the machine was booted may say so.
    pub(crate) fn lost_now(&self, now: Nanos) -> Nanos {
        match self.tally.intervals {
            0 => now,
            _ => now.max(self.reported),
        }
    }

    /// Whether the run waits for it.
    pub(crate) const fn goes_on(&self) -> bool {
        matches!(self.state, PlaceState::Taken | PlaceState::Expiring)
    }

    /// Whether its agent has no lease any more.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self.state, PlaceState::Lost | PlaceState::Expiring)
    }

    /// The sentence about its loss.
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

    /// The run time from which its share has no account, once it is lost.
    pub(crate) fn unknown_from(&self) -> Nanos {
        match &self.distrust {
            Some(distrust) if distrust.is_of_all => self.begins(),
            _ => self.reported,
        }
    }

    /// The movement of its clock since the start was named, where that is more than both estimates
    /// leave open.
    pub(crate) fn clock_moved(&self) -> Option<Nanos> {
        let (before, now) = self.clock.zip(self.beat.offset)?;
        let moved = Nanos(before.ahead.abs_diff(now.ahead));
        let left_open = before.uncertainty + now.uncertainty;
        (moved > left_open.max(CLOCK_MOVED_MIN)).then_some(moved)
    }

    /// Whether its agent waits for the start.
    pub(crate) const fn is_ready(&self) -> bool {
        matches!(self.beat.phase, Phase::Ready(_)) && self.info.is_some()
    }
}
