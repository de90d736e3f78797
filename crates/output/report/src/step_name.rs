//! The name of a step: for people, and for programs.

use crate::secret;
use drumfire_measure::{PoolInfo, Step, Summary};
use std::sync::Arc;

/// The name of a step without secrets, with the name of its pool if the run has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepName {
    pool: Option<Arc<str>>,
    step: String,
}

impl StepName {
    /// The name of a step of [`Summary::steps`].
    pub(crate) fn from_step(step: &Step) -> Self {
        Self {
            pool: step.pool.clone(),
            step: secret::url(&step.name),
        }
    }

    /// The name of a step of a run's pool.
    pub(crate) fn within(summary: &Summary, pool: &PoolInfo, step: &str) -> Self {
        let has_pools = summary.info.pools.len() > 1;
        Self {
            pool: has_pools.then(|| pool.name.as_str().into()),
            step: secret::url(step),
        }
    }

    /// The name for people: `shop · /basket`.
    pub(crate) fn words(&self) -> String {
        match &self.pool {
            Some(pool) => format!("{pool} · {}", self.step),
            None => self.step.clone(),
        }
    }

    /// The name for programs, as rules have it: `shop//basket`.
    pub(crate) fn path(&self) -> String {
        match &self.pool {
            Some(pool) => format!("{pool}/{}", self.step),
            None => self.step.clone(),
        }
    }
}
