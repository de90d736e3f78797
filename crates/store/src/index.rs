//! An index of all runs in a folder, in SQLite: a list of thousands must not read thousands of logs.
//! It has nothing that the directories do not have, and is made again from them where it is missing,
//! damaged or of another version.
//!
//! Each row carries a stamp, the lengths and times of what it was read from. A row whose stamp
//! differs is read again, so nothing has to announce a run here.

use crate::directory::{self, LABELS, LOG};
use crate::{Labels, RunRow, StoreError};
use drumfire_units::Nanos;
use rusqlite::{Connection, Row, params};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The version of the tables; another one is made again.
const VERSION: i64 = 1;

/// The separator of a run's tags.
const BLANK: char = ' ';

const TABLES: &str = "
    CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        stamp TEXT NOT NULL,
        started_at_unix_ns INTEGER NOT NULL,
        duration_ns INTEGER NOT NULL,
        target TEXT NOT NULL,
        verdict TEXT NOT NULL,
        p99_ns INTEGER,
        requests INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        is_whole INTEGER NOT NULL,
        tags TEXT NOT NULL,
        note TEXT NOT NULL,
        error TEXT
    );";

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
            transaction.execute(
                "INSERT OR REPLACE INTO runs VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)",
                params![
                    row.id,
                    stamp,
                    row.started_at_unix_ns.cast_signed(),
                    row.duration.0.cast_signed(),
                    row.target,
                    row.verdict,
                    row.p99.map(|p99| p99.0.cast_signed()),
                    row.requests.cast_signed(),
                    row.failed.cast_signed(),
                    row.is_whole,
                    row.labels.tags.join(&BLANK.to_string()),
                    row.labels.note,
                    row.error,
                ],
            )?;
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

fn row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let unsigned = |number: i64| number.cast_unsigned();
    let tags: String = row.get("tags")?;
    let p99: Option<i64> = row.get("p99_ns")?;
    Ok(RunRow {
        id: row.get("id")?,
        started_at_unix_ns: unsigned(row.get("started_at_unix_ns")?),
        duration: Nanos(unsigned(row.get("duration_ns")?)),
        target: row.get("target")?,
        verdict: row.get("verdict")?,
        p99: p99.map(|p99| Nanos(unsigned(p99))),
        requests: unsigned(row.get("requests")?),
        failed: unsigned(row.get("failed")?),
        is_whole: row.get("is_whole")?,
        labels: Labels {
            tags: tags
                .split(BLANK)
                .filter(|tag| !tag.is_empty())
                .map(str::to_owned)
                .collect(),
            note: row.get("note")?,
        },
        error: row.get("error")?,
    })
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
