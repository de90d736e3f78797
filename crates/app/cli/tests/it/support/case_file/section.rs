//! The sections of a case file: `== TITLE` and the lines below it.

/// A section; `line` is the line number of its title in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) line: usize,
    pub(super) title: String,
    pub(super) body: String,
}

impl Section {
    pub(super) fn new(title: &str, body: String) -> Self {
        Self {
            line: 0,
            title: title.to_owned(),
            body,
        }
    }
}

/// The text above the first section, and the sections. An empty line before a title is a separator.
pub(super) fn read(text: &str) -> (String, Vec<Section>) {
    let (mut preamble, mut sections) = (String::new(), Vec::<Section>::new());
    for (n, line) in text.split_inclusive('\n').enumerate() {
        match (line.strip_prefix("== "), sections.last_mut()) {
            (Some(title), _) => sections.push(Section {
                line: n + 1,
                title: title.trim_end().to_owned(),
                body: String::new(),
            }),
            (None, Some(section)) => section.body.push_str(line),
            (None, None) => preamble.push_str(line),
        }
    }
    for section in &mut sections {
        if section.body == "\n" || section.body.ends_with("\n\n") {
            section.body.pop();
        }
    }
    (preamble, sections)
}

/// Prints sections as in a file: an empty line before each step, case and file.
pub(super) fn print(sections: &[Section]) -> String {
    let mut text = String::new();
    for Section { title, body, .. } in sections {
        let is_step = ["$ ", "case ", "let ", "file ", "bytes "]
            .iter()
            .any(|start| title.starts_with(start));
        let is_judged = text
            .lines()
            .next_back()
            .is_some_and(|line| !line.starts_with("== "));
        if is_step && is_judged {
            text.push('\n');
        }
        text.push_str(&format!("== {title}\n{body}"));
    }
    text
}
