//! Flags of `drumfire ui`.

use clap::Args;

/// Flags of `ui`.
#[derive(Args, Debug)]
#[command(
    after_help = "The address that is printed has a token: without it, or from a page of another server,
nothing is shown and nothing done. It is on loopback only; from another machine,
`ssh -L 7070:127.0.0.1:7070 HOST` leads there. A run has its page too, with --ui ADDR."
)]
pub(crate) struct UiFlags {
    /// Where to listen, on loopback: HOST:PORT, or :PORT; port 0 is one that is free
    #[arg(
        short = 'l',
        long,
        value_name = "ADDR",
        default_value = "127.0.0.1:7070"
    )]
    pub(crate) listen: String,
}
