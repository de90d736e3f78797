//! Failures and their details: counts are exact, texts are bounded.
//!
//! A table has at most [`MESSAGES`] texts, because a server could fill an unbounded one. A failure
//! whose text does not fit still counts with its outcome, under the outcome's description.

use crate::form;
use crate::{Blame, Outcome, OutcomeCounts};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

/// The maximum number of distinct messages, over all outcomes.
pub const MESSAGES: usize = 64;

/// The maximum length of a message in bytes.
pub const MESSAGE_BYTES: usize = 200;

/// A cause of a failure that its outcome does not determine, and that needs a different remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// drumfire itself found the mistake in a reply: the outcome has the name of a code that the
    /// server did not send.
    Found,
    /// The server requested a client certificate, and none was sent.
    NoCertificate,
    /// TLS ended without close_notify, which is required to end a body without a length.
    NoCloseNotify,
    /// Redialing was paused after another failure.
    Paused,
    /// A cause whose text contains the remedy.
    Remedied,
}

form! {
    enum Cause { 0 => Found, 1 => NoCertificate, 2 => NoCloseNotify, 3 => Paused, 4 => Remedied }
}

impl Cause {
    /// The cause for a failure that resulted from a failure with this cause.
    #[must_use]
    pub const fn inherited(self) -> Option<Self> {
        match self {
            Self::NoCertificate | Self::NoCloseNotify | Self::Paused => Some(self),
            Self::Found | Self::Remedied => None,
        }
    }
}

/// The detail of a failure, in addition to its outcome.
///
/// Prints as reports show it: prefixed with the finder, if drumfire found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The text, which may be a server's.
    pub text: String,
    /// The cause, if it is known.
    pub cause: Option<Cause>,
}

form! { struct Detail { text, cause } }

impl Detail {
    /// A text with its cause.
    #[must_use]
    pub fn new(text: impl Into<String>, cause: Option<Cause>) -> Self {
        let text = text.into();
        Self { text, cause }
    }

    /// The detail with its text replaced by the result of `rewrite`.
    #[must_use]
    pub fn with_text(&self, rewrite: &dyn Fn(&str) -> String) -> Self {
        Self::new(rewrite(&self.text), self.cause)
    }
}

impl From<String> for Detail {
    fn from(text: String) -> Self {
        Self::new(text, None)
    }
}

impl From<&str> for Detail {
    fn from(text: &str) -> Self {
        Self::new(text, None)
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.cause == Some(Cause::Found) {
            f.write_str("found by drumfire: ")?;
        }
        f.write_str(&self.text)
    }
}

/// Failures of one kind with one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorRow {
    /// The party to blame.
    pub blame: Blame,
    /// The kind of the failures; its name is stable.
    pub outcome: Outcome,
    /// The detail, or [`Outcome::words`] for all failures without a detail or beyond the bound.
    pub detail: Detail,
    /// The failures with this message.
    pub count: u64,
}

/// A kind of failures whose messages are listed together.
pub(crate) type Kind = (Outcome, Option<Cause>);

/// The last cause in the order of kinds.
const LAST: Option<Cause> = Some(Cause::Remedied);

/// The distinct messages of failures, at most [`MESSAGES`], each with its exact count.
///
/// The kept messages must not depend on the order in which parts are merged, so they are a function
/// of the set of messages alone: sort the messages of each kind (outcome and cause) alphabetically,
/// take all first ones, then all second ones and so on (by kind within a round), and stop at the
/// bound. A message that is kept in the whole is also kept in every part, where fewer compete with
/// it: it was never evicted, so its count is exact. Any other message is counted only by its
/// outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorTable {
    messages: BTreeMap<Kind, BTreeMap<Box<str>, u64>>,
    len: usize,
}

impl ErrorTable {
    /// Counts one failure's detail. Allocates only for a new message.
    pub(crate) fn record(&mut self, kind: Kind, text: &str) {
        self.add(kind, &printable(text), 1);
    }

    fn add(&mut self, kind: Kind, message: &str, count: u64) {
        let messages = self.messages.entry(kind).or_default();
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

    /// Removes the last message in the order above: the alphabetically last message of the last
    /// kind with the most messages.
    fn evict(&mut self) {
        let fullest = self
            .messages
            .iter_mut()
            .max_by_key(|(kind, messages)| (messages.len(), **kind));
        let Some((kind, messages)) = fullest else {
            return;
        };
        messages.pop_last();
        self.len -= 1;
        if messages.is_empty() {
            // Otherwise a part that never had the kind would differ, and the order of merges would
            // show.
            let kind = *kind;
            self.messages.remove(&kind);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (kind, messages) in &other.messages {
            for (message, count) in messages {
                self.add(*kind, message, *count);
            }
        }
    }

    /// Every message in order, with its count.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (Kind, &str, u64)> {
        let messages = self.messages.iter();
        messages.flat_map(|(kind, messages)| {
            let messages = messages.iter();
            messages.map(|(message, count)| (*kind, &**message, *count))
        })
    }

    /// Appends a decoded message after all others. Returns `false`, and changes nothing, for a
    /// message that recording and merging cannot have produced: one out of order, too long, not
    /// printable, without a count, or beyond the bound.
    pub(crate) fn push(&mut self, kind: Kind, message: &str, count: u64) -> bool {
        let last = self.messages.last_key_value();
        let last = last.map(|(kind, messages)| (*kind, messages.last_key_value()));
        let is_next = match last {
            None => true,
            Some((at, _)) if at != kind => at < kind,
            Some((_, last)) => last.is_none_or(|(last, _)| **last < *message),
        };
        let is_kept = *printable(message) == *message && count > 0 && self.len < MESSAGES;
        if is_next && is_kept {
            self.add(kind, message, count);
        }
        is_next && is_kept
    }

    /// Replaces each message by the result of `rewrite`. Equal results are counted together.
    pub(crate) fn rewrite(&mut self, rewrite: &dyn Fn(&str) -> String) {
        let before = std::mem::take(self);
        for (kind, message, count) in before.messages() {
            self.add(kind, &printable(&rewrite(message)), count);
        }
    }

    pub(crate) fn reset(&mut self) {
        self.messages.clear();
        self.len = 0;
    }

    /// One row per message, and one per outcome for its failures without a message; the most
    /// frequent first, rows with equal counts by outcome and message.
    pub(crate) fn rows(&self, outcomes: &OutcomeCounts) -> Vec<ErrorRow> {
        let mut rows = Vec::new();
        for (outcome, count) in outcomes.failures() {
            let Some(blame) = outcome.blame() else {
                continue;
            };
            let row = |text: &str, cause, count| ErrorRow {
                blame,
                outcome,
                detail: Detail::new(text, cause),
                count,
            };
            let mut rest = count;
            for ((_, cause), messages) in self.messages.range((outcome, None)..=(outcome, LAST)) {
                for (message, count) in messages {
                    rest = rest.saturating_sub(*count);
                    rows.push(row(message, *cause, *count));
                }
            }
            if rest > 0 {
                rows.push(row(outcome.words(), None, rest));
            }
        }
        // The sort is stable: equal counts keep the order of the loop above.
        rows.sort_by_key(|row| Reverse(row.count));
        rows
    }
}

/// The first [`MESSAGE_BYTES`] bytes of a text that a server may have chosen, with control
/// characters escaped, so that it fits into a table and cannot move a terminal's cursor.
///
/// Applied before a message is counted, so that two parts with the same message count it under the
/// same text.
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
