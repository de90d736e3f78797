//! A cluster's run, as observers see it.
//!
//! [`relayed`] is the body of [`drumfire_engine::Run::relayed`]. It accumulates the events of the
//! coordinator, as the collector of a single process does with the messages of its workers, and
//! forwards the wishes of observers.

use crate::event::{ClusterEvent, Loss};
use crate::told::Told;
use drumfire_engine::{Relay, RunError};
use drumfire_measure::{Changed, Doubt, Ending, Reading, RunEvent, RunInfo, Summary};
use drumfire_net::Clock;
use drumfire_plan::{Command, Plan, StopReason, Warmup};
use drumfire_units::Nanos;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// The time between two checks for commands, a small part of their lead.
const LOOK: Duration = Duration::from_millis(50);

/// A request of an observer to the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// A command, with the time from which it takes effect.
    Command(Command),
    /// Stops the load. With `true`, requests in flight are aborted too.
    Halt(StopReason, bool),
}

/// The state of an active run.
struct RelayedRun<'a> {
    relay: &'a Relay<'a>,
    reading: Reading,
    losses: Vec<Loss>,
    notes: Vec<String>,
    end: Nanos,
}

/// Follows a run to its end; `start` is the start by `clock`.
///
/// # Errors
/// If the agents cannot continue, or the coordinator's thread has ended.
pub fn relayed(
    relay: &Relay<'_>,
    (info, plan): (&Arc<RunInfo>, &Plan),
    (clock, start): (Clock, Nanos),
    events: &mut Told,
    wish: &dyn Fn(Wish),
) -> Result<Arc<Summary>, RunError> {
    events.commands().iter().for_each(|it| relay.restore(it));
    let mut commands = relay.commands(0).len();
    relay.set_start(clock, start, crate::lease::COMMAND_LEAD);
    let mut books = RelayedRun {
        relay,
        reading: Reading::new(Arc::clone(info), plan.thresholds()),
        losses: Vec::new(),
        notes: Vec::new(),
        end: Nanos::ZERO,
    };
    books.start_run(clock, start);
    let mut halt = None;
    loop {
        let new = relay.commands(commands);
        commands += new.len();
        new.iter()
            .for_each(|command| wish(Wish::Command(Command::clone(command))));
        if let Some((reason, ends)) = relay.halt()
            && halt != Some((reason, ends))
        {
            halt = Some((reason, ends));
            books.stop(reason);
            wish(Wish::Halt(reason, ends));
        }
        match events.next(LOOK) {
            Ok(ClusterEvent::Over { endings, lost_at }) => return Ok(books.close(endings, lost_at)),
            Ok(ClusterEvent::Failed(reason)) => return Err(RunError::Elsewhere(reason)),
            Ok(event) => books.handle_event(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let reason = "the connection to the agents ended";
                return Err(RunError::Elsewhere(reason.to_owned()));
            }
        }
    }
}

