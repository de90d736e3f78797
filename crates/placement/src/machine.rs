//! The facts of a machine that a plan leaves open.

use std::fmt;
use std::net::IpAddr;

/// File descriptors that the program needs beside those of its connections.
pub const DESCRIPTORS_SPARE: u64 = 64;

/// Of a limit of descriptors that is lower than that, connections may have one in this many.
const DESCRIPTORS_PART: u64 = 4;

/// A machine that may run a plan. The command line asks the system for these facts, and a test
/// writes them down.
#[derive(Clone, Copy)]
pub struct Machine {
    /// Cores that a run may use; at least 1.
    pub cores: u32,
    /// File descriptors that this process may open; `None` is no limit.
    pub descriptors: Option<u64>,
    /// Whether connections can come from an address.
    pub has_address: fn(IpAddr) -> bool,
}

impl Machine {
    /// One core, and no other bound: what a simulated run is placed on.
    pub const SIMULATED: Self = Self {
        cores: 1,
        descriptors: None,
        has_address: |_| true,
    };

    /// The connections that may be open at a time where they are opened as they are needed: what
    /// the limit of descriptors leaves beside [`DESCRIPTORS_SPARE`]. Under a limit that leaves less
    /// than a quarter it is a quarter: the spare is an estimate, and a run with few connections may
    /// still do.
    #[must_use]
    pub fn connections_max(&self) -> Option<u64> {
        self.descriptors.map(|limit| {
            let spared = limit.saturating_sub(DESCRIPTORS_SPARE);
            spared.max(limit / DESCRIPTORS_PART)
        })
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("cores", &self.cores)
            .field("descriptors", &self.descriptors)
            .finish_non_exhaustive()
    }
}
