//! Moves bytes for a plan, on time, and makes samples.
//!
//! Knows plans, schedules, protocols and the I/O seam, and brings them together. Must not know
//! stdout, files or formatting. Start reading at [`run`], then [`Worker`].

mod arrivals;
mod blame;
mod control;
mod conversation;
mod exchanges;
mod id;
mod keep_alive;
mod leniency;
pub mod limits;
mod prepare;
mod recorder;
mod run;
mod timers;
mod transport;
mod users;
mod wire;
mod worker;

pub use arrivals::Shard;
pub use control::Control;
pub use conversation::{ConversationError, Speaker, chooses_http2, converse};
pub use prepare::{PrepareError, Prepared, Resolver, check_metadata, prepare};
pub use run::{RunError, run, run_over, thread_count};
pub use worker::{Message, Worker};
