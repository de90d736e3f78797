//! Arbitrary bytes as a JSON body: a body that another parser accepts has the same value here, and
//! no path panics or exceeds its bound.

#![no_main]

use drumfire_extract::{Extractor, NoValue};
use drumfire_plan::{Response, ResponseFields};
use drumfire_units::Nanos;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::sync::LazyLock;

/// The value of the text, and paths of each kind.
static PATHS: LazyLock<[Extractor; 9]> = LazyLock::new(|| {
    [
        "json $",
        "json $.a",
        "json $[0].a['b']",
        "json $[-1]",
        "json#all $..*",
        "json#last $[1:9:2,::-1]",
        "json#count $[?@.a < $[0] || !@..b]",
        "json#all $[?length(@) > 1 && search(@, $[0])]",
        "json#2 $..[?@ == $.a]",
    ]
    .map(|text| Extractor::parse(text).expect("a path"))
});

fn take(extractor: &Extractor, body: &[u8]) -> Result<String, NoValue> {
    let fields = &ResponseFields::default();
    let response = Response {
        status: 200,
        fields,
        body,
        time: Nanos(0),
    };
    let mut out = String::new();
    extractor.extract(&response, &mut out).map(|()| out)
}

fuzz_target!(|body: &[u8]| {
    for extractor in PATHS.iter() {
        match take(extractor, body) {
            Ok(text) => assert!(text.len() <= body.len() + (1 << 20) + 64),
            Err(none) => assert!(!none.to_string().contains(char::is_control)),
        }
    }
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        let text = take(&PATHS[0], body).expect("another parser reads it");
        let read = match value {
            Value::String(_) => Value::from(text),
            _ => serde_json::from_str(&text).expect("what is taken is JSON"),
        };
        assert_eq!(read, value);
    }
});
