//! Reads a summary from the JSON of a run, as far as a comparison needs it.

use crate::contract::SUMMARY_SCHEMA;
use crate::contract::summary::{Distribution, Document, Interval};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_measure::{
    Beside, Histogram, IntervalRow, PoolInfo, Reading, Reason, RunInfo, Spread, SpreadTime,
    Summary, decode_v2_beside,
};
use drumfire_plan::Warmup;
use drumfire_units::{Nanos, utf8};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use std::sync::Arc;

/// Parses the document of a JSON text.
///
/// # Errors
/// If the text is not JSON, has another schema or none, lacks a key, or has an unknown word. The
/// error text continues a sentence that starts with the file name.
pub(super) fn document(json: &[u8]) -> Result<Document, String> {
    #[derive(Deserialize)]
    struct Form {
        schema: Option<String>,
    }

    let text = utf8::text(json).map_err(|what| format!("it is {what}"))?;
    let form: Form =
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let has = match form.schema.as_deref() {
        Some(SUMMARY_SCHEMA) => {
            return serde_json::from_str(text).map_err(|error| error.to_string());
        }
        Some(other) => format!("its schema is `{}`", other.escape_default()),
        None => "it has no `schema`".to_owned(),
    };
    Err(format!(
        "{has}; a comparison needs `{SUMMARY_SCHEMA}`, which --json FILE writes"
    ))
}

/// The run as a stored summary without a timeline, so that a comparison need not distinguish the
/// two.
///
/// The summary is closed before the counts are set: closing judges a run by the distributions of
/// its intervals, which JSON does not contain, and the document already contains the answers.
///
/// # Errors
/// If the start is not a time, or if a histogram has another number of samples than its count.
pub(super) fn summary(document: &Document) -> Result<Summary, String> {
    let reading = Reading::new(Arc::new(info(document)?), &[]);
    let mut summary = reading.close(Nanos(document.run.duration_ns), 0.0);
    put_counts(document, &mut summary);
    let (times, read) = (&mut summary.total.latency, &document.latency);
    times.response_time = histogram("response_time", &read.response_time)?;
    times.service_time = histogram("service_time", &read.service_time)?;
    times.waiting = histogram("waiting", &read.waiting)?;
    put_answers(document, &mut summary);
    Ok(summary)
}

/// The facts of the run, except those that the contract does not contain.
fn info(document: &Document) -> Result<RunInfo, String> {
    let run = &document.run;
    let pools = document.pools.iter().map(|pool| {
        let steps = pool.steps.iter().map(|step| step.name.as_str());
        PoolInfo::new(&pool.name, pool.model.0, steps)
    });
    let started = unix_nanos(&run.started_at);
    Ok(RunInfo {
        id: run.id.clone(),
        started_at_unix_ns: started
            .ok_or("`run.started_at` is not a time such as 2026-01-31T23:59:59Z")?,
        seed: run.seed,
        version: run.version.clone(),
        target: run.target.clone(),
        name: run.name.clone(),
        interval: Nanos(run.interval_ns.max(1)),
        warmup: Warmup::NONE,
        ..RunInfo::new(pools.collect())
    })
}

fn put_counts(document: &Document, summary: &mut Summary) {
    let (counts, read) = (&mut summary.total.counts, &document.requests);
    counts.intended = read.intended;
    counts.sent = read.sent;
    counts.ok = read.ok;
    counts.failed = read.failed;
    counts.dropped = read.dropped;
    counts.in_flight = read.in_flight;
    counts.timed_out = read.timed_out;
    counts.pending = read.pending;
}

