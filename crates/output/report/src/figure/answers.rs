//! The answers of language models over time: the times to the first token and per token, and the
//! tokens per second.

use super::over_time::{marks, of_rows, spread_time, time, values};
use super::{Axis, Figure, Plot, Role, Series, Unit, plot_of};
use drumfire_measure::{IntervalRow, LlmRow, Spread, Summary};
use drumfire_units::Nanos;

/// The quantiles over time, with their ranks.
const QUANTILES: [(&str, u8); 4] = [("p50", 0), ("p90", 1), ("p99", 3), ("max", 4)];

/// The figure with this name; `None` if the run has no answers, or not these times.
pub(super) fn figure(name: &str, summary: &Summary, rows: &[IntervalRow]) -> Option<Figure> {
    let llm = summary.total.llm()?;
    match name {
        "ttft" if !llm.ttft.is_empty() => Some(times(
            Words {
                name: "ttft",
                title: "Time to the first token",
                question: "When does an answer begin?",
            },
            |llm| llm.ttft,
            summary,
            rows,
        )),
        "tpot" if !llm.tpot.is_empty() => Some(times(
            Words {
                name: "tpot",
                title: "Time per token",
                question: "How fast does an answer continue?",
            },
            |llm| llm.tpot,
            summary,
            rows,
        )),
        "tokens" if llm.tokens() > 0 => Some(tokens(summary, rows)),
        _ => None,
    }
}

/// The words of a figure.
struct Words {
    name: &'static str,
    title: &'static str,
    question: &'static str,
}

/// Quantiles of a time of answers, as bands.
fn times(
    words: Words,
    of: fn(&LlmRow) -> Spread,
    summary: &Summary,
    rows: &[IntervalRow],
) -> Figure {
    let quantile = |(name, rank): (&'static str, u8)| {
        of_rows(name, Role::Rank(rank), rows, |row| {
            let named = row.llm.as_ref().map(|llm| of(llm).named());
            let found = named.and_then(|named| named.into_iter().find(|(of, _)| *of == name));
            spread_time(found.and_then(|(_, time)| time))
        })
    };
    let all: Vec<Series> = QUANTILES.into_iter().map(quantile).collect();
    Figure {
        name: words.name,
        title: words.title.to_owned(),
        question: words.question,
        x: time(rows),
        y: Axis::log("time", Unit::Time, values(&all)),
        plot: plot_of(all, Plot::Bands, "No interval has enough answers."),
        marks: marks(summary, rows),
        note: None,
    }
}

/// Generated tokens per second.
fn tokens(summary: &Summary, rows: &[IntervalRow]) -> Figure {
    let whole = summary.info.interval;
    let per_second = |row: &IntervalRow| {
        let has_rate = row.length() > Nanos::ZERO && (row.length() >= whole || rows.len() == 1);
        let tokens = row.llm.as_ref().map_or(0, |llm| llm.tokens);
        has_rate.then(|| tokens as f64 / row.length().as_secs_f64())
    };
    let all = vec![of_rows("tokens", Role::Good, rows, |row| {
        (per_second(row), false)
    })];
    Figure {
        name: "tokens",
        title: "Tokens".to_owned(),
        question: "How many tokens does the service generate?",
        x: time(rows),
        y: Axis::linear("tokens per second", Unit::PerSecond, values(&all)),
        plot: plot_of(all, Plot::Lines, "The run was shorter than an interval."),
        marks: marks(summary, rows),
        note: None,
    }
}
