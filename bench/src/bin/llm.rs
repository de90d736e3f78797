//! Language models: what answers cost the client, and whether the targets are reached.

use clap::Parser;
use drumfire_bench::program::{self, Flags};
use drumfire_bench::rows::Row;
use std::io::Result;

/// Measure `drumfire llm` against its own mock on loopback, and print a table
#[derive(Debug, Parser)]
struct LlmMeasurement {
    #[command(flatten)]
    flags: Flags,
}

fn main() -> Result<()> {
    let LlmMeasurement { flags } = LlmMeasurement::parse();
    let settings = flags.settings()?;
    program::run("Language models", &Row::llm(), &flags, &settings)
}
