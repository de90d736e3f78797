//! A server that is contacted before a run, for instance to fetch its schema.

use super::check::{self, Flaw};
use super::detour::{self, Detour};
use super::{Generator, PlanParts};
use crate::{HttpRequest, Pool};

/// The description of a server that is contacted before a run: a pool with one request, which has
/// no message.
///
/// Its settings are checked like a plan's, so that flaws are found before the server is contacted.
/// But an inquiry is not a plan: the conversation supplies the messages, and an inquiry cannot be
/// run. The pool of the subsequent run is made of the same settings ([`Self::into_pool`]).
#[derive(Clone, Debug)]
pub struct Inquiry {
    pool: Pool,
}

impl Inquiry {
    /// The inquiry for a pool's first request.
    ///
    /// # Errors
    /// All mistakes in the pool or the generator.
    pub fn new(pool: Pool, generator: Generator) -> Result<Self, Vec<Flaw>> {
        let mut parts = PlanParts {
            name: None,
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
        // A pool without requests was rejected.
        &self.pool.requests[0]
    }

    /// The first setting that could direct the inquiry to a server other than the URL's.
    #[must_use]
    pub fn detour(&self) -> Option<Detour> {
        detour::of_pool(&self.pool)
    }

    /// The pool, to make the pool of the run.
    #[must_use]
    pub fn into_pool(self) -> Pool {
        self.pool
    }
}
