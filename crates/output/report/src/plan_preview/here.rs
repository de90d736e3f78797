//! The placement of a plan on this machine. A sentence explains each bound that is lower than the
//! plan's, such as a limit of open files.

use crate::line::{Ink, Line, flow, wrap};
use crate::page::Page;
use crate::quantity::counted;
use crate::untrusted::Untrusted;
use drumfire_placement::{Placement, Unfit};

/// Prints the placement and the bounds that are lower here, or the reasons why the plan can't be run
/// here.
pub(super) fn print(placed: &Result<Placement, Vec<Unfit>>, page: &mut Page<'_>) {
    let style = page.style;
    let room = page.block_room();
    let sentences = |texts: Vec<String>, ink: Ink| -> Vec<Line> {
        let texts = texts
            .iter()
            .map(|text| Untrusted::new(text).escaped(style.unicode));
        let rows = texts.flat_map(|text| wrap(&text, room));
        rows.map(|row| Line::single(row, ink)).collect()
    };
    let rows = match placed {
        Ok(placement) => {
            let facts = facts(placement).into_iter().map(Line::plain).collect();
            let mut rows = flow(facts, style.glyph(" · ", ", "), room);
            let clamps = placement.clamps().iter().map(ToString::to_string);
            rows.extend(sentences(clamps.collect(), Ink::Warn));
            rows
        }
        Err(refused) => sentences(refused.iter().map(ToString::to_string).collect(), Ink::Bad),
    };
    page.block(Line::single("on this machine", Ink::Bold), rows);
}

/// The threads, and the connections to all targets of all pools.
fn facts(placement: &Placement) -> Vec<String> {
    let threads = counted(u64::from(placement.threads()), "thread");
    let connections = counted(placement.connections_most(), "connection");
    vec![threads, format!("at most {connections}")]
}
