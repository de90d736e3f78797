//! The baseline that a run is compared with: found and judged before the load, compared behind it.

use super::stored::{find, read};
use super::tags;
use crate::exit::Failure;
use crate::output::Output;
use drumfire_compare::{Against, Baseline};
use drumfire_document::{Outputs, Text};
use drumfire_measure::{RunInfo, Summary};
use drumfire_session::{Observer, SessionError};

/// The prefix of a run that is named by a tag.
const TAG: &str = "tag:";

/// The baseline that outputs name.
///
/// # Errors
/// When there is no such run, or its figures are no measure; the text names the flag.
pub(super) fn of(outputs: &Outputs, output: &Output) -> Result<Option<Baseline>, Failure> {
    outputs
        .baseline
        .as_ref()
        .map(|named| load(named, output))
        .transpose()
}

fn load(named: &Text, output: &Output) -> Result<Baseline, Failure> {
    let at = |failure: Failure| Failure {
        message: format!("{}: {}", named.place, failure.message),
        ..failure
    };
    let path = match named.value.strip_prefix(TAG) {
        // Of several runs with the tag the newest one.
        Some(tag) => tags::newest(tag, output),
        None => find(&named.value),
    };
    let run = path.and_then(|path| read(&path)).map_err(at)?;
    Baseline::new(run).map_err(|why| at(Failure::usage(why)))
}

/// Refuses a run that can't be compared with its baseline, before anything is sent.
pub(super) struct BaselineCheck(pub(super) Baseline);

impl Observer for BaselineCheck {
    fn open(&mut self, info: &mut RunInfo) -> Result<(), SessionError> {
        let checked = self.0.check(info);
        checked.map_err(|why| SessionError::Refused(format!("--baseline: {why}")))
    }
}

/// The run beside its baseline. One that can't be compared is a remark: its report stands.
pub(super) fn against(
    baseline: Option<&Baseline>,
    summary: &Summary,
    output: &Output,
) -> Option<Against> {
    match baseline?.against(summary) {
        Ok(against) => Some(against),
        Err(why) => {
            output.complain(&format!("can't compare with the baseline: {why}"));
            None
        }
    }
}
