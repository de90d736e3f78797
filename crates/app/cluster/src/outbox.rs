//! The reports of an agent that the coordinator has not acknowledged.
//!
//! A content is split into pieces that fit into a message. Each piece is a report with a number.
//! All reports stay here until the coordinator has stored them, and an unacknowledged report is
//! sent again after a while.

use crate::envelope::Message as _;
use crate::inbox::CONTENT_BYTES_MAX_KEPT;
use crate::lease::RESEND;
use crate::message::{AgentKey, Assignment, Content, Report};
use crate::redacted::Redacted;
use drumfire_measure::form;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// The maximum size of a piece: by default, a NATS server accepts messages up to 1 MiB.
const PIECE_BYTES: usize = 512 << 10;
/// The maximum number of bytes that wait. Beyond it, the agent gives up because the coordinator is
/// too far behind.
const WAITING_BYTES_MAX: usize = 512 << 20;
/// The maximum number of reports that are sent again at a time.
const RESENT: usize = 16;

/// The reports that are not acknowledged yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    /// The number of the next report.
    made: u64,
    waiting: VecDeque<Waiting>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Waiting {
    report: Report,
    sent: Nanos,
}

impl Outbox {
    /// Splits a content into reports. Returns the messages to send.
    ///
    /// # Errors
    /// The limit that was reached.
    pub(crate) fn add(
        &mut self,
        (to, key): (&Assignment, AgentKey),
        content: &Redacted<Content>,
        now: Nanos,
    ) -> Result<Vec<Vec<u8>>, &'static str> {
        let content = form::encode(content.get());
        if content.len() > CONTENT_BYTES_MAX_KEPT {
            return Err("the results of an interval are larger than 256 MiB");
        }
        self.bytes += content.len();
        if self.bytes > WAITING_BYTES_MAX {
            return Err("too many results are waiting for the coordinator");
        }
        let mut pieces = content.chunks(PIECE_BYTES).peekable();
        let mut messages = Vec::new();
        while let Some(piece) = pieces.next() {
            let report = Report {
                run: to.run.clone(),
                share: to.share,
                epoch: to.epoch,
                key,
                number: self.made,
                is_last: pieces.peek().is_none(),
                piece: piece.to_vec(),
            };
            self.made += 1;
            messages.push(report.encode());
            self.waiting.push_back(Waiting { report, sent: now });
        }
        Ok(messages)
    }

    /// The number of reports made.
    pub(crate) const fn made(&self) -> u64 {
        self.made
    }

    /// Whether all reports are stored.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Drops the reports before this number, which are stored.
    pub(crate) fn acknowledge(&mut self, stored: u64) {
        while let Some(first) = self.waiting.front()
            && first.report.number < stored
        {
            self.bytes -= first.report.piece.len();
            self.waiting.pop_front();
        }
    }

    /// The oldest reports that were not acknowledged in time, to be sent again.
    pub(crate) fn due(&mut self, now: Nanos) -> Vec<Vec<u8>> {
        let due = |waiting: &&mut Waiting| now - waiting.sent >= RESEND;
        let oldest = self.waiting.iter_mut().take(RESENT).filter(due);
        let again = |waiting: &mut Waiting| {
            waiting.sent = now;
            waiting.report.encode()
        };
        oldest.map(again).collect()
    }
}
