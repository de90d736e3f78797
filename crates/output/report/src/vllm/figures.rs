//! The figures of a result, by vLLM's formulas.

use super::{Answered, VllmTally};
use drumfire_units::Nanos;

/// A time that vLLM reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VllmMetric {
    /// Time to first token.
    Ttft,
    /// Time per output token, without the first.
    Tpot,
    /// The gaps between events, of all answers together.
    Itl,
    /// From the start to the last token.
    E2el,
    /// The wait for a free connection.
    ClientQueueTime,
    /// From when the request was due to the last token.
    E2elIncludingClientQueue,
}

impl VllmMetric {
    /// All metrics, in the order of vLLM's report.
    pub const ALL: [Self; 6] = [
        Self::Ttft,
        Self::Tpot,
        Self::Itl,
        Self::E2el,
        Self::ClientQueueTime,
        Self::E2elIncludingClientQueue,
    ];

    /// The name on the command line, and within the keys of the JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ttft => "ttft",
            Self::Tpot => "tpot",
            Self::Itl => "itl",
            Self::E2el => "e2el",
            Self::ClientQueueTime => "client_queue_time",
            Self::E2elIncludingClientQueue => "e2el_including_client_queue",
        }
    }

    /// The name in the rows of the table.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Ttft => "TTFT",
            Self::Tpot => "TPOT",
            Self::Itl => "ITL",
            Self::E2el => "E2EL",
            Self::ClientQueueTime => "Client Queue Time",
            Self::E2elIncludingClientQueue => "E2EL incl. Client Queue",
        }
    }

    /// The header of the section in the table.
    pub(super) const fn header(self) -> &'static str {
        match self {
            Self::Ttft => "Time to First Token",
            Self::Tpot => "Time per Output Token (excl. 1st token)",
            Self::Itl => "Inter-token Latency",
            Self::E2el => "End-to-end Latency",
            Self::ClientQueueTime => "Client-side Queueing",
            Self::E2elIncludingClientQueue => "Queue-inclusive End-to-end Latency",
        }
    }
}

/// The mean, the standard deviation and the percentiles of a time, in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Times {
    /// In ascending order.
    sorted: Vec<f64>,
    pub(super) mean: f64,
    /// Of the population.
    pub(super) std: f64,
}

impl Times {
    /// Of times in nanoseconds; 0 without any.
    fn new(times: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = times.map(|ns| ns / 1e6).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let count = sorted.len().max(1) as f64;
        // The sum of nothing is −0.
        let mean = (sorted.iter().sum::<f64>() + 0.0) / count;
        let squares: f64 = sorted.iter().map(|time| (time - mean).powi(2)).sum();
        Self {
            mean,
            std: (squares / count).sqrt(),
            sorted,
        }
    }

    /// The percentile by linear interpolation: at the place (n − 1) · p ÷ 100 among the sorted
    /// times. `percent` is from 0 to 100.
    pub(super) fn percentile(&self, percent: f64) -> f64 {
        let Some(last) = self.sorted.len().checked_sub(1) else {
            return 0.0;
        };
        let at = last as f64 * (percent / 100.0).clamp(0.0, 1.0);
        let low = at.floor() as usize;
        let (a, b) = (self.sorted[low], self.sorted[(low + 1).min(last)]);
        a + (b - a) * (at - low as f64)
    }
}

/// The word for a percentile in labels and keys: `99`, or `99.9`.
#[must_use]
pub fn percentile_word(percent: f64) -> String {
    percent.to_string()
}

/// The figures of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct VllmFigures {
    /// From the start of the run to the end of the last answer, in seconds.
    pub duration: f64,
    /// Answers that succeeded.
    pub completed: u64,
    /// Answers that failed.
    pub failed: u64,
    /// Tokens of the prompts of completed answers.
    pub input: u64,
    /// Generated tokens of completed answers.
    pub output: u64,
    /// Completed answers within all limits.
    pub good: u64,
    /// The number of events with tokens in the fullest second, counted from the first start.
    pub peak_tokens: u64,
    /// The maximum number of answers at a time.
    pub peak_requests: u64,
    /// The figures of probes, if there were any.
    pub(super) probes: Option<Probes>,
    times: Vec<(VllmMetric, Times)>,
}

/// The figures of the small requests beside the load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Probes {
    pub(super) completed: u64,
    pub(super) failed: u64,
    /// From the start to the last token.
    pub(super) end_to_end: Times,
}

