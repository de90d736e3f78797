//! A server that is asked before a run.

use super::check::{self, Flaw};
use super::detour::{self, Detour};
use super::{Generator, PlanParts};
use crate::{HttpRequest, Pool};

/// The way to a server that is asked before a run: a pool with one request, which has no message.
///
/// Its settings are checked as those of a plan are, so that a flaw in one is found before the
/// server is asked. But it is no plan: a conversation brings messages of its own, and no run can be
/// made of it. The pool of the run that follows is made of the same settings ([`Self::into_pool`]).
#[derive(Clone, Debug)]
pub struct Inquiry {
    pool: Pool,
}

impl Inquiry {
    /// The way that a pool's first request goes.
    ///
    /// # Errors
    /// Everything that is wrong with the pool or the generator.
    pub fn new(pool: Pool, generator: Generator) -> Result<Self, Vec<Flaw>> {
        let mut parts = PlanParts {
            pools: vec![pool],
            generator,
            thresholds: Vec::new(),
        };
        let flaws = check::check(&parts);
        match flaws.is_empty() {
            true => Ok(Self {
                pool: parts.pools.swap_remove(0),
            }),
            false => Err(flaws),
        }
    }

    /// The pool.
    #[must_use]
    pub const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The request, whose URL is the server's.
    #[must_use]
    pub fn request(&self) -> &HttpRequest {
        // A pool without requests was refused.
        &self.pool.requests[0]
    }

    /// The first setting that could take the inquiry to another server than that of its URL.
    #[must_use]
    pub fn detour(&self) -> Option<Detour> {
        detour::of_pool(&self.pool)
    }

    /// The pool, to make that of the run.
    #[must_use]
    pub fn into_pool(self) -> Pool {
        self.pool
    }
}
