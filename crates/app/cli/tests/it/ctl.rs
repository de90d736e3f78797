//! `drumfire ctl`: another process controls an active run.

use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Report, Run, Serve, Signal, drumfire, wait_until};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// The program with its runs in a folder of the test.
fn ctl_in(folder: &Folder, args: &[&str]) -> Command {
    let mut command = drumfire(args);
    command.env("XDG_RUNTIME_DIR", folder.path());
    command
}

fn ctl(folder: &Folder, args: &[&str]) -> Run {
    let args: Vec<&str> = ["ctl"].iter().chain(args).copied().collect();
    Process::start(&mut ctl_in(folder, &args)).finish(LIMIT)
}

/// A run whose load was changed no longer has the load of its plan.
#[test]
fn a_run_that_was_changed_is_not_compared() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("changed");
    let args = [
        "http", "-q", "-r", "10/s", "-n", "1000", "-o", &dir, &serve.url,
    ];
    let run = Process::start(&mut ctl_in(&folder, &args));
    serve.await_requests(2);
    let changed = ctl(&folder, &["last", "rate", "2000/s"]);
    assert_eq!(changed.code, Some(0), "{}", changed.stderr);
    assert_eq!(run.finish(LIMIT).code, Some(0));
    let found = Process::start(&mut drumfire(["compare", &dir, &dir])).finish(LIMIT);
    assert_eq!(found.code, Some(2), "{}", found.stdout);
    let why = "its load was changed while it ran";
    assert!(found.stderr.contains(why), "{}", found.stderr);
}

/// Each command takes effect at a reported time and appears in the report. A refusal contains the
/// reason.
#[test]
fn a_run_is_changed_marked_and_ended() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    let args = [
        "http", "-r", "20", "-z", "1h", "--json", "-", "-o", &dir, &serve.url,
    ];
    let run = Process::start(&mut ctl_in(&folder, &args));
    serve.await_requests(2);
    let listed = ctl(&folder, &[]).stdout;
    let id = listed.split(' ').next().expect("a name").to_owned();
    assert!(listed.contains(&serve.url), "{listed}");

    let changed = ctl(&folder, &["last", "rate", "400/s"]);
    assert_eq!(changed.code, Some(0), "{}", changed.stderr);
    let said = &changed.stdout;
    assert!(said.starts_with("rate 400/s from "), "{said}");
    for words in [&format!("in run {id}, was 20/s"), &serve.url] {
        assert!(said.contains(words), "{said}");
    }
    for (act, words) in [
        (&["rate", "400/s"][..], "is already 400/s: nothing changed"),
        (&["resume"], "is not paused: nothing changed"),
    ] {
        let args: Vec<&str> = ["last"].iter().chain(act).copied().collect();
        let idle = ctl(&folder, &args);
        assert_eq!(idle.code, Some(0), "{}", idle.stderr);
        assert!(idle.stdout.contains(words), "{}", idle.stdout);
    }
    for name in [&*id, "last", &id[..6]] {
        let shown = ctl(&folder, &[name]);
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        let said = &shown.stdout;
        assert!(said.starts_with(&format!("{id}  running for ")), "{said}");
        assert!(said.contains("load: 400/s\n"), "{said}");
        assert!(said.contains(&serve.url), "{said}");
    }
    let before = serve.count("requests");
    serve.await_requests(before + 100);
    for (args, words) in [
        (&[&*id, "users", "5"][..], "this load has a rate"),
        (&[&*id, "rate", "much"], "neither a rate nor a law"),
        (&[&*id, "rate"], "write the rate"),
        (&[&*id, "rate", "0"], "a rate must be above 0"),
        (&[&*id, "pause", "now"], "takes no value; remove `now`"),
        (&["nix", "pause"], "no run `nix` is active"),
        (&[&*id, "pause", "--pool", "b"], "no pool `b`"),
    ] {
        let refused = ctl(&folder, args);
        assert_eq!(refused.code, Some(2), "{args:?}");
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    assert_eq!(
        ctl(&folder, &[&id[..4], "mark", "deployed \u{1b}[31m"]).code,
        Some(0)
    );
    assert_eq!(ctl(&folder, &[&dir, "stop"]).code, Some(0));
    let report = Report::from_run(run.finish(LIMIT));
    assert_eq!(report.code, Some(4), "it was cut short");
    report.balances();
    let notes = report.notes();
    for words in ["the rate changed to", "deployed", "a command ended the run"] {
        assert!(notes.contains(words), "{notes}");
    }
    assert!(!notes.contains('\u{1b}'), "{notes}");
    // The rate that was set is the rate at which requests became due, instead of the plan's 20/s.
    assert!(report.number("rate.intended_per_s") > 25.0);
    assert_eq!(ctl(&folder, &[]).stdout, "no run is active\n");
}

