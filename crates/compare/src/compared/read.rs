//! The JSON of a summary (`drumfire.summary.v1`), read back as far as a comparison needs it.
//!
//! Keys that an older version did not write have their values for "not known": a file without pools
//! has one. Keys that are not known are passed over, since fields are only ever added.

use super::Read;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_measure::{
    ArrivalClock, Beside, Coverage, Histogram, IntervalRow, Model, PoolInfo, Reading, Reason,
    RunInfo, Spread, SpreadTime, Summary, TargetState, Validity, decode_v2_beside,
};
use drumfire_plan::{StopReason, Warmup};
use drumfire_units::{Nanos, utf8};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name and version of the JSON of a summary; fields are only ever added to it.
pub const SUMMARY_SCHEMA: &str = "drumfire.summary.v1";

/// The document, in the order of the contract.
#[derive(Deserialize)]
struct Document {
    run: Run,
    #[serde(default)]
    load: Load,
    #[serde(default)]
    target: Target,
    verdict: Verdict,
    requests: Requests,
    latency: Latency,
    #[serde(default)]
    errors: Vec<Error>,
    #[serde(default)]
    intervals: Vec<Interval>,
    #[serde(default)]
    pools: Vec<Pool>,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    generator: Generator,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Generator {
    #[serde(default)]
    clock: String,
    #[serde(default)]
    tls_verified: Option<bool>,
    #[serde(default)]
    spin: bool,
}

/// The facts of the run. Times are nanoseconds; `started_at` is RFC 3339 in UTC, to the nanosecond.
/// `interval_ns` is needed for the blocks of a bootstrap, `seed` and `plan` for the likeness of two
/// runs.
#[derive(Deserialize)]
struct Run {
    id: String,
    started_at: String,
    duration_ns: u64,
    coverage: String,
    #[serde(default)]
    ended: Option<Ended>,
    #[serde(default)]
    load_changes: u64,
    #[serde(default)]
    unaccounted_share: f64,
    model: String,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    target: String,
    #[serde(default)]
    interval_ns: u64,
    #[serde(default)]
    plan: Map<String, Value>,
    #[serde(default)]
    version: String,
}

/// Why the load ended; a word that is not known is refused, since it may be an early end.
#[derive(Deserialize)]
struct Ended {
    reason: String,
}

/// Whether the load was what the plan asked for, and the share of the intended requests that was sent,
/// from 0 to 1.
#[derive(Deserialize)]
struct Load {
    kept: bool,
    #[serde(default)]
    sent_share: f64,
}

/// A version without this answer said nothing against the load: it counts as kept.
impl Default for Load {
    fn default() -> Self {
        Self {
            kept: true,
            sent_share: 1.0,
        }
    }
}

/// How the target did. The word is one of [`TargetState`]'s; another is taken as unknown, for a
/// comparison reads it and decides nothing by it.
#[derive(Default, Deserialize)]
struct Target {
    state: String,
    #[serde(default)]
    reasons: Vec<String>,
}

/// Whether the run can be trusted. An unknown word is refused: an invalid run must not pass for a
/// valid one.
#[derive(Deserialize)]
struct Verdict {
    validity: String,
}

/// Requests by their fate: `intended = sent + dropped + pending`, and
/// `sent = ok + failed + in_flight`, of which `timed_out` is a part of `failed`.
#[derive(Deserialize)]
struct Requests {
    intended: u64,
    sent: u64,
    ok: u64,
    failed: u64,
    #[serde(default)]
    dropped: u64,
    #[serde(default)]
    in_flight: u64,
    #[serde(default)]
    timed_out: u64,
    #[serde(default)]
    pending: u64,
}

/// The two distributions that answers are taken from, from the intended start and from the send; and
/// the waits, by which one of them is *the* latency of a closed model.
#[derive(Deserialize)]
struct Latency {
    response_time: Distribution,
    service_time: Distribution,
    #[serde(default)]
    waiting: Distribution,
}

/// Times in nanoseconds. `at_least` has the names of quantiles that are lower bounds, from requests
/// without an end; `at_least_from_ns` is the least time of such a request.
#[derive(Default, Deserialize)]
struct Distribution {
    count: u64,
    #[serde(default)]
    min: u64,
    #[serde(default)]
    max: u64,
    #[serde(default)]
    at_least_from_ns: Option<u64>,
    #[serde(default)]
    at_least: Vec<String>,
    #[serde(default)]
    histogram: String,
}

/// Failures of one kind. A kind may come several times, once for each detail.
#[derive(Deserialize)]
struct Error {
    kind: String,
    count: u64,
}

/// A row of the timeline; `start_ns` is since the run's start. It has no histogram: rows are the blocks
/// of a bootstrap and the points of a picture, and quantiles of the run never come from theirs.
#[derive(Deserialize)]
struct Interval {
    start_ns: u64,
    length_ns: u64,
    #[serde(default)]
    good: u64,
    #[serde(default)]
    bad: u64,
    #[serde(default)]
    failed: u64,
    #[serde(default)]
    goal: Option<u64>,
    #[serde(default)]
    dropped: u64,
    #[serde(default)]
    in_flight: u64,
    #[serde(flatten)]
    times: Times,
    #[serde(default)]
    at_least: Vec<String>,
}

/// The quantiles of a row, in nanoseconds; `null` where too few requests ended for one.
#[derive(Deserialize)]
struct Times {
    min: Option<u64>,
    p50: Option<u64>,
    p90: Option<u64>,
    p95: Option<u64>,
    p99: Option<u64>,
    p999: Option<u64>,
    max: Option<u64>,
}

/// A pool by its name, its model and its steps: runs of other pools can't be compared.
#[derive(Deserialize)]
struct Pool {
    name: String,
    model: String,
    #[serde(default)]
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    name: String,
}

/// The summary of a run without its timeline, and what else the JSON has.
///
/// # Errors
/// In words that follow the file's name: it is no JSON, it has another schema or none, a key is
/// missing or of another kind, a verdict or a model is unknown, or a histogram does not have as many
/// times as its count says.
pub(super) fn summary(json: &[u8]) -> Result<(Summary, Read), String> {
    let text = utf8::text(json).map_err(|what| format!("it is {what}"))?;
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let schema = value.get("schema").and_then(Value::as_str);
    match schema {
        Some(SUMMARY_SCHEMA) => {}
        Some(other) => {
            let other = other.escape_default();
            return Err(format!(
                "its schema is `{other}`; a comparison needs `{SUMMARY_SCHEMA}`, which --json FILE writes"
            ));
        }
        None => {
            return Err(format!(
                "it has no `schema`; a comparison needs `{SUMMARY_SCHEMA}`, which --json FILE writes"
            ));
        }
    }
    let document: Document = serde_json::from_value(value).map_err(|error| error.to_string())?;
    document.into_run()
}

impl Document {
    /// The run as a record would give it, so that a comparison does not know whether a side came from a
    /// folder or from a file.
    ///
    /// The summary is closed before anything is put into it: closing judges a run by its intervals, which
    /// a file has no histograms of, while the answers of the run itself stand in the document.
    fn into_run(self) -> Result<(Summary, Read), String> {
        let info = self.info()?;
        let started = info.started_at_unix_ns;
        model(&self.run.model)?;
        let mut summary = Reading::new(Arc::new(info), &[]).close(Nanos(self.run.duration_ns), 0.0);
        self.put_counts(&mut summary);
        let latency = &mut summary.total.latency;
        latency.response_time = histogram("response_time", &self.latency.response_time)?;
        latency.service_time = histogram("service_time", &self.latency.service_time)?;
        latency.waiting = histogram("waiting", &self.latency.waiting)?;
        self.put_answers(&mut summary)?;
        // Versions that did not write it had the program's alone.
        let clock = named(
            &self.generator.clock,
            &ArrivalClock::ALL,
            ArrivalClock::name,
        );
        summary.generator.clock = clock.unwrap_or_default();
        let mut failures: BTreeMap<String, u64> = BTreeMap::new();
        for error in self.errors {
            let count = failures.entry(error.kind).or_default();
            *count = count.saturating_add(error.count);
        }
        let read = Read {
            rows: self
                .intervals
                .iter()
                .map(|interval| interval.row(started))
                .collect(),
            plan: texts(&self.run.plan),
            at_least: [
                self.latency.response_time.at_least,
                self.latency.service_time.at_least,
            ],
            load_changes: self.run.load_changes,
            unaccounted_share: self.run.unaccounted_share,
            tls_verified: self.generator.tls_verified,
            spin: self.generator.spin,
            failures: failures.into_iter().collect(),
        };
        Ok((summary, read))
    }

