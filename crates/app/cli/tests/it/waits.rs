//! How workers wait, over real sockets.

use crate::support::program::LIMIT;
use crate::support::{Process, Serve, drumfire, load};
use drumfire_net::has_cores_for;

/// Adaptive waiting has an effect only at full speed, with several connections for each thread.
#[test]
fn only_full_speed_is_polled_for() {
    let serve = Serve::new("");
    let report = load(&format!("-c 8 --threads 1 -n 5000 {}", serve.url));
    let waits = report.at("generator.waits");
    if has_cores_for(1) {
        let of = |key: &str| report.n(&format!("generator.waits.{key}"));
        assert!(of("found") + of("slept") > 0, "{waits:#}");
        let share = report.number("generator.waits.polled_share");
        assert!((0.0..1.0).contains(&share), "{waits:#}");
    } else {
        assert!(waits.is_null(), "{waits:#}");
    }
    for line in [
        "-c 8 --threads 1 -n 1000 --wait sleep",
        "-c 8 --threads 1 -n 1000 --wait spin",
        "-c 1 --threads 1 -n 100 --wait adaptive",
        "-c 8 -u 8 --think-time 1ms -n 100 --wait adaptive",
        "-c 8 -r 1000/s -n 100 --wait adaptive",
    ] {
        let report = load(&format!("{line} {}", serve.url));
        let waits = report.at("generator.waits");
        assert!(waits.is_null(), "{line}: {waits:#}");
        assert_eq!(report.at("generator.spin"), line.contains("spin"), "{line}");
    }
}

#[test]
fn the_report_says_how_workers_waited() {
    let serve = Serve::new("");
    let run = |flags: &[&str]| {
        let mut command = drumfire([
            "http",
            "--no-store",
            "-c",
            "8",
            "--threads",
            "1",
            "-n",
            "5000",
        ]);
        command.args(flags).arg(&serve.url);
        let run = Process::start(&mut command).finish(LIMIT);
        (run.code, run.stdout, run.stderr)
    };
    let (code, stdout, stderr) = run(&["--wait", "adaptive"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(
        stdout.contains(" of the time: "),
        has_cores_for(1),
        "{stdout}"
    );
    let (_, plan, _) = run(&["--wait", "adaptive", "--print-plan"]);
    assert!(plan.contains("wait: adaptive"), "{plan}");
    let (code, _, stderr) = run(&["--wait", "nap"]);
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("--wait: unknown way to wait `nap`; use `sleep`, `adaptive` or `spin`"),
        "{stderr}"
    );
    let (code, _, stderr) = run(&["--spin", "--wait", "sleep"]);
    assert_eq!(code, Some(2), "{stderr}");
}
