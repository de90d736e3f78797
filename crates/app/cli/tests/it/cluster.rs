//! A plan on several agents behaves as one run.

use crate::support::nats::{Nats, with_nats};
use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Run, Serve, Signal, drumfire, lab, wait_until};
use drumfire_measure::{Figures, Summary};
use drumfire_store::Record;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Two pools: an open load with weights and random arrivals, and one with users.
fn plan(folder: &Folder, url: &str, seconds: u32) -> String {
    let path = folder.at("plan.yaml");
    let text = format!(
        "drumfire: 1
pools:
  read:
    target: {url}
    rate: const(300/s,{seconds}s)
    arrivals: poisson
    connections: 16
    requests:
      - {{ get: /, name: first, weight: 3 }}
      - {{ get: /second, name: second }}
  write:
    target: {url}
    users: 8
    connections: 8
    requests:
      - {{ post: /third, body: x, name: third }}
    stop: {{ requests: 333 }}
generator: {{ seed: 7 }}
"
    );
    fs::write(&path, text).unwrap();
    path
}

/// A run of an hour on two local agents that has sent some requests.
fn lasting_run(nats: &Path, serve: &Serve, folder: &Folder) -> Process {
    let plan = plan(folder, &serve.url, 3_600);
    let args = ["cluster", "run", &plan, "--local", "2"];
    let run = Process::start(&mut with_nats(nats, &args));
    serve.await_requests(400);
    run
}

fn finish(command: &mut Command) -> Run {
    let run = Process::start(command).finish(LIMIT);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    run
}

fn summary(path: impl AsRef<Path>) -> Summary {
    Record::read(path.as_ref()).unwrap().summary
}

/// The name and the requests of each step, over all pools.
fn counts(summary: &Summary) -> Vec<(String, u64, u64)> {
    let pools = summary.pools();
    let steps = pools.flat_map(|(info, figures)| {
        let steps = figures.steps_of(info);
        let named = info.steps.iter().zip(steps);
        named
            .map(|(name, step)| (name.to_string(), step.counts.sent, step.counts.ok))
            .collect::<Vec<_>>()
    });
    steps.collect()
}

/// The cluster sends the same counts as one process, for each step. The coordinator's summary
/// equals the agents' records, bit for bit.
#[test]
fn four_agents_are_one_process() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let serve = Serve::new("");
    let folder = Folder::new();
    let plan = plan(&folder, &serve.url, 2);
    let (alone, together, shares) = (
        folder.at("alone"),
        folder.at("together"),
        folder.at("shares"),
    );
    finish(&mut drumfire(["run", &plan, "-o", &alone, "-q"]));
    let args = [
        "cluster", "run", &plan, "--local", "4", "-o", &together, "--keep", &shares, "-q",
    ];
    finish(&mut with_nats(&nats, &args));

    let (alone, together) = (summary(&alone), summary(&together));
    let notes = together.info.notes.join("; ");
    assert!(
        notes.contains("4 agents were scheduled to start together"),
        "{notes}"
    );
    assert_eq!(counts(&together), counts(&alone));
    assert_eq!(together.total.counts.intended, alone.total.counts.intended);
    together.conservation().unwrap();

    let shares = fs::read_dir(shares).unwrap();
    let shares: Vec<Summary> = shares.map(|it| summary(it.unwrap().path())).collect();
    assert_eq!(shares.len(), 4);
    let mut totals = shares.into_iter().map(|share| share.total);
    let first = totals.next().unwrap();
    let merged = totals.fold(first, |mut merged: Figures, other| {
        merged.merge(&other);
        merged
    });
    assert!(
        merged.latency == together.total.latency,
        "merged percentiles are those of all samples"
    );
    assert_eq!(merged.counts, together.total.counts);
    assert_eq!(merged.bytes, together.total.bytes);
}

/// A killed agent is noticed and reported by name. The others continue, and the run is not valid.
#[test]
fn a_killed_agent_is_stated() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let serve = Serve::new("");
    let folder = Folder::new();
    let plan = plan(&folder, &serve.url, 8);
    let together = folder.at("together");
    let args = ["cluster", "run", &plan, "--local", "2", "-o", &together];
    let run = Process::start(&mut with_nats(&nats, &args));
    serve.await_requests(800);
    let agents = children_named(run.id(), "agent");
    assert_eq!(agents.len(), 2);
    let killed = Command::new("kill").args(["-9", &agents[0]]).status();
    assert!(killed.unwrap().success());
    let run = run.finish(LIMIT);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    // A busy machine may cause further reasons.
    let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!words.contains("run valid"), "{words}");
    assert!(words.contains("was lost at"), "{words}");
    assert!(words.contains("are unknown and not counted"), "{words}");
    assert!(
        words.contains("of the requested load is unaccounted for"),
        "{words}"
    );
    let stored = summary(&together);
    stored.conservation().unwrap();
    assert!(
        stored.load.kept == Some(false) && stored.load.sent_share < 0.9,
        "{:?}",
        stored.load
    );
    // The stored run gives the same report.
    let report = finish(&mut drumfire(["report", &together]));
    assert_eq!(report.stdout, run.stdout);
}

