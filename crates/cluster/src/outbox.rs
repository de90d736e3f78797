//! The reports of an agent that the coordinator has not acknowledged.
//!
//! A content is cut into pieces that fit into a message, each a report with a number of its own.
//! All stay here until the coordinator has stored them; one that is not acknowledged in time is
//! sent again.

use crate::envelope::Message as _;
use crate::inbox::CONTENT_BYTES_MAX_KEPT;
use crate::lease::RESEND;
use crate::message::{AgentKey, Assignment, Content, Report};
use crate::redacted::Redacted;
use drumfire_measure::form;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// The largest piece: a server of NATS takes messages of 1 MiB unless it is told otherwise.
const PIECE_BYTES: usize = 512 << 10;
/// The most bytes that may wait. Beyond them the agent gives up: the coordinator is too far behind.
const WAITING_BYTES_MAX: usize = 512 << 20;
/// The reports that are sent again at a time.
const RESENT: usize = 16;

/// Reports on their way.
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
    /// Reports a content; the messages to send.
    ///
    /// # Errors
    /// The bound that is reached.
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

    /// Whether all of them are stored.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Forgets the reports before this number, which are stored.
    pub(crate) fn acknowledge(&mut self, stored: u64) {
        while let Some(first) = self.waiting.front()
            && first.report.number < stored
        {
            self.bytes -= first.report.piece.len();
            self.waiting.pop_front();
        }
    }

    /// The oldest reports, as far as they were not acknowledged in time, to be sent again.
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
