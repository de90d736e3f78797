//! Reads the record of an active run repeatedly.
//!
//! A log grows by a frame per interval, and existing frames do not change, with two exceptions: the
//! facts of a part are rewritten when its load begins, and from time to time a log with merged
//! intervals replaces the whole log. So the read state is kept from the first interval of a part,
//! as long as the file is the same one.

use crate::StoreError;
use crate::directory::{self, LOG};
use crate::log::{Entries, Mark};
use crate::record::{self, Reader, Record};
use std::fs::{self, File};
use std::io::{BufReader, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Reads the record of a run, and later only the frames added since.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    followed: Option<Followed>,
}

/// The read state of a log.
#[derive(Debug)]
struct Followed {
    /// The open file. While it is open, no other file can have its inode number.
    file: File,
    mark: Mark,
    reader: Reader,
}

impl Follower {
    /// A follower of the run in this directory; nothing is read yet.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self {
            path,
            followed: None,
        }
    }

    /// The current record. Frames that an earlier call has read are not read again.
    ///
    /// # Errors
    /// As [`Record::read`].
    pub fn record(&mut self) -> Result<Record, StoreError> {
        if !directory::is_run(&self.path) {
            return Err(StoreError::NoRun(self.path.clone()));
        }
        let log = self.path.join(LOG);
        let followed = self.followed.take();
        let (entries, reader) = match followed.filter(|followed| followed.is_of(&log)) {
            Some(followed) => followed.go_on(&log)?,
            None => {
                let mut entries = Entries::open(&log)?;
                let reader = Reader::read(&mut entries, &mut |_| {});
                (entries, reader.map_err(StoreError::read(&log))?)
            }
        };
        let Some(reader) = reader else {
            return Err(record::unreadable(&entries, log));
        };
        let record = reader.clone().finish(&entries, Some(&self.path));
        if reader.has_begun() {
            let (mark, input) = entries.stop();
            self.followed = Some(Followed {
                file: input.into_inner(),
                mark,
                reader,
            });
        }
        Ok(record)
    }
}

impl Followed {
    /// Whether the log is still the file that was read, and still has all read bytes.
    fn is_of(&self, log: &Path) -> bool {
        let (Ok(now), Ok(read)) = (fs::metadata(log), self.file.metadata()) else {
            return false;
        };
        (now.dev(), now.ino()) == (read.dev(), read.ino()) && now.len() >= self.mark.whole
    }

    /// Reads the frames after the mark.
    fn go_on(self, log: &Path) -> Result<(Entries<BufReader<File>>, Option<Reader>), StoreError> {
        let Self {
            file,
            mark,
            mut reader,
        } = self;
        let wrong = StoreError::read(log);
        let mut input = BufReader::new(file);
        input.seek(SeekFrom::Start(mark.whole)).map_err(&wrong)?;
        let mut entries = Entries::go_on(input, mark);
        reader.go_on(&mut entries, &mut |_| {}).map_err(&wrong)?;
        Ok((entries, Some(reader)))
    }
}
