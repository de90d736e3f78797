//! The truth of tokens: what the mock of a language model's server did by its own log, and what
//! clients print about it.
//!
//! Both sides use the machine's monotonic clock, but only differences are compared: a client's time
//! to the first token, less the server's time from the whole request to the return of the first
//! token's write. What is left is the client's: its lateness, and what the network adds.

pub mod floor;

use drumfire_units::Nanos;
use serde_json::Value;
use std::io::{Error, Result};

/// The times of one round, in the order of measuring, or sorted.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Times to the first token.
    pub first: Vec<Nanos>,
    /// Times from one event with tokens to the next.
    pub gap: Vec<Nanos>,
}

/// The figures of one round that clients print.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// The mean time to the first token, in ms.
    pub first_mean: f64,
    /// The 99th percentile of the time to the first token, in ms.
    pub first_p99: Option<f64>,
    /// The 99th percentile of the time between events, in ms.
    pub gap_p99: Option<f64>,
}

impl Times {
    /// The figures of these times.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let sum: f64 = self.first.iter().copied().map(millis).sum();
        Figures {
            first_mean: sum / self.first.len().max(1) as f64,
            first_p99: quantile(&self.first, 0.99).map(millis),
            gap_p99: quantile(&self.gap, 0.99).map(millis),
        }
    }
}

/// Nanoseconds in milliseconds.
#[must_use]
pub fn millis(time: Nanos) -> f64 {
    time.0 as f64 / 1e6
}

/// The nearest-rank quantile.
#[must_use]
pub fn quantile(times: &[Nanos], q: f64) -> Option<Nanos> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    // At most the number of times.
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.checked_sub(1)?).copied()
}

/// What the mock did, by its log.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// Its times.
    pub times: Times,
    /// How late each event was written.
    pub lateness: Vec<Nanos>,
    /// The number of requests that ended as they should.
    pub done: usize,
    /// The number of other requests.
    pub other: usize,
}

impl Truth {
    /// Reads the log: lines of JSON, of which the first has the clocks.
    ///
    /// # Errors
    /// If the text is no log, or entries were lost.
    pub fn parse(log: &str) -> Result<Self> {
        let parsed = |line: &str| serde_json::from_str::<Value>(line).map_err(Error::other);
        let mut lines = log.lines();
        let clocks = parsed(lines.next().unwrap_or_default())?;
        if clocks["lost"] != 0 {
            return Err(Error::other(format!("the log has lost entries: {clocks}")));
        }
        let mut truth = Self::default();
        for line in lines {
            truth.add(&parsed(line)?)?;
        }
        Ok(truth)
    }

    fn add(&mut self, request: &Value) -> Result<()> {
        match request["end"] == "done" {
            true => self.done += 1,
            false => self.other += 1,
        }
        let times = |name: &str| -> Result<Vec<u64>> {
            let all = request[name].as_array();
            let all = all.ok_or_else(|| Error::other(format!("no `{name}`: {request}")))?;
            Ok(all.iter().filter_map(Value::as_u64).collect())
        };
        let (due, written) = (times("due")?, times("written")?);
        if let (Some(first), Some(read)) = (written.first(), request["read"].as_u64()) {
            self.times.first.push(Nanos(first.saturating_sub(read)));
        }
        let gaps = written.windows(2).map(|pair| Nanos(pair[1] - pair[0]));
        self.times.gap.extend(gaps);
        let late = due
            .iter()
            .zip(&written)
            .map(|(due, written)| Nanos(written.saturating_sub(*due)));
        self.lateness.extend(late);
        Ok(())
    }
}

