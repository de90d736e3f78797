//! What a pool hands on of its exchanges, beside their figures.

use crate::scope::{Scope, is_on};
use drumfire_document::Settings;
use drumfire_plan::{Samples, Transcripts};

/// Whether every sample is handed on.
pub(crate) fn samples(settings: &Settings) -> Samples {
    match is_on(&settings.kept.samples) {
        true => Samples::Keep,
        false => Samples::Forget,
    }
}

/// The exchanges that are handed on in full.
pub(crate) fn transcripts(settings: &Settings, scope: &mut Scope<'_>) -> Transcripts {
    let Some(text) = &settings.kept.transcripts else {
        return Transcripts::None;
    };
    match (text.value.as_str(), text.value.parse()) {
        ("all", _) => Transcripts::Every,
        (_, Ok(status)) => Transcripts::From(status),
        (other, Err(_)) => {
            let shown = other.escape_default();
            let message = format!("`{shown}` is no status; write all, or one such as 500");
            scope.found.add(&text.place, message);
            Transcripts::None
        }
    }
}
