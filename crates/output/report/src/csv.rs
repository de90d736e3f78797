//! The histograms and the intervals of a run as CSV (RFC 4180, with line feeds alone).
//!
//! Histograms have all their buckets, so that files of several runs can be merged by adding counts.
//! Columns and names of metrics are a contract: new ones may be added, and none is renamed. A cell
//! that a spreadsheet would take for a formula is disarmed (`text_cell`).

use crate::calendar::rfc3339;
use crate::step_name::StepName;
use crate::untrusted::is_dangerous;
use drumfire_measure::{Histogram, IntervalRow, LlmFigures, Summary};
use std::fmt::Write as _;

/// Every bucket that has a sample, under the header
/// `metric,low_ns,high_ns,count,cumulative,quantile,at_least`.
///
/// A bucket has `count` samples from `low_ns` to `high_ns`, both inclusive; `cumulative` counts
/// this and all lower buckets, and `quantile` (0 to 1) is their share. `at_least` of the samples
/// are lower bounds in the bucket. The metrics are `response_time`, `service_time`, `lag`,
/// `waiting`, `failed`; of streams `messages.first` and `messages.gap`; of answers
/// `llm.ttft`, `llm.ttft_service`, `llm.ttfv`, `llm.tpot`, `llm.gap`, `llm.itl` and `llm.stall`; of
/// scenarios
/// `iteration.time`, `iteration.failed` and, if a pool has several, `scenario(name).time`; of
/// several pools `pool(name).response_time`, `pool(name).service_time` and
/// `pool(name).iteration.time`; of several steps `step(name).response_time`,
/// `step(name).service_time` and, if the step streams, `step(name).messages.first` and
/// `step(name).messages.gap`.
#[must_use]
pub fn histogram(summary: &Summary) -> Vec<u8> {
    let mut out = String::from("metric,low_ns,high_ns,count,cumulative,quantile,at_least\n");
    let latency = &summary.total.latency;
    let messages = &summary.total.messages;
    for (metric, histogram) in [
        ("response_time", &latency.response_time),
        ("service_time", &latency.service_time),
        ("lag", &latency.lag),
        ("waiting", &latency.waiting),
        ("failed", &latency.failed),
        ("messages.first", &messages.first),
        ("messages.gap", &messages.gap),
    ] {
        push_rows(&mut out, metric, histogram);
    }
    if let Some(llm) = summary.total.llm() {
        push_answers(llm, |metric, histogram| {
            push_rows(&mut out, metric, histogram)
        });
    }
    if let Some(iterations) = &summary.total.iterations {
        push_rows(&mut out, "iteration.time", &iterations.time);
        push_rows(&mut out, "iteration.failed", &iterations.failed);
    }
    if summary.info.pools.len() > 1 {
        for (pool, figures) in summary.pools() {
            for (metric, histogram) in [
                ("response_time", &figures.latency.response_time),
                ("service_time", &figures.latency.service_time),
            ] {
                let metric = format!("pool({}).{metric}", pool.name);
                push_rows(&mut out, &metric, histogram);
            }
            if let Some(iterations) = &figures.iterations {
                let metric = format!("pool({}).iteration.time", pool.name);
                push_rows(&mut out, &metric, &iterations.time);
            }
        }
    }
    for (pool, figures) in summary.pools() {
        for (name, iterations) in pool.scenarios.iter().zip(&figures.scenarios) {
            let metric = match summary.info.pools.len() {
                1 => format!("scenario({name}).time"),
                _ => format!("pool({}).scenario({name}).time", pool.name),
            };
            push_rows(&mut out, &metric, &iterations.time);
        }
    }
    let steps = summary.steps();
    if steps.len() > 1 {
        for step in steps {
            let name = StepName::from_step(&step).path();
            let mut push = |metric: &str, histogram: &Histogram| {
                push_rows(&mut out, &format!("step({name}).{metric}"), histogram);
            };
            push("response_time", &step.response_time);
            push("service_time", &step.service_time);
            if let Some(messages) = step.messages() {
                push("messages.first", &messages.first);
                push("messages.gap", &messages.gap);
            }
            if let Some(llm) = step.llm() {
                push_answers(llm, &mut push);
            }
        }
    }
    out.into_bytes()
}

