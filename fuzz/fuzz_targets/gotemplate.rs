//! Arbitrary text as a Go template: no panic, and output within the limits.

#![no_main]

use drumfire_gotemplate::{Env, Functions, GoTemplate, Limits, Value};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// A constant environment.
struct Still(u64);

impl Env for Still {
    fn unix_time_ns(&mut self) -> i64 {
        1_700_000_000_123_456_789
    }

    fn random(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0
    }
}

static FUNCTIONS: LazyLock<Functions> = LazyLock::new(Functions::sprig);

const LIMITS: Limits = Limits {
    output_bytes: 10_000,
    value_bytes: 1_000_000,
    steps: 100_000,
};

fuzz_target!(|text: &str| {
    let Ok(template) = GoTemplate::parse("fuzz", text, &FUNCTIONS) else {
        return;
    };
    let inner = Value::dictionary([("c", "text".into()), ("list", Value::strings(["x", "y"]))]);
    let data = Value::dictionary([("a", Value::int(1)), ("b", inner)]);
    let mut out = String::new();
    let executed = template
        .clone()
        .with_limits(LIMITS)
        .execute(&data, &mut Still(1), &mut out);
    assert!(out.len() <= LIMITS.output_bytes);
    if template.is_static() {
        assert_eq!(executed, Ok(()));
        assert_eq!(out, text);
    }
});
