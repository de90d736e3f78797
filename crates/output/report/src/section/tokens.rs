//! The answers of language models: tokens, reasons, speed and goodput; and a table by step.

use super::{Body, Cell, Column, Facts, Grid, PageExtent, Section};
use crate::line::Ink;
use crate::quantity::{count, counted, rate, share, tokens_per_s};
use crate::step_name::StepName;
use drumfire_measure::{Gauge, InferenceRecord, LlmFigures, Summary};
use drumfire_plan::{EventClass, Finish, Slo, Threshold};
use drumfire_units::Nanos;
use std::cmp::Reverse;

/// The quantiles of the table by step, with their headings and the order in which the columns give
/// way.
const TTFT: [(&str, f64, u8); 2] = [("ttft p50", 0.5, 3), ("ttft p99", 0.99, 0)];
const TPOT: [(&str, f64, u8); 2] = [("tpot p50", 0.5, 2), ("tpot p99", 0.99, 4)];

/// A line each for tokens, the speed and each rule on goodput. `None` if no response was read as an
/// answer.
pub(super) fn section(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let llm = summary.total.llm()?;
    let mut bodies = vec![
        Body::Facts(Facts::items("Tokens", tokens(llm))),
        Body::Facts(Facts::items("Speed", speed(summary, llm))),
    ];
    if let Some(record) = summary.inference.as_deref() {
        bodies.push(Body::Facts(Facts::items("Server", server(record))));
    }
    let slos = Threshold::slos(&summary.info.thresholds);
    let goodput = slos.iter().enumerate();
    bodies.extend(goodput.map(|(number, slo)| {
        Body::Facts(Facts::items(
            "Goodput",
            goodput_of(summary, llm, number, slo),
        ))
    }));
    let explanation = "Numbers of tokens are the server\u{2019}s. A token counts when it arrives, \
                       also in an answer that fails later. Good answers are ok and within all \
                       limits; goodput is their share of the answers that became due.";
    let section = Section::new("llm", "Answers", explanation, bodies)?;
    Some(section.remarked(remarks(llm)))
}

/// Tokens in and out, and how answers ended.
fn tokens(llm: &LlmFigures) -> Vec<Cell> {
    let cached = match llm.cache_reports {
        0 => String::new(),
        _ => format!(
            " ({} cached, {})",
            count(llm.cached),
            share(llm.cached, llm.input)
        ),
    };
    let asked = match llm.asked {
        0 => String::new(),
        asked => format!(" of {} asked", count(asked)),
    };
    let mut items = vec![
        Cell::new(format!("{} in{cached}", count(llm.input))),
        Cell::new(format!("{} out{asked}", count(llm.tokens()))).inked(Ink::Bold),
    ];
    if llm.reasoning > 0 {
        items.push(Cell::new(format!(
            "{} of them reasoning",
            count(llm.reasoning)
        )));
    }
    let reasons = Finish::ALL.into_iter();
    items.extend(reasons.filter_map(|reason| {
        let n = llm.finished(reason);
        (n > 0).then(|| Cell::new(format!("finish {}: {}", reason.name(), count(n))))
    }));
    if llm.short > 0 {
        let short = format!("{} shorter than asked", count(llm.short));
        items.push(Cell::new(short).inked(Ink::Warn));
    }
    items
}

/// Tokens per second of all answers and of one; nothing without tokens, as of embeddings.
fn speed(summary: &Summary, llm: &LlmFigures) -> Vec<Cell> {
    if summary.duration == Nanos::ZERO || llm.tokens() == 0 {
        return Vec::new();
    }
    let per_s = llm.tokens() as f64 / summary.duration.as_secs_f64();
    let mut items = vec![Cell::new(tokens_per_s(per_s)).inked(Ink::Bold)];
    let quantiles = [("p50", 0.5), ("p10", 0.1)];
    items.extend(quantiles.into_iter().filter_map(|(name, q)| {
        let speed = llm.speed(q)?;
        Some(Cell::new(format!(
            "{} an answer ({name})",
            tokens_per_s(speed)
        )))
    }));
    if let Some(mean) = summary.in_flight_mean() {
        items.push(Cell::new(format!("{} in flight (mean)", few(mean))));
    }
    // Half of the answers, or more, have no time between their tokens.
    if llm.tpot.quantile(0.5) == Some(Nanos::ZERO) {
        let text = "an answer\u{2019}s speed is unknown: its tokens came in one read";
        items.push(Cell::new(text).inked(Ink::Warn));
    }
    items
}

/// A mean number of requests.
fn few(mean: f64) -> String {
    match mean {
        0.0..10.0 => format!("{mean:.1}"),
        _ => count(mean.round() as u64),
    }
}

