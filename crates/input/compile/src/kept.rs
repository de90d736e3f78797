//! The exchanges of a pool that are passed on in addition to their figures: all samples, and some
//! exchanges in full.
//!
//! Neither has an effect on the measurement. Some outputs also need samples, such as a file of
//! rows: the document then switches samples on for every pool, regardless of this setting.

use crate::scope::{Scope, is_on};
use drumfire_document::Settings;
use drumfire_plan::{Samples, Transcripts};

/// The rule for samples; without the setting, no samples are passed on.
pub(crate) fn samples(settings: &Settings) -> Samples {
    match is_on(&settings.kept.samples) {
        true => Samples::Keep,
        false => Samples::Forget,
    }
}

/// The exchanges that are passed on in full: all, or those with at least a given status. By
/// default, and after a mistake was noted, no exchanges are passed on.
pub(crate) fn transcripts(settings: &Settings, scope: &mut Scope<'_>) -> Transcripts {
    let Some(text) = &settings.kept.transcripts else {
        return Transcripts::None;
    };
    match (text.value.as_str(), text.value.parse()) {
        ("all", _) => Transcripts::Every,
        (_, Ok(status)) => Transcripts::From(status),
        (other, Err(_)) => {
            let shown = other.escape_debug();
            let message = format!("`{shown}` is not a status; write all, or one such as 500");
            scope.found.add(&text.place, message);
            Transcripts::None
        }
    }
}
