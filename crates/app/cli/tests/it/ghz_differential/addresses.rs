//! The addresses of a name to which calls go.

use super::{HELLO, original};
use crate::support::program::{LIMIT, neutral, words};
use crate::support::{Folder, PATIENCE, Process, Serve, drumfire, lab};
use std::process::Command;
use std::time::Instant;

/// A program in a mount namespace with another file as `/etc/hosts`; `None` if the machine does not
/// allow this.
fn with_hosts(program: &Command, hosts: &str) -> Option<Command> {
    if !lab::mounts() {
        return None;
    }
    let mut command = neutral(lab::program("unshare"));
    let script = "mount --bind \"$0\" /etc/hosts && exec \"$@\"";
    command.args(["-m", "sh", "-c", script, hosts]);
    command.arg(program.get_program()).args(program.get_args());
    Some(command)
}

/// Hosts and strategies, and which of two addresses receives calls: the first, the second.
const SPREAD: [(&str, (bool, bool)); 5] = [
    ("two.test:PORT", (true, false)),
    ("dns:///two.test:PORT", (true, false)),
    (
        "--lb-strategy pick_first dns:///two.test:PORT",
        (true, false),
    ),
    ("--lb-strategy round_robin two.test:PORT", (true, false)),
    (
        "--lb-strategy round_robin dns:///two.test:PORT",
        (true, true),
    ),
];

/// The addresses that receive calls, while both respond and when only the second does.
#[test]
fn calls_go_to_the_same_addresses() {
    let Some(ghz) = original() else { return };
    let folder = Folder::new();
    let hosts = folder.write(
        "hosts",
        "127.0.0.1 localhost\n127.0.0.1 two.test\n127.0.0.2 two.test\n",
    );
    let port = lab::port();
    let serve = |address: &str| Serve::new(&format!("--grpc --expose -l {address}:{port}"));
    let (first, second) = (serve("127.0.0.1"), serve("127.0.0.2"));
    let run = |program: &Command, host: &str| {
        let mut command = with_hosts(program, &hosts)?;
        let line = format!("{HELLO} -n 40 -c 4 --connections 4 {host}");
        command.args(words(&line.replace("PORT", &port.to_string())));
        Some(Process::start(&mut command).finish(LIMIT))
    };
    let ours = drumfire(["ghz"]);
    let counts = || (first.count("requests"), second.count("requests"));
    for (host, expected) in SPREAD {
        for program in [&ghz, &ours] {
            let before = counts();
            let mut went = (false, false);
            // All connected addresses receive calls. Which ones are connected when the first calls
            // start is chance, and on a busy machine one address may receive all calls.
            let end = Instant::now() + PATIENCE;
            while went != expected && Instant::now() < end {
                let Some(run) = run(program, host) else {
                    return;
                };
                assert_eq!(run.code, Some(0), "{host}: {}", run.stderr);
                let after = counts();
                went = (after.0 > before.0, after.1 > before.1);
            }
            assert_eq!(went, expected, "{program:?} {host}");
        }
    }
    first.stop();
    for (host, _) in SPREAD {
        for program in [&ghz, &ours] {
            let before = second.count("requests");
            let Some(run) = run(program, host) else {
                return;
            };
            assert!(
                run.stdout.contains("[OK]   40 responses"),
                "{host}: {}",
                run.stdout
            );
            assert_eq!(second.count("requests") - before, 40, "{program:?} {host}");
        }
    }
}