/// A stored run reports its changes as the run itself did: whole, cut off or resumed.
#[test]
fn changes_are_stored_with_the_run() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let [whole, cut] = ["whole", "cut"].map(|name| folder.at(name));
    let start = |dir: &str, law: &str| {
        let args = ["http", "-q", "-r", law, "--interval", "100ms", "-o", dir];
        let args: Vec<&str> = args.iter().copied().chain([&*serve.url]).collect();
        let before = serve.count("requests");
        let run = Process::start(&mut ctl_in(&folder, &args));
        serve.await_requests(before + 20);
        assert_eq!(ctl(&folder, &[dir, "rate", "300/s"]).code, Some(0));
        assert_eq!(ctl(&folder, &[dir, "mark", "deployed"]).code, Some(0));
        run
    };
    let before = serve.count("requests");
    let live = start(&whole, "const(100,1h) const(200,2h)");
    serve.await_requests(before + 100);
    assert_eq!(ctl(&folder, &[&whole, "stop"]).code, Some(0));
    let live = live.finish(LIMIT);
    let again = |dir: &str| Process::start(&mut ctl_in(&folder, &["report", dir])).finish(LIMIT);
    assert!(live.stdout.contains("deployed"), "{}", live.stdout);
    assert_eq!(again(&whole).stdout, live.stdout);
    // The load that was requested, and the load that took effect.
    let words: Vec<&str> = live.stdout.split_whitespace().collect();
    let load = "const(100/s,1h) const(200/s,2h) · changed at";
    assert!(words.join(" ").contains(load), "{}", live.stdout);
    assert_eq!(stages(&whole), ["100/s", "300/s"]);

    let run = start(&cut, "const(100,3s) const(200,3s)");
    let before = serve.count("requests");
    serve.await_requests(before + 100);
    run.signal(Signal::KILL);
    run.finish(LIMIT);
    let told = again(&cut).stdout;
    for words in [
        "the rate changed to const(300/s)",
        "deployed",
        "was cut off",
    ] {
        assert!(told.contains(words), "{told}");
    }
    let resumed = Process::start(&mut ctl_in(&folder, &["resume", &cut, "-q"])).finish(LIMIT);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    // The line may be wrapped anywhere.
    let text: Vec<&str> = resumed.stdout.split_whitespace().collect();
    for words in ["deployed", "later, with the load of its plan"] {
        assert!(text.join(" ").contains(words), "{}", resumed.stdout);
    }
}

/// A pause is a stage, and the law continues afterwards where it stopped.
#[test]
fn a_pause_is_a_stage() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    let law = "const(20,4s) const(100,400ms)";
    let args = [
        "http",
        "-q",
        "-r",
        law,
        "--interval",
        "100ms",
        "-o",
        &dir,
        &serve.url,
    ];
    let run = Process::start(&mut ctl_in(&folder, &args));
    serve.await_requests(5);
    assert_eq!(ctl(&folder, &[&dir, "pause"]).code, Some(0));
    std::thread::sleep(std::time::Duration::from_millis(400));
    assert_eq!(ctl(&folder, &[&dir, "resume"]).code, Some(0));
    let run = run.finish(LIMIT);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(stages(&dir), ["20/s", "paused", "20/s", "100/s"]);
    assert!(run.stdout.contains("120 sent"), "{}", run.stdout);
}

/// The names of a stored run's stages.
fn stages(dir: &str) -> Vec<String> {
    let report = Report::read(&format!("{dir}/summary.json"));
    let stages = report.at("stages").as_array().expect("stages").iter();
    let names = stages.map(|stage| stage["name"].as_str().expect("a name").to_owned());
    names.collect()
}

