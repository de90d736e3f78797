//! The suite's verdict on the client's machines, for the cases in `conformance/grpc`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and prints why it does not run"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The suite needs four seconds; a busy machine may need much longer.
const SECONDS_MAX: &str = "240";

#[test]
fn plain() {
    check("plain.yaml", 409);
}

#[test]
fn tls() {
    check("tls.yaml", 237);
}

#[test]
fn compression() {
    check("compression.yaml", 514);
}

/// Runs the suite. All cases must pass except the known failing ones, and those must fail.
fn check(configuration: &str, cases: usize) {
    let Some(suite) = suite("connectconformance") else {
        return;
    };
    let folder = repository().join("conformance/grpc");
    let known = known_failing(&std::fs::read_to_string(folder.join("known-failing.txt")).unwrap());
    let mut command = Command::new("timeout");
    command.arg(SECONDS_MAX).arg(suite);
    command.args(["--mode", "client", "--conf"]);
    command.arg(folder.join(configuration));
    for pattern in &known {
        command.args(["--known-failing", pattern]);
    }
    command.args(["--", env!("CARGO_BIN_EXE_drumfire-conformance-client")]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{}\n{text}", output.status);
    let total = format!("Total cases: {cases}\n");
    assert!(text.contains(&total), "other cases than expected\n{text}");
    if known.is_empty() {
        let passed = format!("{cases} passed, 0 failed");
        assert!(text.contains(&passed), "{text}");
    }
}

/// The patterns of the list; each must have a reason.
fn known_failing(list: &str) -> Vec<String> {
    let entries = list
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pattern = |line: &str| {
        let (pattern, reason) = line.split_once(" # ").unwrap_or((line, ""));
        assert!(!reason.trim().is_empty(), "no reason: {line}");
        pattern.trim().to_owned()
    };
    entries.map(pattern).collect()
}

#[test]
fn a_case_on_the_list_has_a_reason() {
    let list = "# words\n\n**/a/b # the server is wrong\n";
    assert_eq!(known_failing(list), ["**/a/b"]);
    assert!(std::panic::catch_unwind(|| known_failing("**/a/b\n")).is_err());
}

/// The path of a suite. If it is not installed, prints a hint and returns `None`; in CI it panics.
fn suite(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DRUMFIRE_SUITES")
        .map_or_else(|| repository().join("target/suites"), PathBuf::from);
    let path = folder.join(name);
    if path.is_file() {
        return Some(path);
    }
    let text = format!("this test needs {name}; see tools/install-suites.sh");
    let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    assert!(!is_ci, "{text}");
    eprintln!("skipped: {text}");
    None
}

/// The repository's root.
fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
