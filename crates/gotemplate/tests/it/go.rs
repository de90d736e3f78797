//! The cases of `tests/cases`, which have Go's own output; see the README there.

#![expect(clippy::unwrap_used, reason = "a case that can't be read is a failure")]

use drumfire_gotemplate::{Env, Functions, Template, Value};
use serde_json::Value as Json;

/// A world in which nothing happens: the epoch, UTC, and random bits from a counter.
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

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Value::int(int),
            None => Value::Float(number.as_f64().unwrap()),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::list(items.iter().map(value).collect()),
        Json::Object(entries) => Value::dictionary(
            entries
                .iter()
                .map(|(key, item)| (key.as_str(), value(item))),
        ),
    }
}

fn run(template: &str, data: &Value) -> Result<String, String> {
    let template =
        Template::parse("t", template, &Functions::sprig()).map_err(|error| error.to_string())?;
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
        let data = case.get("data").map_or(Value::Missing, value);
        let template = case["template"].as_str().unwrap();
        let expected = match case.get("output") {
            Some(output) => Ok(output.as_str().unwrap().to_owned()),
            None => Err(case["error"].as_str().unwrap().to_owned()),
        };
        let got = run(template, &data);
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

cases! { bytes dates language lists numbers printf strings }

/// Functions whose results differ each time in Go; what they make can be undone or recognized.
#[test]
fn secrets_are_made_as_sprig_makes_them() {
    let made = |template: &str| run(template, &Value::Missing).unwrap();
    // Go's own.
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
