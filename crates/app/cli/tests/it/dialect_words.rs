//! The messages with which dialects refuse command lines. They contain only names that the tool has
//! as well, because their readers know the tool and its flags.
//!
//! The lines come from the tables in `conformance/dialects/*-beside`, and from Pandora
//! configurations with one mistake each.

use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, drumfire, lab, side_by_side};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The number of lines that run in parallel.
const SIDE_BY_SIDE: usize = 4;

/// Functions and filters of drumfire's templates that no tool's templates have.
const FUNCTIONS: [&str; 10] = [
    "| go(",
    "urlencode",
    "new_uuid",
    "random_int",
    "random_string",
    "fromjson",
    "gojson",
    "from_json",
    "url_encode",
    "iteration_number",
];

/// Keys of plans that the tools have, too.
const SHARED_KEYS: [&str; 34] = [
    "ammo",
    "authority",
    "body",
    "call",
    "cert",
    "count",
    "data",
    "delimiter",
    "duration",
    "file",
    "form",
    "format",
    "get",
    "head",
    "header",
    "headers",
    "http",
    "json",
    "key",
    "limit",
    "list",
    "metadata",
    "method",
    "name",
    "passes",
    "pools",
    "post",
    "preload",
    "requests",
    "scenarios",
    "status",
    "target",
    "text",
    "time",
];

fn folder(dialect: &str) -> PathBuf {
    lab::repository().join(format!("conformance/dialects/{dialect}-beside"))
}

fn table(dialect: &str) -> String {
    std::fs::read_to_string(folder(dialect).join("cases.txt")).expect("a table")
}

/// The flags in a text, such as `--plaintext`.
fn flags(text: &str) -> BTreeSet<String> {
    let is_of_flag = |c: char| c.is_ascii_lowercase() || c == '-';
    let named = text.split(|c: char| !is_of_flag(c));
    let named = named.filter(|word| word.starts_with("--") && word.len() > 3);
    named.map(str::to_owned).collect()
}

fn help(args: &[&str]) -> BTreeSet<String> {
    let run = Process::start(&mut drumfire(args)).finish(LIMIT);
    flags(&format!("{}{}", run.stdout, run.stderr))
}

/// Names that only drumfire has.
struct Ours {
    flags: BTreeSet<String>,
    keys: BTreeSet<String>,
}

impl Ours {
    fn read() -> Self {
        let theirs = help(&["ghz", "--help"]);
        let own = ["--print-plan", "--seed-format", "--help", "--version"];
        let flags = help(&["http", "--help"]).into_iter();
        let flags = flags.chain(help(&["grpc", "--help"]));
        let flags = flags.filter(|flag| !theirs.contains(flag) && !own.contains(&flag.as_str()));
        let schema = lab::repository().join("docs/schema/drumfire.plan.v1.json");
        let schema = std::fs::read_to_string(schema).expect("the schema");
        let mut keys = BTreeSet::new();
        keys_of(&serde_json::from_str(&schema).expect("JSON"), &mut keys);
        keys.retain(|key| !SHARED_KEYS.contains(&key.as_str()));
        Self {
            flags: flags.collect(),
            keys,
        }
    }

    /// The first such name in a text. Names that the command line itself contains do not count,
    /// because messages repeat them.
    fn named_in(&self, text: &str, line: &str) -> Option<String> {
        let mut flags = flags(text).into_iter();
        let flag = flags.find(|flag| self.flags.contains(flag) && !line.contains(flag.as_str()));
        let mut functions = FUNCTIONS.iter();
        let function = functions.find(|name| text.contains(*name) && !line.contains(*name));
        let mut commands = ["drumfire http", "drumfire grpc", "drumfire run"].into_iter();
        let command = commands.find(|command| text.contains(command));
        let mut quoted = text.split('`').skip(1).step_by(2);
        let key = quoted.find(|word| self.keys.contains(*word) && !line.contains(*word));
        flag.or_else(|| function.map(|name| (*name).to_owned()))
            .or_else(|| command.map(str::to_owned))
            .or_else(|| key.map(str::to_owned))
    }
}

fn keys_of(schema: &serde_json::Value, keys: &mut BTreeSet<String>) {
    match schema {
        serde_json::Value::Object(members) => {
            if let Some(serde_json::Value::Object(properties)) = members.get("properties") {
                keys.extend(properties.keys().cloned());
            }
            members.values().for_each(|member| keys_of(member, keys));
        }
        serde_json::Value::Array(parts) => parts.iter().for_each(|part| keys_of(part, keys)),
        _ => {}
    }
}

