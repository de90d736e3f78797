//! An index of all runs in a folder, in SQLite, because a list of thousands of runs must not read
//! thousands of logs. The index contains only data from the directories, and is rebuilt from them
//! if it is missing, damaged or of another version.
//!
//! Each row has a stamp: the lengths and times of the files that it was read from. A row whose
//! stamp differs is read again, so new runs need not be registered. A list of the newest runs
//! compares only the stamps of these runs, because each comparison costs two system calls. For the
//! other runs, the names in the folder show that they exist.

mod page;
mod row;

pub use page::{PageQuery, RunsPage};

use crate::directory::{LABELS, LOG};
use crate::own_files;
use crate::{Record, RunRow, StoreError};
use rusqlite::{Connection, OptionalExtension as _};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The version of the tables; other versions are rebuilt.
const VERSION: i64 = 4;

/// An index of the runs in a folder.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
    runs: PathBuf,
}

/// The newest runs of a folder.
#[derive(Debug)]
pub struct Newest {
    /// The rows, newest first.
    pub rows: Vec<RunRow>,
    /// The number of older runs.
    pub older: usize,
}

impl Newest {
    fn new(mut rows: Vec<RunRow>, limit: usize) -> Self {
        let older = rows.len().saturating_sub(limit);
        rows.truncate(limit);
        Self { rows, older }
    }
}

impl Index {
    /// Opens the index of the runs in a folder and updates it: runs that were added, removed or
    /// changed are read.
    ///
    /// # Errors
    /// If the folder or the index cannot be read or written.
    pub fn open(path: &Path, runs: &Path) -> Result<Self, StoreError> {
        Self::with(path, runs, Self::refresh).map(|(index, ())| index)
    }

    /// The runs in a folder, newest first, from the index at this path, which is created if it is
    /// missing. If the index fails, the runs themselves are read, which takes longer, and the
    /// reason is returned as well.
    #[must_use]
    pub fn rows_of(path: &Path, runs: &Path) -> (Vec<RunRow>, Option<StoreError>) {
        let (newest, error) = Self::newest_of(path, runs, usize::MAX);
        (newest.rows, error)
    }

    /// As [`Index::rows_of`], with at most `limit` rows. Other runs are only counted, as of the
    /// last update.
    #[must_use]
    pub fn newest_of(path: &Path, runs: &Path, limit: usize) -> (Newest, Option<StoreError>) {
        if !runs.is_dir() {
            return (Newest::new(Vec::new(), limit), None);
        }
        match Self::with(path, runs, |index| index.newest(limit)) {
            Ok((_, newest)) => (newest, None),
            Err(error) => (Newest::new(RunRow::all(runs), limit), Some(error)),
        }
    }

    /// All runs, newest first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn rows(&self) -> Result<Vec<RunRow>, StoreError> {
        let path = self.connection.path().map(PathBuf::from);
        let rows = self.select(0, usize::MAX);
        let rows = rows.map_err(|error| wrong(&path.unwrap_or_default(), error))?;
        Ok(rows.into_iter().map(|stamped| stamped.row).collect())
    }

    /// Opens an index and applies `work`. If the tables are damaged although the file's head is
    /// not, they are rebuilt for a second try.
    fn with<T>(
        path: &Path,
        runs: &Path,
        work: impl Fn(&mut Self) -> rusqlite::Result<T>,
    ) -> Result<(Self, T), StoreError> {
        let connect = || {
            let (connection, runs) = (connect(path)?, runs.to_owned());
            Ok(Self { connection, runs })
        };
        let tried = connect().and_then(|mut index| work(&mut index).map(|made| (index, made)));
        if let Ok(made) = tried {
            return Ok(made);
        }
        drop(tried);
        remove(path)?;
        let wrong = |error| wrong(path, error);
        let mut index = connect().map_err(wrong)?;
        let made = work(&mut index).map_err(wrong)?;
        Ok((index, made))
    }

    /// Updates the rows of all runs.
    fn refresh(&mut self) -> rusqlite::Result<()> {
        let entries = entries(&self.runs);
        let mut known = self.known()?;
        let transaction = self.connection.transaction()?;
        for id in entries.keys() {
            update(&transaction, &self.runs, id, known.remove(id).as_deref())?;
        }
        for id in known.keys() {
            delete(&transaction, id)?;
        }
        transaction.commit()
    }

    /// Updates and returns the newest runs.
    fn newest(&mut self, limit: usize) -> rusqlite::Result<Newest> {
        let rows = if limit == usize::MAX {
            self.refresh()?;
            self.select(0, limit)?
        } else {
            self.follow_names()?;
            self.updated(|index| index.select(0, limit))?
        };
        let older = self.count()?.saturating_sub(rows.len());
        let rows = rows.into_iter().map(|stamped| stamped.row).collect();
        Ok(Newest { rows, older })
    }

    /// The rows that `select` returns, updated. Repeats the selection if a row has changed: a run
    /// that was removed, or has another start now, makes room for others.
    fn updated(
        &mut self,
        select: impl Fn(&Self) -> rusqlite::Result<Vec<row::StampedRun>>,
    ) -> rusqlite::Result<Vec<row::StampedRun>> {
        let mut looked_at = BTreeSet::new();
        loop {
            let rows = select(self)?;
            let new = |of: &&row::StampedRun| looked_at.insert(of.row.id.clone());
            let unseen: Vec<&row::StampedRun> = rows.iter().filter(new).collect();
            if !self.update_all(&unseen)? {
                return Ok(rows);
            }
        }
    }

    /// The number of runs.
    fn count(&self) -> rusqlite::Result<usize> {
        let count = "SELECT count(*) FROM runs";
        let all: i64 = self.connection.query_row(count, [], |row| row.get(0))?;
        Ok(usize::try_from(all).unwrap_or(usize::MAX))
    }

    /// Updates the rows of runs that were added or removed, by the names in the folder, and of runs
    /// for which the name does not show whether they exist or can be read.
    fn follow_names(&mut self) -> rusqlite::Result<()> {
        let entries = entries(&self.runs);
        let ids = |text: &str| -> rusqlite::Result<BTreeSet<String>> {
            let mut statement = self.connection.prepare(text)?;
            let ids = statement.query_map([], |row| row.get(0))?;
            ids.collect()
        };
        let mut gone = ids("SELECT id FROM runs")?;
        let unsure = ids("SELECT id FROM runs WHERE stamp = ''")?;
        let transaction = self.connection.transaction()?;
        for (id, kind) in &entries {
            let is_known = gone.remove(id);
            if is_known && *kind == EntryKind::Own && !unsure.contains(id) {
                continue;
            }
            let text = "SELECT stamp FROM runs WHERE id = ?1";
            let stamp = transaction.query_row(text, [id], |row| row.get(0));
            let stamp: Option<String> = stamp.optional()?;
            update(&transaction, &self.runs, id, stamp.as_deref())?;
        }
        for id in gone {
            delete(&transaction, &id)?;
        }
        transaction.commit()
    }

    /// Updates the rows of these runs. Returns whether any of them had changed.
    fn update_all(&mut self, rows: &[&row::StampedRun]) -> rusqlite::Result<bool> {
        let transaction = self.connection.transaction()?;
        let mut changed = false;
        for row::StampedRun { row, stamp } in rows {
            changed |= update(&transaction, &self.runs, &row.id, Some(stamp))?;
        }
        transaction.commit()?;
        Ok(changed)
    }

    /// The newest rows after the first `skip`, newest first.
    fn select(&self, skip: usize, limit: usize) -> rusqlite::Result<Vec<row::StampedRun>> {
        let text = "SELECT * FROM runs ORDER BY started_at_unix_ns DESC, id DESC
            LIMIT ?1 OFFSET ?2";
        let mut statement = self.connection.prepare(text)?;
        let signed = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let rows = statement.query_map([signed(limit), signed(skip)], row::read)?;
        rows.collect()
    }

    /// The stamps in the index.
    fn known(&self) -> rusqlite::Result<BTreeMap<String, String>> {
        let mut statement = self.connection.prepare("SELECT id, stamp FROM runs")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }
}

