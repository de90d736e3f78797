//! The parts of a summary that the contract has in several places: distributions, connections,
//! movements, intervals and stages.

use super::prose;
use crate::calendar::rfc3339;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_compare::contract::INTERVAL_SCHEMA;
use drumfire_compare::contract::summary::{
    Address, Change, Connections, Distribution, Drift, Each, Interval, IntervalLlm, Line, Movement,
    OtherAddresses, Stage, Trend,
};
use drumfire_measure::{
    AddressCounts, Closing, Histogram, IntervalRow, RunInfo, StageRow, encode_v2,
};

/// The quantiles of a distribution by their names.
const QUANTILES: [(&str, f64); 8] = [
    ("0.5", 0.5),
    ("0.75", 0.75),
    ("0.9", 0.9),
    ("0.95", 0.95),
    ("0.99", 0.99),
    ("0.999", 0.999),
    ("0.9999", 0.9999),
    ("0.99999", 0.99999),
];

/// A histogram with its figures. An empty one has only the count 0.
pub(super) fn distribution(histogram: &Histogram) -> Distribution {
    if histogram.count() == 0 {
        return Distribution::default();
    }
    let quantiles = QUANTILES.iter();
    let quantiles =
        quantiles.filter_map(|(name, q)| Some(((*name).to_owned(), histogram.quantile(*q)?.0)));
    Distribution {
        count: histogram.count(),
        min: Some(histogram.min().0),
        mean: Some(histogram.mean().round() as u64),
        stddev: Some(histogram.stddev().round() as u64),
        max: Some(histogram.max().0),
        beyond: Some(histogram.beyond()),
        quantiles: Some(quantiles.collect()),
        at_least_from_ns: histogram.at_least_from().map(|time| time.0),
        at_least: at_least(histogram),
        histogram: STANDARD.encode(encode_v2(histogram)),
    }
}

/// The names of the figures that are lower bounds: the mean, if any sample is a lower bound, and
/// quantiles from the smallest such sample on.
fn at_least(histogram: &Histogram) -> Vec<String> {
    if histogram.at_least_from().is_none() {
        return Vec::new();
    }
    let extremes = [("min", 0.0), ("max", 1.0)];
    let supported = QUANTILES
        .iter()
        .filter(|(_, q)| histogram.quantile(*q).is_some());
    let bounds = extremes.iter().chain(supported);
    let bounds = bounds.filter(|(_, q)| histogram.is_at_least(*q));
    let names = bounds.map(|(name, _)| *name);
    let names = ["mean"].into_iter().chain(names);
    names.map(str::to_owned).collect()
}

/// The connections of a run or a pool. `open_before` is signed in `measure`, since a part of a run
/// may close more than it opens.
pub(super) fn connections(of: &drumfire_measure::Connections) -> Connections {
    let closed = Closing::ALL.iter();
    let closed = closed.map(|why| (why.name().to_owned(), of.closed_by(*why)));
    let carried = &of.carried;
    let others = of.addresses.others();
    let addresses = of.addresses.rows().iter().map(|row| Address {
        address: row.address.to_string(),
        opened: row.counts.opened,
        requests: row.counts.carried,
    });
    let some = |count: u64| Some(count).filter(|count| *count > 0);
    Connections {
        opened: of.opened,
        open_before: some(u64::try_from(of.open_before).unwrap_or(0)),
        open_at_end: of.open_at_end(),
        closed: closed.filter(|(_, count)| *count > 0).collect(),
        tls_resumed: of.tls_resumed,
        redial_pauses: some(of.pauses),
        lifetime: distribution(&of.lifetime),
        requests_each: (carried.count() > 0).then(|| Each {
            min: carried.min().0,
            mean: carried.mean(),
            median: carried.quantile_unchecked(0.5).0,
            max: carried.max().0,
        }),
        addresses: addresses.collect(),
        other_addresses: (others != AddressCounts::default()).then_some(OtherAddresses {
            opened: others.opened,
            requests: others.carried,
        }),
    }
}

/// A judged figure. A trend or changes are there if the figure moved.
pub(super) fn drift(found: &drumfire_measure::DriftFinding) -> Drift {
    let (movement, trend, changes) = match &found.movement {
        drumfire_measure::Movement::Steady => (Movement::Steady, None, &[][..]),
        drumfire_measure::Movement::Trend(trend) => (Movement::Trend, Some(trend), &[][..]),
        drumfire_measure::Movement::Changes(points) => (Movement::Changes, None, &points[..]),
    };
    let changes = changes.iter().map(|point| Change {
        at_ns: point.at.0,
        before: point.before,
        after: point.after,
    });
    Drift {
        figure: found.figure.name().to_owned(),
        from_ns: found.span.start.0,
        to_ns: found.span.end.0,
        movement,
        p: found.p,
        trend: trend.map(|trend| Trend {
            per_hour: trend.per_hour,
            since_ns: trend.since.0,
            until_ns: trend.until.0,
            from: trend.from,
            to: trend.to,
        }),
        changes: changes.collect(),
    }
}

/// A stage of a pool's load, with the figures of an interval.
pub(super) fn stage(of: &StageRow<'_>) -> Stage {
    Stage {
        pool: prose(&of.pool.name),
        name: prose(&of.stage.name),
        measured_ns: (of.measured != of.row.length()).then_some(of.measured.0),
        figures: interval(&of.row),
    }
}

/// An interval as a line.
pub(super) fn line(row: &IntervalRow, info: &RunInfo) -> Line {
    Line {
        schema: INTERVAL_SCHEMA.to_owned(),
        run: info.id.clone(),
        interval: interval(row),
    }
}

/// The figures of a row.
pub(super) fn interval(row: &IntervalRow) -> Interval {
    let named = row.latency.named();
    let at_least = named
        .iter()
        .filter(|(_, reading)| reading.is_some_and(|reading| reading.is_at_least));
    let times = &row.latency;
    let time = |reading: Option<drumfire_measure::SpreadTime>| reading.map(|it| it.time.0);
    Interval {
        at: rfc3339(row.started_at_unix_ns),
        start_ns: row.start.0,
        length_ns: row.length().0,
        good: row.good,
        bad: row.bad,
        failed: row.failed,
        checks_failed: row.checks_failed,
        warmup: row.warmup,
        goal: row.goal,
        goal_share: row.goal_share(),
        dropped: row.dropped,
        in_flight: row.in_flight,
        min: time(times.min),
        p50: time(times.p50),
        p90: time(times.p90),
        p95: time(times.p95),
        p99: time(times.p99),
        p999: time(times.p999),
        max: time(times.max),
        at_least: at_least.map(|(name, _)| (*name).to_owned()).collect(),
        lag_p99: row.lag_p99.map(|time| time.0),
        change: row.change.orders(),
        llm: row.llm.as_ref().map(|llm| IntervalLlm {
            tokens: llm.tokens,
            ttft_p50: time(llm.ttft.p50),
            ttft_p99: time(llm.ttft.p99),
            tpot_p50: time(llm.tpot.p50),
            tpot_p99: time(llm.tpot.p99),
        }),
    }
}
