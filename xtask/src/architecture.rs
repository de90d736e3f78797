//! Reads ARCHITECTURE.md's table of crates.

use crate::{Repository, table};

/// The page with the table.
pub(crate) const PAGE: &str = "ARCHITECTURE.md";

/// The layer of crates for development only: above all others.
pub(crate) const DEVELOPMENT: u32 = u32::MAX;

/// A crate as the table describes it.
#[derive(Debug)]
pub(crate) struct CrateRow<'a> {
    /// The line of the row in the page.
    pub(crate) line: usize,
    /// The crate's layer; `None` if the cell is neither a number nor `dev`.
    pub(crate) layer: Option<u32>,
    /// The name of the crate's folder, within that of its group.
    pub(crate) name: &'a str,
    /// The workspace crates that the crate uses.
    pub(crate) uses: Vec<&'a str>,
    /// Whether the crate has effects: sockets, clocks, files, the terminal.
    pub(crate) effects: Effects,
}

impl CrateRow<'_> {
    /// Whether a path is below the folder of the crate, `crates/GROUP/NAME`.
    pub(crate) fn contains(&self, path: &str) -> bool {
        let inner = path.strip_prefix("crates/");
        inner.and_then(|inner| inner.split('/').nth(1)) == Some(self.name)
    }
}

/// Whether a crate has effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effects {
    /// The crate only computes.
    None,
    /// The crate has effects.
    Some,
}

/// The table's rows, in the page's order.
pub(crate) fn crates(repository: &Repository) -> Vec<CrateRow<'_>> {
    let header = ["layer", "crate", "uses", "effects"];
    table::rows(repository.text(PAGE), &header)
        .into_iter()
        .map(|row| CrateRow {
            line: row.line,
            layer: match row.cell(0) {
                "dev" => Some(DEVELOPMENT),
                number => number.parse().ok(),
            },
            name: row.code(1).first().copied().unwrap_or(""),
            uses: row.code(2),
            effects: match row.cell(3) {
                "none" => Effects::None,
                _ => Effects::Some,
            },
        })
        .collect()
}