/// Runs the lines, none of which reaches a server, and checks their messages.
fn check(dialect: &str, lines: &[String], files: &Folder) {
    let ours = Ours::read();
    let found = side_by_side(SIDE_BY_SIDE, lines, |line| {
        let mut command = drumfire([dialect]);
        command.args(words(line)).current_dir(files.path());
        let run = Process::start(&mut command).finish(LIMIT);
        let named = ours.named_in(&run.stderr, line)?;
        Some(format!("{line}\n  `{named}` in: {}", run.stderr.trim()))
    });
    let wrong: Vec<String> = found.into_iter().flatten().collect();
    assert!(!lines.is_empty());
    assert!(
        wrong.is_empty(),
        "{} lines:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The files of a dialect's table.
fn files(dialect: &str) -> Folder {
    let files = Folder::new();
    let given = folder(dialect).join("files");
    for entry in std::fs::read_dir(given).into_iter().flatten().flatten() {
        if entry.path().is_file() {
            drop(std::fs::copy(
                entry.path(),
                files.path().join(entry.file_name()),
            ));
        }
    }
    files
}

#[test]
fn refusals_of_ghz_name_nothing_of_ours() {
    let files = files("ghz");
    let text = table("ghz");
    let lines = text.lines().filter_map(|row| {
        let (mark, line) = row.split_once(' ')?;
        let is_line = mark == "~" || mark == "=" || mark.starts_with('!');
        // No server is running, so the test does not wait for one.
        let line = line.replace("DIR/", "").replace("HOST", "127.0.0.1:9");
        let runs = mark == "=" && !line.contains("--config");
        (is_line && !runs).then(|| format!("-z 1ms {line}"))
    });
    check("ghz", &lines.collect::<Vec<_>>(), &files);
}

#[test]
fn refusals_of_go_wrk_and_slow_cooker_name_nothing_of_ours() {
    for (dialect, exits) in [
        ("go-wrk", &["exit 2", "exit 1"][..]),
        ("slow_cooker", &["exit 64", "exit 2", "exit 1"][..]),
    ] {
        let text = table(dialect);
        let cases = text.split("\n== ").skip(1);
        let refused = cases.filter(|case| {
            let ours = case.split_once("-- ours: ").map_or(*case, |(_, ours)| ours);
            ours.lines().any(|line| exits.contains(&line))
        });
        let lines = refused.filter_map(|case| {
            let (_, line) = case.lines().next()?.split_once(" | ")?;
            let line = line.replace("URL", "http://127.0.0.1:9/");
            Some(line.replace("HOST", "127.0.0.1:9").replace("PORT", "9"))
        });
        check(dialect, &lines.collect::<Vec<_>>(), &files(dialect));
    }
}

/// Keys of a pool with one mistake each, which replace the usual keys.
const MISTAKES: &str = "\
gun: {type: http, target: nowhere}
gun: {type: htpt, target: '127.0.0.1:9'}
gun: {type: http, target: '127.0.0.1:9', sll: true}
gun: {type: http, target: '127.0.0.1:9', ssl: 'yes'}
gun: {type: grpc, target: '127.0.0.1:9'}
gun: {type: connect, target: 'a b:9'}
gun: {type: http, target: '127.0.0.1:9', auto-tag: {enabled: true, uri-elements: 0}}
gun: {type: http, target: '127.0.0.1:9', answlog: {enabled: true, filter: some}}
ammo: {type: uri, uris: ['no slash']}
ammo: {type: uri, uris: ['[Host: bad host]', '/a']}
ammo: {type: uri, uris: ['[X Y: 1]', '/a']}
ammo: {type: uri, file: none.uri}
ammo: {type: uri}
ammo: {type: uri, uris: ['/a'], chosencases: [b]}
ammo: {type: uri, uris: ['/a'], headers: ['[no colon]']}
ammo: {type: uri, uris: ['/a'], middlewares: [{type: header/date, location: Nowhere/At}]}
ammo: {type: raw, file: broken.raw}
ammo: {type: http/json, file: broken.json}
ammo: {type: uripost, file: broken.post}
ammo: {type: http/scenario, file: broken.yaml}
ammo: {type: urj, uris: ['/a']}
result: {type: fout}
result: {type: phout}
rps: {type: const, ops: -1, duration: 1s}
rps: {type: const, ops: 1, duration: 1}
rps: {type: unlimited}
rps: {type: line, from: 1, to: 2}
rps: {type: onc, times: 1}
startup: {type: unlimited, duration: 1s}
startup: {type: once, times: 9999999}
startup: []
id: 5
more: 1
rps-per-instance: 1
discard_overflow: 'no'
";

/// Scenarios with one mistake each.
const SCENARIOS: &str = "\
{requests: [{name: r, uri: '/{{.request.r.postprocessor.x}}'}], scenarios: [{name: s, requests: [q]}]}
{requests: [{name: r, uri: '/{{'}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/{{.source.v.x}}'}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/{{nothing 1}}'}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/a', preprocessor: {mapping: {x: 'nothing(1)'}}}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/a', preprocessor: {mapping: {x: 'source.u[next].id'}}}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/a', postprocessors: [{type: var/jsonpath, mapping: {x: '$['}}]}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/a', postprocessors: [{type: var/xpath, mapping: {x: '//['}}]}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/a', postprocessors: [{type: var/header, mapping: {x: 'X|nothing'}}]}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/a', postprocessors: [{type: assert/response, status_code: 9999}]}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/a', postprocessors: [{type: assert/response, size: {val: 1, op: '~'}}]}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/a b'}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: 'http://h h/a'}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, method: 'A B', uri: '/a'}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/a', headers: {'X Y': b}}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/a', headers: {X: \"a\\nb\"}}], scenarios: [{name: s, requests: [r]}]}
{requests: [{name: r, uri: '/a'}], scenarios: [{name: s, requests: ['r(x)']}]}
{requests: [{name: r, uri: '/a'}], scenarios: [{name: s, requests: [r], min_waiting_time: -1}]}
{requests: [{name: r, uri: '/a'}], scenarios: []}
{requests: [{name: r, uri: '/a'}], scenarios: [{name: s, requests: []}]}
{variable_sources: [{name: u, type: file/csv, file: none.csv}], requests: [{name: r, uri: '/a'}], scenarios: [{name: s, requests: [r]}]}
{variable_sources: [{name: u, type: file/json, file: none.json}], requests: [{name: r, uri: '/a'}], scenarios: [{name: s, requests: [r]}]}
{variable_sources: [{name: v, type: variables, variables: {x: 'randInt(y)'}}], requests: [{name: r, uri: '/a'}], scenarios: [{name: s, requests: [r]}]}
";

#[test]
fn refusals_of_pandora_name_nothing_of_ours() {
    let files = Folder::new();
    files.write("broken.raw", "5\nhello\n");
    files.write("broken.json", "{\"uri\": 5}");
    files.write("broken.post", "x /a\n");
    files.write("broken.yaml", "{requests: [{nam: r}]}");
    let usual = [
        ("gun", "{type: http, target: '127.0.0.1:9'}"),
        ("ammo", "{type: uri, uris: ['/a']}"),
        ("result", "{type: phout, destination: phout.log}"),
        ("rps", "{type: once, times: 1}"),
        ("startup", "{type: once, times: 1}"),
    ];
    let mut lines = Vec::new();
    let mut add = |given: &str| {
        let (wrong, _) = given.split_once(':').expect(given);
        let mut text = "pools:\n  - ".to_owned() + given + "\n";
        for (key, value) in usual.iter().filter(|(key, _)| *key != wrong) {
            text.push_str(&format!("    {key}: {value}\n"));
        }
        let name = format!("{}.yaml", lines.len());
        files.write(
            &name,
            text.replace(
                "gun: {type: http, ",
                match given.contains("scenario") {
                    true => "gun: {type: http/scenario, ",
                    false => "gun: {type: http, ",
                },
            ),
        );
        lines.push(name);
    };
    MISTAKES.lines().for_each(&mut add);
    for (n, scenario) in SCENARIOS.lines().enumerate() {
        files.write(&format!("s{n}.yaml"), scenario);
        add(&format!("ammo: {{type: http/scenario, file: s{n}.yaml}}"));
    }
    check("pandora", &lines, &files);
}

#[test]
fn what_is_ours_alone_is_found() {
    let ours = Ours::read();
    assert!(ours.flags.contains("--plaintext") && ours.keys.contains("rate_per"));
    for (text, named) in [
        ("write --plaintext", "--plaintext"),
        ("write `| urlencode` behind it", "urlencode"),
        ("write `users` without a rate", "users"),
        ("see drumfire http", "drumfire http"),
        ("in `{{ x | go({}) }}`", "| go("),
    ] {
        assert_eq!(ours.named_in(text, "").as_deref(), Some(named));
    }
    assert_eq!(ours.named_in("the flag --plaintext", "--plaintext"), None);
    assert_eq!(ours.named_in("write --insecure or `name`", ""), None);
}
