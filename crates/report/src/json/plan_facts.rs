//! The facts of a plan in the contract: keys in the plan's order, secrets masked.
//!
//! The keys are those of [`plan_facts`]. A map of texts rather than typed fields, since a plan gains
//! keys faster than a contract can.

use drumfire_compare::plan_facts;
use drumfire_measure::RunInfo;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// Keys with their values: a text, or a list for a key that the plan has more than once (headers,
/// thresholds).
pub(super) struct PlanFacts<'a>(pub(super) &'a RunInfo);

impl Serialize for PlanFacts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, texts) in plan_facts::texts(self.0) {
            match texts.as_slice() {
                [only] => map.serialize_entry(&key, only)?,
                several => map.serialize_entry(&key, several)?,
            }
        }
        map.end()
    }
}
