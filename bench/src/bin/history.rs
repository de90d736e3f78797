//! Simulated histories of runs of one plan: how often a steady history is reported as changed, and
//! how often a step is found at its run.
//!
//! A run has a level common to its quantiles, and a deviation of each: p50, p95 and p99 move
//! together. Levels differ from run to run in one of three ways: independently, depending on the
//! previous run (autoregression), or with outliers, which are runs on a busy machine. The procedure
//! comes from `drumfire runs --trend`. For comparison, the table has the result if the levels
//! before and after the step, the spread, and the independence of runs are known.

use clap::Parser;
use drumfire_plan::Random;
use drumfire_stats::{Divisive, SeriesChange, Track};
use std::io::{Result, Write};

/// Simulate histories of `drumfire runs --trend`, and print how often it is right and wrong
#[derive(Debug, Parser)]
struct Flags {
    /// Histories of each row
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    histories: u32,
    /// The seed of the noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The deviation of p50, p95 and p99 within a run, in addition to the deviation of the run.
const WITHIN: [f64; 3] = [0.003, 0.007, 0.015];
/// The probability of a false finding in any figure of a history.
const ERROR: f64 = 0.05;
/// The smallest change that matters.
const LEAST: f64 = 0.02;

/// The noise of runs.
#[derive(Clone, Copy, Debug)]
struct HistoryNoise {
    /// The deviation between runs.
    between: f64,
    /// The fraction of a run's level that the next run keeps.
    kept: f64,
    /// The share of runs that a busy machine slows by a fifth.
    outliers: f64,
}

/// One row of a table.
#[derive(Clone, Copy, Debug)]
struct Row {
    runs: usize,
    /// The first run after the step; `None` draws it, with at least ten runs on each side.
    at: Option<usize>,
    step: f64,
    noise: HistoryNoise,
}

/// The results for one history.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a column of the table each")]
struct Found {
    /// A figure has a change that does not exist.
    is_false: bool,
    /// p50 has the step, at most one run away.
    near: bool,
    /// p50 has a step.
    any: bool,
    /// The step is within the reported range of runs.
    within: bool,
    /// The step is at most one run from the most probable place according to the true levels.
    known: bool,
}

/// The header of the table.
const HEAD: &str = "| runs | step | spread | kept | outliers | found within one run | found | in the range named | \
a false one | with levels known |\n|---|---|---|---|---|---|---|---|---|---|\n";

fn main() -> Result<()> {
    let flags = Flags::parse();
    let mut out = std::io::stdout();
    let quiet = HistoryNoise {
        between: 0.02,
        kept: 0.0,
        outliers: 0.0,
    };
    let noises = [
        quiet,
        HistoryNoise { kept: 0.3, ..quiet },
        HistoryNoise { kept: 0.5, ..quiet },
        HistoryNoise { kept: 0.8, ..quiet },
        HistoryNoise {
            outliers: 0.05,
            ..quiet
        },
        HistoryNoise {
            kept: 0.5,
            outliers: 0.05,
            ..quiet
        },
    ];
    let rows = |step| {
        noises.iter().flat_map(move |noise| {
            [24, 40, 100].map(|runs| Row {
                runs,
                at: None,
                step,
                noise: *noise,
            })
        })
    };
    let tenfold = rows(9.0).filter(|row| row.runs <= 40);
    write!(out, "{HEAD}")?;
    for row in rows(0.0).chain(rows(0.05)).chain(tenfold) {
        print(&row, &flags, &mut out)?;
    }
    for behind in [3, 4, 5, 8] {
        let row = Row {
            runs: 40,
            at: Some(40 - behind),
            step: 0.05,
            noise: quiet,
        };
        print(&row, &flags, &mut out)?;
    }
    Ok(())
}

/// Prints the shares of a row's histories.
fn print(row: &Row, flags: &Flags, out: &mut impl Write) -> Result<()> {
    let found = (0..flags.histories).map(|number| history(row, flags, number));
    let found: Vec<Found> = found.collect();
    let share = |of: fn(&Found) -> bool| {
        let count = found.iter().filter(|found| of(found)).count();
        format!("{:.1} %", 100.0 * count as f64 / found.len() as f64)
    };
    let of_step = |of: fn(&Found) -> bool| match row.step > 0.0 {
        true => share(of),
        false => "–".to_owned(),
    };
    let HistoryNoise {
        between,
        kept,
        outliers,
    } = row.noise;
    let runs = match row.at {
        Some(at) => format!("{}, {} after it", row.runs, row.runs - at),
        None => row.runs.to_string(),
    };
    writeln!(
        out,
        "| {runs} | {:.0} % | {:.0} % | {kept} | {:.0} % | **{}** | {} | {} | **{}** | {} |",
        100.0 * row.step,
        100.0 * between,
        100.0 * outliers,
        of_step(|found| found.near),
        of_step(|found| found.any),
        of_step(|found| found.within),
        share(|found| found.is_false),
        of_step(|found| found.known),
    )?;
    out.flush()
}

/// One history, judged.
fn history(row: &Row, flags: &Flags, number: u32) -> Found {
    let mut random = Random::new(flags.seed, u64::from(number), row.runs as u64, 0);
    let drawn = 10 + random.below(row.runs as u64 - 19) as usize;
    let at = row.at.unwrap_or(drawn);
    let levels = levels(row, at, &mut random);
    let figures = WITHIN.map(|within| {
        let figure = levels.iter().map(|level| level + within * random.normal());
        figure.collect::<Vec<f64>>()
    });
    let rate: Vec<f64> = levels.iter().map(|_| 1e-4 * random.normal()).collect();
    let search = Divisive {
        error: ERROR,
        seed: u64::from(number),
    };
    let tracks = figures.into_iter().chain([rate]).map(|values| Track {
        values,
        least: LEAST.ln_1p(),
    });
    let found = search.changes(&tracks.collect::<Vec<_>>());
    let is_near = |of: &SeriesChange| of.at.abs_diff(at) <= 1;
    let p50 = &found[0];
    let is_step = |of: &SeriesChange| {
        row.step > 0.0 && (is_near(of) || of.likely.0 <= at && at <= of.likely.1)
    };
    // One change is the step, which may be found at another run; any further change is false.
    let allowed = usize::from(row.step > 0.0);
    let is_false = |of: &Vec<SeriesChange>| of.len() > allowed;
    let known = likeliest(&levels, row.step.ln_1p(), row.noise.between);
    Found {
        is_false: found.iter().any(is_false),
        near: p50.iter().any(is_near),
        any: !p50.is_empty(),
        within: p50.iter().any(is_step),
        known: known.abs_diff(at) <= 1,
    }
}

/// The logarithms of the levels of a history's runs.
fn levels(row: &Row, at: usize, random: &mut Random) -> Vec<f64> {
    let HistoryNoise {
        between,
        kept,
        outliers,
    } = row.noise;
    let mut wave = between * random.normal();
    let level = |number: usize| {
        wave = kept * wave + between * (1.0 - kept * kept).sqrt() * random.normal();
        let outlier = match random.unit() < outliers {
            true => 0.2,
            false => 0.0,
        };
        let step = if number >= at { row.step.ln_1p() } else { 0.0 };
        wave + outlier + step
    };
    (0..row.runs).map(level).collect()
}

/// The place with the highest probability within one run of it, if the levels 0 and `step` and the
/// deviation are known and every place is equally likely.
fn likeliest(levels: &[f64], step: f64, deviation: f64) -> usize {
    let mut squares = 0.0;
    let logs = levels.iter().map(|value| {
        squares += (value - step).powi(2) - value * value;
        squares / (2.0 * deviation * deviation)
    });
    let logs: Vec<f64> = logs.collect();
    let most = logs.iter().fold(f64::MIN, |most, log| most.max(*log));
    let near = |at: usize| {
        let around = at.saturating_sub(1)..(at + 2).min(logs.len());
        logs[around]
            .iter()
            .map(|log| (log - most).exp())
            .sum::<f64>()
    };
    let best = (0..logs.len()).max_by(|one, other| near(*one).total_cmp(&near(*other)));
    best.map_or(0, |last| last + 1)
}
