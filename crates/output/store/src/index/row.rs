//! A run as a row of the index's table.

use crate::{Labels, RunRow, TeardownFailure};
use drumfire_measure::{
    Coverage, Digest, DigestLatency, DigestTime, PlanKey, TargetState, Unfinished, Validity,
};
use drumfire_units::Nanos;
use rusqlite::types::FromSql;
use rusqlite::{Connection, Row, params};

/// The separator of a run's tags.
const BLANK: char = ' ';

// `labels_error` and `error` are the reasons why a run's labels or its record cannot be read. The
// columns after `error` are NULL in a run without a record, and `is_active` and the columns after it
// in a run with an end.
pub(super) const TABLES: &str = "
    CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        stamp TEXT NOT NULL,
        is_elsewhere INTEGER NOT NULL,
        tags TEXT NOT NULL,
        note TEXT NOT NULL,
        labels_error TEXT,
        error TEXT,
        started_at_unix_ns INTEGER,
        duration_ns INTEGER,
        target TEXT,
        name TEXT,
        validity TEXT,
        load_kept INTEGER,
        sent_share REAL,
        target_state TEXT,
        thresholds INTEGER,
        thresholds_failed INTEGER,
        achieved_per_s REAL,
        p50_ns INTEGER,
        p50_is_at_least INTEGER,
        p95_ns INTEGER,
        p95_is_at_least INTEGER,
        p99_ns INTEGER,
        p99_is_at_least INTEGER,
        requests INTEGER,
        ok INTEGER,
        failed INTEGER,
        is_cut_short INTEGER,
        is_lost INTEGER,
        is_altered INTEGER,
        coverage TEXT,
        plan INTEGER,
        teardown_error TEXT,
        teardown_is_cut_short INTEGER,
        is_active INTEGER,
        done_ns INTEGER,
        planned_ns INTEGER
    );
    CREATE INDEX newest ON runs (started_at_unix_ns, id);
    CREATE INDEX plans ON runs (plan, started_at_unix_ns, id, p99_ns);
    CREATE INDEX unsure ON runs (id) WHERE stamp = '';";

/// The first column after the columns of a run's record.
const TEARDOWN: usize = 32;

/// Writes a row of the table, its columns in order.
const INSERT: &str = "INSERT OR REPLACE INTO runs VALUES
    (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,?26,
     ?27,?28,?29,?30,?31,?32,?33,?34,?35,?36,?37)";

pub(super) fn insert(table: &Connection, row: &RunRow, stamp: &str) -> rusqlite::Result<()> {
    let signed = |number: u64| number.cast_signed();
    let none = Labels::default();
    let labels = row.labels.as_ref().unwrap_or(&none);
    let run = row.run.as_ref().ok();
    let teardown = row.teardown.as_ref();
    let unfinished = row.unfinished.as_ref();
    let latency = run.map_or_else(DigestLatency::default, |run| run.latency);
    let nanos = |time: DigestTime| signed(time.time.0);
    table.execute(
        INSERT,
        params![
            row.id,
            stamp,
            row.is_elsewhere,
            labels.tags.join(&BLANK.to_string()),
            labels.note,
            row.labels.as_ref().err(),
            row.run.as_ref().err(),
            run.map(|run| signed(run.started_at_unix_ns)),
            run.map(|run| signed(run.duration.0)),
            run.map(|run| &run.target),
            run.and_then(|run| run.name.as_ref()),
            run.map(|run| run.validity.name()),
            run.map(|run| run.load_kept),
            run.map(|run| run.sent_share),
            run.map(|run| run.target_state.name()),
            run.map(|run| signed(run.thresholds)),
            run.map(|run| signed(run.thresholds_failed)),
            run.map(|run| run.achieved_per_s),
            latency.p50.map(nanos),
            latency.p50.map(|time| time.is_at_least),
            latency.p95.map(nanos),
            latency.p95.map(|time| time.is_at_least),
            latency.p99.map(nanos),
            latency.p99.map(|time| time.is_at_least),
            run.map(|run| signed(run.requests)),
            run.map(|run| signed(run.ok)),
            run.map(|run| signed(run.failed)),
            run.map(|run| run.is_cut_short),
            run.map(|run| run.is_lost),
            run.map(|run| run.is_altered),
            run.map(|run| run.coverage.name()),
            run.and_then(|run| run.plan).map(|plan| signed(plan.0)),
            teardown.map(|failure| &failure.message),
            teardown.map(|failure| failure.is_cut_short),
            unfinished.map(|progress| progress.is_active),
            unfinished.map(|progress| signed(progress.done.0)),
            unfinished.and_then(|progress| Some(signed(progress.planned?.0))),
        ],
    )?;
    Ok(())
}

