//! Coordinators and agents that cannot be trusted: what an agent does for a coordinator, what it
//! reveals to it, and the folders in which both keep their data.

use crate::support::nats::Nats;
use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Run, Serve, drumfire, lab};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A run on one agent with these flags and variables. The coordinator has `token` in the variable
/// `TOK`.
fn on_agent(
    nats: &Nats,
    (plan, group, token): (&str, &str, &str),
    flags: &[&str],
    variables: &[(&str, &str)],
) -> (Run, Run) {
    let url = nats.url();
    let mut args = vec!["agent", "--nats", &url, "--group", group];
    args.extend(flags);
    let agent = Process::start(drumfire(args).envs(variables.iter().copied()));
    let args = [
        "cluster",
        "run",
        plan,
        "--agents",
        "1",
        "--nats",
        &url,
        "--group",
        group,
        "--no-store",
        "-q",
    ];
    let run = Process::start(drumfire(args).env("TOK", token)).finish(LIMIT);
    (run, agent.finish(LIMIT))
}

/// No key of a plan makes an agent contact a host that is not in its list.
#[test]
fn an_agent_takes_no_plan_that_leads_elsewhere() {
    let Some(program) = lab::suite("nats-server") else {
        return;
    };
    let (nats, folder) = (Nats::new(&program), Folder::new());
    for (number, (keys, reason)) in [
        (
            "lookup: ttl, name_server: \"127.0.0.1:15353\"",
            "chooses the server for names",
        ),
        (
            "resolve: [ \"shop.test:80:127.0.0.9\" ]",
            "overrides the addresses of names",
        ),
        ("proxy: \"http://127.0.0.9:1\"", "uses a proxy"),
        ("unix_socket: /tmp/none.sock", "uses a Unix socket"),
        ("redirects: 3", "follows redirects"),
    ]
    .into_iter()
    .enumerate()
    {
        let plan = folder.write(
            &format!("{number}.yaml"),
            format!(
                "drumfire: 1\npools: {{ a: {{ rate: 5/s, target: \"http://shop.test\", {keys}, \
                 unresolved: fail, requests: [ {{ get: / }} ] }} }}\nstop: {{ after: 1s }}\n"
            ),
        );
        let group = format!("g{number}");
        let flags = ["--allow", "shop.test"];
        let (run, agent) = on_agent(&nats, (&plan, &group, ""), &flags, &[]);
        assert_eq!((run.code, agent.code), (Some(1), Some(1)), "{keys}");
        assert!(run.stderr.contains(reason), "{keys}: {}", run.stderr);
        assert!(agent.stderr.contains(reason), "{keys}: {}", agent.stderr);
    }
}

/// No value of an agent reaches a coordinator through the reason for a failure, in whole or in
/// part, and no plan reads a variable that the agent does not permit.
#[test]
fn the_reason_of_an_agent_has_none_of_its_secrets() {
    let Some(program) = lab::suite("nats-server") else {
        return;
    };
    let (nats, folder) = (Nats::new(&program), Folder::new());
    let secret = "it's a Hidden-Value.of/mine";
    let pieces = ["it's", "Hidden", "hidden", "Value", "value", "mine"];
    // The coordinator's own value of the variable is valid in its place.
    let here = "http://127.0.0.1:9";
    for (number, (target, rate, get, variable, token)) in [
        (here, "5/s", "/?q={{ '${pw}' }}", "TOK", "abcd"),
        (here, "${pw}", "/", "TOK", "50/s"),
        ("${pw}", "5/s", "/", "TOK", here),
        ("http://${pw}/", "5/s", "/", "TOK", "127.0.0.1:9"),
        (here, "5/s", "/?q={{ ${pw} }}", "TOK", "user"),
        (here, "5/s", "/", "NATS_PASSWORD", "abcd"),
        (here, "5/s", "/", "OTHER", "abcd"),
    ]
    .into_iter()
    .enumerate()
    {
        let plan = folder.write(
            &format!("{number}.yaml"),
            format!(
                "drumfire: 1\nvars: {{ pw: \"${{secret:env:{variable}:-5555}}\" }}\npools: {{ a: {{ rate: \
                 \"{rate}\", target: \"{target}\", requests: [ {{ get: \"{get}\" }} ] }} }}\nstop: {{ after: \
                 1s }}\n"
            ),
        );
        let group = format!("g{number}");
        let flags = ["--allow", "127.0.0.1", "--env", "TOK"];
        let variables = [
            ("TOK", secret),
            ("OTHER", secret),
            ("NATS_PASSWORD", secret),
        ];
        let (run, _) = on_agent(&nats, (&plan, &group, token), &flags, &variables);
        let shown = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, Some(1), "{target} {rate} {get}: {shown}");
        for piece in pieces {
            assert!(!shown.contains(piece), "{target} {rate} {get}: {shown}");
        }
        match variable {
            "OTHER" => assert!(shown.contains("--env OTHER"), "{shown}"),
            "NATS_PASSWORD" => assert!(shown.contains("may not read"), "{shown}"),
            _ => {}
        }
    }
}

/// Without a home directory, journals are kept in a private folder, and journals in a folder of
/// another user are ignored.
#[test]
fn journals_are_in_a_folder_of_ones_own() {
    let folder = Folder::new();
    let within = folder.at("tmp");
    fs::create_dir(&within).unwrap();
    let user = rustix::process::geteuid().as_raw();
    let own = Path::new(&within).join(format!("drumfire-{user}"));
    let attach = || {
        let mut command = drumfire(["cluster", "attach", "last"]);
        command.env_remove("HOME").env_remove("XDG_STATE_HOME");
        command.env("TMPDIR", &within);
        Process::start(&mut command).finish(LIMIT)
    };
    let none = attach();
    assert!(
        none.stderr.contains("no run has a journal"),
        "{}",
        none.stderr
    );
    let cluster = own.join("cluster");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&own), mode(&cluster)), (0o700, 0o700));
    fs::set_permissions(&cluster, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = attach();
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("others can't write to"),
        "{}",
        refused.stderr
    );
}

/// Other users can read neither the index of runs nor the folders around the runs.
#[test]
fn the_index_of_runs_is_its_users_alone() {
    let (serve, folder) = (Serve::new(""), Folder::new());
    let state = folder.at("state");
    let drumfire = |args: &[&str]| {
        let mut command = drumfire(args);
        command.env("XDG_STATE_HOME", &state);
        Process::start(&mut command).finish(LIMIT)
    };
    let run = drumfire(&["http", "-q", "-n", "3", &serve.url]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let index = Path::new(&state).join("drumfire/index.sqlite");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for _ in 0..2 {
        let listed = drumfire(&["runs"]);
        assert_eq!(listed.code, Some(0), "{}", listed.stderr);
        assert_eq!(mode(&index), 0o600);
        assert_eq!(mode(index.parent().unwrap()), 0o700);
        // An index that an earlier version has created.
        fs::set_permissions(&index, fs::Permissions::from_mode(0o644)).unwrap();
        fs::set_permissions(index.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        let run = drumfire(&["http", "-q", "-n", "3", &serve.url]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
}
