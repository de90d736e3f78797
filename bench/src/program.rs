//! The common parts of the comparison programs: flags, header, and tables.

use crate::machine::{self, Steal};
use crate::rows::{Row, Settings};
use crate::table::{Line, markdown};
use crate::tool::Programs;
use clap::Args;
use drumfire_net::raise_descriptor_limit;
use std::fmt::Write as _;
use std::fs;
use std::io::{Error, Result, Write};
use std::path::PathBuf;

/// The flags that all of them have.
#[derive(Args, Debug)]
pub struct Flags {
    /// Runs of each tool, alternating
    #[arg(long, default_value_t = 5)]
    pub rounds: u32,
    /// Length of a run
    #[arg(long, default_value_t = 2)]
    pub seconds: u32,
    /// Only rows whose name starts with ROW; can be given several times
    #[arg(long, value_name = "ROW")]
    pub only: Vec<String>,
    /// Also write the tables to a file
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// The program to measure [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    pub drumfire: Option<PathBuf>,
    /// An older drumfire, as an additional tool in each table
    #[arg(long, value_name = "FILE")]
    pub beside: Option<PathBuf>,
}

/// The default number of calls in the run whose memory is watched.
pub const CALLS: u64 = 2_000_000;

/// The default length of the long run, in minutes.
pub const MINUTES: u32 = 30;

/// The default rate of the long run, in requests per second.
pub const RATE: u64 = 20_000;

impl Flags {
    /// The settings according to these flags.
    ///
    /// # Errors
    /// If one of our programs is missing.
    pub fn settings(&self) -> Result<Settings> {
        Ok(Settings {
            programs: Programs::find(self.drumfire.clone(), self.beside.clone())?,
            rounds: self.rounds.max(1),
            seconds: self.seconds.max(1),
            calls: CALLS,
            minutes: MINUTES,
            rate: RATE,
        })
    }

    fn wants(&self, row: &Row) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| row.name.starts_with(name))
    }
}

/// Measures the selected rows, prints each line immediately, and then the tables.
///
/// # Errors
/// If a row is unknown, or the tables can't be written.
pub fn run(title: &str, rows: &[Row], flags: &Flags, settings: &Settings) -> Result<()> {
    let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
    let rows: Vec<&Row> = rows.iter().filter(|row| flags.wants(row)).collect();
    if rows.is_empty() {
        return Err(Error::other(format!("rows are: {}", names.join(", "))));
    }
    // Servers and clients inherit the limit.
    raise_descriptor_limit();
    let mut out = std::io::stdout();
    let steal = Steal::start();
    let load = machine::load();
    let mut measured = Vec::new();
    for row in rows {
        let lines = row.measure(settings);
        for line in &lines {
            writeln!(out, "[{}] {line}", row.name)?;
        }
        measured.push((row, lines));
    }
    let tables = tables(measured);
    let text = format!("# {title}\n\n{}{tables}", header(settings, steal, &load));
    writeln!(out, "\n{text}")?;
    match &flags.markdown {
        Some(path) => fs::write(path, text),
        None => Ok(()),
    }
}

/// The tables: one pair for all rows without a claim, and one for each claim, below its words.
fn tables(measured: Vec<(&Row, Vec<Line>)>) -> String {
    let mut text = String::new();
    let mut together = Vec::new();
    for (row, lines) in measured {
        match row.claim {
            None => together.extend(lines),
            Some(claim) => {
                let tables = markdown(&lines);
                text.push_str(&format!("\n## `{}`\n\n> {claim}\n{tables}", row.name));
            }
        }
    }
    if !together.is_empty() {
        text.insert_str(0, &markdown(&together));
    }
    text
}

/// The machine, the programs and the method.
fn header(settings: &Settings, steal: Steal, load: &str) -> String {
    let versions = settings.programs.versions();
    let mut text = format!("- Machine: {}\n", machine::describe());
    let stolen = steal
        .percent()
        .map_or_else(|| "unknown".to_owned(), |p| format!("{p:.1} %"));
    // Writing to a String can't fail.
    let _complete = writeln!(
        text,
        "- While measuring: steal {stolen}; load average before {load}, after {}\n\
         - Programs: {}\n\
         - Clients on core 0, one thread; servers on core 1; {} alternating \
         runs of {} s each; medians; ratios per round",
        machine::load(),
        versions.join(" · "),
        settings.rounds,
        settings.seconds,
    );
    text
}
