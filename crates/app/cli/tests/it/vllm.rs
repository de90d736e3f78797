//! `drumfire vllm bench serve` and `--vllm-json`, as processes against the mock of servers for
//! language models.

use crate::support::program::{LIMIT, words};
use crate::support::script::get;
use crate::support::{Folder, Process, Run, Serve, drumfire};
use serde_json::Value;

const MOCK: &str = "--llm --ttft 20ms --itl 5ms --arrival-log";

/// Runs a command line in a folder.
fn run_in(folder: &Folder, line: &str) -> Run {
    let mut command = drumfire(words(line));
    Process::start(command.current_dir(folder.path())).finish(LIMIT)
}

fn bench(folder: &Folder, server: &Serve, line: &str) -> Run {
    let url = &server.url;
    run_in(
        folder,
        &format!("vllm bench serve --base-url {url} --model m {line}"),
    )
}

fn json(folder: &Folder, name: &str) -> Value {
    let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    let values = value.as_array().unwrap().iter();
    values.map(|value| value.as_f64().unwrap()).collect()
}

/// The label of each row, without its value.
fn labels(table: &str) -> Vec<&str> {
    let rows = table.lines().skip_while(|line| !line.starts_with("===="));
    let labels = rows.map(|line| match line.split_once(':') {
        Some((label, _)) => label,
        None => line.trim_matches(['=', '-']).trim(),
    });
    labels.filter(|label| !label.is_empty()).collect()
}

#[test]
fn a_chat_has_the_table_and_the_result_of_the_original() {
    let (folder, server) = (Folder::new(), Serve::new(MOCK));
    let run = bench(
        &folder,
        &server,
        "--backend openai-chat --num-prompts 20 --max-concurrency 4 --random-input-len 30 \
         --random-output-len 8 --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,99.9 \
         --goodput ttft:60000 --save-result --save-detailed --result-filename r.json --metadata a=b",
    );
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let first = "Starting initial single prompt test run...\nSkipping endpoint ready check.\n\
                 Starting main benchmark run...\nTraffic request rate: inf\n\
                 Burstiness factor: 1.0 (Poisson process)\nMaximum request concurrency: 4\n";
    assert!(run.stdout.starts_with(first), "{}", run.stdout);
    let expected = [
        "Serving Benchmark Result",
        "Successful requests",
        "Failed requests",
        "Maximum request concurrency",
        "Benchmark duration (s)",
        "Total input tokens",
        "Total generated tokens",
        "Request throughput (req/s)",
        "Request goodput (req/s)",
        "Output token throughput (tok/s)",
        "Peak output token throughput (tok/s)",
        "Peak concurrent requests",
        "Total token throughput (tok/s)",
        "Time to First Token",
        "Mean TTFT (ms)",
        "Median TTFT (ms)",
        "P50 TTFT (ms)",
        "P99.9 TTFT (ms)",
    ];
    assert_eq!(&labels(&run.stdout)[..expected.len()], expected);
    let result = json(&folder, "r.json");
    for (key, value) in [
        ("completed", 20),
        ("failed", 0),
        ("total_input_tokens", 600),
        ("total_output_tokens", 160),
        ("num_prompts", 20),
        ("max_concurrency", 4),
    ] {
        assert_eq!(result[key], value, "{key}");
    }
    assert_eq!(result["request_rate"], "inf");
    assert_eq!(
        (&result["backend"], &result["a"]),
        (&"openai-chat".into(), &"b".into())
    );
    assert_eq!(result["request_goodput"], result["request_throughput"]);
    assert!(result["max_concurrent_requests"].as_u64() <= Some(4));
    // The end of an answer is its last token: nothing comes between.
    let (ttfts, ends) = (numbers(&result["ttfts"]), numbers(&result["latencies"]));
    for (at, gaps) in result["itls"].as_array().unwrap().iter().enumerate() {
        let gaps = numbers(gaps);
        assert_eq!(gaps.len(), 7);
        let sum = ttfts[at] + gaps.iter().sum::<f64>();
        assert!((ends[at] - sum).abs() < 1e-9, "{} {sum}", ends[at]);
        assert!(ttfts[at] >= 0.02, "{}", ttfts[at]);
    }
    let log = get(server.address(), "/llm/log").unwrap();
    let asked: Vec<Value> = log
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(asked.len(), 20);
}

#[test]
fn a_rate_waits_for_connections_and_says_so() {
    let (folder, server) = (Folder::new(), Serve::new("--llm --ttft 100ms --itl 0ms"));
    let run = bench(
        &folder,
        &server,
        "--num-prompts 6 --request-rate 1000 --burstiness 50 --max-concurrency 1 \
         --random-input-len 4 --random-output-len 1 --save-result --result-filename r.json \
         --percentile-metrics client_queue_time,e2el_including_client_queue,e2el",
    );
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout
            .contains("Burstiness factor: 50.0 (Gamma distribution)\n")
    );
    let result = json(&folder, "r.json");
    let mean = |name: &str| result[format!("mean_{name}_ms")].as_f64().unwrap();
    // Each of six requests takes 100 ms: on average, two and a half others come before.
    assert!(mean("client_queue_time") > 200.0, "{result}");
    let sum = mean("client_queue_time") + mean("e2el");
    assert!(
        (mean("e2el_including_client_queue") - sum).abs() < 1e-6,
        "{result}"
    );
}

