//! Flags of `drumfire ab`.

use super::ColorChoice;
use super::compare::share;
use super::number::count;
use clap::Args;
use drumfire_compare::{ROUNDS_MAX, ROUNDS_MIN};
use std::path::PathBuf;

/// Flags of `ab`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  drumfire ab --a 'http -r 500 -z 30s localhost:8080' \\
    --b 'http -r 500 -z 30s localhost:8081'
  drumfire ab --a 'run old.yaml' --b 'run new.yaml' --rounds 20
  drumfire ab --a 'run plan.yaml' --b 'run plan.yaml --set defaults.http=2'
  drumfire ab --duet --a 'http -r 500 -z 30s old:8080' \\
    --b 'http -r 500 -z 30s new:8080'
The order is A B B A, so that drift of the machine is not mistaken for a change.
Runs are stored with tags, for `drumfire compare tag:NAME-a tag:NAME-b`.
Exit codes: 0 B is not worse · 1 no comparison, or too many runs that can't be
  compared · 2 usage error · 4 B is worse · 5 stopped by Ctrl-C before the last
  round")]
pub(crate) struct AbFlags {
    /// The baseline load: a command line of `drumfire http`, `grpc` or `run`, in quotes
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub(crate) a: String,
    /// The load to judge, written like --a
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub(crate) b: String,
    /// Number of rounds, each with one run of A and one of B: 6 to 60
    #[arg(long, value_name = "N", default_value = "10", value_parser = rounds)]
    pub(crate) rounds: usize,
    /// Smallest shift that matters; smaller shifts count as equal
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    pub(crate) least: f64,
    /// Run both loads of a round at the same time and compare them second by second; for two servers
    #[arg(long)]
    pub(crate) duet: bool,
    /// Run all rounds, even if the result is clear earlier
    #[arg(long)]
    pub(crate) all_rounds: bool,
    /// Tag the runs NAME-a and NAME-b [default: ab- and the time]
    #[arg(long, value_name = "NAME", value_parser = word)]
    pub(crate) tag: Option<String>,
    /// Store the runs in this directory [default: where `drumfire runs` finds them]
    #[arg(short = 'o', long = "store", value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Write JSON to standard output, or to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
    /// Write Markdown, for a comment; - is stdout, instead of the text report
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write an HTML page with charts of both sides overlaid; - is stdout, instead of the text report
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print only the result
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
    /// When to use colour: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

/// A number of rounds that allows a conclusion.
fn rounds(text: &str) -> Result<usize, String> {
    let rounds = usize::try_from(count(text)?).unwrap_or(usize::MAX);
    match rounds {
        ..ROUNDS_MIN => Err(format!(
            "{rounds} rounds are too few to show any difference; use {ROUNDS_MIN} or more"
        )),
        ROUNDS_MIN..=ROUNDS_MAX => Ok(rounds),
        _ => Err(format!(
            "{rounds} rounds are too many; use at most {ROUNDS_MAX}"
        )),
    }
}

/// A tag, which is also the name of a directory.
fn word(text: &str) -> Result<String, String> {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    match !text.is_empty() && !text.starts_with('.') && text.chars().all(is_letter) {
        true => Ok(text.to_owned()),
        false => Err("use a word of letters, digits, - and _".to_owned()),
    }
}
