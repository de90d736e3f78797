//! The parts of a page during a run: its progress, and the commands that the run takes.
//!
//! Commands need the page's program; the part is hidden without it. The part is never replaced, so
//! that what a reader types is kept. A form has its command in `data-command`, and fields for the
//! value and the pool. The program sends the command and shows the run's answer in `output`.

use super::{Part, part};
use crate::markup::Markup;
use crate::secret;
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_measure::{AskedLoad, PoolInfo, RunInfo};

/// The state of a run in a line, which screen readers announce when it changes.
#[must_use]
pub fn progress(line: &str) -> Part {
    part("progress", |out| {
        out.element("p", &[("id", "progress"), ("role", "status")], line);
    })
}

/// The commands that can have an effect on a run of these pools: a rate if a pool has one law for
/// all, a number of users if a pool has users without a law, or with a law for each.
#[must_use]
pub fn control(info: &RunInfo) -> Part {
    part("control", |out| {
        out.open("section", &[("id", "control"), ("class", "screen")]);
        out.element("p", &[("id", "connection"), ("class", "dim")], "");
        out.open("div", &[("class", "forms")]);
        let asked = |is_so: fn(&AskedLoad) -> bool| {
            let loads = info.pools.iter().filter_map(|pool| pool.asked.as_ref());
            loads.map(|asked| &asked.load).any(is_so)
        };
        plain(out, "pause", "Pause");
        plain(out, "resume", "Resume");
        if asked(|load| matches!(load, AskedLoad::Open { .. })) {
            valued(out, "rate", "Rate", "500/s", &info.pools);
        }
        if asked(|load| !matches!(load, AskedLoad::Open { .. })) {
            valued(out, "users", "Users", "50", &info.pools);
        }
        valued(out, "mark", "Mark", "deployed", &[]);
        plain(out, "stop", "Stop the load");
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
