//! What the NATS server permits to agents and coordinators: users, rights, accounts and TLS.

use crate::support::certificates::VALID;
use crate::support::nats::Nats;
use crate::support::program::LIMIT;
use crate::support::{Authority, Folder, Process, Run, Serve, drumfire, lab, side_by_side};
use std::fs;
use std::path::Path;

/// The passwords of the manual's configuration.
const PASSWORDS: [(&str, &str); 3] = [
    ("AGENT_PASSWORD", "agents-word"),
    ("COORDINATOR_PASSWORD", "coordinators-word"),
    ("OTHER_PASSWORD", "others-word"),
];

/// How a program connects to the server: flags, and environment variables.
#[derive(Clone, Copy)]
struct Way<'a> {
    flags: &'a [&'a str],
    variables: &'a [(&'a str, &'a str)],
}

const AGENT: Way<'static> = Way {
    flags: &[],
    variables: &[("NATS_USER", "agent"), ("NATS_PASSWORD", "agents-word")],
};
const COORDINATOR: Way<'static> = Way {
    flags: &[],
    variables: &[
        ("NATS_USER", "coordinator"),
        ("NATS_PASSWORD", "coordinators-word"),
    ],
};
const OTHER: Way<'static> = Way {
    flags: &[],
    variables: &[("NATS_USER", "other"), ("NATS_PASSWORD", "others-word")],
};

/// A connection without a user.
const fn open_way<'a>(flags: &'a [&'a str]) -> Way<'a> {
    Way {
        flags,
        variables: &[],
    }
}

/// The configuration in the manual.
fn manual() -> String {
    let page = lab::repository().join("docs/manual/cluster.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```text\naccounts {").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    format!("accounts {{{text}")
}

/// A short plan with a file that is large enough for the server's flow control.
fn plan(folder: &Folder, serve: &Serve) -> String {
    folder.write("rows.txt", "a row of the feed\n".repeat(1_000_000));
    folder.write(
        "plan.yaml",
        format!(
            "drumfire: 1\nfeeds: {{ rows: {{ lines: rows.txt }} }}\npools:\n  p:\n    target: {}\n    users: 2\n    connections: 2\n    \
             requests: [ {{ post: /, body: \"{{{{ rows }}}}\" }} ]\n    stop: {{ requests: 20 }}\n",
            serve.url
        ),
    )
}

/// Runs a coordinator and an agent that find each other. Returns how both ended.
fn run(url: &str, plan: &str, coordinator: Way<'_>, agent: Way<'_>) -> (Run, Run) {
    run_within("60s", url, plan, (coordinator, agent))
}

/// Runs a coordinator and an agent that may not find each other, with a short wait.
fn run_apart(url: &str, plan: &str, coordinator: Way<'_>, agent: Way<'_>) -> (Run, Run) {
    run_within("6s", url, plan, (coordinator, agent))
}

fn run_within(
    wait: &str,
    url: &str,
    plan: &str,
    (coordinator, agent): (Way<'_>, Way<'_>),
) -> (Run, Run) {
    let mut args = vec!["agent", "--nats", url];
    args.extend(agent.flags);
    let mut command = drumfire(args);
    let process = Process::start(command.envs(agent.variables.iter().copied()));
    let mut args = vec![
        "cluster", "run", plan, "--agents", "1", "--nats", url, "--wait", wait,
    ];
    args.extend(coordinator.flags);
    let mut command = drumfire(args);
    let ran = Process::start(command.envs(coordinator.variables.iter().copied())).finish(LIMIT);
    // An agent without a coordinator waits for one.
    process.signal(crate::support::Signal::TERM);
    (ran, process.finish(LIMIT))
}

/// The configuration in the manual is sufficient, and each line of it is necessary: without it, the
/// program that lacks the right prints its name. Agents of another account are invisible.
#[test]
fn the_rights_in_the_manual_are_those_that_are_needed() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let (serve, folder) = (Serve::new(""), Folder::new());
    let plan = plan(&folder, &serve);
    let whole = manual();
    let server = Nats::configured(&nats, &whole, &PASSWORDS);
    let (ran, agent) = run(&server.url(), &plan, COORDINATOR, AGENT);
    assert_eq!(
        (ran.code, agent.code),
        (Some(0), Some(0)),
        "{ran:?} {agent:?}"
    );
    assert_eq!(serve.count("requests"), 20);

    let (ran, _) = run_apart(&server.url(), &plan, COORDINATOR, OTHER);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("only 0 of 1 agents joined"), "{ran:?}");
    let wrong = Way {
        flags: &[],
        variables: &[("NATS_USER", "agent"), ("NATS_PASSWORD", "guessed")],
    };
    let (_, agent) = run_apart(&server.url(), &plan, COORDINATOR, wrong);
    assert!(
        agent.stderr.contains("authorization violation"),
        "{agent:?}"
    );
    assert!(agent.stderr.contains("NATS_PASSWORD"), "{agent:?}");

    let lines: Vec<&str> = whole.lines().collect();
    let rights = lines.iter().enumerate();
    let rights: Vec<_> = rights
        .filter(|(_, line)| line.trim().starts_with('"'))
        .collect();
    // Each run waits for the time that an agent has to join.
    side_by_side(4, &rights, |(number, right)| {
        let mut left = lines.clone();
        left.remove(*number);
        let server = Nats::configured(&nats, &left.join("\n"), &PASSWORDS);
        let (ran, agent) = run_apart(&server.url(), &plan, COORDINATOR, AGENT);
        let said = format!("{} {} {}", ran.stdout, ran.stderr, agent.stderr);
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_named = words.contains("NATS forbids this user to") && words.contains(right.trim());
        assert!(is_named, "{right}: {words}");
        assert_eq!(ran.code, Some(1), "{right}: {words}");
    });
    assert_eq!(serve.count("requests"), 20, "no other load was sent");
}

