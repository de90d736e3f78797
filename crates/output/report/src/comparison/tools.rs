//! Results of several tools beside each other.

use super::signed;
use crate::grid::{Cell, Column, Grid};
use crate::line::Ink;
use crate::markdown;
use crate::quantity::{latency_f64, tokens_per_s};
use crate::section::{Body, Facts, Section};
use crate::style::{Style, Unicode};
use crate::text::printed;
use drumfire_compare::contract::{TOOLS_SCHEMA, tools};
use drumfire_compare::{ToolComparison, ToolMeasure, ToolResult, ToolRow};

/// The results as text.
#[must_use]
pub fn tool_text(of: &ToolComparison, style: &Style) -> String {
    printed(&[section(of)], style)
}

/// The results as Markdown.
#[must_use]
pub fn tool_markdown(of: &ToolComparison) -> Vec<u8> {
    let mut out = "## Results of two tools\n\n".to_owned();
    markdown::print(&mut out, &section(of));
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.into_bytes()
}

/// The results as one JSON object, indented, with a line feed at its end.
#[must_use]
pub fn tool_json(of: &ToolComparison) -> Vec<u8> {
    let [base, candidate] = of.sides.each_ref().map(|side| tools::Side {
        tool: side.tool.name().to_owned(),
        completed: side.completed,
        failed: side.failed,
    });
    let figures = of.rows.iter().map(|row| {
        let statistic = row.statistic.name();
        tools::Figure {
            name: row.measure.name().to_owned(),
            statistic: (!statistic.is_empty()).then(|| statistic.to_owned()),
            unit: match row.measure.is_rate() {
                true => "1/s",
                false => "ns",
            }
            .to_owned(),
            base: row.values[0],
            candidate: row.values[1],
            shift: row.shift(),
        }
    });
    crate::json::bytes(&tools::Document {
        schema: TOOLS_SCHEMA.to_owned(),
        base,
        candidate,
        figures: figures.collect(),
        cautions: of.cautions.clone(),
    })
}

fn section(of: &ToolComparison) -> Section {
    let [base, candidate] = of.sides.each_ref().map(side);
    let items = |label, cells| Body::Facts(Facts::items(label, cells));
    Section {
        id: "figures",
        title: "Figures",
        explanation: "The figures that both results have with one definition. One result of each \
                      tool has no spread, so that no difference is tested."
            .to_owned(),
        remarks: of.cautions.clone(),
        bodies: vec![
            items("Base", base),
            items("Candidate", candidate),
            Body::Table(table(of)),
        ],
    }
}

fn side(of: &ToolResult) -> Vec<Cell> {
    let count =
        |count: Option<u64>, word: &str| count.map(|count| Cell::new(format!("{count} {word}")));
    let counts = [count(of.completed, "ok"), count(of.failed, "failed")];
    let tool = Cell::new(of.tool.name());
    std::iter::once(tool)
        .chain(counts.into_iter().flatten())
        .collect()
}

fn table(of: &ToolComparison) -> Grid {
    let columns = vec![
        Column::names("figure"),
        Column::numbers("base", 0),
        Column::numbers("candidate", 0),
        Column::numbers("shift", 0),
    ];
    let rows = of.rows.iter().map(|row| {
        let name = format!("{} {}", row.measure.name(), row.statistic.name());
        let value = |of: f64| Cell::measured(of, value(row, of));
        let shift = row.shift();
        let words = shift.map_or_else(|| "—".to_owned(), signed);
        let cells = vec![
            Cell::new(name.trim_end()).inked(Ink::Bold),
            value(row.values[0]),
            value(row.values[1]),
            Cell::new(words).numbered(shift),
        ];
        cells.into()
    });
    Grid::new(columns, rows)
}

fn value(row: &ToolRow, value: f64) -> String {
    match row.measure {
        ToolMeasure::Requests => format!("{value:.2}/s"),
        ToolMeasure::Output => tokens_per_s(value),
        _ => latency_f64(value, Unicode::On),
    }
}
