//! Sends the requests of a plan on time, and makes samples.
//!
//! Knows plans, schedules, protocols and the I/O seam, and brings them together. Must not know
//! stdout, files or formatting. Start reading at [`Run`], then at its worker.
//!
//! A run has three stages. [`prepare()`] makes a [`Prepared`] from a plan: it resolves names,
//! renders messages and sets up TLS, so that a mistake in the plan is found before a thread exists.
//! [`Run`] starts one thread per worker, each with its own driver, its own share of the arrivals,
//! users and connections, and its own figures; workers share no state on the path of a request. A
//! collector merges the intervals that they close and publishes them as [`Events`]. [`Control`]
//! changes the load from any thread during the run.
//!
//! Above the [`Io`](drumfire_net::Io) seam, time comes from the driver and random numbers from the
//! plan's seed, so that a run under virtual time ([`run_over`]) is repeatable to the nanosecond.
//!
//! A file and its folder are one part. The parts form layers: `arrivals`, `population` and `users`
//! decide what starts when, without knowledge of protocols; `exchanges` keep the account of each
//! request, without sockets; `transport` and `wire` move bytes, without schedules and samples;
//! `pool_run` and `worker` drive all of them, turn by turn.

mod arrivals;
mod blame;
mod channel;
mod client;
mod control;
mod conversation;
mod demand;
mod exchanges;
mod handover;
mod id;
mod idle_since;
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

pub use client::{
    BodyUse, Client, ClientRequest, ClientSettings, Probe, Reply, ReplyTimes, SocketEvent,
    SocketRequest, SocketSend, SocketTicket, Ticket,
};
pub use control::{Control, ControlError};
pub use conversation::{ConversationError, Speaker, chooses_http2, converse};
pub use id::Shard;
pub use prepare::{PrepareError, Prepared, PreparedPool, Resolver, certificates, prepare};
pub use run::{Appointment, Events, Relay, Run, RunError, Shares, run_over};
