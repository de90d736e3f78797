//! The figures of the mock, as vLLM names them.

use super::batch::StreamSeats;
use super::form::Finish;
use crate::counters::Tally;
use drumfire_units::Nanos;
use std::fmt::Write as _;

/// The upper bounds of the buckets of a histogram, in microseconds.
const BOUNDS: [u64; 16] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 75_000, 100_000, 250_000, 500_000, 750_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000, 60_000_000,
];

/// One worker's figures.
#[derive(Debug, Default)]
pub(crate) struct LlmMetrics {
    running: Tally,
    waiting: Tally,
    prompt_tokens: Tally,
    output_tokens: Tally,
    cached_tokens: Tally,
    finished: [Tally; 3],
    ttft: TimeHistogram,
    itl: TimeHistogram,
    whole: TimeHistogram,
}

/// A histogram of times.
#[derive(Debug, Default)]
struct TimeHistogram {
    counts: [Tally; BOUNDS.len()],
    count: Tally,
    sum: Tally,
}

impl TimeHistogram {
    fn record(&self, time: Nanos) {
        let bucket = BOUNDS.iter().position(|bound| time.0 <= bound * 1_000);
        if let Some(bucket) = bucket {
            self.counts[bucket].add(1);
        }
        self.count.add(1);
        self.sum.add(time.0);
    }

    /// Appends the sum of these histograms.
    fn print<'a>(name: &str, all: impl Fn() -> Vec<&'a Self>, out: &mut String) {
        let sum = |part: fn(&Self) -> &Tally| all().iter().map(|it| part(it).value()).sum::<u64>();
        // Writing to a String can't fail.
        let _ = writeln!(out, "# TYPE vllm:{name} histogram");
        let mut below = 0;
        for (n, bound) in BOUNDS.iter().enumerate() {
            below += all().iter().map(|it| it.counts[n].value()).sum::<u64>();
            let bound = *bound as f64 / 1e6;
            let _ = writeln!(out, "vllm:{name}_bucket{{le=\"{bound}\"}} {below}");
        }
        let count = sum(|it| &it.count);
        let _ = writeln!(out, "vllm:{name}_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(out, "vllm:{name}_count {count}");
        let _ = writeln!(out, "vllm:{name}_sum {}", sum(|it| &it.sum) as f64 / 1e9);
    }
}

impl LlmMetrics {
    /// Records the tokens of a prompt.
    pub(crate) fn prompt(&self, tokens: u32, cached: u32) {
        self.prompt_tokens.add(tokens.into());
        self.cached_tokens.add(cached.into());
    }

    /// Records the time of a first token.
    pub(crate) fn first_token(&self, time: Nanos) {
        self.ttft.record(time);
    }

    /// Records the time between two events with tokens.
    pub(crate) fn gap(&self, time: Nanos) {
        self.itl.record(time);
    }

    /// Records tokens that were written.
    pub(crate) fn tokens(&self, tokens: u32) {
        self.output_tokens.add(tokens.into());
    }

    /// Records a complete answer.
    pub(crate) fn ended(&self, finish: Option<Finish>, time: Nanos) {
        self.whole.record(time);
        let index = match finish.unwrap_or(Finish::Stop) {
            Finish::Stop => 0,
            Finish::Length => 1,
            Finish::Tool => 2,
        };
        self.finished[index].add(1);
    }

    /// Records the streams in progress and the waiting requests.
    pub(crate) fn set_load(&self, batch: &StreamSeats) {
        self.running.set(batch.running().into());
        self.waiting.set(batch.waiting() as u64);
    }
}

/// The sum of all workers' figures, in Prometheus' text form.
pub(crate) fn print<'a>(workers: impl Iterator<Item = &'a LlmMetrics>) -> String {
    let workers: Vec<&LlmMetrics> = workers.collect();
    let sum = |part: fn(&LlmMetrics) -> &Tally| {
        let parts = workers.iter().map(|worker| part(worker).value());
        parts.sum::<u64>()
    };
    let mut out = String::new();
    for (name, kind, value) in [
        ("num_requests_running", "gauge", sum(|it| &it.running)),
        ("num_requests_waiting", "gauge", sum(|it| &it.waiting)),
        (
            "prompt_tokens_total",
            "counter",
            sum(|it| &it.prompt_tokens),
        ),
        (
            "generation_tokens_total",
            "counter",
            sum(|it| &it.output_tokens),
        ),
        (
            "prefix_cache_queries_total",
            "counter",
            sum(|it| &it.prompt_tokens),
        ),
        (
            "prefix_cache_hits_total",
            "counter",
            sum(|it| &it.cached_tokens),
        ),
        ("num_preemptions_total", "counter", 0),
    ] {
        // Writing to a String can't fail.
        let _ = writeln!(out, "# TYPE vllm:{name} {kind}\nvllm:{name} {value}");
    }
    out.push_str("# TYPE vllm:request_success_total counter\n");
    for (index, finish) in [Finish::Stop, Finish::Length, Finish::Tool]
        .into_iter()
        .enumerate()
    {
        let count: u64 = workers.iter().map(|it| it.finished[index].value()).sum();
        let reason = finish.reason();
        let _ = writeln!(
            out,
            "vllm:request_success_total{{finished_reason=\"{reason}\"}} {count}"
        );
    }
    let of = |part: fn(&LlmMetrics) -> &TimeHistogram| -> Vec<&TimeHistogram> {
        workers.iter().map(|worker| part(worker)).collect()
    };
    TimeHistogram::print(
        "time_to_first_token_seconds",
        || of(|it| &it.ttft),
        &mut out,
    );
    TimeHistogram::print("inter_token_latency_seconds", || of(|it| &it.itl), &mut out);
    TimeHistogram::print(
        "e2e_request_latency_seconds",
        || of(|it| &it.whole),
        &mut out,
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_add_up_to_one_text() {
        let (a, b) = (LlmMetrics::default(), LlmMetrics::default());
        a.prompt(100, 64);
        a.first_token(Nanos::from_millis(50));
        b.first_token(Nanos::from_millis(51));
        b.ended(Some(Finish::Length), Nanos::from_millis(80));
        let text = print([&a, &b].into_iter());
        for line in [
            "vllm:prefix_cache_hits_total 64\n",
            "vllm:time_to_first_token_seconds_bucket{le=\"0.05\"} 1\n",
            "vllm:time_to_first_token_seconds_bucket{le=\"0.075\"} 2\n",
            "vllm:time_to_first_token_seconds_sum 0.101\n",
            "vllm:request_success_total{finished_reason=\"length\"} 1\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
