//! The reports of agents: a valid report is taken, and a wrong one is the loss of its agent.
//!
//! Bytes that are not a report, or that another agent sent for a share, change nothing: their
//! sender is unknown, and an agent repeats a report until it is stored. After a wrong report of a
//! share's own agent, nothing more is taken from that agent. An agent that answers but whose
//! reports do not arrive is treated in the same way: the run waits for no agent longer than a
//! lease.

use super::{Coordinator, tell};
use crate::envelope::Message as _;
use crate::event::CoordinatorAction;
use crate::inbox::{CONTENT_BYTES_MAX, CONTENT_BYTES_MAX_KEPT};
use crate::journal::Entry;
use crate::lease::{END_LATE, LEASE};
use crate::message::{Content, Report};
use crate::place::{Distrust, Place, PlaceState};
use crate::tally::BooksError;
use drumfire_measure::form::{self, FormError};
use drumfire_measure::{
    Ending, Interval, LatencyKind, RunEvent, RunInfo, decode_event, interval_of_event,
};
use drumfire_plan::{Plan, Pool, Samples, Transcripts};
use drumfire_units::Nanos;

/// The maximum number of events of an agent besides its intervals, samples and exchanges: commands,
/// stops, and bodies of failures.
const EVENTS_MAX: u32 = 65_536;
/// The number of intervals that an agent may report in addition to those that fit into its time.
const INTERVALS_SPARE: u64 = 64;

/// The mistake in a report.
#[derive(Debug)]
enum Wrong {
    /// The content cannot be decoded.
    Unread(FormError),
    /// The content cannot belong to this run.
    Foreign(&'static str),
    /// The counts of all reports together contradict each other.
    Books(String),
}

impl From<FormError> for Wrong {
    fn from(error: FormError) -> Self {
        Self::Unread(error)
    }
}

impl From<BooksError> for Wrong {
    fn from(BooksError(reason): BooksError) -> Self {
        Self::Books(reason)
    }
}

impl Wrong {
    fn distrust(self) -> Distrust {
        let is_of_all = matches!(self, Self::Books(_));
        let reason = match self {
            Self::Unread(error) => format!("it sent a report that can't be read: {error}"),
            Self::Foreign(what) => format!("it sent a report that can't be of this run: {what}"),
            Self::Books(why) => format!("its numbers don't add up: {why}"),
        };
        Distrust { reason, is_of_all }
    }
}

impl Coordinator {
    /// Handles a report. A report of another run or epoch, or one that was already taken, changes
    /// nothing; nor does any report after the run is over. A wrong report is the loss of its agent.
    ///
    /// # Errors
    /// If the bytes are not a report of the share's agent. Nothing has changed.
    pub fn handle_report(&mut self, bytes: &[u8]) -> Result<Vec<CoordinatorAction>, FormError> {
        let mut actions = Vec::new();
        if bytes.is_empty() {
            // An empty report, with which an agent tests whether it may publish.
            return Ok(actions);
        }
        let report = Report::decode(bytes).map_err(|error| self.unread.note(error))?;
        let index = report.share as usize;
        let Some(place) = self.places.get_mut(index).filter(|_| !self.is_over) else {
            return Ok(actions);
        };
        if report.run != self.setup.run || report.epoch != place.assignment.epoch {
            return Ok(actions);
        }
        if report.key != place.beat.key {
            let error = FormError::Malformed("a report on the share of another agent");
            return Err(self.unread.note(error));
        }
        if place.distrust.is_some() {
            return Ok(actions);
        }
        place.inbox.add(report);
        loop {
            match self.take_next(index, &mut actions) {
                Ok(true) => {}
                Ok(false) => return Ok(actions),
                Err(wrong) => {
                    self.distrust(index, wrong.distrust(), &mut actions);
                    return Ok(actions);
                }
            }
        }
    }

    /// Takes the next report of a place in order; `false` if it has not arrived.
    fn take_next(
        &mut self,
        index: usize,
        actions: &mut Vec<CoordinatorAction>,
    ) -> Result<bool, Wrong> {
        let most = content_max(&self.setup.plan);
        let Some((report, content)) = self.places[index].inbox.next(most)? else {
            return Ok(false);
        };
        let entry = Entry::Report(report.encode());
        // The journal must not contain wrong reports, because it is replayed.
        let mut of_content = Vec::new();
        if let Some(content) = content.filter(|_| !self.is_over) {
            self.handle_content(index, content, &mut of_content)?;
            // After each report, so that a replay of single reports has the same result.
            self.close_intervals(&mut of_content);
            self.finish(&mut of_content);
        }
        actions.push(CoordinatorAction::Journal(entry.frame()));
        actions.append(&mut of_content);
        Ok(true)
    }

