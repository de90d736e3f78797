//! The facts of a run's connections and of what passed over them, a name and a value each, from
//! which the report as text has its line of connections and the page its tables.
//!
//! A fact of which nothing happened is left out.
//!
//! There are four groups, which a reader asks for in this order: [`opened`] (how many, and what
//! that took), [`closings`] (why they ended before the load did), [`spread`] (over which addresses)
//! and [`protocol`] (what became of requests on the way). Each gives its facts in the order of a
//! sentence. The page of text joins them to one line, the page in a browser makes tables of them;
//! neither has a word or a rule of its own, so that the same run never warns in one and is silent
//! in the other.
//!
//! A [`Fact`] keeps name and value apart for tables, and knows by its form how they stand in a
//! sentence. A warning is a property of the fact: it is decided here, by the figures, and the
//! printers choose a colour for it.

use crate::quantity::{count, counted, latency, quantile, share, share_tenths};
use crate::style::Unicode;
use drumfire_measure::{AddressCounts, AddressRow, Closing, Connections, Figures, Histogram};

/// A fact.
pub(crate) struct Fact {
    /// Its name.
    pub(crate) name: String,
    /// Its value, with a unit where it has one.
    pub(crate) value: String,
    form: Form,
    /// Whether a reader must be warned by it.
    pub(crate) is_warning: bool,
}

/// The order of a fact's name and value in a sentence.
enum Form {
    /// A number of things: `3 opened`.
    Counted,
    /// A property: `connect p50 310 µs, max 1 ms`.
    Named,
}

impl Fact {
    fn counted(value: String, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value,
            form: Form::Counted,
            is_warning: false,
        }
    }

    fn named(name: &str, value: String) -> Self {
        Self {
            form: Form::Named,
            ..Self::counted(value, name)
        }
    }

    const fn warning(mut self) -> Self {
        self.is_warning = true;
        self
    }

    /// The fact as a part of a sentence.
    pub(crate) fn text(&self) -> String {
        match self.form {
            Form::Counted => format!("{} {}", self.value, self.name),
            Form::Named => format!("{} {}", self.name, self.value),
        }
    }
}

/// The connections that were opened, and the times that this took. The number is there even where
/// it is 0: that of a run on connections from its warm-up is a fact, too. Times of TLS are those of
/// the handshake alone, behind the connect.
pub(crate) fn opened(total: &Figures, unicode: Unicode) -> Vec<Fact> {
    let connections = &total.connections;
    let mut facts = vec![Fact::counted(count(connections.opened), "opened")];
    if connections.open_before > 0 {
        let open = count(connections.open_before.unsigned_abs());
        facts.push(Fact::counted(open, "open since the warm-up"));
    }
    if connections.connect.count() > 0 {
        let times = opening(&connections.connect, unicode);
        facts.push(Fact::named("connect", times));
    }
    let handshakes = &connections.tls_handshake;
    if handshakes.count() > 0 {
        let mut times = opening(handshakes, unicode);
        if connections.tls_resumed > 0 {
            let resumed = share(connections.tls_resumed, handshakes.count());
            times.push_str(&format!(", {resumed} resumed"));
        }
        facts.push(Fact::named("TLS handshake", times));
    }
    facts
}

/// The median and the greatest of times of opening; the median only where the count supports it.
/// There are few such times in a run that keeps its connections, and no high quantile of them.
fn opening(times: &Histogram, unicode: Unicode) -> String {
    let max = latency(times.max(), unicode);
    match quantile(times, 0.5, unicode) {
        Some(median) => format!("p50 {median}, max {max}"),
        None => format!("max {max}"),
    }
}

