//! A few faults of a cluster; the program `faults` makes a hundred.

use std::path::Path;
use std::process::Command;

/// After an agent, a coordinator or a server is killed, the counts are exact or the unknown part is
/// stated.
#[test]
fn three_faults_leave_books_that_hold() {
    let faults = Path::new(env!("CARGO_BIN_EXE_faults"));
    let repository = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let suites = std::env::var_os("DRUMFIRE_SUITES");
    let suites = suites.map_or_else(|| repository.join("target/suites"), Into::into);
    let nats = suites.join("nats-server");
    for needed in [&nats, &faults.with_file_name("drumfire")] {
        if !needed.is_file() {
            let text = format!("this test needs {}", needed.display());
            assert!(
                std::env::var_os("CI").is_none_or(|ci| ci != "true"),
                "{text}"
            );
            eprintln!("skipped: {text}");
            return;
        }
    }
    let mut command = Command::new(faults);
    command.args(["--runs", "3", "--nats"]).arg(nats);
    for fault in ["agent-killed", "coordinator-killed", "server-wiped"] {
        command.args(["--only", fault]);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{wrong}");
}
