//! Runs with different clocks, whose latencies differ even if their targets do not.
//!
//! A latency by the program's clock includes the time until drumfire read the response, and, next
//! to a run on the wire, the time until the kernel sent the request. A run with kernel timestamps
//! contains both times, and they are the bound: a smaller shift of a latency is not the target's.

use crate::compared::Compared;
use crate::figure::Figure;
use drumfire_measure::ArrivalClock;
use drumfire_units::Nanos;

/// By how much the latencies of a comparison may differ because of their clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockGap {
    p50: Nanos,
    p99: Nanos,
}

impl ClockGap {
    /// The greatest delays of the runs with kernel timestamps; `None` if all runs have one clock.
    pub(crate) fn new<'a>(runs: impl IntoIterator<Item = &'a Compared>) -> Option<Self> {
        let healths: Vec<_> = runs
            .into_iter()
            .map(|run| &run.summary().generator)
            .collect();
        if healths
            .windows(2)
            .all(|pair| pair[0].clock == pair[1].clock)
        {
            return None;
        }
        let stamped = healths
            .iter()
            .filter(|health| health.clock != ArrivalClock::Program);
        let gaps = stamped.map(|health| Self {
            p50: health.handling_p50 + health.leaving_p50,
            p99: health.handling_p99 + health.leaving_p99,
        });
        gaps.reduce(|one, other| Self {
            p50: one.p50.max(other.p50),
            p99: one.p99.max(other.p99),
        })
    }

    /// The least shift of a figure with this base that the clocks do not explain; 0 for figures
    /// that do not depend on them.
    pub(crate) fn least(self, figure: Figure, base: f64) -> f64 {
        match figure {
            Figure::Latency(_, q) if q <= 0.5 => self.p50.0 as f64 / base,
            Figure::Latency(..) => self.p99.0 as f64 / base,
            Figure::Failed | Figure::Rate => 0.0,
        }
    }

    /// What a reader of the comparison should know.
    pub(crate) fn caution(self) -> String {
        format!(
            "The runs have different clocks: times by the program's clock include its own delay, which was {} (p50) \
             and {} (p99) in the runs with kernel timestamps. A smaller shift of a latency is not the target's.",
            self.p50, self.p99
        )
    }
}