/// The gauges of the inference server over the run.
fn server(record: &InferenceRecord) -> Vec<Cell> {
    let whole = record.whole().unwrap_or_default();
    let requests = |gauge: Option<Gauge>, what: &str| {
        let gauge = gauge?;
        let (mean, max) = (few(gauge.mean), count(gauge.max.max(0.0) as u64));
        Some(Cell::new(format!("{mean} {what} (at most {max})")))
    };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let cache = whole.kv_cache.map(|gauge| {
        let (mean, max) = (percent(gauge.mean), percent(gauge.max));
        Cell::new(format!("KV cache {mean} (at most {max})"))
    });
    let failed = (record.failed_reads > 0).then(|| {
        let text = format!("{} failed", counted(record.failed_reads, "read"));
        Cell::new(text).inked(Ink::Warn)
    });
    let items = [
        requests(whole.running, "running"),
        requests(whole.waiting, "waiting"),
        cache,
        failed,
    ];
    items.into_iter().flatten().collect()
}

/// The good answers by one rule.
fn goodput_of(summary: &Summary, llm: &LlmFigures, number: usize, slo: &Slo) -> Vec<Cell> {
    let good = llm.good.get(number).copied().unwrap_or(0);
    let due = llm.due(&summary.total.counts);
    let mut items = vec![
        Cell::new(slo.to_string()),
        Cell::new(format!("{} of {}", share(good, due), count(due))).inked(Ink::Bold),
    ];
    if summary.duration > Nanos::ZERO {
        let per_s = good as f64 / summary.duration.as_secs_f64();
        items.push(Cell::new(rate(per_s)));
    }
    if llm.open > 0 {
        items.push(Cell::new(format!("{} open", count(llm.open))).inked(Ink::Warn));
    }
    items
}

/// Sentences on events without a meaning, events that arrived together, and missing counts.
fn remarks(llm: &LlmFigures) -> Vec<String> {
    let mut remarks = Vec::new();
    let gaps = llm.gap.count();
    if llm.joined * 10 > gaps {
        let part = share(llm.joined, gaps);
        remarks.push(format!(
            "{part} of the gaps are 0: several events arrived in one read, so low quantiles of \
             `gap` describe the server\u{2019}s writes."
        ));
    }
    let uncounted = llm.streamed.saturating_sub(llm.counted);
    if uncounted > 0 {
        remarks.push(format!(
            "{} without the server\u{2019}s count of tokens: each event counts as one token, and \
             `tpot` is unknown. Request the count with stream_options.include_usage.",
            counted(uncounted, "streamed answer")
        ));
    }
    let all: u64 = llm.events.iter().sum();
    for (class, what) in [
        (EventClass::Unknown, "unknown contents"),
        (EventClass::Bad, "data that are not JSON"),
    ] {
        let n = llm.events_of(class);
        if n > 0 && n.saturating_mul(100) > all {
            remarks.push(format!("{} with {what}.", counted(n, "event")));
        }
    }
    remarks
}

/// A row for each step whose responses are answers, in the order of the plan, if there are several
/// steps. If there are more rows than the printer's number, only those with the greatest times to
/// the first token are shown.
pub(super) fn of_steps(summary: &Summary, extent: &PageExtent) -> Option<Section> {
    let steps = summary.steps();
    if steps.len() < 2 {
        return None;
    }
    let rows = steps
        .iter()
        .filter_map(|step| Some((StepName::from_step(step), step.llm()?)));
    let mut rows: Vec<_> = rows.collect();
    let model = summary.model();
    let total = rows.len();
    if total > extent.rows {
        rows.sort_by_key(|(_, llm)| Reverse(llm.ttft_of(model).max()));
        rows.truncate(extent.rows);
    }
    let remark = (total > extent.rows).then(|| {
        let all = counted(total as u64, "step");
        format!(
            "The {} slowest of {all}; --json has all of them.",
            extent.rows
        )
    });
    let mut columns = vec![
        Column::names("step"),
        Column::numbers("answers", 1),
        Column::numbers("in", 6),
        Column::numbers("out", 5),
    ];
    let quantiles = TTFT.into_iter().chain(TPOT);
    columns.extend(quantiles.map(|(heading, _, order)| Column::numbers(heading, order)));
    let rows = rows.iter().map(|(name, llm)| {
        let mut cells = vec![
            Cell::code(name.words()),
            Cell::count(llm.answers),
            Cell::count(llm.input),
            Cell::count(llm.tokens()),
        ];
        cells.extend(TTFT.map(|(_, q, _)| Cell::quantile(llm.ttft_of(model), q)));
        cells.extend(TPOT.map(|(_, q, _)| Cell::quantile(&llm.tpot, q)));
        cells.into()
    });
    let grid = Grid::new(columns, rows);
    let explanation = "Answers of each step: `ttft` is the time to the first token, `tpot` the time \
                       per token after it.";
    let section = Section::table("llm-steps", "Answers by step", grid, explanation)?;
    Some(section.remarked(remark))
}
