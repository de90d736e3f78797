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
    /// Write the summary as JSON; without FILE or with -, to stdout instead of the text report
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
    /// Write the histogram buckets as CSV; - is stdout, instead of the text report
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the run as an HTML page with charts; - is stdout, instead of the text report
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the summary as Markdown; - is stdout, instead of the text report
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write the verdict and the thresholds as JUnit XML; - is stdout, instead of the text report
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write the histogram of each interval as an HdrHistogram log; - is stdout, instead of the text
    /// report
    #[arg(long, value_name = "FILE")]
    pub(crate) hlog: Option<PathBuf>,
    /// Write each chart as an SVG file into this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<PathBuf>,
    /// Compare the run with this one in all outputs: its id, last, tag:NAME, its directory, or a
    /// --json file
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<String>,
}
