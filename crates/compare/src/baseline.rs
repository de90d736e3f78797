//! A run beside a baseline: one pair, which is checked before the load and compared behind it.
//!
//! Targets may differ, since a baseline is named by hand; the comparison then says so.

use crate::compared::Compared;
use crate::comparison::{Comparison, Terms, likeness};
use drumfire_measure::{RunInfo, Summary};
use drumfire_plan::secret;
use std::slice;
use std::sync::Arc;

/// The terms of a pair, which has no answer that a least shift could decide.
const TERMS: Terms = Terms {
    least: 0.02,
    any_target: true,
};

/// A run with which another one is to be compared.
#[derive(Clone, Debug)]
pub struct Baseline(Compared);

/// A run compared with its baseline.
#[derive(Debug)]
pub struct Against {
    /// The comparison, the baseline as its base.
    pub comparison: Comparison,
    baseline: Compared,
}

impl Baseline {
    /// A run as a baseline.
    ///
    /// # Errors
    /// When its figures are no measure of its target; the text says why.
    pub fn new(run: Compared) -> Result<Self, String> {
        likeness::is_sound(&run)?;
        Ok(Self(run))
    }

    /// Whether a run of these facts can be compared with it.
    ///
    /// # Errors
    /// When it can't; the text says what differs.
    pub fn check(&self, info: &RunInfo) -> Result<(), String> {
        likeness::is_like(&self.0, &Compared::planned(info), TERMS.any_target)
    }

    /// A run that has ended, compared with it.
    ///
    /// # Errors
    /// When it can't be compared; the text says why.
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
