//! The series of a pool's figures, for which memory is allocated before recording begins.
//!
//! The engine takes the series from the plan, a decoder from the facts of a run. Both produce the
//! same [`crate::Figures`], which is why intervals can be read only with those facts.

use crate::PoolInfo;
use std::sync::Arc;

/// The series of one pool, for which its figures allocate memory.
#[derive(Clone, Copy, Debug)]
pub struct PoolSeries<'a> {
    /// The distinct names of its steps.
    pub steps: &'a [Arc<str>],
    /// Whether iterations are counted and timed separately from requests.
    pub iterations: bool,
    /// The names of its scenarios, if there are several.
    pub scenarios: &'a [Arc<str>],
}

impl<'a> From<&'a PoolInfo> for PoolSeries<'a> {
    fn from(pool: &'a PoolInfo) -> Self {
        Self {
            steps: &pool.steps,
            iterations: pool.iterations,
            scenarios: &pool.scenarios,
        }
    }
}

/// The series of these steps, for iterations of one request.
impl<'a> From<&'a [Arc<str>]> for PoolSeries<'a> {
    fn from(steps: &'a [Arc<str>]) -> Self {
        Self {
            steps,
            iterations: false,
            scenarios: &[],
        }
    }
}
