//! The run as an interval log of HdrHistogram, format 1.3: the distribution of each interval, for
//! HdrHistogram's tools.
//!
//! Rows without a tag are *the* latency of the run over time. The tag `step:NAME` is a step over
//! time, or in one row if a run has too many steps; `pool:NAME` is one of several pools in one row.
//! A row covers an interval, or several merged ones of a long run.
//!
//! The payload has the same buckets as our histograms. A reader shows the upper bound of a bucket
//! instead of our exact extremes, a difference of up to a thousandth. The format can't mark lower
//! bounds, and times beyond an hour are in the last bucket.

use crate::step_name::StepName;
use crate::style::Unicode;
use crate::untrusted::{Untrusted, is_dangerous};
use crate::{calendar, secret};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_measure::{Histogram, Overview, Summary, encode_v2};
use drumfire_units::Nanos;
use std::fmt::Write as _;

/// The names of a row's columns in HdrHistogram's logs.
const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// The unit of the column for people: milliseconds.
const NANOS_PER_MILLI: f64 = 1e6;

/// The log of a finished run.
#[must_use]
pub fn log(summary: &Summary) -> Vec<u8> {
    let mut out = String::new();
    head(&mut out, summary);
    for cell in summary.over_time() {
        row(&mut out, None, &Span::from_cell(&cell), cell.latency());
    }
    steps(&mut out, summary);
    pools(&mut out, summary);
    out.into_bytes()
}

/// Rows of each step: over time, or one of the whole.
fn steps(out: &mut String, summary: &Summary) {
    for (number, (pool, figures)) in summary.pools().enumerate() {
        let steps = summary.steps_of(pool, figures);
        if steps.len() < 2 {
            continue;
        }
        for (index, step) in steps.iter().enumerate() {
            let tag = tag("step", &StepName::from_step(step).path());
            match summary.step_over_time(number, index) {
                Some(cells) => {
                    for cell in cells.filter(|cell| !cell.latency().is_empty()) {
                        row(out, Some(&tag), &Span::from_cell(&cell), cell.latency());
                    }
                }
                None => row(
                    out,
                    Some(&tag),
                    &Span::whole(summary),
                    step.times(pool.model.latency_kind(&figures.latency)),
                ),
            }
        }
    }
}

/// A row of each pool, if there are several.
fn pools(out: &mut String, summary: &Summary) {
    if summary.info.pools.len() < 2 {
        return;
    }
    for (pool, figures) in summary.pools() {
        let times = pool.model.latency(&figures.latency);
        row(
            out,
            Some(&tag("pool", &pool.name)),
            &Span::whole(summary),
            times,
        );
    }
}

/// The comments with the format and the time.
fn head(out: &mut String, summary: &Summary) {
    let info = &summary.info;
    let started = info.started_at_unix_ns as f64 / 1e9;
    let date = calendar::rfc3339_millis(info.started_at_unix_ns);
    // Writing to a String can't fail.
    let _ = write!(
        out,
        "#[Logged with drumfire {}]\n\
         #[Histogram log format version 1.3]\n\
         #[Values are nanoseconds, Interval_Max is milliseconds]\n\
         #[StartTime: {started:.3} (seconds since epoch), {date}]\n\
         #[BaseTime: {started:.3} (seconds since epoch)]\n\
         {LEGEND}",
        Untrusted::new(&info.version).escaped(Unicode::On),
    );
}

/// The part of a run's time that a row covers.
struct Span {
    start: Nanos,
    length: Nanos,
}

impl Span {
    /// The span of one cell of the timeline.
    fn from_cell(cell: &Overview) -> Self {
        Self {
            start: cell.start(),
            length: cell.end() - cell.start(),
        }
    }

    /// The measured span.
    fn whole(summary: &Summary) -> Self {
        Self {
            start: summary.left_out(),
            length: summary.duration,
        }
    }
}

/// Appends a row: its tag, its span in seconds, its greatest value in milliseconds, and the
/// histogram in the V2 encoding, as base64.
fn row(out: &mut String, tag: Option<&str>, span: &Span, times: &Histogram) {
    if let Some(tag) = tag {
        out.extend(["Tag=", tag, ","]);
    }
    let most = times.max().0 as f64 / NANOS_PER_MILLI;
    let (start, length) = (span.start.as_secs_f64(), span.length.as_secs_f64());
    let payload = STANDARD.encode(encode_v2(times));
    // Writing to a String can't fail.
    let _ = writeln!(out, "{start:.3},{length:.3},{most:.3},{payload}");
}

/// A tag for a name. What ends a tag or a line is percent-encoded, so that two names never share a
/// tag.
fn tag(kind: &str, name: &str) -> String {
    let mut tag = format!("{kind}:");
    for letter in secret::url(name).chars() {
        if !(matches!(letter, '%' | ',' | '"') || letter.is_whitespace() || is_dangerous(letter)) {
            tag.push(letter);
            continue;
        }
        for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
            // Writing to a String can't fail.
            let _ = write!(tag, "%{byte:02X}");
        }
    }
    tag
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn two_names_never_share_a_tag() {
        for (name, expected) in [
            ("GET /a?b=1", "step:GET%20/a?b=1"),
            ("GET%20/a?b=1", "step:GET%2520/a?b=1"),
            ("\"quoted\", so", "step:%22quoted%22%2C%20so"),
            ("größe", "step:größe"),
        ] {
            assert_eq!(tag("step", name), expected);
        }
    }
}
