//! An event, and the end of a stream.

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The type; `message` if the server sent none.
    pub kind: &'a str,
    /// The data: the values of all `data` fields, joined by LF.
    pub data: &'a str,
    /// The last id of the stream, which a later event without an `id` field keeps; empty if there
    /// was none.
    pub id: &'a str,
    /// The stream's last reconnection time, in milliseconds.
    pub retry: Option<u64>,
    /// The stamp of the slice that completed the data. The slice has the end of the last data line,
    /// or ends directly after a JSON object that is all of the data, if the end of the line came
    /// later. The empty line that dispatches the event may come later, too.
    pub stamp: u64,
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// After an event, a comment or nothing.
    Whole,
    /// After an event without its empty line, whose data is `[DONE]` or a JSON object. The event
    /// counts, although the standard discards it.
    Forgiven,
    /// Within an event, which is discarded.
    Cut,
}

/// An event or a line is longer than the reader's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Whether data marks the end of a stream, by the convention of servers of language models:
/// `[DONE]`, with or without blanks around it.
#[must_use]
pub fn is_done(data: &str) -> bool {
    data.trim_ascii() == "[DONE]"
}
