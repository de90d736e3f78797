//! Failures and their details: counts are exact, texts are bounded.
//!
//! A table has at most [`MESSAGES`] texts, since a server could fill any other. A failure whose
//! text finds no room counts with its outcome all the same, under the outcome's own words.

use crate::form;
use crate::{Blame, Outcome, OutcomeCounts};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

/// The most distinct messages that are kept, over all outcomes.
pub const MESSAGES: usize = 64;

/// The most bytes of a message that are kept.
pub const MESSAGE_BYTES: usize = 200;

/// A cause of a failure that its outcome leaves open. Its remedy differs from that of the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// drumfire itself found the mistake in a reply: the outcome has the name of a code that the
    /// server did not send.
    Found,
    /// The server requested a client certificate, and there was none.
    NoCertificate,
    /// TLS ended without the alert that alone ends a body without a length.
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
    /// The cause of a failure that another one with this cause led to.
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
/// It prints as reports show it: after the finder, if that was drumfire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The words, which may be a server's.
    pub text: String,
    /// The cause, if drumfire knows it.
    pub cause: Option<Cause>,
}

form! { struct Detail { text, cause } }

impl Detail {
    /// Words with their cause.
    #[must_use]
    pub fn new(text: impl Into<String>, cause: Option<Cause>) -> Self {
        let text = text.into();
        Self { text, cause }
    }

    /// The detail with its text replaced by what `rewrite` returns for it.
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
    /// Their kind; its name is stable.
    pub outcome: Outcome,
    /// The detail, or [`Outcome::words`] for all that had none or whose detail was over the bound.
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
/// of the set of messages alone. Rank the messages of each kind (outcome and cause) alphabetically,
/// take all first ones, then all second ones and so on (within a round by kind) and stop at the
/// bound. A
/// message that makes it in the whole also makes it in every part, where fewer compete with it: it
/// was never evicted, so its count is exact. One that does not is counted by its outcome only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorTable {
    messages: BTreeMap<Kind, BTreeMap<Box<str>, u64>>,
    len: usize,
}

impl ErrorTable {
    /// Counts one failure's detail. Allocates for a new message only.
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

    /// Removes the last message by the order above: the alphabetically last one of the last kind
    /// with the most messages.
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
            // A part that never had the kind has no entry for it: the order would show.
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

    /// Appends a message after all others, for decoders. Returns `false`, and takes nothing, for a
    /// message that recording and merging can't have left there: one out of order, too long, not
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

    /// Replaces each message by what `rewrite` returns for it. Messages that become the same are
    /// counted together.
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

    /// One row per message, and one per outcome for its failures without a message of their own;
    /// the most frequent first, equals by outcome and message.
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
