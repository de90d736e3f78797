//! The flags of a load over HTTP, apart from what is requested.

use super::OutputFlags;
use clap::Args;
use std::fmt::Debug;

/// The flags of a load that is described by the settings `S`.
#[derive(Args, Debug)]
pub(crate) struct LoadFlags<S: Args + Debug> {
    #[command(flatten)]
    pub(crate) settings: S,
    /// Use HTTP/1.1 (the default)
    #[arg(long, conflicts_with = "http2", help_heading = "Request")]
    pub(crate) http1: bool,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    /// Print the plan that these flags make, for `drumfire run`, and exit
    #[arg(long, help_heading = "Output")]
    pub(crate) print_plan: bool,
    /// Print the facts of the run in the binary form of the store, for `drumfire ab`, and exit
    #[arg(long, hide = true, conflicts_with = "print_plan")]
    pub(crate) print_facts: bool,
}
