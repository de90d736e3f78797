//! Arbitrary bytes as an XML or HTML body, a header field and a text for regular expressions: no
//! panic, no output beyond a bound, and reasons that are safe for a terminal.

#![no_main]

use drumfire_extract::Extractor;
use drumfire_plan::{Response, ResponseFields};
use drumfire_units::Nanos;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static EXTRACTORS: LazyLock<[Extractor; 12]> = LazyLock::new(|| {
    [
        "xml#all //a/@b",
        "xml //a[b and not(c)]/following::*[last()]",
        "xml concat(//a, count(//*), sum(//@b))",
        "css#all a.b > c @href",
        "css#last p",
        "css td:nth-last-child(2n+1) ~ td:not(:has(b)), a:empty",
        "regex#all /(a|b*)c?/i",
        r"regex#count /\w+$/m",
        "cookie#all a",
        "header x",
        "body 7",
        "body",
    ]
    .map(|text| Extractor::parse(text).expect("an extractor"))
});

fuzz_target!(|body: &[u8]| {
    let mut fields = ResponseFields::default();
    fields.push("set-cookie", body);
    fields.push("x", body);
    let response = Response {
        status: 200,
        fields: &fields,
        body,
        time: Nanos(0),
    };
    for extractor in EXTRACTORS.iter() {
        let mut out = String::from("before");
        match extractor.extract(&response, &mut out) {
            Ok(()) => assert!(out.starts_with("before")),
            Err(none) => {
                assert_eq!(out, "before");
                assert!(!none.to_string().contains(char::is_control));
            }
        }
    }
});
