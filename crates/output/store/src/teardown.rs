//! The failure of a run's teardown, which is known only after the run was stored.

use drumfire_measure::form;

/// Why a run's teardown failed, as the run itself printed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeardownFailure {
    /// Whether a signal ended the teardown.
    pub is_cut_short: bool,
    /// The message, without secrets.
    pub message: String,
}

form! { struct TeardownFailure { is_cut_short, message } }