    /// Takes the content of an agent's report.
    fn handle_content(
        &mut self,
        index: usize,
        content: Content,
        actions: &mut Vec<CoordinatorAction>,
    ) -> Result<(), Wrong> {
        let latest = self.latest();
        let place = &mut self.places[index];
        if place.state == PlaceState::Ended || place.ending.is_some() {
            return Err(Wrong::Foreign("a report after the last one"));
        }
        let Some(info) = &place.info else {
            return Err(Wrong::Foreign("a report of a run without facts"));
        };
        match content {
            Content::Event(bytes) => return self.take_event(index, &bytes, actions),
            Content::Ending(bytes) => {
                let ending = form::decode::<Ending>(&bytes);
                let ending = ending.map_err(|_| FormError::Malformed("an ending"))?;
                check_ending(&ending, info, latest)?;
                place.tally.check()?;
                place.ending = Some(Box::new(ending));
                place.state = match place.is_lost() {
                    true => PlaceState::Lost,
                    false => PlaceState::Ended,
                };
                self.merge.close(index);
            }
            Content::Invalid(reason) => place.own_verdict = Some(reason),
            Content::Expired(at) if at > latest => {
                return Err(Wrong::Foreign("the end of a lease in the future"));
            }
            Content::Expired(at) => {
                place.state = PlaceState::Expiring;
                self.lack(index, at, actions);
            }
        }
        Ok(())
    }

    /// Takes an event of an agent's run.
    fn take_event(
        &mut self,
        index: usize,
        bytes: &[u8],
        actions: &mut Vec<CoordinatorAction>,
    ) -> Result<(), Wrong> {
        let (latest, length) = (self.latest(), self.setup.plan.generator().interval);
        let place = &mut self.places[index];
        let Some(info) = &place.info else {
            return Err(Wrong::Foreign("an event of a run without facts"));
        };
        let malformed = |_| FormError::Malformed("an event");
        if let Some(interval) = interval_of_event(bytes).map_err(malformed)? {
            let interval = Interval::decode_into(&mut self.read, interval, &info.pools);
            let interval = interval.map_err(malformed)?;
            check_span(interval, place, (latest, length))?;
            place.tally.add(interval)?;
            place.reported = interval.end;
            self.contrast.add(index, interval);
            self.merge.add(index, interval, &info.pools);
            return Ok(());
        }
        let event = decode_event(bytes, info).map_err(malformed)?;
        check_event(&event, info, &self.setup.plan)?;
        if !matches!(event, RunEvent::Kept(_) | RunEvent::Transcripts(_)) {
            place.events += 1;
            if place.events > EVENTS_MAX {
                return Err(Wrong::Foreign("too many events"));
            }
        }
        match event {
            RunEvent::Changed(command) => {
                place.changes += 1;
                if place.changes > self.changes {
                    self.changes = place.changes;
                    tell(RunEvent::Changed(command), actions);
                }
            }
            RunEvent::Stopping { reason } => {
                place.has_stopped = true;
                // The expiry of a lease does not end the run.
                if !place.is_lost() {
                    self.stop(reason, actions);
                }
            }
            event @ (RunEvent::Kept(_) | RunEvent::Transcripts(_) | RunEvent::Failed(_)) => {
                tell(event, actions);
            }
            RunEvent::IntervalClosed(_) | RunEvent::Started(_) | RunEvent::Finished(_) => {
                return Err(Wrong::Foreign("an event out of its order"));
            }
        }
        Ok(())
    }

    /// The latest run time that a report may contain: clocks differ by less than a lease.
    fn latest(&self) -> Nanos {
        match self.start.filter(|_| self.now > Nanos::ZERO) {
            Some(start) => self.now - start + LEASE,
            // A replayed report was checked when it arrived.
            None => Nanos::MAX,
        }
    }

    /// Stops taking reports of an agent.
    fn distrust(&mut self, index: usize, distrust: Distrust, actions: &mut Vec<CoordinatorAction>) {
        let now = self.now;
        let Some(start) = self.start else {
            return self.fail(index, distrust.reason, now, actions);
        };
        let at = self.places[index].lost_now(now - start);
        let entry = Entry::Distrusted(index as u32, at, distrust.clone());
        actions.push(CoordinatorAction::Journal(entry.frame()));
        self.set_distrust(index, at, distrust, actions);
    }