impl Figures {
    /// Reads the JSON of a client: of drumfire, of `vllm bench serve`, of AIPerf or of GuideLLM.
    ///
    /// # Errors
    /// If the text has none of these forms, or a request failed.
    pub fn parse(text: &str) -> Result<Self> {
        let json: Value = serde_json::from_str(text).map_err(Error::other)?;
        let at = |pointer: &str| json.pointer(pointer).and_then(Value::as_f64);
        let failed = [
            "/requests/failed",
            "/failed",
            "/error_request_count/avg",
            "/benchmarks/0/metrics/request_totals/errored",
        ];
        if let Some(failed) = failed
            .iter()
            .find_map(|pointer| at(pointer).filter(|n| *n > 0.0))
        {
            return Err(Error::other(format!("{failed} requests failed")));
        }
        // The mean and both percentiles, in units of a number of milliseconds.
        let forms = [
            (
                "/llm/ttft_service/mean",
                "/llm/ttft_service/quantiles/0.99",
                "/llm/gap/quantiles/0.99",
                1e-6,
            ),
            (
                "/messages/first/mean",
                "/messages/first/quantiles/0.99",
                "/messages/gap/quantiles/0.99",
                1e-6,
            ),
            ("/mean_ttft_ms", "/p99_ttft_ms", "/p99_itl_ms", 1.0),
            (
                "/time_to_first_token/avg",
                "/time_to_first_token/p99",
                "/inter_chunk_latency/p99",
                1.0,
            ),
            (
                "/benchmarks/0/metrics/time_to_first_token_ms/successful/mean",
                "/benchmarks/0/metrics/time_to_first_token_ms/successful/percentiles/p99",
                "",
                1.0,
            ),
        ];
        let of = |pointer: &str, unit: f64| match pointer {
            "" => None,
            pointer => at(pointer).map(|value| value * unit),
        };
        let figures = forms.iter().find_map(|(mean, first, gap, unit)| {
            Some(Self {
                first_mean: of(mean, *unit)?,
                first_p99: of(first, *unit),
                gap_p99: of(gap, *unit),
            })
        });
        figures.ok_or_else(|| Error::other("no time to the first token in the client's JSON"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_is_what_the_log_says() {
        let log = r#"{"clock":"CLOCK_MONOTONIC","lost":0}
{"read":1000000,"due":[3000000,4000000],"written":[3100000,4300000],"end":"done"}
{"read":1000000,"due":[2000000],"written":[null],"end":"cancelled"}"#;
        let truth = Truth::parse(log).expect("a log");
        assert_eq!((truth.done, truth.other), (1, 1));
        assert_eq!(truth.times.first, [Nanos(2_100_000)]);
        assert_eq!(truth.times.gap, [Nanos(1_200_000)]);
        assert_eq!(truth.lateness, [Nanos(100_000), Nanos(300_000)]);
        assert!(Truth::parse("{\"lost\":1}").is_err() && Truth::parse("").is_err());
    }

    #[test]
    fn figures_of_all_clients_are_in_milliseconds() {
        let drumfire = r#"{"requests":{"failed":0},"messages":{"first":{"mean":50100000,"quantiles":{"0.99":51000000}},"gap":{"quantiles":{"0.99":10400000}}}}"#;
        let vllm = r#"{"failed":0,"mean_ttft_ms":50.1,"p99_ttft_ms":51.0,"p99_itl_ms":10.4}"#;
        let aiperf =
            r#"{"time_to_first_token":{"avg":50.1,"p99":51.0},"inter_chunk_latency":{"p99":10.4}}"#;
        let answers = r#"{"requests":{"failed":0},"messages":{"first":{"mean":1}},"llm":{"ttft_service":{"mean":50100000,"quantiles":{"0.99":51000000}},"gap":{"quantiles":{"0.99":10400000}}}}"#;
        for text in [drumfire, answers, vllm, aiperf] {
            let figures = Figures::parse(text).expect("figures");
            assert!((figures.first_mean - 50.1).abs() < 1e-9, "{figures:?}");
            assert!(
                (figures.gap_p99.unwrap_or_default() - 10.4).abs() < 1e-9,
                "{figures:?}"
            );
        }
        assert!(Figures::parse(r#"{"failed":1,"mean_ttft_ms":1}"#).is_err());
        assert!(Figures::parse("{}").is_err());
    }

    #[test]
    fn a_quantile_is_the_nearest_rank() {
        let times: Vec<Nanos> = (1..=100).rev().map(Nanos).collect();
        assert_eq!(quantile(&times, 0.99), Some(Nanos(99)));
        assert_eq!(quantile(&times[..1], 0.99), Some(Nanos(100)));
        assert_eq!(quantile(&[], 0.99), None);
    }
}
