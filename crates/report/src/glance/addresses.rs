//! The table of a target's addresses on a screen.
//!
//! It shows whether a name's addresses get equal shares. Requests are counted by connections, which
//! know their number when they are closed: on long-lived connections the column stays at 0 while
//! requests are answered, and its heading says so.

use crate::connection_facts::{self, AddressCells};
use crate::line::{Ink, Line};
use crate::style::Style;
use crate::table::{Column, Table};
use drumfire_measure::Summary;

/// A heading and a row for each address that connections were opened to. A connection's requests
/// are known when it is closed.
#[must_use]
pub fn addresses(summary: &Summary, style: &Style) -> Vec<Line> {
    let rows = connection_facts::addresses(&summary.total.connections);
    if rows.is_empty() {
        return vec![Line::of("no connection has been opened yet", Ink::Dim)];
    }
    let mut table = Table::new([
        Column::names("Addresses"),
        Column::numbers("opened", 0),
        Column::numbers("requests on connections since closed", 1),
        Column::numbers("share", 2),
    ]);
    for AddressCells {
        address,
        opened,
        carried,
        share,
    } in rows
    {
        table.row([address, opened, carried, share].map(Line::plain).into());
    }
    table.lines(style.width())
}
