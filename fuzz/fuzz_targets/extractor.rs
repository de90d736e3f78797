//! Arbitrary text as an extractor and as a check: errors point into the text, and parsed extractors
//! are usable.

#![no_main]

use drumfire_extract::{Check, Extractor};
use drumfire_plan::{Response, ResponseFields};
use drumfire_units::Nanos;
use libfuzzer_sys::fuzz_target;

const BODIES: [&str; 3] = [
    r#"{"a":[1,-2.5e3,"x\u00e4",null,{"b":[true,{}]}],"b":{"a":"y"}}"#,
    r#"<a b="1"><c>x</c><n:c xmlns:n="u">y</n:c></a>"#,
    "<ul><li class=a>x<li><a href=b>y</a></ul><p>&amp;",
];

fuzz_target!(|text: &str| {
    match Check::parse(text) {
        Ok(check) => {
            let _ = check.holds(text.as_bytes());
        }
        Err(error) => assert!(text.is_char_boundary(error.at)),
    }
    match Extractor::parse(text) {
        Err(error) => assert!(text.is_char_boundary(error.at)),
        Ok(extractor) => {
            assert_eq!(extractor.to_string(), text.trim());
            let fields = &ResponseFields::default();
            for body in BODIES {
                let response = Response {
                    status: 200,
                    fields,
                    body: body.as_bytes(),
                    time: Nanos(0),
                };
                // Neither a value nor its absence may panic.
                let _ = extractor.extract(&response, &mut String::new());
            }
        }
    }
});
