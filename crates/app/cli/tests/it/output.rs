//! Destinations of results: closed pipes, full disks, terminals of all sorts, missing descriptors,
//! and the help texts.

use crate::support::program::{LIMIT, PATH, neutral};
use crate::support::{Folder, Process, Report, Run, Serve, Signal, drumfire, lab};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_full_disk_keeps_what_was_there() {
    if !lab::is_root() {
        return;
    }
    let serve = Serve::new("");
    let folder = Folder::new();
    let disk = folder.at("disk");
    // A mount in a new namespace, which ends with the shell.
    let script = format!(
        "mkdir {disk} && mount -t tmpfs -o size=64k none {disk} && echo old > {disk}/run.json && \
         head -c 1M /dev/zero > {disk}/filler 2>/dev/null; \
         $D http -c 1 -n 9 --json {disk}/run.json {}; echo \"code $?\"; \
         cat {disk}/run.json; ls {disk}",
        serve.url
    );
    let mut command = neutral(Command::new("unshare"));
    command.args(["-m", "sh", "-c", &script]).env("D", PATH);
    let run = Process::start(&mut command).finish(LIMIT);
    if !run.stdout.contains("code") {
        return lab::lacks("mount namespaces and tmpfs");
    }
    assert!(
        run.stdout.contains("Verdict"),
        "the text is printed: {}",
        run.stdout
    );
    assert!(
        run.stdout.ends_with("code 1\nold\nfiller\nrun.json\n"),
        "{}",
        run.stdout
    );
    assert!(
        run.stderr.contains("run.json: no space left"),
        "{}",
        run.stderr
    );
}

/// Runs the program on a terminal made by `script`, and returns its output. The terminal has one
/// row too few for the screen.
fn on_terminal(settings: &str, columns: u32, line: &str) -> Option<Run> {
    started_on_terminal(settings, columns, line).map(|process| process.finish(LIMIT))
}

fn started_on_terminal(settings: &str, columns: u32, line: &str) -> Option<Process> {
    if !lab::has("script") {
        return None;
    }
    let inner = format!("stty cols {columns} rows 23; {settings} {PATH} {line}");
    let mut command = neutral(Command::new("script"));
    command
        .args(["-qec", &inner, "/dev/null"])
        .env("TERM", "xterm");
    Some(Process::start(&mut command))
}

/// The width of the widest line of a text, without the escape sequences that drumfire sends.
fn widest(text: &str) -> usize {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = after
            .split_once(|c: char| c.is_ascii_alphabetic())
            .unwrap()
            .1;
    }
    plain.push_str(rest);
    let lines = plain.split(['\r', '\n']);
    lines.map(|line| line.chars().count()).max().unwrap()
}

#[test]
fn terminals_get_what_they_can_show() {
    let serve = Serve::new("");
    // The live line is printed each second; on a busy machine, the first one may be missing.
    let long = format!("http -r 100 -z 4s {}", serve.url);
    let line = format!("http -r 100 -z 1500ms {}", serve.url);
    let Some(colored) = on_terminal("", 80, &long) else {
        return;
    };
    assert!(colored.stdout.contains("\x1b["), "a terminal has colours");
    assert!(colored.stdout.contains("\r\x1b[K"), "and a live line");
    for columns in [200, 80, 60, 40] {
        let run = on_terminal("", columns, &line).unwrap();
        assert_eq!(run.code, Some(0), "{}", run.stdout);
        let widest = widest(&run.stdout);
        assert!(
            widest <= columns as usize,
            "{columns} columns: {widest}\n{}",
            run.stdout
        );
    }
    for columns in [1, 0] {
        assert_eq!(
            on_terminal("", columns, &line).unwrap().code,
            Some(0),
            "{columns} columns"
        );
    }
    let monochrome = on_terminal("NO_COLOR=1", 80, &line).unwrap().stdout;
    assert!(
        !monochrome.contains("\x1b[3") && !monochrome.contains("\x1b[1m"),
        "{monochrome:?}"
    );
    let dumb = on_terminal("TERM=dumb", 80, &line).unwrap().stdout;
    assert!(!dumb.contains('\x1b'), "{dumb:?}");
    let quiet = on_terminal("", 80, &format!("{line} --no-tui"))
        .unwrap()
        .stdout;
    assert!(!quiet.contains("\x1b[K"), "{quiet:?}");
}

