//! The floor as a program: a closed loop without parsing and without measuring.

use clap::Parser;
use drumfire_bench::floor::{Errand, driven, own};
use drumfire_bench::tool::Reuse;
use drumfire_net::Clock;
use drumfire_units::Nanos;
use serde_json::json;
use std::io::{Result, Write};

/// Send the same request repeatedly, and only count responses
#[derive(Debug, Parser)]
struct Flags {
    /// Use drumfire's driver instead of a loop of bare system calls
    #[arg(long)]
    net: bool,
    /// POST a body of this many bytes; not with --net, which sends requests in one piece
    #[arg(long, value_name = "BYTES", conflicts_with = "net")]
    post: Option<usize>,
    /// A new connection for each request; not with --net
    #[arg(long, conflicts_with = "net")]
    close: bool,
    /// Connections
    #[arg(short, default_value_t = 64)]
    connections: usize,
    /// Seconds
    #[arg(short = 'z', default_value_t = 2)]
    seconds: u64,
    /// `http://ADDRESS:PORT/PATH`, or https with --net
    url: String,
}

fn main() -> Result<()> {
    let flags = Flags::parse();
    let span = Nanos::from_secs(flags.seconds);
    let reuse = match flags.close {
        true => Reuse::Close,
        false => Reuse::KeepAlive,
    };
    let errand = Errand::new(&flags.url, flags.connections, span, flags.post, reuse)?;
    let counted = if flags.net {
        driven::run(&errand)?
    } else {
        own::run(&errand)?
    };
    let cpu = Clock::thread_cpu();
    let result = json!({
        "requests": counted.requests,
        "requests_per_s": counted.requests as f64 / flags.seconds as f64,
        "cpu_ns": cpu.0,
        "cpu_ns_per_request": cpu.0 as f64 / counted.requests.max(1) as f64,
        "request_bytes": errand.request.len(),
        "response_bytes": counted.response_bytes,
    });
    writeln!(std::io::stdout(), "{result}")
}