    /// Marks an agent as lost at a run time because its report was wrong.
    pub(super) fn set_distrust(
        &mut self,
        index: usize,
        at: Nanos,
        distrust: Distrust,
        actions: &mut Vec<CoordinatorAction>,
    ) {
        let now = self.now;
        let place = &mut self.places[index];
        place.inbox.close();
        place.ending = None;
        place.refusal.get_or_insert_with(|| distrust.reason.clone());
        place.distrust = Some(distrust);
        place.note_lease(now);
        self.lose(index, at, actions);
    }

    /// Why the run stops waiting for an agent that answers; `None` if it continues to wait.
    pub(super) fn is_late(&self, index: usize, now: Nanos) -> Option<String> {
        let place = &self.places[index];
        let late = place.is_late(self.setup.plan.generator().interval);
        let is_ended = self.ended_at.is_some_and(|at| now - at > END_LATE);
        late.or_else(|| {
            let reason = "its last results did not arrive when the run was ended";
            (is_ended && place.goes_on()).then(|| reason.to_owned())
        })
    }
}

/// The maximum size of a content of the plan's agents, in bytes.
fn content_max(plan: &Plan) -> usize {
    let keeps = |pool: &Pool| keeps_samples(pool) || keeps_exchanges(pool);
    match plan.pools().iter().any(keeps) {
        true => CONTENT_BYTES_MAX_KEPT,
        false => CONTENT_BYTES_MAX,
    }
}

fn keeps_samples(pool: &Pool) -> bool {
    pool.samples == Samples::Keep
}

fn keeps_exchanges(pool: &Pool) -> bool {
    pool.transcripts != Transcripts::None
}

/// Rejects an interval that overlaps earlier ones, is in the future, or exceeds the possible
/// number.
fn check_span(
    interval: &Interval,
    place: &Place,
    (latest, length): (Nanos, Nanos),
) -> Result<(), Wrong> {
    let before = match place.tally.intervals {
        0 => Nanos::ZERO,
        _ => place.reported,
    };
    if interval.start < before || interval.end < interval.start {
        return Err(Wrong::Foreign("an interval out of its order"));
    }
    if interval.end > latest {
        return Err(Wrong::Foreign("an interval in the future"));
    }
    let most = interval.end.0 / length.0.max(1) + INTERVALS_SPARE;
    match u64::from(place.tally.intervals) < most {
        true => Ok(()),
        false => Err(Wrong::Foreign("more intervals than there is time for")),
    }
}

/// Rejects an event that the plan does not request, or of an unknown pool.
fn check_event(event: &RunEvent, info: &RunInfo, plan: &Plan) -> Result<(), Wrong> {
    let pools = info.pools.len();
    let is_known = match event {
        RunEvent::Kept(kept) => {
            if !plan.pools().iter().any(keeps_samples) {
                return Err(Wrong::Foreign("samples that the plan does not ask for"));
            }
            let mut kept = kept.iter();
            kept.all(|it| usize::from(it.pool) < pools)
        }
        RunEvent::Transcripts(all) => {
            if !plan.pools().iter().any(keeps_exchanges) {
                return Err(Wrong::Foreign("exchanges that the plan does not ask for"));
            }
            let mut all = all.iter();
            all.all(|it| it.pool < pools)
        }
        RunEvent::Failed(body) => body.pool < pools,
        _ => true,
    };
    match is_known {
        true => Ok(()),
        false => Err(Wrong::Foreign("a pool that the plan does not have")),
    }
}

/// Rejects an ending in the future, or with a request of an unknown pool.
fn check_ending(ending: &Ending, info: &RunInfo, latest: Nanos) -> Result<(), Wrong> {
    let load_end = ending.load_end.at.unwrap_or_default();
    if ending.duration.max(load_end) > latest || !(0.0..=1.0).contains(&ending.steal_share) {
        return Err(Wrong::Foreign("an ending of another run"));
    }
    let mut slowest = LatencyKind::ALL
        .into_iter()
        .flat_map(|kind| ending.slowest.by(kind));
    match slowest.all(|slow| usize::from(slow.pool) < info.pools.len()) {
        true => Ok(()),
        false => Err(Wrong::Foreign("a slow request of an unknown pool")),
    }
}
