//! An index of all runs in a folder, in SQLite: a list of thousands must not read thousands of logs.
//! It has nothing that the directories do not have, and is made again from them where it is missing,
//! damaged or of another version.
//!
//! Each row carries a stamp, the lengths and times of what it was read from. A row whose stamp
//! differs is read again, so nothing has to announce a run here. A list of the newest runs compares
//! the stamps of these only, for each costs two system calls; of the others it knows from the names in
//! the folder that they are there.

mod row;

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

/// The version of the tables; another one is made again.
const VERSION: i64 = 1;

/// An index of the runs in a folder.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
    runs: PathBuf,
}

/// The newest runs of a folder.
#[derive(Debug)]
pub struct Newest {
    /// The newest first.
    pub rows: Vec<RunRow>,
    /// How many there are beside them.
    pub older: usize,
}

impl Newest {
    fn of(mut rows: Vec<RunRow>, limit: usize) -> Self {
        let older = rows.len().saturating_sub(limit);
        rows.truncate(limit);
        Self { rows, older }
    }
}

impl Index {
    /// The index of the runs in a folder, up to date: runs that came, went or changed since are
    /// looked at.
    ///
    /// # Errors
    /// When the folder or the index can't be read or written.
    pub fn open(path: &Path, runs: &Path) -> Result<Self, StoreError> {
        Self::with(path, runs, Self::refresh).map(|(index, ())| index)
    }

    /// The runs in a folder, the newest first, from the index at this path, which is made where it is
    /// missing. Where the index fails the runs themselves are read, which takes longer, and the
    /// error says why.
    #[must_use]
    pub fn rows_of(path: &Path, runs: &Path) -> (Vec<RunRow>, Option<StoreError>) {
        let (newest, error) = Self::newest_of(path, runs, usize::MAX);
        (newest.rows, error)
    }

    /// As [`Index::rows_of`], at most `limit` of them. A run that is not among them is counted as it
    /// was when it was last looked at.
    #[must_use]
    pub fn newest_of(path: &Path, runs: &Path, limit: usize) -> (Newest, Option<StoreError>) {
        if !runs.is_dir() {
            return (Newest::of(Vec::new(), limit), None);
        }
        match Self::with(path, runs, |index| index.newest(limit)) {
            Ok((_, newest)) => (newest, None),
            Err(error) => (Newest::of(RunRow::all(runs), limit), Some(error)),
        }
    }

    /// All runs, the newest first.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn rows(&self) -> Result<Vec<RunRow>, StoreError> {
        let path = self.connection.path().map(PathBuf::from);
        let rows = self.select(usize::MAX);
        let rows = rows.map_err(|error| wrong(&path.unwrap_or_default(), error))?;
        Ok(rows.into_iter().map(|stamped| stamped.row).collect())
    }

    /// An index, and what `work` makes of it. Where the tables are damaged, below a head that is not,
    /// they are made again for a second try.
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

    /// Looks at all runs.
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

    /// The newest runs, up to date.
    fn newest(&mut self, limit: usize) -> rusqlite::Result<Newest> {
        if limit == usize::MAX {
            self.refresh()?;
        } else {
            self.follow_names()?;
        }
        let mut looked_at = BTreeSet::new();
        loop {
            let rows = self.select(limit)?;
            let new = |of: &&row::Stamped| looked_at.insert(of.row.id.clone());
            let unseen: Vec<&row::Stamped> = rows.iter().filter(new).collect();
            // A run that went, or has another start now, gives way to others.
            if limit == usize::MAX || !self.update_all(&unseen)? {
                let count = "SELECT count(*) FROM runs";
                let all: i64 = self.connection.query_row(count, [], |row| row.get(0))?;
                let all = usize::try_from(all).unwrap_or(rows.len());
                let rows: Vec<RunRow> = rows.into_iter().map(|stamped| stamped.row).collect();
                return Ok(Newest {
                    older: all.saturating_sub(rows.len()),
                    rows,
                });
            }
        }
    }

    /// Looks at runs that came or went, by the names in the folder, and at those of which no name says
    /// whether they are there or can be read.
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

    /// Looks at runs; whether any of them had changed.
    fn update_all(&mut self, rows: &[&row::Stamped]) -> rusqlite::Result<bool> {
        let transaction = self.connection.transaction()?;
        let mut changed = false;
        for row::Stamped { row, stamp } in rows {
            changed |= update(&transaction, &self.runs, &row.id, Some(stamp))?;
        }
        transaction.commit()?;
        Ok(changed)
    }

    /// The newest rows, the newest first.
    fn select(&self, limit: usize) -> rusqlite::Result<Vec<row::Stamped>> {
        let text = "SELECT * FROM runs ORDER BY started_at_unix_ns DESC, id DESC LIMIT ?1";
        let mut statement = self.connection.prepare(text)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement.query_map([limit], row::read)?;
        rows.collect()
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

/// Lets only its user read the file of an index, which has targets, tags and notes. SQLite gives its
/// other files the same mode. Where that fails, the folder around it is what keeps others out.
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

/// Brings the row of a run up to date whose stamp was `known`; whether it had changed.
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
    // A change of permissions leaves a stamp as it was: an error is looked at again.
    let stamp = match (&row.labels, &row.run) {
        (Ok(_), Ok(_)) => stamp.as_str(),
        _ => "",
    };
    row::insert(table, &row, stamp)?;
    Ok(true)
}

/// What a name in the folder of runs stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryKind {
    /// A directory in the folder.
    Own,
    /// A link, to a directory that may be gone; or what is no run.
    Other,
}

/// The names in the folder of runs. Linux has the kind of each beside it, so none costs a call.
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

/// What tells whether the run in a directory has changed: the length and the times of what it is read
/// from. `None` where there is no run.
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
