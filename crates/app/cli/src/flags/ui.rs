//! Flags of `drumfire ui`.

use clap::Args;

/// Flags of `ui`.
#[derive(Args, Debug)]
#[command(
    after_help = "The printed address contains a token. Requests without the token, or from pages
of other servers, are refused. The server listens on loopback only; to reach it
from another machine, use `ssh -L 7070:127.0.0.1:7070 HOST`. With --ui ADDR, a
run serves its own page."
)]
pub(crate) struct UiFlags {
    /// Loopback address to listen on: HOST:PORT, or :PORT; port 0 picks a free port
    #[arg(
        short = 'l',
        long,
        value_name = "ADDR",
        default_value = "127.0.0.1:7070"
    )]
    pub(crate) listen: String,
}
