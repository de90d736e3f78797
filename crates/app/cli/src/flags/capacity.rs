//! Flags of `drumfire capacity`.

use super::HttpFlags;
use clap::Args;

const URLS: &str = "URLs to request in turn; @FILE reads a list, one per line, @- reads it from stdin; \
                    or a plan file: YAML, JSON or TOML; or a `drumfire grpc` command line";
const CONNECTIONS: &str =
    "Exactly N connections, opened in advance [default: as needed, up to 1000]";
const ARRIVALS: &str = "Spacing of arrivals: constant, poisson, or gamma:K [default: poisson]";
const STREAMS: &str = "Concurrent requests on each HTTP/2 connection, up to the server's limit \
                       [default: 100]";
const JSON: &str = "Write the result as JSON; - is stdout, instead of the text report";
const MARKDOWN: &str = "Write the result as Markdown, for a comment; - is stdout";

/// Flags of `capacity`.
#[derive(Args, Debug)]
// A search sets the rate, needs no users and ends by itself. Figures of the whole run mean little.
#[command(mut_arg("urls", |arg| arg.help(URLS)))]
#[command(mut_arg("connections", |arg| arg.help(CONNECTIONS)))]
#[command(mut_arg("arrivals", |arg| arg.help(ARRIVALS)))]
#[command(mut_arg("streams", |arg| arg.help(STREAMS)))]
#[command(mut_arg("json", |arg| arg.help(JSON)))]
#[command(mut_arg("markdown", |arg| arg.help(MARKDOWN)))]
#[command(mut_arg("rate", |arg| arg.hide(true)))]
#[command(mut_arg("users", |arg| arg.hide(true)))]
#[command(mut_arg("think-time", |arg| arg.hide(true)))]
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
#[command(mut_arg("live", |arg| arg.hide(true)))]
#[command(mut_arg("no-tui", |arg| arg.hide(true)))]
#[command(mut_arg("stay", |arg| arg.hide(true)))]
#[command(mut_arg("no-github", |arg| arg.hide(true)))]
#[command(mut_arg("interval", |arg| arg.hide(true)))]
pub(crate) struct CapacityFlags {
    /// Objective that the rate must keep: a quantile such as `p99<50ms`, or `failed<0.1%`;
    /// repeatable [added if no rule is about failures: failed<1%]
    #[arg(
        long = "slo",
        value_name = "RULE",
        required = true,
        help_heading = "Search"
    )]
    pub(crate) slos: Vec<String>,
    /// First rate
    #[arg(
        long,
        value_name = "RATE",
        default_value = "10/s",
        help_heading = "Search"
    )]
    pub(crate) from: String,
    /// Maximum rate to try [default: 1M/s]
    #[arg(long, value_name = "RATE", help_heading = "Search")]
    pub(crate) max: Option<String>,
    /// How long to hold the load where the objectives are just kept
    #[arg(
        long,
        value_name = "TIME",
        default_value = "180s",
        help_heading = "Search"
    )]
    pub(crate) hold: String,
    /// How long to confirm a rate just below
    #[arg(
        long,
        value_name = "TIME",
        default_value = "60s",
        help_heading = "Search"
    )]
    pub(crate) confirm: String,
    /// Length of each step of the coarse search
    #[arg(
        long,
        value_name = "TIME",
        default_value = "3s",
        help_heading = "Search"
    )]
    pub(crate) step: String,
    /// Pool of the plan whose rate is searched [default: the only one]
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    pub(crate) pool: Option<String>,
    #[command(flatten)]
    pub(crate) http: HttpFlags,
}
