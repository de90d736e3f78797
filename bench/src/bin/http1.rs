//! HTTP/1.1: what a request costs drumfire and others, and whether the targets are reached.

use clap::Parser;
use drumfire_bench::machine::{self, Steal};
use drumfire_bench::rows::{Row, Settings};
use drumfire_bench::table::markdown;
use drumfire_bench::tool::Programs;
use drumfire_net::raise_descriptor_limit;
use std::fmt::Write as _;
use std::fs;
use std::io::{Error, Result, Write};
use std::path::PathBuf;
use std::process::Command;

/// Measure drumfire beside other tools on loopback, and print a table
#[derive(Debug, Parser)]
struct Flags {
    /// Runs of each tool, made alternately
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Length of a run
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Only rows whose name begins so; may be given several times
    #[arg(long, value_name = "ROW")]
    only: Vec<String>,
    /// Write the tables to a file as well
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// The program to measure [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
}

fn main() -> Result<()> {
    let flags = Flags::parse();
    let rows: Vec<Row> = Row::all()
        .into_iter()
        .filter(|row| flags.wants(row))
        .collect();
    if rows.is_empty() {
        let names: Vec<&str> = Row::all().iter().map(|row| row.name).collect();
        return Err(Error::other(format!("rows are: {}", names.join(", "))));
    }
    // Servers and clients inherit it.
    raise_descriptor_limit();
    let settings = Settings {
        programs: Programs::find(flags.drumfire)?,
        rounds: flags.rounds.max(1),
        seconds: flags.seconds.max(1),
    };
    let mut out = std::io::stdout();
    let steal = Steal::start();
    let load = machine::load();
    let mut lines = Vec::new();
    for row in &rows {
        for line in row.measure(&settings) {
            writeln!(out, "[{}] {line}", row.name)?;
            lines.push(line);
        }
    }
    let text = format!(
        "# Benchmark tables\n\n{}\n{}",
        header(&settings, steal, &load),
        markdown(&lines)
    );
    writeln!(out, "\n{text}")?;
    match flags.markdown {
        Some(path) => fs::write(path, text),
        None => Ok(()),
    }
}

impl Flags {
    fn wants(&self, row: &Row) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| row.name.starts_with(name))
    }
}

/// The machine, the programs and the way of measuring.
fn header(settings: &Settings, steal: Steal, load: &str) -> String {
    let programs = &settings.programs;
    let mut tools = vec![(Some(&programs.drumfire), "--version")];
    tools.push((programs.wrk.as_ref(), "--version"));
    tools.push((programs.oha.as_ref(), "--version"));
    tools.push((programs.nginx.as_ref(), "-v"));
    let versions: Vec<String> = tools
        .into_iter()
        .filter_map(|(program, flag)| {
            let mut command = Command::new(program?);
            command.arg(flag);
            machine::version(command)
        })
        .collect();
    let mut text = format!("- Machine: {}\n", machine::describe());
    let stolen = steal
        .percent()
        .map_or_else(|| "unknown".to_owned(), |p| format!("{p:.1} %"));
    // A String takes everything.
    let _complete = writeln!(
        text,
        "- While measuring: steal {stolen}; load average before {load}, after {}\n\
         - Programs: {}\n\
         - Clients on core 0, one thread; servers on core 1; {} runs of {} s each, made \
         alternately; medians, and ratios round by round",
        machine::load(),
        versions.join(" · "),
        settings.rounds,
        settings.seconds,
    );
    text
}