/// The folder is private to the user, and the socket of a killed run is removed.
#[test]
fn sockets_are_their_owners_and_dead_ones_go() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let args = ["http", "-r", "20", "-z", "1h", &serve.url];
    let run = Process::start(&mut ctl_in(&folder, &args));
    serve.await_requests(1);
    let sockets = folder.path().join("drumfire");
    let count = || std::fs::read_dir(&sockets).map_or(0, Iterator::count);
    wait_until("the socket", || count() == 1);
    let mode = std::fs::metadata(&sockets)
        .expect("a folder")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    drop(run);
    wait_until("the end", || {
        ctl(&folder, &[]).stdout == "no run is active\n"
    });
    assert_eq!(count(), 0);

    std::fs::set_permissions(&sockets, PermissionsExt::from_mode(0o777)).expect("its owner");
    let refused = ctl(&folder, &[]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("others can't write to (mode 700)"),
        "{}",
        refused.stderr
    );
}

/// If several runs are active, the last one may belong to someone else: `last` is refused, with a
/// list of the runs.
#[test]
fn the_last_of_several_is_refused() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let args = ["http", "-r", "20", "-z", "1h", "--no-store", &serve.url];
    let runs = [(); 2].map(|()| Process::start(&mut ctl_in(&folder, &args)));
    wait_until("both", || ctl(&folder, &[]).stdout.lines().count() == 2);
    let refused = ctl(&folder, &["last", "stop"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    let said = &refused.stderr;
    assert!(said.contains("several runs are active; name one"), "{said}");
    let listed = ctl(&folder, &[]).stdout;
    for line in listed.lines() {
        let id = line.split(' ').next().expect("a name");
        assert!(said.contains(id), "{said}");
        let stopped = ctl(&folder, &[id, "stop"]);
        assert!(
            stopped.stdout.contains(&format!("in run {id}")),
            "{}",
            stopped.stdout
        );
    }
    for run in runs {
        assert_eq!(run.finish(LIMIT).code, Some(4));
    }
}

/// The last run is a run in the caller's folder of runs, as in `drumfire report last`. A run in
/// another folder is listed, and can only be changed by name.
#[test]
fn the_last_run_is_one_of_the_own_folder() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let [own, other] = ["own", "other"].map(|name| folder.at(name));
    let start = |state: &str| {
        let mut run = ctl_in(&folder, &["http", "-r", "20", "-z", "1h", "-q", &serve.url]);
        run.env("XDG_STATE_HOME", state);
        Process::start(&mut run)
    };
    let ctl_of = |state: &str, args: &[&str]| {
        let args: Vec<&str> = ["ctl"].iter().chain(args).copied().collect();
        let mut ctl = ctl_in(&folder, &args);
        ctl.env("XDG_STATE_HOME", state);
        Process::start(&mut ctl).finish(LIMIT)
    };
    let id_of = |row: &str| row.split(' ').next().expect("a name").to_owned();
    let of_other = start(&other);
    wait_until("the run", || {
        ctl(&folder, &[]).stdout.contains("running for ")
    });
    let of_others = id_of(&ctl(&folder, &[]).stdout);
    let refused = ctl_of(&own, &["last", "mark", "x"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    for words in [
        &*format!("no run of {own}/drumfire/runs is active"),
        &of_others,
        &format!("in {other}/drumfire/runs"),
    ] {
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    let marked = ctl_of(&other, &["last", "mark", "x"]);
    assert!(marked.stdout.contains(&of_others), "{}", marked.stderr);

    let of_own = start(&own);
    wait_until("both", || ctl(&folder, &[]).stdout.lines().count() == 2);
    let stopped = ctl_of(&own, &["last", "stop"]);
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    assert!(!stopped.stdout.contains(&of_others), "{}", stopped.stdout);
    assert_eq!(of_own.finish(LIMIT).code, Some(4));
    assert_eq!(ctl_of(&own, &[&of_others, "stop"]).code, Some(0));
    assert_eq!(of_other.finish(LIMIT).code, Some(4));
}

/// Other files in the folder of sockets are ignored, and a dialect has no socket there.
#[test]
fn the_folder_of_sockets_has_runs_alone() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let sockets = folder.path().join("drumfire");
    let line = format!("slow_cooker -qps 20 -interval 1s {}", serve.url);
    let args: Vec<&str> = line.split(' ').collect();
    let run = Process::start(&mut ctl_in(&folder, &args));
    serve.await_requests(2);
    assert_eq!(ctl(&folder, &[]).stdout, "no run is active\n");
    drop(run);
    std::fs::create_dir(sockets.join("x.sock")).expect("a folder");
    let listed = ctl(&folder, &[]);
    assert_eq!(
        (listed.code, &*listed.stdout),
        (Some(0), "no run is active\n")
    );
}
