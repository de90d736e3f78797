//! Flags of `drumfire capacity`.

use super::HttpFlags;
use clap::Args;

const URLS: &str = "URLs to send requests to, in turn; @FILE reads one a line, @- reads them from \
                    stdin; or the file of a plan: YAML, JSON or TOML; or a line of `drumfire grpc`";
const CONNECTIONS: &str =
    "Exactly N connections, opened ahead [default: as many as are needed, at most 1000]";
const JSON: &str = "Write the answer as JSON; - is stdout, in place of the text";
const MARKDOWN: &str = "Write the answer as Markdown, for a comment; - is stdout";

/// Flags of `capacity`.
#[derive(Args, Debug)]
// A load has no rate of its own here, no users and no end, and figures of its whole mean little.
#[command(mut_arg("urls", |arg| arg.help(URLS)))]
#[command(mut_arg("connections", |arg| arg.help(CONNECTIONS)))]
#[command(mut_arg("json", |arg| arg.help(JSON)))]
#[command(mut_arg("markdown", |arg| arg.help(MARKDOWN)))]
#[command(mut_arg("rate", |arg| arg.hide(true)))]
#[command(mut_arg("users", |arg| arg.hide(true)))]
#[command(mut_arg("think_time", |arg| arg.hide(true)))]
#[command(mut_arg("duration", |arg| arg.hide(true)))]
#[command(mut_arg("requests", |arg| arg.hide(true)))]
#[command(mut_arg("iterations", |arg| arg.hide(true)))]
#[command(mut_arg("warmup", |arg| arg.hide(true)))]
#[command(mut_arg("late", |arg| arg.hide(true)))]
#[command(mut_arg("threshold", |arg| arg.hide(true)))]
#[command(mut_arg("show", |arg| arg.hide(true)))]
#[command(mut_arg("explain", |arg| arg.hide(true)))]
#[command(mut_arg("brief", |arg| arg.hide(true)))]
#[command(mut_arg("strict", |arg| arg.hide(true)))]
#[command(mut_arg("junit", |arg| arg.hide(true)))]
#[command(mut_arg("baseline", |arg| arg.hide(true)))]
#[command(mut_arg("print_plan", |arg| arg.hide(true)))]
#[command(mut_arg("no_tui", |arg| arg.hide(true)))]
#[command(mut_arg("no_github", |arg| arg.hide(true)))]
#[command(mut_arg("interval", |arg| arg.hide(true)))]
pub(crate) struct CapacityFlags {
    /// An objective that the rate must keep: a quantile such as `p99<50ms`, or `failed<0.1%`; may be
    /// given several times [default beside others: failed<1%]
    #[arg(
        long = "slo",
        value_name = "RULE",
        required = true,
        help_heading = "Search"
    )]
    pub(crate) slos: Vec<String>,
    /// The first rate
    #[arg(
        long,
        value_name = "RATE",
        default_value = "10/s",
        help_heading = "Search"
    )]
    pub(crate) from: String,
    /// The greatest rate that may be asked for [default: 1M/s]
    #[arg(long, value_name = "RATE", help_heading = "Search")]
    pub(crate) max: Option<String>,
    /// How long the load is held where the objectives are just kept
    #[arg(
        long,
        value_name = "TIME",
        default_value = "180s",
        help_heading = "Search"
    )]
    pub(crate) hold: String,
    /// How long a rate just below is confirmed
    #[arg(
        long,
        value_name = "TIME",
        default_value = "60s",
        help_heading = "Search"
    )]
    pub(crate) confirm: String,
    /// The length of a step of the bracket
    #[arg(
        long,
        value_name = "TIME",
        default_value = "3s",
        help_heading = "Search"
    )]
    pub(crate) step: String,
    /// The pool of a plan whose rate is searched [default: the only one]
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    pub(crate) pool: Option<String>,
    #[command(flatten)]
    pub(crate) http: HttpFlags,
}