    /// The facts of the run. Those that the contract lacks are empty: the likeness of two runs is
    /// judged by the document's `seed` and `plan`.
    fn info(&self) -> Result<RunInfo, String> {
        let names = |steps: &[Step]| {
            let names = steps.iter().map(|step| step.name.as_str());
            names.map(str::to_owned).collect::<Vec<String>>()
        };
        let of_pool = |pool: &Pool| {
            let model = model(&pool.model)?;
            Ok(PoolInfo::new(&pool.name, model, names(&pool.steps)))
        };
        let pools: Result<Vec<PoolInfo>, String> = self.pools.iter().map(of_pool).collect();
        let pools = match pools? {
            pools if pools.is_empty() => {
                vec![PoolInfo::new(
                    "main",
                    model(&self.run.model)?,
                    names(&self.steps),
                )]
            }
            pools => pools,
        };
        let started = unix_nanos(&self.run.started_at);
        let started =
            started.ok_or("`run.started_at` is not a time such as 2026-01-31T23:59:59Z")?;
        Ok(RunInfo {
            id: self.run.id.clone(),
            started_at_unix_ns: started,
            seed: self.run.seed,
            version: self.run.version.clone(),
            target: self.run.target.clone(),
            interval: Nanos(self.run.interval_ns.max(1)),
            warmup: Warmup::NONE,
            notes: self.notes.clone(),
            ..RunInfo::new(pools)
        })
    }

