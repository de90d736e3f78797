//! The pages are true: every command line in them runs, and every flag is explained.
//!
//! A command line is a line in a `sh` or `console` block, or in an indented block, that begins with
//! `drumfire `. It runs in a shell unchanged, except for what depends on the machine: its
//! addresses, which are replaced with addresses of this test's servers, its length, and its time
//! limits. By default it must succeed; `# exit N` at its end sets another exit code, and a line
//! with `# not run` is excluded.

use crate::examples;
pub(crate) use crate::support::program::LIMIT;
use crate::support::program::{PATH, neutral};
use crate::support::{Folder, Process, Report, Run, Serve, Signal, drumfire};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The end of a page's load in this test: enough requests for every feature, or the time in which a
/// slow rate sends some.
const SHORT: &str = "-z 3s -n 100";
/// The length of a load with thresholds: a 99th percentile needs 368 samples, also within a window.
const JUDGED: &str = "-z 6s";
/// The length of a threshold's window within that.
const WINDOW: &str = "3s";
/// Limits of thresholds that every machine keeps.
const SLOW: &str = "60s";
const RARE: &str = "1/s";
/// The number of lines that run in parallel; most of them wait.
const SIDE_BY_SIDE: usize = 8;

/// The definition of the greeter service.
const GREETER: &str = include_str!("../../../../testing/target/proto/helloworld/greeter.proto");

/// A trace of requests to a language model.
const MOONCAKE: &str = "\
{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 8, \"hash_ids\": [1, 2]}
{\"timestamp\": 1500, \"input_length\": 700, \"output_length\": 4, \"hash_ids\": [1, 3]}
{\"timestamp\": 2500, \"input_length\": 20, \"output_length\": 4, \"hash_ids\": [4]}
";
/// Requests to a language model with their texts.
const QUESTIONS: &str = "\
{\"prompt\": \"Name three rivers.\", \"max_tokens\": 12}
{\"prompt\": \"And a lake?\"}
";

/// Sessions with a language model.
const CHATS: &str = "\
{\"id\": \"s1\", \"turns\": [{\"user\": \"List two rivers.\", \"assistant\": \"Oder, Loire.\", \"max_tokens\": 9}, {\"user\": \"And a lake?\", \"delay\": 0.1}]}
";

/// One command line and its place.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) place: String,
    pub(crate) text: String,
}

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The Markdown pages in a folder of the repository, with their names.
fn pages(folder: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
    names.sort();
    names
        .into_iter()
        .map(|name| page(&format!("{folder}/{name}")))
        .collect()
}

pub(crate) fn page(path: &str) -> (String, String) {
    (
        path.to_owned(),
        fs::read_to_string(root().join(path)).unwrap(),
    )
}

/// The command lines of a page.
fn commands(path: &str, page: &str) -> Vec<Line> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in page.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = fence.is_none().then_some(language);
            continue;
        }
        let is_code = match fence {
            Some(language) => language == "sh" || language == "console",
            None => line.starts_with("    "),
        };
        let text = line.trim();
        let text = text.strip_prefix("$ ").unwrap_or(text);
        if is_code && text.starts_with("drumfire ") {
            found.push(Line {
                place: format!("{path}:{}", index + 1),
                text: text.to_owned(),
            });
        }
    }
    found
}

/// The expected exit code of a line; `None` if the line is excluded.
pub(crate) fn announced(text: &str) -> Option<i32> {
    if text.contains("# not run") {
        return None;
    }
    let code = text.split_once("# exit ").map(|(_, code)| code.trim());
    Some(code.map_or(0, |code| code.parse().unwrap()))
}

/// Replaces the word after a flag; a line without the flag stays as it is.
fn with_value(text: &str, flag: &str, value: &str) -> String {
    let flag = format!(" {flag} ");
    let Some((before, after)) = text.split_once(&flag) else {
        return text.to_owned();
    };
    let rest = after.split_once(' ').map_or("", |(_, rest)| rest);
    format!("{before}{flag}{value} {rest}")
}