/// Pushes the times of answers with their names.
fn push_answers(llm: &LlmFigures, mut push: impl FnMut(&str, &Histogram)) {
    for (metric, histogram) in [
        ("llm.ttft", &llm.ttft),
        ("llm.ttft_service", &llm.ttft_service),
        ("llm.ttfv", &llm.ttfv),
        ("llm.tpot", &llm.tpot),
        ("llm.gap", &llm.gap),
        ("llm.itl", &llm.itl),
        ("llm.stall", &llm.stall),
    ] {
        push(metric, histogram);
    }
}

/// The header of the rows of [`interval`].
#[must_use]
pub fn interval_header() -> Vec<u8> {
    b"at,start_ns,length_ns,good,bad,failed,checks_failed,warmup,goal,goal_share,dropped,in_flight,\
      min,p50,p90,p95,p99,p999,max,at_least,lag_p99,change\n"
        .to_vec()
}

/// An interval as a row. Times are nanoseconds; an unknown value is empty. `at_least` has the names
/// of the times that are lower bounds, separated by blanks.
#[must_use]
pub fn interval(row: &IntervalRow) -> Vec<u8> {
    let known = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    let share = row.goal_share();
    let mut cells = vec![rfc3339(row.started_at_unix_ns)];
    let counts = [
        row.start.0,
        row.length().0,
        row.good,
        row.bad,
        row.failed,
        row.checks_failed,
        row.warmup,
    ];
    cells.extend(counts.map(|count| count.to_string()));
    cells.push(known(row.goal));
    cells.push(share.map_or_else(String::new, |share| format!("{share:.6}")));
    cells.extend([row.dropped, row.in_flight].map(|count| count.to_string()));
    let times = row.latency.named();
    cells.extend(times.map(|(_, reading)| known(reading.map(|reading| reading.time.0))));
    let bounds = times
        .iter()
        .filter_map(|(name, reading)| reading.filter(|r| r.is_at_least).map(|_| *name));
    cells.push(bounds.collect::<Vec<_>>().join(" "));
    cells.push(known(row.lag_p99.map(|time| time.0)));
    cells.push(row.change.orders().to_string());
    (cells.join(",") + "\n").into_bytes()
}

/// Appends a row for each bucket in use, from the shortest. Buckets and lower bounds ascend
/// together.
fn push_rows(out: &mut String, metric: &str, histogram: &Histogram) {
    let metric = text_cell(metric);
    let mut cumulative = 0_u64;
    let mut bounds = histogram.lower_bounds().peekable();
    for (low, high, count) in histogram.buckets() {
        cumulative += count;
        let quantile = cumulative as f64 / histogram.count() as f64;
        let bounds_here = bounds.next_if(|(at, ..)| *at == low);
        let at_least = bounds_here.map_or(0, |(.., count)| count);
        let written = writeln!(
            out,
            "{metric},{low},{high},{count},{cumulative},{quantile:.6},{at_least}"
        );
        debug_assert!(written.is_ok(), "a String takes any text");
    }
}

/// A text as one cell that no spreadsheet takes for a formula: a text that starts like a formula
/// gets an apostrophe, control characters become U+FFFD, and a text with a separator is quoted. The
/// first letters are those of OWASP's page on CSV injection, with their wide forms.
pub(crate) fn text_cell(text: &str) -> String {
    let mut cell: String = text
        .chars()
        .map(|c| if is_dangerous(c) { '\u{fffd}' } else { c })
        .collect();
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) {
        cell.insert(0, '\'');
    }
    if cell.contains([',', '"', ';', '\'']) || cell.trim() != cell {
        cell = format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_data_and_nothing_else() {
        for (text, cell) in [
            ("response_time", "response_time"),
            ("step(a,b).lag", "\"step(a,b).lag\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=1+1", "\"'=1+1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("-2", "\"'-2\""),
            ("\t=1", "\"'\u{fffd}=1\""),
            (
                "two\nlines\u{1b}[2J\u{202e}",
                "two\u{fffd}lines\u{fffd}[2J\u{fffd}",
            ),
        ] {
            assert_eq!(text_cell(text), cell);
        }
    }
}
