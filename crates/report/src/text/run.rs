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
use crate::connection_facts::{closings, opened, protocol, spread};
use crate::line::{Ink, Line, wrap};
use crate::page::Page;
use crate::quantity::{busy, count, counted, latency, share, span, throughput};
use crate::style::Unicode;
use drumfire_measure::{
    ArrivalClock, Figures, GeneratorHealth, LoadOrders, Model, PoolInfo, Settling, Summary,
    Validity,
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
            "Open model: requests start on schedule, whether or not the target keeps up, like the \
             users of a public service."
        }
        Model::Closed => {
            "Closed model: each user starts the next request after the previous one has ended, so a \
             slow target lowers the load."
        }
    });
}

/// The beginning that the warm-up left out, if there was one, or the reason for which none was
/// found. A warm-up of a given length needs no reason; one that was to be found in the latencies
/// may have found that there is none, and a reader who asked for it must learn which.
fn left_out(summary: &Summary, unicode: Unicode) -> Option<String> {
    let how = match summary.settling {
        Some(Settling::Never) => {
            return Some("nothing excluded: latencies did not settle".to_owned());
        }
        Some(Settling::TooShort) => {
            return Some("nothing excluded: too few intervals to find its end".to_owned());
        }
        Some(Settling::At(Nanos::ZERO)) => {
            return Some("nothing excluded: latencies were settled from the start".to_owned());
        }
        Some(Settling::At(_)) => ", until latencies settled",
        None => "",
    };
    let span_left_out = summary.left_out();
    (span_left_out > Nanos::ZERO).then(|| {
        format!(
            "{} in the first {} excluded{how}",
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
        several => Some(format!("changed {several} times, first at {first}")),
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
        "Generator: drumfire checks itself. A busy thread, a late wake-up or a long wait for a core \
         would appear as latency that the target did not cause.",
    );
}

/// Prints the number of connections, the times of their opening, and the reasons for which they
/// were closed.
///
/// The median is left out where the count does not support it, the maximum never: a single slow
/// handshake is what a reader looks for here. Warnings are for two things that lower a load without
/// a failure: streams that the server does not allow, and addresses that get unequal shares.
fn print_connections(summary: &Summary, page: &mut Page<'_>) {
    let unicode = page.style.unicode;
    let facts = opened(&summary.total, unicode).into_iter();
    let facts = facts.chain(closings(&summary.total.connections));
    let facts = facts.chain(spread(&summary.total.connections));
    let facts = facts.chain(protocol(&summary.total));
    let items = facts.map(|fact| {
        let ink = match fact.is_warning {
            true => Ink::Warn,
            false => Ink::Plain,
        };
        Line::of(fact.text(), ink)
    });
    page.items("Connections", items.collect());
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
    if generator.clock.is_kernel() {
        items.push(format!(
            "read {} (p50), {} (p99) after the kernel timestamp",
            text(generator.handling_p50),
            text(generator.handling_p99)
        ));
    }
    let lost = generator.stamps.lost();
    if lost > 0 {
        items.push(format!("no kernel timestamp for {lost} receives"));
    }
    items.extend(departures(generator, page));
    // What is behind these two matters where something is wrong with them.
    if page.explains() || summary.verdict.validity != Validity::Valid {
        items.push(format!("loop turn {} (p99)", text(generator.loop_turn_p99)));
        items.push(format!(
            "waited {} in total for a core",
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

/// The words for the departures of requests by the kernel's stamps; none where these were not asked
/// for.
fn departures(generator: &GeneratorHealth, page: &Page<'_>) -> Vec<String> {
    let departures = generator.departures;
    let text = |nanos| latency(nanos, page.style.unicode);
    let mut items = Vec::new();
    if generator.clock == ArrivalClock::Wire {
        let of = match departures.passed {
            0 => String::new(),
            passed => format!(
                " ({} of requests stamped)",
                share(departures.asked(), departures.asked() + passed)
            ),
        };
        items.push(format!(
            "left {} (p50), {} (p99) after reaching the kernel{of}",
            text(generator.leaving_p50),
            text(generator.leaving_p99)
        ));
    }
    if departures.lost() > 0 {
        let lost = departures.lost();
        items.push(format!("no kernel timestamp for {lost} requests"));
    }
    items
}

/// The note on failures of which no rule speaks: a run that had successes too ends with 0 then.
fn unjudged_failures(summary: &Summary) -> Option<&'static str> {
    let counts = &summary.total.counts;
    let rules = &summary.info.thresholds;
    let is_judged = rules.iter().any(|rule| rule.metric.is_of_failures());
    (counts.failed > 0 && counts.ok > 0 && !summary.is_lost() && !is_judged)
        .then_some("failures do not affect the exit code; --threshold 'failed<1%' makes them count")
}

/// Prints the notes that qualify the numbers, each behind a bullet, in the order in which they came
/// up. A note may quote a plan or a server and is escaped as a whole.
pub(super) fn print_notes(summary: &Summary, page: &mut Page<'_>) {
    let style = page.style;
    let mut rows = Vec::new();
    let unjudged = unjudged_failures(summary).map(|note| style.naming.named(note).into_owned());
    for note in summary.info.notes.iter().chain(&unjudged) {
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
