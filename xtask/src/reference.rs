//! The reference tables of the manual are generated from the tables of the code, so that no
//! description is written twice. `make reference` rewrites them.
//!
//! A page has a pair of lines for each table, and may place the tables anywhere and in any order:
//!
//! ```text
//! <!-- generated: outcomes tls, by `make reference` -->
//! <!-- end of generated -->
//! ```

use crate::{Finding, Repository};
use drumfire_document::form::{KeyTable, KeyValue, key_tables};
use drumfire_document::habits::{HABITS, HabitPlace};
use drumfire_measure::{Leniency, Outcome, OutcomeGroup};
use drumfire_metrics::{Books, MetricKind};

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The line before a table, split around the table's name.
const BEGIN: (&str, &str) = ("<!-- generated: ", ", by `make reference` -->");
/// The line after a table.
const END: &str = "<!-- end of generated -->";

/// Every table that differs from the code, is unknown, or is on no page.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    check_tables(repository, &tables())
}

/// The pages with a table that differs from the code, each with its new text.
#[must_use]
pub fn rewritten(repository: &Repository) -> Vec<(String, String)> {
    let tables = tables();
    let pages = repository.ending(".md");
    let new = pages.filter_map(|(path, text)| {
        let page = Page::new(text, &tables);
        (page.text != text).then(|| (path.to_owned(), page.text))
    });
    new.collect()
}

fn check_tables(repository: &Repository, tables: &[Table]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut placed = BTreeSet::new();
    for (path, text) in repository.ending(".md") {
        let page = Page::new(text, tables);
        placed.extend(page.placed);
        for Mistake { line, message } in page.mistakes {
            findings.push(Finding::violation(path, line, message));
        }
        if page.text != text {
            let same = text.lines().zip(page.text.lines());
            let line = same.take_while(|(old, new)| old == new).count() + 1;
            let message = "a table differs from the code; run `make reference`";
            findings.push(Finding::violation(path, line, message.to_owned()));
        }
    }
    for table in tables {
        if !placed.contains(&table.name) {
            let message = format!("no page has the table `{}`", table.name);
            findings.push(Finding::violation("docs/manual/", 0, message));
        }
    }
    findings
}

/// A page with the tables of the code.
struct Page {
    text: String,
    /// The names of the page's tables.
    placed: BTreeSet<String>,
    mistakes: Vec<Mistake>,
}

/// A mistake in the lines around a table.
struct Mistake {
    line: usize,
    message: String,
}

impl Page {
    /// The page with new tables; a table whose lines have a mistake stays unchanged.
    fn new(old: &str, tables: &[Table]) -> Self {
        let mut page = Self {
            text: String::new(),
            placed: BTreeSet::new(),
            mistakes: Vec::new(),
        };
        let mut rest = old;
        while let Some((line, after)) = rest.split_once('\n') {
            let _infallible = writeln!(page.text, "{line}");
            rest = after;
            if let Some(name) = name(line) {
                rest = page.place(name, after, tables);
            }
        }
        page.text.push_str(rest);
        page
    }

    /// Writes the table after its first line, which was already written. Returns the text from its
    /// last line on.
    fn place<'a>(&mut self, name: &str, after: &'a str, tables: &[Table]) -> &'a str {
        let line = self.text.lines().count();
        let table = tables.iter().find(|table| table.name == name);
        let Some(table) = table else {
            let message = format!("the code has no table `{name}`");
            self.mistakes.push(Mistake { line, message });
            return after;
        };
        // The lines of the next table do not close this one.
        let end = after.find(END);
        let end = end.filter(|end| !after[..*end].contains(BEGIN.0));
        let Some(end) = end else {
            let message = format!("the table `{name}` has no line `{END}`");
            self.mistakes.push(Mistake { line, message });
            return after;
        };
        self.placed.insert(name.to_owned());
        let _infallible = write!(self.text, "\n{}\n", table.text());
        &after[end..]
    }
}

