//! Simulated experiments of `drumfire ab`: how often equal programs are reported as different, and
//! how often a shift is found.
//!
//! A run differs by a level, which depends on the previous run (autoregression), drifts from run to
//! run, and is common to all quantiles; and by a deviation of each quantile. The procedure is the
//! program's: pairs in the order A B B A, with looks after 6, 8, 10, … pairs. For comparison, the
//! table has a single look at the end, Holm's procedure, and all runs of A before all runs of B.

use clap::Parser;
use drumfire_plan::Random;
use drumfire_stats::{Differences, InterimLooks, RankSum, SignedRank, holm};
use std::io::{Result, Write};

/// Simulate experiments of `drumfire ab`, and print how often they are right and wrong
#[derive(Debug, Parser)]
struct Flags {
    /// Experiments of each row
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    experiments: u32,
    /// The seed of the noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The smallest shift that matters
    #[arg(long, default_value_t = 0.02)]
    least: f64,
}

/// The deviation of p50, p95 and p99 within a run, in addition to the deviation of the run.
const WITHIN: [f64; 3] = [0.003, 0.007, 0.015];

/// The noise of runs.
#[derive(Clone, Copy, Debug)]
struct AbNoise {
    /// The deviation between runs.
    between: f64,
    /// The fraction of a run's level that the next run keeps.
    kept: f64,
    /// The relative growth from run to run.
    drift: f64,
}

/// One row of a table.
#[derive(Clone, Copy, Debug)]
struct Row {
    pairs: usize,
    noise: AbNoise,
    /// The truth: B is slower by this share.
    shift: f64,
}

/// The answers of one experiment: whether any figure was found different.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a column of the table each")]
struct Found {
    /// With the program's procedure, and the number of pairs that it took.
    looks: bool,
    pairs: usize,
    /// With one look at the end.
    once: bool,
    /// With one look and Holm's procedure.
    holm: bool,
    /// With p50 alone, regardless of the smallest shift.
    single: bool,
    /// With sets of runs, all of A before all of B, and Holm's procedure.
    sets: bool,
}

/// The header of the table.
const HEAD: &str = "| pairs | between runs | kept | drift a run | A B B A, looks | pairs taken | one look | one \
look, Holm | p50 alone, any shift | AABB |\n|---|---|---|---|---|---|---|---|---|---|\n";

fn main() -> Result<()> {
    let flags = Flags::parse();
    let mut out = std::io::stdout();
    let quiet = |between| AbNoise {
        between,
        kept: 0.0,
        drift: 0.0,
    };
    let (none, three) = (0.0, 0.03);
    let noises = [
        quiet(0.02),
        AbNoise {
            kept: 0.5,
            ..quiet(0.02)
        },
        AbNoise {
            drift: 0.01,
            ..quiet(0.02)
        },
        AbNoise {
            between: 0.02,
            kept: 0.5,
            drift: 0.01,
        },
        AbNoise {
            between: 0.03,
            kept: 0.8,
            drift: 0.003,
        },
    ];
    let rows = |shift| {
        noises.iter().flat_map(move |noise| {
            [6, 10, 20].map(|pairs| Row {
                pairs,
                noise: *noise,
                shift,
            })
        })
    };
    write!(out, "## Equal programs that are judged different\n\n{HEAD}")?;
    for row in rows(none) {
        print(&row, &flags, &mut out)?;
    }
    write!(out, "\n## A shift of 3 % that is found\n\n{HEAD}")?;
    let wider = [(10, 0.03), (20, 0.03), (20, 0.05)].map(|(pairs, between)| Row {
        pairs,
        noise: quiet(between),
        shift: three,
    });
    for row in rows(three).chain(wider) {
        print(&row, &flags, &mut out)?;
    }
    writeln!(out, "\n## The shift that four of five experiments find\n")?;
    writeln!(out, "| pairs | deviations between runs |\n|---|---|")?;
    for pairs in [6, 8, 10, 12, 16, 20, 30] {
        writeln!(out, "| {pairs} | {:.2} |", resolution(pairs, &flags))?;
    }
    Ok(())
}

/// Prints the shares of a row's experiments.
fn print(row: &Row, flags: &Flags, out: &mut impl Write) -> Result<()> {
    let found = (0..flags.experiments).map(|number| experiment(row, flags, number));
    let found: Vec<Found> = found.collect();
    let share = |of: fn(&Found) -> bool| {
        100.0 * found.iter().filter(|found| of(found)).count() as f64 / found.len() as f64
    };
    let taken: usize = found.iter().map(|found| found.pairs).sum();
    let AbNoise {
        between,
        kept,
        drift,
    } = row.noise;
    writeln!(
        out,
        "| {} | {:.0} % | {kept} | {:.1} % | **{:.1} %** | {:.1} | {:.1} % | {:.1} % | {:.1} % | {:.1} % |",
        row.pairs,
        100.0 * between,
        100.0 * drift,
        share(|found| found.looks),
        taken as f64 / found.len() as f64,
        share(|found| found.once),
        share(|found| found.holm),
        share(|found| found.single),
        share(|found| found.sets),
    )?;
    out.flush()
}

