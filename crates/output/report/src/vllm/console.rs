//! The table that vLLM prints. Columns and labels are those of its Python client, byte for byte.

use super::figures::percentile_word;
use super::{VllmFacts, VllmFigures};
use std::fmt::Write as _;

const WIDTH: usize = 50;

/// The table of a result.
#[must_use]
pub fn table(facts: &VllmFacts, figures: &VllmFigures) -> String {
    let mut out = Table(format!("{:=^WIDTH$}\n", " Serving Benchmark Result "));
    out.count("Successful requests:", figures.completed);
    out.count("Failed requests:", figures.failed);
    if let Some(concurrency) = facts.max_concurrency {
        out.count("Maximum request concurrency:", concurrency);
    }
    if let Some(rate) = facts.request_rate {
        out.figure("Request rate configured (RPS):", rate);
    }
    out.figure("Benchmark duration (s):", figures.duration);
    let has_tokens = facts.generates && facts.tokenizer_id.is_some();
    if has_tokens || !facts.generates {
        out.count("Total input tokens:", figures.input);
    }
    if has_tokens {
        out.count("Total generated tokens:", figures.output);
    }
    let requests = figures.per_second(figures.completed);
    out.figure("Request throughput (req/s):", requests);
    if !facts.generates {
        out.figure("Input throughput (inputs/s):", requests);
    }
    if !facts.limits.is_empty() {
        out.figure("Request goodput (req/s):", figures.per_second(figures.good));
    }
    if has_tokens {
        out.figure(
            "Output token throughput (tok/s):",
            figures.per_second(figures.output),
        );
        out.figure(
            "Peak output token throughput (tok/s):",
            figures.peak_tokens as f64,
        );
    }
    if facts.generates {
        out.figure("Peak concurrent requests:", figures.peak_requests as f64);
    }
    if has_tokens || !facts.generates {
        let tokens = figures.per_second(figures.input + figures.output);
        out.figure("Total token throughput (tok/s):", tokens);
    }
    if let Some(probes) = &figures.probes {
        let times = &probes.end_to_end;
        out.section("Probe Requests");
        out.count("Probe requests completed:", probes.completed);
        out.count("Probe requests failed:", probes.failed);
        out.figure("Median probe E2EL (ms):", times.percentile(50.0));
        out.figure("P99 probe E2EL (ms):", times.percentile(99.0));
        out.figure("Max probe E2EL (ms):", times.percentile(100.0));
    }
    for metric in &facts.metrics {
        out.section(metric.header());
        let (times, label) = (figures.times(*metric), metric.label());
        out.figure(&format!("Mean {label} (ms):"), times.mean);
        out.figure(&format!("Median {label} (ms):"), times.percentile(50.0));
        for percent in &facts.percentiles {
            let word = percentile_word(*percent);
            out.figure(
                &format!("P{word} {label} (ms):"),
                times.percentile(*percent),
            );
        }
    }
    out.0.push_str(&"=".repeat(WIDTH));
    out.0.push('\n');
    out.0
}

/// The rows so far: a label in 40 columns and a value in 10.
struct Table(String);

impl Table {
    fn count(&mut self, label: &str, value: u64) {
        // Writing to a String can't fail.
        let _ = writeln!(self.0, "{label:<40} {value:<10}");
    }

    fn figure(&mut self, label: &str, value: f64) {
        let _ = writeln!(self.0, "{label:<40} {value:<10.2}");
    }

    fn section(&mut self, header: &str) {
        let _ = writeln!(self.0, "{header:-^WIDTH$}");
    }
}
