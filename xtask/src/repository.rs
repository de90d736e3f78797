//! The repository as text: every file that belongs to it, read once.

use crate::RustFile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders with generated files, by their path from the root.
const MADE: &[&str] = &[
    "target",
    ".git",
    "fuzz/target",
    "fuzz/corpus",
    "fuzz/artifacts",
    "web/node_modules",
    "web/out",
];

/// Every file of the repository by its path from the root, with `/` as separator. A file that is
/// not UTF-8 has an empty text.
#[derive(Debug, Default)]
pub struct Repository {
    root: PathBuf,
    texts: BTreeMap<String, String>,
}

impl Repository {
    /// Reads the repository in which this crate was built.
    ///
    /// # Errors
    /// If a folder or a file cannot be read.
    pub fn read() -> std::io::Result<Self> {
        Self::read_at(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
    }

    /// Reads the repository in this folder, such as an older checkout.
    ///
    /// # Errors
    /// If a folder or a file cannot be read.
    pub fn read_at(root: &Path) -> std::io::Result<Self> {
        let mut texts = BTreeMap::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(root.join(&folder))? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = if folder.is_empty() {
                    name
                } else {
                    format!("{folder}/{name}")
                };
                let kind = entry.file_type()?;
                if kind.is_dir() && !MADE.contains(&path.as_str()) {
                    folders.push(path);
                } else if kind.is_file() {
                    let text = String::from_utf8(std::fs::read(entry.path())?);
                    texts.insert(path, text.unwrap_or_default());
                }
            }
        }
        Ok(Self {
            root: root.to_owned(),
            texts,
        })
    }

    /// A repository that exists only in memory, for testing a check.
    #[must_use]
    pub fn in_memory(files: &[(&str, &str)]) -> Self {
        let owned = |&(path, text): &(&str, &str)| (path.to_owned(), text.to_owned());
        Self {
            root: PathBuf::new(),
            texts: files.iter().map(owned).collect(),
        }
    }

    /// The folder to which paths are relative.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file's text; empty if the file does not exist.
    #[must_use]
    pub fn text(&self, path: &str) -> &str {
        self.texts.get(path).map_or("", String::as_str)
    }

    /// Whether a file or a folder has this path.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        path.is_empty()
            || self.texts.contains_key(path)
            || self.texts.keys().any(|other| other.starts_with(&folder))
    }

    /// All paths, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    /// Files whose names have this suffix, with their texts.
    pub fn ending(&self, end: &str) -> impl Iterator<Item = (&str, &str)> {
        let matching = move |(path, _): &(&String, &String)| path.ends_with(end);
        self.texts
            .iter()
            .filter(matching)
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Every Rust file, analysed; files that contain only tests are marked as tests.
    #[must_use]
    pub fn rust_files(&self) -> Vec<RustFile> {
        let mut files: Vec<RustFile> = self
            .ending(".rs")
            .map(|(path, text)| RustFile::new(path, text))
            .collect();
        let test_modules: Vec<String> = files.iter().flat_map(RustFile::test_modules).collect();
        for file in &mut files {
            let inside = |module: &String| {
                file.path.strip_suffix(".rs") == Some(module)
                    || file.path.starts_with(&format!("{module}/"))
            };
            if test_modules.iter().any(inside) {
                file.mark_as_test();
            }
        }
        files
    }
}