/// A stopped run shows that it waits, and how to end it at once, as long as it waits.
#[test]
fn a_stopped_run_says_so_until_its_report() {
    let serve = Serve::new("--delay const:4s");
    let folder = Folder::new();
    for columns in [80, 40] {
        let pid = folder.at(&columns.to_string());
        let line = format!("http -r 10 -z 1h {}", serve.url);
        let before = serve.count("requests");
        // The program replaces the shell, so it has the shell's process id.
        let Some(process) = started_on_terminal(&format!("echo $$ >{pid}; exec"), columns, &line)
        else {
            return;
        };
        serve.await_requests(before + 5);
        let pid: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, Signal::INT).unwrap();
        let run = process.finish(LIMIT);
        assert_eq!(run.code, Some(4), "it was cut short: {}", run.stdout);
        let (_, after) = run.stdout.split_once("\r\x1b[Kstopping").unwrap();
        let (waiting, _) = after.split_once("Verdict").unwrap();
        // Every later live line before the report says this too.
        let lines: Vec<&str> = waiting.split("\x1b[K").collect();
        let (_, lines) = lines.split_last().unwrap();
        let says = |line: &&str| line.contains("(again to report now)");
        assert!(!lines.is_empty() && lines.iter().all(says), "{waiting:?}");
    }
}

/// Help is as wide as the terminal, up to a width that is easy to read.
#[test]
fn help_fits_its_terminal() {
    for page in ["--help", "http --help", "grpc --help", "serve --help"] {
        for columns in [80, 100, 200] {
            let Some(run) = on_terminal("", columns, page) else {
                return;
            };
            let (widest, most) = (widest(&run.stdout), (columns as usize).min(100));
            assert!(widest <= most, "{page}: {columns} columns: {widest}");
        }
        for columns in [1, 0] {
            assert_eq!(on_terminal("", columns, page).unwrap().code, Some(0));
        }
    }
}

#[test]
fn a_bare_environment_and_closed_descriptors_are_enough() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let json = folder.at("run.json");
    let line = format!("http -c 4 -n 40 --json {json} {}", serve.url);
    for shell in [
        format!("exec <&-; exec $D {line}"),
        format!("exec >&-; exec $D {line}"),
        format!("exec 2>&-; exec $D {line}"),
        format!("exec <&- >&- 2>&-; exec $D {line}"),
        format!("exec env -i {PATH} {line}"),
        format!("exec env -i PATH= TZ=Nowhere/Bogus {PATH} {line}"),
    ] {
        let mut command = neutral(Command::new("sh"));
        command.args(["-c", &shell]).env("D", PATH);
        let run = Process::start(&mut command).finish(LIMIT);
        assert_eq!(run.code, Some(0), "{shell}: {}", run.stderr);
        let report = Report::read(&json);
        report.balances();
        assert_eq!(report.n("requests.ok"), 40, "{shell}: {:#}", report.short());
        fs::remove_file(&json).unwrap();
    }
}

/// Without /proc, and with a read-only root.
#[test]
fn a_bare_machine_is_enough() {
    if !lab::mounts() {
        return;
    }
    let serve = Serve::new("");
    for prepare in [
        "mount -t tmpfs none /proc",
        "mount -o remount,bind,ro /",
        "mount -t tmpfs -o ro none /dev/shm && mount -t tmpfs -o ro none /tmp",
    ] {
        let program = fs::canonicalize(PATH).unwrap();
        // The mounts may hide the folder of the binary, so the binary is opened first.
        let script = format!(
            "exec 9<{}; {prepare} || exit 77; exec /dev/fd/9 http -c 2 -n 20 --threads 1 {}",
            program.display(),
            serve.url
        );
        let script = if prepare.contains("/proc") {
            script.replace("/dev/fd/9", PATH)
        } else {
            script
        };
        let mut command = neutral(Command::new("unshare"));
        let run = Process::start(command.args(["-m", "sh", "-c", &script])).finish(LIMIT);
        if run.code == Some(77) {
            return lab::lacks("mount namespaces");
        }
        assert_eq!(run.code, Some(0), "{prepare}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("20 ok"), "{prepare}: {}", run.stdout);
    }
}

/// The help texts, compared with files in this folder; `DRUMFIRE_BLESS=1` rewrites the files.
#[test]
fn help_is_as_it_was_agreed() {
    let pages: [(&str, &[&str]); 8] = [
        ("drumfire", &["--help"]),
        ("http", &["http", "--help"]),
        ("grpc", &["grpc", "--help"]),
        ("llm", &["llm", "--help"]),
        ("ws", &["ws", "--help"]),
        ("capacity", &["capacity", "--help"]),
        ("serve", &["serve", "--help"]),
        ("go-wrk", &["go-wrk", "-help"]),
    ];
    for (name, args) in pages {
        let run = Process::start(&mut drumfire(args)).finish(LIMIT);
        assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{args:?}");
        // go-wrk's own text keeps its width.
        let fits = |line: &str| line.chars().count() <= 80 || name == "go-wrk";
        assert!(run.stdout.lines().all(fits), "{args:?}");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/help/{name}.txt"));
        if std::env::var_os("DRUMFIRE_BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &run.stdout).unwrap();
        }
        let agreed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            agreed == run.stdout,
            "{} is not what `drumfire {}` says; DRUMFIRE_BLESS=1 writes it anew:\n{}",
            path.display(),
            args.join(" "),
            run.stdout
        );
    }
}
