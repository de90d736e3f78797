//! Results of other tools beside each other. Those of AIPerf and GuideLLM were made by these tools
//! (`aiperf profile --streaming --concurrency 2 --request-count 10 --isl 20 --osl 8
//! --use-server-token-count`, and `guidellm run` with the same load) against
//! `drumfire serve --llm --ttft 50ms --itl 10ms`, and cut to the keys that are read. vLLM's is
//! written by its keys.

use drumfire_compare::{Tool, ToolComparison, ToolMeasure, ToolResult, ToolStatistic};

const AIPERF: &[u8] = include_bytes!("tools/aiperf-0.13.0.json");
const GUIDELLM: &[u8] = include_bytes!("tools/guidellm-0.8.1.json");
const VLLM: &str = "{\"backend\": \"openai-chat\", \"completed\": 9, \"failed\": 1, \
    \"request_throughput\": 14.0, \"output_throughput\": 112.0, \"mean_ttft_ms\": 52.0, \
    \"median_ttft_ms\": 51.0, \"p99_ttft_ms\": 55.0, \"mean_tpot_ms\": 10.0, \
    \"median_tpot_ms\": 10.0, \"p99_tpot_ms\": 10.1, \"mean_itl_ms\": 10.0}";

fn read(json: &[u8]) -> ToolResult {
    ToolResult::of_other_tool(json)
        .expect("a known tool")
        .expect("a result")
}

/// The rows as measure, statistic, base and candidate.
fn rows(of: &ToolComparison) -> Vec<(ToolMeasure, ToolStatistic, [f64; 2])> {
    let rows = of.rows.iter();
    rows.map(|row| (row.measure, row.statistic, row.values))
        .collect()
}

#[test]
fn results_of_all_tools_are_known_by_their_keys() {
    for (json, tool, completed, failed) in [
        (AIPERF, Tool::AiPerf, 10, None),
        (GUIDELLM, Tool::GuideLlm, 10, Some(0)),
        (VLLM.as_bytes(), Tool::Vllm, 9, Some(1)),
    ] {
        let result = read(json);
        assert_eq!(result.tool, tool);
        assert_eq!((result.completed, result.failed), (Some(completed), failed));
    }
    for text in [
        "{}",
        "[]",
        "",
        "{\"schema\": \"drumfire.summary.v1\", \"completed\": 1}",
    ] {
        assert!(
            ToolResult::of_other_tool(text.as_bytes()).is_none(),
            "{text}"
        );
    }
}

#[test]
fn figures_of_one_definition_have_rows_in_one_unit() {
    let of = ToolComparison::new(read(VLLM.as_bytes()), read(AIPERF));
    let rows = rows(&of);
    let ms = 1e6;
    for row in [
        (
            ToolMeasure::Ttft,
            ToolStatistic::Mean,
            [52.0 * ms, 58.299_665_399_999_995 * ms],
        ),
        (
            ToolMeasure::PerToken,
            ToolStatistic::Median,
            [10.0 * ms, 9.766_009_357_142_858 * ms],
        ),
        (
            ToolMeasure::Requests,
            ToolStatistic::Value,
            [14.0, 14.129_863_585_944_94],
        ),
    ] {
        assert!(rows.contains(&row), "{row:?} in {rows:#?}");
    }
    assert!(rows.iter().all(|row| row.0 != ToolMeasure::EndToEnd));
    let cautions = of.cautions.join("\n");
    for part in [
        "Not compared: end to end of AIPerf. vLLM: not reported.",
        "vLLM times requests from when the client's limit",
        "Other tools leave failed requests out",
    ] {
        assert!(cautions.contains(part), "{part}: {cautions}");
    }
}

#[test]
fn a_name_with_another_meaning_is_not_compared() {
    let of = ToolComparison::new(read(AIPERF), read(GUIDELLM));
    let per_token = |row: &(ToolMeasure, _, _)| row.0 == ToolMeasure::PerToken;
    assert!(!rows(&of).iter().any(per_token));
    let end = rows(&of)
        .into_iter()
        .find(|row| (row.0, row.1) == (ToolMeasure::EndToEnd, ToolStatistic::Mean));
    // GuideLLM has seconds, AIPerf milliseconds.
    let [aiperf, guidellm] = end.expect("both have it").2;
    assert!((aiperf / guidellm - 1.0).abs() < 0.1, "{aiperf} {guidellm}");
    let cautions = of.cautions.join("\n");
    let part = "GuideLLM: its time per output token includes the first token";
    assert!(cautions.contains(part), "{cautions}");
    // Without the server's counts, AIPerf's own tokenizer has made the figure.
    let text =
        String::from_utf8_lossy(AIPERF).replace("\"use_server_token_count\": true", "\"x\": true");
    let of = ToolComparison::new(read(VLLM.as_bytes()), read(text.as_bytes()));
    assert!(!rows(&of).iter().any(per_token));
}

#[test]
fn several_results_and_empty_ones_are_refused() {
    let twice = format!("{VLLM}\n{VLLM}");
    for (json, part) in [
        (twice.as_str(), "several results of vLLM"),
        ("{\"benchmarks\": []}", "0 benchmarks of GuideLLM"),
        ("{\"benchmarks\": [{}, {}]}", "2 benchmarks of GuideLLM"),
        ("{\"benchmarks\": [{}]}", "GuideLLM without figures"),
        (
            "{\"completed\": 1, \"request_throughput\": \"x\"}",
            "vLLM without figures",
        ),
    ] {
        let refused = ToolResult::of_other_tool(json.as_bytes()).expect("a known tool");
        let refused = refused.expect_err("no result");
        assert!(refused.contains(part), "{part}: {refused}");
    }
}
