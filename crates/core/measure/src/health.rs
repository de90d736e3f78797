//! The generator's own health: measurements of its threads.
//!
//! A worker measures its own thread at the end of each interval ([`WorkerHealth`]). Merged over the
//! run, these become the generator's health ([`GeneratorHealth`]), which [`crate::Verdict`] judges.
//!
//! The kernel's figures are read once per interval and never per request. On some machines they
//! have a resolution of 10 ms, so figures of short spans are noise; the verdict excludes spans that
//! are too short.

use crate::form;
use crate::near_p99::near_p99;
use crate::waits::WaitsApart;
use crate::{ArrivalClock, Blame, DepartureStamps, Figures, Histogram, Outcome, Stamps, Waits};
use drumfire_units::Nanos;

/// A worker thread's measurements of itself, and of the whole process (`memory`). Merges by
/// addition, except the busiest share and the memory, which merge by maximum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerHealth {
    /// CPU time used, user and system.
    pub cpu: Nanos,
    /// The elapsed time; in merged figures, the sum over the workers.
    pub wall: Nanos,
    /// The time in which the thread was ready to run but another thread had its core.
    pub run_queue_delay: Nanos,
    /// Time from one wait of the event loop to the next.
    pub loop_turn: Histogram,
    /// How late the wait for a due time returned.
    pub wake_lateness: Histogram,
    /// The time from the end of a response, by the kernel's clock, until the worker handled it;
    /// empty if ends are timed by the program's clock.
    pub handling: Histogram,
    /// The kernel's time stamps of received bytes.
    pub stamps: Stamps,
    /// The time from passing a request to the kernel to its departure, by the kernel's clock; empty
    /// without time stamps of departures.
    pub leaving: Histogram,
    /// The kernel's time stamps of departed requests.
    pub departures: DepartureStamps,
    /// The maximum CPU share of a worker, in millionths, without the time spent on polling.
    pub busiest_share_ppm: u32,
    /// The maximum resident memory of the program, in bytes; 0 if it is unknown.
    pub memory: u64,
    /// The waits of workers that poll before they sleep.
    pub waits: Waits,
}

form! {
    struct WorkerHealth {
        cpu, wall, run_queue_delay, busiest_share_ppm, memory, loop_turn, wake_lateness, stamps,
        handling, departures, leaving, waits as WaitsApart,
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
        self.waits.merge(other.waits);
    }

    /// Resets all values and keeps the memory.
    pub fn reset(&mut self) {
        self.cpu = Nanos::ZERO;
        self.wall = Nanos::ZERO;
        self.run_queue_delay = Nanos::ZERO;
        self.loop_turn.reset();
        self.wake_lateness.reset();
        self.handling.reset();
        self.stamps = Stamps::default();
        self.leaving.reset();
        self.departures = DepartureStamps::default();
        self.busiest_share_ppm = 0;
        self.memory = 0;
        self.waits = Waits::default();
    }
}

/// The generator's health over a whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorHealth {
    /// The number of worker threads.
    pub threads: u32,
    /// The maximum CPU share of a worker thread, without the time spent on polling, from 0 to 1.
    pub cpu_share_max: f64,
    /// The 99th percentile of an event loop's turn; with too few turns, the highest percentile that
    /// they support.
    pub loop_turn_p99: Nanos,
    /// The 99th percentile of how late a wait returned; with few waits, as for
    /// [`Self::loop_turn_p99`].
    pub wake_lateness_p99: Nanos,
    /// The clock with which exchanges were timed.
    pub clock: ArrivalClock,
    /// The median of the time from the end of a response, by the kernel's clock, until the worker
    /// handled it; 0 by the program's clock.
    pub handling_p50: Nanos,
    /// The 99th percentile for [`Self::handling_p50`]; with few responses, as for
    /// [`Self::loop_turn_p99`].
    pub handling_p99: Nanos,
    /// The kernel's time stamps of received bytes.
    pub stamps: Stamps,
    /// The median of the time from passing a request to the kernel to its departure.
    pub leaving_p50: Nanos,
    /// The 99th percentile for [`Self::leaving_p50`]; with few requests, as for
    /// [`Self::loop_turn_p99`].
    pub leaving_p99: Nanos,
    /// The kernel's time stamps of departed requests.
    pub departures: DepartureStamps,
    /// The time in which workers were ready to run but did not, summed.
    pub run_queue_delay: Nanos,
    /// The share of CPU time that the hypervisor took from this machine, from 0 to 1.
    pub steal_share: f64,
    /// The maximum resident memory of this program, in bytes; 0 if it is unknown.
    pub memory_max: u64,
    /// Connections that were opened.
    pub connections_opened: u64,
    /// Whether workers spin before a due time, which makes their CPU share meaningless.
    pub spin: bool,
    /// The waits of workers that poll before they sleep.
    pub waits: Waits,
    /// The share of the workers' time that they spent on polling, from 0 to 1.
    pub polled_share: f64,
    /// The exhausted resources of this program or its machine: the `local:*` outcomes that
    /// occurred.
    pub limited_by: Vec<Outcome>,
}

impl GeneratorHealth {
    /// The generator's health, from a run's figures and its workers' measurements. The share of
    /// stolen time and the use of spinning do not follow from them; the caller must set both.
    #[must_use]
    pub fn from_figures(total: &Figures, health: &WorkerHealth, threads: u32) -> Self {
        Self {
            threads,
            cpu_share_max: f64::from(health.busiest_share_ppm) / 1e6,
            loop_turn_p99: shown(&health.loop_turn),
            wake_lateness_p99: shown(&health.wake_lateness),
            clock: ArrivalClock::from_stamps(health.stamps, health.departures),
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
            waits: health.waits,
            polled_share: health.waits.polled.0 as f64 / health.wall.0.max(1) as f64,
            limited_by: limits_reached(total),
        }
    }
}

/// The highest percentile for which there are enough samples; the maximum if there are too few for
/// any.
fn shown(times: &Histogram) -> Nanos {
    near_p99(times).map_or_else(|| times.max(), |(_, time)| time)
}

/// The generator's own failures, by kind. An exchange that the end of the run cut off is the
/// generator's doing, but not a limit.
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
