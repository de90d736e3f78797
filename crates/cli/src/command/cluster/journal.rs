//! The journals of runs on several machines: files beside the folder of runs.
//!
//! The coordinator of a run's term T writes `RUN.T.journal`. One that goes on with the run makes the
//! file of the next term, which can be made once, and only then reads what there is. An earlier one
//! that was merely paused looks, behind each write and before it says anything that follows from
//! it, whether that file is there: if not, what it wrote is in what the other reads.

use crate::exit::Failure;
use crate::runs_folder;
use drumfire_cluster::{Head, Journal, Outline, PastRun};
use drumfire_store::own_file;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The extension of a journal's name.
const EXTENSION: &str = "journal";
/// The name that stands for the newest run.
const LAST: &str = "last";

/// The name of the machine's boot, within which its monotonic clock goes on.
pub(super) fn boot() -> String {
    let read = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    read.map_or_else(|_| String::new(), |id| id.trim().to_owned())
}

/// The journal of a run under way.
#[derive(Debug)]
pub(super) struct JournalFile {
    folder: PathBuf,
    run: String,
    term: u64,
}

/// A journal as it was taken over, to be gone on with.
pub(super) struct Taken {
    pub(super) journal: JournalFile,
    pub(super) writer: Journal,
    pub(super) record: PastRun,
}

impl JournalFile {
    /// That of a new run.
    ///
    /// # Errors
    /// When it can't be made.
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

    /// Takes over the journal of a run, given by its name, by the beginning of one, or as the last;
    /// with `by_force` also from a coordinator that is there.
    ///
    /// # Errors
    /// When there is no such run, or it can't be taken over.
    pub(super) fn take_over(given: &str, by_force: bool) -> Result<Taken, Failure> {
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
        // From here on no earlier coordinator acknowledges anything.
        let mut file = journal.make().map_err(wrong)?;
        let whole = journal.copy_into(&mut file).map_err(wrong)?;
        let whole =
            whole.ok_or_else(|| Failure::failed("the beginning of the journal is missing"))?;
        file.write_all(&Outline::frame_of_term(journal.term))
            .and_then(|()| file.sync_all())
            .and_then(|()| File::open(&journal.folder)?.sync_all())
            .map_err(wrong)?;
        let open = || -> Result<Box<dyn io::Read + Send>, Failure> {
            let file = File::open(&path).map_err(wrong)?;
            Ok(Box::new(io::BufReader::new(file).take(whole.whole)))
        };
        let readers = [open()?, open()?];
        let record = PastRun {
            outline: Outline {
                term: journal.term,
                ..whole
            },
            boot: boot(),
            readers,
        };
        let writer = journal.writer(file);
        Ok(Taken {
            journal,
            writer,
            record,
        })
    }

    /// Whether no other coordinator had the run before.
    pub(super) const fn is_first(&self) -> bool {
        self.term == 1
    }

    /// Removes the journals of the run, whose record has everything in them.
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

    /// Makes the file, which must not be there, and holds it as long as it is open: URLs in it may
    /// have passwords.
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

    /// Copies the newest journal that was finished; its outline. One that goes on and was ended
    /// before it had copied everything is passed over.
    fn copy_into(&self, file: &mut File) -> io::Result<Option<Outline>> {
        for term in (1..self.term).rev() {
            let Ok(source) = own_file(&self.of_term(term)) else {
                continue;
            };
            let outline = Outline::read(io::BufReader::new(source))?;
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

/// The folder of journals, which only its user may enter: they name servers, and where results go.
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
    /// Whether a coordinator has it, as a process of this machine.
    pub(super) is_held: bool,
}

/// The runs that have a journal, the oldest first.
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
    // Of each run the last.
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
    let shown = given.escape_default();
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
