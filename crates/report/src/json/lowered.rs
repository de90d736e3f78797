//! The lowered plan in the contract: keys in the plan's order, secrets masked.

use crate::secret;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// Keys with their values. A key that the plan has once has a text, one that it has more often
/// (headers, requests) has a list.
pub(super) struct LoweredPlan<'a>(pub(super) &'a [(String, String)]);

impl Serialize for LoweredPlan<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (index, (key, _)) in self.0.iter().enumerate() {
            if self.0[..index].iter().any(|(earlier, _)| earlier == key) {
                continue;
            }
            let same = self.0.iter().filter(|(other, _)| other == key);
            let values: Vec<_> = same
                .map(|(key, value)| secret::setting(key, value))
                .collect();
            match values.as_slice() {
                [only] => map.serialize_entry(key, only)?,
                several => map.serialize_entry(key, several)?,
            }
        }
        map.end()
    }
}
