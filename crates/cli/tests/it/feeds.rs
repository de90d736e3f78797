//! Feeds of plans: which rows arrive, in which order, and what is said of broken ones.

use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Report, Run, Script, drumfire};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

/// A server that keeps the targets of requests, in the order in which they arrive.
fn server() -> (Script, Arc<Mutex<Vec<String>>>) {
    Script::keeping(|request| request.head.split(' ').nth(1).unwrap().to_owned())
}

/// Files of feeds.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("people.csv", "name;age\nAda;36\n'Grace;H';85\n");
    folder.write("bare.csv", "a,1\nb,2\n");
    folder.write(
        "pets.json",
        "[{\"name\": \"Rex\", \"legs\": 4},\n {\"name\": \"Bee\", \"legs\": 6}]",
    );
    folder.write("codes.jsonl", "{\"code\": 7}\n\n{\"code\": 9}\n");
    folder.write("skus.txt", "k1\r\n\nk2\nk3\n");
    folder
}

fn run(plan: &str, url: &str, folder: &Folder) -> Run {
    let plan = plan.replace("{url}", url.trim_end_matches('/'));
    let (path, json) = (folder.write("plan.yaml", plan), folder.at("result.json"));
    let mut command = drumfire(["run", &path, "--json", &json, "--no-tui"]);
    Process::start(&mut command).finish(LIMIT)
}

/// The targets that arrive when a plan with these feeds and pools is run.
fn arrives(feeds: &str, pools: &str) -> (Vec<String>, Report) {
    let (server, arrived) = server();
    let folder = folder();
    let plan = format!(
        "drumfire: 1\ndefaults: {{ target: \"{{url}}\", connections: 1 }}\nfeeds:\n{feeds}\npools:\n{pools}\n\
         generator: {{ threads: 1, seed: 5 }}\n"
    );
    let run = run(&plan, &server.url(), &folder);
    assert!(matches!(run.code, Some(0 | 1)), "{plan}\n{run:?}");
    let report = Report::read(&folder.at("result.json"));
    report.balances();
    let arrived = arrived.lock().unwrap().clone();
    (arrived, report)
}

/// The same of one pool that sends a template.
fn rows(feed: &str, target: &str, count: u64) -> Vec<String> {
    let pool = format!(
        "  p: {{ users: 1, requests: [ {{ get: '{target}' }} ], stop: {{ requests: {count} }} }}"
    );
    arrives(&format!("  f: {feed}"), &pool).0
}

#[test]
fn every_kind_of_feed_gives_its_rows_in_order() {
    for (feed, target, expected) in [
        (
            "{ csv: people.csv, delimiter: ';', quote: \"'\" }",
            "/{{ f.name | urlencode }}/{{ f.age }}",
            &["/Ada/36", "/Grace%3BH/85", "/Ada/36"][..],
        ),
        (
            "{ csv: bare.csv, fields: [ x, y ] }",
            "/{{ f.x }}{{ f.y }}",
            &["/a1", "/b2", "/a1"],
        ),
        (
            "{ csv: bare.csv, fields: [ x, y ], header: true }",
            "/{{ f.x }}{{ f.y }}",
            &["/b2", "/b2"],
        ),
        (
            "{ json: pets.json }",
            "/{{ f.name }}/{{ f.legs * 2 }}",
            &["/Rex/8", "/Bee/12"],
        ),
        ("{ jsonl: codes.jsonl }", "/{{ f }}", &["/7", "/9", "/7"]),
        (
            "{ jsonl: codes.jsonl }",
            "/{{ f.code + 1 }}",
            &["/8", "/10"],
        ),
        (
            "{ lines: skus.txt }",
            "/{{ f }}/{{ f | upper }}",
            &["/k1/K1", "/k2/K2", "/k3/K3", "/k1/K1"],
        ),
        ("{ inline: [ a, b ] }", "/{{ f }}", &["/a", "/b", "/a"]),
        (
            "{ inline: [ { n: 1 }, { n: 2, m: x } ] }",
            "/{{ f.n }}",
            &["/1", "/2"],
        ),
        (
            "{ inline: [ [ 1, q ], [ 2, r ] ], fields: [ a, b ] }",
            "/{{ f.b }}{{ f.a }}",
            &["/q1", "/r2"],
        ),
        (
            "{ range: 8..10 }",
            "/{{ f }}/{{ f + 1 }}",
            &["/8/9", "/9/10", "/10/11", "/8/9"],
        ),
        ("{ range: 08..10 }", "/{{ f }}", &["/08", "/09", "/10"]),
        (
            "{ generated: { k: 'int 5..5', c: choice x }, rows: 2 }",
            "/{{ f.k }}{{ f.c }}",
            &["/5x", "/5x", "/5x"],
        ),
    ] {
        assert_eq!(
            rows(feed, target, expected.len() as u64),
            expected,
            "{feed}"
        );
    }
}

