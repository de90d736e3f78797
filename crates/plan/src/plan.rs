//! A plan: a run that can be made.

mod check;
mod detour;
mod inquiry;

pub use check::{Flaw, POOLS_MAX};
pub use detour::Detour;
pub use inquiry::Inquiry;

use crate::{Pool, Threshold, Warmup};
use drumfire_units::Nanos;

/// A checked description of a run: a plan that exists can run.
///
/// Its parts can be read and not changed; a changed plan is made of its parts
/// ([`Plan::into_parts`]) and checked anew.
#[derive(Clone, Debug)]
pub struct Plan {
    parts: PlanParts,
}

/// The parts of a plan, unchecked.
#[derive(Clone, Debug)]
pub struct PlanParts {
    /// The pools: requests, and their load; at least one.
    pub pools: Vec<Pool>,
    /// The program that sends.
    pub generator: Generator,
    /// The rules that the result must satisfy.
    pub thresholds: Vec<Threshold>,
}

/// The program that sends.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// The worker threads.
    pub threads: Threads,
    /// Whether a worker spins shortly before a request is due.
    pub spin: Spin,
    /// Whose clock tells when requests leave and responses arrive.
    pub clock: ClockChoice,
    /// Where every random number comes from.
    pub seed: u64,
    /// The beginning that is not measured.
    pub warmup: Warmup,
    /// The length of one interval; never zero.
    pub interval: Nanos,
}

impl Plan {
    /// The plan that is made of these parts.
    ///
    /// # Errors
    /// Everything that keeps it from being run.
    pub fn new(parts: PlanParts) -> Result<Self, Vec<Flaw>> {
        let flaws = check::check(&parts);
        if flaws.is_empty() {
            Ok(Self { parts })
        } else {
            Err(flaws)
        }
    }

    /// The pools: requests, and their load; there is at least one.
    #[must_use]
    pub fn pools(&self) -> &[Pool] {
        &self.parts.pools
    }

    /// The first pool.
    #[must_use]
    pub fn first(&self) -> &Pool {
        // A plan without pools is not made.
        &self.parts.pools[0]
    }

    /// The program that sends.
    #[must_use]
    pub const fn generator(&self) -> &Generator {
        &self.parts.generator
    }

    /// The rules that the result must satisfy.
    #[must_use]
    pub fn thresholds(&self) -> &[Threshold] {
        &self.parts.thresholds
    }

    /// The parts of its requests' sources that are not used, each sentence once.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let requests = self.pools().iter().flat_map(|pool| &pool.requests);
        let notes = requests.filter_map(|request| request.data.as_ref());
        let mut all = Vec::new();
        for note in notes.flat_map(|data| data.notes()) {
            if !all.contains(&note) {
                all.push(note);
            }
        }
        all
    }

    /// The seed of the random values of the pool with this number, from 0: one for each pool, so
    /// that their arrivals and data are independent. The first pool has the generator's.
    #[must_use]
    pub const fn seed_of(&self, pool: usize) -> u64 {
        self.parts.generator.seed ^ ((pool as u64) << 48)
    }

    /// The parts of the plan, to make another.
    #[must_use]
    pub fn into_parts(self) -> PlanParts {
        self.parts
    }
}

/// The worker threads that a plan asks for. How many there are on a machine is no matter of the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// One for each core of the machine that runs it.
    #[default]
    AsMany,
    /// This number, on any machine; at least 1.
    Exactly(u32),
}

/// Whose clock tells when the bytes of responses arrive, and those of requests leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockChoice {
    /// The program's: when it has read them.
    #[default]
    Program,
    /// The kernel's for responses, where it stamps what is received; else the program's.
    Receive,
    /// The kernel's for both, where it stamps that; else as [`Self::Receive`].
    Wire,
}

/// Whether a worker spins shortly before a request is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spin {
    /// Sleep; wakes some ten microseconds late.
    #[default]
    No,
    /// Busy-wait the last stretch; wakes within a microsecond and costs CPU time.
    Yes,
}
