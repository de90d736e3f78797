//! Secrets that a server repeats. They are recognised by their values, and masked in every output
//! and in the stored run, wherever they were sent and in every encoding.

use crate::support::program::LIMIT;
use crate::support::script::field;
use crate::support::{Folder, Process, Script, drumfire, wait_until};
use std::fs;

const SECRET: &str = "aGVsbG8/d29y+bGQ=MTIzNDU2";

/// A server that refuses requests, and returns the request as PHP writes it into JSON.
fn echoing() -> Script {
    Script::new(|peer| {
        while let Some(request) = peer.whole_request() {
            let all = request.head + &String::from_utf8_lossy(&request.body);
            let mut got = String::new();
            for c in all.chars() {
                match c {
                    '/' => got.push_str("\\/"),
                    '\r' | '\n' => got.push(' '),
                    '"' | '\\' => got.extend(['\\', c]),
                    c if !c.is_ascii() => got.push_str(&format!("\\u{:04x}", u32::from(c))),
                    c => got.push(c),
                }
            }
            let body = format!("{{\"seen\":\"{got}\"}}");
            peer.send(format!(
                "HTTP/1.1 401 No\r\nX-Seen: {}\r\nContent-Length: {}\r\n\r\n{body}",
                field(&all, "cookie").unwrap_or_default(),
                body.len()
            ));
        }
    })
}

/// Runs a line with all outputs that show a response, and searches them for any form of the
/// secrets.
#[track_caller]
fn check(args: &[&str], secrets: &[&str], environment: &[(&str, &str)]) {
    let folder = Folder::new();
    let (dir, json) = (folder.at("run"), folder.at("result.json"));
    for more in [
        &["--explain", "-o", &dir, "--json", &json][..],
        &["--show", "--json", &json],
    ] {
        let mut command = drumfire(args);
        command.args(more).envs(environment.iter().copied());
        let run = Process::start(&mut command).finish(LIMIT);
        let mut all = run.stdout + &run.stderr;
        assert!(all.contains("401"), "{args:?}: {all}");
        all.push_str(&fs::read_to_string(&json).unwrap());
        for name in [
            "info.json",
            "summary.json",
            "plan.yaml",
            "events.jsonl",
            "intervals.log",
        ] {
            let stored = fs::read(folder.path().join("run").join(name)).unwrap_or_default();
            all.push_str(&String::from_utf8_lossy(&stored));
        }
        let plain = all.replace('\\', "");
        for secret in secrets {
            assert!(!all.contains(secret), "{args:?} shows {secret}: {all}");
            assert!(
                !plain.contains(secret),
                "{args:?} shows {secret} escaped: {all}"
            );
        }
    }
}

#[test]
fn what_a_server_repeats_is_masked_wherever_it_was_sent() {
    let server = echoing();
    let url = server.url();
    let at = |path: &str| format!("{url}{path}");
    let secrets = [SECRET, "d29y+bGQ", "MTIzNDU2"];
    for header in [
        format!("Cookie: sid={SECRET}; theme=dark"),
        format!("Authorization: Bearer {SECRET}"),
        format!("X-Api-Key: {SECRET}"),
    ] {
        check(&["http", "-n", "1", &url, "-H", &header], &secrets, &[]);
    }
    check(
        &["http", "-n", "1", &at(&format!("x?token={SECRET}&page=2"))],
        &secrets,
        &[],
    );
    check(
        &["http", "-n", "1", &at("x?token=CANA/RYS?ECRET/1234")],
        &["RYS?ECRET", "CANA/RYS"],
        &[],
    );
    let user = url.replace("//", "//me:hunter2hunter2@");
    check(&["http", "-n", "1", &user], &["hunter2hunter2"], &[]);
    let body = format!("{{\"password\": \"{SECRET}\"}}");
    check(&["http", "-n", "1", &url, "-d", &body], &secrets, &[]);
}

/// Spellings of JSON within JSON.
#[test]
fn what_a_plan_marks_is_masked_however_it_is_escaped() {
    let server = echoing();
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        format!(
            "drumfire: 1\npools:\n  a:\n    target: \"{}\"\n    requests:\n      - {{ post: /, body: \
             \"${{secret:env:SEC}}\" }}\nstop: {{ requests: 1 }}\n",
            server.url()
        ),
    );
    for secret in ["pw/with/slash+42", "Grüße-aus-Köln", "a\"quote\\and/more"] {
        check(
            &["run", &plan],
            &[secret, "with/slash", "-aus-K"],
            &[("SEC", secret)],
        );
    }
}