    /// The counts of the whole run; those of pools and steps decide nothing here.
    fn put_counts(&self, summary: &mut Summary) {
        let counts = &mut summary.total.counts;
        counts.intended = self.requests.intended;
        counts.sent = self.requests.sent;
        counts.ok = self.requests.ok;
        counts.failed = self.requests.failed;
        counts.dropped = self.requests.dropped;
        counts.in_flight = self.requests.in_flight;
        counts.timed_out = self.requests.timed_out;
        counts.pending = self.requests.pending;
    }

    /// The answers as they were given, and whether the run was ended before its plan.
    fn put_answers(&self, summary: &mut Summary) -> Result<(), String> {
        let validities = [Validity::Valid, Validity::Suspect, Validity::Invalid];
        let validity = named(&self.verdict.validity, &validities, Validity::name);
        summary.verdict.validity =
            validity.ok_or("`verdict.validity` must be `valid`, `suspect` or `invalid`")?;
        summary.verdict.reasons.clear();
        summary.load.kept = self.load.kept;
        summary.load.sent_share = self.load.sent_share;
        summary.load.reasons.clear();
        let state = named(&self.target.state, &TargetState::ALL, TargetState::name);
        summary.target.state = state.unwrap_or(TargetState::Unknown);
        let reasons = self.target.reasons.iter().cloned();
        let reasons = reasons.map(|text| Reason {
            text,
            remedies: Vec::new(),
        });
        summary.target.reasons = reasons.collect();
        self.put_end(summary)
    }

