//! Sockets, timers, DNS, TLS, the only clock.
//!
//! Knows how to move bytes and tell the time. Must not know plans or samples.
//! Start reading at [`Io`], the one seam between the engine and the world.

mod io;

pub use io::{Address, Io, IoError, Progress, Readiness, Received, Slot, ThreadTimes};
