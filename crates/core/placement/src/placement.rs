//! The placement of a plan on a machine.

use crate::{Clamp, Machine};

/// The placement of a plan on a machine: the number of sending threads, and the maximum connections
/// of each pool. [`crate::fit()`] creates it; a run uses it next to the unchanged plan.
#[derive(Clone, Debug)]
pub struct Placement {
    pub(crate) machine: Machine,
    /// The number of threads in the plan, or the number of cores.
    pub(crate) threads_offered: u32,
    pub(crate) threads: u32,
    /// The maximum number of connections to each target, by the number of the pool.
    pub(crate) connections: Vec<u32>,
    /// The maximum number of threads that can share a pool, by the number of the pool.
    pub(crate) shares: Vec<u32>,
    /// The maximum number of connections to all targets of all pools.
    pub(crate) connections_most: u64,
    pub(crate) clamps: Vec<Clamp>,
}

impl Placement {
    /// The machine.
    #[must_use]
    pub const fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The number of worker threads: at least 1, and at most as many as the pools can be divided
    /// among.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        self.threads
    }

    /// The number of worker threads in the plan, or the number of cores, even if the load can't be
    /// divided among them; at least 1.
    #[must_use]
    pub const fn threads_offered(&self) -> u32 {
        self.threads_offered
    }

    /// The maximum number of connections to each target of pool `pool`; at least 1.
    ///
    /// # Panics
    /// If the plan has no such pool.
    #[must_use]
    pub fn connections(&self, pool: usize) -> u32 {
        self.connections[pool]
    }

    /// The maximum number of threads that can share pool `pool`; at least 1. Each thread needs a
    /// connection and, if the load consists of users, a user.
    ///
    /// # Panics
    /// If the plan has no such pool.
    #[must_use]
    pub fn shares(&self, pool: usize) -> u32 {
        self.shares[pool]
    }

    /// The maximum number of connections to all targets of all pools.
    #[must_use]
    pub const fn connections_most(&self) -> u64 {
        self.connections_most
    }

    /// The bounds of the plan that this machine lowers.
    #[must_use]
    pub fn clamps(&self) -> &[Clamp] {
        &self.clamps
    }
}
