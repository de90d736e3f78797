//! The parts of a plan that agents receive: its files, its feeds, and the values of its setup.

use crate::support::nats::{Nats, with_nats};
use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Report, Run, Script, Serve, drumfire, lab};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A run of a plan on local agents.
fn local(nats: &Path, plan: &str, agents: &str, more: &[&str]) -> Run {
    let mut args = vec!["cluster", "run", plan, "--local", agents];
    args.extend(more);
    Process::start(&mut with_nats(nats, &args)).finish(LIMIT)
}

/// The words of a text, with one space between them.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Requests as they arrived: target and body.
type Arrived = Arc<Mutex<Vec<(String, String)>>>;

/// A server that records its requests.
fn server() -> (Script, Arrived) {
    let arrived = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&arrived);
    let script = Script::new(move |peer| {
        while let Some(request) = peer.whole_request() {
            let target = request.head.split(' ').nth(1).unwrap().to_owned();
            let body = String::from_utf8(request.body).unwrap();
            into.lock().unwrap().push((target, body));
            if !peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") {
                return;
            }
        }
    });
    (script, arrived)
}

/// Four agents together use each row of a feed once. A row for users is used by one user. Bodies
/// and scripts are sent along.
#[test]
fn feeds_are_exact_over_agents() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let (server, arrived) = server();
    let folder = Folder::new();
    let mut people = "id,name\n".to_owned();
    for id in 0..400 {
        writeln!(people, "{id},n{id}").unwrap();
    }
    folder.write("data/people.csv", people);
    folder.write("keys.txt", "k0\nk1\nk2\nk3\nk4\nk5\nk6\nk7\n");
    folder.write("data/body.txt", "the body\n");
    folder.write("more.js", "function twice(text) { return text + text; }");
    let url = server.url();
    let plan = format!(
        "drumfire: 1
defaults: {{ target: \"{}\", script: more.js }}
feeds:
  people: {{ csv: data/people.csv, order: once }}
  keys: {{ lines: keys.txt, order: unique }}

pools:
  once:
    rate: 400/s
    connections: 8
    requests: [ {{ get: \"/once/{{{{ people.id }}}}/{{{{ js('twice', people.name) }}}}\" }} ]
  unique:
    users: 8
    connections: 8
    think: 10ms
    requests: [ {{ post: \"/unique/{{{{ keys }}}}\", body: \"${{file:data/body.txt}}\" }} ]
    stop: {{ after: 2s }}
",
        url.trim_end_matches('/')
    );
    let plan = folder.write("plan.yaml", plan);
    let json = folder.at("out.json");
    let run = local(&nats, &plan, "4", &["--json", &json, "-q"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let arrived = arrived.lock().unwrap().clone();
    let mut once: Vec<String> = arrived
        .iter()
        .filter(|(target, _)| target.starts_with("/once/"))
        .map(|(target, _)| target.clone())
        .collect();
    once.sort_unstable();
    let mut rows: Vec<String> = (0..400)
        .map(|id| format!("/once/{id}/n{id}n{id}"))
        .collect();
    rows.sort_unstable();
    assert_eq!(once, rows);
    let unique: Vec<&(String, String)> = arrived
        .iter()
        .filter(|(target, _)| target.starts_with("/unique/"))
        .collect();
    assert!(unique.iter().all(|(_, body)| body == "the body"));
    let mut keys: Vec<&str> = unique.iter().map(|(target, _)| &target[8..]).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys, ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"]);
    Report::read(&json).balances();
}

/// Certificates are sent along, but private keys are not. Each agent has its own keys in its folder
/// of secrets, as it has the files of `${secret:file:…}`.
#[test]
fn secrets_stay_with_the_agents() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let folder = Folder::new();
    let (ca, client) = (folder.at("ca.pem"), folder.at("client"));
    let serve = Serve::new(&format!(
        "--tls --tls-ca {ca} --tls-client {client} --require-client-cert"
    ));
    folder.write("token.txt", "the-token-of-all\n");
    let plan = folder.write(
        "plan.yaml",
        format!(
            "drumfire: 1
pools:
  p:
    target: {}
    rate: 50/s
    connections: 4
    tls: {{ cacert: ca.pem, cert: client.crt, key: client.key }}
    headers: {{ Authorization: \"Bearer ${{secret:file:token.txt}}\" }}
    requests: [ {{ post: /echo, body_file: token.txt, expect: {{ body: \"contains the-token\" }} }} ]
stop: {{ requests: 40 }}
",
            serve.url.trim_end_matches('/')
        ),
    );
    let json = folder.at("out.json");
    let run = local(&nats, &plan, "2", &["-q", "--json", &json]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert_eq!(Report::read(&json).n("requests.ok"), 40);

    let server = Nats::new(&nats);
    let (url, own) = (server.url(), folder.at("own"));
    std::fs::create_dir(&own).unwrap();
    for (group, more, reason) in [
        ("none", &[][..], "this agent has no directory of secrets"),
        ("empty", &["--secrets", &own], "can't read token.txt"),
        (
            "small",
            &["--files-max", "100B"],
            "but this agent accepts 100 B; raise this with --files-max",
        ),
    ] {
        let mut args = vec!["agent", "--nats", &url, "--group", group];
        args.extend(more);
        let agent = Process::start(&mut drumfire(args));
        let args = [
            "cluster", "run", &plan, "--agents", "1", "--nats", &url, "--group", group,
        ];
        let run = Process::start(&mut drumfire(args)).finish(LIMIT);
        let agent = agent.finish(LIMIT);
        assert_eq!(
            (run.code, agent.code),
            (Some(1), Some(1)),
            "{run:?} {agent:?}"
        );
        let said = words(&run.stderr);
        assert!(said.contains(reason), "{group}: {said}");
    }
}

/// The setup runs once for all agents, and each agent gets the resulting values. The teardown runs
/// once too.
#[test]
fn a_setup_is_gone_through_once() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let (serve, folder) = (Serve::new("--shop"), Folder::new());
    let url = serve.url.trim_end_matches('/');
    let plan = folder.write(
        "plan.yaml",
        format!(
            "drumfire: 1
defaults:
  target: {url}
  headers: {{ Authorization: \"Bearer ${{secret:setup:token}}\", X-Who: \"${{setup:who}}\" }}
setup:
  - post: /shop/login
    json: {{ user: ada, password: ada-pw }}
    take: {{ token: json $.token, who: json $.user }}
pools:
  shop:
    users: 4
    connections: 4
    requests:
      - {{ post: /shop/cart, json: {{ product: 7 }}, expect: {{ status: 201 }} }}
      - {{ post: /echo, body: x, expect: {{ body: \"contains x-who: ada\" }} }}
teardown:
  - {{ delete: /shop/cart, name: empty, expect: {{ status: 204 }} }}
stop: {{ requests: 40 }}
"
        ),
    );
    let json = folder.at("out.json");
    let run = local(&nats, &plan, "4", &["--json", &json]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert_eq!(Report::read(&json).n("requests.ok"), 40);
    assert_eq!(
        serve.count("requests"),
        42,
        "one before the load, one behind"
    );
}

/// Several addresses of one machine are separate shares: each agent sends from its own address and
/// ignores the plan's. The report shows how precisely the agents started, and whether their system
/// clocks are synchronised.
#[test]
fn addresses_of_a_machine_are_shares() {
    let Some(nats) = lab::suite("nats-server") else {
        return;
    };
    let from = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&from);
    let server = Script::new(move |peer| {
        let address = peer.stream.get_ref().peer_addr().unwrap().ip();
        while peer.request().is_some() {
            into.lock().unwrap().push(address.to_string());
            if !peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") {
                return;
            }
        }
    });
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        format!(
            "drumfire: 1\npools:\n  p:\n    target: {}\n    source_ip: 127.0.0.9\n    rate: 100/s\n    \
             connections: 4\n    requests: [ {{ get: / }} ]\nstop: {{ requests: 100 }}\n",
            server.url()
        ),
    );
    let run = local(&nats, &plan, "127.0.0.2,127.0.0.3", &[]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let said = words(&run.stdout);
    assert!(said.contains("all started within"), "{said}");
    let system = if cfg!(target_os = "linux") {
        "the system clock is"
    } else {
        ""
    };
    assert!(said.contains(system), "{said}");
    let mut from = from.lock().unwrap().clone();
    assert_eq!(from.len(), 100);
    from.sort_unstable();
    from.dedup();
    assert_eq!(from, ["127.0.0.2", "127.0.0.3"]);
}