/// One experiment with all its pairs, judged by each procedure.
fn experiment(row: &Row, flags: &Flags, number: u32) -> Found {
    let mut random = Random::new(flags.seed, u64::from(number), row.pairs as u64, 0);
    let levels = levels(row, &mut random);
    let paired: Vec<Vec<f64>> = levels
        .iter()
        .map(|levels| differences(levels, row))
        .collect();
    let least = flags.least.ln_1p();
    let matters = |of: &[f64]| {
        let shift = SignedRank::shift(of, 0.95);
        shift.is_some_and(|shift| shift.estimate.abs() >= least)
    };
    let looks = looks(row.pairs, 6);
    let judged = |looks: &InterimLooks, pairs: usize| {
        let seen: Vec<Differences> = paired.iter().map(|of| seen(of, pairs, least)).collect();
        let found = looks.probabilities(&seen, flags.seed);
        let mut each = found.iter().zip(&seen);
        each.any(|(p, of)| *p <= looks.spent(pairs) && matters(&of.of_pairs))
    };
    let ended = (1..=row.pairs).find(|pairs| looks.is_look(*pairs) && judged(&looks, *pairs));
    let each = paired
        .iter()
        .filter_map(|of| SignedRank::from_differences(of));
    let raised = holm(&each.map(|test| test.p).collect::<Vec<_>>());
    let mut raised = raised.iter().zip(&paired);
    Found {
        looks: ended.is_some(),
        pairs: ended.unwrap_or(row.pairs),
        once: judged(&self::looks(row.pairs, row.pairs), row.pairs),
        holm: raised.any(|(p, of)| *p <= 0.05 && matters(of)),
        single: SignedRank::from_differences(&paired[0]).is_some_and(|test| test.p <= 0.05),
        sets: sets(&levels, row),
    }
}

fn looks(pairs: usize, first: usize) -> InterimLooks {
    InterimLooks {
        pairs,
        first,
        every: 2,
        error: 0.05,
    }
}

fn seen(of: &[f64], pairs: usize, least: f64) -> Differences {
    Differences {
        of_pairs: of[..pairs].to_vec(),
        least,
    }
}

/// The logarithm of each quantile of equal runs, in the order of the runs.
fn levels(row: &Row, random: &mut Random) -> Vec<Vec<f64>> {
    let AbNoise {
        between,
        kept,
        drift,
    } = row.noise;
    let fresh = (1.0 - kept * kept).sqrt();
    let mut level = between * random.normal();
    let mut levels = vec![Vec::new(); WITHIN.len()];
    for run in 0..2 * row.pairs {
        for (quantile, within) in levels.iter_mut().zip(WITHIN) {
            quantile.push(level + drift * run as f64 + within * random.normal());
        }
        level = kept * level + fresh * between * random.normal();
    }
    levels
}

/// The differences within pairs in the order A B B A, with the shift.
fn differences(levels: &[f64], row: &Row) -> Vec<f64> {
    let pairs = levels.as_chunks::<2>().0.iter().enumerate();
    let difference = |(pair, runs): (usize, &[f64; 2])| match pair % 2 {
        0 => runs[1] - runs[0],
        _ => runs[0] - runs[1],
    };
    let shift = row.shift.ln_1p();
    pairs.map(|pair| difference(pair) + shift).collect()
}

/// Whether sets of runs differ, if all runs of A came before all of B.
fn sets(levels: &[Vec<f64>], row: &Row) -> bool {
    let shift = row.shift.ln_1p();
    let tests = levels.iter().filter_map(|levels| {
        let (a, b) = levels.split_at(row.pairs);
        let b: Vec<f64> = b.iter().map(|level| level + shift).collect();
        RankSum::compare(a, &b)
    });
    let raised = holm(&tests.map(|test| test.p).collect::<Vec<_>>());
    raised.iter().any(|p| *p <= 0.05)
}

/// The shift, in deviations between runs, that four of five experiments with this many pairs find,
/// by bisection. The smallest shift that matters is ignored.
fn resolution(pairs: usize, flags: &Flags) -> f64 {
    let power = |deviations: f64| {
        let row = Row {
            pairs,
            noise: AbNoise {
                between: 0.02,
                kept: 0.0,
                drift: 0.0,
            },
            shift: (deviations * 0.02).exp_m1(),
        };
        let flags = Flags {
            least: 1e-9,
            ..*flags
        };
        let found = (0..flags.experiments).filter(|number| experiment(&row, &flags, *number).looks);
        found.count() as f64 / f64::from(flags.experiments)
    };
    let (mut low, mut high) = (0.0, 8.0);
    for _ in 0..9 {
        let middle = f64::midpoint(low, high);
        match power(middle) < 0.8 {
            true => low = middle,
            false => high = middle,
        }
    }
    f64::midpoint(low, high)
}
