//! Readers of the tools' JSON.

use super::{Tool, ToolFigure, ToolMeasure, ToolResult, ToolStatistic};
use crate::contract::SUMMARY_SCHEMA;
use crate::contract::summary::{Distribution, Document};
use serde_json::Value;

const MS: f64 = 1e6;
const S: f64 = 1e9;

/// The figures that a reader has found.
#[derive(Default)]
struct Found(Vec<ToolFigure>);

impl Found {
    fn add(&mut self, measure: ToolMeasure, statistic: ToolStatistic, value: Option<f64>) {
        let value = value.filter(|value| value.is_finite() && *value >= 0.0);
        self.0.extend(value.map(|value| ToolFigure {
            measure,
            statistic,
            value,
        }));
    }

    fn rate(&mut self, measure: ToolMeasure, value: Option<f64>) {
        self.add(measure, ToolStatistic::Value, value);
    }

    /// The mean, the median and the 99th percentile of a time in this unit.
    fn times(&mut self, measure: ToolMeasure, unit: f64, [mean, median, p99]: [Option<f64>; 3]) {
        let scaled = |value: Option<f64>| value.map(|value| value * unit);
        self.add(measure, ToolStatistic::Mean, scaled(mean));
        self.add(measure, ToolStatistic::Median, scaled(median));
        self.add(measure, ToolStatistic::P99, scaled(p99));
    }

    fn result(
        self,
        tool: Tool,
        completed: Option<u64>,
        failed: Option<u64>,
    ) -> Result<ToolResult, String> {
        match self.0.is_empty() {
            true => Err(format!("it is a result of {tool} without figures")),
            false => Ok(ToolResult {
                tool,
                completed,
                failed,
                figures: self.0,
            }),
        }
    }
}

/// The result of another tool, recognised by its keys.
pub(super) fn other(json: &[u8]) -> Option<Result<ToolResult, String>> {
    let mut objects = serde_json::Deserializer::from_slice(json).into_iter::<Value>();
    let first = objects.next()?.ok()?;
    let has = |key: &str| first.get(key).is_some();
    if has("schema") {
        return None;
    }
    if has("completed") && has("request_throughput") {
        return Some(match objects.next() {
            None => vllm(&first),
            Some(_) => {
                let why = "it has several results of vLLM, from --append-result; use a file with \
                           one of them";
                Err(why.to_owned())
            }
        });
    }
    if has("benchmarks") {
        return Some(guidellm(&first));
    }
    if has("aiperf_version") || has("request_latency") && has("request_throughput") {
        return Some(aiperf(&first));
    }
    None
}

fn number(of: &Value, path: &[&str]) -> Option<f64> {
    let found = path.iter().try_fold(of, |of, key| of.get(key));
    found.and_then(Value::as_f64)
}

fn count(of: &Value, path: &[&str]) -> Option<u64> {
    // Counts may be floating-point numbers.
    number(of, path).map(|count| count as u64)
}

fn vllm(of: &Value) -> Result<ToolResult, String> {
    let mut found = Found::default();
    found.rate(ToolMeasure::Requests, number(of, &["request_throughput"]));
    found.rate(ToolMeasure::Output, number(of, &["output_throughput"]));
    let measures = [
        (ToolMeasure::Ttft, "ttft"),
        (ToolMeasure::EndToEnd, "e2el"),
        (ToolMeasure::PerToken, "tpot"),
        (ToolMeasure::Gap, "itl"),
    ];
    for (measure, name) in measures {
        let key = |statistic: &str| number(of, &[&format!("{statistic}_{name}_ms")]);
        found.times(measure, MS, ["mean", "median", "p99"].map(key));
    }
    found.result(
        Tool::Vllm,
        count(of, &["completed"]),
        count(of, &["failed"]),
    )
}

fn aiperf(of: &Value) -> Result<ToolResult, String> {
    let mut found = Found::default();
    found.rate(
        ToolMeasure::Requests,
        number(of, &["request_throughput", "avg"]),
    );
    found.rate(
        ToolMeasure::Output,
        number(of, &["output_token_throughput", "avg"]),
    );
    let mut measures = vec![
        (ToolMeasure::Ttft, "time_to_first_token"),
        (ToolMeasure::EndToEnd, "request_latency"),
        (ToolMeasure::Gap, "inter_chunk_latency"),
    ];
    if uses_server_counts(of) {
        measures.push((ToolMeasure::PerToken, "inter_token_latency"));
    }
    for (measure, tag) in measures {
        let unit = match of.get(tag).and_then(|of| of.get("unit")) {
            Some(Value::String(unit)) if unit == "sec" || unit == "s" => S,
            Some(Value::String(unit)) if unit == "ms" => MS,
            None => continue,
            Some(unit) => return Err(format!("`{tag}` has the unknown unit {unit}")),
        };
        let key = |statistic: &str| number(of, &[tag, statistic]);
        found.times(measure, unit, ["avg", "p50", "p99"].map(key));
    }
    let completed = count(of, &["request_count", "avg"]);
    let failed = count(of, &["error_request_count", "avg"]);
    found.result(Tool::AiPerf, completed, failed)
}