/// The ends of connections before that of the load, by reason, and the pauses that followed failures;
/// ends that the plan itself asks for are left out.
///
/// The median of all that were closed separates a server that closes each connection after a fixed
/// number of requests from one that closes at random: it is exact where all carried the same.
///
/// It stands behind the server's own closings, and only where these are more than half of all: of
/// fewer the median may be that of connections which ended in another way.
pub(crate) fn closings(connections: &Connections) -> Vec<Fact> {
    let by = |why| connections.closed_by(why);
    let server = by(Closing::Peer) + by(Closing::Announced);
    let carried = &connections.carried;
    let requests = counted(carried.quantile_unchecked(0.5).0, "request");
    // Of several reasons it is not known which connections carried how many.
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
    let ends = ends.map(|(n, words)| Fact::counted(count(n), words));
    let pauses = (connections.pauses > 0).then(|| {
        let name = match connections.pauses {
            1 => "pause before redialing",
            _ => "pauses before redialing",
        };
        Fact::counted(count(connections.pauses), name)
    });
    ends.chain(pauses).collect()
}

/// What the protocol made of requests beside their ends.
pub(crate) fn protocol(total: &Figures) -> Vec<Fact> {
    let mut facts = Vec::new();
    if total.retried > 0 {
        facts.push(plural(total.retried, "resent request"));
    }
    if let Some(allowed) = total.held_back.allowed {
        let waited = counted(total.held_back.requests, "request");
        let (number, noun) = waited.split_once(' ').unwrap_or((&waited, ""));
        let name = format!("{noun} waited: the server allows {allowed} concurrent streams");
        facts.push(Fact::counted(number.to_owned(), name).warning());
    }
    if total.interim > 0 {
        facts.push(plural(total.interim, "interim response"));
    }
    facts
}

/// A number of things with their noun. The number is the fact's value, so that the noun alone has
/// to agree with it.
fn plural(n: u64, noun: &str) -> Fact {
    let name = match n {
        1 => noun.to_owned(),
        _ => format!("{noun}s"),
    };
    Fact::counted(count(n), name)
}

/// The factor between the loads of two addresses beyond which they count as uneven.
const SKEW_MAX: u64 = 2;
/// The number of requests on each address from which on such a factor is no chance. Fewer may
/// differ by a factor of two where connections are spread evenly.
const SKEW_FROM: u64 = 100;

/// The shares of the requests over several addresses of a name, with a warning where they are
/// uneven. Addresses that connections moved to or from had less time than others, so that nothing
/// is concluded there; nor where some addresses have no row.
///
/// The warning needs two signs: more than twice the requests on one address than on another, and
/// enough of them. A balancer that sends all connections to one server is the usual cause, and
/// shows in no latency.
pub(crate) fn spread(connections: &Connections) -> Option<Fact> {
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
    Some(
        match is_skewed && connections.closed_by(Closing::Moved) == 0 {
            true => {
                let uneven = format!(
                    "{shares}, uneven: {} got the fewest, {} the most",
                    least.address, most.address
                );
                Fact::counted(of.to_string(), uneven).warning()
            }
            false => Fact::counted(of.to_string(), shares),
        },
    )
}

/// A row of the table of addresses.
pub(crate) struct AddressCells {
    pub(crate) address: String,
    pub(crate) opened: String,
    /// Requests on connections that were closed: those of an open one are not known yet.
    pub(crate) carried: String,
    pub(crate) share: String,
}

/// A row for each address that connections were opened to, and one for all that have no row of
/// their own.
pub(crate) fn addresses(connections: &Connections) -> Vec<AddressCells> {
    let rows = connections.addresses.rows().iter();
    let rows = rows.map(|row| (row.address.to_string(), row.counts));
    let others = Some(connections.addresses.others());
    let others = others.filter(|counts| *counts != AddressCounts::default());
    let rows: Vec<_> = rows
        .chain(others.map(|counts| ("others".to_owned(), counts)))
        .collect();
    let all: u64 = rows.iter().map(|(_, counts)| counts.carried).sum();
    rows.into_iter()
        .map(|(address, counts)| AddressCells {
            address,
            opened: count(counts.opened),
            carried: count(counts.carried),
            share: share_tenths(counts.carried, all),
        })
        .collect()
}
