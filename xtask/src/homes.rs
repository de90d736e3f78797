//! The modules in which a crate declares its types.

use crate::RustFile;
use crate::declarations::types;
use std::collections::BTreeMap;

/// The modules that declare a type of each name, for each crate; several modules may use the same
/// name.
pub(crate) struct Homes<'a>(BTreeMap<(&'a str, &'a str), Vec<&'a str>>);

impl<'a> Homes<'a> {
    /// Reads the declarations of all files except tests.
    pub(crate) fn from_files(files: &'a [RustFile]) -> Self {
        let mut homes: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for file in files {
            for item in types(file) {
                let key = (source_folder(&file.path), item.name);
                homes.entry(key).or_default().push(module(&file.path));
            }
        }
        Self(homes)
    }

    /// The modules of the file's crate that declare a type of this name.
    pub(crate) fn of_name(&self, file: &'a RustFile, name: &'a str) -> &[&'a str] {
        let key = (source_folder(&file.path), name);
        self.0.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The module whose type a file means by this name: its own module, otherwise the nearest
    /// module above it, otherwise the first in the crate.
    pub(crate) fn nearest(&self, file: &'a RustFile, name: &'a str) -> Option<&'a str> {
        let homes = self.of_name(file, name);
        let own = module(&file.path);
        let above = homes.iter().filter(|home| is_within(own, home));
        let nearest = above.max_by_key(|home| home.len());
        nearest.or_else(|| homes.first()).copied()
    }
}

/// The folder with the sources of a file's crate, with a slash at its end.
pub(crate) fn source_folder(path: &str) -> &str {
    let end = match path.find("/src/") {
        Some(at) => at + "/src/".len(),
        None if path.starts_with("src/") => "src/".len(),
        None => 0,
    };
    &path[..end]
}

/// A file's module as a path: the folder for `lib.rs` and `main.rs`, otherwise the file without
/// `.rs`.
pub(crate) fn module(path: &str) -> &str {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    match stem.rsplit_once('/') {
        Some((folder, "lib" | "main")) => folder,
        _ => stem,
    }
}

/// Whether a module is `home` or below it. Items of a crate's root have no separate folder.
pub(crate) fn is_within(module: &str, home: &str) -> bool {
    let below = module.strip_prefix(home);
    below == Some("") || !home.ends_with("/src") && below.is_some_and(|rest| rest.starts_with('/'))
}