impl VllmFigures {
    /// The figures with those of probes.
    #[must_use]
    pub fn with_probes(self, tally: &VllmTally) -> Self {
        let completed = tally.answers.iter().filter(|probe| probe.is_ok()).count() as u64;
        Self {
            probes: Some(Probes {
                completed,
                failed: tally.answers.len() as u64 - completed,
                end_to_end: times(VllmMetric::E2el, tally),
            }),
            ..self
        }
    }

    /// The figures of a tally that is closed. An answer is good if none of its times exceeds its
    /// limit in milliseconds.
    #[must_use]
    pub fn new(tally: &VllmTally, limits: &[(VllmMetric, f64)]) -> Self {
        let ok = || tally.answers.iter().filter(|answer| answer.is_ok());
        let completed = ok().count() as u64;
        let end = tally.answers.iter().map(|answer| answer.last).max();
        let good = ok().filter(|answer| is_good(answer, limits)).count();
        let times = VllmMetric::ALL.map(|metric| (metric, times(metric, tally)));
        Self {
            duration: end.unwrap_or_default().as_secs_f64(),
            completed,
            failed: tally.answers.len() as u64 - completed,
            input: ok().map(|answer| u64::from(answer.input)).sum(),
            output: ok().map(|answer| u64::from(answer.output)).sum(),
            good: good as u64,
            peak_tokens: peak_tokens(tally),
            peak_requests: peak_requests(tally),
            probes: None,
            times: times.into(),
        }
    }

    /// A count per second of the duration; 0 if nothing took any time.
    #[must_use]
    pub fn per_second(&self, count: u64) -> f64 {
        match self.duration > 0.0 {
            true => count as f64 / self.duration,
            false => 0.0,
        }
    }

    pub(super) fn times(&self, metric: VllmMetric) -> &Times {
        &self.times[metric as usize].1
    }
}

/// The times of completed answers.
fn times(metric: VllmMetric, tally: &VllmTally) -> Times {
    let ok = tally.answers.iter().filter(|answer| answer.is_ok());
    let ns = |time: Nanos| time.0 as f64;
    match metric {
        VllmMetric::Ttft => Times::new(ok.filter_map(Answered::ttft).map(ns)),
        VllmMetric::Tpot => Times::new(ok.filter_map(Answered::tpot)),
        VllmMetric::Itl => Times::new(ok.flat_map(|answer| &answer.gaps).map(|gap| ns(*gap))),
        VllmMetric::E2el => Times::new(ok.map(Answered::end_to_end).map(ns)),
        VllmMetric::ClientQueueTime => Times::new(ok.map(Answered::queued).map(ns)),
        VllmMetric::E2elIncludingClientQueue => {
            Times::new(ok.map(|answer| ns(answer.last - answer.intended)))
        }
    }
}

/// An answer of one token has a time per token of 0.
fn is_good(answer: &Answered, limits: &[(VllmMetric, f64)]) -> bool {
    limits.iter().all(|(metric, limit)| {
        let ns = match metric {
            VllmMetric::Ttft => answer.ttft().unwrap_or_default().0 as f64,
            VllmMetric::Tpot => answer.tpot().unwrap_or(0.0),
            _ => answer.end_to_end().0 as f64,
        };
        ns / 1e6 <= *limit
    })
}

fn peak_tokens(tally: &VllmTally) -> u64 {
    let start = tally.answers.iter().map(|answer| answer.began).min();
    let start = start.unwrap_or_default();
    let mut seconds: Vec<u64> = Vec::new();
    for answer in tally.answers.iter().filter(|answer| answer.is_ok()) {
        let mut at = answer.first;
        let mut gaps = answer.gaps.iter();
        while let Some(time) = at {
            let second = ((time - start).0 / 1_000_000_000) as usize;
            if seconds.len() <= second {
                seconds.resize(second + 1, 0);
            }
            seconds[second] += 1;
            at = gaps.next().map(|gap| time + *gap);
        }
    }
    seconds.into_iter().max().unwrap_or(0)
}

/// The maximum over time of the completed answers between their start and their end, excluded.
fn peak_requests(tally: &VllmTally) -> u64 {
    let ok = tally.answers.iter().filter(|answer| answer.is_ok());
    // At one moment, ends come before starts.
    let mut changes: Vec<(Nanos, bool)> = ok
        .flat_map(|answer| [(answer.began, true), (answer.last, false)])
        .collect();
    changes.sort_unstable();
    let (mut open, mut peak) = (0_u64, 0);
    for (_, is_start) in changes {
        open = match is_start {
            true => open + 1,
            false => open.saturating_sub(1),
        };
        peak = peak.max(open);
    }
    peak
}
