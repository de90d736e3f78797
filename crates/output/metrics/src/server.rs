//! The metrics of an inference server, in the text form of Prometheus, at one moment of a run.
//!
//! Names are those of vLLM and SGLang; each series counts for all its labels together, such as
//! several engines. The text comes from a server: what cannot be read is ignored, and memory is
//! bounded by the names that are known.

use drumfire_measure::{Gauge, InferenceMoment, InferenceRecord};
use drumfire_units::Nanos;

/// The sums of a server's counters at one moment, and its gauges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerCounters {
    running: Option<f64>,
    waiting: Option<f64>,
    kv_cache: Option<f64>,
    ttft: MeanParts,
    gap: MeanParts,
    queries: Option<f64>,
    cached: Option<f64>,
    preemptions: Option<f64>,
}

/// The sum and the count of a histogram, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct MeanParts {
    sum: Option<f64>,
    count: Option<f64>,
}

impl ServerCounters {
    /// Reads the text form of Prometheus.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut counters = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((series, value)) = line.trim().rsplit_once(' ') else {
                continue;
            };
            // A time stamp may follow the value.
            let (series, value) = match series.rsplit_once(' ') {
                Some((series, value)) if series.ends_with('}') => (series, value),
                _ => (series, value),
            };
            let name = series.split(['{', ' ']).next().unwrap_or_default();
            let value = value.parse::<f64>().ok().filter(|value| value.is_finite());
            let (Some(value), Some((to, over_labels))) = (value, counters.place(name)) else {
                continue;
            };
            *to = Some(match (*to, over_labels) {
                (None, _) => value,
                (Some(before), OverLabels::Sum) => before + value,
                (Some(before), OverLabels::Max) => before.max(value),
            });
        }
        counters
    }

    /// The place of a series, and how its values of several labels become one.
    fn place(&mut self, name: &str) -> Option<(&mut Option<f64>, OverLabels)> {
        let (prefix, name) = name.split_once(':')?;
        if !matches!(prefix, "vllm" | "sglang") {
            return None;
        }
        // Counters had other names without `_total`, and the gap another one.
        let to = match name.strip_suffix("_total").unwrap_or(name) {
            "time_to_first_token_seconds_sum" => &mut self.ttft.sum,
            "time_to_first_token_seconds_count" => &mut self.ttft.count,
            "inter_token_latency_seconds_sum" | "time_per_output_token_seconds_sum" => {
                &mut self.gap.sum
            }
            "inter_token_latency_seconds_count" | "time_per_output_token_seconds_count" => {
                &mut self.gap.count
            }
            "prefix_cache_queries" => &mut self.queries,
            "prefix_cache_hits" => &mut self.cached,
            "num_preemptions" => &mut self.preemptions,
            "num_requests_running" | "num_running_reqs" => &mut self.running,
            "num_requests_waiting" | "num_queue_reqs" => &mut self.waiting,
            "kv_cache_usage_perc" | "gpu_cache_usage_perc" | "token_usage" => {
                return Some((&mut self.kv_cache, OverLabels::Max));
            }
            _ => return None,
        };
        Some((to, OverLabels::Sum))
    }

    /// The gauges at this time.
    #[must_use]
    pub fn moment(&self, at: Nanos) -> InferenceMoment {
        InferenceMoment {
            at,
            reads: 1,
            running: self.running.map(Gauge::new),
            waiting: self.waiting.map(Gauge::new),
            kv_cache: self.kv_cache.map(Gauge::new),
        }
    }

    /// Writes what the server counted since `before` to a record.
    pub fn count_since(&self, before: &Self, record: &mut InferenceRecord) {
        let queries = more(self.queries, before.queries);
        record.ttft = mean(&self.ttft, &before.ttft);
        record.gap = mean(&self.gap, &before.gap);
        record.queries = queries;
        record.cached = more(self.cached, before.cached).filter(|_| queries.is_some());
        record.preemptions = more(self.preemptions, before.preemptions);
    }
}

/// How the values of several labels become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OverLabels {
    Sum,
    Max,
}

