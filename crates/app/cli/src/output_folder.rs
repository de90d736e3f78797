//! A folder for a result that has several files.
//!
//! The folder must be new, empty, or contain only files of such a result, which are replaced. A
//! result therefore never mixes with other files, and old files are never mistaken for new ones.
//! Links are not followed, neither for the folder nor for a file.

use crate::exit::Failure;
use crate::output::why_not_written;
use drumfire_report::NamedFile;
use drumfire_report::style::Unicode;
use drumfire_report::untrusted::Untrusted;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A folder for a result, found suitable before the run.
#[derive(Debug)]
pub(crate) struct OutputFolder {
    path: PathBuf,
    /// Whether a file of the result may have this name.
    is_name: fn(&str) -> bool,
}

impl OutputFolder {
    /// Checks that a result can be written there. A missing folder is created when the result is
    /// written.
    pub(crate) fn check(
        flag: &str,
        path: &Path,
        is_name: fn(&str) -> bool,
    ) -> Result<Self, Failure> {
        let folder = Self {
            path: path.to_owned(),
            is_name,
        };
        if path == Path::new("-") {
            let message = format!("{flag} takes a directory, because it writes several files");
            return Err(Failure::usage(message));
        }
        let is_fit = folder.earlier().and_then(|earlier| match earlier {
            Some(_) => Ok(()),
            None => fs::create_dir(path).and_then(|()| fs::remove_dir(path)),
        });
        is_fit.map_err(|error| {
            let why = why_not_written(path, &error);
            Failure::usage(format!("{flag}: can't write {}: {why}", path.display()))
        })?;
        Ok(folder)
    }

    /// Writes the files, each to a temporary file that is then renamed, and removes files of an
    /// earlier result that are not replaced.
    pub(crate) fn write(&self, files: &[NamedFile]) -> Result<(), Failure> {
        self.fill(files).map_err(|error| {
            let why = why_not_written(&self.path, &error);
            Failure::failed(format!("can't write {}: {why}", self.path.display()))
        })
    }

    fn fill(&self, files: &[NamedFile]) -> io::Result<()> {
        // Check again, because a run may have lasted for hours.
        let earlier = match self.earlier()? {
            Some(earlier) => earlier,
            None => {
                fs::create_dir(&self.path)?;
                Vec::new()
            }
        };
        for NamedFile { name, bytes } in files {
            self.replace(name, bytes)?;
        }
        for name in earlier {
            if !files.iter().any(|file| *file.name == name) {
                fs::remove_file(self.path.join(name))?;
            }
        }
        Ok(())
    }

    /// Writes one file.
    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let beside = format!("{name}.{}.tmp", std::process::id());
        let beside = self.path.join(beside);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&beside)?;
        let written = file.write_all(bytes);
        written
            .and_then(|()| fs::rename(&beside, self.path.join(name)))
            .inspect_err(|_| {
                // The partial file is useless, and failing to remove it changes nothing.
                let _left = fs::remove_file(&beside);
            })
    }

    /// The names of the files of an earlier result in the folder; `None` if the folder does not
    /// exist.
    fn earlier(&self) -> io::Result<Option<Vec<OsString>>> {
        let facts = match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            facts => facts?,
        };
        if facts.is_symlink() {
            return Err(io::Error::other("it is a link; use the directory itself"));
        }
        if !facts.is_dir() {
            return Err(io::Error::other("it is a file; use a directory"));
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_ours = name.to_str().is_some_and(self.is_name) && entry.file_type()?.is_file();
            if !is_ours {
                let shown = Untrusted::new(&name.to_string_lossy()).escaped(Unicode::On);
                let message =
                    format!("it contains other files, such as {shown}; use a new directory");
                return Err(io::Error::other(message));
            }
            names.push(name);
        }
        Ok(Some(names))
    }
}

#[cfg(test)]
mod tests {
    use super::OutputFolder;
    use drumfire_report::NamedFile;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("drumfire-{name}-{}", std::process::id()));
        let _none = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        path
    }

    fn check(path: &Path) -> Result<OutputFolder, String> {
        OutputFolder::check("--svg", path, |name| name.ends_with(".svg"))
            .map_err(|failure| failure.message)
    }

    fn file(name: &str) -> NamedFile {
        NamedFile {
            name: name.to_owned(),
            bytes: name.as_bytes().to_vec(),
        }
    }

    fn names(path: &Path) -> Vec<String> {
        let entries = fs::read_dir(path).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_new_or_empty_or_of_an_earlier_result() {
        let scratch = scratch("output-folder");
        let place = scratch.join("pictures");
        let folder = check(&place).unwrap();
        assert!(!place.exists(), "it is made with the result");
        folder.write(&[file("a.svg"), file("b.svg")]).unwrap();
        check(&place).unwrap().write(&[file("b.svg")]).unwrap();
        assert_eq!(names(&place), ["b.svg"]);
        fs::write(place.join("notes"), "").unwrap();
        assert!(check(&place).unwrap_err().contains("such as notes"));
        assert!(check(&place.join("notes")).unwrap_err().contains("a file"));
        assert!(check(&scratch.join("none/pictures")).is_err());
        fs::remove_dir_all(&scratch).unwrap();
    }

    #[test]
    fn no_link_is_followed() {
        let scratch = scratch("output-links");
        let place = scratch.join("pictures");
        let link = scratch.join("link");
        fs::create_dir(&place).unwrap();
        symlink(&place, &link).unwrap();
        assert!(check(&link).unwrap_err().contains("a link"));
        let kept = scratch.join("kept");
        fs::write(&kept, "kept").unwrap();
        symlink(&kept, place.join("a.svg")).unwrap();
        assert!(check(&place).unwrap_err().contains("such as a.svg"));
        // A link that is created during the run is not followed either.
        fs::remove_file(place.join("a.svg")).unwrap();
        let folder = check(&place).unwrap();
        fs::remove_dir(&place).unwrap();
        symlink(&scratch, &place).unwrap();
        assert!(folder.write(&[file("a.svg")]).is_err());
        assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
        fs::remove_dir_all(&scratch).unwrap();
    }
}
