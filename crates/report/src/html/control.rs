//! The parts that a page has while its run goes on: how far it is, whether the page is up to date, and
//! the commands that the run takes.
//!
//! Commands need the page's program; the part is hidden without it. They stay as they are while
//! other parts are given anew, so that nothing that is being typed is lost.
//!
//! A form names its command in `data-command`, and its fields are the command's value and pool. The
//! program sends it and shows the answer in `output`; how a command is written and whether it is
//! taken is decided by the run, not here.

use super::{Part, part};
use crate::markup::Markup;
use crate::secret;
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_measure::{AskedLoad, PoolInfo, RunInfo};

/// The state of a run, in a line of words that readers of screens announce when it changes.
#[must_use]
pub fn progress(line: &str) -> Part {
    part("progress", |out| {
        out.element("p", &[("id", "progress"), ("role", "status")], line);
    })
}

/// The commands that a run of these pools takes. Only commands that can have an effect are there: a
/// rate where a pool has one law for all, a number of users where any pool has users by itself or a
/// law for each.
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

/// A command with a value, for one of several pools or for all; a run of one pool has no choice. A
/// pool is named to the run as the plan has it, and to the reader masked and escaped.
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
