//! Flags of the figures that monitoring has while a run goes on.

use clap::Args;

/// Where metrics go.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct MeteringFlags {
    /// Serve live metrics to Prometheus at http://ADDR/metrics; ADDR is HOST:PORT or :PORT
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<String>,
    /// After the run, serve the metrics until they are scraped, for at most this time
    #[arg(long, value_name = "TIME")]
    pub(crate) metrics_linger: Option<String>,
    /// Serve a live page of the run, with figures and controls; ADDR must be on loopback
    #[arg(long, value_name = "ADDR")]
    pub(crate) ui: Option<String>,
    /// Push live metrics to this URL by Prometheus remote write
    #[arg(long, value_name = "URL")]
    pub(crate) remote_write: Option<String>,
    /// Push live metrics in InfluxDB's line protocol to this URL, such as http://HOST:8086/DATABASE
    #[arg(long, value_name = "URL")]
    pub(crate) influx: Option<String>,
    /// Push live metrics by OpenTelemetry's OTLP over HTTP to this URL, such as http://HOST:4318
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// Header to send with pushed metrics; repeatable
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) push_header: Vec<String>,
}