/// The name in the line before a table.
fn name(line: &str) -> Option<&str> {
    line.strip_prefix(BEGIN.0)?.strip_suffix(BEGIN.1)
}

/// A generated table.
struct Table {
    /// The name with which a page requests the table.
    name: String,
    header: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl Table {
    /// The table in Markdown.
    fn text(&self) -> String {
        let header = self.header.join(" | ");
        let mut text = format!("| {header} |\n|{}\n", "---|".repeat(self.header.len()));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            // An empty cell has one blank, not two.
            let line = format!("| {} |", cells.join(" | ")).replace("|  |", "| |");
            let _infallible = writeln!(text, "{line}");
        }
        text
    }
}

/// All tables of the code.
fn tables() -> Vec<Table> {
    let mut tables: Vec<Table> = OutcomeGroup::ALL.into_iter().map(outcomes).collect();
    tables.push(leniencies());
    tables.push(metrics());
    tables.extend(key_tables().iter().map(keys));
    tables.extend(HABIT_TABLES.map(habits));
    tables
}

/// The tables of other tools' names: the place of the names, and the name of the table.
const HABIT_TABLES: [(HabitPlace, &str); 8] = [
    (HabitPlace::Load, "flags"),
    (HabitPlace::Http, "flags of http"),
    (HabitPlace::Grpc, "flags of grpc"),
    (HabitPlace::Ws, "flags of ws"),
    (HabitPlace::Llm, "flags of llm"),
    (HabitPlace::Run, "flags of run"),
    (HabitPlace::Command, "commands"),
    (HabitPlace::Key, "keys"),
];

/// The names that other tools have at a place, and what to write instead.
fn habits((on, name): (HabitPlace, &str)) -> Table {
    let rows = HABITS.iter().filter(|habit| habit.on == on);
    let rows = rows.map(|habit| {
        let typed: Vec<String> = habit.typed.split(' ').map(code).collect();
        let ours = match on {
            // Braces denote a mapping there.
            HabitPlace::Key => habit.ours.to_owned(),
            _ => habit.advice(None),
        };
        vec![typed.join(", "), ours]
    });
    Table {
        name: format!("habits {name}"),
        header: &["elsewhere", "here"],
        rows: rows.collect(),
    }
}

/// The outcomes of a group.
fn outcomes(group: OutcomeGroup) -> Table {
    let all = Outcome::ALL.iter();
    let rows = all.filter(|outcome| outcome.group() == group);
    let rows = rows.map(|outcome| {
        let blame = outcome.blame().map_or("—", |blame| blame.name());
        let meaning = sentences(outcome.words(), outcome.details());
        vec![code(outcome.name()), blame.to_owned(), meaning]
    });
    Table {
        name: format!("outcomes {}", group.name()),
        header: &["outcome", "blame", "meaning"],
        rows: rows.collect(),
    }
}

/// All leniencies.
fn leniencies() -> Table {
    let rows = Leniency::ALL.iter().map(|leniency| {
        let meaning = sentences(leniency.words(), leniency.details());
        vec![code(leniency.name()), meaning]
    });
    Table {
        name: "leniencies".to_owned(),
        header: &["leniency", "meaning"],
        rows: rows.collect(),
    }
}

/// All metrics, with their names in Prometheus.
fn metrics() -> Table {
    let rows = Books::catalogue().into_iter().map(|family| {
        let kind = match family.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "distribution",
            MetricKind::Info => "info",
        };
        let labels = family.points.first().map(|point| &point.labels);
        let labels = labels.into_iter().flatten().map(|label| code(label.name));
        let labels = labels.collect::<Vec<_>>().join(", ");
        let name = code(&family.sample_name());
        vec![name, kind.to_owned(), labels, family.help.to_owned()]
    });
    Table {
        name: "metrics".to_owned(),
        header: &["metric", "kind", "labels", "meaning"],
        rows: rows.collect(),
    }
}