/// The columns of a row from left to right. SQLite finds a column by name by comparing the name
/// with each name of the row; a list of thousands of runs has hundreds of thousands of values.
struct Columns<'r> {
    row: &'r Row<'r>,
    next: usize,
}

impl Columns<'_> {
    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let value = self.row.get(self.next);
        self.next += 1;
        value
    }

    /// An unsigned number.
    fn number(&mut self) -> rusqlite::Result<u64> {
        self.next().map(i64::cast_unsigned)
    }

    /// A quantile, if the run has it.
    fn time(&mut self) -> rusqlite::Result<Option<DigestTime>> {
        let nanos: Option<i64> = self.next()?;
        let is_at_least: Option<bool> = self.next()?;
        Ok(nanos
            .zip(is_at_least)
            .map(|(nanos, is_at_least)| DigestTime {
                time: Nanos(nanos.cast_unsigned()),
                is_at_least,
            }))
    }

    /// The value with the name in a column. An unknown name means that the table is damaged.
    fn named<T: Copy>(&mut self, values: &[T], name: fn(T) -> &'static str) -> rusqlite::Result<T> {
        let word: String = self.next()?;
        let found = values.iter().find(|value| name(**value) == word);
        found.copied().ok_or(rusqlite::Error::InvalidQuery)
    }
}

/// A run with its stamp.
pub(super) struct StampedRun {
    pub(super) row: RunRow,
    pub(super) stamp: String,
}

/// Reads the run of a row in which all columns were selected.
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<StampedRun> {
    let mut columns = Columns { row, next: 0 };
    let (id, stamp) = (columns.next()?, columns.next()?);
    let is_elsewhere = columns.next()?;
    let labels = labels(&mut columns)?;
    let run = match columns.next::<Option<String>>()? {
        Some(error) => {
            columns.next = TEARDOWN;
            Err(error)
        }
        None => Ok(digest(&mut columns)?),
    };
    let row = RunRow {
        id,
        is_elsewhere,
        labels,
        run,
        teardown: teardown(&mut columns)?,
        unfinished: unfinished(&mut columns)?,
    };
    Ok(StampedRun { row, stamp })
}

fn labels(columns: &mut Columns<'_>) -> rusqlite::Result<Result<Labels, String>> {
    let tags: String = columns.next()?;
    let note = columns.next()?;
    let error: Option<String> = columns.next()?;
    let tags = tags.split(BLANK).filter(|tag| !tag.is_empty());
    let tags = tags.map(str::to_owned).collect();
    Ok(error.map_or(Ok(Labels { tags, note }), Err))
}

fn digest(columns: &mut Columns<'_>) -> rusqlite::Result<Digest> {
    Ok(Digest {
        started_at_unix_ns: columns.number()?,
        duration: Nanos(columns.number()?),
        target: columns.next()?,
        name: columns.next()?,
        validity: columns.named(&VALIDITIES, Validity::name)?,
        load_kept: columns.next()?,
        sent_share: columns.next()?,
        target_state: columns.named(&TargetState::ALL, TargetState::name)?,
        thresholds: columns.number()?,
        thresholds_failed: columns.number()?,
        achieved_per_s: columns.next()?,
        latency: DigestLatency {
            p50: columns.time()?,
            p95: columns.time()?,
            p99: columns.time()?,
        },
        requests: columns.number()?,
        ok: columns.number()?,
        failed: columns.number()?,
        is_cut_short: columns.next()?,
        is_lost: columns.next()?,
        is_altered: columns.next()?,
        coverage: columns.named(&Coverage::ALL, Coverage::name)?,
        plan: columns
            .next::<Option<i64>>()?
            .map(|plan| PlanKey(plan.cast_unsigned())),
    })
}

fn teardown(columns: &mut Columns<'_>) -> rusqlite::Result<Option<TeardownFailure>> {
    let message: Option<String> = columns.next()?;
    let is_cut_short: Option<bool> = columns.next()?;
    Ok(message
        .zip(is_cut_short)
        .map(|(message, is_cut_short)| TeardownFailure {
            is_cut_short,
            message,
        }))
}

fn unfinished(columns: &mut Columns<'_>) -> rusqlite::Result<Option<Unfinished>> {
    let nanos = |time: i64| Nanos(time.cast_unsigned());
    let is_active: Option<bool> = columns.next()?;
    let done: Option<i64> = columns.next()?;
    let planned: Option<i64> = columns.next()?;
    Ok(is_active.zip(done).map(|(is_active, done)| Unfinished {
        is_active,
        done: nanos(done),
        planned: planned.map(nanos),
    }))
}

/// The possible values of the columns with names.
const VALIDITIES: [Validity; 3] = [Validity::Valid, Validity::Suspect, Validity::Invalid];