#[test]
fn generated_rows_depend_on_the_seed_and_the_row_alone() {
    let target = "/{{ f.name | urlencode }}/{{ f.email }}/{{ f.id }}";
    let feed =
        |more: &str| format!("{{ generated: {{ name: name, email: email, id: uuid }}{more} }}");
    let first = rows(&feed(""), target, 6);
    assert_eq!(first, rows(&feed(""), target, 6));
    assert_ne!(first, rows(&feed(", seed: 6"), target, 6));
    let mut apart = first.clone();
    apart.sort();
    apart.dedup();
    assert_eq!(apart.len(), 6, "{first:?}");
    let wrapped = rows(&feed(", rows: 3"), target, 6);
    assert_eq!((&wrapped[..3], &wrapped[3..]), (&first[..3], &first[..3]));
}

#[test]
fn rows_that_are_used_once_end_the_run_or_fail() {
    let pool = "  p: { users: 1, requests: [ { get: '/{{ f }}' } ] }";
    for end in ["order: once", "at_end: stop", "order: once, at_end: stop"] {
        let feed = format!("  f: {{ lines: skus.txt, {end} }}");
        let (arrived, report) = arrives(&feed, pool);
        assert_eq!(arrived, ["/k1", "/k2", "/k3"], "{end}");
        assert_eq!(report.n("requests.intended"), 3);
    }
    let pool = "  p: { users: 1, requests: [ { get: '/{{ f }}' } ], stop: { requests: 5 } }";
    for end in ["order: once, at_end: fail", "at_end: fail"] {
        let feed = format!("  f: {{ lines: skus.txt, {end} }}");
        let (arrived, report) = arrives(&feed, pool);
        assert_eq!(arrived, ["/k1", "/k2", "/k3"], "{end}");
        assert_eq!(
            (
                report.n("requests.intended"),
                report.kind("assert:bad_data")
            ),
            (5, 2),
            "{end}"
        );
    }
}

#[test]
fn a_feed_ends_the_pools_that_read_it_and_no_other() {
    let (arrived, _) = arrives(
        "  f: { lines: skus.txt, order: once }\n  g: { range: 1..9 }",
        "  a: { users: 1, requests: [ { get: '/a{{ f }}' } ] }\n  \
         b: { users: 1, requests: [ { get: '/b{{ g }}' } ], stop: { requests: 7 } }",
    );
    let of = |start: &str| {
        arrived
            .iter()
            .filter(|target| target.starts_with(start))
            .count()
    };
    assert_eq!((of("/a"), of("/b")), (3, 7), "{arrived:?}");
}

