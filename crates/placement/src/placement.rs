//! What a machine makes of a plan.

use crate::{Clamp, Machine};

/// What a machine makes of a plan: how many threads send, and how many connections each pool may
/// have. [`crate::fit()`] makes it; a run is carried out by it, and the plan stays as it is.
#[derive(Clone, Debug)]
pub struct Placement {
    pub(crate) machine: Machine,
    /// Threads that the plan names, or as many as there are cores.
    pub(crate) threads_offered: u32,
    pub(crate) threads: u32,
    /// Connections to each target at most, by the pool's number.
    pub(crate) connections: Vec<u32>,
    /// Threads that a pool can be divided among at most, by its number.
    pub(crate) shares: Vec<u32>,
    /// Connections to all targets of all pools at most.
    pub(crate) connections_most: u64,
    pub(crate) clamps: Vec<Clamp>,
}

impl Placement {
    /// The machine.
    #[must_use]
    pub const fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Worker threads; at least 1, and no more than the pools can be divided among.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        self.threads
    }

    /// Worker threads that the plan names, or as many as there are cores, whether or not the load
    /// can be divided among them; at least 1.
    #[must_use]
    pub const fn threads_offered(&self) -> u32 {
        self.threads_offered
    }

    /// Connections to each target of the pool with this number at most; at least 1.
    ///
    /// # Panics
    /// When the plan has no such pool.
    #[must_use]
    pub fn connections(&self, pool: usize) -> u32 {
        self.connections[pool]
    }

    /// Threads that the pool with this number can be divided among at most: each needs a connection
    /// and, where the load is that of users, a user; at least 1.
    ///
    /// # Panics
    /// When the plan has no such pool.
    #[must_use]
    pub fn shares(&self, pool: usize) -> u32 {
        self.shares[pool]
    }

    /// Connections to all targets of all pools at most.
    #[must_use]
    pub const fn connections_most(&self) -> u64 {
        self.connections_most
    }

    /// The bounds of the plan that are lower here.
    #[must_use]
    pub fn clamps(&self) -> &[Clamp] {
        &self.clamps
    }
}
