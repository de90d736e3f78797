//! The results of a run that go to files or to standard output: one row each.
//!
//! A new result needs a row here, a key in the document's outputs, and a flag.

use crate::exit::Failure;
use crate::flags::ColorChoice;
use crate::stream_names::{STDERR, STDOUT};
use crate::terminal;
use drumfire_capacity::Finding;
use drumfire_compare::Against;
use drumfire_document::{Outputs, Text};
use drumfire_measure::Summary;
use drumfire_report::comparison;
use drumfire_report::figure::svg;
use drumfire_report::html::Origin;
use drumfire_report::style::Style;
use drumfire_report::{NamedFile, Naming, RowForm, csv, hlog, html, json, junit, markdown};
use drumfire_session::{IntervalShape, Redactor};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::path::Path;

/// A result that a document can request.
pub(crate) struct ResultRow {
    /// The flag that sets the result's place.
    flag: &'static str,
    /// The result's key in the document.
    place: fn(&Outputs) -> &Option<Text>,
    /// The content that is written to the place.
    pub(crate) content: Content,
}

impl ResultRow {
    /// Whether the result is the page, which shows how the teardown ended.
    pub(crate) fn is_page(&self) -> bool {
        self.flag == "--html"
    }
}

/// The data of a result besides the summary.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'a> {
    /// How the run's caller names settings.
    pub(crate) naming: Naming,
    /// The plan without secrets.
    pub(crate) plan: &'a str,
    /// Why the teardown failed.
    pub(crate) teardown: Option<&'a str>,
    /// The comparison with the baseline.
    pub(crate) against: Option<&'a Against>,
    /// The result of the search for a capacity that made the run.
    pub(crate) finding: Option<&'a Finding>,
    /// The secrets to mask.
    pub(crate) redactor: &'a Redactor,
}

/// Masks secrets in bytes according to their format.
pub(crate) type Redact = for<'b> fn(&Redactor, &'b [u8]) -> Cow<'b, [u8]>;

/// The content of a result.
pub(crate) enum Content {
    /// One result of the whole run, written after its end.
    Whole {
        /// Its bytes.
        render: fn(&Summary, &Beside<'_>) -> Vec<u8>,
        redact: Redact,
    },
    /// Several files of the whole run in a separate folder.
    Folder {
        /// The files.
        render: fn(&Summary) -> Vec<NamedFile>,
        /// Whether a file of the result may have this name.
        is_name: fn(&str) -> bool,
        redact: Redact,
    },
    /// A line for each interval, written during the run; the shape may depend on the place.
    Intervals(fn(&Text) -> IntervalShape),
    /// A row for each request, written during the run; the form may depend on the place.
    Requests(fn(&Text) -> RowForm),
    /// The result of `vllm bench serve`, which is computed from all answers.
    Answers,
}

/// All results, in the order in which they are opened.
pub(crate) const RESULTS: &[ResultRow] = &[
    ResultRow {
        flag: "--json",
        place: |outputs| &outputs.json,
        content: Content::Whole {
            render: json_of,
            redact: Redactor::json,
        },
    },
    ResultRow {
        flag: "--csv",
        place: |outputs| &outputs.csv,
        content: Content::Whole {
            render: |summary, _| csv::histogram(summary),
            redact: Redactor::bytes,
        },
    },
    ResultRow {
        flag: "--html",
        place: |outputs| &outputs.html,
        content: Content::Whole {
            render: page_of_html,
            redact: Redactor::markup,
        },
    },
    ResultRow {
        flag: "--markdown",
        place: |outputs| &outputs.markdown,
        content: Content::Whole {
            render: markdown_of,
            redact: Redactor::bytes,
        },
    },
    ResultRow {
        flag: "--junit",
        place: |outputs| &outputs.junit,
        content: Content::Whole {
            render: |summary, beside| junit::summary(summary, beside.naming),
            redact: Redactor::xml,
        },
    },
    ResultRow {
        flag: "--hlog",
        place: |outputs| &outputs.hlog,
        content: Content::Whole {
            render: |summary, _| hlog::log(summary),
            redact: Redactor::log,
        },
    },
    ResultRow {
        flag: "--svg",
        place: |outputs| &outputs.svg,
        content: Content::Folder {
            render: svg::files,
            is_name: svg::is_file_name,
            redact: Redactor::markup,
        },
    },
    ResultRow {
        flag: "--lines",
        place: |outputs| &outputs.lines,
        content: Content::Intervals(|place| IntervalShape::Text {
            page: page(place),
            unicode: terminal::stderr_style(ColorChoice::Never).unicode,
        }),
    },
    ResultRow {
        flag: "--json-lines",
        place: |outputs| &outputs.json_lines,
        content: Content::Intervals(|_| IntervalShape::Json),
    },
    ResultRow {
        flag: "--csv-intervals",
        place: |outputs| &outputs.csv_intervals,
        content: Content::Intervals(|_| IntervalShape::Csv),
    },
    ResultRow {
        flag: "--rows",
        place: |outputs| &outputs.rows,
        content: Content::Requests(row_form),
    },
    ResultRow {
        flag: "--vllm-json",
        place: |outputs| &outputs.vllm_json,
        content: Content::Answers,
    },
];

impl ResultRow {
    /// The place in the outputs, if the result is requested.
    pub(crate) fn place<'o>(&self, outputs: &'o Outputs) -> Option<&'o Text> {
        (self.place)(outputs).as_ref()
    }
}

