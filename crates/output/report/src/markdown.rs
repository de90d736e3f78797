//! Sections as Markdown (CommonMark with the tables of GitHub): for comments, wikis and the summary
//! of a pipeline's step.
//!
//! The heading is the answer. Addresses, names of steps and rules are code, in which GitHub makes no
//! links. Letters of any other foreign text that have a meaning in Markdown get a backslash, and
//! control characters are spelled out. Marks are characters, since a comment has no colours.

use crate::answers::{Grade, answers, target_words};
use crate::grid::{Cell, Column, Grid, Kind};
use crate::plan_name::plan_name;
use crate::quantity::{quantile, share};
use crate::remedy::{Naming, sentence};
use crate::secret;
use crate::section::{Body, Facts, PageExtent, RunSection, Section, verdict};
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_measure::Summary;

/// The letters that have a meaning within a line.
const MEANT: &str = r"\`*_{}[]<>#|~&";

/// The summary of a finished run. Remedies name settings as the run's caller knows them.
#[must_use]
pub fn summary(summary: &Summary, naming: Naming) -> Vec<u8> {
    let target = code(&foreign(
        &secret::excerpt(&summary.info.target),
        Unicode::On,
    ));
    let name = plan_name(summary.info.name.as_deref());
    let name = name.map(|name| format!("**{}** · ", escaped(&name)));
    let name = name.unwrap_or_default();
    let mut out = format!("## {}\n\n{name}{target}\n\n", heading(summary));
    print_answers(&mut out, summary, naming);
    print_grid(&mut out, &verdict::thresholds(&summary.thresholds));
    let extent = PageExtent::comment(naming);
    let parts = RunSection::ALL
        .iter()
        .filter(|part| **part != RunSection::Verdict);
    for section in parts.filter_map(|part| part.section(summary, &extent)) {
        out.push_str(&format!("### {}\n\n", section.title));
        print(&mut out, &section);
    }
    out.into_bytes()
}

/// The mark of an answer.
const fn mark(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "✅",
        Grade::Fair | Grade::Open => "⚠️",
        Grade::Bad => "❌",
    }
}

/// The result in one line: the failed thresholds, or else the worst answer; the latency, and the
/// share of failures.
fn heading(summary: &Summary) -> String {
    let failed = summary.thresholds.iter().filter(|rule| !rule.passed);
    let (failed, all) = (failed.count(), summary.thresholds.len());
    let answers = answers(summary);
    let grades = [Grade::Bad, Grade::Fair, Grade::Open];
    let mut worst = grades.iter().filter_map(|grade| {
        let mut answers = answers.iter();
        answers.find(|answer| answer.grade == *grade)
    });
    let verdict = match (failed, worst.next()) {
        (0, Some(worst)) => format!("{} {}", mark(worst.grade), worst.text),
        (0, None) => format!(
            "{} {}",
            mark(Grade::Good),
            target_words(summary.target.state)
        ),
        _ => format!("{} {failed} of {all} thresholds failed", mark(Grade::Bad)),
    };
    let times = summary.latency();
    let quantiles = [("p99", 0.99), ("p50", 0.5), ("max", 1.0)].into_iter();
    let mut known = quantiles
        .filter(|_| times.count() > 0)
        .filter_map(|(name, q)| Some(format!("{name} {}", quantile(times, q, Unicode::On)?)));
    let counts = &summary.total.counts;
    let share =
        (counts.failed > 0).then(|| format!("{} failed", share(counts.failed, counts.finished())));
    let items = std::iter::once(verdict).chain(known.next()).chain(share);
    items.collect::<Vec<_>>().join(" · ")
}

/// The three answers, each with its reasons below.
fn print_answers(out: &mut String, summary: &Summary, naming: Naming) {
    for answer in answers(summary) {
        let mark = mark(answer.grade);
        out.push_str(&format!("- {mark} **{}**\n", answer.text));
        for reason in answer.reasons {
            let reason = sentence(reason, naming);
            out.push_str(&format!("  - {}\n", escaped(&reason)));
        }
    }
    out.push('\n');
}

/// Appends the bodies and the remarks of a section.
pub(crate) fn print(out: &mut String, section: &Section) {
    let mut is_list = false;
    for body in &section.bodies {
        if let Body::Facts(facts) = body {
            print_facts(out, facts);
            is_list = true;
        } else if std::mem::take(&mut is_list) {
            out.push('\n');
        }
        match body {
            Body::Table(grid) | Body::List(_, grid) => print_grid(out, grid),
            // A comment has no room for whole bodies.
            Body::Facts(_) | Body::Text(..) => {}
        }
    }
    if is_list {
        out.push('\n');
    }
    for remark in &section.remarks {
        out.push_str(&format!("{}\n\n", escaped(remark)));
    }
}

/// Appends facts as an item of a list.
fn print_facts(out: &mut String, facts: &Facts) {
    let items = facts.items.iter();
    let items: Vec<String> = items.map(text_of).collect();
    out.push_str(&format!("- **{}**: {}\n", facts.label, items.join(" · ")));
}

/// Appends a table, without columns of bars and sparks; nothing without rows.
fn print_grid(out: &mut String, grid: &Grid) {
    if grid.rows.is_empty() {
        return;
    }
    let shown = |column: &&Column| !matches!(column.kind, Kind::Bars(_) | Kind::Sparks);
    let columns = || grid.columns.iter().filter(shown);
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out.push_str(&line(columns().map(|of| of.heading.to_owned()).collect()));
    let rule = |column: &Column| match column.kind {
        Kind::Numbers => "---:".to_owned(),
        _ => "---".to_owned(),
    };
    out.push_str(&line(columns().map(rule).collect()));
    for row in &grid.rows {
        let cells = row.cells.iter().zip(&grid.columns);
        let cells = cells.filter(|(_, column)| shown(column));
        let cells = cells.map(|(cell, _)| text_of(cell));
        out.push_str(&line(cells.collect()));
    }
    out.push('\n');
}

/// The text of a cell.
fn text_of(cell: &Cell) -> String {
    let text = cell.text(Unicode::On);
    match cell.is_code() {
        true => code(&text),
        false => escaped(&text),
    }
}

/// A text as code, or as an escaped text if it has a letter that code can't contain everywhere: a
/// backtick, a bar, which ends a cell of a table, or a backslash, which may stand before one. Code
/// loses spaces at both ends.
pub(crate) fn code(text: &str) -> String {
    let is_plain =
        !text.is_empty() && !text.contains(['`', '|', '\\']) && text.trim().len() == text.len();
    match is_plain {
        true => format!("`{text}`"),
        false => escaped(text),
    }
}

/// A text that means nothing to Markdown, nor to GitHub's search for users. A URL is code, because
/// GitHub makes a link of it and takes backslashes as a part of it.
pub(crate) fn escaped(text: &str) -> String {
    let text = foreign(text, Unicode::On);
    let words = text.split(' ').map(|word| {
        let is_url = word.contains("://") || word.starts_with("www.");
        // A list of URLs has a mark after each.
        let url = word.trim_end_matches([',', ';']);
        match is_url && !word.contains(['|', '`']) {
            true => format!("`{url}`{}", &word[url.len()..]),
            false => escaped_word(word),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A word with a backslash before each letter that has a meaning.
fn escaped_word(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut is_named = || letters.peek().is_some_and(|next| next.is_alphanumeric());
        match letter {
            // GitHub searches the rendered text for users. Only code is left out.
            '@' if is_named() => out.push_str("`@`"),
            _ if MEANT.contains(letter) => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    out
}
