//! drumfire's summary of a run, as printed with `--json`.

use serde_json::Value;
use std::io::{Error, Result};

/// The summary.
#[derive(Clone, Debug)]
pub struct Summary(Value);

/// A kind of failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The name of the outcome; may be empty.
    pub kind: String,
    /// The number of requests with this outcome.
    pub count: u64,
}

impl Summary {
    /// Parses the output of a run with `--json=-`.
    ///
    /// # Errors
    /// If the output is not a summary.
    pub fn parse(stdout: &str) -> Result<Self> {
        let summary: Value = serde_json::from_str(stdout)?;
        match summary["requests"].is_object() {
            true => Ok(Self(summary)),
            false => Err(Error::other(format!("no summary: {stdout}"))),
        }
    }

    /// A count of requests: `intended`, `sent`, `ok` and so on.
    ///
    /// # Errors
    /// If the summary lacks the count.
    pub fn count(&self, name: &str) -> Result<u64> {
        let missing = || Error::other(format!("the summary has no {name}"));
        self.0["requests"][name].as_u64().ok_or_else(missing)
    }

    /// A figure of a latency in microseconds, such as `0.99`, `mean` or `max`.
    ///
    /// # Errors
    /// If the run had too few requests for the figure.
    pub fn micros(&self, latency: &str, figure: &str) -> Result<f64> {
        let latencies = &self.0["latency"][latency];
        let nanos = latencies["quantiles"][figure]
            .as_f64()
            .or_else(|| latencies[figure].as_f64());
        let missing = || Error::other(format!("the summary has no {figure} of {latency}"));
        nanos.map(|nanos| nanos / 1e3).ok_or_else(missing)
    }

    /// A count of messages or events: `sent` or `received`.
    ///
    /// # Errors
    /// If the summary has no messages.
    pub fn messages(&self, name: &str) -> Result<u64> {
        let missing = || Error::other(format!("the summary has no messages {name}"));
        self.0["messages"][name].as_u64().ok_or_else(missing)
    }

    /// The length of the measured span in seconds.
    ///
    /// # Errors
    /// If the summary lacks it.
    pub fn seconds(&self) -> Result<f64> {
        let missing = || Error::other("the summary has no duration");
        let nanos = self.0["run"]["duration_ns"].as_f64().ok_or_else(missing)?;
        Ok(nanos / 1e9)
    }

    /// Whether drumfire considers the run valid.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.0["verdict"]["validity"] == "valid"
    }

    /// The number of opened connections.
    #[must_use]
    pub fn opened(&self) -> u64 {
        self.0["connections"]["opened"].as_u64().unwrap_or(0)
    }

    /// The failures, by outcome.
    #[must_use]
    pub fn failures(&self) -> Vec<Failure> {
        let failure = |error: &Value| Failure {
            kind: error["kind"].as_str().unwrap_or("").to_owned(),
            count: error["count"].as_u64().unwrap_or(0),
        };
        let errors = self.0["errors"].as_array();
        errors.into_iter().flatten().map(failure).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, Summary};

    #[test]
    fn counts_latencies_and_failures_are_read_by_their_names() {
        let text = r#"{"requests":{"sent":7},"verdict":{"validity":"valid"},
            "latency":{"lag":{"max":9000,"quantiles":{"0.5":1500}}},
            "errors":[{"kind":"connect:refused","count":3}],"connections":{"opened":2}}"#;
        let summary = Summary::parse(text).unwrap();
        assert_eq!(summary.count("sent").unwrap(), 7);
        assert!(summary.count("spent").is_err());
        assert_eq!(summary.micros("lag", "0.5").unwrap(), 1.5);
        assert_eq!(summary.micros("lag", "max").unwrap(), 9.0);
        assert!(summary.micros("lag", "0.99").is_err());
        assert!(summary.is_valid());
        assert_eq!(summary.opened(), 2);
        let kind = "connect:refused".to_owned();
        assert_eq!(summary.failures(), [Failure { kind, count: 3 }]);
        assert!(Summary::parse("{}").is_err());
    }
}
