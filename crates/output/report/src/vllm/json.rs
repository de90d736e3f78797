//! The JSON object that vLLM writes with `--save-result`.

use super::figures::percentile_word;
use super::{Answered, VllmFigures, VllmMetric, VllmTally};
use crate::calendar::rfc3339_seconds;
use serde_json::{Value, json};

/// What the result says about the run besides its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct VllmFacts {
    /// `YYYYmmdd-HHMMSS`.
    pub date: String,
    /// The name of the backend, such as `openai-chat`.
    pub backend: String,
    /// The user's label.
    pub label: Option<String>,
    /// The model.
    pub model_id: String,
    /// The tokenizer; `None` if there are no figures in tokens.
    pub tokenizer_id: Option<String>,
    /// The number of requests of the command line; `None`: as many as there were.
    pub num_prompts: Option<u64>,
    /// The user's own members.
    pub metadata: Vec<(String, String)>,
    /// The rate in requests per second; `None` without a limit.
    pub request_rate: Option<f64>,
    /// The shape of the gaps between arrivals.
    pub burstiness: f64,
    /// The maximum number of requests at a time.
    pub max_concurrency: Option<u64>,
    /// The change of the rate, if it changes.
    pub ramp: Option<VllmRamp>,
    /// Whether answers are generated; if not, they are pooled, as embeddings are.
    pub generates: bool,
    /// The times to report.
    pub metrics: Vec<VllmMetric>,
    /// The percentiles to report.
    pub percentiles: Vec<f64>,
    /// The limits of good answers, in milliseconds.
    pub limits: Vec<(VllmMetric, f64)>,
    /// Whether to list every request.
    pub is_detailed: bool,
}

/// A rate that changes with the number of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VllmRamp {
    /// `linear` or `exponential`.
    pub strategy: String,
    /// The rate of the first request per second.
    pub start: u64,
    /// The rate of the last request per second.
    pub end: u64,
}

/// A time as vLLM writes it, in UTC.
#[must_use]
pub fn date(unix_nanos: u64) -> String {
    let text = rfc3339_seconds(unix_nanos);
    let kept = text.replace([':', '-', 'Z'], "");
    kept.replace('T', "-")
}

/// The object of a result, without a line end.
#[must_use]
pub fn json(facts: &VllmFacts, tally: &VllmTally, figures: &VllmFigures) -> String {
    let mut out = Object(String::from("{"));
    push_facts(&mut out, facts, tally);
    push_figures(&mut out, facts, figures);
    if let Some(probes) = &figures.probes {
        let times = &probes.end_to_end;
        out.push("probe_completed", &json!(probes.completed));
        out.push("probe_failed", &json!(probes.failed));
        out.push("probe_median_e2el_ms", &json!(times.percentile(50.0)));
        out.push("probe_p99_e2el_ms", &json!(times.percentile(99.0)));
        out.push("probe_max_e2el_ms", &json!(times.percentile(100.0)));
    }
    if facts.is_detailed {
        push_requests(&mut out, facts, tally);
    }
    for metric in &facts.metrics {
        let (times, name) = (figures.times(*metric), metric.name());
        out.push(&format!("mean_{name}_ms"), &json!(times.mean));
        out.push(&format!("median_{name}_ms"), &json!(times.percentile(50.0)));
        out.push(&format!("std_{name}_ms"), &json!(times.std));
        for percent in &facts.percentiles {
            let word = percentile_word(*percent);
            let value = json!(times.percentile(*percent));
            out.push(&format!("p{word}_{name}_ms"), &value);
        }
    }
    out.0.push('}');
    out.0
}

fn push_facts(out: &mut Object, facts: &VllmFacts, tally: &VllmTally) {
    out.push("date", &json!(facts.date));
    out.push("endpoint_type", &json!(facts.backend));
    out.push("backend", &json!(facts.backend));
    out.push("label", &json!(facts.label));
    out.push("model_id", &json!(facts.model_id));
    out.push("tokenizer_id", &json!(facts.tokenizer_id));
    let count = facts.num_prompts;
    let count = count.unwrap_or_else(|| tally.count() as u64);
    out.push("num_prompts", &json!(count));
    for (key, value) in &facts.metadata {
        out.push(key, &json!(value));
    }
    let rate = match facts.request_rate {
        Some(rate) => json!(rate),
        None => json!("inf"),
    };
    out.push("request_rate", &rate);
    out.push("burstiness", &json!(facts.burstiness));
    out.push("max_concurrency", &json!(facts.max_concurrency));
    if let Some(ramp) = &facts.ramp {
        out.push("ramp_up_strategy", &json!(ramp.strategy));
        out.push("ramp_up_start_rps", &json!(ramp.start));
        out.push("ramp_up_end_rps", &json!(ramp.end));
    }
}

fn push_figures(out: &mut Object, facts: &VllmFacts, figures: &VllmFigures) {
    let per_second = |count| json!(figures.per_second(count));
    out.push("duration", &json!(figures.duration));
    out.push("completed", &json!(figures.completed));
    if facts.generates {
        out.push("failed", &json!(figures.failed));
    }
    out.push("total_input_tokens", &json!(figures.input));
    if facts.generates {
        out.push("total_output_tokens", &json!(figures.output));
    } else {
        out.push("total_input_sequences", &json!(figures.completed));
    }
    out.push("request_throughput", &per_second(figures.completed));
    let tokens = per_second(figures.input + figures.output);
    if !facts.generates {
        out.push("input_sequence_throughput", &per_second(figures.completed));
        return out.push("total_token_throughput", &tokens);
    }
    let goodput = match facts.limits.is_empty() {
        true => Value::Null,
        false => per_second(figures.good),
    };
    out.push("request_goodput", &goodput);
    out.push("output_throughput", &per_second(figures.output));
    out.push("total_token_throughput", &tokens);
    let peak = figures.peak_tokens as f64;
    out.push("max_output_tokens_per_s", &json!(peak));
    out.push("max_concurrent_requests", &json!(figures.peak_requests));
    out.push("rtfx", &json!(0.0));
}

/// The lists of all requests, in order of issue; times are in seconds.
fn push_requests(out: &mut Object, facts: &VllmFacts, tally: &VllmTally) {
    let mut list = |key: &str, value: &dyn Fn(&Answered) -> Value| {
        let values: Vec<Value> = tally.answers.iter().map(value).collect();
        out.push(key, &Value::Array(values));
    };
    list("input_lens", &|answer| json!(answer.input));
    if facts.generates {
        list("output_lens", &|answer| json!(answer.output));
        list("ttfts", &|answer| {
            json!(answer.ttft().unwrap_or_default().as_secs_f64())
        });
        list("itls", &|answer| {
            let gaps = answer.gaps.iter().map(|gap| gap.as_secs_f64());
            json!(gaps.collect::<Vec<f64>>())
        });
        list("generated_texts", &|_| json!(""));
    }
    list("start_times", &|answer| json!(answer.began.as_secs_f64()));
    list("latencies", &|answer| {
        json!(answer.end_to_end().as_secs_f64())
    });
    list("queue_times", &|answer| {
        json!(answer.queued().as_secs_f64())
    });
    list("errors", &|answer| {
        json!(answer.error.as_deref().unwrap_or_default())
    });
}

/// An object so far. Members keep their order.
struct Object(String);

impl Object {
    fn push(&mut self, key: &str, value: &Value) {
        if self.0.len() > 1 {
            self.0.push_str(", ");
        }
        self.0.push_str(&json!(key).to_string());
        self.0.push_str(": ");
        self.0.push_str(&value.to_string());
    }
}
