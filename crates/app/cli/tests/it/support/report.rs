//! The JSON of a run, as a script reads it.

use super::process::Run;
use serde_json::Value;

/// The summary of a run, and how the program ended.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) json: Value,
    pub(crate) code: Option<i32>,
    pub(crate) stderr: String,
}

impl Report {
    /// The report of a run that wrote its summary to standard output.
    pub(crate) fn from_run(run: Run) -> Self {
        let json = serde_json::from_str(&run.stdout).unwrap_or_else(|error| {
            panic!(
                "{error}: no JSON (exit code {:?}): {}\n{}",
                run.code, run.stdout, run.stderr
            )
        });
        Self {
            json,
            code: run.code,
            stderr: run.stderr,
        }
    }

    /// The report in a file.
    pub(crate) fn read(path: &str) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        Self {
            json: serde_json::from_str(&text).unwrap(),
            code: None,
            stderr: String::new(),
        }
    }

    /// The report from a summary that was already parsed.
    pub(crate) fn of_value(json: Value) -> Self {
        Self {
            json,
            code: None,
            stderr: String::new(),
        }
    }

    /// The value at a path such as `requests.sent`.
    pub(crate) fn at(&self, path: &str) -> &Value {
        path.split('.').fold(&self.json, |value, key| &value[key])
    }

    /// A count.
    pub(crate) fn n(&self, path: &str) -> u64 {
        let value = self.at(path);
        value
            .as_u64()
            .unwrap_or_else(|| panic!("{path} is {value}: {:#}", self.short()))
    }

    /// A number; times are in nanoseconds.
    pub(crate) fn number(&self, path: &str) -> f64 {
        let value = self.at(path);
        value
            .as_f64()
            .unwrap_or_else(|| panic!("{path} is {value}: {:#}", self.short()))
    }

    /// A quantile of a distribution in seconds.
    pub(crate) fn quantile(&self, distribution: &str, q: &str) -> f64 {
        let value = &self.at(&format!("latency.{distribution}"))["quantiles"][q];
        let nanos = value
            .as_f64()
            .unwrap_or_else(|| panic!("{distribution} has no quantile {q}: {:#}", self.short()));
        nanos / 1e9
    }

    /// The number of responses with a status.
    pub(crate) fn status(&self, status: u16) -> u64 {
        self.at("status")[status.to_string()].as_u64().unwrap_or(0)
    }

    /// The number of exchanges with an outcome.
    pub(crate) fn kind(&self, kind: &str) -> u64 {
        let errors = self.at("errors").as_array().unwrap();
        let of_kind = errors.iter().filter(|error| error["kind"] == kind);
        of_kind.map(|error| error["count"].as_u64().unwrap()).sum()
    }

    /// The outcomes other than `ok` that occurred, sorted.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let errors = self.at("errors").as_array().unwrap();
        let mut kinds: Vec<String> = errors
            .iter()
            .map(|error| error["kind"].as_str().unwrap().to_owned())
            .collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    pub(crate) fn validity(&self) -> &str {
        self.at("verdict.validity").as_str().unwrap()
    }

    /// The reasons of the verdict, one per line.
    pub(crate) fn reasons(&self) -> String {
        let reasons = self.at("verdict.reasons").as_array().unwrap();
        let texts: Vec<&str> = reasons.iter().map(|text| text.as_str().unwrap()).collect();
        texts.join("\n")
    }

    /// The notes, one per line.
    pub(crate) fn notes(&self) -> String {
        let notes = self.at("notes").as_array().unwrap();
        let texts: Vec<&str> = notes.iter().map(|text| text.as_str().unwrap()).collect();
        texts.join("\n")
    }

    /// Checks: intended = sent + dropped + pending; sent = ok + failed + in flight; every failure
    /// has a kind. Every request that was ok, timed out or had no end yet has a response time, and
    /// a service time if it was sent.
    pub(crate) fn balances(&self) {
        self.balances_but_for(0);
    }

    /// Checks the counts of a run that was cut off: requests in flight or pending at the cut have
    /// no times.
    pub(crate) fn balances_up_to_the_cut(&self) {
        self.balances_but_for(self.n("requests.in_flight") + self.n("requests.pending"));
    }

    /// Checks the counts, and that at most `untimed` requests have no times.
    fn balances_but_for(&self, untimed: u64) {
        let n = |key: &str| self.n(&format!("requests.{key}"));
        assert_eq!(
            n("intended"),
            n("sent") + n("dropped") + n("pending"),
            "intended = sent + dropped + pending: {:#}",
            self.short()
        );
        assert_eq!(
            n("sent"),
            n("ok") + n("failed") + n("in_flight"),
            "sent = ok + failed + in flight: {:#}",
            self.short()
        );
        let errors = self.at("errors").as_array().unwrap();
        let failed: u64 = errors.iter().map(|e| e["count"].as_u64().unwrap()).sum();
        assert_eq!(failed, n("failed"), "errors add up: {:#}", self.short());
        let ended = n("ok") + n("timed_out") + n("in_flight");
        // A request that ended while its connection was opened has no service time.
        let unopened = self.kind("timeout:connect") + self.kind("timeout:tls");
        for (distribution, count) in [
            ("response_time", ended + n("pending")),
            ("service_time", ended - unopened),
            ("failed", n("failed")),
        ] {
            let path = format!("latency.{distribution}.count");
            let seen = self.n(&path);
            assert!(
                seen <= count && seen + untimed >= count,
                "{path} is {seen}, not {count}: {:#}",
                self.short()
            );
        }
    }

    /// The report for a failed check, without its long parts.
    pub(crate) fn short(&self) -> Value {
        let keys = [
            "verdict",
            "requests",
            "status",
            "errors",
            "generator",
            "notes",
        ];
        let parts = keys.map(|key| (key.to_owned(), self.json[key].clone()));
        Value::Object(parts.into_iter().collect())
    }
}
