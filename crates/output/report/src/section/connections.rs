//! The facts of a run's connections, and the table of addresses.
//!
//! A fact of which nothing happened is left out.

use super::{Body, Cell, Column, Grid, PageExtent, Section};
use crate::line::Ink;
use crate::quantity::{count, counted, latency, quantile, share, share_tenths};
use crate::style::Unicode;
use drumfire_measure::{
    AddressCounts, AddressRow, Closing, Connections, Figures, Histogram, Summary,
};

/// How many connections were opened, why they were closed, their addresses, and what the protocol
/// did with requests.
pub(super) fn facts(total: &Figures) -> Vec<Cell> {
    let connections = &total.connections;
    let facts = opened(total).into_iter().chain(closings(connections));
    facts
        .chain(spread(connections))
        .chain(protocol(total))
        .collect()
}

/// A number of things.
fn counted_as(n: u64, name: &str) -> Cell {
    Cell::new(format!("{} {name}", count(n)))
}

/// The connections that were opened, and the time that this took. A 0 is a fact, too: the run used
/// connections of the warm-up. Times of TLS are of the handshake alone, after the connect.
fn opened(total: &Figures) -> Vec<Cell> {
    let connections = &total.connections;
    let mut facts = vec![counted_as(connections.opened, "opened")];
    if connections.open_before > 0 {
        let open = connections.open_before.unsigned_abs();
        facts.push(counted_as(open, "open since the warm-up"));
    }
    if connections.connect.count() > 0 {
        let times = opening(&connections.connect);
        facts.push(Cell::new(format!("connect {times}")));
    }
    let handshakes = &connections.tls_handshake;
    if handshakes.count() > 0 {
        let mut times = opening(handshakes);
        if connections.tls_resumed > 0 {
            let resumed = share(connections.tls_resumed, handshakes.count());
            times.push_str(&format!(", {resumed} resumed"));
        }
        facts.push(Cell::new(format!("TLS handshake {times}")));
    }
    facts
}

/// The median, if the count supports it, and the maximum. A run that keeps its connections has few
/// such times.
fn opening(times: &Histogram) -> String {
    let max = latency(times.max(), Unicode::On);
    match quantile(times, 0.5, Unicode::On) {
        Some(median) => format!("p50 {median}, max {max}"),
        None => format!("max {max}"),
    }
}

/// The ends of connections before the end of the load, by reason, and the pauses after failures.
/// Ends that the plan requires are left out.
///
/// The median number of requests tells a server that closes each connection after a fixed number
/// from one that closes at random. The median is there only if the server closed more than half of
/// all connections; otherwise it may be the median of connections that ended for another reason.
fn closings(connections: &Connections) -> Vec<Cell> {
    let by = |why| connections.closed_by(why);
    let server = by(Closing::Peer) + by(Closing::Announced);
    let carried = &connections.carried;
    let requests = counted(carried.quantile_unchecked(0.5).0, "request");
    let each = if carried.min() == carried.max() {
        format!(" after {requests} each")
    } else if server.saturating_mul(2) > carried.count() {
        format!(" after about {requests}")
    } else {
        String::new()
    };
    let ends = [
        (server, format!("closed by the server{each}")),
        (by(Closing::Idle), "closed while idle".to_owned()),
        (by(Closing::Aged), "closed at the age limit".to_owned()),
        (by(Closing::Moved), "moved to other addresses".to_owned()),
        (by(Closing::Reset), "reset".to_owned()),
        (by(Closing::Failed), "closed after failures".to_owned()),
        (
            by(Closing::Discarded),
            "unusable after extra bytes".to_owned(),
        ),
        (by(Closing::Unready), "never ready".to_owned()),
        (by(Closing::GoAway), "ended by GOAWAY".to_owned()),
        (by(Closing::Silent), "found dead".to_owned()),
    ];
    let ends = ends.into_iter().filter(|(n, _)| *n > 0);
    let ends = ends.map(|(n, words)| counted_as(n, &words));
    let pauses = (connections.pauses > 0).then(|| {
        let name = match connections.pauses {
            1 => "pause before redialing",
            _ => "pauses before redialing",
        };
        counted_as(connections.pauses, name)
    });
    ends.chain(pauses).collect()
}

