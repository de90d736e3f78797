//! An ignored test must have a reason, and no test may be left out by a manifest.

use crate::{Finding, Repository};

/// Every `#[ignore]` without a reason, every test of a program or library that cargo builds without
/// tests, and every example of a library whose examples cargo leaves out.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    let untested = programs_without_tests(repository);
    let untested_libraries = libraries_with(repository, "test = false");
    for file in repository.rust_files() {
        let lines_of = |mark| {
            file.code
                .match_indices(mark)
                .map(|(at, _)| file.line_of(at))
        };
        for line in lines_of("#[ignore]") {
            let message = "write `#[ignore = \"reason\"]`, or let the test run".to_owned();
            findings.push(Finding::violation(&file.path, line, message));
        }
        if !untested.contains(&file.path) && !is_in(&file.path, &untested_libraries) {
            continue;
        }
        for line in lines_of("#[test]").chain(lines_of("#[cfg(test)]")) {
            let message = "the manifest leaves these tests out: remove `test = false`";
            findings.push(Finding::violation(&file.path, line, message.to_owned()));
        }
    }
    findings.extend(left_out_examples(repository));
    findings
}

fn left_out_examples(repository: &Repository) -> impl Iterator<Item = Finding> {
    let libraries = libraries_with(repository, "doctest = false");
    repository.ending(".rs").filter_map(move |(path, text)| {
        let line = example(text).filter(|_| is_in(path, &libraries))?;
        let message = "the manifest leaves this example out: remove `doctest = false`";
        Some(Finding::violation(path, line, message.to_owned()))
    })
}

/// The files of programs whose manifests contain `test = false`, because compiling and linking an
/// empty test program takes seconds.
fn programs_without_tests(repository: &Repository) -> Vec<String> {
    let mut files = Vec::new();
    for (manifest, text) in repository.ending("Cargo.toml") {
        let folder = manifest.trim_end_matches("Cargo.toml");
        for program in text.split("[[bin]]\n").skip(1) {
            let fields = || program.lines().take_while(|line| !line.starts_with('['));
            let field = |name: &str| {
                let value = fields().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
                value.map(|value| value.trim_matches('"'))
            };
            if field("test") != Some("false") {
                continue;
            }
            let named = field("name").map(|name| format!("src/bin/{name}.rs"));
            let path = field("path").map(str::to_owned).or(named);
            files.extend(path.map(|path| format!("{folder}{path}")));
        }
    }
    files
}

/// The source folders of libraries whose manifests contain this setting.
fn libraries_with(repository: &Repository, setting: &str) -> Vec<String> {
    let manifests = repository.ending("Cargo.toml");
    let with_setting = manifests.filter(|(_, text)| {
        let library = text.split("[lib]\n").nth(1).unwrap_or_default();
        let mut fields = library.lines().take_while(|line| !line.starts_with('['));
        fields.any(|line| line == setting)
    });
    with_setting
        .map(|(manifest, _)| format!("{}src/", manifest.trim_end_matches("Cargo.toml")))
        .collect()
}

fn is_in(path: &str, folders: &[String]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// The line of the first example in comments that would be compiled, from 1.
fn example(text: &str) -> Option<usize> {
    let mut is_open = false;
    text.lines().enumerate().find_map(|(index, line)| {
        let line = line.trim_start();
        let comment = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        let Some(language) = comment.and_then(|text| text.trim().strip_prefix("```")) else {
            is_open &= comment.is_some();
            return None;
        };
        is_open = !is_open;
        let is_code = ["", "rust", "no_run", "should_panic", "compile_fail"].contains(&language);
        (is_open && is_code).then_some(index + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    #[test]
    fn only_a_reason_excuses() {
        let findings =
            |text: &str| check(&Repository::in_memory(&[("crates/x/src/a.rs", text)])).len();
        assert_eq!(findings("#[test]\n#[ignore]\nfn a() {}"), 1);
        assert_eq!(
            findings("#[test]\n#[ignore = \"an hour long\"]\nfn a() {}"),
            0
        );
    }

    #[test]
    fn a_program_built_without_tests_has_none() {
        let manifest = "[[bin]]\nname = \"a\"\ntest = false\n\n[[bin]]\nname = \"b\"\npath = \"b.rs\"\n\
                        test = false\n\n[[bin]]\nname = \"c\"\n\n[dependencies]\n";
        let violations = |path: &str, text: &str| {
            let files = [("x/Cargo.toml", manifest), (path, text)];
            check(&Repository::in_memory(&files)).len()
        };
        let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";
        assert_eq!(violations("x/src/bin/a.rs", tests), 2);
        assert_eq!(violations("x/b.rs", tests), 2);
        assert_eq!(violations("x/src/bin/a.rs", "fn main() {}"), 0);
        assert_eq!(violations("x/src/bin/c.rs", tests), 0);
    }

    #[test]
    fn a_library_without_tests_or_examples_has_none() {
        let manifest = "[package]\n\n[lib]\ndoctest = false\ntest = false\n\n[dependencies]\n";
        let violations = |path: &str, text: &str| {
            let files = [("x/Cargo.toml", manifest), (path, text)];
            check(&Repository::in_memory(&files)).len()
        };
        let example = "/// Text.\n///\n/// ```text\n/// x\n/// ```\n///\n/// ```\n/// a();\n/// ```\nfn a() {}\n";
        assert_eq!(violations("x/src/a/b.rs", example), 1);
        assert_eq!(violations("y/src/a.rs", example), 0);
        assert_eq!(
            violations(
                "x/src/a.rs",
                &example.replace("/// ```\n/// a();", "/// ```sh\n/// a();")
            ),
            0
        );
        assert_eq!(violations("x/src/a.rs", "#[test]\nfn a() {}\n"), 1);
        assert_eq!(violations("x/tests/a.rs", "#[test]\nfn a() {}\n"), 0);
    }
}