    /// How far the run is known, and why it ended.
    fn put_end(&self, summary: &mut Summary) -> Result<(), String> {
        let found = named(&self.run.coverage, &Coverage::ALL, Coverage::name);
        summary.coverage = found.ok_or("`run.coverage` must be `whole`, `resumed` or `begun`")?;
        let reason = self.run.ended.as_ref().map(|ended| {
            let found = named(&ended.reason, &StopReason::ALL, StopReason::name);
            found.ok_or("`run.ended.reason` is unknown; a later version may have written it")
        });
        summary.load_end.reason = reason.transpose()?;
        Ok(())
    }
}

/// The one of these values that has this name.
fn named<T: Copy>(word: &str, values: &[T], name: fn(T) -> &'static str) -> Option<T> {
    values.iter().copied().find(|value| name(*value) == word)
}

/// A model by its name in the contract; the error repeats the word without its control characters.
fn model(word: &str) -> Result<Model, String> {
    let found = named(word, &[Model::Open, Model::Closed], Model::name);
    found.ok_or_else(|| {
        format!(
            "unknown model `{}`; use `open` or `closed`",
            word.escape_default()
        )
    })
}

/// The distribution of a name, from HdrHistogram's V2 form in base 64.
///
/// Its buckets round, so that the extremes come from the keys beside it. A histogram that was cut or
/// edited has another number of times than `count`, which is an error: half of a distribution would
/// look faster than the whole.
fn histogram(name: &str, of: &Distribution) -> Result<Histogram, String> {
    if of.count == 0 {
        return Ok(Histogram::small());
    }
    let wrong = |why: String| format!("`latency.{name}.histogram`: {why}");
    let bytes = STANDARD.decode(&of.histogram);
    let bytes = bytes.map_err(|error| wrong(error.to_string()))?;
    let beside = Beside {
        extremes: (Nanos(of.min), Nanos(of.max)),
        at_least_from: of.at_least_from_ns.map(Nanos),
    };
    let decoded = decode_v2_beside(&bytes, beside).map_err(|error| wrong(error.to_string()))?;
    match decoded.count() == of.count {
        true => Ok(decoded),
        false => Err(wrong(format!(
            "it has {} times, but `count` is {}",
            decoded.count(),
            of.count
        ))),
    }
}

impl Interval {
    /// The row at its place in real time. What the JSON lacks of a row (checks, warm-up, lag) is zero or
    /// unknown, and no comparison asks for it.
    fn row(&self, started_at_unix_ns: u64) -> IntervalRow {
        let start = Nanos(self.start_ns);
        let end = Nanos(self.start_ns.saturating_add(self.length_ns));
        let time = |name: &str, nanos: Option<u64>| {
            Some(SpreadTime {
                time: Nanos(nanos?),
                is_at_least: self.at_least.iter().any(|of| of == name),
            })
        };
        IntervalRow {
            start,
            end,
            started_at_unix_ns: started_at_unix_ns.saturating_add(self.start_ns),
            good: self.good,
            bad: self.bad,
            failed: self.failed,
            checks_failed: 0,
            warmup: 0,
            goal: self.goal,
            dropped: self.dropped,
            in_flight: self.in_flight,
            latency: Spread {
                min: time("min", self.times.min),
                p50: time("p50", self.times.p50),
                p90: time("p90", self.times.p90),
                p95: time("p95", self.times.p95),
                p99: time("p99", self.times.p99),
                p999: time("p999", self.times.p999),
                max: time("max", self.times.max),
            },
            lag_p99: None,
            change: drumfire_measure::Change::default(),
        }
    }
}

/// Whether the contract names the quantile, so that its list of lower bounds has it or not.
pub(super) fn is_named(q: f64) -> bool {
    const NAMED: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];
    NAMED.contains(&q)
}

/// Whether a key of a plan says what its load is: rate or users, and where it ends. Of several pools
/// they begin with the pool's name.
pub(super) fn is_of_load(key: &str) -> bool {
    let own = match key.strip_prefix("pools.") {
        // A pool's name may have points in it: the rest is looked for from behind.
        Some(rest) => rest,
        None => key,
    };
    let begins = |word: &str| own.starts_with(word) || own.contains(&format!(".{word}"));
    begins("load.") || begins("stop.") || own == "users" || own.ends_with(".users")
}

/// The keys of a plan with their texts; a key with several has all of them.
pub(super) fn texts(plan: &Map<String, Value>) -> BTreeMap<String, String> {
    let texts = plan.iter().map(|(key, value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Array(texts) => {
                let texts = texts.iter().map(|text| text.as_str().unwrap_or_default());
                texts.collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        };
        (key.clone(), text)
    });
    texts.collect()
}

/// The nanoseconds since 1970 of a time in UTC as RFC 3339 has it, with at most nine digits after
/// the point; `None` for any other text.
fn unix_nanos(text: &str) -> Option<u64> {
    let text = text.strip_suffix('Z')?;
    // A date without a time would be its midnight.
    let time: DateTime = text.contains('T').then_some(text)?.parse().ok()?;
    let nanos = TimeZone::UTC.to_timestamp(time).ok()?.as_nanosecond();
    u64::try_from(nanos).ok()
}

#[cfg(test)]
mod tests {
    use super::unix_nanos;

    #[test]
    fn only_times_in_utc_are_read() {
        for text in [
            "",
            "2026-01-31",
            "2026-01-31T23:59:59",
            "2026-13-01T00:00:00Z",
            "2026-01-31T24:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-01-31Z",
            "2026-02-31T00:00:00Z",
            "2026-01-31T23:59:59ZZ",
            "9999-01-31T23:59:59Z",
            "2026-01-31T23:59:59.1234567890Z",
            "2026-01-31T23:59:59+01:00",
            "99999-01-31T23:59:59Z",
        ] {
            assert_eq!(unix_nanos(text), None, "{text}");
        }
        for (text, nanos) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00.000000007Z", 951_782_400_000_000_007),
            ("2026-01-31T23:59:59.5Z", 1_769_903_999_500_000_000),
        ] {
            assert_eq!(unix_nanos(text), Some(nanos), "{text}");
        }
    }
}
