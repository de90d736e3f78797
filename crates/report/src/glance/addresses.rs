//! The table of a target's addresses on a screen.
//!
//! It shows whether a name's addresses get equal shares. Requests are counted by connections, which
//! know their number when they are closed: on long-lived connections the column stays at 0 while
//! requests are answered, and its heading says so.

use crate::line::{Ink, Line};
use crate::quantity::{count, share_tenths};
use crate::style::Style;
use crate::table::{Column, Table};
use drumfire_measure::Summary;

/// A heading and a row for each address that connections were opened to. A connection's requests
/// are known when it is closed.
#[must_use]
pub fn addresses(summary: &Summary, style: &Style) -> Vec<Line> {
    let rows = summary.total.connections.addresses.rows();
    if rows.is_empty() {
        return vec![Line::of("no connection was opened yet", Ink::Dim)];
    }
    let all: u64 = rows.iter().map(|row| row.counts.carried).sum();
    let mut table = Table::new([
        Column::names("Addresses"),
        Column::numbers("opened", 0),
        Column::numbers("requests on closed ones", 1),
        Column::numbers("share", 2),
    ]);
    for row in rows {
        table.row(vec![
            Line::plain(row.address.to_string()),
            Line::plain(count(row.counts.opened)),
            Line::plain(count(row.counts.carried)),
            Line::plain(share_tenths(row.counts.carried, all)),
        ]);
    }
    table.lines(style.width())
}
