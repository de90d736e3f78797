//! The six numbers that people look for first: the same for every run, with a dash for an unknown
//! one and the highest supported quantile in the place of the p99; then iterations, messages and
//! answers, if the run has any. A number has its course over the run, and the rule on it with its
//! result.

use crate::answers::rule;
use crate::figure::Spark;
use crate::markup::Markup;
use crate::quantity::{count, quantile, rate, sent_or_begun, share};
use crate::run_list::RATE_FROM;
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_measure::{IntervalRow, Spread, Summary, ThresholdResult};
use drumfire_plan::{Metric, Times};
use drumfire_units::Nanos;

/// The maximum number of columns of a course.
const COLUMNS: usize = 40;
/// The number of tiles that a usual page has in a row. More of them make two rows.
const IN_A_ROW: usize = 8;

/// A number with its name.
struct NumberTile<'a> {
    name: &'static str,
    value: String,
    /// The number with which to compare the value, or its unit.
    aside: Option<String>,
    /// The rule on the number: one that failed, or else the first.
    rule: Option<&'a ThresholdResult>,
    /// The number in each interval.
    course: Option<Spark>,
}

/// Appends the part `numbers`. `rows` is the run over time.
pub(super) fn print(out: &mut Markup, summary: &Summary, rows: &[IntervalRow]) {
    let tiles = requests(summary, rows).into_iter();
    let tiles = tiles.chain(times(summary, rows));
    let tiles = tiles.chain(iterations(summary)).chain(messages(summary));
    let tiles: Vec<NumberTile<'_>> = tiles.chain(answers(summary, rows)).collect();
    let class = match tiles.len() > IN_A_ROW {
        true => "numbers many",
        false => "numbers",
    };
    out.open("dl", &[("id", "numbers"), ("class", class)]);
    for tile in &tiles {
        tile.print(out);
    }
    out.close("dl");
}

/// The tiles of requests, their rate and their failures.
fn requests<'a>(summary: &'a Summary, rows: &[IntervalRow]) -> [NumberTile<'a>; 3] {
    let counts = &summary.total.counts;
    let begun = sent_or_begun(summary.total.without_data());
    let asked = summary.intended_per_s();
    let has_rate = summary.duration >= RATE_FROM.0 && counts.sent >= RATE_FROM.1;
    [
        NumberTile {
            name: "Requests",
            value: count(counts.sent),
            aside: Some(begun.to_owned()),
            rule: None,
            course: None,
        },
        NumberTile {
            name: "Rate",
            value: match has_rate {
                true => rate(summary.achieved_per_s()),
                false => "–".to_owned(),
            },
            aside: asked.map(|asked| format!("of {} asked", rate(asked))),
            rule: rule_on(summary, |metric| matches!(metric, Metric::Rate)),
            course: course(rows, |row| Some(row.ended_per_s())),
        },
        NumberTile {
            name: "Failed",
            value: share(counts.failed, counts.sent),
            aside: Some(format!("{} requests", count(counts.failed))),
            rule: rule_on(summary, |metric| {
                matches!(metric, Metric::Failed | Metric::Failures)
            }),
            course: match counts.failed {
                0 => None,
                _ => course(rows, |row| Some((row.bad + row.failed) as f64)),
            },
        },
    ]
}

/// A quantile of the latency: its name as a tile, its share, and its time in a row.
type Quantile = (
    &'static str,
    f64,
    fn(&IntervalRow) -> Option<drumfire_measure::SpreadTime>,
);

const MEDIAN: Quantile = ("Median", 0.5, |row| row.latency.p50);
const SLOWEST: Quantile = ("Slowest", 1.0, |row| row.latency.max);
/// The quantiles in the place of the p99, of which the first that the count supports is shown.
const HIGH: [Quantile; 3] = [
    ("p99", 0.99, |row| row.latency.p99),
    ("p95", 0.95, |row| row.latency.p95),
    ("p90", 0.9, |row| row.latency.p90),
];

/// The tiles of the latency.
fn times<'a>(summary: &'a Summary, rows: &[IntervalRow]) -> [NumberTile<'a>; 3] {
    let times = summary.latency();
    let is_of = |q: f64| {
        move |metric: &Metric| match metric {
            Metric::Quantile(of) => *of == q,
            Metric::Max => q == 1.0,
            _ => false,
        }
    };
    let high = HIGH.iter().find(|(_, q, _)| times.quantile(*q).is_some());
    let high = high.unwrap_or(&HIGH[0]);
    [&MEDIAN, high, &SLOWEST].map(|(name, q, of_row)| NumberTile {
        name,
        value: quantile(times, *q, Unicode::On).unwrap_or_else(|| "–".to_owned()),
        aside: (high.1 < HIGH[0].1 && *q == high.1).then(|| "too few requests for p99".to_owned()),
        rule: rule_on(summary, is_of(*q)),
        course: course(rows, |row| of_row(row).map(|time| time.time.0 as f64)),
    })
}

/// The iterations of all pools, if an iteration may have several requests.
fn iterations(summary: &Summary) -> Option<NumberTile<'_>> {
    let all = || {
        let pools = summary.pools();
        pools.filter_map(|(_, figures)| figures.iterations.as_ref())
    };
    all().next()?;
    let begun: u64 = all().map(|iterations| iterations.counts.sent).sum();
    let failed: u64 = all().map(|iterations| iterations.counts.failed).sum();
    Some(NumberTile {
        name: "Iterations",
        value: count(begun),
        aside: Some(match failed {
            0 => "started".to_owned(),
            failed => format!("started, {} failed", count(failed)),
        }),
        rule: rule_on(summary, |metric| matches!(metric, Metric::Iteration(_))),
        course: None,
    })
}