impl RelayedRun<'_> {
    fn start_run(&mut self, clock: Clock, start: Nanos) {
        let now = clock.now();
        let unix = Clock::unix_time();
        self.reading
            .start_at((unix + start.0).saturating_sub(now.0));
        let info = Arc::clone(&self.reading.so_far().info);
        self.relay.publish(RunEvent::Started(info));
    }

    fn handle_event(&mut self, event: ClusterEvent) {
        match event {
            ClusterEvent::Run(event) => self.publish(event),
            ClusterEvent::Suspect(note) => self.reading.doubt(Doubt {
                text: note,
                unknown: 0.0,
            }),
            ClusterEvent::Lost(loss) => self.losses.push(loss),
            ClusterEvent::Note(note) => self.notes.push(note),
            ClusterEvent::Kept => self.relay.keep(),
            ClusterEvent::Aborted => self.stop(StopReason::AgentLost),
            ClusterEvent::Gathered(..) | ClusterEvent::Over { .. } | ClusterEvent::Failed(_) => {}
        }
    }

    fn publish(&mut self, event: RunEvent) {
        match &event {
            // Late results of a lost agent count at their time of the run, but do not affect
            // thresholds.
            RunEvent::IntervalClosed(interval) if interval.start < self.end => {
                self.end = self.end.max(interval.end);
                self.reading.absorb_late(interval);
            }
            RunEvent::IntervalClosed(interval) => {
                self.end = self.end.max(interval.end);
                self.reading.absorb(interval);
                if self.reading.ends_run(interval.end) {
                    self.relay.control().stop(StopReason::Threshold);
                }
            }
            RunEvent::Failed(body) => self.reading.add_failed_body((**body).clone()),
            RunEvent::Changed(command) => self.reading.note_change(&Changed::by(command)),
            RunEvent::Stopping { reason } => self.reading.note_stop(*reason),
            _ => {}
        }
        self.relay.publish(event);
    }

    /// The run time until which load was requested: the end of the load if agents have reached it.
    /// If all agents are lost, the last loss is noticed only seconds after the last request, and
    /// the plan or a stop may have ended the load before.
    fn asked_until(&self, load_end: Option<Nanos>, lost_at: Option<Nanos>) -> Nanos {
        let planned = self.relay.control().load_end();
        match lost_at {
            Some(lost_at) => planned.map_or(lost_at, |planned| planned.min(lost_at)),
            None => load_end.unwrap_or(self.end),
        }
    }

    /// Publishes that an observer in this process ended the load.
    fn stop(&mut self, reason: StopReason) {
        self.publish(RunEvent::Stopping { reason });
    }

    /// Closes the run. Values that do not follow from intervals are the sum or the worst of the
    /// agents' values.
    fn close(mut self, endings: Vec<Ending>, lost_at: Option<Nanos>) -> Arc<Summary> {
        let mut duration = Nanos::ZERO;
        let mut steal = 0.0_f64;
        let mut load_end = None;
        for mut ending in endings {
            duration = duration.max(ending.duration);
            steal = steal.max(ending.steal_share);
            load_end = load_end.max(ending.load_end.at);
            for slow in ending.slowest.take() {
                self.reading.add_slow(slow);
            }
        }
        if let Some(at) = load_end {
            self.reading.end_load(at);
        }
        let span = self.asked_until(load_end, lost_at);
        for loss in std::mem::take(&mut self.losses) {
            self.reading.doubt(loss.over(span));
        }
        // A detected warm-up is subtracted below.
        let warmup = self.reading.so_far().info.warmup;
        if warmup == Warmup::Auto || duration == Nanos::ZERO {
            duration = self.end - warmup.span();
        }
        let mut summary = self.reading.close(duration, steal);
        self.notes.extend(open_note(summary.total.untimed()));
        Arc::make_mut(&mut summary.info).notes.extend(self.notes);
        let summary = Arc::new(summary);
        self.relay.publish(RunEvent::Finished(Arc::clone(&summary)));
        summary
    }
}

/// The note on requests that were in flight when their agents were lost.
fn open_note(untimed: u64) -> Option<String> {
    let (open, count) = match untimed {
        0 => return None,
        1 => ("1 request was".to_owned(), "it counts"),
        many => (format!("{many} requests were"), "they count"),
    };
    Some(format!(
        "{open} open with an agent when it was lost; {count} as in flight or pending, without a \
         time"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Lack;
    use drumfire_engine::Run;
    use drumfire_measure::{LoadAnswer, Model, PoolInfo};
    use std::sync::mpsc;

    /// A load of ten seconds that is accounted for during its first eight seconds, in which all
    /// agents are lost at `lost_at`.
    fn load(lost_at: Nanos) -> LoadAnswer {
        let plan = drumfire_testkit::open("const(100/s,10s)").connections(4);
        let plan = plan.plan().unwrap();
        let info = Arc::new(RunInfo::new(vec![PoolInfo::new("p", Model::Open, ["a"])]));
        let (told, coming) = mpsc::channel();
        let lack = Lack {
            share: 1.0,
            from: Nanos::from_secs(8),
            until: None,
        };
        let loss = Loss {
            text: "all are lost".to_owned(),
            lacks: vec![lack],
        };
        let reason = StopReason::Lost;
        told.send(ClusterEvent::Run(RunEvent::Stopping { reason }))
            .unwrap();
        told.send(ClusterEvent::Lost(loss)).unwrap();
        let over = ClusterEvent::Over {
            endings: Vec::new(),
            lost_at: Some(lost_at),
        };
        told.send(over).unwrap();
        let mut told = Told::new(None, Vec::new(), coming);
        let clock = Clock::start();
        let of_run = plan.clone();
        let run = Run::relayed(&plan, move |relay| {
            let facts = (&info, &of_run);
            relayed(relay, facts, (clock, clock.now()), &mut told, &|_wish| {})
        });
        run.unwrap().join().unwrap().load.clone()
    }

    /// The loss of agents is noticed seconds after their last request: no load was requested after
    /// the plan's end, nor after a stop.
    #[test]
    fn nothing_is_unknown_behind_the_end_of_the_load() {
        for (lost_at, expected) in [(13, 0.8), (10, 0.8), (9, 8.0 / 9.0), (8, 1.0)] {
            let load = load(Nanos::from_secs(lost_at));
            let sent = load.sent_share;
            assert!((sent - expected).abs() < 0.002, "{lost_at}: {sent}");
            assert_eq!(
                load.kept,
                Some(false),
                "nothing was left to send it: {load:?}"
            );
        }
    }
}
