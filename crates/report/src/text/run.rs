//! The plan of the run, its transport, and the generator's own health.
//!
//! These are the lines that a reader compares between two runs before comparing any figure: target,
//! load as it was asked for, connections, and the generator's own part.
//!
//! Numbers that follow from each other are not printed twice: users that each have a connection, a
//! stream that is the only one, the reasons for closing that the plan itself asks for. A line is
//! left out, not printed with a zero, where nothing of its kind happened; so an addition here shows
//! up only in runs that it concerns.
//!
//! [`print_plan`] stands at the top of the page and [`print_transport`] and [`print_notes`] at its
//! end. What a pool was asked for comes from [`AskedWords`], which knows the plan; what is added
//! here is what the run made of it: the orders that changed it, the warm-up that was left out, the
//! connections that were opened.

use super::asked::{AskedWords, print_target};
use super::foreign;
use crate::line::{Ink, Line, wrap};
use crate::page::Page;
use crate::quantity::{
    busy, count, counted, latency, quantile, share, share_tenths, span, throughput,
};
use crate::style::Unicode;
use drumfire_measure::{
    AddressCounts, AddressRow, Closing, Connections, Figures, Histogram, LoadOrders, Model,
    PoolInfo, Settling, Summary, Validity,
};
use drumfire_plan::Growth;
use drumfire_units::{ByteSize, Nanos};

/// Prints the target and the load: of one pool as items, of several as a line for each. Orders that
/// changed a load are counted beside it.
///
/// With several pools the length, the threads and the seed are a line of their own, since they are
/// the run's. The warm-up has a label of its own, because it changes what every figure below
/// counts.
pub(super) fn print_plan(summary: &Summary, page: &mut Page<'_>) {
    let info = &summary.info;
    let unicode = page.style.unicode;
    print_target(summary, page);
    let threads = counted(u64::from(info.threads), "thread");
    let seed = format!("seed {}", info.seed);
    if let [pool] = &info.pools[..] {
        let asked = AskedWords::of(pool);
        let Loads { model, carried } = loads(pool, &summary.total, &asked, page);
        let model = model.into_iter().chain(changed(summary.orders(0), page));
        let run = asked.length(summary, page);
        let items = model.chain(run).chain(carried);
        let items = items.chain(asked.limits(page)).chain([threads, seed]);
        page.items("Load", items.map(Line::plain).collect());
    } else {
        let separator = page.style.glyph(" · ", ", ");
        let mut lines = Vec::new();
        for (number, (pool, figures)) in summary.pools().enumerate() {
            let asked = AskedWords::of(pool);
            let Loads { model, carried } = loads(pool, figures, &asked, page);
            let model = model
                .into_iter()
                .chain(changed(summary.orders(number), page));
            let items = model.chain(carried).chain(asked.limits(page));
            let items: Vec<String> = items.collect();
            let text = format!(
                "{}: {}",
                foreign(&pool.name, unicode),
                items.join(separator)
            );
            lines.extend(wrap(&text, page.room()));
        }
        let mut run = vec![threads, seed];
        if summary.duration > Nanos::ZERO {
            run.insert(0, span(summary.duration, unicode));
        }
        lines.extend(wrap(&run.join(separator), page.room()));
        page.part("Load", lines.into_iter().map(Line::plain));
    }
    let warmup = left_out(summary, unicode);
    let lines = warmup.iter().flat_map(|text| wrap(text, page.room()));
    let lines: Vec<Line> = lines.map(Line::plain).collect();
    page.part("Warm-up", lines);
    page.explain(match summary.model() {
        Model::Open => {
            "Open model: requests start when the schedule says, whether or not the target keeps \
             up, as the users of a public service do."
        }
        Model::Closed => {
            "Closed model: each user starts the next request when the last has ended, so a slow \
             target slows the load down."
        }
    });
}

/// The beginning that the warm-up left out, if there was one, or the reason for which none was
/// found. A warm-up of a given length needs no reason; one that was to be found in the latencies
/// may have found that there is none, and a reader who asked for it must learn which.
fn left_out(summary: &Summary, unicode: Unicode) -> Option<String> {
    let how = match summary.settling {
        Some(Settling::Never) => {
            return Some("nothing left out: the latencies did not settle".to_owned());
        }
        Some(Settling::TooShort) => {
            return Some("nothing left out: too few intervals to find its end".to_owned());
        }
        Some(Settling::At(Nanos::ZERO)) => {
            return Some("nothing left out: the latencies were settled from the start".to_owned());
        }
        Some(Settling::At(_)) => ", when latencies had settled",
        None => "",
    };
    let span_left_out = summary.left_out();
    (span_left_out > Nanos::ZERO).then(|| {
        format!(
            "{} of the first {} left out{how}",
            counted(summary.total.warmup.sent, "request"),
            span(span_left_out, unicode)
        )
    })
}