/// What happened to requests on the way, other than their ends.
fn protocol(total: &Figures) -> Vec<Cell> {
    let mut facts = Vec::new();
    if total.retried > 0 {
        facts.push(Cell::new(counted(total.retried, "resent request")));
    }
    if let Some(allowed) = total.held_back.allowed {
        let waited = counted(total.held_back.requests, "request");
        let words = format!("{waited} waited: the server allows {allowed} concurrent streams");
        facts.push(Cell::new(words).inked(Ink::Warn));
    }
    if total.interim > 0 {
        facts.push(Cell::new(counted(total.interim, "interim response")));
    }
    facts
}

/// The factor between the loads of two addresses beyond which they count as uneven.
const SKEW_MAX: u64 = 2;
/// The number of requests per address from which such a factor is not chance: fewer differ by a
/// factor of two even if connections are spread evenly.
const SKEW_FROM: u64 = 100;

/// The shares of the requests over several addresses of a name, with a warning if they are uneven.
/// The usual cause is a balancer that sends all connections to one server, which no latency shows.
/// There is no warning if connections moved between addresses, which then had less time, and no
/// fact if some addresses have no row.
fn spread(connections: &Connections) -> Option<Cell> {
    let addresses = &connections.addresses;
    let rows = addresses.rows();
    let all: u64 = rows.iter().map(|row| row.counts.carried).sum();
    if rows.len() < 2 || all == 0 || addresses.others() != AddressCounts::default() {
        return None;
    }
    let carried = |row: &&AddressRow| row.counts.carried;
    let (least, most) = (
        rows.iter().min_by_key(carried)?,
        rows.iter().max_by_key(carried)?,
    );
    let (few, many) = (least.counts.carried, most.counts.carried);
    let of = rows.len();
    let shares = format!(
        "addresses with {} to {} of the requests each",
        share_tenths(few, all),
        share_tenths(many, all)
    );
    let is_skewed = many > few.saturating_mul(SKEW_MAX) && all >= SKEW_FROM * of as u64;
    if !is_skewed || connections.closed_by(Closing::Moved) > 0 {
        return Some(Cell::new(format!("{of} {shares}")));
    }
    let (least, most) = (least.address, most.address);
    let uneven = format!("{of} {shares}, uneven: {least} got the fewest, {most} the most");
    Some(Cell::new(uneven).inked(Ink::Warn))
}

/// A row for each address that connections were opened to, and one for all others. A single address
/// has no table: its numbers are in the section on transport.
pub(super) fn addresses(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let grid = address_grid(summary);
    let body = (grid.rows.len() > 1).then_some(Body::Table(grid));
    let explanation = "The addresses of the opened connections. The requests of a connection are \
                       counted when it is closed. Uneven shares often mean that a load balancer \
                       sends all connections to one server.";
    Section::new(
        "addresses",
        "Addresses",
        explanation,
        body.into_iter().collect(),
    )
}

/// The table of addresses, also of a single one.
pub(crate) fn address_grid(summary: &Summary) -> Grid {
    let addresses = &summary.total.connections.addresses;
    let named = addresses.rows().iter();
    let named = named.map(|row| (row.address.to_string(), row.counts));
    let others = Some(addresses.others()).filter(|counts| *counts != AddressCounts::default());
    let others = others.map(|counts| ("others".to_owned(), counts));
    let rows: Vec<_> = named.chain(others).collect();
    let all: u64 = rows.iter().map(|(_, counts)| counts.carried).sum();
    let columns = vec![
        Column::names("address"),
        Column::numbers("opened", 0),
        Column::numbers("requests on connections since closed", 1),
        Column::numbers("share", 2),
    ];
    let rows = rows.into_iter().map(|(address, counts)| {
        vec![
            Cell::new(address),
            Cell::count(counts.opened),
            Cell::count(counts.carried),
            Cell::share_tenths(counts.carried, all),
        ]
        .into()
    });
    Grid::new(columns, rows)
}
