//! The stored runs of a user, including active ones.

use crate::look::Look;
use drumfire_compare::{Compared, HISTORY_MAX};
use drumfire_measure::{PlanKey, Summary};
use drumfire_report::figure::Spark;
use drumfire_report::history;
use drumfire_report::html::{self, Document, Origin, Place, StoredRun};
use drumfire_report::run_list::Listed;
use drumfire_session::{Order, Peer, PeerError, Peers, naming_of, stored, stored_plan};
use drumfire_store::{Follower, Index, Record, RunRow};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

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
        runs_page(&[])
    }

    /// The page of all runs.
    pub(crate) fn page(&self) -> Vec<u8> {
        let rows = self.rows();
        let peers = self.peers();
        let began: Vec<String> = rows.iter().map(self.began).collect();
        let sparks = Self::sparks(&rows);
        let stored = rows.iter().zip(&began).zip(sparks);
        let stored = stored.map(|((row, began), spark)| StoredRun {
            listed: (self.listed)(row, began),
            is_live: self.is_live(row, &peers),
            spark,
        });
        runs_page(&stored.collect::<Vec<_>>())
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
        let document = Document {
            title: "drumfire: two runs",
            place: Place::Served,
            parts: &html::compare(&base, &candidate),
        };
        Ok(document.print())
    }

    /// The page of the runs of a run's plan.
    ///
    /// # Errors
    /// If the run does not exist, or its plan is unknown; the text has the reason.
    pub(crate) fn history(&self, name: &str) -> Result<Vec<u8>, String> {
        let mut rows = self.rows();
        let run = rows.iter().find(|row| row.id == name);
        let run = run.ok_or_else(|| missing(name))?.run.as_ref();
        let plan = run.map_err(Clone::clone)?.plan;
        let plan = plan.ok_or("the plan of this run is unknown")?;
        rows.retain(|row| row.run.as_ref().is_ok_and(|run| run.plan == Some(plan)));
        rows.truncate(HISTORY_MAX);
        rows.reverse();
        let began: Vec<String> = rows.iter().map(self.began).collect();
        let listed = rows.iter().zip(&began);
        let history = history::search(listed.map(|(row, began)| (self.listed)(row, began)));
        let document = Document {
            title: "drumfire: runs of one plan",
            place: Place::Served,
            parts: &html::history(&history),
        };
        Ok(document.print())
    }

    /// The stored runs, newest first.
    fn rows(&self) -> Vec<RunRow> {
        // `drumfire runs` prints the flaws of the index; the page lists the runs in any case.
        let (rows, _unindexed) = Index::rows_of(&self.index, &self.runs);
        rows
    }

    fn peers(&self) -> Peers {
        let peers = self.sockets.as_deref().map(Peers::within);
        peers.and_then(Result::ok).unwrap_or_default()
    }

    fn is_live(&self, row: &RunRow, peers: &Peers) -> bool {
        let may_be = row.run.as_ref().is_ok_and(|run| !run.coverage.has_end());
        may_be && !peers.live.is_empty() && {
            // The name of a resumed run differs from its directory.
            let id = Record::newest_id(&self.runs.join(&row.id));
            id.is_ok_and(|id| peers.live.iter().any(|peer| peer.id == id))
        }
    }

    /// For each row, the p99 of the runs of its plan up to that run.
    fn sparks(rows: &[RunRow]) -> Vec<Option<Spark>> {
        let mut histories: HashMap<PlanKey, Vec<Option<f64>>> = HashMap::new();
        let mut sparks: Vec<Option<Spark>> = Vec::with_capacity(rows.len());
        for row in rows.iter().rev() {
            let run = row.run.as_ref().ok();
            let spark = run.and_then(|run| run.plan).and_then(|plan| {
                let p99 = run.and_then(|run| run.latency.p99);
                let history = histories.entry(plan).or_default();
                history.push(p99.map(|p99| p99.time.0 as f64));
                let newest = history.len().saturating_sub(SPARK_RUNS);
                let shown = &history[newest..];
                (shown.len() >= SPARK_RUNS_MIN).then(|| Spark::new(shown.to_vec()))
            });
            sparks.push(spark);
        }
        sparks.reverse();
        sparks
    }
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
        let summary = stored(record);
        let origin = Origin {
            naming,
            plan: &plan,
            files: &[],
            teardown: teardown.as_deref(),
            against: None,
        };
        let mut parts = html::parts(&summary, &origin);
        if let Some(peer) = &peer {
            parts.insert(1, html::progress(&running(&summary)));
            parts.insert(2, html::control(&peer.info));
        }
        Ok(Look {
            title: html::title(&summary),
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

/// The progress of a run, and its length if its plan has one.
fn running(summary: &Summary) -> String {
    let asked = summary
        .info
        .pools
        .iter()
        .map(|pool| pool.asked.as_ref()?.stop.duration);
    let asked: Option<Vec<_>> = asked.collect();
    match asked.and_then(|all| all.into_iter().max()) {
        Some(whole) => format!("running, {} of {whole}", summary.end()),
        None => format!("running, {} so far", summary.end()),
    }
}

fn runs_page(stored: &[StoredRun<'_>]) -> Vec<u8> {
    let document = Document {
        title: "drumfire: runs",
        place: Place::Served,
        parts: &html::runs(stored),
    };
    document.print()
}

/// The message about a missing run.
pub(crate) fn missing(name: &str) -> String {
    format!("no run `{}` is stored", name.escape_default())
}