/// The keys of a plan in one table.
fn keys(table: &KeyTable) -> Table {
    let rows = table.keys.iter().map(|key| {
        let value = value(key.value);
        let flag = key.flag.map_or_else(String::new, |flag| code(flag.name()));
        vec![code(key.name), value, flag, key.words.to_owned()]
    });
    Table {
        name: format!("keys {}", table.name),
        header: &["key", "value", "flag", "meaning"],
        rows: rows.collect(),
    }
}

/// The kind of a key's value, with a link to the table of its keys, whose heading has the same
/// name.
fn value(value: KeyValue) -> String {
    let kind = match value {
        KeyValue::Scalar => "value",
        KeyValue::Count => "number",
        KeyValue::Switch => "switch",
        KeyValue::List => "list",
        KeyValue::Mapping => "mapping",
        KeyValue::Tree => "tree",
        KeyValue::Keys(_) => "keys",
        KeyValue::ListOf(_) => "list of keys",
        KeyValue::NamedOf(_) => "keys by name",
    };
    match value.table() {
        Some(table) => format!("[{kind}](#{})", table.replace(' ', "-")),
        None => kind.to_owned(),
    }
}

/// A name as code.
fn code(name: &str) -> String {
    format!("`{name}`")
}

/// Converts words that begin in lower case to a sentence, and appends further sentences.
fn sentences(words: &str, details: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let sentence: String = first.chain(letters).collect();
    format!("{sentence}. {details}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Page, Table, check_tables, sentences};
    use crate::Repository;

    fn tables() -> Vec<Table> {
        let table = |name: &str, cell: &str| Table {
            name: name.to_owned(),
            header: &["key", "meaning"],
            rows: vec![vec![cell.to_owned(), String::new()]],
        };
        vec![table("a", "1|2"), table("b", "3")]
    }

    fn lines(name: &str, between: &str) -> String {
        format!(
            "<!-- generated: {name}, by `make reference` -->\n{between}<!-- end of generated -->\n"
        )
    }

    const A: &str = "\n| key | meaning |\n|---|---|\n| 1\\|2 | |\n\n";

    #[test]
    fn a_page_has_the_tables_that_it_requests() {
        let old = format!("# Top\n{}text\n{}end", lines("b", "old\n"), lines("a", ""));
        let page = Page::new(&old, &tables());
        let b = A.replace("1\\|2", "3");
        let new = format!("# Top\n{}text\n{}end", lines("b", &b), lines("a", A));
        assert_eq!(page.text, new);
        assert_eq!(Page::new(&new, &tables()).text, new);
    }

    #[test]
    fn a_table_that_differs_is_missing_or_unknown_is_found() {
        let findings = |page: &str| -> Vec<String> {
            let b = format!("{}\n", lines("b", &A.replace("1\\|2", "3")));
            let page = format!("{b}{page}");
            let found = check_tables(&Repository::in_memory(&[("docs/x.md", &page)]), &tables());
            found.iter().map(ToString::to_string).collect()
        };
        assert_eq!(findings(&lines("a", A)), [""; 0]);
        assert_eq!(
            findings(&lines("a", &A.replace('2', "4"))),
            ["docs/x.md:13: a table differs from the code; run `make reference`"]
        );
        let missing = "docs/manual/: no page has the table `a`";
        assert_eq!(findings("no table\n"), [missing]);
        let unknown = "docs/x.md:9: the code has no table `c`";
        assert_eq!(findings(&lines("c", A)), [unknown, missing]);
        let open = "<!-- generated: a, by `make reference` -->\n";
        let endless = "docs/x.md:9: the table `a` has no line `<!-- end of generated -->`";
        assert_eq!(findings(open), [endless, missing]);
        assert_eq!(findings(&format!("{open}{}", lines("b", ""))).len(), 3);
    }

    #[test]
    fn words_become_sentences() {
        assert_eq!(sentences("the end", ""), "The end.");
        assert_eq!(sentences("the end", "Go."), "The end. Go.");
    }
}