/// The other agents continue the share of a killed agent from a reported time of the run, exactly
/// to the request. The requests that were due before that time are not sent, and are reported.
#[test]
fn a_lost_share_goes_on_with_the_others() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let serve = Serve::new("");
    let folder = Folder::new();
    let path = folder.at("plan.yaml");
    let text = format!(
        "drumfire: 1
pools:
  read:
    target: {}
    rate: const(300/s,16s)
    connections: 16
    requests: [ {{ get: / }} ]
generator: {{ interval: 1s }}
",
        serve.url
    );
    fs::write(&path, text).unwrap();
    let together = folder.at("together");
    let args = [
        "cluster",
        "run",
        &path,
        "--local",
        "3",
        "--on-loss",
        "redistribute",
        "-o",
        &together,
    ];
    let run = Process::start(&mut with_nats(&nats, &args));
    serve.await_requests(600);
    let agents = children_named(run.id(), "agent");
    assert_eq!(agents.len(), 3);
    let killed = Command::new("kill").args(["-9", &agents[0]]).status();
    assert!(killed.unwrap().success());
    let run = run.finish(LIMIT);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words.replace(" · ", " ");
    for stated in [
        "was lost at",
        "are unknown and not counted",
        "requests due in between were not sent",
        "of the requested load is unaccounted for",
    ] {
        assert!(words.contains(stated), "{stated}: {words}");
    }
    let times = words.split("of them at ").skip(1);
    let times = times.filter_map(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    let from = times.fold(0.0, f64::max);
    assert!((4.0..16.0).contains(&from), "{words}");

    let stored = summary(&together);
    stored.conservation().unwrap();
    assert_eq!(stored.load.kept, Some(false), "{:?}", stored.load);
    let behind = stored.intervals().into_iter();
    let behind = behind.filter(|row| row.start.as_secs_f64() >= from);
    let good: u64 = behind.map(|row| row.good).sum();
    let expected = 300 * (16 - from.round() as u64);
    // The count is inexact at both edges, by requests that were sent before and ended after: for at
    // most the time of the longest response.
    let longest = stored.total.latency.response_time.max().as_secs_f64();
    let at_edges = 6 + (300.0 * longest) as u64;
    assert!(
        good.abs_diff(expected) <= at_edges,
        "{good} of {expected}, {longest} s"
    );
    let report = finish(&mut drumfire(["report", &together]));
    assert_eq!(report.stdout, run.stdout);
}

/// A plan whose lost shares another agent could not continue is refused with the reason, before
/// anything is sent.
#[test]
fn a_share_that_cannot_go_on_is_refused_at_the_start() {
    let folder = Folder::new();
    let refused = |load: &str, feeds: &str, words: &str| {
        let file = folder.at("plan.yaml");
        let path = if feeds.is_empty() {
            "/"
        } else {
            "/{{ people }}"
        };
        let text = format!(
            "drumfire: 1
{feeds}pools:
  p:
    target: http://127.0.0.1:9
    {load}
    requests: [ {{ get: '{path}' }} ]
"
        );
        fs::write(&file, text).unwrap();
        let args = [
            "cluster",
            "run",
            &file,
            "--local",
            "2",
            "--on-loss",
            "redistribute",
        ];
        let run = Process::start(&mut drumfire(args)).finish(LIMIT);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(words), "{}", run.stderr);
    };
    let feed =
        |order: &str| format!("feeds: {{ people: {{ inline: [ a, b ], order: {order} }} }}\n");
    refused(
        "users: 4\n    stop: { requests: 10 }",
        "",
        "pool p stops its users after a count of requests",
    );
    refused(
        "users: 2\n    rate: 5/s\n    rate_per: user\n    stop: { after: 1s }",
        "",
        "pool p has a rate for each user",
    );
    refused("rate: unlimited(1s)", "", "pool p has no rate");
    refused(
        "rate: const(5/s,1s)\n    users: 2",
        &feed("unique"),
        "feed people (order: unique)",
    );
}

/// A run that lost all its agents is not complete, even if its thresholds hold for the known part.
/// The stored run gives the same report. The result is equal if the first loss stops the load.
#[test]
fn a_run_without_agents_is_not_done() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    for on_loss in ["drop", "abort"] {
        check_without_agents(&nats, on_loss);
    }
}

