//! An index of all runs in a folder, in SQLite: a list of thousands must not read thousands of logs.
//! It has nothing that the directories do not have, and is made again from them where it is missing,
//! damaged or of another version.
//!
//! Each row carries a stamp, the lengths and times of what it was read from. A row whose stamp
//! differs is read again, so nothing has to announce a run here.

use crate::directory::{self, LABELS, LOG};
use crate::{Labels, RunRow, StoreError, TeardownFailure};
use drumfire_measure::{
    Coverage, Digest, DigestLatency, DigestTime, PlanKey, TargetState, Validity,
};
use drumfire_units::Nanos;
use rusqlite::{Connection, Row, params};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The version of the tables; another one is made again.
const VERSION: i64 = 5;

/// The separator of a run's tags.
const BLANK: char = ' ';

// `labels_error` and `error` say why a run's labels or its record can't be read; the columns behind
// `error` are NULL in a run without a record.
const TABLES: &str = "
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
        coverage TEXT,
        plan INTEGER,
        teardown_error TEXT,
        teardown_is_cut_short INTEGER
    );";

/// A row of the table, its columns in their order.
const INSERT: &str = "INSERT OR REPLACE INTO runs VALUES
    (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,?26,
     ?27,?28,?29,?30,?31,?32)";

/// An index of the runs in a folder.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
    runs: PathBuf,
}

impl Index {
    /// The index of the runs in a folder, up to date: runs that came, went or changed since are
    /// looked at.
    ///
    /// # Errors
    /// When the folder or the index can't be read or written.
    pub fn open(path: &Path, runs: &Path) -> Result<Self, StoreError> {
        let connection = match connect(path) {
            Ok(connection) => connection,
            Err(_) => {
                remove(path)?;
                connect(path).map_err(|error| wrong(path, error))?
            }
        };
        let runs = runs.to_owned();
        let mut index = Self { connection, runs };
        match index.refresh() {
            Ok(()) => Ok(index),
            // Tables that were damaged, below a head that was not.
            Err(_) => {
                drop(index.connection);
                remove(path)?;
                index.connection = connect(path).map_err(|error| wrong(path, error))?;
                index.refresh().map_err(|error| wrong(path, error))?;
                Ok(index)
            }
        }
    }

    /// The runs in a folder, the newest first, from the index at this path, which is made where it is
    /// missing. Where the index fails the runs themselves are read, which takes longer, and the
    /// error says why.
    #[must_use]
    pub fn rows_of(path: &Path, runs: &Path) -> (Vec<RunRow>, Option<StoreError>) {
        if !runs.is_dir() {
            return (Vec::new(), None);
        }
        match Self::open(path, runs).and_then(|index| index.rows()) {
            Ok(rows) => (rows, None),
            Err(error) => (RunRow::all(runs), Some(error)),
        }
    }

    /// All runs, the newest first.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn rows(&self) -> Result<Vec<RunRow>, StoreError> {
        let path = self.connection.path().map(PathBuf::from);
        let wrong = |error| wrong(&path.clone().unwrap_or_default(), error);
        let text = "SELECT * FROM runs ORDER BY started_at_unix_ns DESC, id DESC";
        let mut statement = self.connection.prepare(text).map_err(&wrong)?;
        let rows = statement.query_map([], row).map_err(&wrong)?;
        rows.collect::<Result<_, _>>().map_err(&wrong)
    }

    fn refresh(&mut self) -> rusqlite::Result<()> {
        let stamps = stamps(&self.runs);
        let known = self.known()?;
        let transaction = self.connection.transaction()?;
        for id in known.keys().filter(|id| !stamps.contains_key(*id)) {
            transaction.execute("DELETE FROM runs WHERE id = ?1", [id])?;
        }
        for (id, stamp) in &stamps {
            if known.get(id) == Some(stamp) {
                continue;
            }
            let row = RunRow::read(id, &self.runs.join(id));
            // A change of permissions leaves a stamp as it was: an error is looked at again.
            let stamp = match (&row.labels, &row.run) {
                (Ok(_), Ok(_)) => stamp.as_str(),
                _ => "",
            };
            insert(&transaction, &row, stamp)?;
        }
        transaction.commit()
    }

    /// The stamps of the runs that it has.
    fn known(&self) -> rusqlite::Result<BTreeMap<String, String>> {
        let mut statement = self.connection.prepare("SELECT id, stamp FROM runs")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }
}

/// A database with our tables, which are made where there are none.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == VERSION {
        return Ok(connection);
    }
    let made = format!(
        "BEGIN; DROP TABLE IF EXISTS runs; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;"
    );
    connection.execute_batch(&made)?;
    Ok(connection)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::write(path)(error))
        }
        _ => Ok(()),
    }
}

fn wrong(path: &Path, error: rusqlite::Error) -> StoreError {
    StoreError::read(path)(io::Error::other(error))
}

