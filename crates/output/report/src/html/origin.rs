//! The origin of a run: its environment, its plan, the command that repeats it, and its data.
//!
//! The caller knows what a summary lacks, and gives it as an [`Origin`]. The texts are written into
//! the page as they are, so they must not contain secrets: a plan has references in their place.

use super::section::explain;
use super::{Part, part};
use crate::NamedFile;
use crate::markup::Markup;
use crate::quantity::{busy, latency, span};
use crate::remedy::Naming;
use crate::style::Unicode;
use crate::untrusted::foreign;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_compare::Against;
use drumfire_measure::{ArrivalClock, Summary};
use drumfire_plan::Warmup;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

/// The facts of a page that the summary lacks. They contain no secrets. A part without facts is
/// left out.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The way in which the run's caller names settings.
    pub naming: Naming,
    /// The plan in YAML, as the store keeps it; empty if unknown. References replace its secrets.
    pub plan: &'a str,
    /// The run's data, which the page offers for download; empty for a page of a server.
    pub files: &'a [NamedFile],
    /// Why the teardown after the run failed.
    pub teardown: Option<&'a str>,
    /// The comparison with the baseline of the run.
    pub against: Option<&'a Against>,
}

/// The plan with its command, and the downloads.
pub(super) fn parts(summary: &Summary, origin: &Origin<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    if !origin.plan.is_empty() {
        parts.push(part("plan", |out| plan(out, summary, origin.plan)));
    }
    if !origin.files.is_empty() {
        parts.push(part("downloads", |out| downloads(out, origin.files)));
    }
    parts
}

/// Appends the facts of the generator that decide whether two runs can be compared. An unknown fact
/// is left out, such as the check of certificates in a run without TLS.
pub(super) fn environment(out: &mut Markup, summary: &Summary) {
    let (info, generator) = (&summary.info, &summary.generator);
    let warmup = match info.warmup {
        Warmup::Auto => "until latencies settle".to_owned(),
        Warmup::Span(length) => span(length, Unicode::On),
    };
    let certificates = info.tls_verified.map(|is_verified| match is_verified {
        true => "verified",
        false => "not verified",
    });
    let facts = [
        (
            "Program",
            Some(format!("drumfire {}", foreign(&info.version, Unicode::On))),
        ),
        (
            "Machine",
            Some(foreign(&info.machine, Unicode::On)).filter(|machine| !machine.is_empty()),
        ),
        ("Threads", Some(info.threads.to_string())),
        ("Seed", Some(info.seed.to_string())),
        ("Interval", Some(span(info.interval, Unicode::On))),
        ("Warm-up", Some(warmup)),
        ("Certificates", certificates.map(str::to_owned)),
        ("Busiest thread", Some(busy(generator.cpu_share_max))),
        (
            "Responses timed",
            match generator.clock {
                ArrivalClock::Program => None,
                ArrivalClock::Kernel => Some("by kernel timestamps".to_owned()),
                ArrivalClock::Wire => Some("by kernel timestamps, like their requests".to_owned()),
            },
        ),
        (
            "Woke late, p99",
            Some(latency(generator.wake_lateness_p99, Unicode::On)),
        ),
    ];
    out.open("section", &[("id", "environment")]);
    out.element("h3", &[], "Environment");
    out.open("dl", &[("class", "facts")]);
    for (name, value) in facts {
        let Some(value) = value else { continue };
        out.open("div", &[]);
        out.element("dt", &[], name);
        out.element("dd", &[], &value);
        out.close("div");
    }
    out.close("dl");
    explain(
        out,
        "The program that sent the load. A busy thread or a late wake-up would appear as latency \
         that the target did not cause; the verdict on the run takes both into account.",
    );
    out.close("section");
}

/// Appends the plan, and the command that repeats the run with the same random values. The command
/// has the seed even if the plan has none.
fn plan(out: &mut Markup, summary: &Summary, plan: &str) {
    let command = format!("drumfire run plan.yaml --seed {}", summary.info.seed);
    out.open("section", &[("id", "plan"), ("class", "half")]);
    out.element("h2", &[], "Plan");
    out.element(
        "p",
        &[],
        "To repeat this load, save the plan as plan.yaml and run:",
    );
    out.open("pre", &[]);
    out.lines(&command);
    out.close("pre");
    out.open("details", &[]);
    out.element("summary", &[], "Show the plan");
    out.open("pre", &[("tabindex", "0")]);
    out.lines(plan);
    out.close("pre");
    out.close("details");
    explain(
        out,
        "The plan contains no secrets. A reference such as ${secret:NAME} replaces each of them; it is \
         resolved when the plan is run.",
    );
    out.close("section");
}

/// Appends links that contain their data, compressed and in base64, so that the page is small and
/// loads nothing. The page's program unpacks the data before it is saved.
fn downloads(out: &mut Markup, files: &[NamedFile]) {
    out.open("section", &[("id", "downloads"), ("class", "screen half")]);
    out.element("h2", &[], "Data");
    out.open("ul", &[]);
    for NamedFile { name, bytes } in files {
        let data = format!(
            "data:application/gzip;base64,{}",
            STANDARD.encode(gzip(bytes))
        );
        let packed = format!("{name}.gz");
        out.open("li", &[]);
        let link = [("download", &*packed), ("href", &data)];
        out.element("a", &link, &packed);
        out.close("li");
    }
    out.close("ul");
    out.close("section");
}

/// The bytes in the form of gzip (RFC 1952), without a time. The CSV of a run is a tenth then.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // A vector takes all bytes, so that no error is possible.
    let written = encoder.write_all(bytes);
    written.and_then(|()| encoder.finish()).unwrap_or_default()
}
