//! The statuses of responses, and the leniencies that responses were granted.

use super::{Body, Cell, Column, Grid, PageExtent, Section};
use crate::line::Ink;
use crate::quantity::count;
use crate::remedy::Naming;
use drumfire_measure::{GRPC_STATUS, Leniency, Summary, status_name};
use std::cmp::Reverse;

/// The maximum number of statuses. The rarest share a row, so that the rows add up to all
/// responses.
const STATUS_MAX: usize = 12;

/// The number of responses with each status.
pub(super) fn statuses(summary: &Summary, extent: &PageExtent) -> Option<Section> {
    let mut statuses: Vec<(u16, u64)> = summary.total.status().collect();
    let whole: u64 = statuses.iter().map(|(_, n)| n).sum();
    statuses.sort_by_key(|&(status, n)| (Reverse(n), status));
    let hidden = statuses.split_off(statuses.len().min(STATUS_MAX));
    statuses.sort_unstable();
    let others = (!hidden.is_empty()).then(|| {
        let name = Cell::new(format!("{} others", hidden.len()));
        (name, hidden.iter().map(|(_, n)| n).sum())
    });
    let named = statuses.into_iter().map(|(status, n)| {
        let ink = match status {
            100..400 | GRPC_STATUS => Ink::Plain,
            400..500 => Ink::Warn,
            _ => Ink::Bad,
        };
        (Cell::new(status_name(status).into_owned()).inked(ink), n)
    });
    let rows = named.chain(others).map(|(name, n)| {
        let share = Cell::share_tenths(n, whole).inked(Ink::Dim);
        vec![name, Cell::count(n), share].into()
    });
    let columns = vec![
        Column::words("status", 0),
        Column::numbers("responses", 0),
        Column::numbers("share", 0),
    ];
    let body = Body::List("Status", Grid::new(columns, rows));
    let explanation = "The statuses of all responses, ok or failed.";
    let section = Section::new("status", "Status", explanation, vec![body])?;
    Some(section.remarked(redirects(summary, extent)))
}

/// The sentence on redirects that were not followed, if the plan follows none. A run that follows
/// some has failures for the others.
fn redirects(summary: &Summary, extent: &PageExtent) -> Option<String> {
    let statuses = summary.total.status();
    let redirects = statuses.filter(|(status, _)| matches!(status, 301 | 302 | 303 | 307 | 308));
    let redirects: u64 = redirects.map(|(_, n)| n).sum();
    let pools = summary.info.pools.iter();
    let mut plans = pools.filter_map(|pool| pool.asked.as_ref());
    if redirects == 0 || plans.any(|asked| asked.transport.redirects.is_some()) {
        return None;
    }
    let number = match redirects {
        1 => "one redirect was not".to_owned(),
        n => format!("{} redirects were not", count(n)),
    };
    let follow = match extent.naming {
        Naming::Flags => "-L N",
        Naming::Keys => "`redirects: N`",
        Naming::Script => "`maxRedirects: N`",
    };
    Some(format!("{number} followed; use {follow} to follow up to N"))
}

/// The leniencies that responses were granted. Such a response is ok; the list is for those who
/// write the server.
pub(super) fn leniencies(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let counts = summary.total.leniencies.iter().zip(Leniency::ALL);
    let rows = counts.filter(|(n, _)| **n > 0).map(|(n, leniency)| {
        vec![
            Cell::count(*n).inked(Ink::Warn),
            Cell::new(leniency.name()),
            Cell::new(leniency.words()).inked(Ink::Dim),
        ]
        .into()
    });
    let columns = vec![
        Column::numbers("responses", 0),
        Column::words("violation", 0),
        Column::prose("meaning"),
    ];
    let body = Body::List("Forgiven", Grid::new(columns, rows));
    let explanation = "Harmless violations of the standard; these responses count as ok.";
    Section::new("forgiven", "Forgiven", explanation, vec![body])
}
