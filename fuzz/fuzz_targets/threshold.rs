//! Arbitrary text as a threshold: errors point into the text, and the canonical form of an accepted
//! threshold parses to the same rule.

#![no_main]

use drumfire_plan::Threshold;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Threshold>() {
        Ok(threshold) => {
            assert!(threshold.bound.is_finite() && threshold.bound >= 0.0);
            let printed = threshold.to_string();
            let again: Threshold = printed.parse().expect("its own text parses");
            let rule = |t: &Threshold| (t.metric.clone(), t.comparison, t.bound, t.window, t.role);
            assert_eq!(rule(&again), rule(&threshold), "{printed}");
        }
        Err(error) => {
            assert!(error.at <= text.len(), "{error:?}");
            assert!(text.is_char_boundary(error.at), "{error:?}");
        }
    }
});