#[test]
fn pools_share_the_rows_of_a_feed_that_are_used_once() {
    let (mut arrived, _) = arrives(
        "  f: { range: 1..7, order: once }",
        "  a: { users: 2, requests: [ { get: '/{{ f }}' } ] }\n  \
         b: { users: 1, scenario: [ { get: '/{{ f }}' } ] }\n  \
         c: { users: 1, requests: [ { get: /c } ], stop: { requests: 1 } }",
    );
    arrived.sort();
    assert_eq!(arrived, ["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/c"]);
}

#[test]
fn every_user_keeps_a_row_of_its_own() {
    let (mut arrived, report) = arrives(
        "  f: { range: 1..5, order: unique }",
        "  a: { users: 3, requests: [ { get: '/a{{ user }}/{{ f }}' } ], stop: { requests: 12 } }\n  \
         b: { users: 2, scenario: [ { get: '/b{{ user }}/{{ f }}' } ], stop: { iterations: 8 } }",
    );
    assert_eq!(report.n("requests.ok"), 20);
    arrived.sort();
    arrived.dedup();
    assert_eq!(arrived, ["/a0/1", "/a1/2", "/a2/3", "/b0/4", "/b1/5"]);
    let pool = "  p: { users: 3, connections: 3, requests: [ { get: '/{{ user }}/{{ f }}' } ], stop: { requests: 9 } }";
    let (arrived, report) = arrives("  f: { range: 1..2, order: unique, at_end: fail }", pool);
    assert!(
        report.kind("assert:bad_data") > 0 && !arrived.is_empty(),
        "{arrived:?}"
    );
    assert!(
        arrived
            .iter()
            .all(|target| ["/0/1", "/1/2"].contains(&target.as_str())),
        "{arrived:?}"
    );
}

#[test]
fn a_feed_larger_than_memory_is_read_as_it_is_needed() {
    let mut text = "n,note,pad\r\n".to_owned();
    for n in 0..400_000 {
        let _ = write!(
            text,
            "{n},\"a \"\"{n}\"\"\n,b\",0123456789012345678901234567\r\n"
        );
    }
    assert!(text.len() > 20 << 20);
    let row = |target: &str| -> u64 {
        let n = target.strip_prefix('/').and_then(|n| n.split('/').next());
        let n = n.and_then(|n| n.parse().ok()).expect(target);
        assert_eq!(target, format!("/{n}/a%20%22{n}%22%0A%2Cb"));
        n
    };
    let (all_come, arrived) = (
        Arc::<AtomicUsize>::default(),
        Arc::<Mutex<Vec<String>>>::default(),
    );
    let (wanted, into) = (Arc::clone(&all_come), Arc::clone(&arrived));
    let server = Script::new(move |peer| {
        while let Some(head) = peer.request() {
            into.lock()
                .unwrap()
                .push(head.split(' ').nth(1).unwrap().to_owned());
            // So many users have a connection each.
            let users = wanted.load(Ordering::Relaxed);
            while into.lock().unwrap().len() < users && !peer.is_over() {
                sleep(Duration::from_millis(1));
            }
            if !peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") {
                return;
            }
        }
    });
    let folder = Folder::new();
    folder.write("large.csv", &text);
    let rows = |order: &str, pool: &str| -> Vec<u64> {
        let plan = format!(
            "drumfire: 1\ndefaults: {{ target: \"{{url}}\", connections: 2 }}\n\
             feeds: {{ f: {{ csv: large.csv, order: {order} }} }}\n\
             pools:\n  p:\n    {pool}\n    requests: [ {{ get: '/{{{{ f.n }}}}/{{{{ f.note | urlencode }}}}' }} ]\n\
             generator: {{ threads: 2, seed: 5 }}\n"
        );
        let run = run(&plan, &server.url(), &folder);
        assert_eq!(run.code, Some(0), "{run:?}");
        let arrived = std::mem::take(&mut *arrived.lock().unwrap());
        let mut rows: Vec<u64> = arrived.iter().map(|target| row(target)).collect();
        rows.sort_unstable();
        rows
    };
    let few = "rate: 1000/s\n    stop: { requests: 300 }";
    let first: Vec<u64> = (0..300).collect();
    assert_eq!(rows("in_order", few), first);
    assert_eq!(rows("once", few), first);
    let drawn = rows("random", few);
    assert_eq!(drawn, rows("random", few), "the seed says which");
    assert!(drawn[0] < 20_000 && drawn[299] > 380_000, "{drawn:?}");
    // Whichever of them comes last has a request left.
    all_come.store(5, Ordering::Relaxed);
    let mut kept = rows(
        "unique",
        "users: 5\n    connections: 5\n    stop: { requests: 100 }",
    );
    kept.dedup();
    assert_eq!(kept, [0, 1, 2, 3, 4]);
}

