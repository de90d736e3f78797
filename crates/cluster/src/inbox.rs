//! The reports of one share, in order and each once.

use crate::bytes::MessageError;
use crate::message::{Content, Report};
use std::collections::BTreeMap;

/// The reports that may wait for one before them. Others are dropped, and come again.
const EARLY_MAX: usize = 256;

/// The reports of a share's epoch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inbox {
    /// The number of reports that were taken, in order from the first.
    taken: u64,
    /// Those of them that are in the journal.
    stored: u64,
    early: BTreeMap<u64, Report>,
    /// The content of which the last piece is to come.
    content: Vec<u8>,
}

impl Inbox {
    /// Takes a report; gives those that come next in order, each with the content that it completes.
    ///
    /// # Errors
    /// When a content is none.
    pub(crate) fn take(
        &mut self,
        report: Report,
    ) -> Result<Vec<(Report, Option<Content>)>, MessageError> {
        let is_early = report.number > self.taken;
        if report.number < self.taken || is_early && self.early.len() >= EARLY_MAX {
            return Ok(Vec::new());
        }
        self.early.insert(report.number, report);
        let mut taken = Vec::new();
        while let Some(report) = self.early.remove(&self.taken) {
            self.taken += 1;
            self.content.extend_from_slice(&report.piece);
            let content = match report.is_last {
                true => Some(Content::decode(&std::mem::take(&mut self.content))?),
                false => None,
            };
            taken.push((report, content));
        }
        Ok(taken)
    }

    /// Everything that was taken is in the journal.
    pub(crate) const fn journaled(&mut self) {
        self.stored = self.taken;
    }

    /// The number of reports that are stored.
    pub(crate) const fn stored(&self) -> u64 {
        self.stored
    }
}