/// A header that the plan marks as secret stays at its origin, under any name.
#[test]
fn a_marked_header_stays_at_its_origin() {
    let other = Script::new(|peer| {
        while peer.request().is_some() {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let there = other.url().replace("127.0.0.1", "localhost");
    let first = Script::new(move |peer| {
        while peer.request().is_some() {
            peer.send(format!(
                "HTTP/1.1 302 Found\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n"
            ));
        }
    });
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        format!(
            "drumfire: 1\npools:\n  a:\n    target: \"{}\"\n    redirects: 3\n    requests:\n      - \
             {{ get: /, headers: {{ X-Tenant: \"t-${{secret:env:SEC}}\", X-Plain: \"{{{{ uuid }}}}\" \
             }} }}\nstop: {{ requests: 2 }}\n",
            first.url()
        ),
    );
    let mut command = drumfire(["run", &plan]);
    command.env("SEC", "hunter2hunter2");
    let run = Process::start(&mut command).finish(LIMIT);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let heads = other.heads();
    assert_eq!(heads.len(), 2);
    for head in heads {
        assert_eq!(field(&head, "x-tenant"), None, "{head}");
        assert!(field(&head, "x-plain").is_some(), "{head}");
    }
    assert!(
        first
            .heads()
            .iter()
            .all(|head| field(head, "x-tenant").is_some())
    );
}

/// A secret that the setup produces is known only after the setup, and is masked from then on: in
/// rows of requests, whose step is a URL, in the view of other processes, and wherever a server
/// repeats it.
#[test]
fn what_a_setup_takes_as_a_secret_is_masked() {
    const TOKEN: &str = "tok-5f3e9d2c";
    let server = Script::new(|peer| {
        while let Some(request) = peer.whole_request() {
            let body = format!("{{\"token\":\"{TOKEN}\",\"seen\":{:?}}}", request.head);
            let length = body.len();
            peer.send(format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"
            ));
        }
    });
    let folder = Folder::new();
    let url = server.url();
    let url = url.trim_end_matches('/');
    let plan = format!(
        "drumfire: 1
defaults: {{ target: \"{url}\", headers: {{ X-Me: \"${{secret:setup:token}}\" }} }}
setup:
  - {{ get: /login, take: {{ token: json $.token }} }}
pools:
  main:
    rate: 20/s
    requests: [ {{ get: \"/of/${{secret:setup:token}}\", expect: {{ body: contains nothing }} }} ]
stop: {{ after: 1500ms }}
"
    );
    let plan = folder.write("plan.yaml", plan);
    let [dir, json, rows, page] =
        ["run", "out.json", "rows.csv", "page.html"].map(|n| folder.at(n));
    let mut command = drumfire(["run", &plan, "--explain", "-o", &dir, "--json", &json]);
    command.args(["--rows", &rows, "--html", &page]);
    command.env("XDG_RUNTIME_DIR", folder.path());
    let run = Process::start(&mut command);
    wait_until("the run can be commanded", || {
        let mut list = drumfire(["ctl"]);
        let listed = Process::start(list.env("XDG_RUNTIME_DIR", folder.path())).finish(LIMIT);
        assert!(!listed.stdout.contains(TOKEN), "{listed:?}");
        listed.stdout.contains("/of/***")
    });
    let run = run.finish(LIMIT);
    let mut all = run.stdout + &run.stderr;
    assert!(all.contains("/of/***"), "{all}");
    let stored = [
        "info.json",
        "summary.json",
        "plan.yaml",
        "events.jsonl",
        "intervals.log",
    ];
    let stored = stored.map(|name| folder.path().join("run").join(name));
    for file in stored
        .iter()
        .chain([json, rows, page].map(Into::into).iter())
    {
        let bytes = fs::read(file).unwrap_or_default();
        all.push_str(&String::from_utf8_lossy(&bytes));
    }
    let shown = all.find(TOKEN).map(|at| &all[at.saturating_sub(80)..at]);
    assert_eq!(shown, None);
}
