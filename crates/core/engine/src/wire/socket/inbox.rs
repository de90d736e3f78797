//! The messages of a WebSocket that arrived between two steps.

use crate::limits::{INBOX_BYTES, INBOX_MESSAGES};
use crate::wire::SocketMessage;
use drumfire_measure::Leniencies;
use std::collections::VecDeque;

/// Messages in the order of their arrival, within a limit.
#[derive(Debug, Default)]
pub(super) struct SocketInbox {
    messages: VecDeque<Kept>,
    /// The payload bytes of all messages.
    bytes: usize,
    /// Whether a message was discarded because of the limit.
    is_full: bool,
}

/// A message that was kept.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) kind: drumfire_websocket::Kind,
    pub(super) payload: Box<[u8]>,
    /// The length of the whole message; the payload may be only its beginning.
    pub(super) length: u64,
    pub(super) leniencies: Leniencies,
}

impl SocketInbox {
    /// Keeps a message, unless the inbox is full.
    pub(super) fn push(&mut self, message: &SocketMessage<'_>) {
        let bytes = self.bytes + message.payload.len();
        if self.is_full || self.messages.len() >= INBOX_MESSAGES || bytes > INBOX_BYTES {
            self.is_full = true;
            return;
        }
        self.bytes = bytes;
        self.messages.push_back(Kept {
            kind: message.kind,
            payload: message.payload.into(),
            length: message.length,
            leniencies: message.leniencies,
        });
    }

    /// Takes the oldest message.
    pub(super) fn pop(&mut self) -> Option<Kept> {
        let kept = self.messages.pop_front()?;
        self.bytes -= kept.payload.len();
        Some(kept)
    }

    /// Whether a message was discarded.
    pub(super) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether no message is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}
