//! The place where a run's coordinator was started, so that another coordinator writes the same
//! results to the same places.

use crate::exit::Failure;
use crate::flags::OutputFlags;
use crate::runs_folder;
use drumfire_store::Directory;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The surroundings of a coordinator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallerPlace {
    /// The working directory of the coordinator.
    pub(super) started_in: PathBuf,
    /// The folder to which the plan's paths are relative.
    pub(super) folder: PathBuf,
    /// The directory given with `-o`.
    pub(super) store: Option<PathBuf>,
    /// Whether the run is not stored.
    pub(super) no_store: bool,
    /// Whether the run started the agents and the NATS server.
    pub(super) is_local: bool,
}

/// The keys of the text form, one per line.
const STARTED_IN: &str = "started in";
const FOLDER: &str = "folder";
const STORE: &str = "store";
const NO_STORE: &str = "no store";
const LOCAL: &str = "local";

impl CallerPlace {
    pub(super) fn new(folder: &Path, output: &OutputFlags, is_local: bool) -> Self {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self {
            started_in: env::current_dir().unwrap_or_default(),
            folder: folder.to_owned(),
            store: output.store.as_deref().map(absolute),
            no_store: output.no_store,
            is_local,
        }
    }

    /// The text form, which [`Self::of_text`] parses.
    pub(super) fn text(&self) -> String {
        let mut lines = Vec::new();
        let mut add = |name: &str, value: String| lines.push(format!("{name}={value}"));
        add(STARTED_IN, self.started_in.display().to_string());
        add(FOLDER, self.folder.display().to_string());
        if let Some(store) = &self.store {
            add(STORE, store.display().to_string());
        }
        for (name, is_on) in [(NO_STORE, self.no_store), (LOCAL, self.is_local)] {
            if is_on {
                add(name, String::new());
            }
        }
        lines.join("\n")
    }

    pub(super) fn of_text(text: &str) -> Self {
        let mut found = Self::default();
        for (name, value) in text.lines().filter_map(|line| line.split_once('=')) {
            match name {
                STARTED_IN => found.started_in = value.into(),
                FOLDER => found.folder = value.into(),
                STORE => found.store = Some(value.into()),
                NO_STORE => found.no_store = true,
                LOCAL => found.is_local = true,
                _ => {}
            }
        }
        found
    }

    /// Removes the record that an earlier coordinator started: the journal contains all of it, and
    /// the run is stored again from its beginning. With `by_force`, also removes a record that
    /// another program holds.
    ///
    /// # Errors
    /// If the record cannot be removed, or another program holds it.
    pub(super) fn remove_record(&self, run: &str, by_force: bool) -> Result<(), Failure> {
        let listed = runs_folder::runs().map(|runs| runs.join(run));
        let link = listed.as_ref().filter(|listed| listed.is_symlink());
        let wrong = |path: &Path, error: &dyn std::fmt::Display| {
            let path = path.display();
            Failure::failed(format!("can't restart the record at {path}: {error}"))
        };
        if let Some(link) = link {
            fs::remove_file(link).map_err(|error| wrong(link, &error))?;
        }
        let Some(path) = self.store.clone().or(listed).filter(|it| it.is_dir()) else {
            return Ok(());
        };
        match Directory::open(&path) {
            Ok(directory) => directory.remove().map_err(|error| wrong(&path, &error)),
            Err(drumfire_store::StoreError::NoRun(_)) => Ok(()),
            Err(drumfire_store::StoreError::Busy(_)) if by_force => {
                // The program that holds the record continues to write into deleted files.
                let aside = path.with_extension("taken");
                fs::rename(&path, &aside)
                    .and_then(|()| fs::remove_dir_all(&aside))
                    .map_err(|error| wrong(&path, &error))
            }
            Err(error) => Err(wrong(&path, &error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CallerPlace;

    #[test]
    fn a_text_has_all_of_them() {
        for (store, is_on) in [(None, false), (Some("/a=b/c".into()), true)] {
            let surroundings = CallerPlace {
                started_in: "/home/x".into(),
                folder: "plans".into(),
                store,
                no_store: is_on,
                is_local: is_on,
            };
            let text = surroundings.text();
            assert_eq!(CallerPlace::of_text(&text), surroundings);
        }
    }
}
