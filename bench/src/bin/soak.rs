//! A long run at 20,000 requests per second: memory, descriptors, and the cost of storing.

use clap::Parser;
use drumfire_bench::program::{self, Flags};
use drumfire_bench::rows::Row;
use std::io::Result;

/// Run drumfire for a long time against `drumfire serve`, and print a table
#[derive(Debug, Parser)]
struct Soak {
    #[command(flatten)]
    flags: Flags,
    /// Length of the long run
    #[arg(long, default_value_t = program::MINUTES)]
    minutes: u32,
    /// Requests per second
    #[arg(long, default_value_t = program::RATE)]
    rate: u64,
}

fn main() -> Result<()> {
    let Soak {
        flags,
        minutes,
        rate,
    } = Soak::parse();
    let mut settings = flags.settings()?;
    (settings.minutes, settings.rate) = (minutes.max(1), rate.max(1));
    program::run("A long run", &Row::soak(), &flags, &settings)
}