/// The number of orders that changed a load, and the time of the first, to tenths of a second; the
/// notes have each of them. The rate that stands beside it is then that of the plan alone, and the
/// table of stages has the others.
fn changed(orders: LoadOrders, page: &Page<'_>) -> Option<String> {
    const TENTH: u64 = 100_000_000;
    let first = Nanos((orders.first.0 + TENTH / 2) / TENTH * TENTH);
    let first = span(first, page.style.unicode);
    match orders.count {
        0 => None,
        1 => Some(format!("changed at {first}")),
        several => Some(format!("changed {several} times from {first} on")),
    }
}

/// A pool's load in words, in two parts between which a run of one pool has its length.
struct Loads {
    /// The model, and the rate or the users.
    model: Vec<String>,
    /// The connections that carry it.
    carried: Vec<String>,
}

/// The words of a pool's load. Users are named where they are not the connections, and connections
/// with their streams where these are several.
///
/// The numbers are those that the plan asks for, but for connections that are opened as needed: of
/// these the number that was opened is the only one that means something.
fn loads(pool: &PoolInfo, figures: &Figures, asked: &AskedWords<'_>, page: &Page<'_>) -> Loads {
    let model = asked.load(page);
    // Where each connection carries one user, one number stands for both, unless users come and go.
    let is_both = |users: u32| users == pool.connections && pool.growth == Growth::Ahead;
    let users = pool.users;
    let users = users.filter(|users| asked.users_change() || !is_both(*users));
    let most = if asked.users_change() { "up to " } else { "" };
    let users = users.map(|users| format!("{most}{}", counted(u64::from(users), "user")));
    let mut carried: Vec<String> = users.into_iter().collect();
    let connections = match pool.growth {
        Growth::Ahead => counted(u64::from(pool.connections), "connection"),
        Growth::AsNeeded => "connections".to_owned(),
    };
    let mut connections = match pool.streams {
        0 | 1 => connections,
        streams => {
            let by = page.style.glyph("×", "x");
            format!(
                "{connections} {by} {}",
                counted(u64::from(streams), "stream")
            )
        }
    };
    if pool.growth == Growth::AsNeeded {
        let opened = count(figures.connections.known());
        connections.push_str(&format!(" as needed, {opened} opened"));
    }
    carried.push(connections);
    Loads { model, carried }
}

/// Prints bytes, connections and the generator's own health: what a run cost on either side. The
/// throughput of what was received is over the measured span, as every rate of the page is.
pub(super) fn print_transport(summary: &Summary, page: &mut Page<'_>) {
    let bytes = &summary.total.bytes;
    let received = throughput(bytes.received, summary.duration);
    let items = [
        format!("{} sent", ByteSize(bytes.sent)),
        format!("{} received ({received})", ByteSize(bytes.received)),
    ];
    page.items("Bytes", items.map(Line::plain).to_vec());
    print_connections(summary, page);
    print_generator(summary, page);
    page.explain(
        "Generator: this program judges itself. A busy thread, a late wake-up or a long wait for a \
         processor would show up as latency that the target did not cause.",
    );
}

/// Prints the number of connections, the times of their opening, and the reasons for which they
/// were closed.
///
/// The median is left out where the count does not support it, the maximum never: a single slow
/// handshake is what a reader looks for here. Warnings are for two things that lower a load without
/// a failure: streams that the server does not allow, and addresses that get unequal shares.
fn print_connections(summary: &Summary, page: &mut Page<'_>) {
    let total = &summary.total;
    let mut items = vec![Line::plain(format!(
        "{} opened",
        count(total.connections.opened)
    ))];
    let opening = |name, histogram: &Histogram| {
        let max = latency(histogram.max(), page.style.unicode);
        match quantile(histogram, 0.5, page.style.unicode) {
            Some(median) => format!("{name} p50 {median}, max {max}"),
            None => format!("{name} max {max}"),
        }
    };
    if total.connections.open_before > 0 {
        let open = count(total.connections.open_before.unsigned_abs());
        items.push(Line::plain(format!("{open} open from the warm-up on")));
    }
    if total.connections.connect.count() > 0 {
        items.push(Line::plain(opening("connect", &total.connections.connect)));
    }
    if total.connections.tls_handshake.count() > 0 {
        let handshakes = &total.connections.tls_handshake;
        let mut text = opening("TLS handshake", handshakes);
        if total.connections.tls_resumed > 0 {
            let resumed = share(total.connections.tls_resumed, handshakes.count());
            text.push_str(&format!(", {resumed} resumed"));
        }
        items.push(Line::plain(text));
    }
    items.extend(closings(&total.connections).into_iter().map(Line::plain));
    items.extend(spread(&total.connections));
    if total.retried > 0 {
        items.push(Line::plain(counted(total.retried, "resent request")));
    }
    if let Some(allowed) = total.held_back.allowed {
        let waited = counted(total.held_back.requests, "request");
        let text = format!("{waited} waited: the server allows {allowed} streams at a time");
        items.push(Line::of(text, Ink::Warn));
    }
    if total.interim > 0 {
        items.push(Line::plain(counted(total.interim, "interim response")));
    }
    page.items("Connections", items);
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
fn spread(connections: &Connections) -> Option<Line> {
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
        "{of} addresses with {} to {} of the requests each",
        share_tenths(few, all),
        share_tenths(many, all)
    );
    let is_skewed = many > few.saturating_mul(SKEW_MAX) && all >= SKEW_FROM * of as u64;
    Some(
        match is_skewed && connections.closed_by(Closing::Moved) == 0 {
            true => Line::of(
                format!(
                    "{shares}, uneven: {} had least, {} most",
                    least.address, most.address
                ),
                Ink::Warn,
            ),
            false => Line::plain(shares),
        },
    )
}

