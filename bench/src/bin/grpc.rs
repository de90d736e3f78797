//! gRPC: the cost of a call with drumfire and other tools, and whether the targets are reached.

use clap::Parser;
use drumfire_bench::program::{self, CALLS, Flags};
use drumfire_bench::rows::Row;
use std::io::Result;
use std::path::PathBuf;

/// Compare drumfire with h2load and ghz over gRPC on loopback, and print a table
#[derive(Debug, Parser)]
struct GrpcComparison {
    #[command(flatten)]
    flags: Flags,
    /// Calls of the run whose memory is measured
    #[arg(long, value_name = "N", default_value_t = CALLS)]
    calls: u64,
    /// The ghz program to use instead of the installed one
    #[arg(long, value_name = "FILE")]
    ghz: Option<PathBuf>,
}

fn main() -> Result<()> {
    let GrpcComparison { flags, calls, ghz } = GrpcComparison::parse();
    let mut settings = flags.settings()?;
    settings.calls = calls;
    settings.programs.ghz = ghz.or(settings.programs.ghz);
    program::run("Benchmark tables: gRPC", &Row::grpc(), &flags, &settings)
}
