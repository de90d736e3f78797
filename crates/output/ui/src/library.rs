//! The stored runs of a user, including active ones.

use crate::look::Look;
use crate::route::ListQuery;
use drumfire_compare::{Compared, HISTORY_MAX};
use drumfire_measure::{PlanKey, Summary};
use drumfire_net::Clock;
use drumfire_report::figure::Spark;
use drumfire_report::history;
use drumfire_report::html::{
    self, Document, ListView, Origin, Place, RunPhase, RunProgress, StoredRun, ToList,
};
use drumfire_report::run_list::Listed;
use drumfire_session::{Order, Peer, PeerError, finding_of, naming_of, stored, stored_plan};
use drumfire_store::{Follower, Index, PageQuery, Record, RunRow, RunsPage};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of runs on a page of the list.
const PAGE_RUNS: usize = 50;
/// The maximum number of runs of one plan in a spark.
const SPARK_RUNS: usize = 24;
/// The minimum number of runs in a spark.
const SPARK_RUNS_MIN: usize = 2;

/// The stored runs of a user.
#[derive(Clone, Debug)]
pub struct Library {
    /// The folder of runs.
    pub runs: PathBuf,
    /// The index of the runs, which is created if it is missing.
    pub index: PathBuf,
    /// The folder of the sockets of active runs, if there is one.
    pub sockets: Option<PathBuf>,
    /// Formats the local time at which a run began.
    pub began: fn(&RunRow) -> String,
    /// The list row of a run that began at this time.
    pub listed: for<'a> fn(&'a RunRow, &'a str) -> Listed<'a>,
}

/// A run in the library. Clones share the record that they have read.
#[derive(Clone, Debug)]
pub(crate) struct Shelved {
    path: PathBuf,
    record: Arc<Mutex<Follower>>,
    sockets: Option<PathBuf>,
}

impl Library {
    /// The run with this name; `None` if it does not exist.
    pub(crate) fn find(&self, name: &str) -> Option<Shelved> {
        let path = self.runs.join(name);
        let is_there = path.is_dir() && Record::is_named(&path);
        is_there.then(|| Shelved {
            record: Arc::new(Mutex::new(Follower::new(path.clone()))),
            path,
            sockets: self.sockets.clone(),
        })
    }

    /// The page of an empty list.
    pub(crate) fn empty_page() -> Vec<u8> {
        runs_page(&[], &ListView::default())
    }

    /// A page of the list, or the last page if the list has fewer.
    pub(crate) fn page(&self, query: &ListQuery) -> Vec<u8> {
        let mut page = query.page;
        let mut found = self.select(query, page);
        let last = found.admitted.saturating_sub(1) / PAGE_RUNS;
        if page > last {
            page = last;
            found = self.select(query, page);
        }
        let began: Vec<String> = found.rows.iter().map(self.began).collect();
        let stored = found.rows.iter().zip(&began).zip(found.trails);
        let stored = stored.map(|((row, began), trail)| {
            let values = trail.into_iter().map(|p99| Some(p99?.0 as f64));
            let values: Vec<Option<f64>> = values.collect();
            StoredRun {
                listed: (self.listed)(row, began),
                spark: (values.len() >= SPARK_RUNS_MIN).then(|| Spark::new(values)),
            }
        });
        let view = ListView {
            search: &query.search,
            only_failed: query.only_failed,
            plan: query.plan.as_deref(),
            page: page + 1,
            skipped: page * PAGE_RUNS,
            admitted: found.admitted,
            all: found.all,
            now_unix_ns: Clock::unix_time(),
        };
        runs_page(&stored.collect::<Vec<_>>(), &view)
    }

    /// The rows of a page of the list.
    fn select(&self, query: &ListQuery, page: usize) -> RunsPage {
        let words = query.search.to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let plan = query.plan.as_deref().map(|run| self.plan_of(run).ok());
        let admits = |row: &RunRow| {
            let of_plan = |plan| row.run.as_ref().is_ok_and(|run| run.plan == plan);
            (!query.only_failed || self.has_failed(row))
                && plan.is_none_or(|plan| plan.is_some() && of_plan(plan))
                && has_words(row, &words)
        };
        let is_filtered = query.only_failed || plan.is_some() || !words.is_empty();
        self.read_page(&PageQuery {
            admits: is_filtered.then_some(&admits),
            skip: page.saturating_mul(PAGE_RUNS),
            limit: PAGE_RUNS,
            trail: SPARK_RUNS,
        })
    }

    /// Reads a page of rows. `drumfire runs` prints the flaws of the index; the page lists the runs
    /// in any case.
    fn read_page(&self, query: &PageQuery<'_>) -> RunsPage {
        let (page, _unindexed) = Index::page_of(&self.index, &self.runs, query);
        page
    }

    /// Whether a run is unreadable, or ended with an exit code other than 0.
    fn has_failed(&self, row: &RunRow) -> bool {
        let exit = (self.listed)(row, "").exit;
        row.run.is_err() || exit.is_some_and(|code| code != 0)
    }

    /// The page that compares two runs.
    ///
    /// # Errors
    /// If one of them cannot be read; the text has the reason.
    pub(crate) fn compare(&self, base: &str, candidate: &str) -> Result<Vec<u8>, String> {
        let read = |name: &str| {
            let run = self.find(name).ok_or_else(|| missing(name))?;
            let record = Record::read(&run.path).map_err(|error| error.to_string())?;
            Ok::<_, String>(Compared::from_summary(stored(record)))
        };
        let (base, candidate) = (read(base)?, read(candidate)?);
        let mut parts = html::compare(&base, &candidate);
        parts.insert(0, html::back(ToList::FromBeside));
        let document = Document {
            title: "drumfire: two runs",
            place: Place::Served,
            parts: &parts,
        };
        Ok(document.print())
    }