/// Opens a database with our tables, which are created if they are missing.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    keep_from_others(path);
    let connection = Connection::open(path)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == VERSION {
        return Ok(connection);
    }
    let tables = row::TABLES;
    let made = format!(
        "BEGIN; DROP TABLE IF EXISTS runs; {tables} PRAGMA user_version = {VERSION}; COMMIT;"
    );
    connection.execute_batch(&made)?;
    Ok(connection)
}

/// Makes the file of an index readable only by its user, because it contains targets, tags and
/// notes. SQLite gives its other files the same mode. If this fails, the folder around the file
/// still protects it.
fn keep_from_others(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_file() && facts.mode() & 0o077 != 0 => {
            let _as_it_is = fs::set_permissions(path, Permissions::from_mode(0o600));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let _as_it_is = own_files::create_new(path);
        }
        _ => {}
    }
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

fn delete(table: &Connection, id: &str) -> rusqlite::Result<bool> {
    let rows = table.execute("DELETE FROM runs WHERE id = ?1", [id])?;
    Ok(rows > 0)
}

/// Updates the row of a run whose stamp was `known`. Returns whether the run had changed.
fn update(
    table: &Connection,
    runs: &Path,
    id: &str,
    known: Option<&str>,
) -> rusqlite::Result<bool> {
    let path = runs.join(id);
    let Some(stamp) = stamp(&path) else {
        return Ok(known.is_some() && delete(table, id)?);
    };
    if known == Some(&stamp) {
        return Ok(false);
    }
    if !Record::is_named(&path) {
        return Ok(known.is_some() && delete(table, id)?);
    }
    let row = RunRow::read(id, &path);
    // Neither a change of permissions nor the end of the program that writes a run changes a stamp,
    // so a run with an error and an active run are always read again.
    let is_active = row.unfinished.is_some_and(|progress| progress.is_active);
    let stamp = match (&row.labels, &row.run) {
        (Ok(_), Ok(_)) if !is_active => stamp.as_str(),
        _ => "",
    };
    row::insert(table, &row, stamp)?;
    Ok(true)
}

/// The kind of a name in the folder of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryKind {
    /// A directory in the folder.
    Own,
    /// A link, whose target may be missing, or an entry that is not a run.
    Other,
}

/// The names in the folder of runs. Linux returns the kind of each with its name, so the kind costs
/// no system call.
fn entries(runs: &Path) -> BTreeMap<String, EntryKind> {
    let entries = fs::read_dir(runs).into_iter().flatten();
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.ok()?;
        let kind = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => EntryKind::Own,
            false => EntryKind::Other,
        };
        Some((entry.file_name().into_string().ok()?, kind))
    };
    entries.filter_map(entry).collect()
}

/// The stamp of the run in a directory: the length and the times of its files, which change with
/// the run. `None` if the directory contains no run.
fn stamp(run: &Path) -> Option<String> {
    let log = fs::metadata(run.join(LOG)).ok()?;
    let log = log.is_file().then(|| of_file(&log))??;
    let labels = fs::metadata(run.join(LABELS)).ok();
    let labels = labels.and_then(|labels| of_file(&labels));
    Some(format!("{log} {}", labels.unwrap_or_default()))
}

fn of_file(metadata: &fs::Metadata) -> Option<String> {
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}@{}", metadata.len(), changed.as_nanos()))
}
