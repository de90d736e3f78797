//! A comparison of a run with a baseline: one pair, checked before the load and compared after it.
//!
//! The targets may differ, because the user chooses the baseline; the comparison then has a
//! caution.

use crate::compared::Compared;
use crate::comparison::{Comparison, Terms, likeness};
use drumfire_measure::{RunInfo, Summary};
use drumfire_plan::secret;
use std::slice;
use std::sync::Arc;

/// The terms of a pair. A pair has no answer, so the least shift has no effect.
const TERMS: Terms = Terms {
    least: 0.02,
    any_target: true,
};

/// A run with which another run will be compared.
#[derive(Clone, Debug)]
pub struct Baseline(Compared);

/// A run compared with its baseline.
#[derive(Debug)]
pub struct Against {
    /// The comparison, with the baseline as its base.
    pub comparison: Comparison,
    baseline: Compared,
}

impl Baseline {
    /// Creates a baseline from a run.
    ///
    /// # Errors
    /// If the run's figures do not measure its target; the text is the reason.
    pub fn new(run: Compared) -> Result<Self, String> {
        likeness::is_sound(&run)?;
        Ok(Self(run))
    }

    /// Checks whether a run with these facts is comparable with the baseline.
    ///
    /// # Errors
    /// If it is not; the text is the difference.
    pub fn check(&self, info: &RunInfo) -> Result<(), String> {
        likeness::is_like(&self.0, &Compared::planned(info), TERMS.any_target)
    }

    /// Compares a completed run with the baseline.
    ///
    /// # Errors
    /// If the runs are not comparable; the text is the reason.
    pub fn against(&self, run: &Summary) -> Result<Against, String> {
        let run = Compared::from_summary(Arc::new(run.clone()));
        let mut comparison =
            Comparison::of_sets(slice::from_ref(&self.0), slice::from_ref(&run), TERMS)?;
        let targets = [&self.0, &run].map(|run| secret::excerpt(&run.summary().info.target));
        if targets[0] != targets[1] {
            let [base, own] = &targets;
            comparison.cautions.insert(
                0,
                format!("The targets differ: {base} in the baseline, {own} in this run."),
            );
        }
        Ok(Against {
            comparison,
            baseline: self.0.clone(),
        })
    }
}

impl Against {
    /// The summary of the baseline.
    #[must_use]
    pub fn baseline(&self) -> &Summary {
        self.baseline.summary()
    }
}