fn check_without_agents(nats: &Path, on_loss: &str) {
    let serve = Serve::new("");
    let folder = Folder::new();
    let plan = plan(&folder, &serve.url, 60);
    let together = folder.at("together");
    let args = [
        "cluster",
        "run",
        &plan,
        "--local",
        "2",
        "--threshold",
        "failed<1%",
        "--on-loss",
        on_loss,
        "-o",
        &together,
    ];
    let run = Process::start(&mut with_nats(nats, &args));
    serve.await_requests(1_200);
    for agent in children_named(run.id(), "agent") {
        let killed = Command::new("kill").args(["-9", &agent]).status();
        assert!(killed.unwrap().success());
    }
    let run = run.finish(LIMIT);
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("the loss of all agents ended the run before its planned end"),
        "{words}"
    );
    let report = Process::start(&mut drumfire(["report", &together])).finish(LIMIT);
    assert_eq!((report.code, report.stdout), (Some(1), run.stdout));
}

/// If requested, the loss of an agent stops the load of the others, and the report contains the
/// reason.
#[test]
fn the_loss_of_an_agent_stops_the_load() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let serve = Serve::new("");
    let folder = Folder::new();
    let plan = plan(&folder, &serve.url, 60);
    let args = [
        "cluster",
        "run",
        &plan,
        "--local",
        "2",
        "--on-loss",
        "abort",
    ];
    let run = Process::start(&mut with_nats(&nats, &args));
    serve.await_requests(800);
    let agents = children_named(run.id(), "agent");
    let killed = Command::new("kill").args(["-9", &agents[0]]).status();
    assert!(killed.unwrap().success());
    let run = run.finish(LIMIT);
    assert_eq!(run.code, Some(4), "{}{}", run.stdout, run.stderr);
    let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("was lost at"), "{words}");
    for stated in [
        "stopped the load (--on-loss abort)",
        "the loss of an agent ended the run before its planned end",
    ] {
        assert!(words.contains(stated), "{words}");
    }
}

/// One signal drains all agents, and the report contains the reason.
#[test]
fn a_signal_drains_all_agents() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let serve = Serve::new("");
    let folder = Folder::new();
    let run = lasting_run(&nats, &serve, &folder);
    run.signal(Signal::INT);
    let run = run.finish(LIMIT);
    assert_eq!(run.code, Some(4), "{}{}", run.stdout, run.stderr);
    let stdout = &run.stdout;
    assert!(stdout.contains("the run was interrupted"), "{stdout}");
    assert!(stdout.contains("0 in flight"), "{stdout}");
}

/// An agent loads its own machine, or the hosts in its list. It refuses a plan with another target,
/// or with a proxy or other way that could lead to one, and the coordinator prints the agent's
/// reason.
#[test]
fn an_agent_loads_what_its_list_names() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let folder = Folder::new();
    let server = Nats::new(&nats);
    let url = server.url();
    let serve = Serve::new("");
    let here = &serve.url;
    let cases = [
        (
            "",
            "http://elsewhere.invalid",
            "",
            "this agent may not load elsewhere.invalid:80",
        ),
        (
            "other.invalid",
            here,
            "",
            "this agent may not load 127.0.0.1",
        ),
        ("", here, "redirects: 3", "the plan follows redirects"),
        (
            "elsewhere.invalid",
            here,
            "unix_socket: /run/x.sock",
            "the plan uses a Unix socket",
        ),
        ("127.0.0.1", here, "", ""),
        ("*", here, "redirects: 3", ""),
    ];
    for (number, (allow, target, setting, refused)) in cases.into_iter().enumerate() {
        let path = folder.at("plan.yaml");
        let text = format!(
            "drumfire: 1\npools:\n  p:\n    target: {target}\n    rate: 50/s\n    requests: [ {{ get: / }} ]\n    \
             {setting}\nstop: {{ after: 1s }}\n"
        );
        fs::write(&path, text).unwrap();
        let group = format!("g{number}");
        let mut args = vec!["agent", "--nats", &url, "--group", &group];
        if !allow.is_empty() {
            args.extend(["--allow", allow]);
        }
        let agent = Process::start(&mut drumfire(args));
        let args = [
            "cluster", "run", &path, "--agents", "1", "--nats", &url, "--group", &group,
        ];
        let run = Process::start(&mut drumfire(args)).finish(LIMIT);
        let agent = agent.finish(LIMIT);
        let words = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains(refused),
            "{allow} {target} {setting}: {words}"
        );
        let codes = (run.code == Some(0), agent.code == Some(0));
        let is_taken = refused.is_empty();
        assert_eq!(codes, (is_taken, is_taken), "{words} {}", agent.stderr);
    }
}

