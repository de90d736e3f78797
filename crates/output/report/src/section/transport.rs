//! What the run cost on either side: bytes, connections and the generator's own health; and the
//! notes that qualify all numbers.

use super::connections::facts;
use super::{Body, Cell, Facts, PageExtent, Section};
use crate::line::Ink;
use crate::quantity::{busy, counted, latency, share, share_of, throughput};
use crate::style::Unicode;
use drumfire_measure::{ArrivalClock, GeneratorHealth, Summary, Validity};
use drumfire_units::ByteSize;

/// Bytes with the throughput over the measured span, connections, and the generator's health.
pub(super) fn section(summary: &Summary, extent: &PageExtent) -> Option<Section> {
    let bytes = &summary.total.bytes;
    let received = throughput(bytes.received, summary.duration);
    let bytes = [
        format!("{} sent", ByteSize(bytes.sent)),
        format!("{} received ({received})", ByteSize(bytes.received)),
    ];
    let bodies = [
        ("Bytes", bytes.map(Cell::new).into()),
        ("Connections", facts(&summary.total)),
        ("Generator", generator(summary, extent.is_full)),
    ];
    let bodies = bodies.map(|(label, items)| Body::Facts(Facts::items(label, items)));
    let explanation = "Generator: drumfire checks itself. A busy thread, a late wake-up or a long \
                       wait for a core would appear as latency that the target did not cause.";
    Section::new("transport", "Transport", explanation, bodies.into())
}

/// The generator's load and lateness, with more of it in a full report or if the run is in doubt.
/// The busiest thread counts: a thread that is late makes its share of the requests late.
fn generator(summary: &Summary, is_full: bool) -> Vec<Cell> {
    let generator = &summary.generator;
    let text = |nanos| latency(nanos, Unicode::On);
    let spinning = if generator.spin { ", spinning" } else { "" };
    // Unknown in a run that is shorter than half an interval.
    let share = match generator.cpu_share_max {
        0.0 => "–".to_owned(),
        share => busy(share),
    };
    let mut items = vec![
        format!("busiest thread {share}{spinning}"),
        format!("woke {} late (p99)", text(generator.wake_lateness_p99)),
    ];
    items.extend(waits(generator));
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
    items.extend(departures(generator));
    if is_full || summary.verdict.validity != Validity::Valid {
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
    items.into_iter().map(Cell::new).collect()
}

/// What the threads did while they waited, if they poll before they sleep.
fn waits(generator: &GeneratorHealth) -> Option<String> {
    let waits = generator.waits;
    waits.any().then(|| {
        format!(
            "polled {} of the time: {} found responses, {} slept",
            share_of(generator.polled_share),
            counted(waits.found, "poll"),
            counted(waits.slept, "wait"),
        )
    })
}

/// The departures of requests by the kernel's timestamps, if the plan asks for these.
fn departures(generator: &GeneratorHealth) -> Vec<String> {
    let departures = generator.departures;
    let text = |nanos| latency(nanos, Unicode::On);
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

/// The notes in the order in which they came up. A note may quote a plan or a server.
pub(super) fn notes(summary: &Summary, extent: &PageExtent) -> Option<Section> {
    let notes = summary.info.notes.iter().map(|note| Cell::foreign(&**note));
    let unjudged = unjudged_failures(summary).map(|note| extent.naming.named(note));
    let notes = notes.chain(unjudged.map(Cell::foreign));
    let notes = notes.map(|note| (Ink::Dim, note)).collect();
    let bodies = vec![Body::Facts(Facts::bullets("Notes", notes))];
    Section::new("notes", "Notes", "", bodies)
}

/// The note on failures that no rule judges: a run that had successes, too, ends with exit code 0.
fn unjudged_failures(summary: &Summary) -> Option<&'static str> {
    let counts = &summary.total.counts;
    let rules = &summary.info.thresholds;
    let is_judged = rules.iter().any(|rule| rule.metric.is_of_failures());
    (counts.failed > 0 && counts.ok > 0 && !summary.is_lost() && !is_judged)
        .then_some("failures do not affect the exit code; --threshold 'failed<1%' makes them count")
}
