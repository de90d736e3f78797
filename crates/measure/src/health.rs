//! The generator's own health: measurements of its threads.
//!
//! A worker measures its own thread at the end of each interval ([`WorkerHealth`]). Merged over the
//! run they become the generator's account ([`GeneratorHealth`]), which [`crate::Verdict`] judges.
//!
//! The kernel's figures are read once an interval and never per request. They come in ticks of up
//! to 10 ms on some machines, so that figures of short spans are noise; the verdict knows which
//! spans are too short.

use crate::form;
use crate::near_p99::near_p99;
use crate::{ArrivalClock, Blame, Departures, Figures, Histogram, Outcome, Stamps};
use drumfire_units::Nanos;

/// A worker thread's measurements of itself, and of the whole process (`memory`). Merges by
/// addition, the busiest share and the memory by maximum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerHealth {
    /// CPU time used, user and system.
    pub cpu: Nanos,
    /// Time that passed; of merged ones, summed over the workers.
    pub wall: Nanos,
    /// Time that the thread was ready to run and did not, since another had its core.
    pub run_queue_delay: Nanos,
    /// Time from one wait of the event loop to the next.
    pub loop_turn: Histogram,
    /// The time by which a wait for a due time returned too late.
    pub wake_lateness: Histogram,
    /// The time from the end of a response, by the kernel's clock, to the hand of the worker; nothing
    /// where ends are timed by the program's clock.
    pub handling: Histogram,
    /// The kernel's stamps of what was received.
    pub stamps: Stamps,
    /// The time from the hand-over of a request to its departure, by the kernel's clock; nothing
    /// where departures have no stamps.
    pub leaving: Histogram,
    /// The kernel's stamps of requests that left.
    pub departures: Departures,
    /// The greatest CPU share of a worker, in millionths.
    pub busiest_share_ppm: u32,
    /// The most resident memory of the whole program, in bytes; 0 where it is not known.
    pub memory: u64,
}

form! {
    struct WorkerHealth {
        cpu, wall, run_queue_delay, busiest_share_ppm, memory, loop_turn, wake_lateness, stamps,
        handling, departures, leaving,
    }
}

impl WorkerHealth {
    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.cpu += other.cpu;
        self.wall += other.wall;
        self.run_queue_delay += other.run_queue_delay;
        self.loop_turn.merge(&other.loop_turn);
        self.wake_lateness.merge(&other.wake_lateness);
        self.handling.merge(&other.handling);
        self.stamps.merge(other.stamps);
        self.leaving.merge(&other.leaving);
        self.departures.merge(other.departures);
        self.busiest_share_ppm = self.busiest_share_ppm.max(other.busiest_share_ppm);
        self.memory = self.memory.max(other.memory);
    }

    /// Forgets everything and keeps the memory.
    pub fn reset(&mut self) {
        self.cpu = Nanos::ZERO;
        self.wall = Nanos::ZERO;
        self.run_queue_delay = Nanos::ZERO;
        self.loop_turn.reset();
        self.wake_lateness.reset();
        self.handling.reset();
        self.stamps = Stamps::default();
        self.leaving.reset();
        self.departures = Departures::default();
        self.busiest_share_ppm = 0;
        self.memory = 0;
    }
}

/// The generator's health over a whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorHealth {
    /// Worker threads.
    pub threads: u32,
    /// The greatest CPU share of a worker thread, 0 to 1.
    pub cpu_share_max: f64,
    /// The 99th percentile of an event loop's turn; where there are too few turns for it, the
    /// strictest percentile that they support.
    pub loop_turn_p99: Nanos,
    /// The same of how late a wait returned.
    pub wake_lateness_p99: Nanos,
    /// The clock by which exchanges were timed.
    pub clock: ArrivalClock,
    /// The median and the 99th percentile of the time from the end of a response by the kernel's
    /// clock to the hand of the worker, the latter as [`Self::loop_turn_p99`]; 0 by the program's.
    pub handling_p50: Nanos,
    /// See [`Self::handling_p50`].
    pub handling_p99: Nanos,
    /// The kernel's stamps.
    pub stamps: Stamps,
    /// The median and the 99th percentile of the time from the hand-over of a request to its
    /// departure, as [`Self::handling_p99`].
    pub leaving_p50: Nanos,
    /// See [`Self::leaving_p50`].
    pub leaving_p99: Nanos,
    /// The kernel's stamps of requests that left.
    pub departures: Departures,
    /// Time that workers were ready to run and did not, summed.
    pub run_queue_delay: Nanos,
    /// The share of CPU time that the hypervisor took from this machine, 0 to 1.
    pub steal_share: f64,
    /// The most resident memory of this program, in bytes; 0 where it is not known.
    pub memory_max: u64,
    /// Connections that were opened.
    pub connections_opened: u64,
    /// Whether workers spin before a due time, which makes their CPU share meaningless.
    pub spin: bool,
    /// The exhausted resources of this program or its machine: the outcomes `local:*` that were
    /// seen.
    pub limited_by: Vec<Outcome>,
}

impl GeneratorHealth {
    /// The generator's health, from a run's figures and its workers' measurements. The share of
    /// stolen time and the use of spinning do not follow from them: the caller sets both.
    #[must_use]
    pub fn of(total: &Figures, health: &WorkerHealth, threads: u32) -> Self {
        Self {
            threads,
            cpu_share_max: f64::from(health.busiest_share_ppm) / 1e6,
            loop_turn_p99: shown(&health.loop_turn),
            wake_lateness_p99: shown(&health.wake_lateness),
            clock: ArrivalClock::of(health.stamps, health.departures),
            handling_p50: health.handling.quantile(0.5).unwrap_or_default(),
            handling_p99: shown(&health.handling),
            stamps: health.stamps,
            leaving_p50: health.leaving.quantile(0.5).unwrap_or_default(),
            leaving_p99: shown(&health.leaving),
            departures: health.departures,
            run_queue_delay: health.run_queue_delay,
            steal_share: 0.0,
            memory_max: health.memory,
            connections_opened: total.connections.opened,
            spin: false,
            limited_by: limits_reached(total),
        }
    }
}

/// The strictest percentile that there are samples for; the greatest time where there are hardly
/// any.
fn shown(times: &Histogram) -> Nanos {
    near_p99(times).map_or_else(|| times.max(), |(_, time)| time)
}

/// The generator's own failures, as kinds. An exchange that the end of the run cut off is the
/// generator's doing but no limit of it.
fn limits_reached(figures: &Figures) -> Vec<Outcome> {
    figures
        .outcomes()
        .failures()
        .map(|(outcome, _)| outcome)
        .filter(|outcome| {
            outcome.blame() == Some(Blame::Generator) && *outcome != Outcome::LocalCancelled
        })
        .collect()
}
