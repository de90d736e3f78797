//! The command line: one field a flag, its help beside it.

mod grpc;
mod http;
mod serve;

pub(crate) use grpc::GrpcFlags;
pub(crate) use http::{HttpFlags, LoadFlags, OutputFlags, TransportFlags};
pub(crate) use serve::ServeFlags;

use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;

/// A load generator that keeps an exact load and reports it truthfully.
#[derive(Debug, Parser)]
#[command(name = "drumfire", version, about, subcommand_required = true)]
#[command(
    after_help = "Exit codes: 0 done · 1 nothing measured, or every request failed · \
2 usage · 3 not valid or load not kept (--strict) · 99 a threshold failed · 130 interrupted three times"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The command to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send HTTP requests and measure the responses
    Http(Box<HttpFlags>),
    /// Make gRPC calls and measure them, or show a server's schema
    Grpc(Box<GrpcFlags>),
    /// Run a plan that was written down, by a person or by --print-plan
    Run(Box<RunFlags>),
    /// Start the built-in server to fire at
    Serve(Box<ServeFlags>),
    /// Start a server, run a load against it for 10 s, and explain the report
    Demo(DemoFlags),
    /// Behave as ghz, with its flags and its output
    #[command(name = "ghz", disable_help_flag = true)]
    Ghz {
        /// ghz's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Behave as go-wrk, with its flags and its output
    #[command(name = "go-wrk", disable_help_flag = true)]
    GoWrk {
        /// go-wrk's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

/// Flags of `run`.
#[derive(Args, Debug)]
pub(crate) struct RunFlags {
    /// The plan as YAML; - reads it from stdin
    #[arg(value_name = "PLAN")]
    pub(crate) plan: String,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    /// Print the plan as it would be run, and end
    #[arg(long, help_heading = "Output")]
    pub(crate) print_plan: bool,
}

/// Flags of `demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoFlags {
    /// How long the load lasts
    #[arg(short = 'z', long, default_value = "10s", value_name = "TIME")]
    pub(crate) duration: String,
    /// The rate, or a rate law
    #[arg(short = 'r', long, default_value = "500/s", value_name = "RATE")]
    pub(crate) rate: String,
    /// No live display
    #[arg(long)]
    pub(crate) no_tui: bool,
}
