//! HTTP/2: the cost of a request with drumfire and h2load, and whether the targets are reached.

use clap::Parser;
use drumfire_bench::program::{self, Flags};
use drumfire_bench::rows::Row;
use std::io::Result;

/// Compare drumfire with h2load over HTTP/2 on loopback, and print a table
#[derive(Debug, Parser)]
struct Http2Comparison {
    #[command(flatten)]
    flags: Flags,
}

fn main() -> Result<()> {
    let Http2Comparison { flags } = Http2Comparison::parse();
    let settings = flags.settings()?;
    program::run("Benchmark tables: HTTP/2", &Row::http2(), &flags, &settings)
}