/// The increase of a counter; `None` if it is smaller than before.
fn more(after: Option<f64>, before: Option<f64>) -> Option<f64> {
    let more = after? - before.unwrap_or(0.0);
    (more >= 0.0).then_some(more)
}

fn mean(after: &MeanParts, before: &MeanParts) -> Option<f64> {
    let count = more(after.count, before.count).filter(|count| *count > 0.0)?;
    Some(more(after.sum, before.sum)? / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "\
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine=\"0\",model_name=\"a b\"} 100.0
vllm:prefix_cache_queries_total{engine=\"1\",model_name=\"a b\"} 50
vllm:prefix_cache_hits_total{engine=\"0\"} 10
vllm:time_to_first_token_seconds_sum{engine=\"0\"} 1.5
vllm:time_to_first_token_seconds_count{engine=\"0\"} 3
other:prefix_cache_hits_total 7
nonsense
vllm:num_requests_running{engine=\"0\"} 3
vllm:num_requests_running{engine=\"1\"} 4
vllm:num_requests_waiting{engine=\"0\"} 0
vllm:kv_cache_usage_perc{engine=\"0\"} 0.25
vllm:kv_cache_usage_perc{engine=\"1\"} 0.5
";
    const AFTER: &str = "\
vllm:prefix_cache_queries_total{engine=\"0\"} 1100 1700000000000
vllm:prefix_cache_queries_total{engine=\"1\"} 50
vllm:prefix_cache_hits_total{engine=\"0\"} 60
vllm:time_to_first_token_seconds_sum{engine=\"0\"} 2.5
vllm:time_to_first_token_seconds_count{engine=\"0\"} 13
vllm:time_per_output_token_seconds_sum 0.4
vllm:time_per_output_token_seconds_count 20
vllm:num_preemptions_total 2
";

    #[test]
    fn counters_are_summed_over_engines_and_subtracted() {
        let (before, after) = (ServerCounters::parse(BEFORE), ServerCounters::parse(AFTER));
        let mut figures = InferenceRecord::default();
        after.count_since(&before, &mut figures);
        assert_eq!(
            (figures.queries, figures.cached),
            (Some(1000.0), Some(50.0))
        );
        assert_eq!(figures.cached_share(), Some(0.05));
        let near = |found: Option<f64>, right: f64| {
            found.is_some_and(|found| (found - right).abs() < 1e-12)
        };
        assert!(
            near(figures.ttft, 0.1) && near(figures.gap, 0.02),
            "{figures:?}"
        );
        assert_eq!(figures.preemptions, Some(2.0));
    }

    #[test]
    fn gauges_are_those_of_all_engines() {
        let moment = ServerCounters::parse(BEFORE).moment(Nanos(7));
        assert_eq!((moment.at, moment.reads), (Nanos(7), 1));
        assert_eq!(moment.running, Some(Gauge::new(7.0)));
        assert_eq!(moment.waiting, Some(Gauge::new(0.0)));
        assert_eq!(moment.kv_cache, Some(Gauge::new(0.5)));
        let sglang = "sglang:num_running_reqs 2\nsglang:token_usage{x=\"y\"} 0.1\n";
        let moment = ServerCounters::parse(sglang).moment(Nanos::ZERO);
        assert_eq!(moment.running, Some(Gauge::new(2.0)));
        assert_eq!(
            (moment.waiting, moment.kv_cache),
            (None, Some(Gauge::new(0.1)))
        );
        assert_eq!(
            ServerCounters::parse("other:x 1"),
            ServerCounters::default()
        );
    }

    #[test]
    fn a_server_that_started_again_has_no_figures() {
        let (before, after) = (ServerCounters::parse(AFTER), ServerCounters::parse(BEFORE));
        let mut figures = InferenceRecord::default();
        after.count_since(&before, &mut figures);
        assert_eq!(
            (figures.queries, figures.cached, figures.cached_share()),
            (None, None, None)
        );
        assert_eq!(figures.ttft, None);
    }
}
