//! A plan: a checked description of a run.

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
/// Its parts can be read but not changed. To change a plan, take its parts ([`Plan::into_parts`])
/// and check them again.
#[derive(Clone, Debug)]
pub struct Plan {
    parts: PlanParts,
}

/// The parts of a plan, unchecked.
#[derive(Clone, Debug)]
pub struct PlanParts {
    /// The user's name for the plan, for reports.
    pub name: Option<String>,
    /// The pools: requests and their load; at least one.
    pub pools: Vec<Pool>,
    /// The settings of the program that sends.
    pub generator: Generator,
    /// The rules that the result must satisfy.
    pub thresholds: Vec<Threshold>,
}

/// The settings of the program that sends.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// The number of worker threads.
    pub threads: Threads,
    /// How a worker waits for the next event.
    pub wait: WaitChoice,
    /// The clock for the departure of requests and the arrival of responses.
    pub clock: ClockChoice,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The beginning of the run that is not measured.
    pub warmup: Warmup,
    /// The length of an interval; never zero.
    pub interval: Nanos,
}

impl Plan {
    /// Checks these parts, and makes a plan of them.
    ///
    /// # Errors
    /// All flaws that make the plan invalid.
    pub fn new(parts: PlanParts) -> Result<Self, Vec<Flaw>> {
        let flaws = check::check(&parts);
        if flaws.is_empty() {
            Ok(Self { parts })
        } else {
            Err(flaws)
        }
    }

    /// The user's name for the plan, for reports.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.parts.name.as_deref()
    }

    /// The pools: requests and their load; at least one.
    #[must_use]
    pub fn pools(&self) -> &[Pool] {
        &self.parts.pools
    }

    /// Whether any response is read as an answer of a language model.
    #[must_use]
    pub fn reads_answers(&self) -> bool {
        let mut requests = self.pools().iter().flat_map(|pool| &pool.requests);
        requests.any(|request| {
            let events = request.events.as_ref();
            events.is_some_and(|events| events.answer.is_some())
        })
    }

    /// The first pool.
    #[must_use]
    pub fn first(&self) -> &Pool {
        // A checked plan has at least one pool.
        &self.parts.pools[0]
    }

    /// The settings of the program that sends.
    #[must_use]
    pub const fn generator(&self) -> &Generator {
        &self.parts.generator
    }

    /// The rules that the result must satisfy.
    #[must_use]
    pub fn thresholds(&self) -> &[Threshold] {
        &self.parts.thresholds
    }

    /// The notes about unused parts of the requests' sources, each sentence once.
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

    /// The seed of the random values of the pool with this number, from 0. Each pool has a
    /// different seed, so that arrivals and data of the pools are independent. The first pool has
    /// the generator's seed.
    #[must_use]
    pub const fn seed_of(&self, pool: usize) -> u64 {
        self.parts.generator.seed ^ ((pool as u64) << 48)
    }

    /// The parts of the plan, to make another one.
    #[must_use]
    pub fn into_parts(self) -> PlanParts {
        self.parts
    }
}

/// The worker threads in a plan. Their actual number depends on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// One for each core of the machine.
    #[default]
    AsMany,
    /// This number, on any machine; at least 1.
    Exactly(u32),
}

/// The clock for the arrival of responses and the departure of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockChoice {
    /// The program's clock, when it has read the bytes.
    #[default]
    Program,
    /// The kernel's clock for responses, if the kernel stamps received data; otherwise the
    /// program's.
    Receive,
    /// The kernel's clock for both, if the kernel stamps both; otherwise as [`Self::Receive`].
    Wire,
}

/// How a worker waits for the next event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitChoice {
    /// Sleep; wakes some ten microseconds late.
    #[default]
    Sleep,
    /// At full speed ([`Pool::is_at_full_speed`]), poll for responses before sleeping, for as long
    /// as that pays; otherwise as [`Self::Sleep`].
    Adaptive,
    /// Busy-wait the last stretch before a request is due; wakes within a microsecond and costs CPU
    /// time.
    Spin,
}
