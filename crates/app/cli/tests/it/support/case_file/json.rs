//! The lines about JSON in a case: `PATH OPERATOR VALUE`.
//!
//! A path has keys and indices between dots. `#` is a length, `*` every element, and `KEY=VALUE`
//! the element with that value. In a summary, `errors(KIND)` is the count of a kind of failure,
//! `kinds` the kinds in order, and `status(N)` the count of a status. A value `@PATH` is the value
//! at another path.

use crate::support::Report;
use serde_json::Value;

/// The value at a path.
fn value_at(value: &Value, path: &str) -> Value {
    if let Some(found) = special(value, path) {
        return found;
    }
    let (key, rest) = match path.split_once('.') {
        Some((key, rest)) => (key, Some(rest)),
        None => (path, None),
    };
    let on = |value: &Value| rest.map_or_else(|| value.clone(), |rest| value_at(value, rest));
    match (key, value, key.split_once('=')) {
        ("#", Value::Array(list), _) => list.len().into(),
        ("#", Value::Object(map), _) => map.len().into(),
        ("#", Value::String(text), _) => text.len().into(),
        ("*", Value::Array(list), _) => list.iter().map(on).collect(),
        ("*", Value::Object(map), _) => map.keys().cloned().collect(),
        (_, Value::Array(list), Some((key, wanted))) => {
            let found = list.iter().find(|one| text(&one[key]) == wanted);
            found.map_or(Value::Null, on)
        }
        (_, Value::Array(list), None) => {
            let found = key.parse().ok().and_then(|n: usize| list.get(n));
            found.map_or(Value::Null, on)
        }
        _ => on(&value[key]),
    }
}

/// The value of a path with a special meaning in summaries.
fn special(value: &Value, path: &str) -> Option<Value> {
    let report = || Report::of_value(value.clone());
    let within = |start: &str| path.strip_prefix(start)?.strip_suffix(')');
    if let Some(kind) = within("errors(") {
        return Some(report().kind(kind).into());
    }
    if let Some(status) = within("status(") {
        return Some(report().status(status.parse().ok()?).into());
    }
    (path == "kinds").then(|| report().kinds().into())
}

/// A value as a text: strings without quotes.
fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn is_so(found: &Value, operator: &str, wanted: &str) -> Option<bool> {
    let numbers = || Some((found.as_f64()?, wanted.parse::<f64>().ok()?));
    Some(match operator {
        "=" => match serde_json::from_str::<Value>(wanted) {
            Ok(value) => *found == value,
            Err(_) => text(found) == wanted,
        },
        "has" => text(found).contains(wanted),
        "lacks" => !text(found).contains(wanted),
        ">" => numbers().is_some_and(|(a, b)| a > b),
        ">=" => numbers().is_some_and(|(a, b)| a >= b),
        "<" => numbers().is_some_and(|(a, b)| a < b),
        "<=" => numbers().is_some_and(|(a, b)| a <= b),
        _ => return None,
    })
}

/// The lines that fail, each with the value that was found.
pub(super) fn wrong(value: &Value, lines: &str) -> Vec<String> {
    let judge = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let (path, operator) = (words.next()?, words.next().unwrap_or_default());
        let found = value_at(value, path);
        let wanted = words.next().unwrap_or_default();
        let other = wanted
            .strip_prefix('@')
            .map(|path| value_at(value, path).to_string());
        let so = is_so(&found, operator, other.as_deref().unwrap_or(wanted));
        (so != Some(true)).then(|| format!("{line}: found {found}"))
    };
    lines.lines().filter_map(judge).collect()
}

#[test]
fn values_are_found_and_compared() {
    let value = serde_json::json!({
        "a": { "b": [1, 2] }, "s": [{ "name": "x", "n": 3 }, { "name": "y", "n": 4 }],
        "errors": [{ "kind": "reset", "count": 2 }], "status": { "200": 7 }, "t": "a b",
    });
    let right = "a.b.1 = 2\na.b.# = 2\ns.*.n = [3,4]\ns.name=y.n > 3\nerrors(reset) = 2\n\
                 errors(x) = 0\nkinds = [\"reset\"]\nstatus(200) >= 7\nt = a b\nt has a\nt lacks c\n\
                 status.* = [\"200\"]\na.b.0 <= 1\na.b.0 < @a.b.1\n";
    assert_eq!(wrong(&value, right), Vec::<String>::new());
    for line in [
        "a.b.1 = 3",
        "a.c = 1",
        "t has z",
        "t lacks a",
        "a.b.0 > 1",
        "a.b.0 is 1",
        "s.name=z.n = 3",
    ] {
        assert_eq!(wrong(&value, line).len(), 1, "{line}");
    }
}
