//! The execution of a case file: its servers and files, its steps, and the sections that check
//! them.

use super::section::Section;
use super::servers::Server;
use super::{json, pattern};
use crate::support::program::{LIMIT, PATH, neutral};
use crate::support::script::unescaped;
use crate::support::{Folder, Process, Report, Run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The secret of cases, in Base64 as well: no text of the program may contain it.
const SECRETS: [&str; 2] = ["CANARY", "Q0FOQVJZ"];

/// A step that was run.
struct Step {
    run: Run,
    /// The outputs that a section has checked.
    judged: Judged,
}

#[derive(Default)]
struct Judged {
    exit: bool,
    stdout: bool,
    stderr: bool,
}

/// The state of a case file between two sections.
#[derive(Default)]
pub(super) struct Transcript {
    servers: Vec<Server>,
    folder: Option<Folder>,
    /// The files and values above the first case, which apply to every case.
    shared: (Vec<Section>, Vec<(String, String)>),
    /// The files of the case, which are written again for each step.
    files: Vec<Section>,
    /// Placeholders and their values.
    values: Vec<(String, String)>,
    in_case: bool,
    place: String,
    step: Option<Step>,
    again: Vec<Section>,
    failures: Vec<String>,
}

impl Transcript {
    /// Runs the sections. Returns them with the actual texts, and the failures.
    pub(super) fn replay(mut self, sections: &[Section]) -> (Vec<Section>, Vec<String>) {
        self.folder = Some(Folder::new());
        for section in sections {
            let (word, rest) = section
                .title
                .split_once(' ')
                .unwrap_or((&section.title, ""));
            if !self.judge(word, rest, section) {
                self.close_step();
                self.set_up(word, rest, section);
            }
        }
        self.close_step();
        (self.again, self.failures)
    }

    fn folder(&self) -> &Folder {
        self.folder
            .as_ref()
            .expect("a transcript has a folder while it runs")
    }

    fn server(&self, name: &str) -> &Server {
        let server = self.servers.iter().find(|server| server.name == name);
        server.unwrap_or_else(|| panic!("{}: no server `{name}`", self.place))
    }

    fn fail(&mut self, text: &str) {
        self.failures.push(format!("{}: {text}", self.place));
    }

    /// Executes a section that prepares or runs a step.
    fn set_up(&mut self, word: &str, rest: &str, section: &Section) {
        self.again.push(section.clone());
        match word {
            "case" => {
                if !self.in_case {
                    self.shared = (self.files.clone(), self.values.clone());
                    self.in_case = true;
                }
                self.folder = Some(Folder::new());
                (self.files, self.values) = self.shared.clone();
            }
            "server" => {
                let line = self.filled(rest);
                self.servers.push(Server::target(&line));
            }
            "answers" => self.servers.push(Server::script(rest, &section.body)),
            "file" | "bytes" => {
                let has_name =
                    |file: &Section| file.title.split_once(' ').map(|(_, name)| name) == Some(rest);
                self.files.retain(|file| !has_name(file));
                self.files.push(section.clone());
            }
            "let" => {
                let (name, value) = rest
                    .split_once(" = ")
                    .unwrap_or_else(|| (rest.trim_end_matches(" ="), ""));
                let value = match section.body.as_str() {
                    "" => value.to_owned(),
                    body => body.trim_end_matches('\n').to_owned(),
                };
                self.values.retain(|(known, _)| known != name);
                self.values.push((name.to_owned(), value));
            }
            "$" => self.run(&format!("{rest}\n{}", section.body), section.line),
            _ => panic!("line {}: unknown section `{}`", section.line, section.title),
        }
    }

    /// Runs a step in a shell, in the folder of the case.
    fn run(&mut self, line: &str, number: usize) {
        let line = line.trim_end();
        self.place = format!("line {number}: {line}");
        self.write_files();
        let mut command = neutral(Command::new("sh"));
        let program = Path::new(PATH).parent().expect("the folder of the program");
        let path = std::env::var("PATH").unwrap_or_default();
        command.args(["-c", &self.filled(line)]);
        command.env("PATH", format!("{}:{path}", program.display()));
        command.current_dir(self.folder().path());
        self.step = Some(Step {
            run: Process::start(&mut command).finish(LIMIT),
            judged: Judged::default(),
        });
    }

    fn write_files(&self) {
        for file in &self.files {
            let (kind, name) = file.title.split_once(' ').expect("a file has a name");
            let text = self.filled(&file.body);
            let content = match kind {
                "bytes" => unescaped(text.trim_end_matches('\n')),
                _ => text.into_bytes(),
            };
            self.folder().write(name, content);
        }
    }

    /// A text with its placeholders replaced; the values may contain placeholders.
    fn filled(&self, text: &str) -> String {
        const DEPTH: usize = 4;
        let mut text = text.to_owned();
        for _ in 0..DEPTH {
            for (name, value) in &self.values {
                text = text.replace(&format!("{{{name}}}"), value);
            }
        }
        for (name, value) in self.servers.iter().flat_map(Server::values) {
            text = text.replace(&format!("{{{name}}}"), &value);
        }
        let dir = self.folder().path().to_str();
        text.replace("{dir}", dir.expect("a path of text"))
    }

    /// A text of the program with placeholders for variable parts, and without control characters.
    fn shown(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for server in &self.servers {
            for (name, value) in server.values().iter().take(3) {
                if !value.is_empty() {
                    text = text.replace(value, &format!("{{{name}}}"));
                }
            }
        }
        let dir = self.folder().path().to_str().expect("a path of text");
        text = text.replace(dir, "{dir}");
        let mut plain = String::new();
        for c in text.chars() {
            match c {
                '\n' | '\t' => plain.push(c),
                c if c.is_control() => plain.extend(c.escape_default()),
                c => plain.push(c),
            }
        }
        if !plain.is_empty() && !plain.ends_with('\n') {
            plain.push_str("(no line end)\n");
        }
        plain
    }

    /// Executes a section that checks the last step. Returns whether the section is one.
    fn judge(&mut self, word: &str, rest: &str, section: &Section) -> bool {
        let mut again = section.clone();
        match (word, &mut self.step) {
            ("exit", Some(step)) => {
                step.judged.exit = true;
                let code = step
                    .run
                    .code
                    .map_or_else(|| "signal".to_owned(), |code| code.to_string());
                if code != rest {
                    again.title = format!("exit {code}");
                    let stderr = step.run.stderr.clone();
                    self.fail(&format!("exit code {code}, not {rest}\n{stderr}"));
                }
            }
            ("stdout", Some(step)) => {
                step.judged.stdout = true;
                let text = step.run.stdout.clone();
                again.body = self.compare("stdout", rest, &section.body, &text);
            }
            ("stderr", Some(step)) => {
                step.judged.stderr = true;
                let text = step.run.stderr.clone();
                again.body = self.compare("stderr", rest, &section.body, &text);
            }
            ("content", Some(_)) => {
                let (name, how) = rest.split_once(' ').unwrap_or((rest, ""));
                let text = fs::read(self.folder().at(name)).unwrap_or_default();
                let text = String::from_utf8_lossy(&text).into_owned();
                again.body = self.compare(name, how, &section.body, &text);
            }
            ("json", Some(_)) => self.judge_json(rest, &section.body),
            ("counters", Some(_)) => {
                let counters = self.server(rest).counters();
                self.report(json::wrong(&counters, &section.body));
            }
            ("get", Some(_)) => {
                let (name, path) = rest.split_once(' ').unwrap_or(("", rest));
                let page = self.server(name).page(path);
                self.report(json::wrong(&page, &section.body));
            }
            ("arrived", Some(_)) => again.body = self.judge_arrived(rest, &section.body),
            ("files", Some(_)) => {
                let names = self.folder().names().into_iter();
                let names: String = names.map(|name| format!("{name}\n")).collect();
                again.body = self.compare("files", "", &section.body, &names);
            }
            _ => return false,
        }
        self.again.push(again);
        true
    }

    fn report(&mut self, wrong: Vec<String>) {
        for line in wrong {
            self.fail(&line);
        }
    }

    /// Compares a text with a section. Returns the correct text of the section.
    fn compare(&mut self, what: &str, how: &str, expected: &str, actual: &str) -> String {
        let actual = self.shown(actual);
        let wrong = match how {
            "" => {
                if pattern::is_match(expected, &actual) {
                    return expected.to_owned();
                }
                self.fail(&format!(
                    "{what} differs\n--- expected\n{expected}--- actual\n{actual}"
                ));
                // A person decides which lines `...` omits.
                if expected.lines().any(|line| line == "...") {
                    return expected.to_owned();
                }
                return pattern::blessed(expected, &actual);
            }
            "has" => pattern::missing(expected, &actual),
            "lacks" => pattern::present(expected, &actual),
            _ => panic!("{}: {what} `{how}`; use `has` or `lacks`", self.place),
        };
        if !wrong.is_empty() {
            self.fail(&format!("{what} {how} is wrong: {wrong:#?}\n{actual}"));
        }
        expected.to_owned()
    }

    /// Checks lines about JSON on standard output (`-`) or in a file; the counts of a summary must
    /// balance.
    fn judge_json(&mut self, name: &str, lines: &str) {
        let text = match (name, &mut self.step) {
            ("-", Some(step)) => {
                step.judged.stdout = true;
                step.run.stdout.clone()
            }
            _ => fs::read_to_string(self.folder().at(name)).unwrap_or_default(),
        };
        match serde_json::from_str::<Value>(&text) {
            Err(error) => {
                let stderr = self.step.as_ref().map(|step| step.run.stderr.clone());
                self.fail(&format!(
                    "{name} is not JSON: {error}\n{text}{}",
                    stderr.unwrap_or_default()
                ));
            }
            Ok(value) => {
                if value["requests"]["intended"].is_u64() {
                    Report::of_value(value.clone()).balances();
                }
                self.report(json::wrong(&value, &self.filled(lines)));
            }
        }
    }

    /// Checks `[sorted|distinct] FORM`: the requests that arrived at the scripted server since the
    /// last check.
    fn judge_arrived(&mut self, rest: &str, expected: &str) -> String {
        let (order, form) = match rest.split_once(' ') {
            Some((order @ ("sorted" | "distinct"), form)) => (order, form),
            _ => ("", rest),
        };
        let arrived = self.servers.iter().find_map(|server| server.arrived(form));
        let mut lines = arrived.expect("a server with `answers`");
        if !order.is_empty() {
            lines.sort();
        }
        if order == "distinct" {
            lines.dedup();
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.compare("arrived", "", expected, &text)
    }

    /// Ends a step. A missing section that is required is a failure, and is added.
    fn close_step(&mut self) {
        let Some(Step { run, judged }) = self.step.take() else {
            return;
        };
        let Run {
            code,
            stdout,
            stderr,
            ..
        } = run;
        for (what, text) in [("stdout", &stdout), ("stderr", &stderr)] {
            if SECRETS.iter().any(|secret| text.contains(secret)) {
                self.fail(&format!("{what} has the secret of the case\n{text}"));
            }
        }
        let mut lacking = Vec::new();
        if !judged.exit && code != Some(0) {
            let code = code.map_or_else(|| "signal".to_owned(), |code| code.to_string());
            lacking.push(Section::new(&format!("exit {code}"), String::new()));
        }
        // A refusal consists only of a complete message.
        let is_refusal = code == Some(2);
        for (what, is_judged, text) in [
            ("stdout", judged.stdout, stdout),
            ("stderr", judged.stderr, stderr),
        ] {
            if !is_judged && !text.is_empty() && (is_refusal || what == "stderr") {
                lacking.push(Section::new(what, self.shown(&text)));
            }
        }
        for section in lacking {
            self.fail(&format!(
                "the case lacks `{}`\n{}",
                section.title, section.body
            ));
            self.again.push(section);
        }
    }
}
