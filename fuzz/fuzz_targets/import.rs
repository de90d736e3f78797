//! Arbitrary text in each import format: no panic, and the printed document parses to the same
//! document.

#![no_main]

use drumfire_document::Environment;
use drumfire_document::form::{self, Source, Syntax};
use drumfire_import::{Form, Source as Given, Wishes, import};
use libfuzzer_sys::fuzz_target;

/// A machine with a value for every environment variable.
#[derive(Debug)]
struct Set;

impl Environment for Set {
    fn variable(&self, _: &str) -> Option<String> {
        Some("long enough".to_owned())
    }
}

const FORMS: [Form; 5] = [
    Form::Curl,
    Form::Har,
    Form::OpenApi,
    Form::Postman,
    Form::AccessLog,
];

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = input.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let form = FORMS[usize::from(*choice) % FORMS.len()];
    let wishes = Wishes {
        target: (*choice >= 128).then(|| "http://127.0.0.1:8080".to_owned()),
        keeps_pauses: choice & 64 != 0,
        keeps_all: choice & 32 != 0,
    };
    if let Ok(imported) = import(form, &Given::alone(text), &wishes) {
        let printed = form::print(&imported.document);
        let draft = form::draft(&Source {
            text: &printed,
            name: "plan.yaml",
            syntax: Syntax::Yaml,
            settings: &[],
            environment: &Set,
        });
        assert!(draft.found.is_empty(), "{:?}\n{printed}", draft.found);
        assert_eq!(form::print(&draft.document), printed);
    }
});