/// What is said of a plan with a feed, without the place within the plan.
fn refused(feed: &str, target: &str, more: &str) -> String {
    let folder = folder();
    folder.write("bad.csv", "a,b\n1,2\n3\n");
    folder.write("open.csv", "a\n1\n\"2\n");
    folder.write("latin.csv", b"a\nm\xfcde\n".as_slice());
    folder.write("bad.jsonl", "{\"a\": 1}\n{\"a\": }\n");
    folder.write("bad.json", "[{\"a\": 1},\n{\"a\": 2}\n{}]");
    folder.write("mixed.json", "[{\"a\": 1},\n2]");
    folder.write("empty.txt", "\n\n");
    let plan = format!(
        "drumfire: 1\ndefaults: {{ target: \"http://127.0.0.1:9\" }}\nfeeds:\n  f: {feed}\npools:\n  \
         p: {{ requests: [ {{ get: '{target}' }} ]{more} }}\nstop: {{ requests: 2 }}\n"
    );
    let run = run(&plan, "", &folder);
    assert_eq!(run.code, Some(2), "{plan}\n{run:?}");
    let text = run.stderr.replace(&folder.at("plan.yaml"), "plan.yaml");
    assert!(!text.contains("templates have no variable"), "{text}");
    text.lines().next().unwrap_or_default().to_owned()
}

/// Feeds, and what is said of them in their line of the plan.
const BROKEN: &[(&str, &str)] = &[
    (
        "{ csv: none.csv }",
        "csv: can't read none.csv: No such file or directory (os error 2)",
    ),
    (
        "{ csv: bad.csv }",
        "csv: bad.csv:3: the row has 1 value, but there are 2 columns",
    ),
    (
        "{ csv: open.csv }",
        "csv: open.csv:3: a quote of the row that begins here is not closed",
    ),
    (
        "{ csv: latin.csv }",
        "csv: latin.csv:2: the text is not UTF-8",
    ),
    (
        "{ jsonl: bad.jsonl }",
        "jsonl: bad.jsonl:2: invalid JSON: expected value at column 7",
    ),
    (
        "{ json: bad.json }",
        "json: bad.json:3: a comma or the end of the array is missing",
    ),
    (
        "{ json: mixed.json }",
        "json: mixed.json:2: a row must be an object here, not a number",
    ),
    (
        "{ lines: empty.txt }",
        "lines: empty.txt: the feed has no rows",
    ),
    (
        "{ csv: bare.csv, header: false }",
        "header: CSV without a line of names needs `fields`, the names of its columns",
    ),
    (
        "{ csv: bare.csv, delimiter: ;; }",
        "delimiter: `;;` is not a single character such as `;`",
    ),
    (
        "{ lines: skus.txt, delimiter: ';' }",
        "delimiter: `delimiter` is only for feeds of `csv`",
    ),
    (
        "{ range: 1..3, rows: 7 }",
        "rows: `rows` is only for feeds of `generated`",
    ),
    (
        "{ range: 1-3 }",
        "range: `1-3` is not a range; write one such as 1..1000 or 0..100 by 5",
    ),
    (
        "{ generated: { a: nam } }",
        "a: unknown kind of generated value `nam`; did you mean `name`?",
    ),
    (
        "{ generated: [] }",
        "generated rows need a column, such as `generated: { who: name }`",
    ),
    (
        "{ inline: [ { a: 1 }, 2 ] }",
        "inline: row 2: a row must be an object here, not a number",
    ),
    ("{ inline: [] }", "inline: the feed has no rows"),
    (
        "{ range: 1..3, order: sideways }",
        "order: unknown order `sideways`; use `in_order`, `random`, `unique` or `once`",
    ),
    (
        "{ range: 1..3, at_end: explode }",
        "at_end: unknown action `explode`; use `wrap`, `stop` or `fail`",
    ),
    (
        "{ range: 1..3, order: once, at_end: wrap }",
        "at_end: rows that are used once can't begin again; write `order: in_order`",
    ),
    (
        "{ range: 1..3, order: unique, at_end: stop }",
        "at_end: each user keeps its row, and a user without a row fails; write `at_end: fail`, or \
         leave it out",
    ),
    (
        "{ range: 1..3, order: random, at_end: stop }",
        "at_end: a feed in random order has no end; leave out `at_end`",
    ),
    (
        "{}",
        "a feed needs exactly one of `csv`, `json`, `jsonl`, `lines`, `inline`, `range` and \
         `generated`",
    ),
    (
        "{ range: 1..3, csv: x }",
        "a feed needs exactly one of `csv`, `json`, `jsonl`, `lines`, `inline`, `range` and \
         `generated`",
    ),
];

