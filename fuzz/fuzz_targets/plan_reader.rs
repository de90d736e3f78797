//! Arbitrary text as a plan in YAML, JSON or TOML, with references, variables and a setting from
//! the command line: no panic, places are in the text, and the printed document parses to the same
//! document.

#![no_main]

use drumfire_compile::{Found, Host, compile_draft};
use drumfire_document::Environment;
use drumfire_document::form::{self, Setting, Source, Syntax};
use libfuzzer_sys::fuzz_target;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A machine with a few small files and one variable.
#[derive(Debug)]
struct Small;

impl Environment for Small {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match path {
            "a.csv" => Ok(b"name,age\nAda,36\nBob,7\n".to_vec()),
            "a.json" => Ok(br#"[{"a": 1}, {"a": "x"}]"#.to_vec()),
            "a.txt" => Ok(b"/one\n/two tag\n".to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        Some(match name {
            "HOME" => "/root: #".to_owned(),
            _ => String::new(),
        })
    }
}

impl Host for Small {
    fn look(&self, path: &str) -> Found {
        match self.read(path).is_ok() {
            true => Found::File,
            false => Found::Nothing,
        }
    }

    fn locate(&self, path: &str) -> PathBuf {
        path.into()
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = input.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    // The first line is a setting, if the choice selects this.
    let (setting, text) = match text.split_once('\n') {
        Some((first, rest)) if choice & 2 != 0 => (first.parse::<Setting>().ok(), rest),
        _ => (None, text),
    };
    let source = Source {
        text,
        name: "plan",
        syntax: match choice & 1 {
            0 => Syntax::Yaml,
            _ => Syntax::Toml,
        },
        settings: setting.as_slice(),
        environment: &Small,
    };
    let draft = form::draft(&source);
    // In YAML, a single CR also ends a line.
    let lines = text.matches(['\n', '\r']).count() as u64 + 1;
    for found in &draft.found {
        let line = found.place.line();
        // The end of the text is a valid place too.
        assert!(line <= lines + 1, "{found:?}");
        // After the message, the text and a mark below it are on separate lines.
        let is_safe = |c: char| c == '\n' || !c.is_control();
        assert!(found.message.chars().all(is_safe), "{found:?}");
    }
    if draft.found.is_empty() {
        // References are printed as written, and resolved again.
        let printed = form::print(&draft.document);
        let read = form::draft(&Source {
            text: &printed,
            syntax: Syntax::Yaml,
            settings: &[],
            ..source
        });
        assert!(read.found.is_empty(), "{:?}\n{printed}", read.found);
        assert_eq!(form::print(&read.document), printed);
    }
    let host: Arc<dyn Host> = Arc::new(Small);
    if let Err(found) = compile_draft(&draft, &host) {
        assert!(!found.is_empty());
    }
});
