//! The cases of `tests/cases`, which contain Go's output; see the README there.

#![expect(clippy::unwrap_used, reason = "a case that can't be read is a failure")]

use drumfire_gotemplate::{Env, Functions, GoTemplate, Value};
use serde_json::Value as Json;

/// A constant environment: the epoch, UTC, and random bits from a counter.
struct Still(u64);

impl Env for Still {
    fn unix_time_ns(&mut self) -> i64 {
        1_700_000_000_123_456_789
    }

    fn random(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ mixed >> 27
    }
}

/// Converts JSON to a value; `whole` creates its whole numbers, as an integer or as a JSON number.
fn value(json: &Json, whole: fn(i64) -> Value) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(int) => whole(int),
            None => Value::Float(number.as_f64().unwrap()),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::list(items.iter().map(|item| value(item, whole)).collect()),
        Json::Object(entries) => Value::dictionary(
            entries
                .iter()
                .map(|(key, item)| (key.as_str(), value(item, whole))),
        ),
    }
}

fn run(template: &str, data: &Value) -> Result<String, String> {
    run_with(&Functions::sprig(), template, data)
}

fn run_with(functions: &Functions, template: &str, data: &Value) -> Result<String, String> {
    let template =
        GoTemplate::parse("t", template, functions).map_err(|error| error.to_string())?;
    let mut out = String::new();
    template
        .execute(data, &mut Still(1), &mut out)
        .map_err(|error| error.to_string())?;
    Ok(out)
}

fn check(file: &str, cases: &str) {
    let mut failures = Vec::new();
    for (n, line) in cases.lines().enumerate() {
        let case: Json = serde_json::from_str(line).unwrap();
        let (functions, data) = match (case.get("data"), case.get("json")) {
            (Some(data), _) => (Functions::sprig(), value(data, Value::int)),
            (None, Some(json)) => (Functions::builtin(), value(json, Value::Whole)),
            (None, None) => (Functions::sprig(), Value::Missing),
        };
        let template = case["template"].as_str().unwrap();
        let expected = match case.get("output") {
            Some(output) => Ok(output.as_str().unwrap().to_owned()),
            None => Err(case["error"].as_str().unwrap().to_owned()),
        };
        let got = run_with(&functions, template, &data);
        if got != expected {
            failures.push(format!(
                "{file}:{}: {template}\n  expected {expected:?}\n  got      {got:?}",
                n + 1
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

macro_rules! cases {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let file = concat!(stringify!($name), ".jsonl");
            check(file, include_str!(concat!("../cases/", stringify!($name), ".jsonl")));
        }
    )*};
}

cases! { bytes dates json_numbers language lists numbers printf strings }

/// Tests functions with random results in Go, by reversing or recognizing their output.
#[test]
fn secrets_are_made_as_sprig_makes_them() {
    let made = |template: &str| run(template, &Value::Missing).unwrap();
    // Go's output.
    let derived = made("{{derivePassword 1 `long` `p` `u` `s`}}");
    assert_eq!(derived, "Rude2$QafoJela");
    let nothing = made("{{derivePassword 1 `none` `p` `u` `s`}}");
    assert_eq!(nothing, "cannot find password template none");
    for text in ["x", "sixteen letters!", "more than one block of them"] {
        let there = made(&format!("{{{{encryptAES `k` `{text}`}}}}"));
        assert_ne!(there, text);
        let back = made(&format!("{{{{decryptAES `k` `{there}`}}}}"));
        assert_eq!(back, text);
    }
    assert!(run("{{decryptAES `k` `eA==`}}", &Value::Missing).is_err());
    let hash = made("{{bcrypt `x`}}");
    assert!(hash.starts_with("$2a$10$") && hash.len() == 60, "{hash}");
    assert_eq!(made("{{htpasswd `u` `x`}}"), format!("u:{hash}"));
    assert_eq!(made("{{htpasswd `u:` `x`}}"), "invalid username: u:");
}

/// Whole numbers from JSON for which Go prints fewer digits, or rejects a `float64`.
#[test]
fn whole_numbers_of_json_are_integers_too() {
    let data = Value::dictionary([
        ("id", Value::Whole(12_345_678)),
        ("n", Value::Whole(1)),
        ("list", Value::list(vec!["a".into(), "b".into()])),
    ]);
    for (template, wanted) in [
        (
            "{{.id}} {{print .id}} {{html .id}}",
            "12345678 12345678 12345678",
        ),
        (
            "{{printf \"%v %8v %d %05d %x\" .id .n .id .n .n}}",
            "12345678        1 12345678 00001 0x1p+00",
        ),
        ("{{eq .n 1}} {{lt .n 2}} {{ge 1 .n}}", "true true true"),
        (
            "{{eq .n 1.0}} {{lt .n 1.5}} {{gt 1.5 .n}}",
            "true true true",
        ),
        (
            "{{index .list .n}} {{slice \"abc\" .n}} {{range .n}}r{{end}}",
            "b bc r",
        ),
        ("{{printf \"%*d\" .n 5}} {{printf \"%T\" .n}}", "5 float64"),
    ] {
        let made = run_with(&Functions::builtin(), template, &data);
        assert_eq!(made.as_deref(), Ok(wanted), "{template}");
    }
}
