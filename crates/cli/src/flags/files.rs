//! Flags of results of the whole run.

use clap::Args;
use std::path::PathBuf;

/// Flags of a load whose value is the file of a result, or `-` for standard output.
pub(crate) const RESULTS: [&str; 9] = [
    "--json",
    "--csv",
    "--html",
    "--markdown",
    "--junit",
    "--hlog",
    "--rows",
    "--json-lines",
    "--csv-intervals",
];

/// Where the results of the whole run go.
#[derive(Args, Debug)]
pub(crate) struct FileFlags {
    /// Write the summary as JSON; without a file or with - to stdout, in place of the text
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
    /// Write the histograms' buckets as CSV; - is stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the run as a page of HTML, with pictures; - is stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the summary as Markdown; - is stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write the answers and thresholds as JUnit's XML; - is stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write the histogram of each interval as a log of HdrHistogram; - is stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) hlog: Option<PathBuf>,
    /// Write the pictures as SVG, a file each, into this folder, which is new or empty
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<PathBuf>,
    /// Compare the run with this one, in every result: its id, last, tag:NAME, its directory, or a
    /// file of its --json
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<String>,
}
