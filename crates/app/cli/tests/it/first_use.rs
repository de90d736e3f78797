//! The first lines that a newcomer types, and the files of an installation.

use crate::docs::{self, Stage};
use crate::support::program::{LIMIT, words};
use crate::support::{
    Folder, Process, Run, Serve, Signal, drumfire, in_time, load, punctually, run, wait_until,
};
use std::time::{Duration, Instant};

/// If every request fails, the program prints a remark during the run, not only at its end.
#[test]
fn a_target_that_is_not_there_is_named_at_once() {
    let mut command = drumfire(words(
        "http -r 20 -z 60s --interval 200ms http://127.0.0.1:9/",
    ));
    let process = Process::start(&mut command);
    wait_until("the remark", || {
        process.stderr().contains("connect:refused")
    });
    process.signal(Signal::INT);
    let run = process.finish(LIMIT);
    let remarks = run
        .stderr
        .matches("every request so far has failed")
        .count();
    assert_eq!(remarks, 1, "{}", run.stderr);
    assert!(run.stderr.contains("check that the server is running"));
    let quiet = run_quiet();
    assert_eq!((quiet.code, &*quiet.stderr), (Some(1), ""));
}

/// A run that prints only the result.
fn run_quiet() -> Run {
    run("http -q -r 20 -z 1s --interval 200ms http://127.0.0.1:9/")
}

#[test]
fn help_is_short_or_whole() {
    let top = run("--help").stdout;
    let first = top.lines().next().unwrap();
    assert!(
        first.contains("Load-test HTTP, gRPC, WebSocket and LLM services"),
        "{first}"
    );
    assert!(top.contains("  drumfire http localhost:8080"), "{top}");
    for command in ["http", "grpc"] {
        let (short, whole) = (
            run(&format!("{command} -h")),
            run(&format!("{command} --help")),
        );
        let lines = |run: &Run| run.stdout.lines().count();
        assert!(lines(&short) * 5 < lines(&whole) * 2, "{}", short.stdout);
        assert!(short.stdout.contains(&format!("drumfire {command} --help")));
        assert!(short.stdout.contains("--rate") && !short.stdout.contains("--seed"));
        // The terminal wraps nothing, so that every example can be copied.
        let widest = whole.stdout.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{}", whole.stdout);
        let (_, examples) = whole.stdout.split_once("Examples").unwrap();
        let mut continued = false;
        for line in examples
            .lines()
            .skip(1)
            .filter(|line| line.starts_with("  "))
        {
            let line = line.trim_start();
            assert!(
                continued || line.starts_with("drumfire ") || line.starts_with("# "),
                "{line}"
            );
            continued = line.ends_with('\\');
        }
    }
}

#[test]
fn an_installation_has_completions_and_pages() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&format!("completions {shell}"));
        assert_eq!(script.code, Some(0));
        assert!(script.stdout.contains("think-time"), "{shell}");
        assert!(script.stdout.contains("poisson"), "{shell}");
        assert!(script.stdout.contains("drumfire/runs"), "{shell}");
    }
    assert_eq!(run("completions tcsh").code, Some(2));
    let folder = Folder::new();
    let pages = run(&format!("man {}", folder.path().display()));
    assert_eq!(pages.code, Some(0), "{}", pages.stderr);
    let names = folder.names();
    for name in [
        "drumfire.1",
        "drumfire-http.1",
        "drumfire-grpc.1",
        "drumfire-serve.1",
    ] {
        assert!(names.iter().any(|n| n == name), "{names:?}");
    }
    let page = std::fs::read_to_string(folder.at("drumfire-http.1")).unwrap();
    assert!(
        page.contains(".TH") && page.contains("think\\-time"),
        "{page}"
    );
    let nowhere = run(&format!("man {}", folder.at("none")));
    assert_eq!(nowhere.code, Some(1));
    assert!(nowhere.stderr.contains("none"), "{}", nowhere.stderr);
}

