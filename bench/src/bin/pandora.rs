//! Pandora's job: the loads of its page on performance, and whether the targets are reached.

use clap::Parser;
use drumfire_bench::program::{self, Flags};
use drumfire_bench::rows::Row;
use std::io::Result;
use std::path::PathBuf;

/// Measure drumfire with Pandora's loads on loopback, and print tables
#[derive(Debug, Parser)]
struct Pandora {
    #[command(flatten)]
    flags: Flags,
    /// The Pandora program, to measure it as well
    #[arg(long, value_name = "FILE")]
    pandora: Option<PathBuf>,
    /// The k6 program to use instead of the installed one
    #[arg(long, value_name = "FILE")]
    k6: Option<PathBuf>,
}

fn main() -> Result<()> {
    let Pandora { flags, pandora, k6 } = Pandora::parse();
    let mut settings = flags.settings()?;
    settings.programs.pandora = pandora;
    settings.programs.k6 = k6.or(settings.programs.k6);
    let title = "Benchmark tables: Pandora's job";
    program::run(title, &Row::pandora(), &flags, &settings)
}