/// The ends of connections before that of the load, by reason; those that the plan itself asks for
/// are left out.
///
/// The median of all that were closed separates a server that closes each connection after a fixed
/// number of requests from one that closes at random: it is exact where all carried the same.
///
/// It stands behind the server's own closings, and only where these are more than half of all: of
/// fewer the median may be that of connections which ended in another way.
fn closings(connections: &Connections) -> Vec<String> {
    let by = |why| connections.closed_by(why);
    let server = by(Closing::Peer) + by(Closing::Announced);
    let carried = &connections.carried;
    let requests = counted(carried.quantile_unchecked(0.5).0, "request");
    // Of several reasons it is not known which connections carried how many.
    let each = if carried.min() == carried.max() {
        format!(" after {requests} each")
    } else if server.saturating_mul(2) > carried.count() {
        format!(" after some {requests}")
    } else {
        String::new()
    };
    let ends = [
        (server, format!("closed by the server{each}")),
        (by(Closing::Idle), "given up idle".to_owned()),
        (by(Closing::Aged), "closed at their age".to_owned()),
        (by(Closing::Moved), "moved to other addresses".to_owned()),
        (by(Closing::Reset), "reset".to_owned()),
        (by(Closing::Failed), "closed after failures".to_owned()),
        (by(Closing::Discarded), "useless by excess bytes".to_owned()),
        (by(Closing::Unready), "never ready".to_owned()),
        (by(Closing::GoAway), "ended by GOAWAY".to_owned()),
        (by(Closing::Silent), "found dead".to_owned()),
    ];
    let ends = ends.into_iter().filter(|(n, _)| *n > 0);
    ends.map(|(n, words)| format!("{} {words}", count(n)))
        .collect()
}

/// Prints the generator's own load and lateness, with more of it where an explanation is asked for
/// or the run is in doubt.
///
/// The busiest thread counts, not the mean: one that is late makes its share of the requests late.
/// A share of 0 is a dash, since it means that nothing was measured.
fn print_generator(summary: &Summary, page: &mut Page<'_>) {
    let generator = &summary.generator;
    let text = |nanos| latency(nanos, page.style.unicode);
    let spinning = if generator.spin { ", spinning" } else { "" };
    // A run that is shorter than half an interval can't tell.
    let share = match generator.cpu_share_max {
        0.0 => page.style.glyph("–", "-").to_owned(),
        share => busy(share),
    };
    let mut items = vec![
        format!("busiest thread {share}{spinning}"),
        format!("woke {} late (p99)", text(generator.wake_lateness_p99)),
    ];
    // What is behind these two matters where something is wrong with them.
    if page.explains() || summary.verdict.validity != Validity::Valid {
        items.push(format!("loop turn {} (p99)", text(generator.loop_turn_p99)));
        items.push(format!(
            "threads waited {} in all for a core",
            text(generator.run_queue_delay)
        ));
        if generator.steal_share > 0.0 {
            items.push(format!(
                "{} stolen by the hypervisor",
                busy(generator.steal_share)
            ));
        }
    }
    page.items("Generator", items.into_iter().map(Line::plain).collect());
}

/// Prints the notes that qualify the numbers, each behind a bullet, in the order in which they came
/// up. A note may quote a plan or a server and is escaped as a whole.
pub(super) fn print_notes(summary: &Summary, page: &mut Page<'_>) {
    let style = page.style;
    let mut rows = Vec::new();
    for note in &summary.info.notes {
        let note = foreign(note, style.unicode);
        for (index, text) in wrap(&note, page.room() - 2).into_iter().enumerate() {
            let bullet = if index == 0 {
                style.glyph("· ", "- ")
            } else {
                "  "
            };
            rows.push(Line::of(bullet, Ink::Dim).with(text, Ink::Plain));
        }
    }
    page.part("Notes", rows);
}
