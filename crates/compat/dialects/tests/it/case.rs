//! A case file: a sentence about its purpose, then sections.

use crate::plan_text::plan_text;
use drumfire_compile::{Found, Host, HostError, SchemaQuestion};
use drumfire_dialects::{Dialect, for_program};
use drumfire_document::Environment;
use drumfire_plan::{ClockChoice, Generator, Plan, Threads, WaitChoice, Warmup};
use drumfire_schema::Schema;
use drumfire_units::Nanos;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// One case.
#[derive(Debug)]
pub(crate) struct Case {
    /// The purpose of the case.
    preamble: String,
    /// Titles and texts, in order.
    pub(crate) sections: Vec<(String, String)>,
    /// The requests to the host, as sections.
    asked: Mutex<Vec<(String, String)>>,
}

impl Case {
    /// Reads the file.
    pub(crate) fn read(path: &Path) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test reads its data files")]
        let text = std::fs::read_to_string(path).unwrap();
        let (mut preamble, mut sections) = (String::new(), Vec::<(String, String)>::new());
        for line in text.split_inclusive('\n') {
            match (line.strip_prefix("== "), sections.last_mut()) {
                (Some(title), _) => sections.push((title.trim_end().to_owned(), String::new())),
                (None, Some((_, body))) => body.push_str(line),
                (None, None) => preamble.push_str(line),
            }
        }
        assert!(!preamble.trim().is_empty(), "{path:?} says what it shows");
        Self {
            preamble,
            sections,
            asked: Mutex::default(),
        }
    }

    /// Replaces the file's sections.
    pub(crate) fn rewrite(&self, path: &Path, sections: &[(String, String)]) {
        std::fs::write(path, format!("{}{}", self.preamble, Self::text(sections))).unwrap();
    }

    /// Sections in the format of a case file.
    pub(crate) fn text(sections: &[(String, String)]) -> String {
        let section = |(title, body): &(String, String)| format!("== {title}\n{body}");
        sections.iter().map(section).collect()
    }

    /// The text of a section.
    pub(crate) fn section(&self, title: &str) -> Option<&str> {
        let found = self.sections.iter().find(|(name, _)| name == title);
        found.map(|(_, body)| body.as_str())
    }

    /// The tool of the command line, and its arguments.
    pub(crate) fn command_line(&self) -> (Dialect, Vec<String>) {
        let mut words = words(self.section("argv").expect("a case has a command line"));
        let program = words.remove(0);
        let name = program.rsplit('/').next().unwrap();
        (for_program(name).expect("a dialect"), words)
    }
}

impl Case {
    /// The requests to the host.
    pub(crate) fn asked(&self) -> Vec<(String, String)> {
        let asked = self.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn ask(&self, title: &str, text: String) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push((title.to_owned(), text));
    }
}

impl Environment for Case {
    /// A file of the case; others do not exist.
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.section(&format!("file {path}")) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => Err(io::Error::from_raw_os_error(2)),
        }
    }
}

impl Host for Case {
    fn look(&self, path: &str) -> Found {
        let (file, folder) = (format!("file {path}"), format!("file {path}/"));
        let mut titles = self.sections.iter().map(|(title, _)| title);
        match self.section(&file) {
            Some(_) => Found::File,
            None if titles.any(|title| title.starts_with(&folder)) => Found::Folder,
            None => Found::Nothing,
        }
    }

    fn schema(&self, question: &SchemaQuestion<'_>) -> Result<Schema, HostError> {
        // A question contains no generator settings.
        let generator = Generator {
            threads: Threads::AsMany,
            wait: WaitChoice::Sleep,
            clock: ClockChoice::Program,
            seed: 0,
            warmup: Warmup::NONE,
            interval: Nanos::from_secs(1),
        };
        let pool = question.server.pool();
        self.ask("plan", plan_text(pool, &generator));
        self.ask("wanted", format!("{:?}\n", question.wanted));
        Err(HostError {
            message: "asked".to_owned(),
            remedy: String::new(),
        })
    }

    fn chooses_http2(&self, _: &Plan, _: Nanos) -> Result<bool, HostError> {
        self.ask("chosen", "HTTP/2\n".to_owned());
        Ok(true)
    }

    fn cores(&self) -> u32 {
        2
    }
}

/// Splits a command line at white space, except within single quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
