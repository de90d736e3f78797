//! The exchanges of a pool that are handed on beside their figures: all samples, and some exchanges
//! in full.
//!
//! Neither has an effect on what is measured. Outputs ask for samples too, a file of rows for
//! instance: the whole document then switches them on for every pool, whatever stands here.

use crate::scope::{Scope, is_on};
use drumfire_document::Settings;
use drumfire_plan::{Samples, Transcripts};

/// The rule for samples; none are handed on where nothing was written.
pub(crate) fn samples(settings: &Settings) -> Samples {
    match is_on(&settings.kept.samples) {
        true => Samples::Keep,
        false => Samples::Forget,
    }
}

/// The exchanges that are handed on in full: all of them, or those with a status from a number on.
/// None where nothing was written or where a mistake was noted.
pub(crate) fn transcripts(settings: &Settings, scope: &mut Scope<'_>) -> Transcripts {
    let Some(text) = &settings.kept.transcripts else {
        return Transcripts::None;
    };
    match (text.value.as_str(), text.value.parse()) {
        ("all", _) => Transcripts::Every,
        (_, Ok(status)) => Transcripts::From(status),
        (other, Err(_)) => {
            let shown = other.escape_default();
            let message = format!("`{shown}` is not a status; write all, or one such as 500");
            scope.found.add(&text.place, message);
            Transcripts::None
        }
    }
}