/// The server of `--local` refuses clients without its password. The server and the agents end with
/// a killed coordinator. The next coordinator removes the folder that remains.
#[test]
fn a_local_cluster_is_its_users_alone_and_ends_with_it() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let serve = Serve::new("");
    let folder = Folder::new();
    let temporary = folder.at("tmp");
    fs::create_dir(&temporary).unwrap();
    let local = |seconds: u32| {
        let plan = plan(&folder, &serve.url, seconds);
        let args = ["cluster", "run", &plan, "--local", "2"];
        let mut command = with_nats(&nats, &args);
        command.env("TMPDIR", &temporary);
        Process::start(&mut command)
    };
    let run = local(3_600);
    serve.await_requests(400);
    let servers = children_named(run.id(), "-a");
    let [server] = &servers[..] else {
        panic!("one server: {servers:?}");
    };
    let line = fs::read_to_string(format!("/proc/{server}/cmdline")).unwrap();
    let words: Vec<&str> = line.split('\0').collect();
    let at = words.iter().position(|word| *word == "--ports_file_dir");
    let home = Path::new(words[at.unwrap() + 1]);
    let ports = fs::read_to_string(home.join(format!("nats-server_{server}.ports"))).unwrap();
    let ports: serde_json::Value = serde_json::from_str(&ports).unwrap();
    let url = ports["nats"][0].as_str().unwrap();
    let stranger = Process::start(&mut drumfire(["agent", "--nats", url])).finish(LIMIT);
    assert_eq!(stranger.code, Some(1), "{}", stranger.stderr);
    assert!(
        stranger.stderr.to_lowercase().contains("authorization"),
        "{}",
        stranger.stderr
    );
    let mut all = children_named(run.id(), "agent");
    assert_eq!(all.len(), 2);
    all.push(server.clone());
    let id = run.id().to_string();
    let killed = Command::new("kill").args(["-9", &id]).status();
    assert!(killed.unwrap().success());
    drop(run.finish(LIMIT));
    wait_until("the server and the agents end", || {
        all.iter()
            .all(|id| !Path::new(&format!("/proc/{id}/exe")).exists())
    });
    // The next coordinator removes the files that remained.
    let left = || {
        let names = fs::read_dir(&temporary).unwrap().flatten();
        let names = names.map(|entry| entry.file_name().into_string().unwrap());
        let names = names.filter(|name| name.starts_with("drumfire-nats-"));
        names.collect::<Vec<_>>()
    };
    assert_eq!(left().len(), 1);
    let next = local(1).finish(LIMIT);
    assert_eq!(next.code, Some(0), "{}{}", next.stdout, next.stderr);
    assert_eq!(left(), Vec::<String>::new());
}

/// The ids of a process's children whose first argument is `name`.
fn children_named(parent: u32, name: &str) -> Vec<String> {
    let ids = fs::read_dir("/proc").unwrap().flatten();
    let ids = ids.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_wanted = |id: &String| {
        let read =
            |file: &str| fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
        let stat = read("stat");
        let behind = stat.rsplit(") ").next().unwrap_or_default();
        let of = behind.split(' ').nth(1).unwrap_or_default();
        of == parent.to_string() && read("cmdline").split('\0').nth(1) == Some(name)
    };
    ids.filter(is_wanted).collect()
}

/// A run that cannot start leaves no files, so that the same line works again.
#[test]
fn without_a_server_of_nats_nothing_is_left_behind() {
    let folder = Folder::new();
    let plan = plan(&folder, "http://127.0.0.1:9", 1);
    let (stored, temporary) = (folder.at("stored"), folder.at("tmp"));
    fs::create_dir(&temporary).unwrap();
    // The only other program that starting drumfire may need.
    let programs = folder.at("bin");
    fs::create_dir(&programs).unwrap();
    symlink("/usr/bin/env", Path::new(&programs).join("env")).unwrap();
    let mut command = drumfire(["cluster", "run", &plan, "--local", "2", "-o", &stored]);
    command.env("PATH", &programs).env("TMPDIR", &temporary);
    let run = Process::start(&mut command).finish(LIMIT);
    assert_eq!(run.code, Some(1), "{run:?}");
    let said = "nats-server was not found in the PATH";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(!Path::new(&stored).exists());
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn an_agent_that_reaches_no_server_waits_for_none() {
    let mut command = drumfire(["agent", "--nats", "nats://127.0.0.1:1"]);
    let run = Process::start(&mut command).finish(LIMIT);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("can't connect to NATS"), "{run:?}");
    assert!(!run.stderr.contains("is waiting for a run"), "{run:?}");
}
