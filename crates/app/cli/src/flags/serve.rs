//! Flags of `drumfire serve`.

mod llm;

pub(crate) use llm::{LlmMockFlags, parsed};

use super::number::{count, length, small_count, small_positive};
use clap::Args;

/// The arguments of `drumfire serve`.
#[derive(Args, Debug)]
#[command(after_help = "A request can set these options for itself in its query:
  curl 'http://127.0.0.1:8080/?delay=const:5ms&size=1000&status=503:0.1'

/events sends server-sent events, and /ws is a WebSocket:
  drumfire http --events -n 10 'http://127.0.0.1:8080/events?n=20&gap=50ms'")]
#[expect(clippy::struct_excessive_bools, reason = "flags are what they are")]
pub(crate) struct ServeFlags {
    /// Listen on ADDRESS:PORT, PORT, or unix:PATH; repeatable
    #[arg(
        short = 'l',
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8080"
    )]
    pub(crate) listen: Vec<String>,
    /// Allow addresses that other machines can reach
    #[arg(long)]
    pub(crate) expose: bool,
    /// Worker threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = length)]
    pub(crate) threads: usize,
    /// Serve HTTPS with a certificate generated at startup
    #[arg(long)]
    pub(crate) tls: bool,
    /// Write the CA certificate to a file, for --cacert
    #[arg(long, value_name = "FILE", requires = "tls")]
    pub(crate) tls_ca: Option<std::path::PathBuf>,
    /// Write a client certificate and its key to FILE.crt and FILE.key
    #[arg(long, value_name = "FILE", requires = "tls")]
    pub(crate) tls_client: Option<std::path::PathBuf>,
    /// Refuse clients without a certificate from the server's CA
    #[arg(long, requires = "tls")]
    pub(crate) require_client_cert: bool,
    /// Serve gRPC: helloworld.Greeter, drumfire.test.v1.TestService, and reflection
    #[arg(long)]
    pub(crate) grpc: bool,
    /// Serve a demo shop under /shop: log in, list, cart, pay (with --grpc also as a service)
    #[arg(long)]
    pub(crate) shop: bool,
    /// Seed for all random delays and failures
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count)]
    pub(crate) seed: u64,
    /// Delay every response: const:5ms, exp:10ms, lognormal:10ms,0.5
    #[arg(long, value_name = "LAW")]
    pub(crate) delay: Option<String>,
    /// Size of response bodies
    #[arg(long, value_name = "BYTES", default_value = "100")]
    pub(crate) size: String,
    /// Respond with this status with a probability: 503:0.01
    #[arg(long, value_name = "CODE:P")]
    pub(crate) status: Option<String>,
    /// End gRPC calls with this status with a probability: UNAVAILABLE:0.01
    #[arg(long, value_name = "CODE:P", requires = "grpc")]
    pub(crate) grpc_status: Option<String>,
    /// Probability of closing the connection after a response
    #[arg(long, value_name = "P")]
    pub(crate) close: Option<String>,
    /// Close each connection after N responses
    #[arg(long, value_name = "N", value_parser = small_positive)]
    pub(crate) close_after: Option<u32>,
    /// Probability of closing the connection instead of responding
    #[arg(long, value_name = "P")]
    pub(crate) hangup: Option<String>,
    /// Probability of resetting the connection instead of responding
    #[arg(long, value_name = "P")]
    pub(crate) reset: Option<String>,
    /// Probability of cutting off a response in the middle of its body
    #[arg(long, value_name = "P")]
    pub(crate) cut: Option<String>,
    /// Send bodies in pieces: 100B/10ms
    #[arg(long, value_name = "SIZE/TIME")]
    pub(crate) drip: Option<String>,
    /// Send bodies in chunks of this size
    #[arg(long, value_name = "BYTES")]
    pub(crate) chunked: Option<String>,
    /// Stall for a part of every period: 1s/10s
    #[arg(long, value_name = "TIME/PERIOD")]
    pub(crate) stall: Option<String>,
    /// Serve one request at a time, first come, first served
    #[arg(long)]
    pub(crate) serial: bool,
    /// Record the first N arrival times, for GET /arrivals
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = "10000000",
        value_parser = length
    )]
    pub(crate) arrival_log: Option<usize>,
    /// Maximum number of concurrent streams of an HTTP/2 client
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = small_count)]
    pub(crate) max_streams: u32,
    /// Refuse HTTP/2 requests after the Nth on a connection (GOAWAY)
    #[arg(long, value_name = "N", value_parser = small_positive)]
    pub(crate) goaway_after: Option<u32>,
    #[command(flatten)]
    pub(crate) llm: LlmMockFlags,
}
