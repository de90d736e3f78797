//! An ignored test must have a reason.

use crate::{Finding, Repository};

/// Every `#[ignore]` without a reason, and every test of a program that cargo builds without tests.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    let untested = programs_without_tests(repository);
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
        if !untested.contains(&file.path) {
            continue;
        }
        for line in lines_of("#[test]").chain(lines_of("#[cfg(test)]")) {
            let message = "the manifest leaves this program's tests out: remove `test = false`";
            findings.push(Finding::violation(&file.path, line, message.to_owned()));
        }
    }
    findings
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
}