/// The completions of bash at the end of a line.
#[test]
fn completions_know_runs_words_and_files() {
    let folder = Folder::new();
    let script = folder.write("drumfire.bash", &run("completions bash").stdout);
    let runs = folder.at("state/drumfire/runs");
    std::fs::create_dir_all(format!("{runs}/abc-1")).unwrap();
    std::fs::create_dir_all(format!("{runs}/bcd-2")).unwrap();
    folder.write("body.json", "{}");
    let offered = |line: &str| {
        let typed = format!(
            "cd '{}'; source '{script}'; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _drumfire_beside drumfire \"${{COMP_WORDS[COMP_CWORD]}}\" \
             \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; echo \"${{COMPREPLY[*]}}\"",
            folder.path().display()
        );
        let mut bash = std::process::Command::new("bash");
        bash.args(["--norc", "-c", &typed]);
        bash.env("XDG_STATE_HOME", folder.at("state"));
        let out = bash.output().unwrap();
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    };
    for (line, expected) in [
        ("drumfire report ''", "last abc-1 bcd-2 state"),
        ("drumfire resume a", "abc-1"),
        ("drumfire runs tag bc", "bcd-2"),
        ("drumfire http --arrivals ''", "constant poisson gamma:0.5"),
        ("drumfire http -d @bo", "@body.json"),
        ("drumfire http -d @ bo", "@body.json"),
        ("drumfire compare ab", "abc-1"),
        ("drumfire compare abc-1 b", "bcd-2 body.json"),
        ("drumfire http --baseline bc", "bcd-2"),
        ("drumfire http --baseline = bc", "bcd-2"),
        ("drumfire report --bri", "--brief"),
    ] {
        assert_eq!(offered(line), expected, "{line}");
    }
}

/// The first use of the TLS library takes some 50 ms, which must not count as the target's time.
#[test]
fn tls_is_warm_before_the_run() {
    let serve = Serve::new("--tls");
    punctually(Duration::from_millis(30), || {
        let slowest = (0..5).map(|_| {
            let report = load(&format!("-k -c 4 -n 20 --threads 1 {}", serve.url));
            report.n("latency.tls_handshake.max")
        });
        let least = slowest.min().unwrap();
        in_time(least < 40_000_000, || {
            format!("{least} ns in the best of five runs")
        })
    });
}

/// The most common mistake: the built-in server without its gRPC services.
#[test]
fn a_server_without_grpc_says_so_at_once() {
    let serve = Serve::new("");
    punctually(Duration::from_secs(1), || {
        let begun = Instant::now();
        let listed = run(&format!("grpc {} --plaintext --list", serve.address()));
        let took = begun.elapsed();
        assert_eq!(listed.code, Some(1), "{}", listed.stderr);
        assert!(
            listed
                .stderr
                .contains("start drumfire serve with --grpc to serve gRPC"),
            "{}",
            listed.stderr
        );
        assert!(listed.stderr.contains("--proto"), "{}", listed.stderr);
        in_time(took < Duration::from_secs(5), || format!("{took:?}"))
    });
}

/// Every line of another tool in the manual gets the answer that the manual shows.
#[test]
fn what_newcomers_type_is_answered_as_the_manual_says() {
    let (path, page) = docs::page("docs/manual/coming-from.md");
    let stage = Stage::new();
    let mut answers: Vec<(&str, String)> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        for line in block.lines() {
            match (line.strip_prefix("$ "), answers.last_mut()) {
                (Some(typed), _) => answers.push((typed, String::new())),
                (None, Some((_, answer))) => *answer += &format!("{line}\n"),
                (None, None) => panic!("{path}: an answer to nothing: {line}"),
            }
        }
    }
    assert!(answers.len() >= 10, "{} lines", answers.len());
    for (typed, answer) in answers {
        let run = stage.run_as_it_is(typed);
        assert_eq!((run.code, run.stderr), (Some(2), answer), "{typed}");
        assert_eq!(run.stdout, "", "{typed}");
    }
}
