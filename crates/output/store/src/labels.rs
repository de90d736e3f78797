//! The user's labels of a stored run: tags and a note. They are stored in its directory.

use crate::StoreError;
use crate::directory::{Directory, LABELS};
use crate::own_files;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The maximum size of a file of labels, in bytes.
const LABELS_BYTES_MAX: usize = 64 << 10;

/// The labels that a user gave a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Words by which runs are found, sorted; tagged runs are not pruned.
    pub tags: Vec<String>,
    /// Any text.
    pub note: String,
}

impl Labels {
    /// The labels of the run in a directory.
    ///
    /// # Errors
    /// If the labels cannot be read.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        let path = path.join(LABELS);
        let wrong = StoreError::read(&path);
        let file = match own_files::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            file => file.map_err(&wrong)?,
        };
        let mut bytes = Vec::new();
        let mut file = file.take(LABELS_BYTES_MAX as u64 + 1);
        file.read_to_end(&mut bytes).map_err(&wrong)?;
        if bytes.len() > LABELS_BYTES_MAX {
            return Err(wrong(io::ErrorKind::FileTooLarge.into()));
        }
        let text = String::from_utf8_lossy(&bytes);
        let (tags, note) = text.split_once('\n').unwrap_or((&text, ""));
        let mut labels = Self::default();
        labels.add_tags(tags.split_whitespace());
        note.trim_end().clone_into(&mut labels.note);
        Ok(labels)
    }

    /// Adds tags. A tag must not contain blanks.
    pub fn add_tags<'a>(&mut self, tags: impl IntoIterator<Item = &'a str>) {
        self.tags.extend(tags.into_iter().map(str::to_owned));
        self.tags.sort();
        self.tags.dedup();
    }

    /// Removes tags.
    pub fn remove_tags(&mut self, tags: &[String]) {
        self.tags.retain(|tag| !tags.contains(tag));
    }

    /// Changes the labels of the run in a directory, which another program may be changing or
    /// writing to; changes are applied one after the other. Labels that cannot be read stay
    /// unchanged.
    ///
    /// # Errors
    /// If the labels cannot be read or written, or would be longer than 64 KiB.
    pub fn change(path: &Path, change: &mut dyn FnMut(&mut Self)) -> Result<(), StoreError> {
        let wrong = StoreError::write(path);
        // The lock of the directory itself, which needs no file and ends with this call.
        let directory = File::open(path).map_err(&wrong)?;
        directory.lock().map_err(&wrong)?;
        let mut labels = Self::read(path)?;
        change(&mut labels);
        let text = format!("{}\n{}\n", labels.tags.join(" "), labels.note);
        if text.len() > LABELS_BYTES_MAX {
            return Err(StoreError::write(&path.join(LABELS))(
                io::ErrorKind::FileTooLarge.into(),
            ));
        }
        Directory::replace_in(path, LABELS, text.as_bytes())
    }
}
