//! JSON paths compared with the independent compliance test suite of RFC 9535.

use crate::reply::Reply;
use drumfire_extract::Extractor;
use serde_json::Value;

const SUITE: &str = include_str!("../../../../../conformance/jsonpath/cts.json");

/// In a plan, a path follows other words, so surrounding blanks are not part of it.
const TRIMMED: [&str; 2] = [
    "basic, no leading whitespace",
    "basic, no trailing whitespace",
];

/// The values of a path, or the reason why it is invalid.
fn values(path: &str, document: &Value) -> Result<Value, String> {
    let text = format!("json#all {path}");
    Extractor::parse(&text).map_err(|error| error.to_string())?;
    let values = Reply::new(document.to_string()).extract(&text)?;
    serde_json::from_str(&values).map_err(|error| format!("{values}: {error}"))
}

/// Whether the result of a case is equal to the suite's; otherwise the difference.
fn check(case: &Value) -> Result<(), String> {
    let path = case["selector"].as_str().expect("a selector");
    let given = values(path, &case["document"]);
    let is_path = case["invalid_selector"] != true;
    match (given, is_path) {
        (Err(_), false) => Ok(()),
        (Ok(given), true) => {
            let mut expected = case["results"].as_array().into_iter().flatten();
            match given == case["result"] || expected.any(|expected| given == *expected) {
                true => Ok(()),
                false => Err(format!("{given}")),
            }
        }
        (given, _) => Err(format!("{given:?}")),
    }
}

#[test]
fn paths_are_those_of_the_standard() {
    let suite: Value = serde_json::from_str(SUITE).expect("a suite");
    let cases = suite["tests"].as_array().expect("a list of cases");
    assert!(cases.len() > 600);
    let mut wrong = Vec::new();
    for case in cases {
        let name = case["name"].as_str().expect("a name");
        let is_trimmed = TRIMMED.contains(&name);
        match check(case) {
            Ok(()) if is_trimmed => wrong.push(format!("{name}: it is as the suite has it")),
            Err(given) if !is_trimmed => wrong.push(format!("{name}: {given}")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
