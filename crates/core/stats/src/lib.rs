//! Statistics that compare runs: exact tests, and shifts with their intervals.
//!
//! Knows lists of numbers. Must not know runs, latencies or words: the caller decides which values
//! are compared, in which unit, and how an answer is named. Start reading at [`RankSum`].
//!
//! The unit of every comparison is a run, or a block of one run's time, and never a request:
//! requests of one run share its queues and its machine, and a test that treats them as independent
//! reports a difference between equal runs more often than not. Tests of runs use ranks and are
//! exact, because runs are few, and the distribution of their spread is unknown: [`RankSum`] for
//! sets, [`SignedRank`] for pairs, [`InterimLooks`] for pairs that are checked while more are
//! measured. Within a run, neighbouring intervals depend on each other, so whole blocks of them are
//! drawn ([`moving_blocks`]).

mod blocks;
mod centre;
mod divisive;
mod energy;
mod flips;
mod holm;
mod place;
mod rank_sum;
mod signed_rank;
mod tail;

pub use blocks::{block_length, moving_blocks};
pub use centre::{mean, median, without_spikes};
pub use divisive::{Divisive, HISTORY_MAX, SeriesChange, Track, best_split};
pub use energy::Split;
pub use flips::{Differences, InterimLooks, JointTests};
pub use holm::{holm, holm_levels};
pub use rank_sum::{RUNS_MAX, RankSum, Shift};
pub use signed_rank::SignedRank;
