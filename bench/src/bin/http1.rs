//! HTTP/1.1: the cost of a request with drumfire and other tools, and whether the targets are
//! reached.

use clap::Parser;
use drumfire_bench::program::{self, Flags};
use drumfire_bench::rows::Row;
use std::io::Result;

/// Compare drumfire with other tools over HTTP/1.1 on loopback, and print a table
#[derive(Debug, Parser)]
struct Http1Comparison {
    #[command(flatten)]
    flags: Flags,
}

fn main() -> Result<()> {
    let Http1Comparison { flags } = Http1Comparison::parse();
    let settings = flags.settings()?;
    program::run("Benchmark tables", &Row::http1(), &flags, &settings)
}
