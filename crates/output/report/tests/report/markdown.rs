//! The summary in Markdown, read by a parser as GitHub reads it: tables keep their cells, and texts of
//! servers mean nothing.

use crate::fixture;
use drumfire_measure::{Outcome, Summary};
use drumfire_report::html::Origin;
use drumfire_report::style::Style;
use drumfire_report::{Naming, html, markdown, text};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeSet;

/// Texts that Markdown, HTML or a table would obey.
const HOSTILE: [&str; 8] = [
    "a | b || c |",
    "`code` ``more`` `",
    "<script>alert(1)</script> <b>bold</b>",
    "one\ntwo\r\n| three |",
    "[link](http://evil.example/) ![image](x)",
    "*bold* _it_ ~~gone~~ \\| \\\\",
    "&lt;b&gt; &#124; www.evil.example #1 &copy;",
    "| --- | --- |",
];

/// Whether a text has a sign before a name.
fn names_a_user(text: &str) -> bool {
    let mut behind = text.split('@').skip(1);
    behind.any(|name| name.starts_with(char::is_alphanumeric))
}

/// The tables of a document: rows of cells, each its text.
fn tables(text: &str) -> Vec<Vec<Vec<String>>> {
    let mut tables = Vec::new();
    let mut cell: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Table(_)) => tables.push(Vec::new()),
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                tables.last_mut().unwrap().push(Vec::new());
            }
            Event::Start(Tag::TableCell) => cell = Some(String::new()),
            Event::End(TagEnd::TableCell) => {
                let row = tables.last_mut().and_then(|table| table.last_mut());
                row.unwrap().push(cell.take().unwrap());
            }
            // In code, GitHub looks for no user and makes no link.
            Event::Code(text) => cell.iter_mut().for_each(|cell| cell.push_str(&text)),
            Event::Text(text) => {
                assert!(!names_a_user(&text), "{text}");
                assert!(!text.contains("://"), "GitHub makes a link of {text}");
                if let Some(cell) = &mut cell {
                    cell.push_str(&text);
                }
            }
            Event::Start(
                Tag::Heading { .. } | Tag::List(_) | Tag::Item | Tag::Strong | Tag::Paragraph,
            )
            | Event::End(_)
            | Event::SoftBreak => {}
            other => panic!("{other:?} in {text}"),
        }
    }
    tables
}

fn text_of(run: &Summary) -> String {
    String::from_utf8(markdown::summary(run, Naming::Flags)).unwrap()
}

/// A parser fills a short row up and cuts a long one, so that the bars are counted too.
#[test]
fn tables_are_whole() {
    for (name, run) in fixture::all() {
        let text = text_of(&run);
        let tables = tables(&text);
        assert!(!tables.is_empty() || name == "empty", "{name}");
        for table in &tables {
            let columns = table[0].len();
            assert!(table.len() > 1 && table.iter().all(|row| row.len() == columns));
        }
        let rows: usize = tables.iter().map(Vec::len).sum();
        let lines = text.lines().filter(|line| line.starts_with('|'));
        // Below the head of each is a line of dashes.
        assert_eq!(lines.count(), rows + tables.len(), "{name}");
        assert!(!text.contains(fixture::CANARY));
        assert!(text.starts_with("## ") && text.contains("\n- "));
        let numbers = text.lines().filter(|line| line.contains("---:"));
        assert!(numbers.count() > 0 || name == "empty", "{name}");
    }
}

/// The heading answers; an address is code, of which GitHub makes no link.
#[test]
fn the_heading_is_the_answer() {
    for (name, run) in fixture::all() {
        let text = text_of(&run);
        let heading = text.lines().next().unwrap();
        let mark = heading.trim_start_matches("## ").chars().next();
        assert!(
            mark.is_some_and(|mark| "✅⚠❌".contains(mark)),
            "{name}: {heading}"
        );
        assert!(!heading.contains("http://"), "{name}: {heading}");
        let target = text.lines().nth(2).unwrap();
        assert!(target.starts_with("`http"), "{name}: {target}");
    }
}

/// The first line is the result, and numbers are aligned at the right.
#[test]
fn the_heading_has_the_result() {
    for (run, heading) in [
        (
            fixture::open(),
            "## ❌ 2 of 2 thresholds failed · p99 105 ms · 0.51 % failed\n",
        ),
        (
            fixture::failed_only(),
            "## ❌ target failed · 100 % failed\n\n`http://",
        ),
        (fixture::streams(), "## "),
    ] {
        let text = text_of(&run);
        assert!(text.starts_with(heading), "{text}");
    }
    assert!(text_of(&fixture::steps()).contains("---:"));
}

/// Text, page and Markdown print the same sections.
#[test]
fn every_section_is_in_every_output() {
    let origin = Origin {
        naming: Naming::Flags,
        plan: "",
        files: &[],
        teardown: None,
        against: None,
    };
    let mut seen = BTreeSet::new();
    for (name, run) in fixture::all() {
        let markdown = text_of(&run);
        let page = String::from_utf8(html::page(&run, &origin)).unwrap();
        let text = text::summary(&run, &Style::default());
        for title in markdown
            .lines()
            .filter_map(|line| line.strip_prefix("### "))
        {
            assert!(
                page.contains(&format!("<h2>{title}</h2>")),
                "{name}: {title}"
            );
            // The facts of this section have labels in a text, and no heading.
            let is_printed = text.lines().any(|line| line.starts_with(title));
            assert!(
                is_printed || title == "Transport",
                "{name}: {title} in {text}"
            );
            seen.insert(title.to_owned());
        }
    }
    for title in [
        "Pools",
        "Scenarios",
        "Steps",
        "Status",
        "Errors",
        "Forgiven",
        "Notes",
    ] {
        assert!(seen.contains(title), "{title} in {seen:?}");
    }
}

/// What a server wrote is in the cell in which it belongs, letter by letter.
#[test]
fn hostile_texts_are_cells() {
    let run = fixture::with_errors(Outcome::ProtoNotHttp, &HOSTILE);
    let tables = tables(&text_of(&run));
    let rows: Vec<&Vec<String>> = tables.iter().flatten().collect();
    for hostile in HOSTILE {
        let shown = hostile.replace('\n', "\\n").replace('\r', "\\r");
        let is_there = |row: &&Vec<String>| row.last().is_some_and(|cell| *cell == shown);
        assert!(rows.iter().any(is_there), "{shown} in {rows:?}");
    }
    let row = rows.iter().find(|row| row[0].starts_with(HOSTILE[0]));
    assert!(row.is_some(), "a step's name in {rows:?}");
}

/// GitHub tells a user of a text with their name, unless it is code.
#[test]
fn no_text_names_a_user() {
    let texts = [
        "@octocat broke it",
        "ask @octocat",
        "@@all `@b` @",
        "a @\\b",
    ];
    let run = fixture::with_errors(Outcome::ProtoNotHttp, &texts);
    let text = text_of(&run);
    assert!(text.contains("`@`octocat"), "{text}");
    let tables = tables(&text);
    let mut cells = tables.iter().flatten().flatten();
    assert!(cells.any(|cell| cell.ends_with("@octocat")), "{tables:?}");
}
