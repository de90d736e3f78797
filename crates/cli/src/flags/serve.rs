//! Flags of `drumfire serve`.

use clap::Args;

/// The arguments of `drumfire serve`.
#[derive(Args, Debug)]
#[command(after_help = "The same words work for one request in its query:
  curl 'http://127.0.0.1:8080/?delay=const:5ms&size=1000&status=503:0.1'")]
#[expect(clippy::struct_excessive_bools, reason = "flags are what they are")]
pub(crate) struct ServeFlags {
    /// Where to listen: ADDRESS:PORT, PORT, or unix:PATH; may be given several times
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
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: usize,
    /// Speak HTTPS with a certificate made at the start
    #[arg(long)]
    pub(crate) tls: bool,
    /// Write the certificate's authority to a file, for --cacert
    #[arg(long, value_name = "FILE", requires = "tls")]
    pub(crate) tls_ca: Option<std::path::PathBuf>,
    /// Write a client certificate and its key to FILE.crt and FILE.key
    #[arg(long, value_name = "FILE", requires = "tls")]
    pub(crate) tls_client: Option<std::path::PathBuf>,
    /// Refuse clients without a certificate of the server's authority
    #[arg(long, requires = "tls")]
    pub(crate) require_client_cert: bool,
    /// Offer gRPC: helloworld.Greeter, drumfire.test.v1.TestService, and reflection
    #[arg(long)]
    pub(crate) grpc: bool,
    /// Open a shop under /shop: log in, list, cart, pay (with --grpc also as a service)
    #[arg(long)]
    pub(crate) shop: bool,
    /// Seed of every delay and chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Delay every answer: const:5ms, exp:10ms, lognormal:10ms,0.5
    #[arg(long, value_name = "LAW")]
    pub(crate) delay: Option<String>,
    /// Size of a body
    #[arg(long, value_name = "BYTES", default_value = "100")]
    pub(crate) size: String,
    /// Answer with this status with a probability: 503:0.01
    #[arg(long, value_name = "CODE:P")]
    pub(crate) status: Option<String>,
    /// End gRPC calls with this status with a probability: UNAVAILABLE:0.01
    #[arg(long, value_name = "CODE:P", requires = "grpc")]
    pub(crate) grpc_status: Option<String>,
    /// Close the connection after an answer with this probability
    #[arg(long, value_name = "P")]
    pub(crate) close: Option<String>,
    /// Close each connection after N answers
    #[arg(long, value_name = "N")]
    pub(crate) close_after: Option<u32>,
    /// Close the connection in place of an answer with this probability
    #[arg(long, value_name = "P")]
    pub(crate) hangup: Option<String>,
    /// Reset the connection in place of an answer with this probability
    #[arg(long, value_name = "P")]
    pub(crate) reset: Option<String>,
    /// Cut an answer off in the middle of its body with this probability
    #[arg(long, value_name = "P")]
    pub(crate) cut: Option<String>,
    /// Send bodies piece by piece: 100B/10ms
    #[arg(long, value_name = "SIZE/TIME")]
    pub(crate) drip: Option<String>,
    /// Send bodies in chunks of this size
    #[arg(long, value_name = "BYTES")]
    pub(crate) chunked: Option<String>,
    /// Do nothing for a part of every period: 1s/10s
    #[arg(long, value_name = "TIME/PERIOD")]
    pub(crate) stall: Option<String>,
    /// Answer one request at a time, first come, first served
    #[arg(long)]
    pub(crate) serial: bool,
    /// Record the first N arrival times, for GET /arrivals
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10000000")]
    pub(crate) arrival_log: Option<usize>,
    /// Streams that an HTTP/2 client may open at a time
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) max_streams: u32,
    /// Refuse HTTP/2 requests after the N-th of a connection (GOAWAY)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) goaway_after: Option<u32>,
}
