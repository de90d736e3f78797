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
    /// Serve the run's page while it goes on, with its figures and commands; ADDR is on loopback
    #[arg(long, value_name = "ADDR")]
    pub(crate) ui: Option<String>,
    /// Send the figures so far to this URL by Prometheus' remote write
    #[arg(long, value_name = "URL")]
    pub(crate) remote_write: Option<String>,
    /// The same by InfluxDB's line protocol, such as http://HOST:8086/DATABASE
    #[arg(long, value_name = "URL")]
    pub(crate) influx: Option<String>,
    /// The same by OpenTelemetry's protocol over HTTP, such as http://HOST:4318
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// A header field of what is sent to these; may be given several times
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) push_header: Vec<String>,
}
