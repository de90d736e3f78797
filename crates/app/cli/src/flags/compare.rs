//! Flags of `drumfire compare`.

use super::ColorChoice;
use clap::Args;
use std::path::PathBuf;

/// Flags of `compare`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  drumfire compare 20260131-1 20260131-2           one pair: shifts, no verdict
  drumfire compare tag:v1.3 tag:v1.4               all runs with a tag
  drumfire compare r1,r4,r5,r8 r2,r3,r6,r7         runs that alternated
  drumfire compare main.json change.json           files written by --json
  drumfire compare old new --html page.html        a page with charts of both
Exit codes: 0 not worse, or one pair · 2 runs not comparable · 4 candidate worse")]
pub(crate) struct CompareFlags {
    /// The baseline runs: ids, directories or --json files, separated by commas; a directory of runs
    /// or of such files; or tag:NAME
    #[arg(value_name = "BASE")]
    pub(crate) base: String,
    /// The runs to judge, written like BASE
    #[arg(value_name = "CANDIDATE")]
    pub(crate) candidate: String,
    /// Smallest shift that matters; smaller shifts count as equal
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    pub(crate) least: f64,
    /// Compare runs even if their targets differ
    #[arg(long)]
    pub(crate) any_target: bool,
    /// Write JSON to standard output, or to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
    /// Write Markdown, for a comment; - is stdout, instead of the text report
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write an HTML page with charts of both sides overlaid; - is stdout, instead of the text report
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// When to use colour: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

/// Parses a share above 0 and below 1, written in percent.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let percents = text
        .strip_suffix('%')
        .and_then(|text| text.trim_end().parse::<f64>().ok());
    match percents {
        Some(percents) if percents > 0.0 && percents < 100.0 => Ok(percents / 100.0),
        _ => Err("use a share above 0 % and below 100 %, such as 2% or 0.5%".to_owned()),
    }
}
