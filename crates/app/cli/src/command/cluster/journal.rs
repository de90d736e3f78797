//! The journals of cluster runs: files next to the folder of runs.
//!
//! The coordinator of term T of a run writes `RUN.T.journal`. A coordinator that takes over the run
//! creates the file of the next term, which can be created only once, and reads the existing
//! journals only afterwards. An earlier coordinator that was only paused checks after each write,
//! and before it sends anything that depends on the write, whether that file exists. If the file
//! does not exist, the new coordinator will read the write.

use crate::exit::Failure;
use crate::runs_folder;
use drumfire_cluster::{Head, Journal, JournalOutline, PastRun};
use drumfire_store::own_file;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The extension of a journal's name.
const EXTENSION: &str = "journal";
/// The name for the newest run.
const LAST: &str = "last";

/// The id of the machine's boot. Monotonic clock values are comparable only within one boot.
pub(super) fn boot() -> String {
    let read = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    read.map_or_else(|_| String::new(), |id| id.trim().to_owned())
}

/// The journal of an active run.
#[derive(Debug)]
pub(super) struct JournalFile {
    folder: PathBuf,
    run: String,
    term: u64,
}

/// A journal that was taken over and will be continued.
pub(super) struct TakenJournal {
    pub(super) journal: JournalFile,
    pub(super) writer: Journal,
    pub(super) record: PastRun,
}

impl JournalFile {
    /// Creates the journal of a new run.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub(super) fn create(run: &str) -> Result<(Self, Journal), Failure> {
        let journal = Self {
            folder: folder()?,
            run: run.to_owned(),
            term: 1,
        };
        let wrong = |error| failure(&journal.path(), &error);
        let file = journal.make().map_err(wrong)?;
        let writer = journal.writer(file);
        Ok((journal, writer))
    }

    /// Takes over the journal of a run, given by its name, a prefix of its name, or `last`. With
    /// `by_force`, also takes over from a coordinator that is still running.
    ///
    /// # Errors
    /// If the run does not exist, or its journal cannot be taken over.
    pub(super) fn take_over(given: &str, by_force: bool) -> Result<TakenJournal, Failure> {
        let folder = folder()?;
        let (run, newest) = find(&folder, given)?;
        let last = Self {
            folder: folder.clone(),
            run: run.clone(),
            term: newest,
        };
        let held = own_file(&last.path()).map_err(|error| failure(&last.path(), &error))?;
        if matches!(held.try_lock(), Err(TryLockError::WouldBlock)) && !by_force {
            return Err(
                Failure::failed(format!("the coordinator of run {run} is still running"))
                    .with_remedy("; if it hangs, take over the run with --take-over"),
            );
        }
        let journal = Self {
            folder,
            run,
            term: newest + 1,
        };
        let path = journal.path();
        let wrong = |error| failure(&path, &error);
        // From here on, no earlier coordinator acknowledges anything.
        let mut file = journal.make().map_err(wrong)?;
        let whole = journal.copy_into(&mut file).map_err(wrong)?;
        let whole =
            whole.ok_or_else(|| Failure::failed("the beginning of the journal is missing"))?;
        file.write_all(&JournalOutline::frame_of_term(journal.term))
            .and_then(|()| file.sync_all())
            .and_then(|()| File::open(&journal.folder)?.sync_all())
            .map_err(wrong)?;
        let open = || -> Result<Box<dyn io::Read + Send>, Failure> {
            let file = File::open(&path).map_err(wrong)?;
            Ok(Box::new(io::BufReader::new(file).take(whole.whole)))
        };
        let readers = [open()?, open()?];
        let record = PastRun {
            outline: JournalOutline {
                term: journal.term,
                ..whole
            },
            boot: boot(),
            readers,
        };
        let writer = journal.writer(file);
        Ok(TakenJournal {
            journal,
            writer,
            record,
        })
    }

    /// Whether this is the first coordinator of the run.
    pub(super) const fn is_first(&self) -> bool {
        self.term == 1
    }

    /// Removes the journals of the run, once its record contains everything in them.
    pub(super) fn remove(&self) {
        for term in 1..=self.term {
            let _left_behind = fs::remove_file(self.of_term(term));
        }
    }

    fn path(&self) -> PathBuf {
        self.of_term(self.term)
    }

    fn of_term(&self, term: u64) -> PathBuf {
        let name = format!("{}.{term}.{EXTENSION}", self.run);
        self.folder.join(name)
    }

    /// Creates the file, which must not exist, and locks it while it is open. Only the user may
    /// read it, because URLs in it may contain passwords.
    fn make(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let options = options.append(true).create_new(true).mode(0o600);
        let file = options.open(self.path())?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::Error(error)) => Err(error),
            Err(TryLockError::WouldBlock) => Err(io::Error::from(io::ErrorKind::WouldBlock)),
        }
    }

    /// Copies the newest complete journal and returns its outline. A journal whose coordinator
    /// ended before it had copied its predecessor is skipped.
    fn copy_into(&self, file: &mut File) -> io::Result<Option<JournalOutline>> {
        for term in (1..self.term).rev() {
            let Ok(source) = own_file(&self.of_term(term)) else {
                continue;
            };
            let outline = JournalOutline::read(io::BufReader::new(source))?;
            let Some(outline) = outline.filter(|outline| outline.term == term) else {
                continue;
            };
            let mut source = own_file(&self.of_term(term))?.take(outline.whole);
            io::copy(&mut source, file)?;
            return Ok(Some(outline));
        }
        Ok(None)
    }

    fn writer(&self, mut file: File) -> Journal {
        let next = self.of_term(self.term + 1);
        Box::new(move |bytes: &[u8]| {
            if !bytes.is_empty() {
                file.write_all(bytes)?;
                file.sync_data()?;
            }
            match next.exists() {
                true => Err(io::Error::from(io::ErrorKind::PermissionDenied)),
                false => Ok(()),
            }
        })
    }
}