#[test]
fn broken_feeds_are_refused_with_file_and_line() {
    for (feed, message) in BROKEN {
        let said = refused(feed, "/{{ f }}", "");
        let (place, words) = said.split_once(": ").unwrap().1.split_once(": ").unwrap();
        assert!(place.starts_with("plan.yaml:4:"), "{said}");
        assert_eq!(words, *message, "{feed}");
    }
}

#[test]
fn templates_that_read_feeds_wrongly_are_refused() {
    let people = "{ csv: bare.csv, fields: [ x, y ] }";
    for (feed, target, more, message) in [
        (
            people,
            "/{{ f }}",
            "",
            "the feed `f` has several columns; write f.x or f.y",
        ),
        (people, "/{{ f.z }}", "", "the feed `f` has no column `z`"),
        (
            "{ range: 1..3 }",
            "/{{ f ~ f.value }}",
            "",
            "use either `f` or `f.value`, not both",
        ),
        (
            "{ range: 1..3, order: unique }",
            "/{{ f }}",
            ", users: 4",
            "4 users keep a row each, and the feed has only 3; add rows, or write `at_end: fail`",
        ),
        (
            "{ range: 1..3, order: unique }",
            "/{{ f }}",
            ", rate: 5/s",
            "add `users: 3` next to the rate, or `at_end: fail` here",
        ),
    ] {
        let said = refused(feed, target, more);
        assert!(said.contains(message), "{said}");
    }
}

/// A feed that is used once ends the pool, whichever step of a scenario reads it.
#[test]
fn rows_that_only_a_step_between_requests_reads_end_the_pool() {
    for (steps, sent) in [
        ("{ set: { x: '{{ f }}' } }, { get: /a }", 3),
        (
            "{ if: f > 1, do: [ { get: /a } ], else: [ { get: /b } ] }",
            3,
        ),
        ("{ repeat: '{{ f }}', do: [ { get: /a } ] }", 6),
        ("{ repeat: 9, do: [ { get: /a } ], until: f == f }", 3),
    ] {
        let pool = format!("  p: {{ users: 2, connections: 2, scenario: [ {steps} ] }}");
        let feed = "  f: { range: 1..3, order: once }";
        let (arrived, report) = arrives(feed, &pool);
        assert_eq!(
            (arrived.len(), report.n("requests.failed")),
            (sent, 0),
            "{steps}"
        );
    }
}