/// Whether AIPerf took its counts of tokens from the server, as its options in the file say.
fn uses_server_counts(of: &Value) -> bool {
    fn finds(of: &Value, depth: u32) -> bool {
        match of {
            Value::Object(members) if depth > 0 => members.iter().any(|(key, value)| {
                key == "use_server_token_count" && *value == Value::Bool(true)
                    || finds(value, depth - 1)
            }),
            Value::Array(items) if depth > 0 => items.iter().any(|item| finds(item, depth - 1)),
            _ => false,
        }
    }
    of.get("input_config").is_some_and(|of| finds(of, 8))
}

fn guidellm(of: &Value) -> Result<ToolResult, String> {
    let benchmarks = of.get("benchmarks").and_then(Value::as_array);
    let benchmarks = benchmarks.map_or(&[][..], Vec::as_slice);
    let [one] = benchmarks else {
        let several = benchmarks.len();
        return Err(format!(
            "it has {several} benchmarks of GuideLLM; use a file with exactly one, such as of a \
             profile with one rate"
        ));
    };
    let mut found = Found::default();
    let metrics = one.get("metrics").unwrap_or(&Value::Null);
    found.rate(
        ToolMeasure::Requests,
        number(metrics, &["requests_per_second", "successful", "mean"]),
    );
    found.rate(
        ToolMeasure::Output,
        number(metrics, &["output_tokens_per_second", "successful", "mean"]),
    );
    let measures = [
        (ToolMeasure::Ttft, "time_to_first_token_ms", MS),
        (ToolMeasure::EndToEnd, "request_latency", S),
    ];
    for (measure, name, unit) in measures {
        let of = |path: &[&str]| number(metrics, &[&[name, "successful"], path].concat());
        let values = [of(&["mean"]), of(&["median"]), of(&["percentiles", "p99"])];
        found.times(measure, unit, values);
    }
    let requests = |kind| count(metrics, &["request_totals", kind]);
    found.result(Tool::GuideLlm, requests("successful"), requests("errored"))
}

/// drumfire's own summary.
pub(super) fn drumfire(json: &[u8]) -> Result<ToolResult, String> {
    let value: Value =
        serde_json::from_slice(json).map_err(|error| format!("it is not JSON: {error}"))?;
    if value.get("schema").and_then(Value::as_str) != Some(SUMMARY_SCHEMA) {
        return Err(format!(
            "it is not a result of vLLM, AIPerf or GuideLLM, and not `{SUMMARY_SCHEMA}`, which \
             --json FILE writes"
        ));
    }
    let document: Document = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let Some(llm) = &document.llm else {
        return Err("it has no answers of language models".to_owned());
    };
    let mut found = Found::default();
    let seconds = document.run.duration_ns as f64 / S;
    let ok = document.requests.ok as f64;
    found.rate(ToolMeasure::Requests, (seconds > 0.0).then(|| ok / seconds));
    found.rate(ToolMeasure::Output, Some(llm.tokens.out_per_s));
    let measures = [
        (ToolMeasure::Ttft, &llm.ttft_service),
        (ToolMeasure::EndToEnd, &document.latency.service_time),
        (ToolMeasure::PerToken, &llm.tpot),
        (ToolMeasure::Gap, &llm.gap),
    ];
    for (measure, of) in measures {
        found.times(
            measure,
            1.0,
            [mean(of), quantile(of, "p50"), quantile(of, "p99")],
        );
    }
    let requests = &document.requests;
    found.result(Tool::Drumfire, Some(requests.ok), Some(requests.failed))
}

fn mean(of: &Distribution) -> Option<f64> {
    of.mean.map(|mean| mean as f64)
}

/// A quantile that is not only a lower bound.
fn quantile(of: &Distribution, name: &str) -> Option<f64> {
    let value = of.quantiles.as_ref()?.get(name)?;
    let is_bound = of.at_least.iter().any(|bound| bound == name);
    (!is_bound).then_some(*value as f64)
}
