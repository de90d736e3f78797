//! A pair of runs: the shift of each figure, with an interval from blocks of the runs' time.
//!
//! Each replicate draws blocks of adjacent cells from the timelines of both runs, sums their
//! distributions, and computes the figures of the sums: a circular block bootstrap with moving
//! blocks (Politis and Romano 1992). Single requests are never drawn, because requests of one
//! moment share its queue. The intervals are quantiles of the replicates.

use super::{Least, Row};
use crate::answer::CONFIDENCE;
use crate::compared::Compared;
use crate::figure::Figure;
use drumfire_measure::{IntervalRow, Overview, Summary};
use drumfire_plan::Random;
use drumfire_stats::{block_length, moving_blocks};
use std::collections::BTreeMap;

/// The number of replicates for an interval.
const REPLICATES: u64 = 1_000;
/// The minimum number of cells: with fewer, a run has too few blocks.
const CELLS_MIN: usize = 10;

/// The figures of a pair.
const FIGURES: [Figure; 14] = [
    Figure::Latency("p10", 0.1),
    Figure::Latency("p20", 0.2),
    Figure::Latency("p30", 0.3),
    Figure::Latency("p40", 0.4),
    Figure::Latency("p50", 0.5),
    Figure::Latency("p60", 0.6),
    Figure::Latency("p70", 0.7),
    Figure::Latency("p80", 0.8),
    Figure::Latency("p90", 0.9),
    Figure::Latency("p95", 0.95),
    Figure::Latency("p99", 0.99),
    Figure::Latency("p99.9", 0.999),
    Figure::Failed,
    Figure::Rate,
];

/// A row for each figure that both runs have, and cautions for the reader.
pub(crate) fn rows(base: &Compared, candidate: &Compared, least: Least) -> (Vec<Row>, Vec<String>) {
    let runs = [base, candidate];
    let cells = runs.map(|run| Cells::from_summary(run.summary()));
    let is_read = runs.iter().any(|run| run.is_read());
    let kind = Compared::latency_kind(runs);
    // The cells of a run contain only the run's own kind of latency.
    let is_one_kind = runs.iter().all(|run| run.summary().latency_kind() == kind);
    let is_long = cells.iter().all(|cells| cells.all.len() >= CELLS_MIN);
    let has_blocks = is_long && is_one_kind;
    // Each side draws with the seed of the base and its own side number, so that repeated
    // comparisons of a pair give the same intervals.
    let replicates = match has_blocks {
        true => [0, 1].map(|side| cells[side].replicates(base.summary().info.seed, side as u64)),
        false => [Vec::new(), Vec::new()],
    };
    let rows = FIGURES.iter().enumerate().filter_map(|(at, figure)| {
        let [base, candidate] = runs.map(|run| figure.value(run, kind));
        let medians = [base?, candidate?];
        let [from, to] = medians.map(|value| figure.scaled(value));
        let differences = replicates[0].iter().zip(&replicates[1]);
        let differences = differences
            .map(|(base, candidate)| figure.scaled(candidate[at]) - figure.scaled(base[at]));
        let interval = interval(differences.filter(|of| of.is_finite()).collect());
        let interval = interval.map(|(low, high)| (figure.shift(low), figure.shift(high)));
        Some(Row {
            figure: *figure,
            medians,
            shift: figure.shift(to - from),
            interval,
            confidence: interval.map(|_| CONFIDENCE),
            interval_alone: interval,
            p: None,
            detectable: None,
            needed: None,
            least: least.of_figure(*figure, medians[0]),
            answer: None,
        })
    });
    let mut cautions = Vec::new();
    if is_read {
        cautions.push(
            "There are no intervals: they are computed from the distributions of a run's parts, which JSON does \
             not contain."
                .to_owned(),
        );
    } else if !is_one_kind {
        cautions.push(
            "There are no intervals: users waited for connections in one of the runs only, so the latency is the \
             response time of both."
                .to_owned(),
        );
    } else if !is_long {
        cautions.push(format!(
            "The runs are too short for intervals: each needs at least {CELLS_MIN} intervals of --interval."
        ));
    }
    (rows.collect(), cautions)
}

/// The outer quantiles of the replicates; `None` for too few replicates.
fn interval(mut replicates: Vec<f64>) -> Option<(f64, f64)> {
    if replicates.len() < REPLICATES as usize / 2 {
        return None;
    }
    replicates.sort_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let beyond = (replicates.len() as f64 * tail) as usize;
    Some((
        replicates[beyond],
        replicates[replicates.len() - 1 - beyond],
    ))
}

/// The cells of a run's timeline, prepared for fast sums.
struct Cells {
    all: Vec<Cell>,
    /// The upper bound of each bucket that any cell uses, in nanoseconds, ascending.
    times: Vec<u64>,
}

/// One cell: the indices of its buckets with their counts, and the sums.
struct Cell {
    counts: Vec<(usize, u64)>,
    ended: u64,
    failed: u64,
    seconds: f64,
}

impl Cells {
    /// The cells of a run. Buckets are numbered across all cells, so that adding a cell touches
    /// only the buckets that it uses.
    fn from_summary(run: &Summary) -> Self {
        let overviews: Vec<_> = run.over_time().collect();
        let rows = run.rows_of(&overviews);
        let used = overviews.iter().flat_map(|cell| cell.latency().buckets());
        let numbers: BTreeMap<u64, usize> = used.map(|(_, high, _)| (high, 0)).collect();
        let times: Vec<u64> = numbers.into_keys().collect();
        let number = |high: u64| times.partition_point(|time| *time < high);
        let cell = |(overview, row): (&Overview, &IntervalRow)| Cell {
            counts: overview
                .latency()
                .buckets()
                .map(|(_, high, count)| (number(high), count))
                .collect(),
            ended: row.ended(),
            failed: row.bad + row.failed,
            seconds: row.length().as_secs_f64(),
        };
        let all = overviews.iter().zip(&rows).map(cell).collect();
        Self { all, times }
    }

    /// The figures of each replicate, in the order of [`FIGURES`]; NaN for a missing figure. The
    /// two sides draw independently.
    fn replicates(&self, seed: u64, side: u64) -> Vec<[f64; FIGURES.len()]> {
        // All replicates share one buffer: a thousand allocations would take most of the time.
        let block = block_length(self.all.len());
        let mut counts = vec![0_u64; self.times.len()];
        let replicate = |number| {
            counts.fill(0);
            let (mut ended, mut failed, mut seconds) = (0, 0, 0.0);
            let mut random = Random::new(seed, number, side, 0);
            for at in moving_blocks(self.all.len(), block, &mut random) {
                let cell = &self.all[at];
                for (bucket, count) in &cell.counts {
                    counts[*bucket] += count;
                }
                ended += cell.ended;
                failed += cell.failed;
                seconds += cell.seconds;
            }
            FIGURES.map(|figure| match figure {
                Figure::Latency(_, q) => self.quantile(&counts, q),
                Figure::Failed => failed as f64 / ended as f64,
                Figure::Rate => ended as f64 / seconds,
            })
        };
        (0..REPLICATES).map(replicate).collect()
    }

    /// The smallest time that at least the share `q` of these counts does not exceed.
    fn quantile(&self, counts: &[u64], q: f64) -> f64 {
        let all: u64 = counts.iter().sum();
        let rank = ((all as f64 * q).ceil() as u64).max(1);
        let reached = counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        // The rank refers to the sum: a replicate has the requests of all its blocks.
        let below = reached.take_while(|reached| *reached < rank).count();
        self.times.get(below).map_or(f64::NAN, |time| *time as f64)
    }
}
