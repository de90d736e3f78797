//! The page that shows the measures: a table with a row for each crate, and lists.

use super::Measures;
use super::tally::{Impls, Tally};
use crate::file_length::LINES_MAX;
use crate::type_size::FIELDS_MAX;

/// The maximum number of entries of long lists.
const LISTED: usize = 10;

/// A column of the table: its heading, and the function for a crate's cell.
type Column = (&'static str, fn(&Tally) -> String);

const COLUMNS: &[Column] = &[
    ("files", |of| of.files.to_string()),
    ("code", |of| of.comments.code.to_string()),
    ("functions", |of| of.functions.len().to_string()),
    ("median", |of| of.function_quantile(50).to_string()),
    ("p90", |of| of.function_quantile(90).to_string()),
    ("p99", |of| of.function_quantile(99).to_string()),
    ("max", |of| of.function_quantile(100).to_string()),
    ("large types", |of| of.large_types.len().to_string()),
    ("methods max", |of| of.methods_max().to_string()),
    ("circles", |of| of.circles.len().to_string()),
    ("files in them", |of| of.modules_in_circles().to_string()),
    ("visible fields", |of| of.visible_fields.to_string()),
    ("comments : code", |of| {
        let milli = of.comments.ratio_milli();
        format!("{}.{:03}", milli / 1000, milli % 1000)
    }),
    ("docs of 1 line", |of| {
        format!("{} %", of.comments.short_percent())
    }),
    ("of 3 and more", |of| {
        format!("{} %", of.comments.long_percent())
    }),
    ("long files", |of| of.long_files.len().to_string()),
];

/// The whole page, in Markdown.
pub(super) fn print(of: &Measures) -> String {
    let mut rows = vec![headings()];
    rows.extend(of.crates.iter().map(|(name, own)| row(name, own)));
    rows.push(row("all", &of.all));
    let shared = of.names.iter().filter(|(_, files)| *files > 1);
    let shared = shared.map(|(name, files)| format!("`{name}` in {files} files"));
    let sections = [
        table(&rows),
        list(
            "Types with the most methods",
            of.all.largest_impls(LISTED).into_iter().map(impls),
        ),
        list(
            &format!("Types with more than {FIELDS_MAX} fields"),
            of.all
                .large_types
                .iter()
                .map(|(name, fields)| format!("{name}: {fields}")),
        ),
        list(
            "Circles of modules",
            of.all
                .circles
                .iter()
                .map(|(folder, ring)| format!("{folder}: {}", ring.join(" "))),
        ),
        list(
            &format!("Files of more than {LINES_MAX} lines"),
            of.all
                .long_files
                .iter()
                .map(|(path, lines)| format!("{path}: {lines}")),
        ),
        list(
            &format!(
                "Of {} type names, {} stand in more than one file",
                of.names.len(),
                shared.clone().count()
            ),
            shared.take(LISTED),
        ),
    ];
    sections.concat()
}

fn headings() -> Vec<String> {
    let columns = COLUMNS.iter().map(|(heading, _)| (*heading).to_owned());
    std::iter::once("crate".to_owned()).chain(columns).collect()
}

fn row(name: &str, of: &Tally) -> Vec<String> {
    let cells = COLUMNS.iter().map(|(_, cell)| cell(of));
    std::iter::once(name.to_owned()).chain(cells).collect()
}

/// A line about a type's `impl` blocks.
fn impls(of: &Impls) -> String {
    let Impls {
        path,
        name,
        methods,
        lines,
        files,
    } = of;
    let (of_methods, of_files) = (plural(*methods), plural(*files));
    format!(
        "`{name}` in {path}: {methods} method{of_methods}, {lines} lines, {files} file{of_files}"
    )
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Rows of equal length as a table; numbers are right-aligned.
fn table(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| match column {
            0 => format!("| {cell:width$} ", width = width(column)),
            _ => format!("| {cell:>width$} ", width = width(column)),
        });
        cells.collect::<String>() + "|\n"
    };
    let ruler = (0..rows[0].len()).map(|column| match column {
        0 => format!("|{}", "-".repeat(width(column) + 2)),
        _ => format!("|{}:", "-".repeat(width(column) + 1)),
    });
    let ruler = ruler.collect::<String>() + "|\n";
    line(&rows[0]) + &ruler + &rows[1..].iter().map(line).collect::<String>()
}

/// A heading and its entries.
fn list(heading: &str, entries: impl Iterator<Item = String>) -> String {
    let entries: String = entries.map(|entry| format!("- {entry}\n")).collect();
    let entries = if entries.is_empty() {
        "- none\n"
    } else {
        &entries
    };
    format!("\n{heading}:\n\n{entries}")
}
