//! `drumfire llm`, as a process against the mock of servers for language models.

use crate::support::program::{LIMIT, words};
use crate::support::script::get;
use crate::support::{Folder, Process, Report, Run, Serve, drumfire, load_of};
use serde_json::Value;

/// A mock that answers at once, caches prompts, and logs its requests.
const MOCK: &str = "--llm --ttft 0ms --itl 0ms --arrival-log --prefix-cache";

/// A trace whose second and third request begin as the first one.
const TRACE: &str = "\
{\"timestamp\": 0, \"input_length\": 1100, \"output_length\": 4, \"hash_ids\": [7, 8, 9]}
{\"timestamp\": 200, \"input_length\": 1300, \"output_length\": 2, \"hash_ids\": [7, 8, 21]}
{\"timestamp\": 300, \"input_length\": 600, \"output_length\": 3, \"hash_ids\": [7, 30]}
";

/// The log's requests.
fn log(server: &Serve) -> Vec<Value> {
    let text = get(server.address(), "/llm/log").unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.skip(1).collect()
}

fn sum(requests: &[Value], field: &str) -> u64 {
    requests
        .iter()
        .map(|request| request[field].as_u64().unwrap())
        .sum()
}

/// Runs `drumfire llm` against a server.
fn llm(server: &Serve, line: &str) -> Report {
    let mut command = drumfire(["llm", "--json", "-"]);
    command.args(words(line)).arg(&server.url);
    load_of(Process::start(&mut command))
}

fn run_in(folder: &Folder, args: &[impl AsRef<std::ffi::OsStr>]) -> Run {
    let mut command = drumfire(args);
    Process::start(command.current_dir(folder.path())).finish(LIMIT)
}

#[test]
fn a_first_try_sends_ten_prompts_one_at_a_time() {
    let server = Serve::new(&format!("{MOCK} 1000"));
    let report = llm(&server, "-m m");
    assert_eq!(report.n("requests.ok"), 10, "{:#}", report.short());
    let requests = log(&server);
    assert_eq!(sum(&requests, "prompt_tokens"), 10 * 128);
    assert!(requests.iter().all(|request| request["stream"] == true));
}

/// A server must not answer from its cache because an earlier run asked the same.
#[test]
fn a_second_run_is_not_in_the_cache_of_the_first() {
    for (flags, least, most) in [("", 0, 1), ("--same-prompts", 95, 100)] {
        let server = Serve::new(&format!("{MOCK} 100000"));
        let line = format!("-m m --input 64 --output 2 -c 4 -n 40 {flags}");
        llm(&server, &line);
        let first = log(&server);
        assert_eq!(sum(&first, "cached_tokens"), 0);
        llm(&server, &line);
        let second = &log(&server)[first.len()..];
        let cached = 100 * sum(second, "cached_tokens") / sum(second, "prompt_tokens");
        assert!((least..=most).contains(&cached), "{flags}: {cached} %");
    }
}

#[test]
fn prompts_share_the_beginnings_of_a_pool() {
    let server = Serve::new(&format!("{MOCK} 100000"));
    llm(
        &server,
        "-m m --prefix pool=2,tokens=160,turn --input 16 --output 1 -n 20",
    );
    let requests = log(&server);
    // Two requests meet an empty cache; the others find ten blocks of 16 words.
    assert_eq!(sum(&requests, "cached_tokens"), 18 * 160);
}

/// The cache hits exactly where the trace has equal ids, at any speed and with any order of ends.
#[test]
fn a_trace_is_cached_as_its_ids_say() {
    let folder = Folder::new();
    let file = folder.write("trace.jsonl", TRACE);
    let server = Serve::new(&format!("{MOCK} 100000,512"));
    let report = llm(&server, &format!("-m m --data {file} --speed 1"));
    assert_eq!(report.n("requests.ok"), 3, "{:#}", report.short());
    let mut requests = log(&server);
    requests.sort_by_key(|request| request["read"].as_u64());
    let of = |field: &str| -> Vec<u64> {
        requests
            .iter()
            .map(|request| request[field].as_u64().unwrap())
            .collect()
    };
    assert_eq!(of("prompt_tokens"), [1_100, 1_300, 600]);
    assert_eq!(of("cached_tokens"), [0, 1_024, 512]);
    let tokens: Vec<u64> = requests
        .iter()
        .map(|request| {
            request["tokens"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_u64)
                .sum()
        })
        .collect();
    assert_eq!(tokens, [4, 2, 3]);
    let read = of("read");
    assert!(read[2] - read[0] >= 250_000_000, "{read:?}");
}

/// The share that `check` computes is the share that a server counts.
#[test]
fn the_ideal_cache_of_a_trace_is_that_of_a_server() {
    let folder = Folder::new();
    folder.write("trace.jsonl", TRACE);
    let server = Serve::new(&format!("{MOCK} 100000,512"));
    let url = &server.url;
    let line = ["llm", "-m", "m", "--data", "trace.jsonl", "-c", "1", url];
    let printed = run_in(&folder, &[&line[..], &["--print-plan"]].concat());
    folder.write("plan.yaml", &printed.stdout);
    let checked = run_in(&folder, &["check", "plan.yaml"]);
    let totals = "3 requests · 3,000 tokens of prompts · 9 tokens of answers · 51.2 % of the \
                  prompts in an ideal prefix cache";
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    assert!(checked.stdout.contains(totals), "{}", checked.stdout);
    let run = run_in(
        &folder,
        &[&line[..], &["--no-store", "--metrics-from", url]].concat(),
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "51.2 % of the prompts’ tokens cached",
        "mean time to first token",
        "the server answered a part of the prompts from its prefix cache",
    ] {
        assert!(
            text.replace('\'', "’").contains(part),
            "{part}: {}",
            run.stdout
        );
    }
    let refused = run_in(
        &folder,
        &[
            "llm",
            "-m",
            "m",
            url,
            "--metrics-from",
            "http://127.0.0.1:1",
        ],
    );
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused
            .stderr
            .contains("can't read the metrics of http://127.0.0.1:1")
    );
}

/// A plan that sends its prompts again meets the cache of its first run. Figures of a warm cache are
/// not those of new prompts, whether the answers or the server's counters report it.
#[test]
fn new_prompts_from_a_cache_make_a_run_suspect() {
    let folder = Folder::new();
    for (usage, doubt) in [
        (
            "last",
            "new prompts' tokens in its prefix cache, 32 of each prompt",
        ),
        ("none", "% of the new prompts' tokens in its prefix cache"),
    ] {
        let server = Serve::new(&format!("{MOCK} 100000 --usage {usage}"));
        let line = format!("llm -m m --input 32 --output 2 -n 10 {}", server.url);
        let printed = run_in(&folder, &words(&format!("{line} --print-plan")));
        // The nonce is that of a stored plan.
        let plan = format!("{}generator: {{ nonce: 7 }}\n", printed.stdout);
        folder.write("again.yaml", &plan);
        let from = format!("--metrics-from {}", server.url);
        for (code, json) in [(0, "first.json"), (3, "second.json")] {
            let line = format!("run again.yaml --strict --no-store -q {from} --json {json}");
            let run = run_in(&folder, &words(&line));
            assert_eq!(
                run.code,
                Some(code),
                "{usage}: {}{}",
                run.stdout,
                run.stderr
            );
        }
        let text = std::fs::read_to_string(folder.path().join("second.json")).unwrap();
        let second: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(second["verdict"]["validity"], "suspect", "{usage}");
        assert!(
            second["verdict"]["reasons"].to_string().contains(doubt),
            "{usage}: {text}"
        );
        // What is repeated on purpose is no reason for doubt.
        let line = format!("{line} --same-prompts --strict --no-store");
        let repeated = run_in(&folder, &words(&line));
        let repeated = match repeated.code {
            Some(0) => run_in(&folder, &words(&line)),
            _ => repeated,
        };
        assert_eq!(
            repeated.code,
            Some(0),
            "{}{}",
            repeated.stdout,
            repeated.stderr
        );
    }
}

/// Users took a wait in the client for a slow server: the report has the start of `ttft`, and the
/// share that was waiting.
#[test]
fn the_report_has_the_start_of_ttft_and_the_wait_in_it() {
    let folder = Folder::new();
    let server = Serve::new("--llm --ttft 100ms --itl 0ms");
    // Six requests are due within a few milliseconds, and one is sent at a time.
    let line = format!(
        "llm -m m --output 1 -r 1000/s -n 6 -c 1 --no-store --explain --json r.json {}",
        server.url
    );
    let run = run_in(&folder, &words(&line));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let start = "ttft counts from when a request was due; on average, ";
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("{text}"));
    let (share, rest) = rest.split_once(" % of it passed before").unwrap();
    // Each request waits for those before it: 2.5 of 3.5 service times on average.
    let share: f64 = share.parse().unwrap();
    assert!(
        (50.0..90.0).contains(&share) && rest.contains("Waiting is time"),
        "{text}"
    );
    let json = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let mean = |of: &Value| of["mean"].as_f64().unwrap();
    let (ttft, sent) = (
        mean(&json["llm"]["ttft"]),
        mean(&json["llm"]["ttft_service"]),
    );
    let computed = (1.0 - sent / ttft) * 100.0;
    assert!((computed - share).abs() < 0.1, "{computed} {share}");
}

