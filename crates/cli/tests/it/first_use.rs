//! The first lines that a newcomer types, and what an installation brings.

use crate::docs::{self, Stage};
use crate::support::program::{LIMIT, PATH, neutral, words};
use crate::support::{
    Folder, Process, Run, Serve, Signal, drumfire, in_time, load, punctually, wait_until,
};
use std::time::{Duration, Instant};

/// The program with a line of arguments, run to its end.
fn run(line: &str) -> Run {
    Process::start(&mut drumfire(words(line))).finish(LIMIT)
}

/// An address is enough, with or without the command, and the report says how it was read.
#[test]
fn an_address_is_a_url() {
    let serve = Serve::new("");
    let address = serve.address();
    let port = address.port();
    for (line, url) in [
        (format!("http {address} -c 1 -n 10"), format!("{address}")),
        (
            format!("http {address}/x -c 1 -n 1_0"),
            format!("{address}/x"),
        ),
        (format!("{address} -c 1 -n 10"), format!("{address}")),
        (
            format!("http :{port} -c 1 -n 10 --resolve localhost:{port}:127.0.0.1"),
            format!("localhost:{port}"),
        ),
    ] {
        let run = run(&line);
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
        let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let note = format!("a URL without a scheme was read as http://: http://{url}");
        assert!(text.contains(&note), "{line}: {}", run.stdout);
        assert!(text.contains("10 sent · 10 ok"), "{line}: {}", run.stdout);
    }
    let whole = run(&format!("{} -c 1 -n 1k", serve.url));
    assert!(whole.stdout.contains("1,000 sent"), "{}", whole.stdout);
    assert!(!whole.stdout.contains("scheme"), "{}", whole.stdout);
}

/// So it is in a list, read from a file or from a pipe.
#[test]
fn a_list_may_have_addresses() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let address = serve.address();
    let list = folder.write("urls", format!("# two\n{address}/a\n\n{}b\n", serve.url));
    let run = run(&format!("http -c 1 -n 10 @{list}"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("10 sent · 10 ok"), "{}", run.stdout);
    let note = format!("read as http://: http://{address}/a");
    assert!(text.contains(&note), "{}", run.stdout);
}

/// What the parser of flags advises would send a flag as a URL.
#[test]
fn an_unknown_flag_is_no_url() {
    let run = run("http --frobnicate http://127.0.0.1:9/");
    assert_eq!(run.code, Some(2));
    assert!(!run.stderr.contains("'-- --frobnicate'"), "{}", run.stderr);
    assert!(run.stderr.contains("--help"), "{}", run.stderr);
    assert!(!run.stderr.contains("\n\n\n"), "{:?}", run.stderr);
}

/// Colour is a choice, of the flag first and then of the environment.
#[test]
fn colour_is_as_it_is_chosen() {
    let serve = Serve::new("");
    for (flags, environment, colored) in [
        ("", &[][..], false),
        ("--color always", &[], true),
        ("--color always", &[("NO_COLOR", "1")], true),
        ("", &[("CLICOLOR_FORCE", "1")], true),
        ("", &[("FORCE_COLOR", "1")], true),
        ("", &[("CLICOLOR_FORCE", "0")], false),
        ("", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        ("--color never", &[("CLICOLOR_FORCE", "1")], false),
    ] {
        let line = format!("http -c 1 -n 10 {flags} {}", serve.url);
        let mut command = drumfire(words(&line));
        command.envs(environment.iter().copied());
        let run = Process::start(&mut command).finish(LIMIT);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let escaped = run.stdout.contains('\u{1b}');
        assert_eq!(escaped, colored, "{flags} {environment:?}");
    }
    let wrong = run("http --color=purple http://127.0.0.1:9/");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("always"), "{}", wrong.stderr);
}

/// A run in which nothing works says so while it lasts, and not only at its end.
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

/// The same run, which is to say nothing but the result.
fn run_quiet() -> Run {
    run("http -q -r 20 -z 1s --interval 200ms http://127.0.0.1:9/")
}

/// Where descriptors are what is short, they are the remedy.
#[test]
fn a_low_limit_of_files_is_what_to_raise() {
    let serve = Serve::new("");
    let line = format!("http -r 400 -z 1s {}?delay=200ms", serve.url);
    let script = format!("ulimit -n 64; exec {PATH} {line}");
    let mut command = neutral(std::process::Command::new("sh"));
    let run = Process::start(command.args(["-c", &script])).finish(LIMIT);
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("raise the limit of open files (ulimit -n "),
        "{}",
        run.stdout
    );
}

#[test]
fn the_command_comes_first() {
    let flags_first = run("-n 10 http://127.0.0.1:9/");
    assert_eq!(flags_first.code, Some(2));
    assert!(
        flags_first.stderr.contains("`drumfire http`"),
        "{}",
        flags_first.stderr
    );
    let version = run("version");
    assert_eq!(version.code, Some(0));
    assert_eq!(version.stdout, run("--version").stdout);
}

/// What grpcurl takes behind the target.
#[test]
fn a_schema_is_asked_for_by_a_flag() {
    for (line, ours) in [
        ("grpc -plaintext 127.0.0.1:9 list", "--plaintext"),
        ("grpc --plaintext 127.0.0.1:9 list", "--list"),
        ("grpc 127.0.0.1:9 a.B/C", "--call a.B/C"),
    ] {
        let run = run(line);
        assert_eq!(run.code, Some(2), "{line}");
        assert!(run.stderr.contains(ours), "{line}: {}", run.stderr);
    }
}

#[test]
fn help_is_short_or_whole() {
    let top = run("--help").stdout;
    let first = top.lines().next().unwrap();
    assert!(
        first.contains("Load-test HTTP and gRPC services"),
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
        // Nothing is wrapped by the terminal, so that every example can be copied.
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

/// What bash offers at the end of a line.
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
        ("drumfire http --arrivals ''", "constant poisson"),
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

/// The TLS library's first use takes some 50 ms, and is no time of the target's.
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

/// The commonest mistake: the built-in server without its gRPC services.
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

/// The method and the body stand beside the target: without them a POST looks like a GET.
#[test]
fn a_report_shows_what_was_sent() {
    let serve = Serve::new("");
    let shown = run(&format!(
        "http -c 1 -n 10 -d x=1 --timeout 3s {}",
        serve.url
    ));
    let text = shown
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        text.contains(&format!("POST {} · body of 3 bytes", serve.url)),
        "{}",
        shown.stdout
    );
    assert!(text.contains("· timeout 3 s ·"), "{}", shown.stdout);
    let shown = run(&format!("http -c 1 -n 10 {}?status=503:1", serve.url));
    assert!(
        shown.stdout.contains("503 Service Unavailable"),
        "{}",
        shown.stdout
    );
}

/// Every line of another tool that the manual shows is answered as it says there.
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
