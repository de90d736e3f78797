//! ARCHITECTURE.md's table of crates.

use crate::{Repository, table};

/// The page with the table.
pub(crate) const PAGE: &str = "ARCHITECTURE.md";

/// The layer of crates that exist for development only: above all others.
pub(crate) const DEVELOPMENT: u32 = u32::MAX;

/// One crate as the table describes it.
#[derive(Debug)]
pub(crate) struct CrateRow<'a> {
    /// The line in the page.
    pub(crate) line: usize,
    /// Its layer; `None` where the cell is neither a number nor `dev`.
    pub(crate) layer: Option<u32>,
    /// The name of its folder.
    pub(crate) name: &'a str,
    /// The crates of ours that it uses.
    pub(crate) uses: Vec<&'a str>,
    /// Whether it has effects: sockets, clocks, files, the terminal.
    pub(crate) effects: Effects,
}

/// Whether a crate touches the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effects {
    /// It computes and no more.
    None,
    /// It does.
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