#[test]
fn results_have_names_and_are_appended() {
    let (folder, server) = (Folder::new(), Serve::new("--llm --ttft 0ms --itl 0ms"));
    let line = "--num-prompts 2 --max-concurrency 2 --random-input-len 4 --random-output-len 2";
    let run = bench(&folder, &server, &format!("{line} --save-result --label x"));
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let names = std::fs::read_dir(folder.path()).unwrap();
    let names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let name = names
        .iter()
        .find(|name| name.starts_with("x-infqps-concurrency2-m-"));
    assert!(
        name.is_some_and(|name| name.ends_with(".json")),
        "{names:?}"
    );
    for _ in 0..2 {
        let run = bench(
            &folder,
            &server,
            &format!("{line} --append-result --result-filename all.json"),
        );
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    }
    let text = std::fs::read_to_string(folder.path().join("all.json")).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    for line in text.lines() {
        let read: Value = serde_json::from_str(line).unwrap();
        assert_eq!(read["completed"], 2);
    }
}

#[test]
fn a_run_without_success_and_a_wrong_line_have_exit_codes() {
    let (folder, server) = (Folder::new(), Serve::new("--llm --stream-fault cut:100%"));
    let line = "--num-prompts 3 --random-input-len 4 --random-output-len 8 --backend openai-chat";
    let run = bench(&folder, &server, line);
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    let failed = "Failed requests during benchmark run detected (capping to 10):\nError 0: llm:cut";
    assert!(run.stdout.contains(failed), "{}", run.stdout);
    for (line, part) in [
        (
            "vllm bench serve --model m --num-promts 3",
            "did you mean --num-prompts?",
        ),
        ("vllm bench serve", "--model is missing"),
        (
            "vllm bench serve --model m --dataset-name hf",
            "data sets are not downloaded",
        ),
        (
            "vllm bench serve --model m --max-concurrency 0",
            "it must be greater than 0",
        ),
        (
            "vllm bench serve --model m --goodput x:1",
            "unknown metric `x`",
        ),
        (
            "vllm serve m",
            "`drumfire serve --llm` starts a test server",
        ),
        (
            "vllm bench serve --model m --probe-request-rate -1",
            "0 sends none",
        ),
        ("vllm bench latency", "use `vllm bench serve`"),
    ] {
        let run = run_in(&folder, line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{line}: {}", run.stderr);
    }
}

/// The check whether the server is ready, warm-up requests and probes are sent beside the load, and
/// are in none of its figures.
#[test]
fn requests_beside_the_load_are_sent_and_counted_apart() {
    let (folder, server) = (
        Folder::new(),
        Serve::new("--llm --ttft 20ms --itl 0ms --arrival-log"),
    );
    let run = bench(
        &folder,
        &server,
        "--num-prompts 20 --max-concurrency 2 --random-input-len 4 --random-output-len 2 \
         --num-warmups 3 --ready-check-timeout-sec 5 --probe-request-rate 100 --save-result \
         --result-filename r.json",
    );
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let result = json(&folder, "r.json");
    assert_eq!(
        (&result["completed"], &result["failed"]),
        (&20.into(), &0.into())
    );
    assert_eq!(result["total_output_tokens"], 40);
    let probes = result["probe_completed"].as_u64().unwrap();
    assert!(probes > 0 && result["probe_failed"] == 0, "{result}");
    assert!(
        result["probe_median_e2el_ms"].as_f64().unwrap() >= 20.0,
        "{result}"
    );
    let rows = labels(&run.stdout);
    let at = |label: &str| rows.iter().position(|row| *row == label);
    let place = at("Probe requests completed");
    assert!(
        place.is_some() && place < at("Mean TTFT (ms)"),
        "{}",
        run.stdout
    );
    let log = get(server.address(), "/llm/log").unwrap();
    assert_eq!(log.lines().skip(1).count() as u64, 20 + probes + 3 + 1);
}

/// A load starts only if the server answered the check.
#[test]
fn a_server_that_is_not_ready_gets_no_load() {
    let (folder, server) = (Folder::new(), Serve::new("--status 503"));
    let line = "--num-prompts 3 --random-input-len 4 --random-output-len 8";
    let run = bench(
        &folder,
        &server,
        &format!("{line} --ready-check-timeout-sec 1"),
    );
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    let why = "the setup failed at";
    assert!(
        run.stderr.contains(why) && run.stderr.contains("503"),
        "{}",
        run.stderr
    );
    assert!(
        !run.stdout.contains("Serving Benchmark Result"),
        "{}",
        run.stdout
    );
}

#[test]
fn other_data_sets_and_backends_are_sent() {
    let folder = Folder::new();
    folder.write("custom.jsonl", "{\"prompt\": \"one two\", \"output_tokens\": 3}\n{\"prompt\": \"three\", \"output_tokens\": 2}\n");
    folder.write("trace.jsonl", "{\"timestamp\": 0, \"input_length\": 20, \"output_length\": 2, \"hash_ids\": [1, 2]}\n{\"timestamp\": 0.1, \"input_length\": 20, \"output_length\": 3, \"hash_ids\": [1, 3]}\n");
    for (line, completed, output) in [
        (
            "--dataset-name custom --dataset-path custom.jsonl --custom-output-len -1 --num-prompts 2",
            2,
            5,
        ),
        (
            "--dataset-name custom --dataset-path custom.jsonl --custom-output-len 4 --num-prompts 5",
            2,
            8,
        ),
        (
            "--dataset-name timed_trace --dataset-path trace.jsonl --num-prompts 2",
            2,
            5,
        ),
        (
            "--dataset-name prefix_repetition --prefix-repetition-num-prefixes 3 --prefix-repetition-prefix-len 16 --prefix-repetition-suffix-len 4 --prefix-repetition-output-len 2 --num-prompts 10",
            9,
            18,
        ),
        (
            "--ramp-up-strategy linear --ramp-up-start-rps 100 --ramp-up-end-rps 300 --random-input-len 2 --random-output-len 1 --num-prompts 30",
            30,
            30,
        ),
        (
            "--backend openai-responses --random-input-len 2 --random-output-len 3 --num-prompts 2",
            2,
            6,
        ),
        (
            "--num-warmups 2 --ready-check-timeout-sec 5 --random-input-len 2 --random-output-len 3 --num-prompts 2",
            2,
            6,
        ),
    ] {
        let server = Serve::new("--llm --ttft 0ms --itl 0ms");
        let run = bench(
            &folder,
            &server,
            &format!("{line} --save-result --result-filename r.json"),
        );
        assert_eq!(run.code, Some(0), "{line}: {}{}", run.stdout, run.stderr);
        let result = json(&folder, "r.json");
        assert_eq!(result["completed"], completed, "{line}");
        assert_eq!(result["total_output_tokens"], output, "{line}");
    }
}

#[test]
fn embeddings_and_rankings_have_the_result_of_pooling() {
    let folder = Folder::new();
    for line in [
        "--backend openai-embeddings",
        "--backend vllm-rerank --dataset-name random-rerank",
    ] {
        let server = Serve::new("--llm --ttft 0ms --itl 0ms");
        let line = format!(
            "{line} --num-prompts 3 --random-input-len 5 --save-result --result-filename r.json"
        );
        let run = bench(&folder, &server, &line);
        assert_eq!(run.code, Some(0), "{line}: {}{}", run.stdout, run.stderr);
        let result = json(&folder, "r.json");
        assert_eq!(
            (&result["completed"], &result["total_input_sequences"]),
            (&3.into(), &3.into())
        );
        assert!(
            result["mean_e2el_ms"].is_number() && result.get("failed").is_none(),
            "{result}"
        );
    }
}

#[test]
fn any_run_writes_the_result_and_rows_of_answers() {
    let (folder, server) = (Folder::new(), Serve::new(MOCK));
    let url = &server.url;
    let line =
        "llm -m m -c 2 -n 10 --input 8 --output 6 -q --no-store --vllm-json v.json --json d.json";
    for rows in ["r.csv", "r.jsonl"] {
        let run = run_in(&folder, &format!("{line} --rows {rows} {url}"));
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    }
    let (vllm, ours) = (json(&folder, "v.json"), json(&folder, "d.json"));
    assert_eq!(vllm["completed"], 10);
    assert_eq!(vllm["total_output_tokens"], ours["llm"]["tokens"]["out"]);
    // Both are the gaps between all events, exact there and in buckets here.
    let mean = ours["llm"]["gap"]["mean"].as_f64().unwrap() / 1e6;
    let theirs = vllm["mean_itl_ms"].as_f64().unwrap();
    assert!((mean / theirs - 1.0).abs() < 0.01, "{mean} {theirs}");
    let text = std::fs::read_to_string(folder.path().join("r.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), header.len(), "{line}");
        assert_eq!(
            (cells[at("tokens_in")], cells[at("tokens_out")]),
            ("8", "6")
        );
        assert_eq!(
            (cells[at("token_events")], cells[at("finish")]),
            ("6", "length")
        );
        let ns = |name: &str| cells[at(name)].parse::<u64>().unwrap();
        assert!(ns("ttft_ns") >= 20_000_000 && ns("last_token_ns") > ns("ttft_ns"));
    }
    let text = std::fs::read_to_string(folder.path().join("r.jsonl")).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["tokens_asked"], 6);
    // Two results beside each other: the same definitions have rows, others a reason.
    let run = run_in(&folder, "compare v.json d.json");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for part in [
        "vLLM",
        "ttft mean",
        "time per token mean",
        "gap mean",
        "linear interpolation",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
}