/// Inserts flags after the subcommand.
fn with_flags(text: &str, flags: &str) -> String {
    let mut words = text.splitn(3, ' ');
    let (program, subcommand) = (words.next().unwrap(), words.next().unwrap());
    let rest = words.next().unwrap_or_default();
    format!("{program} {subcommand} {flags} {rest}")
}

/// Whether a line limits the number of its requests itself.
fn is_counted(text: &str) -> bool {
    let counts = [
        " -n ",
        " --iterations ",
        " --order once",
        " --list",
        " --describe ",
    ];
    counts.iter().any(|flag| text.contains(flag))
}

/// Commands without load flags, or whose load comes from the plan.
const UNBOUNDED: [&str; 8] = [
    "drumfire check ",
    "drumfire import ",
    "drumfire new",
    "drumfire pandora ",
    "drumfire run ",
    "drumfire runs ",
    "drumfire schema ",
    "drumfire vllm ",
];

/// The line with a shorter load.
pub(crate) fn shortened(text: &str) -> String {
    if text.starts_with("drumfire go-wrk ") {
        return with_value(text, "-d", "1");
    }
    if text.starts_with("drumfire slow_cooker ") {
        // If the flag occurs twice, the last one sets the interval.
        let text = with_value(text, "-interval", "200ms");
        return with_flags(&text, "-iterations 1 -interval 200ms");
    }
    let is_load = |text: &str| !UNBOUNDED.iter().any(|command| text.starts_with(command));
    if is_counted(text) || !is_load(text) {
        return text.to_owned();
    }
    let text = with_value(text, "--warmup", "50ms");
    let (before, after) = text.split_once(" -z ").unwrap_or((&text, ""));
    let text = match after.split_once(' ') {
        Some((_, rest)) => format!("{before} {rest}"),
        None => before.to_owned(),
    };
    if text.starts_with("drumfire demo") {
        with_flags(&text, "-z 1s")
    } else if text.contains(" --threshold ") {
        with_flags(&widened(&text), JUDGED)
    } else {
        with_flags(&text, SHORT)
    }
}

