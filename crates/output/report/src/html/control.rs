//! The parts of a page during a run: its progress, and the commands that the run takes now.
//!
//! Commands need the page's program; the part is hidden without it. A form has its command in
//! `data-command`, and fields for the value and the pool. The program sends the command and shows
//! the run's answer in `output`. When another phase replaces the part, the program keeps what the
//! reader has typed.

use super::{Part, part};
use crate::markup::Markup;
use crate::run_list::running;
use crate::secret;
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_measure::{AskedLoad, PoolInfo, RunInfo};
use drumfire_units::Nanos;

/// The phase of a run on its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPhase {
    /// No interval has ended yet.
    Start,
    /// Requests are sent, but not measured yet.
    WarmUp,
    /// Requests are sent and measured.
    Load,
    /// A command has paused the load.
    Paused,
    /// No request starts any more; requests in flight may finish.
    Drain,
    /// The run is over.
    Over,
}

/// The progress of a run on its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunProgress {
    /// The current phase.
    pub phase: RunPhase,
    /// The time since the start of the run, up to the newest interval.
    pub done: Nanos,
    /// The end of the load, if it has a duration.
    pub planned: Option<Nanos>,
}

/// The progress of a run in words, which screen readers announce when they change.
#[must_use]
pub fn progress(of: &RunProgress) -> Part {
    let words = match of.phase {
        RunPhase::Start => "running; figures appear after the first interval".to_owned(),
        RunPhase::WarmUp => running("warming up", of.done, of.planned),
        RunPhase::Load => running("running", of.done, of.planned),
        RunPhase::Paused => running("paused at", of.done, of.planned),
        RunPhase::Drain => "the load is over; requests in flight may finish".to_owned(),
        RunPhase::Over => "the run is over".to_owned(),
    };
    part("progress", |out| {
        let class = match of.phase {
            RunPhase::Over => "is-over",
            _ => "is-live",
        };
        let attributes = [("id", "progress"), ("role", "status"), ("class", class)];
        out.element("p", &attributes, &words);
    })
}

/// The commands that can have an effect on a run of these pools in this phase: pause or resume; a
/// rate if a pool has one law for all; a number of users if a pool has users without a law, or with
/// a law for each. The button that ends the load is apart, and appears on demand.
#[must_use]
pub fn control(info: &RunInfo, phase: RunPhase) -> Part {
    part("control", |out| {
        out.open("section", &[("id", "control"), ("class", "screen")]);
        out.element("p", &[("id", "connection"), ("class", "dim")], "");
        out.open("div", &[("class", "forms")]);
        let asked = |is_so: fn(&AskedLoad) -> bool| {
            let loads = info.pools.iter().filter_map(|pool| pool.asked.as_ref());
            loads.map(|asked| &asked.load).any(is_so)
        };
        let has_load = !matches!(phase, RunPhase::Drain | RunPhase::Over);
        if has_load {
            match phase {
                RunPhase::Paused => plain(out, "resume", "Resume"),
                _ => plain(out, "pause", "Pause"),
            }
            if asked(|load| matches!(load, AskedLoad::Open { .. })) {
                valued(out, "rate", "Rate", "500/s", &info.pools);
            }
            if asked(|load| !matches!(load, AskedLoad::Open { .. })) {
                valued(out, "users", "Users", "50", &info.pools);
            }
        }
        valued(out, "mark", "Mark", "deployed", &[]);
        if has_load {
            out.open("details", &[("class", "stop")]);
            out.element("summary", &[], "Stop");
            plain(out, "stop", "End the load now");
            out.close("details");
        }
        out.close("div");
        out.element("output", &[], "");
        out.close("section");
    })
}

/// Appends a command without a value, as a button.
fn plain(out: &mut Markup, command: &str, label: &str) {
    out.open("form", &[("data-command", command)]);
    out.element("button", &[], label);
    out.close("form");
}

/// Appends a command with a value, for one pool or for all.
fn valued(out: &mut Markup, command: &str, label: &str, example: &str, pools: &[PoolInfo]) {
    out.open("form", &[("data-command", command)]);
    out.open("label", &[]);
    out.text(&format!("{label} "));
    let field = [
        ("name", "value"),
        ("placeholder", example),
        ("required", ""),
    ];
    out.empty(
        "input",
        &[&field[..], &[("size", "10"), ("autocomplete", "off")]].concat(),
    );
    out.close("label");
    if pools.len() > 1 {
        out.open("label", &[]);
        out.text("of ");
        out.open("select", &[("name", "pool")]);
        out.element("option", &[("value", "")], "all pools");
        for pool in pools {
            let shown = foreign(&secret::excerpt(&pool.name), Unicode::On);
            out.element("option", &[("value", &pool.name)], &shown);
        }
        out.close("select");
        out.close("label");
    }
    out.element("button", &[], "Set");
    out.close("form");
}
