//! The way from a page of a server to its list of runs.

use super::{Part, part};

/// The place of the list of runs, as seen from a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToList<'a> {
    /// From the page of the stored run with this id, whose plan may have other runs.
    FromRun(&'a str),
    /// From the page of a run that is not stored.
    FromUnstored,
    /// From a page beside the list.
    FromBeside,
}

/// The links to the list of runs, and from a run to the others of its plan.
#[must_use]
pub fn back(to: ToList<'_>) -> Part {
    part("back", |out| {
        let named = [("id", "back"), ("class", "screen"), ("aria-label", "Runs")];
        out.open("nav", &named);
        let up = match to {
            ToList::FromBeside => "./",
            ToList::FromRun(_) | ToList::FromUnstored => "../../",
        };
        out.element("a", &[("href", up)], "← All runs");
        if let ToList::FromRun(id) = to {
            let id = encoded(id);
            let of_plan = format!("{up}?plan={id}");
            out.element("a", &[("href", &of_plan)], "Runs of this plan");
            let history = format!("{up}history?run={id}");
            out.element("a", &[("href", &history)], "Trend");
        }
        out.close("nav");
    })
}

/// A text as a part of an address (RFC 3986, section 2): every byte that is not unreserved is
/// escaped.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