/// Failures have times of their own, which are never 0, and are in no time of an answer.
#[test]
fn failures_have_times_of_their_own() {
    let server = Serve::new("--delay 20ms --status 503");
    let report = llm(&server, "-m m -c 2 -n 8");
    let what = format!("{:#}", report.short());
    assert_eq!(
        (report.n("requests.failed"), report.n("llm.ttft.count")),
        (8, 0),
        "{what}"
    );
    assert_eq!(report.n("latency.failed.count"), 8, "{what}");
    assert!(report.n("latency.failed.min") >= 20_000_000, "{what}");
    assert_eq!(report.n("latency.service_time.count"), 0, "{what}");
}

/// Users with think times are rarely all in flight, and the report has both numbers.
#[test]
fn requests_in_flight_are_fewer_than_users_that_think() {
    let server = Serve::new("--llm --ttft 20ms --itl 0ms");
    let report = llm(&server, "-m m --output 1 -c 8 -n 32 --think-time 180ms");
    let what = format!("{:#}", report.short());
    // A user is in flight for at least 20 of 200 ms, or longer on a busy machine.
    let mean = report.at("llm.in_flight_mean").as_f64().unwrap();
    let (sum, span) = (
        report.n("latency.service_time.mean") as f64 * 32.0,
        report.n("run.duration_ns") as f64,
    );
    assert!((mean - sum / span).abs() < 0.01 && mean < 8.0, "{what}");
}

