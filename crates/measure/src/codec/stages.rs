//! The stages of a load: their number, then the name and the start of each.
//!
//! Both the facts of a run and a change have them. Their order in time is checked, for stages are
//! found by binary search.

use super::{CodecError, Input, put, put_text};
use drumfire_plan::Stage;
use drumfire_units::Nanos;

/// Appends the stages of a load.
pub(crate) fn encode_stages(stages: &[Stage], out: &mut Vec<u8>) {
    put(out, stages.len() as u64);
    for stage in stages {
        put_text(out, &stage.name);
        put(out, stage.start.0);
    }
}

/// The stages of a load, which begin one after the other.
pub(crate) fn decode_stages(input: &mut Input<'_>) -> Result<Vec<Stage>, CodecError> {
    let stages: Vec<Stage> = input.several(|input| {
        Ok(Stage {
            name: input.text()?.to_owned(),
            start: Nanos(input.number()?),
        })
    })?;
    if !stages.is_sorted_by_key(|stage| stage.start) {
        return Err(CodecError::Malformed("stages are out of order"));
    }
    Ok(stages)
}
