//! The plan facts in which the runs of two sides differ, except those for which a comparison is
//! refused. An answer covers all of these differences together.
//!
//! The facts are the settings in the JSON of a run (`run.plan`), so that a stored run and its JSON
//! have the same facts. Thresholds are omitted, because they do not change measurements. The
//! authority of URLs is omitted, because each side shows its target.

use crate::compared::Compared;
use std::collections::{BTreeMap, BTreeSet};

/// The text of a fact that is not in the plan.
const NONE: &str = "none";

/// A fact in which the runs differ.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// The key of the setting, such as `keep_alive`.
    pub key: String,
    /// The texts of the base's runs and of the candidate's runs, without duplicates.
    pub values: [Vec<String>; 2],
}

impl Difference {
    /// The facts in which the sides, or runs of one side, differ, in the order of their keys.
    pub(crate) fn list(base: &[Compared], candidate: &[Compared]) -> Vec<Self> {
        let sides =
            [base, candidate].map(|runs| runs.iter().map(Compared::facts).collect::<Vec<_>>());
        let facts = sides.iter().flatten().flat_map(BTreeMap::keys);
        let keys: BTreeSet<&String> = facts.collect();
        let difference = |key: &String| {
            let values = [0, 1].map(|side: usize| {
                let mut values: Vec<String> = Vec::new();
                for facts in &sides[side] {
                    let value = facts.get(key).map_or(NONE, String::as_str);
                    if !values.iter().any(|other| other == value) {
                        values.push(value.to_owned());
                    }
                }
                values
            });
            let is_same = values[0].len() == 1 && values[0] == values[1];
            (!is_same).then(|| Self {
                key: key.clone(),
                values,
            })
        };
        keys.into_iter().filter_map(difference).collect()
    }
}