/// TLS with a private authority on both sides. Without it, nothing is sent to the server.
#[test]
fn the_way_to_the_server_is_tls() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let Some(authority) = Authority::new() else {
        return;
    };
    let (serve, folder) = (Serve::new(""), Folder::new());
    let plan = plan(&folder, &serve);
    let server = authority.sign("nats", "DNS:localhost,IP:127.0.0.1", VALID);
    let client = authority.sign("client", "DNS:client", VALID);
    let ca = authority.certificate.as_str();
    let configuration = format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\", ca_file: \"{ca}\", verify: true }}",
        server.certificate, server.key
    );
    let server = Nats::configured(&nats, &configuration, &[]);
    let (cert, key) = (client.certificate.as_str(), client.key.as_str());
    let whole: &[&str] = &["--nats-cacert", ca, "--nats-cert", cert, "--nats-key", key];
    let (ran, agent) = run(&server.url(), &plan, open_way(whole), open_way(whole));
    assert_eq!(
        (ran.code, agent.code),
        (Some(0), Some(0)),
        "{ran:?} {agent:?}"
    );
    let half = ["--nats-cacert", ca];
    for (flags, reason) in [
        (
            &[][..],
            "authority of the server's certificate with --nats-cacert",
        ),
        (&half[..], "can't connect to NATS"),
    ] {
        let (ran, agent) = run_apart(&server.url(), &plan, open_way(flags), open_way(flags));
        assert_eq!(ran.code, Some(1), "{ran:?} {agent:?}");
        assert!(ran.stderr.contains(reason), "{reason}: {ran:?}");
    }
    // A server without TLS receives nothing from programs that require TLS.
    let open = Nats::new(&nats);
    let (ran, _) = run_apart(&open.url(), &plan, open_way(whole), open_way(whole));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("can't connect to NATS"), "{ran:?}");
}

/// Users that are identified by a key alone, and by a token that an account has signed.
#[test]
fn a_user_is_known_by_its_key() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let (serve, folder) = (Serve::new(""), Folder::new());
    let plan = plan(&folder, &serve);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/nats");
    let text = |name: &str| fs::read_to_string(fixtures.join(name)).unwrap();
    let (seed, creds) = (fixtures.join("user.nk"), fixtures.join("user.creds"));
    for (configuration, flag, file) in [
        (text("nkey.conf"), "--nkey", &seed),
        (text("jwt.conf"), "--creds", &creds),
    ] {
        let server = Nats::configured(&nats, &configuration, &[]);
        let flags: &[&str] = &[flag, file.to_str().unwrap()];
        let way = open_way(flags);
        let (ran, agent) = run(&server.url(), &plan, way, way);
        assert_eq!(
            (ran.code, agent.code),
            (Some(0), Some(0)),
            "{ran:?} {agent:?}"
        );
        let (ran, _) = run_apart(&server.url(), &plan, open_way(&[]), way);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("authorization violation"), "{ran:?}");
    }
}
