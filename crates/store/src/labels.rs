//! The user's labels of a stored run: tags and a note. They lie in its directory.

use crate::StoreError;
use crate::directory::{Directory, LABELS};
use std::fs;
use std::io;
use std::path::Path;

/// The longest file of labels that is read.
const LABELS_BYTES_MAX: u64 = 64 << 10;

/// The labels that a user gave a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Words by which runs are found, sorted; a run with a tag is not pruned.
    pub tags: Vec<String>,
    /// A text of any kind.
    pub note: String,
}

impl Labels {
    /// The labels of the run in a directory.
    ///
    /// # Errors
    /// When they can't be read.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        let file = path.join(LABELS);
        let wrong = StoreError::read(&file);
        match fs::metadata(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(wrong(error)),
            Ok(metadata) if metadata.len() > LABELS_BYTES_MAX => {
                return Err(wrong(io::Error::from(io::ErrorKind::FileTooLarge)));
            }
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&fs::read(&file).map_err(wrong)?).into_owned();
        let (tags, note) = text.split_once('\n').unwrap_or((&text, ""));
        let mut labels = Self::default();
        labels.add_tags(tags.split_whitespace());
        note.trim_end().clone_into(&mut labels.note);
        Ok(labels)
    }

    /// Adds tags; a word has no blanks.
    pub fn add_tags<'a>(&mut self, tags: impl IntoIterator<Item = &'a str>) {
        self.tags.extend(tags.into_iter().map(str::to_owned));
        self.tags.sort();
        self.tags.dedup();
    }

    /// Takes tags away.
    pub fn remove_tags(&mut self, tags: &[String]) {
        self.tags.retain(|tag| !tags.contains(tag));
    }

    /// Writes them beside the run, which may still be going on.
    ///
    /// # Errors
    /// When they can't be written.
    pub fn write(&self, path: &Path) -> Result<(), StoreError> {
        let text = format!("{}\n{}\n", self.tags.join(" "), self.note);
        Directory::replace_in(path, LABELS, text.as_bytes())
    }
}
