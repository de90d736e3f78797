//! Measures of the code's shape, for a person to read: `cargo run -p xtask measures`.
//!
//! Each is counted for every crate and for all crates together, without tests. Given the folder of
//! an older checkout, the program prints the table for that checkout, so that both can be compared.
//! Nothing here fails a test; the checks next to this file enforce the laws.

mod comments;
mod page;
mod tally;

use crate::homes::source_folder;
use crate::impl_size::impl_sizes;
use crate::imports::graphs;
use crate::parts::rings;
use crate::{Repository, RustFile};
use comments::Comments;
use std::collections::{BTreeMap, BTreeSet};
use tally::Tally;

/// The table of a repository, followed by lists of outliers.
#[must_use]
pub fn print(repository: &Repository) -> String {
    page::print(&Measures::from_repository(repository))
}

/// The measures of a repository.
struct Measures {
    /// The measures of each crate, by its folder.
    crates: BTreeMap<String, Tally>,
    /// The sum of all crates.
    all: Tally,
    /// Every type name with the number of files that declare it, the most frequent first.
    names: Vec<(String, usize)>,
}

impl Measures {
    fn from_repository(repository: &Repository) -> Self {
        let files: Vec<RustFile> = repository
            .rust_files()
            .into_iter()
            .filter(|file| !source_folder(&file.path).is_empty() && file.product_lines() > 0)
            .collect();
        let mut crates: BTreeMap<String, Tally> = BTreeMap::new();
        let mut homes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for file in &files {
            let folder = source_folder(&file.path);
            let own = crates.entry(crate_of(folder).to_owned()).or_default();
            let names = own.add_file(file);
            own.comments.add(&Comments::count(file));
            for name in names {
                homes.entry(name).or_default().insert(&file.path);
            }
        }
        for size in impl_sizes(&files) {
            let own = crates.entry(crate_of(size.folder).to_owned());
            own.or_default().add_impls(&size);
        }
        let folders: BTreeSet<&str> = files.iter().map(|file| source_folder(&file.path)).collect();
        for folder in folders {
            let own = crates.entry(crate_of(folder).to_owned()).or_default();
            for (folder, graph) in graphs(&files, folder) {
                let circles = rings(&graph).into_iter().filter(|ring| ring.len() > 1);
                circles.for_each(|ring| own.add_circle(&folder, &ring));
            }
        }
        let mut all = Tally::default();
        crates.values().for_each(|own| all.add(own));
        let mut names: Vec<(String, usize)> = homes
            .into_iter()
            .map(|(name, files)| (name.to_owned(), files.len()))
            .collect();
        names.sort_by(|(a, a_files), (b, b_files)| b_files.cmp(a_files).then(a.cmp(b)));
        Self { crates, all, names }
    }
}

/// The path of a crate's folder, without `crates/` and `src/`; `.` for the root.
fn crate_of(source_folder: &str) -> &str {
    let path = source_folder.trim_end_matches("src/").trim_end_matches('/');
    match path.rsplit('/').next() {
        None | Some("") => ".",
        Some(name) if path.starts_with("crates/") => name,
        Some(_) => path,
    }
}

#[cfg(test)]
mod tests {
    use super::Measures;
    use crate::Repository;

    fn measures() -> Measures {
        let a = "//! A.\n\nuse crate::b::B;\n/// One.\npub struct A {\n    pub(crate) x: B,\n}\n\
                 impl A {\n    fn f() {\n        g();\n    }\n}\n";
        let files = [
            (
                "crates/x/src/lib.rs",
                "mod a;\nmod b;\nstruct R;\nimpl R {\n}\n",
            ),
            ("crates/x/src/a.rs", a),
            (
                "crates/x/src/b.rs",
                "use super::a::A;\nstruct B;\nstruct State;\n",
            ),
            ("crates/x/tests/it.rs", "struct State;\nfn f() {}\n"),
            (
                "crates/y/src/main.rs",
                "struct State;\nfn f() {}\nfn g() {}\n",
            ),
            ("docs/example.rs", "fn f() {}\n"),
        ];
        Measures::from_repository(&Repository::in_memory(&files))
    }

    #[test]
    fn a_crate_is_measured_without_its_tests() {
        let measures = measures();
        assert_eq!(measures.crates.keys().collect::<Vec<_>>(), ["x", "y"]);
        let own = &measures.crates["x"];
        assert_eq!((own.files, own.comments.code), (3, 17));
        assert_eq!(own.functions, [3]);
        assert_eq!(own.visible_fields, 1);
        assert_eq!(own.circles.len(), 1);
        assert_eq!(own.circles[0].1, ["a", "b"]);
        let impls: Vec<&str> = own.impls.iter().map(|own| own.path.as_str()).collect();
        assert_eq!(impls, ["crates/x/src.rs", "crates/x/src/a.rs"]);
    }

    #[test]
    fn the_whole_is_the_sum_of_the_crates() {
        let all = measures().all;
        assert_eq!((all.files, all.functions.len()), (4, 3));
        assert_eq!(all.comments.code, 20);
    }

    #[test]
    fn a_name_counts_for_each_file_that_declares_it() {
        let names = measures().names;
        assert_eq!(names[0], ("State".to_owned(), 2));
        assert_eq!(names.len(), 4);
    }

    #[test]
    fn the_table_has_a_row_for_each_crate_and_for_all() {
        let text = super::page::print(&measures());
        for row in ["\n| x ", "\n| y ", "\n| all "] {
            assert!(text.contains(row), "{row} in {text}");
        }
        assert!(
            text.contains("`A` in crates/x/src/a.rs: 1 method, 5 lines, 1 file"),
            "{text}"
        );
        assert!(text.contains("crates/x/src/: a b"), "{text}");
        assert!(text.contains("`State` in 2 files"), "{text}");
    }
}
