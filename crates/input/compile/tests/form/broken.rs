//! Broken plans and their messages: each case in `broken.txt` has `== name`, the plan, `--` and one
//! line per message. `DRUMFIRE_BLESS=1` rewrites the messages.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads the files that are its data"
)]

use drumfire_compile::{Host, compile_draft};
use drumfire_document::Environment;
use drumfire_document::form::{Source, Syntax, draft};
use std::fmt::Write as _;
use std::sync::Arc;
use std::{env, fs, io};

/// A machine with two files and a variable.
#[derive(Debug)]
struct Desk;

impl Environment for Desk {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match path {
            "people.csv" => Ok(b"name,city\nAda,London\n".to_vec()),
            "uneven.csv" => Ok(b"name,city\nAda\n".to_vec()),
            _ => Err(io::Error::new(
                io::ErrorKind::NotFound,
                "there is no such file",
            )),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        Some(if name == "PIN" { "123" } else { "" }.to_owned())
    }
}

impl Host for Desk {}

/// The messages of a plan, one per line.
fn messages(text: &str) -> String {
    let host: Arc<dyn Host> = Arc::new(Desk);
    let draft = draft(&Source {
        text,
        name: "p",
        syntax: Syntax::Yaml,
        settings: &[],
        environment: &*host,
    });
    match compile_draft(&draft, &host) {
        Ok(_) => "it is accepted\n".to_owned(),
        Err(found) => found
            .iter()
            .map(|found| found.on_one_line() + "\n")
            .collect(),
    }
}

#[test]
fn every_broken_plan_gets_its_messages() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/form/broken.txt");
    let table = fs::read_to_string(path).expect("the table");
    let mut now = String::new();
    let mut count = 0;
    for case in table.split("\n== ").skip(1) {
        let (name, rest) = case.split_once('\n').expect("a name");
        let plan = rest.split_once("--\n").expect("the end of the plan").0;
        let said = messages(plan);
        assert!(!said.contains("it is accepted"), "{name} is accepted");
        write!(
            now,
            "\n== {name}\n{plan}--\n{}",
            said.trim_end_matches('\n')
        )
        .expect("a text");
        count += 1;
    }
    assert!(count >= 80, "only {count}");
    now.push('\n');
    if env::var_os("DRUMFIRE_BLESS").is_some() {
        fs::write(path, now).expect("the table");
    } else {
        assert_eq!(now, table);
    }
}
