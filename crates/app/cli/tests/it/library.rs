//! The programs in `examples/` of this crate, which use drumfire as a library, compile and run.

use crate::support::patience::PATIENCE;
use crate::support::program::{LIMIT, neutral};
use crate::support::{Process, Run, Serve, Signal};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles a program, unless the build of the tests has done so, and returns its path.
fn program(name: &str) -> PathBuf {
    // Use `cargo` from the PATH, so that the toolchain is the one of the repository.
    let mut cargo = Command::new("cargo");
    // Use the features of the whole workspace, because otherwise half of it would be compiled
    // again.
    cargo.args(["build", "--quiet", "--workspace", "--example", name]);
    let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status();
    assert!(built.unwrap().success(), "{name} does not compile");
    let tests = std::env::current_exe().unwrap();
    let profile = tests.parent().and_then(Path::parent).unwrap();
    profile.join("examples").join(name)
}

fn run(program: &Path, arguments: &[&str]) -> Run {
    Process::start(neutral(Command::new(program)).args(arguments)).finish(LIMIT)
}

#[test]
fn a_program_brings_its_own_requests() {
    let server = Serve::new("");
    let program = program("custom_source");
    let ran = run(&program, &[server.url.trim_end_matches('/')]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(server.count("requests"), 300);
    for wanted in [
        "300 sent · 300 ok",
        "look    200",
        "order   100",
        "✓  failed<1%",
    ] {
        assert!(ran.stdout.contains(wanted), "{wanted}\n{}", ran.stdout);
    }
    let nowhere = run(&program, &["http://127.0.0.1:1"]);
    assert_eq!(nowhere.code, Some(1), "{nowhere:?}");
}

#[test]
fn a_program_brings_its_own_protocol() {
    let program = program("custom_protocol");
    let server = Process::start(neutral(Command::new(&program)).args(["serve", "127.0.0.1:0"]));
    let address = server.first_line(PATIENCE);
    let ran = run(&program, &[address.trim()]);
    server.signal(Signal::INT);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for wanted in ["400 sent · 400 ok", "Verdict", "✓  failed<1%", "response"] {
        assert!(ran.stdout.contains(wanted), "{wanted}\n{}", ran.stdout);
    }
    let refused = run(&program, &["127.0.0.1:1"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stdout.contains("connect:refused"),
        "{}",
        refused.stdout
    );
}
