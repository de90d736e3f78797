//! Tests that no text of a document refers to a file or a variable of the machine that reads its
//! plan.

use drumfire_document::Environment;
use drumfire_document::form::{self, Source, Syntax};
use std::io;
use std::sync::Mutex;

/// A machine that records every file and variable it is asked for.
#[derive(Debug, Default)]
struct Asked(Mutex<Vec<String>>);

impl Environment for Asked {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.0.lock().unwrap().push(path.to_owned());
        Ok(b"content".to_vec())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.lock().unwrap().push(name.to_owned());
        Some("value".to_owned())
    }
}

/// Checks that a printed plan can be read back and uses no files and no variables.
#[track_caller]
pub(crate) fn check_none(plan: &str) {
    let machine = Asked::default();
    let read = form::draft(&Source {
        text: plan,
        name: "plan.yaml",
        syntax: Syntax::Yaml,
        settings: &[],
        environment: &machine,
    });
    assert_eq!(read.found, [], "{plan}");
    assert_eq!(*machine.0.lock().unwrap(), [""; 0], "{plan}");
}
