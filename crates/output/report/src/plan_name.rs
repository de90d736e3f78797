//! The user's name for a plan, as every output shows it.

use crate::secret;

/// The name without secrets; `None` if the plan has no name.
pub(crate) fn plan_name(name: Option<&str>) -> Option<String> {
    let name = secret::setting("", name?.trim());
    (!name.is_empty()).then_some(name)
}