/// Sets the answers of the document, the end of the load, and the clock with its delays.
fn put_answers(document: &Document, summary: &mut Summary) {
    summary.verdict.validity = document.verdict.validity.0;
    summary.verdict.reasons.clear();
    summary.load.kept = document.load.kept;
    summary.load.sent_share = document.load.sent_share;
    summary.load.reasons.clear();
    summary.target.state = document.target.state.0;
    let reasons = document.target.reasons.iter().cloned();
    let reasons = reasons.map(|text| Reason {
        text,
        remedies: Vec::new(),
    });
    summary.target.reasons = reasons.collect();
    summary.coverage = document.run.coverage.0;
    summary.load_end.reason = document.run.ended.as_ref().map(|ended| ended.reason.0);
    let generator = &document.generator;
    summary.generator.clock = generator.clock.0;
    let nanos = |ns: Option<u64>| Nanos(ns.unwrap_or_default());
    summary.generator.handling_p50 = nanos(generator.handling_p50_ns);
    summary.generator.handling_p99 = nanos(generator.handling_p99_ns);
    summary.generator.leaving_p50 = nanos(generator.leaving_p50_ns);
    summary.generator.leaving_p99 = nanos(generator.leaving_p99_ns);
}

/// The distribution `name`, from base64 with the V2 encoding of HdrHistogram.
///
/// Buckets round their values, so the extremes come from separate keys. A truncated or edited
/// histogram has another number of samples than `count`, which is an error: half of a distribution
/// could look faster than the whole.
fn histogram(name: &str, of: &Distribution) -> Result<Histogram, String> {
    if of.count == 0 {
        return Ok(Histogram::small());
    }
    let wrong = |why: String| format!("`latency.{name}.histogram`: {why}");
    let bytes = STANDARD.decode(&of.histogram);
    let bytes = bytes.map_err(|error| wrong(error.to_string()))?;
    let beside = Beside {
        extremes: (
            Nanos(of.min.unwrap_or_default()),
            Nanos(of.max.unwrap_or_default()),
        ),
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

/// An interval as a row at its wall-clock time. The values of a row that a comparison does not need
/// are zero or unknown.
pub(super) fn row(interval: &Interval, started_at_unix_ns: u64) -> IntervalRow {
    let start = Nanos(interval.start_ns);
    let end = Nanos(interval.start_ns.saturating_add(interval.length_ns));
    let time = |name: &str, nanos: Option<u64>| {
        Some(SpreadTime {
            time: Nanos(nanos?),
            is_at_least: interval.at_least.iter().any(|of| of == name),
        })
    };
    IntervalRow {
        start,
        end,
        started_at_unix_ns: started_at_unix_ns.saturating_add(interval.start_ns),
        good: interval.good,
        bad: interval.bad,
        failed: interval.failed,
        checks_failed: 0,
        warmup: 0,
        goal: interval.goal,
        dropped: interval.dropped,
        in_flight: interval.in_flight,
        latency: Spread {
            min: time("min", interval.min),
            p50: time("p50", interval.p50),
            p90: time("p90", interval.p90),
            p95: time("p95", interval.p95),
            p99: time("p99", interval.p99),
            p999: time("p999", interval.p999),
            max: time("max", interval.max),
        },
        lag_p99: None,
        lag_max: None,
        change: drumfire_measure::Change::default(),
        llm: None,
    }
}

/// Whether the contract contains the quantile, so that its list of lower bounds covers it.
pub(super) fn is_named(q: f64) -> bool {
    const NAMED: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];
    NAMED.contains(&q)
}

/// Whether a key of a plan describes its load: rate or users, and its end. With several pools, keys
/// start with the pool's name, which may contain dots.
pub(super) fn is_of_load(key: &str) -> bool {
    let own = key.strip_prefix("pools.").unwrap_or(key);
    let begins = |word: &str| own.starts_with(word) || own.contains(&format!(".{word}"));
    begins("load.") || begins("stop.") || own == "users" || own.ends_with(".users")
}

/// The Unix nanoseconds of a UTC time in RFC 3339 format, with at most nine fractional digits;
/// `None` for any other text.
fn unix_nanos(text: &str) -> Option<u64> {
    let text = text.strip_suffix('Z')?;
    // A date without a time would be parsed as midnight.
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
