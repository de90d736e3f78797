//! The origin of a run: its environment, its plan, the command that repeats it, and its data
//! to take away.
//!
//! The summary does not have the plan's text, nor the files of a stored run; the caller gives them
//! as an [`Origin`]. All of it is written into the page as it is, so that it must have no secrets:
//! a plan comes in the form in which it was stored, with references in their place.
//!
//! Each of these is a part of its own, since they do not change while a run goes on, and a page
//! that follows the run need not be sent them again. The environment alone is made of the summary
//! and has figures of the generator in it, which grow with the run.
//!
//! [`Origin`] is filled in by callers that know different things of a run: the end of a run has its
//! plan and its files, the server of stored runs reads the plan from the run's directory, and a
//! page that follows a run has neither files nor the end of a teardown yet. What a caller does not
//! have is empty, and the part for it is not on the page.
//!
//! The teardown's failure is not printed here: it belongs to the answers at the top of the page,
//! and travels with the other facts that come from outside of the summary.

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

/// The facts of a page that the summary does not have; nothing in them is a secret.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The way in which the run's caller names settings.
    pub naming: Naming,
    /// The plan in YAML, as the store keeps it; empty where it is not known. References stand in
    /// the place of its secrets.
    pub plan: &'a str,
    /// The run's data, which the page offers for download under the files' names; empty for a page
    /// that a server shows.
    pub files: &'a [NamedFile],
    /// Why the teardown behind the run failed, in the run's own words.
    pub teardown: Option<&'a str>,
    /// The run beside its baseline, where it has one.
    pub against: Option<&'a Against>,
}

/// The environment, the plan with its command, and the downloads; the last two only where the
/// caller gave them.
pub(super) fn parts(summary: &Summary, origin: &Origin<'_>) -> Vec<Part> {
    let mut parts = vec![part("environment", |out| environment(out, summary))];
    if !origin.plan.is_empty() {
        parts.push(part("plan", |out| plan(out, summary, origin.plan)));
    }
    if !origin.files.is_empty() {
        parts.push(part("downloads", |out| downloads(out, origin.files)));
    }
    parts
}

/// Appends the facts of the generator that decide whether two runs can be compared, and how busy it
/// was. A fact that is not known, such as the check of certificates in a run without TLS, is left
/// out.
fn environment(out: &mut Markup, summary: &Summary) {
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
    out.element("h2", &[], "Environment");
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

/// Appends the plan, and the command that repeats the run with the same random values: the seed is
/// named even where the plan has none, since the run then drew one.
fn plan(out: &mut Markup, summary: &Summary, plan: &str) {
    let command = format!("drumfire run plan.yaml --seed {}", summary.info.seed);
    out.open("section", &[("id", "plan")]);
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

/// Appends links that have their data in themselves, so that the page still loads nothing. The data
/// is in base64, four bytes for each three. Paper has no use for links, and leaves the part out.
fn downloads(out: &mut Markup, files: &[NamedFile]) {
    out.open("section", &[("id", "downloads"), ("class", "screen")]);
    out.element("h2", &[], "Data");
    out.open("ul", &[]);
    for NamedFile { name, bytes } in files {
        let data = format!(
            "data:application/octet-stream;base64,{}",
            STANDARD.encode(bytes)
        );
        out.open("li", &[]);
        out.element("a", &[("download", name), ("href", &data)], name);
        out.close("li");
    }
    out.close("ul");
    out.close("section");
}
