//! Arbitrary bytes as a reply's message: the check accepts exactly the messages that another
//! decoder accepts. That decoder does not check the encoding of maps, so for messages with maps it
//! only has to accept all messages that the check accepts.

#![no_main]

use drumfire_plan::ReplyCheck;
use drumfire_schema::{Method, ReplyForm, Schema};
use libfuzzer_sys::fuzz_target;
use std::io::ErrorKind;
use std::sync::LazyLock;

/// The schemas of the crate's own tests.
const FILES: [(&str, &str); 2] = [
    (
        "plain.proto",
        include_str!("../../crates/input/schema/tests/it/fixture/plain.proto"),
    ),
    (
        "old.proto",
        include_str!("../../crates/input/schema/tests/it/fixture/old.proto"),
    ),
];

/// Methods with the required form of their replies: plain, with maps, proto2, and with required
/// fields.
static METHODS: LazyLock<[(Method, ReplyForm); 4]> = LazyLock::new(|| {
    let read = |name: &str| {
        let file = FILES.iter().find(|(of, _)| *of == name);
        let (_, text) = file.ok_or(ErrorKind::NotFound)?;
        Ok(text.as_bytes().to_vec())
    };
    let names = FILES.map(|(name, _)| name.to_owned());
    let schema = Schema::from_proto(&names, &[], read).expect("it compiles");
    [
        "plain.v1.Service/Call",
        "plain.v1.Service/Map",
        "old.v1.Service/Call",
        "old.v1.Service/Need",
    ]
    .map(|name| {
        let method = schema.method(name).expect("it is there");
        let form = ReplyForm::for_method(&method);
        (method, form)
    })
});

fuzz_target!(|bytes: &[u8]| {
    for (at, (method, form)) in METHODS.iter().enumerate() {
        let checked = form.check(bytes);
        let decoded = method.check_output(bytes);
        // The first and the third method have no maps.
        if checked.is_ok() || at % 2 == 0 {
            assert_eq!(checked.is_ok(), decoded.is_ok(), "{checked:?} {decoded:?}");
        }
    }
});
