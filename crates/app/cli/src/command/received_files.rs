//! The files that came with a plan, in the agent's own folder.
//!
//! The files are named by numbers, so that no name in the plan can select a path. They are removed
//! with the share.

use crate::exit::Failure;
use crate::runs_folder;
use drumfire_cluster::{AgentDriver, Assignment};
use drumfire_units::ByteSize;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

/// The files of one share.
#[derive(Debug)]
pub(super) struct ReceivedFiles {
    folder: Option<PathBuf>,
    /// The paths of the files, in the order of their numbers.
    pub(super) places: Vec<PathBuf>,
}

impl ReceivedFiles {
    /// Fetches the files of a share's plan. `max` limits their total size in bytes.
    ///
    /// # Errors
    /// If the files are too large, or the content of a file differs from its description.
    pub(super) fn fetch(
        driver: &AgentDriver,
        assignment: &Assignment,
        max: ByteSize,
    ) -> Result<Self, Failure> {
        let files = &assignment.attachments.files;
        let mut received = Self {
            folder: None,
            places: Vec::new(),
        };
        if files.is_empty() {
            return Ok(received);
        }
        let sizes = files.iter().map(|file| file.size);
        let size = sizes.fold(0, u64::saturating_add);
        if size > max.0
            && let Some(largest) = files.iter().max_by_key(|file| file.size)
        {
            let size = ByteSize(size);
            return Err(Failure::usage(format!(
                "the plan's files have {size}, and the largest is {}, but this agent accepts {max}; \
                 raise this with --files-max",
                largest.path
            )));
        }
        let wrong =
            |error: io::Error| Failure::failed(format!("can't store the plan's files: {error}"));
        let within = runs_folder::own_beside("files").map_err(wrong)?;
        let folder = within.join(name(assignment));
        // The folder must be new, so that it contains only verified files.
        let made = fs::DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(wrong)?;
        received.folder = Some(folder.clone());
        for (number, file) in files.iter().enumerate() {
            let place = folder.join(number.to_string());
            let mut options = fs::OpenOptions::new();
            let options = options.write(true).create_new(true).mode(0o600);
            let mut into = options.open(&place).map_err(wrong)?;
            let fetched = driver.fetch(assignment, number, &mut into);
            fetched.map_err(|error| {
                Failure::failed(format!("the plan's file {}: {error}", file.path))
            })?;
            received.places.push(place);
        }
        Ok(received)
    }
}

impl Drop for ReceivedFiles {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _left_behind = fs::remove_dir_all(folder);
        }
    }
}

/// A unique name for a folder.
fn name(assignment: &Assignment) -> String {
    let (run, share) = (&assignment.run, assignment.share);
    // The coordinator chooses the name of a run, so it is not trusted.
    let run: String = run.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{run}-{share}-{}", std::process::id())
}
