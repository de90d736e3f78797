//! Figures are compared with those of numpy's formulas, computed by hand.

use super::*;
use drumfire_measure::{AnswerSample, Leniencies, Particulars, Sample};
use drumfire_plan::TokenUsage;

/// An answer whose request was due at `due` and taken at `began`; its tokens came at `tokens`. All
/// are milliseconds.
fn kept(due: u64, began: u64, tokens: &[u64], outcome: Outcome) -> Kept {
    let at = |ms: u64| Nanos::from_millis(ms);
    let gaps = tokens.windows(2).map(|two| at(two[1] - two[0])).collect();
    let last = tokens.last().copied().unwrap_or(began + 1);
    let answer = AnswerSample {
        generates: true,
        first: tokens.first().map(|ms| at(*ms)),
        last: tokens.last().map(|ms| at(*ms)),
        token_events: tokens.len() as u64,
        usage: TokenUsage {
            input: Some(10),
            output: Some(tokens.len() as u32),
            ..TokenUsage::default()
        },
        is_complete: outcome == Outcome::Ok,
        ..AnswerSample::default()
    };
    Kept {
        sample: Sample {
            intended: at(due),
            due: at(began),
            sent: at(began),
            first_byte: at(began),
            end: at(last + 5),
            bytes_sent: 1,
            outcome,
            leniencies: Leniencies::default(),
            bytes_received: 1,
            status: 200,
            step: 0,
        },
        particulars: Particulars {
            arrival: due,
            began: at(began),
            written: at(began),
        },
        detail: None,
        answer: Some(Box::new(KeptAnswer { answer, gaps })),
        pool: 0,
    }
}

fn tally() -> VllmTally {
    let mut tally = VllmTally::default();
    tally.record(&kept(10, 20, &[60, 80, 110, 120], Outcome::Ok), None);
    tally.record(&kept(0, 0, &[50, 60, 70], Outcome::Ok), None);
    tally.record(&kept(30, 30, &[90], Outcome::LlmCut), Some("it ended"));
    tally.close();
    tally
}

#[test]
fn figures_are_those_of_the_formulas() {
    let tally = tally();
    let limits = [(VllmMetric::Ttft, 45.0), (VllmMetric::Tpot, 20.0)];
    let figures = VllmFigures::new(&tally, &limits);
    let numbers = (
        figures.completed,
        figures.failed,
        figures.input,
        figures.output,
    );
    assert_eq!(numbers, (2, 1, 20, 7));
    assert!((figures.duration - 0.12).abs() < 1e-12);
    // Only the answer from 20 ms on has its first token within 45 ms.
    assert_eq!(figures.good, 1);
    assert_eq!((figures.peak_tokens, figures.peak_requests), (7, 2));
    for (metric, mean, median, p99, std) in [
        (VllmMetric::Ttft, 45.0, 45.0, 49.9, 5.0),
        (VllmMetric::Tpot, 15.0, 15.0, 19.9, 5.0),
        // 10, 10, 10, 20, 30
        (VllmMetric::Itl, 16.0, 10.0, 29.6, 8.0),
        (VllmMetric::E2el, 85.0, 85.0, 99.7, 15.0),
        (VllmMetric::ClientQueueTime, 5.0, 5.0, 9.9, 5.0),
        (
            VllmMetric::E2elIncludingClientQueue,
            90.0,
            90.0,
            109.6,
            20.0,
        ),
    ] {
        let times = figures.times(metric);
        let found = [
            times.mean,
            times.percentile(50.0),
            times.percentile(99.0),
            times.std,
        ];
        for (found, right) in found.into_iter().zip([mean, median, p99, std]) {
            assert!((found - right).abs() < 1e-9, "{metric:?}: {found} {right}");
        }
    }
}

/// Without a rate, all requests are due at once, and wait.
#[test]
fn requests_of_a_burst_wait_from_the_start() {
    let mut tally = VllmTally::of_burst();
    tally.record(&kept(0, 0, &[50], Outcome::Ok), None);
    tally.record(&kept(60, 60, &[90], Outcome::Ok), None);
    tally.close();
    let figures = VllmFigures::new(&tally, &[]);
    let mean = |metric| figures.times(metric).mean;
    assert_eq!(mean(VllmMetric::ClientQueueTime), 30.0);
    assert_eq!(mean(VllmMetric::E2elIncludingClientQueue), 70.0);
}

fn facts() -> VllmFacts {
    VllmFacts {
        date: date(1_700_000_000_000_000_000),
        backend: "openai-chat".to_owned(),
        label: None,
        model_id: "m".to_owned(),
        tokenizer_id: Some("m".to_owned()),
        num_prompts: Some(3),
        metadata: vec![("gpu".to_owned(), "none".to_owned())],
        request_rate: None,
        burstiness: 1.0,
        max_concurrency: Some(2),
        ramp: None,
        generates: true,
        metrics: vec![VllmMetric::Ttft],
        percentiles: vec![99.0, 99.9],
        limits: Vec::new(),
        is_detailed: true,
    }
}

#[test]
fn json_has_the_keys_and_lists() {
    let tally = tally();
    let text = json(&facts(), &tally, &VllmFigures::new(&tally, &[]));
    assert!(text.starts_with("{\"date\": \"20231114-221320\", \"endpoint_type\": \"openai-chat\""));
    let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(read["request_rate"], "inf");
    assert_eq!(read["gpu"], "none");
    assert_eq!(read["request_goodput"], serde_json::Value::Null);
    assert_eq!(read["output_lens"], serde_json::json!([3, 4, 0]));
    assert_eq!(read["ttfts"], serde_json::json!([0.05, 0.04, 0.06]));
    assert_eq!(read["itls"][0], serde_json::json!([0.01, 0.01]));
    assert_eq!(
        read["errors"],
        serde_json::json!(["", "", "llm:cut: it ended"])
    );
    for key in [
        "mean_ttft_ms",
        "median_ttft_ms",
        "std_ttft_ms",
        "p99_ttft_ms",
        "p99.9_ttft_ms",
    ] {
        assert!(read[key].is_number(), "{key}");
    }
    assert!(read.get("mean_tpot_ms").is_none());
}

#[test]
fn the_table_has_its_columns() {
    let tally = tally();
    let text = table(&facts(), &VllmFigures::new(&tally, &[]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "============ Serving Benchmark Result ============"
    );
    assert_eq!(
        lines[1],
        "Successful requests:                     2         "
    );
    assert_eq!(
        lines[3],
        "Maximum request concurrency:             2         "
    );
    assert_eq!(
        lines[4],
        "Benchmark duration (s):                  0.12      "
    );
    assert!(lines.contains(&"---------------Time to First Token----------------"));
    assert!(lines.contains(&"P99.9 TTFT (ms):                         49.99     "));
    assert_eq!(lines.last(), Some(&"=".repeat(50).as_str()));
    assert!(lines.iter().all(|line| line.len() >= 50));
}

#[test]
fn nothing_at_all_has_figures_of_zero() {
    let tally = VllmTally::default();
    let figures = VllmFigures::new(&tally, &[]);
    assert!(table(&facts(), &figures).contains("Mean TTFT (ms):                          0.00"));
    assert_eq!(figures.per_second(1), 0.0);
}