/// The requested results, with their places.
pub(crate) fn wanted(outputs: &Outputs) -> impl Iterator<Item = (&'static ResultRow, &Text)> {
    let rows = RESULTS.iter();
    rows.filter_map(|row| Some((row, row.place(outputs)?)))
}

/// The maximum total size of the documents that a page offers for download, in bytes. With them,
/// the page of a run of one day with ten steps is smaller than 2 MB.
const DOWNLOADS_MAX: usize = 1_100_000;
/// The maximum size of the CSV of all buckets in a page, in bytes: the other documents have its
/// numbers in a fifth of the space.
const CSV_MAX: usize = 350_000;

/// The summary as JSON, with the comparison with a baseline if there is one.
fn json_of(summary: &Summary, beside: &Beside<'_>) -> Vec<u8> {
    match beside.against {
        Some(against) => comparison::json_of_baseline(against, summary),
        None => json::summary(summary),
    }
}

/// The summary as Markdown, followed by the comparison with a baseline.
fn markdown_of(summary: &Summary, beside: &Beside<'_>) -> Vec<u8> {
    let mut text = markdown::summary(summary, beside.naming);
    if let Some(against) = beside.against {
        text.push(b'\n');
        text.extend(comparison::markdown_of_baseline(&against.comparison));
    }
    text
}

/// The HTML page, which embeds the documents of the run.
pub(crate) fn page_of_html(summary: &Summary, beside: &Beside<'_>) -> Vec<u8> {
    let redactor = beside.redactor;
    let documents = [
        (
            "summary.json",
            redactor.json(&json_of(summary, beside)).into_owned(),
        ),
        (
            "histogram.csv",
            redactor.bytes(&csv::histogram(summary)).into_owned(),
        ),
        ("run.hlog", redactor.log(&hlog::log(summary)).into_owned()),
    ];
    let mut room = DOWNLOADS_MAX;
    let mut files = Vec::new();
    for (name, bytes) in documents {
        if name.ends_with(".csv") && bytes.len() > CSV_MAX {
            continue;
        }
        // If one document is too large, smaller ones still fit.
        if let Some(rest) = room.checked_sub(bytes.len()) {
            room = rest;
            files.push(NamedFile {
                name: name.to_owned(),
                bytes,
            });
        }
    }
    let origin = Origin {
        naming: beside.naming,
        plan: beside.plan,
        files: &files,
        teardown: beside.teardown,
        against: beside.against,
    };
    match beside.finding {
        Some(finding) => html::capacity_page(finding, summary, &origin),
        None => html::page(summary, &origin),
    }
}

/// Rejects two results with the same place.
pub(crate) fn check_places(outputs: &Outputs) -> Result<(), Failure> {
    let named: Vec<_> = wanted(outputs).collect();
    for (at, (row, path)) in named.iter().enumerate() {
        let mut earlier = named[..at].iter();
        if let Some((other, _)) = earlier.find(|(_, earlier)| earlier.value == path.value) {
            return Err(Failure::usage(format!(
                "{} and {} name the same place; use a separate file for each",
                other.flag, row.flag
            )));
        }
    }
    Ok(())
}

/// The form of rows in a file with this name.
fn row_form(place: &Text) -> RowForm {
    let extension = Path::new(&place.value).extension();
    let extension = extension.map(|extension| extension.to_ascii_lowercase());
    match extension.as_deref().and_then(OsStr::to_str) {
        Some("json" | "jsonl" | "ndjson") => RowForm::JsonLine,
        _ => RowForm::Csv,
    }
}

/// The style of lines that go to a terminal, which limits their width.
fn page(place: &Text) -> Option<Style> {
    match &*place.value {
        STDOUT if io::stdout().is_terminal() => Some(terminal::stdout_style(ColorChoice::Never)),
        STDERR if io::stderr().is_terminal() => Some(terminal::stderr_style(ColorChoice::Never)),
        _ => None,
    }
}
