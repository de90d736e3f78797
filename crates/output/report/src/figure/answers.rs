//! The answers of language models: the times to the first token and per token, the tokens per second
//! and the gaps between events over time; and the time to the first token over the length of the
//! prompt.

use super::over_time::{marks, of_rows, spread_time, time, values};
use super::{Axis, Figure, Plot, Point, Role, Series, Unit, heat, plot_of};
use drumfire_measure::{IntervalRow, LlmFigures, LlmRow, Overview, Spread, Summary};
use drumfire_units::Nanos;

/// The quantiles over time, with their ranks.
const QUANTILES: [(&str, u8); 4] = [("p50", 0), ("p90", 1), ("p99", 3), ("max", 4)];

/// The names of these figures.
pub(super) const NAMES: [&str; 5] = ["ttft", "tpot", "tokens", "gaps", "prompts"];

/// The figure with this name of [`NAMES`], of a run or of a step of it with these figures, cells and
/// rows; `None` if these answers do not have it.
pub(super) fn figure(
    name: &str,
    summary: &Summary,
    llm: &LlmFigures,
    cells: &[Overview],
    rows: &[IntervalRow],
) -> Option<Figure> {
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
        "gaps" if !llm.gap.is_empty() => Some(heat::gaps(summary, cells, rows)),
        "prompts" => prompts(llm),
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

/// The time to the first token over the tokens of the prompt; `None` unless prompts of two lengths
/// had answers.
fn prompts(llm: &LlmFigures) -> Option<Figure> {
    let lengths: Vec<(f64, f64, Spread)> = llm
        .ttft_by_prompt()
        .map(|(tokens, times)| {
            let (from, to) = (tokens.start.max(1) as f64, tokens.end as f64);
            (from, to, Spread::from_histogram(times))
        })
        .collect();
    let (Some(first), Some(last)) = (lengths.first(), lengths.last()) else {
        return None;
    };
    let (from, to) = (first.0, last.1);
    let series = |(name, rank): (&'static str, u8)| Series {
        name,
        role: Role::Rank(rank),
        points: lengths
            .iter()
            .map(|(from, to, times)| {
                let named = times.named();
                let found = named.iter().find(|(of, _)| *of == name);
                let (y, is_at_least) = spread_time(found.and_then(|(_, time)| *time));
                Point {
                    x: (from * to).sqrt().round(),
                    y,
                    is_at_least,
                }
            })
            .collect(),
    };
    let all: Vec<Series> = QUANTILES.into_iter().map(series).collect();
    (lengths.len() > 1).then(|| Figure {
        name: "prompts",
        title: "Time to the first token by prompt".to_owned(),
        question: "Do long prompts take longer?",
        x: Axis::log("tokens of the prompt", Unit::Count, [from, to]),
        y: Axis::log("time", Unit::Time, values(&all)),
        plot: plot_of(all, Plot::Bands, "No prompt has a count of tokens."),
        marks: Vec::new(),
        note: Some("A point is for prompts of 0.7 to 1.4 times its length.".to_owned()),
    })
}
