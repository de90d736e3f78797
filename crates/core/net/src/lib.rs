//! Sockets, timers, DNS, TLS, the only clock.
//!
//! Knows how to move bytes and tell the time. Must not know plans or samples. Start reading at
//! [`Io`], the one seam between the engine and the world, then [`Native`].
//!
//! The engine runs over [`Native`] or, in tests, over the simulated driver of `testkit`. Only
//! `clock` reads a clock.

mod child;
mod clock;
mod cores;
mod dns;
mod error;
mod io;
mod native;
mod poller;
mod polling;
mod post;
mod process;
mod resolve;
mod socket;
mod stamps;
mod standard_output;
mod system_clock;
mod thread_clock;
mod tls;
mod transfer;
mod tsc;
mod waker;
mod yielding;

pub use child::end_with_this;
pub use clock::Clock;
pub use cores::has_cores_for;
pub use dns::{NameServers, in_hosts};
pub use error::{Fault, IoError};
pub use io::{
    DepartureCounts, Endpoint, Io, Readiness, Slot, StampCounts, ThreadTimes, WaitCounts,
};
pub use native::{Native, NativeOptions, Stamping, Waiting, waits_in_one_call};
pub use post::{PostAnswer, PostTarget};
pub use process::{
    StealTimes, address_space, address_space_limit, descriptor_limit, descriptors_open,
    ephemeral_ports, raise_descriptor_limit, resident_memory, spare_address_space, steal_times,
};
pub use resolve::{ResolveError, Resolved, resolve};
pub use socket::is_own_address;
pub use standard_output::stdout_was_closed;
pub use system_clock::SystemClock;
pub use tls::{
    TlsConfig, TlsIdentity, TlsMaterial, TlsOptions, TlsSetupError, TlsTexts, TlsVerify,
    holds_certificate,
};
pub use transfer::{Progress, Received};
pub use waker::Waker;
pub use yielding::yield_to_others;
