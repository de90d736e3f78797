//! Runs that a threshold ends before their plan does.

use crate::support::Process;
use crate::support::lab::Namespace;
use crate::support::program::{LIMIT, PATH, words};
use crate::support::{Folder, Serve, load};

/// A condition and a rule end a run of an hour, report this, and keep every result.
#[test]
fn a_threshold_ends_the_run_and_its_results_stay() {
    let serve = Serve::new("--status 503:1");
    for (flags, expression, is_condition) in [
        ("--abort-on failed>50%", "failed>50%", true),
        (
            "--abort-on 'failed>50% over 200ms'",
            "failed>50% over 200ms",
            true,
        ),
        ("--threshold 'failed<1% abort'", "failed<1% abort", false),
        ("--max-errors 3", "failures>3", true),
    ] {
        let line = format!("-r 100 -z 1h --interval 100ms {flags} {}", serve.url);
        let report = load(&line);
        assert_eq!(report.code, Some(99), "{flags}");
        report.balances();
        let seconds = report.n("run.duration_ns") as f64 / 1e9;
        assert!(seconds < LIMIT.as_secs_f64(), "{flags}: {seconds} s");
        let row = &report.at("verdict.thresholds")[0];
        assert_eq!(row["expression"], expression);
        assert_eq!(row["passed"], false);
        assert_eq!(row["is_condition"].as_bool(), is_condition.then_some(true));
        let at = row["ended_run_at_ns"].as_u64().expect("when");
        assert!(
            at.is_multiple_of(100_000_000) && at as f64 / 1e9 <= seconds + 0.1,
            "{at}"
        );
        assert!(
            report.notes().contains("a threshold ended the run"),
            "{flags}"
        );
    }
}

/// A load that is more than modest is kept from public addresses, wherever they come from, unless
/// the user permits it. The test uses an isolated network in which nothing is reachable.
#[test]
fn a_load_on_public_addresses_has_to_be_meant() {
    let Some(network) = Namespace::new() else {
        return;
    };
    let folder = Folder::new();
    let run = |line: &str| {
        let mut command = network.command(PATH);
        let config = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"];
        config.iter().for_each(|name| {
            command.env(name, folder.path());
        });
        command.args([
            "http",
            "-q",
            "--connect-timeout",
            "50ms",
            "--timeout",
            "50ms",
        ]);
        command.args(words(line));
        Process::start(&mut command).finish(LIMIT)
    };
    let named = "--resolve shop.test:80:203.0.113.9 http://shop.test/";
    for line in [
        "-r 101 -z 1s http://203.0.113.9/",
        "-c 2 -z 1s http://203.0.113.9/",
        "-r 200 -z 1s http://127.0.0.1/ http://[2001:db8::1]/",
        &format!("-r 200 -z 1s {named}"),
    ] {
        let refused = run(line);
        assert_eq!(refused.code, Some(2), "{line}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("has a public address"),
            "{}",
            refused.stderr
        );
        assert!(
            refused.stderr.contains("--i-own-this-target"),
            "{}",
            refused.stderr
        );
    }
    // Nothing arrives, and every request fails; but they were sent.
    let is_tried = |line: &str| {
        let tried = run(line);
        assert_eq!(tried.code, Some(1), "{line}: {}", tried.stderr);
    };
    is_tried(&format!("-r 20 -z 200ms {named}"));
    is_tried(&format!("-c 2 -n 20 {named}"));
    is_tried(&format!("-r 200 -z 100ms --i-own-this-target {named}"));
    std::fs::create_dir_all(folder.path().join("drumfire")).expect("a folder");
    folder.write("drumfire/targets", "shop.test\n");
    is_tried(&format!("-r 200 -z 100ms {named}"));
}
