//! Statistics by which runs are compared: exact tests, and shifts with their intervals.
//!
//! Knows lists of numbers. Must not know runs, latencies or words: what is compared, in which unit,
//! and what an answer is called, is for the caller. Start reading at [`RankSum`].
//!
//! The unit of every comparison is a run, or a block of one run's time, and never a request:
//! requests of one run share its queues and its machine, and a test that takes them for independent
//! calls equal runs different more often than not. Tests of runs are by ranks and exact, since runs
//! are few, and their spread has no law that could be relied on: [`RankSum`] of sets, [`SignedRank`]
//! of pairs, [`Looks`] of pairs that are looked at while more are made. Within a run, neighbouring
//! intervals depend on each other, so that whole blocks of them are drawn ([`moving_blocks`]).

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
pub use divisive::{ChangePoint, Divisive, HISTORY_MAX, Track, best_split};
pub use energy::Split;
pub use flips::{Differences, Looks};
pub use holm::holm;
pub use rank_sum::{RUNS_MAX, RankSum, Shift};
pub use signed_rank::SignedRank;