fn insert(table: &Connection, row: &RunRow, stamp: &str) -> rusqlite::Result<()> {
    let signed = |number: u64| number.cast_signed();
    let none = Labels::default();
    let labels = row.labels.as_ref().unwrap_or(&none);
    let run = row.run.as_ref().ok();
    let teardown = row.teardown.as_ref();
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
            run.map(|run| run.coverage.name()),
            run.and_then(|run| run.plan).map(|plan| signed(plan.0)),
            teardown.map(|failure| &failure.message),
            teardown.map(|failure| failure.is_cut_short),
        ],
    )?;
    Ok(())
}

fn row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let error: Option<String> = row.get("error")?;
    let labels_error: Option<String> = row.get("labels_error")?;
    Ok(RunRow {
        id: row.get("id")?,
        is_elsewhere: row.get("is_elsewhere")?,
        labels: match labels_error {
            Some(error) => Err(error),
            None => Ok(labels(row)?),
        },
        run: match error {
            Some(error) => Err(error),
            None => Ok(digest(row)?),
        },
        teardown: teardown(row)?,
    })
}

fn teardown(row: &Row<'_>) -> rusqlite::Result<Option<TeardownFailure>> {
    let Some(message) = row.get("teardown_error")? else {
        return Ok(None);
    };
    Ok(Some(TeardownFailure {
        is_cut_short: row.get("teardown_is_cut_short")?,
        message,
    }))
}

fn labels(row: &Row<'_>) -> rusqlite::Result<Labels> {
    let tags: String = row.get("tags")?;
    let tags = tags.split(BLANK).filter(|tag| !tag.is_empty());
    Ok(Labels {
        tags: tags.map(str::to_owned).collect(),
        note: row.get("note")?,
    })
}

fn digest(row: &Row<'_>) -> rusqlite::Result<Digest> {
    let number = |name| row.get(name).map(i64::cast_unsigned);
    let plan: Option<i64> = row.get("plan")?;
    Ok(Digest {
        started_at_unix_ns: number("started_at_unix_ns")?,
        duration: Nanos(number("duration_ns")?),
        target: row.get("target")?,
        validity: named(row, "validity", &VALIDITIES, Validity::name)?,
        load_kept: row.get("load_kept")?,
        sent_share: row.get("sent_share")?,
        target_state: named(row, "target_state", &STATES, TargetState::name)?,
        thresholds: number("thresholds")?,
        thresholds_failed: number("thresholds_failed")?,
        achieved_per_s: row.get("achieved_per_s")?,
        latency: DigestLatency {
            p50: time(row, "p50_ns", "p50_is_at_least")?,
            p95: time(row, "p95_ns", "p95_is_at_least")?,
            p99: time(row, "p99_ns", "p99_is_at_least")?,
        },
        requests: number("requests")?,
        ok: number("ok")?,
        failed: number("failed")?,
        is_cut_short: row.get("is_cut_short")?,
        is_lost: row.get("is_lost")?,
        coverage: named(row, "coverage", &COVERAGES, Coverage::name)?,
        plan: plan.map(|plan| PlanKey(plan.cast_unsigned())),
    })
}

/// A quantile, where the run has it.
fn time(row: &Row<'_>, column: &str, bound: &str) -> rusqlite::Result<Option<DigestTime>> {
    let Some(nanos) = row.get::<_, Option<i64>>(column)? else {
        return Ok(None);
    };
    Ok(Some(DigestTime {
        time: Nanos(nanos.cast_unsigned()),
        is_at_least: row.get(bound)?,
    }))
}

/// The answers that the columns of words may have.
const VALIDITIES: [Validity; 3] = [Validity::Valid, Validity::Suspect, Validity::Invalid];
const COVERAGES: [Coverage; 3] = [Coverage::Whole, Coverage::Resumed, Coverage::Begun];
const STATES: [TargetState; 4] = [
    TargetState::Ok,
    TargetState::Unknown,
    TargetState::Degraded,
    TargetState::Failed,
];

/// The one of these values that a column names. Another word is that of a damaged table.
fn named<T: Copy>(
    row: &Row<'_>,
    column: &str,
    values: &[T],
    name: fn(T) -> &'static str,
) -> rusqlite::Result<T> {
    let word: String = row.get(column)?;
    let found = values.iter().find(|value| name(**value) == word);
    found.copied().ok_or(rusqlite::Error::InvalidQuery)
}

/// The runs in a folder, each with what tells whether it has changed: the length and the times of
/// what it is read from.
fn stamps(runs: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(runs).into_iter().flatten();
    let stamp = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.ok()?;
        let path = entry.path();
        let stamp = |name| {
            let metadata = fs::metadata(path.join(name)).ok()?;
            let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            Some(format!("{}@{}", metadata.len(), changed.as_nanos()))
        };
        let log = directory::is_run(&path).then(|| stamp(LOG)).flatten()?;
        let labels = stamp(LABELS).unwrap_or_default();
        Some((
            entry.file_name().into_string().ok()?,
            format!("{log} {labels}"),
        ))
    };
    entries.filter_map(stamp).collect()
}
