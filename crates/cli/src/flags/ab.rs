//! Flags of `drumfire ab`.

use super::ColorChoice;
use super::compare::share;
use super::number::count;
use clap::Args;
use drumfire_report::comparison::{ROUNDS_MAX, ROUNDS_MIN};
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
The order is A B B A, so that a machine that drifts does not pass for a change.
Runs are stored with a tag, for `drumfire compare tag:NAME-a tag:NAME-b`.
Exit codes: 0 B is not worse · 1 no comparison, or too many runs that can't be
  compared · 2 usage · 4 B is worse · 5 ended by Ctrl-C before the last round")]
pub(crate) struct AbFlags {
    /// The load to compare with: a command line of `drumfire http`, `grpc` or `run`, in quotes
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub(crate) a: String,
    /// The load that is judged, written in the same way
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub(crate) b: String,
    /// The number of rounds, each with a run of A and one of B: 6 to 60
    #[arg(long, value_name = "N", default_value = "10", value_parser = rounds)]
    pub(crate) rounds: usize,
    /// The least shift that matters; a smaller one is equal
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    pub(crate) least: f64,
    /// Run both loads of a round at the same time, and compare them second by second: for two servers
    #[arg(long)]
    pub(crate) duet: bool,
    /// Make all rounds, also where the answer is shown before
    #[arg(long)]
    pub(crate) all_rounds: bool,
    /// The runs' tags are NAME-a and NAME-b [default: ab- and the time]
    #[arg(long, value_name = "NAME", value_parser = word)]
    pub(crate) tag: Option<String>,
    /// Store the runs in this directory [default: where `drumfire runs` finds them]
    #[arg(short = 'o', long = "store", value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// As JSON, to standard output or into a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
    /// As Markdown, for a comment; - is stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// As a page with the pictures of both sides over each other; - is stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print nothing but the result
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
    /// When the text has colour: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

/// A number of rounds that can show something.
fn rounds(text: &str) -> Result<usize, String> {
    let rounds = usize::try_from(count(text)?).unwrap_or(usize::MAX);
    match rounds {
        ..ROUNDS_MIN => Err(format!(
            "{rounds} rounds can show nothing, however much the loads differ; write {ROUNDS_MIN} or more"
        )),
        ROUNDS_MIN..=ROUNDS_MAX => Ok(rounds),
        _ => Err(format!("at most {ROUNDS_MAX} rounds are compared")),
    }
}

/// A tag, which is also the name of a directory.
fn word(text: &str) -> Result<String, String> {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    match !text.is_empty() && !text.starts_with('.') && text.chars().all(is_letter) {
        true => Ok(text.to_owned()),
        false => Err("write a word of letters, digits, - and _".to_owned()),
    }
}
