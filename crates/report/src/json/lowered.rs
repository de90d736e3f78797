//! The lowered plan in the contract: keys in the plan's order, secrets masked.
//!
//! The keys are those of [`crate::lowered`]. A map of texts rather than typed fields, since a plan
//! gains keys faster than a contract can.

use crate::lowered::settings;
use crate::secret;
use drumfire_measure::RunInfo;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// Keys with their values. A key that the plan has once has a text; one that it has more often
/// (headers, thresholds) has a list.
pub(super) struct LoweredPlan<'a>(pub(super) &'a RunInfo);

impl Serialize for LoweredPlan<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let settings = settings(self.0);
        for (index, setting) in settings.iter().enumerate() {
            let key = &setting.key;
            if settings[..index].iter().any(|earlier| earlier.key == *key) {
                continue;
            }
            let same = settings.iter().filter(|other| other.key == *key);
            let values: Vec<_> = same
                .map(|other| secret::setting(key, &other.text))
                .collect();
            match values.as_slice() {
                [only] => map.serialize_entry(key, only)?,
                several => map.serialize_entry(key, several)?,
            }
        }
        map.end()
    }
}
