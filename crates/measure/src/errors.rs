//! Failures and their details: counts are exact, texts are bounded.
//!
//! A table has at most [`MESSAGES`] texts, since a server could fill any other. A failure whose
//! text finds no room counts with its outcome all the same, under the outcome's own words.

use crate::{Blame, Outcome, OutcomeCounts};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The most distinct messages that are kept, over all outcomes.
pub const MESSAGES: usize = 64;

/// The most bytes of a message that are kept.
pub const MESSAGE_BYTES: usize = 200;

/// The beginning of the message of a failure that this program itself found in a reply, whose outcome
/// has the name of a code that the server did not send.
pub const FOUND: &str = "found by drumfire: ";

/// A message without [`FOUND`], for those whose words are another program's.
#[must_use]
pub fn bare_message(message: &str) -> &str {
    message.strip_prefix(FOUND).unwrap_or(message)
}

/// The message of a connection that ended before it was used, after a handshake in which the server
/// asked for a certificate.
pub const NO_CERTIFICATE: &str = "the server requested a client certificate, and none was sent";

/// The beginning of the message of a request that waited for the end of a pause before the next dial;
/// the failure that led to the pause follows.
pub const PAUSED: &str = "redialing was paused after ";

/// The message of a response whose end only TLS could show.
pub const NO_CLOSE_NOTIFY: &str = "TLS ended without close_notify";

/// A cause that a failure's message shows and its outcome leaves open. Its remedy is another than
/// that of the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The server asked for a client's certificate, and there was none.
    NoCertificate,
    /// TLS ended without the alert that alone ends a body without a length.
    NoCloseNotify,
    /// Redialing was paused after another failure.
    Paused,
}

impl Cause {
    /// The cause that a message shows, if any.
    #[must_use]
    pub fn of(message: &str) -> Option<Self> {
        let causes = [
            (NO_CERTIFICATE, Self::NoCertificate),
            (NO_CLOSE_NOTIFY, Self::NoCloseNotify),
            (PAUSED, Self::Paused),
        ];
        let mut causes = causes.into_iter();
        causes.find_map(|(text, cause)| message.contains(text).then_some(cause))
    }
}

/// Failures of one kind with one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorRow {
    /// The party to blame.
    pub blame: Blame,
    /// Their kind; its name is stable.
    pub outcome: Outcome,
    /// The detail, or [`Outcome::words`] for all that had none or whose detail was over the bound.
    pub message: String,
    /// The failures with this message.
    pub count: u64,
}

/// The distinct messages of failures, at most [`MESSAGES`], each with its exact count.
///
/// The kept messages must not depend on the order in which parts are merged, so they are a function
/// of the set of messages alone. Rank the messages of each outcome alphabetically, take all first
/// ones, then all second ones and so on (within a round by outcome) and stop at the bound. A
/// message that makes it in the whole also makes it in every part, where fewer compete with it: it
/// was never evicted, so its count is exact. One that does not is counted by its outcome only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorTable {
    messages: BTreeMap<Outcome, BTreeMap<Box<str>, u64>>,
    len: usize,
}

impl ErrorTable {
    /// Counts one failure's detail. Allocates for a new message only.
    pub(crate) fn record(&mut self, outcome: Outcome, detail: &str) {
        self.add(outcome, &printable(detail), 1);
    }

    fn add(&mut self, outcome: Outcome, message: &str, count: u64) {
        let messages = self.messages.entry(outcome).or_default();
        if let Some(known) = messages.get_mut(message) {
            *known = known.saturating_add(count);
            return;
        }
        messages.insert(message.into(), count);
        self.len += 1;
        if self.len > MESSAGES {
            self.evict();
        }
    }

    /// Removes the last message by the order above: the alphabetically last one of the outcome that
    /// has the most; of several such, of the outcome that is last in the list.
    fn evict(&mut self) {
        let fullest = self
            .messages
            .iter_mut()
            .max_by_key(|(outcome, messages)| (messages.len(), **outcome));
        let Some((outcome, messages)) = fullest else {
            return;
        };
        messages.pop_last();
        self.len -= 1;
        if messages.is_empty() {
            // A part that never had the outcome has no entry for it: the order would show.
            let outcome = *outcome;
            self.messages.remove(&outcome);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (outcome, messages) in &other.messages {
            for (message, count) in messages {
                self.add(*outcome, message, *count);
            }
        }
    }

    /// Every message in order, with its count.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (Outcome, &str, u64)> {
        let messages = self.messages.iter();
        messages.flat_map(|(outcome, messages)| {
            let messages = messages.iter();
            messages.map(|(message, count)| (*outcome, &**message, *count))
        })
    }

    /// Appends a message behind all others, for decoders. Returns `false`, and takes nothing, for a
    /// message that recording and merging can't have left there: one out of order, too long, not
    /// printable, without a count, or beyond the bound.
    pub(crate) fn push(&mut self, outcome: Outcome, message: &str, count: u64) -> bool {
        let last = self.messages.last_key_value();
        let last = last.map(|(outcome, messages)| (*outcome, messages.last_key_value()));
        let is_behind = match last {
            None => true,
            Some((at, _)) if at != outcome => at < outcome,
            Some((_, last)) => last.is_none_or(|(last, _)| **last < *message),
        };
        let is_kept = *printable(message) == *message && count > 0 && self.len < MESSAGES;
        if is_behind && is_kept {
            self.add(outcome, message, count);
        }
        is_behind && is_kept
    }

    /// Replaces each message by what `rewrite` returns for it. Messages that become the same are
    /// counted together.
    pub(crate) fn rewrite(&mut self, rewrite: &dyn Fn(&str) -> String) {
        let before = std::mem::take(self);
        for (outcome, message, count) in before.messages() {
            self.add(outcome, &printable(&rewrite(message)), count);
        }
    }

    pub(crate) fn reset(&mut self) {
        self.messages.clear();
        self.len = 0;
    }

    /// One row per message, and one per outcome for its failures without a message of their own;
    /// the most frequent first, equals by outcome and message.
    pub(crate) fn rows(&self, outcomes: &OutcomeCounts) -> Vec<ErrorRow> {
        let mut rows = Vec::new();
        for (outcome, count) in outcomes.failures() {
            let Some(blame) = outcome.blame() else {
                continue;
            };
            let row = |message: &str, count| ErrorRow {
                blame,
                outcome,
                message: message.to_owned(),
                count,
            };
            let mut rest = count;
            for (message, count) in self.messages.get(&outcome).into_iter().flatten() {
                rest = rest.saturating_sub(*count);
                rows.push(row(message, *count));
            }
            if rest > 0 {
                rows.push(row(outcome.words(), rest));
            }
        }
        // A stable sort: equals keep the order of the loop above.
        rows.sort_by_key(|row| Reverse(row.count));
        rows
    }
}

/// The first [`MESSAGE_BYTES`] bytes of a text that a server may have chosen, with control
/// characters escaped, so that it can stand in a table and can't move a terminal's cursor.
///
/// It is applied before a message is counted, not when it is shown: then two parts that saw the
/// same message count it under the same text.
fn printable(detail: &str) -> Cow<'_, str> {
    let cut = &detail[..detail.floor_char_boundary(MESSAGE_BYTES)];
    if !cut.contains(char::is_control) {
        return Cow::Borrowed(cut);
    }
    let mut escaped = String::with_capacity(cut.len() * 2);
    for c in cut.chars() {
        if c.is_control() {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    escaped.truncate(escaped.floor_char_boundary(MESSAGE_BYTES));
    Cow::Owned(escaped)
}