/// The gauges of the server are read during the run.
#[test]
fn the_queue_of_a_server_is_shown_over_time() {
    let server = Serve::new("--llm --ttft 0ms --itl 20ms --capacity 2");
    let line = format!(
        "-m m --output 50 -c 6 -n 12 --interval 500ms --metrics-from {}",
        server.url
    );
    let report = llm(&server, &line);
    let what = format!("{:#}", report.at("inference"));
    assert!(report.n("inference.reads") >= 2, "{what}");
    assert_eq!(report.n("inference.failed_reads"), 0, "{what}");
    // Two of six requests run at a time, and the others wait in the server.
    let max = |gauge: &str| report.at(&format!("inference.gauges.{gauge}.max")).as_f64();
    assert_eq!(
        (max("running"), max("waiting")),
        (Some(2.0), Some(4.0)),
        "{what}"
    );
    let moments = report.at("inference.moments").as_array().unwrap();
    assert_eq!(moments.len() as u64, report.n("inference.reads"), "{what}");
    assert!(
        report.at("inference.ttft_mean_ns").as_f64() > Some(0.0),
        "{what}"
    );
}

#[test]
fn limits_of_answers_are_a_threshold() {
    let folder = Folder::new();
    let server = Serve::new("--llm --ttft 0ms --itl 0ms");
    for (slo, code) in [
        ("ttft=1h,response=1h", 0),
        ("ttft=1ns", 99),
        ("mlperf/llama2", 2),
    ] {
        let run = run_in(
            &folder,
            &[
                "llm",
                "-m",
                "m",
                "-n",
                "5",
                "--no-store",
                "--slo",
                slo,
                &server.url,
            ],
        );
        assert_eq!(run.code, Some(code), "{slo}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn a_printed_plan_runs_and_its_prompts_are_new_each_time() {
    let folder = Folder::new();
    let server = Serve::new(&format!("{MOCK} 100000"));
    let line = [
        "llm",
        "-m",
        "m",
        "--input",
        "64",
        "--output",
        "2",
        "-n",
        "10",
        "--print-plan",
    ];
    let run = run_in(&folder, &[&line[..], &[&server.url]].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(!run.stdout.contains("nonce"), "{}", run.stdout);
    folder.write("plan.yaml", &run.stdout);
    for _ in 0..2 {
        let run = run_in(&folder, &["run", "plan.yaml"]);
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    }
    let requests = log(&server);
    assert_eq!((requests.len(), sum(&requests, "cached_tokens")), (20, 0));
}

#[test]
fn the_key_of_the_environment_is_in_no_output() {
    const KEY: &str = "sk-drumfire-4711-secret";
    let folder = Folder::new();
    let server = Serve::new("--llm --ttft 0ms --itl 0ms");
    for flags in [
        "--show",
        "--print-plan",
        "-n 2 --json r.json --html r.html -o stored",
    ] {
        let mut command = drumfire(["llm", "-m", "m"]);
        command.args(words(flags)).arg(&server.url);
        command
            .env("OPENAI_API_KEY", KEY)
            .current_dir(folder.path());
        let run = Process::start(&mut command).finish(LIMIT);
        assert_eq!(run.code, Some(0), "{flags}: {}", run.stderr);
        let text = format!("{}{}", run.stdout, run.stderr);
        assert!(!text.contains(KEY), "{flags}: {text}");
        if flags == "--show" {
            assert!(text.contains("uthorization: "), "{text}");
        }
        if flags == "--print-plan" {
            assert!(
                text.contains("key: \"${secret:env:OPENAI_API_KEY}\""),
                "{text}"
            );
        }
    }
    for name in ["r.json", "r.html", "stored/plan.yaml"] {
        let bytes = std::fs::read(folder.at(name)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(KEY), "{name}");
    }
}

#[test]
fn a_budget_ends_the_run() {
    let server = Serve::new("--llm --ttft 0ms --itl 0ms");
    let report = llm(
        &server,
        "-m m --input 80 --output 20 --budget-tokens 700 -c 2 -n 100",
    );
    assert_eq!(report.n("requests.ok"), 7, "{:#}", report.short());
}

/// The numbers of a request's field in the log, in the order of the requests.
fn of(requests: &[Value], field: &str) -> Vec<u64> {
    let numbers = requests.iter().map(|request| request[field].as_u64());
    numbers.map(|number| number.unwrap()).collect()
}

/// Each turn repeats the prompts before it and the answers that the server really sent: its cache
/// has them all.
#[test]
fn a_session_repeats_the_answers_that_it_received() {
    for (flags, api) in [
        ("", "chat"),
        ("--no-stream", "chat"),
        ("", "messages"),
        ("", "responses"),
        ("--http2", "chat"),
    ] {
        let server = Serve::new(&format!("{MOCK} 100000,1"));
        let line = format!(
            "-m m --api {api} --turns 4 --turn-delay 5ms --input 10 --output 6 -c 1 -n 3 {flags}"
        );
        let report = llm(&server, &line);
        let what = format!("{api} {flags}: {:#}", report.short());
        assert_eq!(report.n("requests.ok"), 12, "{what}");
        assert_eq!(report.n("iterations.completed"), 3, "{what}");
        let requests = log(&server);
        let prompts = of(&requests, "prompt_tokens");
        assert_eq!(prompts, [10, 26, 42, 58].repeat(3), "{what}");
        // A cache of whole prompts: the answer before is new, and all before it is not.
        let cached = of(&requests, "cached_tokens");
        assert_eq!(cached, [0, 10, 26, 42].repeat(3), "{what}");
        let steps = report.json["steps"].as_array().unwrap();
        let names: Vec<&str> = steps
            .iter()
            .map(|step| step["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["turn 1", "turn 2", "turns 3-4"], "{what}");
    }
}

#[test]
fn a_session_that_fails_ends_there_and_is_counted() {
    let server = Serve::new(&format!("{MOCK} 1000"));
    let line = "-m m --turns 3 --output 4 -c 1 -n 4 --http1 -H X-Drumfire:stream-fault=cut:1";
    let mut command = drumfire(["llm", "--json", "-"]);
    command.args(words(line)).arg(&server.url);
    let run = Process::start(&mut command).finish(LIMIT);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["requests"]["sent"], 4, "{}", run.stderr);
    assert_eq!(report["requests"]["failed"], 4);
    assert_eq!(report["iterations"]["failed"], 4);
    assert_eq!(log(&server).len(), 4);
}

#[test]
fn tools_are_answered_and_the_model_is_asked_again() {
    for (api, tool) in [
        (
            "chat",
            r#"[{"type":"function","function":{"name":"find"}}]"#,
        ),
        (
            "messages",
            r#"[{"name":"find","input_schema":{"type":"object"}}]"#,
        ),
        ("responses", r#"[{"type":"function","name":"find"}]"#),
    ] {
        let folder = Folder::new();
        let file = folder.write("tools.json", tool);
        // Half of the answers call the tool.
        let server = Serve::new(&format!("{MOCK} 100000,1 --tool-calls 0.5"));
        let line = format!(
            "-m m --api {api} --tools @{file} --tool-output 7 --tool-time 1ms --input 10 --output 6 \
             -c 1 -n 10"
        );
        let report = llm(&server, &line);
        let what = format!("{api}: {:#}", report.short());
        assert_eq!(report.n("iterations.completed"), 10, "{what}");
        let sent = report.n("requests.ok");
        assert!((11..=100).contains(&sent), "{what}");
        assert_eq!(report.n("llm.finish.tool_calls"), sent - 10, "{what}");
        let prompts = of(&log(&server), "prompt_tokens");
        let again = prompts.iter().filter(|tokens| **tokens > 10).count() as u64;
        assert_eq!(again, sent - 10, "{what}: {prompts:?}");
    }
}

#[test]
fn recorded_sessions_have_their_turns_and_times() {
    let folder = Folder::new();
    let own = "{\"turns\":[{\"user\":\"a b c\",\"assistant\":\"x y\",\"max_tokens\":3},\
               {\"user\":\"d\",\"delay\":0.2,\"max_tokens\":2}]}\n";
    let weka = "{\"requests\":[{\"t\":0,\"in\":64,\"out\":2,\"hash_ids\":[1],\"api_time\":0.1},\
                {\"t\":0.3,\"in\":130,\"out\":3,\"hash_ids\":[1,2,3],\"api_time\":0.1}]}\n";
    for (name, text, flags, prompts) in [
        ("own.jsonl", own, "--same-prompts", [3, 7]),
        (
            "own.jsonl",
            own,
            "--same-prompts --context recorded",
            [3, 6],
        ),
        ("weka.json", weka, "", [64, 130]),
    ] {
        let file = folder.write(name, text);
        let server = Serve::new(&format!("{MOCK} 100000,64"));
        let report = llm(&server, &format!("-m m --data {file} {flags}"));
        assert_eq!(report.n("iterations.completed"), 1, "{:#}", report.short());
        let requests = log(&server);
        assert_eq!(of(&requests, "prompt_tokens"), prompts, "{name} {flags}");
        let read = of(&requests, "read");
        assert!(read[1] - read[0] >= 190_000_000, "{name}: {read:?}");
        if name == "weka.json" {
            assert_eq!(of(&requests, "cached_tokens"), [0, 64]);
        }
    }
}
