//! Values by their JSON path.

use crate::reply::Reply;
use proptest::prelude::*;
use serde_json::{Map, Value};

const SHOP: &str = r#" { "token" : "a\u0062\n\"c\" \ud83d\ude00 \u00e4ä" , "n": -1.50E+2, "big": 12345678901234567890123,
  "yes": true, "no": false, "none": null, "empty": "", "items": [ {"id": 7, "tags": [ ]}, {"id": 8}, {"no": 1}, {"id" : "x\\"} ],
  "a b": {"c-d": [[1], [2, 3]] , "": 4}, "t\u006fken2": 5 , "twice": 1, "twice": 2}
"#;

fn check(path: &str, expected: Result<&str, &str>) {
    Reply::new(SHOP).check(path, expected);
}

#[test]
fn members_and_elements() {
    check("json $.token", Ok("ab\n\"c\" 😀 ää"));
    check("json $['token']", Ok("ab\n\"c\" 😀 ää"));
    check("json $[\"token\"]", Ok("ab\n\"c\" 😀 ää"));
    check("json $.n", Ok("-1.50E+2"));
    check("json $.big", Ok("12345678901234567890123"));
    check("json $.yes", Ok("true"));
    check("json $.no", Ok("false"));
    check("json $.none", Ok("null"));
    check("json $.empty", Ok(""));
    check("json $.items[0].id", Ok("7"));
    check("json $.items[3].id", Ok("x\\"));
    check("json $.items[-1].id", Ok("x\\"));
    check("json $.items[-4].id", Ok("7"));
    check("json $.items[0]", Ok(r#"{"id":7,"tags":[]}"#));
    check("json $.items[0].tags", Ok("[]"));
    check("json $['a b']['c-d'][1][1]", Ok("3"));
    check("json $['a b']['c-d']", Ok("[[1],[2,3]]"));
    check("json $['a b']['']", Ok("4"));
    check("json $.token2", Ok("5"));
    check(r"json $['\u0074oken2']", Ok("5"));
    check("json $.twice", Ok("1"));
    check("json $ .items [0] .id", Ok("7"));
}

#[test]
fn several_values() {
    check("json $.items[*].id", Ok("7"));
    check("json#2 $.items[*].id", Ok("8"));
    check("json#last $.items[*].id", Ok("x\\"));
    check("json#count $.items[*].id", Ok("3"));
    check("json#count $.items[*]", Ok("4"));
    check("json#all $.items[*].id", Ok(r#"[7,8,"x\\"]"#));
    check("json#4 $.items[*].id", Err("there is no `#4`, only 3"));
    check("json#count $.nothing", Ok("0"));
    check("json#all $.nothing", Ok("[]"));
    check("json#all $.items[2,0]['id','no']", Ok("[1,7]"));
    check("json#all $..id", Ok(r#"[7,8,"x\\"]"#));
    check("json#count $..*", Ok("28"));
    check("json#all $['a b'].*[1]", Ok("[[2,3]]"));
    check("json $..nothing", Err("no such value"));
}

#[test]
fn whole_texts() {
    let check = |body: &str, path, expected| Reply::new(body).check(path, expected);
    check("7", "json $", Ok("7"));
    check(" \"a\" ", "json $", Ok("a"));
    check("\u{feff}{\"a\":1}", "json $.a", Ok("1"));
    check("[1 , 2]", "json $", Ok("[1,2]"));
    check(
        "7 8",
        "json $",
        Err("unexpected text after the value, at byte 2"),
    );
    check("{}", "json $", Ok("{}"));
    check(
        "{}",
        "json $.a",
        Err("there is no 'a' in `$`, an empty object"),
    );
}

#[test]
fn without_a_value_it_says_how_far_the_path_leads() {
    check(
        "json $.items[9].id",
        Err("there is no 9 in `$['items']`, an array of 4"),
    );
    check(
        "json $.items[-5]",
        Err("there is no -5 in `$['items']`, an array of 4"),
    );
    check(
        "json $.items.id",
        Err("there is no 'id' in `$['items']`, an array of 4"),
    );
    check(
        "json $.n.x",
        Err("there is no 'x' in `$['n']`, which is `-1.50E+2`"),
    );
    check(
        "json $.nothing",
        Err("there is no 'nothing' in `$`, which has `token`, `n`, `big`, `yes`, …"),
    );
    check("json $.items[0].a", Err("which has `id`, `tags`"));
    let secret = Err("there is no 'x' in `$['token']`, whose value may be a secret");
    check("json $.token.x", secret);
}

#[test]
fn what_is_no_json_gives_no_value() {
    for (body, path, reason) in [
        ("", "$.a", "it is empty"),
        ("  ", "$.a", "it is empty"),
        ("<html>", "$.a", "expected a value, at byte 0"),
        ("{\"a\"", "$.a", "expected a `:` after the name"),
        ("{\"a\":", "$.a", "expected a value"),
        ("{\"a\":1", "$.a", "it is cut off"),
        ("{\"a\":12", "$.b", "a `,` or the closing bracket"),
        ("{\"a\":\"x", "$.a", "a string is cut off"),
        ("{\"a\":\"x\\", "$.a", "a string is cut off"),
        ("{\"a\":01}", "$.a", "expected the end of the value"),
        ("{\"a\":1.}", "$.a", "expected a value"),
        ("{\"a\":1e}", "$.a", "expected a value"),
        ("{\"a\":+1}", "$.a", "expected a value"),
        ("{\"a\":nul}", "$.a", "expected a value"),
        ("{\"a\":nulls}", "$.a", "expected the end of the value"),
        ("{\"a\":truefalse}", "$.a", "expected the end of the value"),
        ("{\"a\":\"\\x\"}", "$.a", "an invalid escape"),
        ("{\"a\":\"\\ud83d\"}", "$.a", "an invalid escape"),
        ("{\"a\":\"\\ud83d\\u0041\"}", "$.a", "an invalid escape"),
        ("{\"a\":\"\\u+041\"}", "$.a", "an invalid escape"),
        ("{\"a\":\"\n\"}", "$.a", "a control character"),
        ("{a:1}", "$.a", "expected a string, at byte 1"),
        ("{\"b\":1,}", "$.a", "expected a string, at byte 7"),
        ("{\"b\":[1},\"a\":2}", "$.a", "does not match"),
        ("{\"b\":1 \"a\":2}", "$.a", "a `,` or the closing bracket"),
        ("[1,]", "$[1]", "expected a value"),
        ("[1,]", "$", "expected a value"),
        ("[1}", "$", "a `,` or the closing bracket"),
        ("[[1}]", "$", "closing bracket"),
    ] {
        let reply = Reply::new(body);
        let reason = reason.to_owned();
        let given = reply.extract(&format!("json {path}")).expect_err(body);
        let is_json = given.starts_with("the body is not JSON: ");
        assert!(is_json && given.contains(&reason), "{body} {path}: {given}");
    }
    Reply::new(b"{\"a\":\"\xff\"}").check("json $.a", Err("not UTF-8"));
    Reply::new(b"{\"\xff\":1,\"a\":2}").check("json $.a", Ok("2"));
}

/// Whether another parser reads fewer members than there are, because it keeps only the last of two
/// members with the same name.
fn has_twins(body: &[u8]) -> bool {
    fn members(value: &Value) -> usize {
        match value {
            Value::Array(all) => all.iter().map(members).sum(),
            Value::Object(all) => all.len() + all.values().map(members).sum::<usize>(),
            _ => 0,
        }
    }
    let value: Value = serde_json::from_slice(body).expect("JSON");
    let mut in_string = false;
    let mut is_escaped = false;
    let mut colons = 0;
    for byte in body {
        in_string ^= *byte == b'"' && !is_escaped;
        is_escaped = in_string && *byte == b'\\' && !is_escaped;
        colons += usize::from(*byte == b':' && !in_string);
    }
    members(&value) < colons
}

/// One step of a path into a value.
#[derive(Clone, Debug)]
enum Step {
    Member(String),
    Element(usize),
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let name = prop_oneof!["[a-c]", any::<String>()];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        let members = prop::collection::vec((name.clone(), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Value::from),
            members.prop_map(|all| Value::from(all.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// The path to the value that `choices` select, and that value.
fn way<'v>(mut value: &'v Value, choices: &[prop::sample::Index]) -> (Vec<Step>, &'v Value) {
    let mut steps = Vec::new();
    for choice in choices {
        match value {
            Value::Array(all) if !all.is_empty() => {
                let index = choice.index(all.len());
                steps.push(Step::Element(index));
                value = &all[index];
            }
            Value::Object(all) if !all.is_empty() => {
                let (name, member) = all.iter().nth(choice.index(all.len())).expect("a member");
                steps.push(Step::Member(name.clone()));
                value = member;
            }
            _ => break,
        }
    }
    (steps, value)
}

fn path(steps: &[Step]) -> String {
    let mut path = String::from("json $");
    for step in steps {
        path.push_str(&match step {
            Step::Member(name) => format!("[{}]", Value::from(name.as_str())),
            Step::Element(index) => format!("[{index}]"),
        });
    }
    path
}

fn expected(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

proptest! {
    /// For any path into an arbitrary text, the value is equal to the one that serde_json reads.
    #[test]
    fn values_are_those_of_another_parser(
        value in values(),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        is_pretty in any::<bool>(),
    ) {
        let (steps, leaf) = way(&value, &choices);
        let path = path(&steps);
        prop_assume!(path.len() < 1024);
        let body = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let body = body.expect("a value prints");
        prop_assert_eq!(Reply::new(body).extract(&path), Ok(expected(leaf)));
    }

    /// A truncated or modified text gives the value that another parser reads, or an error if that
    /// parser has one; only mistakes after the value stay undetected.
    #[test]
    fn damage_does_not_change_a_value(
        value in values(),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        cut in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let (steps, _) = way(&value, &choices);
        let path = path(&steps);
        prop_assume!(path.len() < 1024);
        let mut body = value.to_string().into_bytes();
        let cut = cut.index(body.len());
        let whole = Reply::new(body.clone()).extract(&path);
        let short = Reply::new(&body[..cut]).extract(&path);
        // If a text consists of a single number, truncation can't be detected.
        prop_assert!(short.is_err() || short == whole || value.is_number(), "{short:?}");
        body[cut] = byte;
        let changed = Reply::new(body.clone()).extract(&path);
        if let Ok(Value::Object(_) | Value::Array(_)) = serde_json::from_slice(&body) {
            let reread: Value = serde_json::from_slice(&body).expect("as before");
            let mut at = Some(&reread);
            for step in &steps {
                at = at.and_then(|value| match step {
                    Step::Member(name) => value.get(name),
                    Step::Element(index) => value.get(index),
                });
            }
            // If a modified name duplicates another, this parser takes the first member and the
            // other one the last; the other parser also rounds numbers.
            if let (Some(value), Ok(changed)) = (at, changed)
                && !has_twins(&body)
            {
                let given = match value {
                    Value::String(_) => Value::from(changed),
                    _ => serde_json::from_str(&changed).expect("what is taken is JSON"),
                };
                prop_assert_eq!(&given, value);
            }
        }
    }
}
