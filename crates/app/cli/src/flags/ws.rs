//! Flags of `drumfire ws` that set no key.

use super::number::count;
use super::{OutputFlags, WsSettings};
use clap::Args;

/// The arguments of `drumfire ws`.
#[derive(Args, Debug)]
#[command(after_help = "Examples, with `drumfire serve` running:
  drumfire ws localhost:8080/ws                          10 handshakes/s for 10 s
  drumfire ws -m hello -r 500/s -z 1m localhost:8080/ws      500 messages/s
  drumfire ws -m hello -c 100 -z 30s localhost:8080/ws   100 connections, each
                                     sends when its last message is answered
  drumfire ws -m '{\"id\":{{request_number}}}' -c 50 --every 1s localhost:8080/ws
  drumfire ws --listen 30s -c 1000 localhost:8080/ws     1,000 listeners
  drumfire ws -m @big.bin --replies 0 -r 100 localhost:8080/ws   no answers
With -m, a request is a message with its answer, and -r is messages per second:
a connection is opened when it is needed, and stays open. With --listen, and
without either, a request is a connection, and -r is connections per second.
Without -r, -c, -u and -n the rate is 10/s.")]
#[command(disable_help_flag = true)]
pub(crate) struct WsFlags {
    /// URL of the WebSocket: ws:// (the default) or wss://
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) settings: WsSettings,
    /// Messages that answer each message; 0 does not wait for an answer [default: 1]
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Request", requires = "message")]
    pub(crate) replies: Option<u64>,
    /// Send messages as binary instead of text
    #[arg(long, help_heading = "Request", requires = "message")]
    pub(crate) binary: bool,
    /// Close a connection after N messages
    #[arg(
        long,
        value_name = "N",
        value_parser = count,
        help_heading = "Connections",
        requires = "message"
    )]
    #[arg(conflicts_with = "requests-per-connection")]
    pub(crate) messages: Option<u64>,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    /// Print the plan that these flags make, for `drumfire run`, and exit
    #[arg(long, help_heading = "Output")]
    pub(crate) print_plan: bool,
    /// Print the facts of the run in the binary form of the store, for `drumfire ab`, and exit
    #[arg(long, hide = true, conflicts_with = "print_plan")]
    pub(crate) print_facts: bool,
}