/// The received messages of streams.
fn messages(summary: &Summary) -> Option<NumberTile<'_>> {
    let messages = &summary.total.messages;
    if !messages.any() {
        return None;
    }
    let per_second = match summary.duration {
        Nanos::ZERO => None,
        span => Some(rate(messages.received as f64 / span.as_secs_f64())),
    };
    let first = quantile(&messages.first, 0.5, Unicode::On);
    let first = first.map(|time| format!("first after {time} (p50)"));
    let aside: Vec<String> = per_second.into_iter().chain(first).collect();
    Some(NumberTile {
        name: "Messages received",
        value: count(messages.received),
        aside: Some(aside.join(", ")),
        rule: None,
        course: None,
    })
}

/// The times to the first token and per token, and the tokens per second, if the run has answers.
fn answers<'a>(summary: &'a Summary, rows: &[IntervalRow]) -> Vec<NumberTile<'a>> {
    let Some(llm) = summary.total.llm() else {
        return Vec::new();
    };
    let is_of = |times| move |metric: &Metric| matches!(metric, Metric::Of(of, _) if *of == times);
    let ttft = llm.ttft_of(summary.model());
    let time = |histogram, q| quantile(histogram, q, Unicode::On);
    let tile = |name, histogram, rule, course| NumberTile {
        name,
        value: time(histogram, 0.5).unwrap_or_else(|| "–".to_owned()),
        aside: time(histogram, 0.99).map(|p99| format!("p50, p99 {p99}")),
        rule,
        course,
    };
    let mut tiles = vec![tile(
        "First token",
        ttft,
        rule_on(summary, is_of(Times::Ttft)),
        course(rows, |row| median(row.llm.as_ref()?.ttft)),
    )];
    if !llm.tpot.is_empty() {
        tiles.push(tile(
            "Per token",
            &llm.tpot,
            rule_on(summary, is_of(Times::Tpot)),
            course(rows, |row| median(row.llm.as_ref()?.tpot)),
        ));
    }
    if summary.duration > Nanos::ZERO {
        let per_second = llm.tokens() as f64 / summary.duration.as_secs_f64();
        tiles.push(NumberTile {
            name: "Tokens",
            value: rate(per_second),
            aside: Some(format!("{} generated", count(llm.tokens()))),
            rule: rule_on(summary, |metric| matches!(metric, Metric::Tokens)),
            course: course(rows, |row| Some(row.llm.as_ref()?.tokens as f64)),
        });
    }
    tiles
}

/// The median of times.
fn median(times: Spread) -> Option<f64> {
    times.p50.map(|time| time.time.0 as f64)
}

/// The rule on a number of the whole run: the first that failed, or else the first.
fn rule_on(summary: &Summary, is_on: impl Fn(&Metric) -> bool) -> Option<&ThresholdResult> {
    let rules = summary
        .info
        .thresholds
        .iter()
        .filter(|of| is_on(&of.metric));
    let results = || summary.thresholds.iter();
    let found: Vec<&ThresholdResult> = rules
        .filter_map(|rule| results().find(|result| result.expression == rule.expression))
        .collect();
    let failed = found.iter().find(|result| !result.passed);
    failed.or_else(|| found.first()).copied()
}

/// A number over time, in at most [`COLUMNS`] columns of the highest values of their rows; `None`
/// if fewer than three columns have a value.
fn course(rows: &[IntervalRow], value: impl Fn(&IntervalRow) -> Option<f64>) -> Option<Spark> {
    let each = rows.len().div_ceil(COLUMNS).max(1);
    let highest = |rows: &[IntervalRow]| rows.iter().filter_map(&value).reduce(f64::max);
    let columns: Vec<Option<f64>> = rows.chunks(each).map(highest).collect();
    let known = columns.iter().flatten().count();
    (known >= 3).then(|| Spark::new(columns))
}

impl NumberTile<'_> {
    fn print(&self, out: &mut Markup) {
        let failed: &[_] = match self.rule {
            Some(rule) if !rule.passed => &[("class", "is-bad")],
            _ => &[],
        };
        out.open("div", failed);
        out.element("dt", &[], self.name);
        out.open("dd", &[]);
        out.text(&self.value);
        if let Some(aside) = &self.aside {
            out.raw(" ");
            out.element("span", &[], aside);
        }
        out.close("dd");
        if let Some(of) = self.rule {
            let mark = if of.passed { "✓" } else { "✗" };
            let rule = foreign(&rule(of), Unicode::On);
            out.open("dd", &[("class", "rule")]);
            print_rule(out, &format!("{mark}\u{a0}{rule}"));
            out.close("dd");
        }
        if let Some(course) = &self.course {
            out.open("dd", &[("class", "course")]);
            course.draw(out, &format!("{} over time", self.name));
            out.close("dd");
        }
        out.close("div");
    }
}

/// Appends a rule, which a narrow tile may break after a dot and before its bound.
fn print_rule(out: &mut Markup, rule: &str) {
    let mut rest = rule;
    let is_break = |(at, letter): (usize, char)| match letter {
        '<' | '>' => Some(at),
        '.' => Some(at + 1),
        _ => None,
    };
    while let Some(at) = rest.char_indices().skip(1).find_map(is_break) {
        out.text(&rest[..at]);
        out.raw("<wbr/>");
        rest = &rest[at..];
    }
    out.text(rest);
}
