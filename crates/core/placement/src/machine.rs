//! The facts of a machine that a plan leaves open.

use std::fmt;
use std::net::IpAddr;

/// The number of file descriptors that the program needs in addition to its connections.
pub const DESCRIPTORS_SPARE: u64 = 64;

/// With a very low limit of descriptors, connections may use one in this many.
const DESCRIPTORS_PART: u64 = 4;

/// A machine that may run a plan. The command line reads these facts from the system; tests set
/// them.
#[derive(Clone, Copy)]
pub struct Machine {
    /// The cores available to a run; at least 1.
    pub cores: u32,
    /// The maximum number of file descriptors of this process; `None` is unlimited.
    pub descriptors: Option<u64>,
    /// Whether the machine can send from an address.
    pub has_address: fn(IpAddr) -> bool,
}

impl Machine {
    /// One core and no other limits: the machine of a simulated run.
    pub const SIMULATED: Self = Self {
        cores: 1,
        descriptors: None,
        has_address: |_| true,
    };

    /// The maximum number of open connections, if they are opened as needed: the limit of
    /// descriptors minus [`DESCRIPTORS_SPARE`], but at least a quarter of the limit. The spare
    /// number is an estimate, and a run with few connections may still work.
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
