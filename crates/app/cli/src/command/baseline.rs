//! The baseline of a run: found and checked before the load, and compared with the run afterwards.

use super::stored::{find, read};
use super::tags;
use crate::exit::Failure;
use crate::output::Output;
use drumfire_compare::{Against, Baseline};
use drumfire_document::{Outputs, Text};
use drumfire_measure::{RunInfo, Summary};
use drumfire_session::{Observer, SessionError};

/// The prefix of a run that is given by its tag.
const TAG: &str = "tag:";

/// The baseline that the outputs select.
///
/// # Errors
/// If the run does not exist or its figures cannot be compared. The message contains the flag.
pub(super) fn read_baseline(
    outputs: &Outputs,
    output: &Output,
) -> Result<Option<Baseline>, Failure> {
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
        // The newest of the runs with the tag.
        Some(tag) => tags::newest(tag, output),
        None => find(&named.value),
    };
    let run = path.and_then(|path| read(&path)).map_err(at)?;
    Baseline::new(run).map_err(|why| at(Failure::usage(why)))
}

/// Rejects a run that cannot be compared with its baseline, before anything is sent.
pub(super) struct BaselineCheck(pub(super) Baseline);

impl Observer for BaselineCheck {
    fn open(&mut self, info: &mut RunInfo) -> Result<(), SessionError> {
        let checked = self.0.check(info);
        checked.map_err(|why| SessionError::Refused(format!("--baseline: {why}")))
    }
}

/// The comparison of the run with its baseline. If the runs cannot be compared, the user gets a
/// remark and the report stays valid.
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
