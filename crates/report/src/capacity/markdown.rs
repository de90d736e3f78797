//! A capacity as Markdown, for a comment: the answer in a sentence, the facts, and the knee as a
//! table.

use super::text::facts;
use super::{sentence, short};
use crate::markdown::escaped;
use crate::quantity::{count, quantile, share_of};
use crate::style::Unicode;
use drumfire_capacity::Finding;

/// The finding as Markdown.
#[must_use]
pub fn markdown(finding: &Finding) -> Vec<u8> {
    let mut out = format!("**Capacity: {}**\n\n", escaped(&sentence(finding)));
    for (label, words) in facts(finding) {
        out.push_str(&format!("- {label}: {}\n", escaped(&words)));
    }
    let shown = finding.bounding();
    out.push_str("\n| rate | stage | requests | p50 | p99 | beyond |\n");
    out.push_str("|---:|---|---:|---:|---:|---:|\n");
    for row in finding.knee_rows() {
        let time = |q| quantile(&row.times, q, Unicode::On).unwrap_or_else(|| "–".to_owned());
        let share = row.shares.get(shown).copied().unwrap_or_default();
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            short(row.rate),
            row.stage.name(),
            count(row.ended),
            time(0.5),
            time(0.99),
            share_of(share),
        ));
    }
    out.into_bytes()
}
