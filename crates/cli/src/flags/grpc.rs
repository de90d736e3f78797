//! Flags of `drumfire grpc`, named as those of `drumfire http` where they mean the same.

use super::{DataFlags, LoadFlags, OutputFlags, TransportFlags};
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
// Flags that concern HTTP/1.1 alone, or lists of URLs, are hidden.
#[command(disable_help_flag = true)]
#[command(mut_arg("iterations", |arg| arg.hide(true)))]
#[command(mut_arg("respect_keepalive", |arg| arg.hide(true)))]
#[command(mut_arg("retry_reused", |arg| arg.hide(true)))]
#[expect(clippy::struct_excessive_bools, reason = "flags are what they are")]
pub(crate) struct GrpcFlags {
    /// HOST:PORT, a URL, or unix:PATH; TLS unless --plaintext or http://
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Connect without TLS
    #[arg(long, help_heading = "Call")]
    pub(crate) plaintext: bool,

    /// Print the services and methods, and exit
    #[arg(long, help_heading = "Schema", conflicts_with_all = ["call", "describe"])]
    pub(crate) list: bool,
    /// Print the definition of a service, method, message or enum, and exit
    #[arg(
        long,
        value_name = "SYMBOL",
        help_heading = "Schema",
        conflicts_with = "call"
    )]
    pub(crate) describe: Option<String>,
    /// A .proto file; repeatable [default: use the server's reflection]
    #[arg(long, value_name = "FILE", help_heading = "Schema")]
    pub(crate) proto: Vec<String>,
    /// Directory to search for imports; repeatable
    #[arg(
        long,
        value_name = "FOLDER",
        help_heading = "Schema",
        requires = "proto"
    )]
    pub(crate) import_path: Vec<String>,
    /// A serialised FileDescriptorSet, made by protoc with --include_imports
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Schema",
        conflicts_with = "proto"
    )]
    pub(crate) protoset: Option<std::path::PathBuf>,
    /// Metadata `key: value` for reflection only; repeatable
    #[arg(
        long,
        value_name = "METADATA",
        help_heading = "Schema",
        conflicts_with_all = ["proto", "protoset"]
    )]
    pub(crate) reflect_metadata: Vec<String>,

    /// The method, as package.Service/Method
    #[arg(long, value_name = "METHOD", help_heading = "Call")]
    pub(crate) call: Option<String>,
    /// The message as JSON, or an array of messages; @FILE reads a file, @- reads stdin. Templates
    /// work: {{request_number}}, {{uuid}} and others [default: an empty message]
    #[arg(short = 'd', long, value_name = "JSON", help_heading = "Call")]
    pub(crate) data: Option<String>,
    /// The data is one encoded message, or several, each preceded by its length
    #[arg(long, help_heading = "Call", requires = "data")]
    pub(crate) binary: bool,
    /// Metadata `key: value`; the value is a template; repeatable
    #[arg(
        short = 'H',
        long = "metadata",
        value_name = "METADATA",
        help_heading = "Call"
    )]
    pub(crate) metadata: Vec<String>,
    /// Timeout of a call, also sent to the server as grpc-timeout [default: --timeout]
    #[arg(long, value_name = "TIME", help_heading = "Call")]
    pub(crate) deadline: Option<String>,
    /// Compress messages with gzip or zstd; identity refuses compressed replies [default: send
    /// uncompressed messages, accept gzip]
    #[arg(long, value_name = "CODING", help_heading = "Call")]
    pub(crate) compress: Option<String>,
    /// Send this :authority instead of the target's
    #[arg(long, value_name = "NAME", help_heading = "Call")]
    pub(crate) authority: Option<String>,
    /// Maximum size of a received message [default: 4MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Call")]
    pub(crate) max_receive: Option<String>,
    /// Maximum size of a sent message [default: 2GiB]
    #[arg(long, value_name = "SIZE", help_heading = "Call")]
    pub(crate) max_send: Option<String>,
    /// Don't check that replies are valid messages of the method's type
    #[arg(long, help_heading = "Call")]
    pub(crate) no_reply_check: bool,

    /// Send N messages per call, repeating or truncating the data
    #[arg(
        long,
        value_name = "N",
        help_heading = "Streams",
        allow_negative_numbers = true
    )]
    pub(crate) stream_count: Option<u64>,
    /// Pause after each sent message
    #[arg(long, value_name = "TIME", help_heading = "Streams")]
    pub(crate) stream_interval: Option<String>,
    /// Stop sending after this time; cancel a stream that only the server sends
    #[arg(long, value_name = "TIME", help_heading = "Streams")]
    pub(crate) stream_duration: Option<String>,
    /// Cancel a call after N received messages (not a failure)
    #[arg(long, value_name = "N", help_heading = "Streams")]
    pub(crate) stream_receive: Option<u64>,

    #[command(flatten)]
    pub(crate) varying: DataFlags,
    #[command(flatten)]
    pub(crate) load: LoadFlags,
    #[command(flatten)]
    pub(crate) transport: TransportFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    /// Print the plan that these flags make, for `drumfire run`, and exit
    #[arg(long, help_heading = "Output", conflicts_with_all = ["list", "describe"])]
    pub(crate) print_plan: bool,
    /// Print the facts of the run in the binary form of the store, for `drumfire ab`, and exit
    #[arg(long, hide = true, conflicts_with = "print_plan")]
    pub(crate) print_facts: bool,
}
