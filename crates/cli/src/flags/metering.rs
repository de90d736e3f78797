//! Flags of the figures that monitoring has while a run goes on.

use clap::Args;

/// Where metrics go.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct MeteringFlags {
    /// Serve the figures so far to Prometheus, at http://ADDR/metrics; ADDR is HOST:PORT or :PORT
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<String>,
    /// Keep them there after the end until they were scraped, for this time at most
    #[arg(long, value_name = "TIME")]
    pub(crate) metrics_linger: Option<String>,
}