    /// The page of the runs of a run's plan.
    ///
    /// # Errors
    /// If the run does not exist, or its plan is unknown; the text has the reason.
    pub(crate) fn history(&self, name: &str) -> Result<Vec<u8>, String> {
        let plan = self.plan_of(name)?;
        let admits = |row: &RunRow| row.run.as_ref().is_ok_and(|run| run.plan == Some(plan));
        let mut rows = self
            .read_page(&PageQuery {
                admits: Some(&admits),
                skip: 0,
                limit: HISTORY_MAX,
                trail: 0,
            })
            .rows;
        rows.reverse();
        let began: Vec<String> = rows.iter().map(self.began).collect();
        let listed = rows.iter().zip(&began);
        let history = history::search(listed.map(|(row, began)| (self.listed)(row, began)));
        let mut parts = html::history(&history);
        parts.insert(0, html::back(ToList::FromBeside));
        let document = Document {
            title: "drumfire: runs of one plan",
            place: Place::Served,
            parts: &parts,
        };
        Ok(document.print())
    }

    /// The plan of a run.
    ///
    /// # Errors
    /// If the run does not exist, or its plan is unknown; the text has the reason.
    fn plan_of(&self, name: &str) -> Result<PlanKey, String> {
        let run = self.find(name).ok_or_else(|| missing(name))?;
        let plan = RunRow::read(name, &run.path).run?.plan;
        plan.ok_or_else(|| "the plan of this run is unknown".to_owned())
    }
}

/// Whether the id, the target, the name, the tags and the note of a run have every word, in any case.
fn has_words(row: &RunRow, words: &[&str]) -> bool {
    if words.is_empty() {
        return true;
    }
    let mut text = row.id.clone();
    if let Ok(run) = &row.run {
        text.push('\n');
        text.push_str(&run.target);
        text.extend(run.name.iter().flat_map(|name| ["\n", name]));
    }
    if let Ok(labels) = &row.labels {
        let notes = labels.tags.iter().chain([&labels.note]);
        notes.for_each(|note| text.extend(["\n", note]));
    }
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word))
}

impl Shelved {
    /// A number that changes with the record; 0 without a record.
    pub(crate) fn version(&self) -> u64 {
        Record::version(&self.path).unwrap_or(0)
    }

    /// The current run.
    ///
    /// # Errors
    /// If the run cannot be read; the text has the reason.
    pub(crate) fn look(&self) -> Result<Look, String> {
        let mut followed = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let record = followed.record().map_err(|error| error.to_string())?;
        drop(followed);
        let peer = match record.summary.coverage.has_end() {
            true => None,
            // A run that does not respond cannot be controlled; its record is shown.
            false => self.peer_of(&record.newest_id).ok().flatten(),
        };
        let plan = stored_plan(&self.path);
        let naming = naming_of(&record);
        let teardown = record.teardown.as_ref().map(|of| of.message.clone());
        let finding = finding_of(&record)?;
        let summary = stored(record);
        let origin = Origin {
            naming,
            plan: &plan,
            files: &[],
            teardown: teardown.as_deref(),
            against: None,
        };
        let mut parts = match &finding {
            Some(finding) => html::capacity(finding, &summary, &origin),
            None => html::parts(&summary, &origin),
        };
        if let Some(peer) = &peer {
            let progress = progress(&summary, peer);
            parts.insert(1, html::progress(&progress));
            parts.insert(2, html::control(&peer.info, progress.phase));
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        parts.insert(0, html::back(ToList::FromRun(&name)));
        Ok(Look {
            title: match &finding {
                Some(finding) => html::capacity_title(finding),
                None => html::title(&summary),
            },
            parts,
            is_live: peer.is_some(),
        })
    }

    /// Sends a user's order to the run. Returns its answer.
    ///
    /// # Errors
    /// If the run is not active, refuses or does not answer; the text has the reason.
    pub(crate) fn carry_out(&self, order: &Order<'_>) -> Result<String, String> {
        let peer = self.peer().map_err(|error| error.to_string())?;
        let peer = peer.ok_or("the run is not in progress")?;
        let command = order.command(&peer.info)?;
        peer.send(command).map_err(|error| error.to_string())
    }

    /// The run in the process that executes it.
    fn peer(&self) -> Result<Option<Peer>, PeerError> {
        match Record::newest_id(&self.path) {
            Ok(id) => self.peer_of(&id),
            Err(_) => Ok(None),
        }
    }

    fn peer_of(&self, id: &str) -> Result<Option<Peer>, PeerError> {
        let sockets = self.sockets.as_deref();
        sockets.map_or(Ok(None), |folder| Peer::of_id(folder, id))
    }
}

/// The progress of a run that responds.
fn progress(summary: &Summary, peer: &Peer) -> RunProgress {
    let done = summary.end();
    let phase = match peer.is_paused() {
        _ if done.0 == 0 => RunPhase::Start,
        Some(true) => RunPhase::Paused,
        _ if done <= summary.info.warmup.span() => RunPhase::WarmUp,
        _ => RunPhase::Load,
    };
    RunProgress {
        phase,
        done,
        planned: summary.info.planned(),
    }
}

fn runs_page(stored: &[StoredRun<'_>], view: &ListView<'_>) -> Vec<u8> {
    let document = Document {
        title: "drumfire: runs",
        place: Place::Served,
        parts: &html::runs(stored, view),
    };
    document.print()
}

/// The message about a missing run.
pub(crate) fn missing(name: &str) -> String {
    format!("no run `{}` is stored", name.escape_default())
}
