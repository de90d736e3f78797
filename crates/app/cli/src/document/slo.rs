//! `drumfire llm --slo`: limits of good answers, given one by one or by the name of a benchmark.

use crate::exit::Failure;
use drumfire_document::{Diagnostic, Place, Text};
use drumfire_plan::suggestion_of;

/// The flag, as messages name it.
const FLAG: Place = Place::Flag { name: "--slo" };

/// The share of answers that must be good. The limits of MLPerf are 99th percentiles.
const SHARE: &str = "99%";

/// The limits of MLPerf Inference for its servers and its interactive servers, in milliseconds:
/// the time to the first token and the time per token (inference_rules.adoc of July 2026).
const PRESETS: [(&str, u32, u32); 11] = [
    ("mlperf/llama3.1-8b-server", 2_000, 100),
    ("mlperf/llama3.1-8b-interactive", 500, 30),
    ("mlperf/llama2-70b-server", 2_000, 200),
    ("mlperf/llama2-70b-interactive", 450, 40),
    ("mlperf/llama3.1-405b-server", 6_000, 175),
    ("mlperf/llama3.1-405b-interactive", 4_500, 80),
    ("mlperf/mixtral-8x7b-server", 2_000, 200),
    ("mlperf/deepseek-r1-server", 2_000, 80),
    ("mlperf/deepseek-r1-interactive", 1_500, 15),
    ("mlperf/gpt-oss-120b-server", 3_000, 80),
    ("mlperf/gpt-oss-120b-interactive", 2_000, 20),
];

/// The threshold on goodput for the value of the flag. Times are checked with the threshold.
///
/// # Errors
/// If the value is neither a name nor a list of limits.
pub(super) fn threshold(given: &str) -> Result<Text, Failure> {
    let wrong = |why: String| Failure::usage(Diagnostic::new(&FLAG, why));
    let limits = match given.contains('=') {
        true => {
            let parts = given
                .split(',')
                .map(|part| part.trim().replacen('=', "<=", 1));
            parts.collect::<Vec<String>>().join(",")
        }
        false => {
            let found = PRESETS.iter().find(|(name, ..)| *name == given);
            let (_, ttft, tpot) = found.ok_or_else(|| {
                let names = PRESETS.iter().map(|(name, ..)| *name);
                let shown = given.escape_debug();
                let near = suggestion_of(given, names, "names");
                wrong(format!(
                    "unknown name `{shown}`{near}; or write limits such as ttft=200ms,tpot=50ms"
                ))
            })?;
            format!("ttft<={ttft}ms,tpot<={tpot}ms")
        }
    };
    Ok(Text::new(format!("goodput({limits})>={SHARE}"), FLAG))
}

#[cfg(test)]
mod tests {
    use super::threshold;
    use drumfire_plan::Threshold;

    #[test]
    fn limits_and_names_are_thresholds() {
        for (given, text) in [
            (
                "ttft=200ms,tpot=50ms",
                "goodput(ttft<=200ms,tpot<=50ms)>=99%",
            ),
            (
                "mlperf/llama2-70b-interactive",
                "goodput(ttft<=450ms,tpot<=40ms)>=99%",
            ),
        ] {
            let found = threshold(given).unwrap_or_else(|failure| panic!("{}", failure.message));
            assert_eq!(found.value, text);
            let rule: Result<Threshold, _> = found.value.parse();
            assert!(rule.is_ok(), "{text}");
        }
        let failure = threshold("mlperf/llama2-70b")
            .err()
            .map(|failure| failure.message);
        let message = failure.unwrap_or_default();
        assert!(
            message.contains("did you mean `mlperf/llama2-70b-server`?"),
            "{message}"
        );
    }
}
