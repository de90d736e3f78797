//! The metrics of an inference server, in the text form of Prometheus, before and after a run.
//!
//! Names are those of vLLM; each series counts for all its labels together, such as several
//! engines. The text comes from a server: what cannot be read is ignored, and memory is bounded by
//! the names that are known.

/// The sums of a server's counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerCounters {
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

/// What a server counted during a run. A figure is absent if the server does not have it, or if it
/// has started again meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerFigures {
    /// The mean time from a request's arrival to its first token, in seconds.
    pub ttft: Option<f64>,
    /// The mean time between two tokens, in seconds.
    pub gap: Option<f64>,
    /// The tokens of prompts that were looked up in the prefix cache.
    pub queries: Option<f64>,
    /// Those that were found.
    pub cached: Option<f64>,
    /// Requests that were interrupted to make room for others.
    pub preemptions: Option<f64>,
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
            let (Some(value), Some(to)) = (value, counters.place(name)) else {
                continue;
            };
            *to = Some(to.unwrap_or(0.0) + value);
        }
        counters
    }

    fn place(&mut self, name: &str) -> Option<&mut Option<f64>> {
        let (prefix, name) = name.split_once(':')?;
        if prefix != "vllm" {
            return None;
        }
        // Counters had other names without `_total`, and the gap another one.
        Some(match name.strip_suffix("_total").unwrap_or(name) {
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
            _ => return None,
        })
    }

    /// What the server counted since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> ServerFigures {
        let queries = more(self.queries, before.queries);
        ServerFigures {
            ttft: mean(&self.ttft, &before.ttft),
            gap: mean(&self.gap, &before.gap),
            queries,
            cached: more(self.cached, before.cached).filter(|_| queries.is_some()),
            preemptions: more(self.preemptions, before.preemptions),
        }
    }
}

impl ServerFigures {
    /// The share of the looked-up tokens that were found in the prefix cache.
    #[must_use]
    pub fn cached_share(&self) -> Option<f64> {
        let queries = self.queries.filter(|queries| *queries > 0.0)?;
        Some(self.cached? / queries)
    }
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
        let figures = after.since(&before);
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
    fn a_server_that_started_again_has_no_figures() {
        let (before, after) = (ServerCounters::parse(AFTER), ServerCounters::parse(BEFORE));
        let figures = after.since(&before);
        assert_eq!(
            (figures.queries, figures.cached, figures.cached_share()),
            (None, None, None)
        );
        assert_eq!(figures.ttft, None);
    }
}