/// The line with thresholds whose limits do not depend on the speed of the machine.
fn widened(text: &str) -> String {
    let mut is_window = false;
    let words = text.split(' ').map(|word| {
        let rule = word.trim_end_matches('\'');
        let end = &word[rule.len()..];
        let bound = |text: &str| {
            rule.rfind(['<', '='])
                .map(|at| format!("{}{text}{end}", &rule[..=at]))
        };
        let was_window = std::mem::replace(&mut is_window, word == "over");
        let wide = match rule {
            _ if was_window => Some(format!("{WINDOW}{end}")),
            _ if !rule.contains(['<', '>']) => None,
            _ if rule.ends_with("/s") => bound(RARE),
            _ if rule.ends_with('s') => bound(SLOW),
            _ => None,
        };
        wide.unwrap_or_else(|| word.to_owned())
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The servers that pages assume, and the folder with the files in the pages.
pub(crate) struct Stage {
    pub(crate) folder: Folder,
    plain: Serve,
    sealed: Serve,
    llm: Serve,
    _unix: Serve,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        let plain = Serve::new("--shop --grpc");
        let (ca, client) = (folder.at("ca.pem"), folder.at("client"));
        let sealed = Serve::new(&format!("--grpc --tls --tls-ca {ca} --tls-client {client}"));
        let llm = Serve::new("--llm");
        let unix = Serve::new(&format!("-l unix:{}", folder.at("stage.sock")));
        let address = plain.address();
        let list = format!("http://{address}/a\n# a comment\n\nhttp://{address}/b\n");
        folder.write("urls.txt", list);
        let scaffold = Process::start(&mut drumfire(["new"])).finish(LIMIT);
        folder.write("visit.yaml", scaffold.stdout);
        folder.write("times.txt", "0\n50ms\n0.1\n");
        folder.write("people.csv", "name,city\nAda,London\nGrace,New York\n");
        folder.write("mooncake.jsonl", MOONCAKE);
        folder.write("questions.jsonl", QUESTIONS);
        folder.write("chats.jsonl", CHATS);
        folder.write("greeter.proto", GREETER);
        folder.write("body.json", "{\"n\":1}");
        folder.write("orders.txt", "{\"sku\":1}\n{\"sku\":2}\n{\"sku\":3}\n");
        folder.write("shots.uri", "[X-Shot: 1]\n/a one\n/b two\n");
        folder.write(
            "load.yaml",
            format!(
                "pools:\n- gun: {{type: http, target: '{address}'}}\n  \
                 ammo: {{type: uri, uris: [/], limit: 3}}\n  result: {{type: discard}}\n  \
                 rps: {{type: once, times: 3}}\n  startup: {{type: once, times: 1}}\n"
            ),
        );
        let plan =
            "drumfire: 1\npools:\n  main:\n    requests: [ { get: URL } ]\nstop: { requests: 3 }\n";
        folder.write(
            "plan.yaml",
            plan.replace("URL", &format!("http://{address}/")),
        );
        examples::put_into(&folder, plain.port(), sealed.port());
        Self {
            folder,
            plain,
            sealed,
            llm,
            _unix: unix,
        }
    }

    /// A line of a page with the addresses of this stage.
    pub(crate) fn addressed(&self, text: &str) -> String {
        text.replace("target.sock", "stage.sock")
            .replace(":8080", &format!(":{}", self.plain.port()))
            .replace(":8443", &format!(":{}", self.sealed.port()))
            .replace(":8000", &format!(":{}", self.llm.port()))
    }

    /// Starts a line in a shell.
    fn start(text: &str, folder: &Folder) -> Process {
        let mut shell = neutral(Command::new("sh"));
        // Signals go to the first program. A program after a pipe is found through PATH.
        let program = text.replacen("drumfire", &format!("exec '{PATH}'"), 1);
        let own = Path::new(PATH).parent().unwrap();
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(own.to_owned()).chain(std::env::split_paths(&usual));
        shell.env("PATH", std::env::join_paths(paths).unwrap());
        shell.args(["-c", &program]).current_dir(folder.path());
        if text.starts_with("drumfire runs") {
            shell.env("XDG_STATE_HOME", folder.at("state"));
        }
        Process::start(&mut shell)
    }

    /// Runs a line to its end, unchanged except for its addresses.
    pub(crate) fn run_as_it_is(&self, text: &str) -> Run {
        Self::start(&self.addressed(text), &self.folder).finish(LIMIT)
    }

    /// Runs a line: a load to its end, a server until it listens.
    fn run(&self, text: &str) -> Run {
        if text.starts_with("drumfire serve") {
            // The server writes certificates, which must not replace the stage's certificates.
            let folder = Folder::new();
            let process = Self::start(&at_free_ports(text), &folder);
            process.first_line(LIMIT);
            process.signal(Signal::INT);
            return process.finish(LIMIT);
        }
        let text = shortened(&self.addressed(text));
        if text.contains(" > ") {
            // Other lines may read a file of the same name meanwhile.
            return Self::start(&text, &Folder::new()).finish(LIMIT);
        }
        Self::start(&text, &self.folder).finish(LIMIT)
    }

    /// Runs a line with `--strict`. Its exit code depends on the machine, so the expected code
    /// comes from its own report.
    fn run_strictly(&self, text: &str) -> (Run, i32) {
        let folder = Folder::new();
        let report = folder.at("report.json");
        let text = if text.contains(" --json ") {
            with_value(text, "--json", &report)
        } else {
            with_flags(text, &format!("--json {report}"))
        };
        let run = self.run(&text);
        let report = Report::read(&report);
        let is_kept = report.at("load.kept").as_bool() == Some(true);
        let holds = report.validity() == "valid" && is_kept;
        (run, if holds { 0 } else { 3 })
    }

    /// The mistake in a line, if there is one.
    fn judge(&self, Line { place, text }: &Line) -> Option<String> {
        let announced = announced(text)?;
        let (run, expected) = if text.contains(" --strict") {
            self.run_strictly(text)
        } else if announced == 2 {
            // Nothing is sent. With further flags, the failure could have another cause.
            (self.run_as_it_is(text), announced)
        } else {
            (self.run(text), announced)
        };
        (run.code != Some(expected)).then(|| {
            format!(
                "{place}: {text}\nexit code {:?}, not {expected}: {}{}",
                run.code, run.stderr, run.stdout
            )
        })
    }
}

/// `drumfire serve …` with every port replaced by a free one.
fn at_free_ports(text: &str) -> String {
    let line = text.split(" # ").next().unwrap();
    if !line.contains(" -l ") {
        return line.replacen("serve", "serve -l 0", 1);
    }
    let words = line.split(' ').scan("", |before, word| {
        let is_port = *before == "-l" && !word.starts_with("unix:");
        *before = word;
        Some(if is_port { "127.0.0.1:0" } else { word })
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The README, the guide, the manual and the pages on dialects, with their names.
pub(crate) fn documents() -> Vec<(String, String)> {
    let mut all = pages("docs/guide");
    all.extend(pages("docs/manual"));
    all.extend(pages("docs/dialects"));
    all.push(page("README.md"));
    all
}

/// Every command line in these pages.
pub(crate) fn command_lines() -> Vec<Line> {
    documents()
        .iter()
        .flat_map(|(path, text)| commands(path, text))
        .collect()
}

/// The mistakes in lines; several lines are checked in parallel.
pub(crate) fn commands_side_by_side(
    lines: &[Line],
    judge: impl Fn(&Line) -> Option<String> + Sync,
) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let judge = || {
        let ours = std::iter::from_fn(|| lines.get(next.fetch_add(1, Ordering::Relaxed)));
        ours.filter_map(&judge).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let judges = [(); SIDE_BY_SIDE].map(|()| scope.spawn(judge));
        judges
            .into_iter()
            .flat_map(|judge| judge.join().unwrap())
            .collect()
    })
}

#[test]
fn every_command_line_runs() {
    let stage = Stage::new();
    let lines = command_lines();
    assert!(
        lines.len() > 50,
        "only {} command lines were found",
        lines.len()
    );
    let wrong = commands_side_by_side(&lines, |line| stage.judge(line));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Commands whose flags the manual explains, besides `http`, `grpc`, `llm` and `serve`.
const COMMANDS: [&str; 21] = [
    "ab",
    "agent",
    "capacity",
    "cluster attach",
    "cluster run",
    "cluster status",
    "compare",
    "demo",
    "run",
    "check",
    "new",
    "import",
    "ctl",
    "report",
    "resume",
    "runs",
    "runs tag",
    "runs note",
    "runs rm",
    "runs prune",
    "ws",
];

/// The long flags in a command's help.
fn flags(subcommand: &str) -> BTreeSet<String> {
    let args = subcommand.split(' ').chain(["--help"]);
    let run = Process::start(&mut drumfire(args)).finish(LIMIT);
    let lines = run.stdout.lines().map(str::trim_start);
    let found = lines
        .filter(|line| line.starts_with('-'))
        .filter_map(|line| {
            let (_, flag) = line.split_once("--")?;
            let end = flag.find(|c| !is_flag_letter(c)).unwrap_or(flag.len());
            Some(format!("--{}", &flag[..end]))
        });
    found.filter(|flag| flag != "--help").collect()
}

fn is_flag_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// The long flags in a text.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("--") {
        let rest = &text[at + 2..];
        let end = rest.find(|c| !is_flag_letter(c)).unwrap_or(rest.len());
        let begins = !text[..at].ends_with(is_flag_letter);
        if begins && rest.starts_with(|c: char| c.is_ascii_lowercase()) {
            found.insert(format!("--{}", &rest[..end]));
        }
    }
    found
}

#[test]
fn every_flag_is_in_the_manual_and_no_other() {
    // One page is about the flags of other tools.
    let manual: String = pages("docs/manual")
        .into_iter()
        .filter(|(path, _)| path != "docs/manual/coming-from.md")
        .map(|(_, text)| text)
        .collect();
    let on_manual = named(&manual);
    let on_server = named(&page("docs/manual/server.md").1);
    let on_grpc = named(&page("docs/manual/grpc.md").1);
    let on_llm = named(&page("docs/manual/llm.md").1);
    let http = flags("http");
    let grpc = flags("grpc");
    let llm = flags("llm");
    let serve = flags("serve");
    assert!(http.len() > 30 && serve.len() > 15, "{http:?} {serve:?}");
    let lacking: Vec<&String> = http.difference(&on_manual).collect();
    assert!(
        lacking.is_empty(),
        "docs/manual explains nowhere: {lacking:?}"
    );
    let lacking: Vec<&String> = serve.difference(&on_server).collect();
    assert!(
        lacking.is_empty(),
        "docs/manual/server.md does not explain: {lacking:?}"
    );
    // The flags that `grpc` shares with `http` are explained with `http`.
    let own: BTreeSet<&String> = grpc.difference(&http).collect();
    let lacking: Vec<&&String> = own
        .iter()
        .filter(|flag| !on_grpc.contains(**flag))
        .collect();
    assert!(
        own.len() > 15 && lacking.is_empty(),
        "docs/manual/grpc.md does not explain: {lacking:?}"
    );
    let own: Vec<&String> = llm.difference(&http).collect();
    let lacking: Vec<&&String> = own.iter().filter(|flag| !on_llm.contains(**flag)).collect();
    assert!(
        own.len() > 15 && lacking.is_empty(),
        "docs/manual/llm.md does not explain: {lacking:?}"
    );
    let known: BTreeSet<String> = [http, grpc, llm, serve]
        .into_iter()
        .chain(COMMANDS.map(flags))
        .flatten()
        .collect();
    let unknown: Vec<&String> = on_manual.difference(&known).collect();
    assert!(
        unknown.is_empty(),
        "docs/manual names flags that do not exist: {unknown:?}"
    );
}

#[test]
fn lines_are_found_and_shortened() {
    let text =
        "drumfire a\n```sh\n$ drumfire b\nother\n```\n    drumfire c\n```text\ndrumfire d\n```\n";
    let found = commands("p.md", text);
    let found: Vec<(&str, &str)> = found.iter().map(|l| (&*l.place, &*l.text)).collect();
    assert_eq!(found, [("p.md:3", "drumfire b"), ("p.md:6", "drumfire c")]);
    for (text, short) in [
        ("drumfire http -z 1m u", "drumfire http -z 3s -n 100 u"),
        ("drumfire http u", "drumfire http -z 3s -n 100 u"),
        ("drumfire http u -z 1m", "drumfire http -z 3s -n 100 u"),
        ("drumfire http -n 5 u", "drumfire http -n 5 u"),
        ("drumfire demo", "drumfire demo -z 1s "),
        (
            "drumfire go-wrk -c 9 -d 10 u",
            "drumfire go-wrk -c 9 -d 1 u",
        ),
        (
            "drumfire http -z 5m --threshold 'lag.p99<=1ms over 60s' --threshold 'rate>=190/s' u",
            "drumfire http -z 6s --threshold 'lag.p99<=60s over 3s' --threshold 'rate>=1/s' u",
        ),
        (
            "drumfire http --threshold 'failed<0.1%' --threshold 'status(503)==0' u",
            "drumfire http -z 6s --threshold 'failed<0.1%' --threshold 'status(503)==0' u",
        ),
    ] {
        assert_eq!(shortened(text), short);
    }
    assert_eq!(announced("drumfire x  # exit 2"), Some(2));
    assert_eq!(announced("drumfire x  # not run"), None);
    assert_eq!(
        at_free_ports("drumfire serve -l 80 -l unix:s"),
        "drumfire serve -l 127.0.0.1:0 -l unix:s"
    );
    assert_eq!(
        named("`--a-b` a--c --D").into_iter().collect::<Vec<_>>(),
        ["--a-b"]
    );
}
