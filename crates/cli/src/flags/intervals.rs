//! Flags of results of each interval.

use crate::stream_names::STDERR;
use clap::Args;
use std::path::PathBuf;

/// Where the figures of each interval go.
#[derive(Args, Debug)]
pub(crate) struct IntervalFlags {
    /// Print a line for each --interval: to stderr, to stdout above the text report (=-), or to a
    /// file (=FILE)
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = STDERR
    )]
    pub(crate) lines: Option<String>,
    /// Write each interval as a line of JSON; - is stdout, instead of the text report
    #[arg(long, value_name = "FILE")]
    pub(crate) json_lines: Option<PathBuf>,
    /// Write each interval as a row of CSV; - is stdout, instead of the text report
    #[arg(long, value_name = "FILE")]
    pub(crate) csv_intervals: Option<PathBuf>,
}
