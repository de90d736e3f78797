//! Flags of `drumfire grpc` that set no key.

use super::{GrpcSettings, OutputFlags};
use clap::Args;

/// The arguments of `drumfire grpc`.
#[derive(Args, Debug)]
#[command(after_help = "Examples, with `drumfire serve --grpc` running:
  # the services of the server
  drumfire grpc localhost:8080 --plaintext --list
  drumfire grpc localhost:8080 --plaintext --describe helloworld.HelloRequest
  # 500 calls/s for a minute
  drumfire grpc localhost:8080 --plaintext -r 500/s -z 1m \\
    --call helloworld.Greeter/SayHello -d '{\"name\":\"Ada\"}'
  # 100 users on 10 connections
  drumfire grpc localhost:8080 --plaintext -c 10 --streams 10 \\
    --call helloworld.Greeter/SayHello -d '{\"name\":\"{{ uuid }}\"}'
  # a bidirectional stream
  drumfire grpc localhost:8080 --plaintext --stream-interval 100ms \\
    --call helloworld.Greeter/SayHelloBidi \\
    -d '[{\"name\":\"Ada\"},{\"name\":\"Bob\"}]'")]
#[command(disable_help_flag = true)]
pub(crate) struct GrpcFlags {
    /// HOST:PORT, a URL, or unix:PATH; TLS unless --plaintext or http://
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) settings: GrpcSettings,
    /// Print the services and methods, and exit
    #[arg(long, help_heading = "Schema", display_order = 0)]
    #[arg(conflicts_with_all = ["call", "describe"])]
    pub(crate) list: bool,
    /// Print the definition of a service, method, message or enum, and exit
    #[arg(
        long,
        value_name = "SYMBOL",
        help_heading = "Schema",
        display_order = 1
    )]
    #[arg(conflicts_with = "call")]
    pub(crate) describe: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    /// Print the plan that these flags make, for `drumfire run`, and exit
    #[arg(long, help_heading = "Output", conflicts_with_all = ["list", "describe"])]
    pub(crate) print_plan: bool,
    /// Print the facts of the run in the binary form of the store, for `drumfire ab`, and exit
    #[arg(long, hide = true, conflicts_with = "print_plan")]
    pub(crate) print_facts: bool,
}
