//! Moves bytes for a plan, on time, and makes samples.
//!
//! Knows plans, schedules, protocols and the I/O seam, and brings them together. Must not know
//! stdout, files or formatting. Start reading at [`Run`], then at its worker.

mod arrivals;
mod blame;
mod channel;
mod control;
mod conversation;
mod demand;
mod exchanges;
mod freed;
mod handover;
mod id;
mod keep_alive;
mod leniency;
mod lifecycle;
pub mod limits;
mod pool_io;
mod pool_run;
mod population;
mod prepare;
mod protocol;
mod recorder;
mod run;
mod timers;
mod transport;
mod unsent;
mod users;
mod waiting;
mod wire;
mod worker;

pub use control::{Control, ControlError};
pub use conversation::{ConversationError, Speaker, chooses_http2, converse};
pub use id::Shard;
pub use prepare::{PrepareError, Prepared, PreparedPool, Resolver, certificates, prepare};
pub use run::{Events, Run, RunError, Shares, run_over};