/// The folder of journals. Only its user may enter it, because journals contain the addresses of
/// servers and the destinations of results.
fn folder() -> Result<PathBuf, Failure> {
    let folder = runs_folder::own_beside("cluster");
    folder.map_err(|error| Failure::failed(format!("can't keep journals: {error}")))
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!(
        "can't write the journal {}: {error}",
        path.display()
    ))
}

/// A run that has a journal.
pub(super) struct Kept {
    pub(super) run: String,
    /// Its group; `None` if the journal can't be read.
    pub(super) group: Option<String>,
    /// Whether a coordinator on this machine holds the journal.
    pub(super) is_held: bool,
}

/// The runs that have a journal, oldest first.
pub(super) fn runs() -> Vec<Kept> {
    let folder = runs_folder::beside("cluster");
    let kept = |(run, term): (String, u64)| {
        let journal = JournalFile {
            folder: folder.clone(),
            run,
            term,
        };
        let file = own_file(&journal.path()).ok()?;
        let is_held = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        let head = Head::read(io::BufReader::new(file)).ok().flatten();
        Some(Kept {
            run: journal.run,
            group: head.map(|head| head.group),
            is_held,
        })
    };
    all(&folder).into_iter().filter_map(kept).collect()
}

fn all(folder: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let parse = |name: String| {
        let stem = name.strip_suffix(EXTENSION)?.strip_suffix('.')?;
        let (run, term) = stem.rsplit_once('.')?;
        Some((run.to_owned(), term.parse().ok()?))
    };
    let mut all: Vec<(String, u64)> = names.filter_map(parse).collect();
    all.sort();
    // Keep the newest journal of each run.
    all.reverse();
    all.dedup_by(|(next, _), (newest, _)| next == newest);
    all.reverse();
    all
}

fn find(folder: &Path, given: &str) -> Result<(String, u64), Failure> {
    let mut all = all(folder);
    if given == LAST {
        let newest = all.pop();
        return newest.ok_or_else(|| Failure::usage("no run has a journal"));
    }
    let whole = all.iter().position(|(run, _)| run == given);
    if let Some(index) = whole {
        return Ok(all.swap_remove(index));
    }
    all.retain(|(run, _)| run.starts_with(given));
    let shown = given.escape_debug();
    match (all.pop(), all.is_empty()) {
        (Some(found), true) => Ok(found),
        (Some(_), false) => Err(Failure::usage(format!(
            "`{shown}` matches several runs; use a longer prefix"
        ))),
        (None, _) => Err(Failure::usage(format!(
            "no run `{shown}` has a journal in {}",
            folder.display()
        ))),
    }
}
