//! The reports of one share, in order and each once.

use crate::message::{Content, Report};
use drumfire_measure::form::{self, FormError};
use std::collections::BTreeMap;

/// The maximum number of reports that wait for an earlier one. Others are dropped, and sent again.
const EARLY_MAX: usize = 256;
/// The maximum size of these reports, in bytes.
const EARLY_BYTES_MAX: usize = 32 << 20;
/// The maximum size of a content, such as an interval, in bytes.
pub(crate) const CONTENT_BYTES_MAX: usize = 64 << 20;
/// The maximum size of a content in bytes if the plan keeps samples or exchanges.
pub(crate) const CONTENT_BYTES_MAX_KEPT: usize = 256 << 20;

/// The reports of a share's epoch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inbox {
    /// The number of reports that were taken, in order from the first.
    taken: u64,
    /// The number of taken reports that are in the journal.
    stored: u64,
    early: BTreeMap<u64, Report>,
    early_bytes: usize,
    /// The content whose last piece has not arrived yet.
    content: Vec<u8>,
}

impl Inbox {
    /// Adds a report to those that wait. A report that was already taken is dropped, and so is one
    /// that does not fit: its agent sends it again.
    pub(crate) fn add(&mut self, report: Report) {
        let (size, number) = (report.piece.len(), report.number);
        let is_known = number < self.taken || self.early.contains_key(&number);
        let has_room = self.early.len() < EARLY_MAX && self.early_bytes + size <= EARLY_BYTES_MAX;
        if !is_known && (number == self.taken || has_room) {
            self.early_bytes += size;
            self.early.insert(number, report);
        }
    }

    /// The next report in order, with the content that it completes, of at most `most` bytes;
    /// `None` if the report has not arrived.
    ///
    /// # Errors
    /// If a content is too large or invalid.
    pub(crate) fn next(
        &mut self,
        most: usize,
    ) -> Result<Option<(Report, Option<Content>)>, FormError> {
        let Some(report) = self.early.remove(&self.taken) else {
            return Ok(None);
        };
        self.taken += 1;
        self.early_bytes -= report.piece.len();
        if self.content.len() + report.piece.len() > most {
            self.content = Vec::new();
            return Err(FormError::Malformed("more bytes than a report may have"));
        }
        self.content.extend_from_slice(&report.piece);
        let content = match report.is_last {
            true => Some(form::decode(&std::mem::take(&mut self.content))?),
            false => None,
        };
        Ok(Some((report, content)))
    }

    /// Frees the waiting reports, which will not be taken.
    pub(crate) fn close(&mut self) {
        self.early.clear();
        self.early_bytes = 0;
        self.content = Vec::new();
    }

    /// Confirms that everything taken is in the journal.
    pub(crate) const fn journaled(&mut self) {
        self.stored = self.taken;
    }

    /// The number of reports that were taken.
    pub(crate) const fn taken(&self) -> u64 {
        self.taken
    }

    /// The number of reports that are stored.
    pub(crate) const fn stored(&self) -> u64 {
        self.stored
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::AgentKey;

    fn report(number: u64, is_last: bool, size: usize) -> Report {
        Report {
            run: "r".to_owned(),
            share: 0,
            epoch: 1,
            key: AgentKey::new([0; 16]),
            number,
            is_last,
            piece: vec![0; size],
        }
    }

    /// Pieces that never complete a content use no more memory than one content may.
    #[test]
    fn a_content_without_an_end_is_refused() {
        let mut inbox = Inbox::default();
        let mut held = 0;
        for number in 0..10 {
            inbox.add(report(number, false, 100));
            let next = inbox.next(450);
            held = held.max(inbox.content.capacity());
            assert_eq!(next.is_err(), number % 5 == 4, "{number}");
        }
        assert!(held < 1_000, "{held}");
    }

    /// Reports that wait for one that never arrives are limited in number and in bytes.
    #[test]
    fn reports_that_wait_have_bounds() {
        let mut inbox = Inbox::default();
        (1..1_000).for_each(|number| inbox.add(report(number, true, 10)));
        assert_eq!(inbox.early.len(), EARLY_MAX);
        let mut inbox = Inbox::default();
        (1..100).for_each(|number| inbox.add(report(number, true, 1 << 20)));
        assert_eq!(inbox.early_bytes, EARLY_BYTES_MAX);
        // The report that is waited for always has room.
        let piece = form::encode(&Content::Event(vec![0; 1 << 20]));
        inbox.add(Report {
            piece,
            ..report(0, true, 0)
        });
        assert!(matches!(inbox.next(1 << 21), Ok(Some(_))));
        assert_eq!(inbox.early_bytes, EARLY_BYTES_MAX);
    }
}
