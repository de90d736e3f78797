//! One page of a list of runs.
//!
//! A page without a filter reads only its own rows, and checks only their stamps. A filter needs
//! the stamps and the rows of all runs.

use super::Index;
use crate::{RunRow, StoreError};
use drumfire_measure::PlanKey;
use drumfire_units::Nanos;
use rusqlite::params;
use std::path::Path;

/// The requested page.
#[derive(Clone, Copy)]
pub struct PageQuery<'a> {
    /// The filter; `None` lists all runs.
    pub admits: Option<&'a dyn Fn(&RunRow) -> bool>,
    /// The number of newer runs on earlier pages.
    pub skip: usize,
    /// The maximum number of runs on the page.
    pub limit: usize,
    /// The maximum number of values in each trail.
    pub trail: usize,
}

/// A page of the list.
#[derive(Debug, PartialEq)]
pub struct RunsPage {
    /// The rows, newest first.
    pub rows: Vec<RunRow>,
    /// For each row, p99 of the newest runs of its plan up to the run itself, oldest first; empty
    /// if the plan is unknown.
    pub trails: Vec<Vec<Option<Nanos>>>,
    /// The number of runs that the filter admits, on all pages.
    pub admitted: usize,
    /// The number of all runs.
    pub all: usize,
}

impl Index {
    /// A page of the runs in a folder, from the index at this path, which is created if it is
    /// missing. If the index fails, the runs themselves are read, which takes longer, and the
    /// reason is returned as well.
    #[must_use]
    pub fn page_of(
        path: &Path,
        runs: &Path,
        query: &PageQuery<'_>,
    ) -> (RunsPage, Option<StoreError>) {
        if !runs.is_dir() {
            return (RunsPage::of_rows(&[], query), None);
        }
        match Self::with(path, runs, |index| index.page(query)) {
            Ok((_, page)) => (page, None),
            Err(error) => (RunsPage::of_rows(&RunRow::all(runs), query), Some(error)),
        }
    }

    fn page(&mut self, query: &PageQuery<'_>) -> rusqlite::Result<RunsPage> {
        let PageQuery { skip, limit, .. } = *query;
        let (rows, admitted) = match query.admits {
            None => {
                self.follow_names()?;
                let rows = self.updated(|index| index.select(skip, limit))?;
                (rows, self.count()?)
            }
            Some(admits) => {
                self.refresh()?;
                let mut rows = self.select(0, usize::MAX)?;
                rows.retain(|stamped| admits(&stamped.row));
                let admitted = rows.len();
                let shown = rows.into_iter().skip(skip).take(limit);
                (shown.collect(), admitted)
            }
        };
        let rows: Vec<RunRow> = rows.into_iter().map(|stamped| stamped.row).collect();
        let trails = rows.iter().map(|row| self.trail(row, query.trail));
        Ok(RunsPage {
            trails: trails.collect::<rusqlite::Result<_>>()?,
            all: self.count()?,
            rows,
            admitted,
        })
    }

    /// The values of a row's trail.
    fn trail(&self, row: &RunRow, limit: usize) -> rusqlite::Result<Vec<Option<Nanos>>> {
        let Some((plan, started)) = plan(row) else {
            return Ok(Vec::new());
        };
        let text = "SELECT p99_ns FROM runs
            WHERE plan = ?1 AND (started_at_unix_ns, id) <= (?2, ?3)
            ORDER BY started_at_unix_ns DESC, id DESC LIMIT ?4";
        let mut statement = self.connection.prepare(text)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let given = params![plan.0.cast_signed(), started.cast_signed(), row.id, limit];
        let nanos = |value: i64| Nanos(value.cast_unsigned());
        let values =
            statement.query_map(given, |row| Ok(row.get::<_, Option<i64>>(0)?.map(nanos)))?;
        let mut values = values.collect::<rusqlite::Result<Vec<_>>>()?;
        values.reverse();
        Ok(values)
    }
}

impl RunsPage {
    /// The page of these rows, newest first.
    fn of_rows(rows: &[RunRow], query: &PageQuery<'_>) -> Self {
        let is_admitted = |row: &&RunRow| query.admits.is_none_or(|admits| admits(row));
        let admitted = || rows.iter().filter(is_admitted);
        let shown: Vec<RunRow> = admitted()
            .skip(query.skip)
            .take(query.limit)
            .cloned()
            .collect();
        let trail = |row: &RunRow| {
            let key = |row: &RunRow| Some((plan(row)?, row.id.clone()));
            let Some(((of, started), id)) = key(row) else {
                return Vec::new();
            };
            let earlier = rows.iter().filter(|other| {
                key(other).is_some_and(|((plan, at), other)| {
                    plan == of && (at, other) <= (started, id.clone())
                })
            });
            let newest = earlier.take(query.trail).map(p99);
            let mut values: Vec<Option<Nanos>> = newest.collect();
            values.reverse();
            values
        };
        Self {
            trails: shown.iter().map(trail).collect(),
            admitted: admitted().count(),
            all: rows.len(),
            rows: shown,
        }
    }
}

/// The plan of a run and its start, if known.
fn plan(row: &RunRow) -> Option<(PlanKey, u64)> {
    let run = row.run.as_ref().ok()?;
    Some((run.plan?, run.started_at_unix_ns))
}

fn p99(row: &RunRow) -> Option<Nanos> {
    Some(row.run.as_ref().ok()?.latency.p99?.time)
}
