//! The reader of a stream (HTML standard, section 9.2.6, "Interpreting an event stream").

use crate::balance::Balance;
use crate::event::{Ending, Event, TooLong, is_done};
use memchr::{memchr, memchr2};

/// The bytes of a buffer that are kept for the next stream.
const KEPT_BYTES: usize = 16 * 1024;
/// The byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The state of one stream; [`Reader::begin`] reuses it for the next one.
#[derive(Debug)]
pub struct Reader {
    /// The maximum length of a line, and of the data of an event, in bytes.
    limit: usize,
    /// The line that has no end yet.
    line: Line,
    /// Whether the last byte was a CR, which ended its line; an LF after it belongs to the same end.
    after_cr: bool,
    /// Whether no line has ended.
    is_first: bool,
    is_too_long: bool,
    /// The data of the event, each line with an LF; empty if the event has no `data` field yet.
    data: String,
    kind: String,
    id: String,
    retry: Option<u64>,
    /// The stamp of the slice that completed the last data line.
    stamp: u64,
    events: u64,
}

/// The beginning of a line that slices have cut.
#[derive(Debug)]
struct Line {
    bytes: Vec<u8>,
    /// The scan of the value of a `data` field, and the number of scanned bytes.
    balance: Balance,
    scanned: usize,
    /// The length of the line and the stamp, after a slice that ended with a complete object.
    whole: Option<(usize, u64)>,
    /// The stamp of the last slice with a part of the line.
    stamp: u64,
}

impl Line {
    const NEW: Self = Self {
        bytes: Vec::new(),
        balance: Balance::NEW,
        scanned: 0,
        whole: None,
        stamp: 0,
    };

    fn clear(&mut self) {
        self.bytes.clear();
        self.balance = Balance::NEW;
        self.scanned = 0;
        self.whole = None;
    }

    /// Adds the end of a slice. Each byte is scanned once, however small the slices are.
    fn push(&mut self, bytes: &[u8], stamp: u64, is_first: bool) {
        self.bytes.extend_from_slice(bytes);
        self.stamp = stamp;
        let start = match is_first && self.bytes.starts_with(MARK) {
            true => MARK.len(),
            false => 0,
        };
        if let Some(value) = self
            .bytes
            .get(start..)
            .and_then(|line| line.strip_prefix(b"data:"))
        {
            let value_start = self.bytes.len() - value.len();
            self.balance
                .push(&self.bytes[self.scanned.max(value_start)..]);
            self.scanned = self.bytes.len();
            let ends_here = self.bytes.last() == Some(&b'}');
            if ends_here && self.balance.is_complete() {
                self.whole = Some((self.bytes.len(), stamp));
            }
        }
    }

    /// The stamp of the slice that completed the line, whose end came in a slice with this stamp.
    fn completed(&self, stamp: u64) -> u64 {
        match self.whole {
            Some((length, earlier)) if length == self.bytes.len() => earlier,
            _ => stamp,
        }
    }
}

impl Reader {
    /// A reader at the beginning of a stream. A line, and the data of an event, have at most `limit`
    /// bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Line::NEW,
            after_cr: false,
            is_first: true,
            is_too_long: false,
            data: String::new(),
            kind: String::new(),
            id: String::new(),
            retry: None,
            stamp: 0,
            events: 0,
        }
    }

    /// Begins the next stream, with this limit. The memory is kept, except for that of large events.
    pub fn begin(&mut self, limit: usize) {
        self.limit = limit;
        self.line.clear();
        self.line.bytes.shrink_to(KEPT_BYTES);
        (self.after_cr, self.is_first, self.is_too_long) = (false, true, false);
        for text in [&mut self.data, &mut self.kind, &mut self.id] {
            text.clear();
            text.shrink_to(KEPT_BYTES);
        }
        (self.retry, self.stamp, self.events) = (None, 0, 0);
    }

    /// The number of events of the stream.
    #[inline]
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Reads the next bytes of the stream, and passes on each event that they complete.
    ///
    /// # Errors
    /// If a line or an event exceeds the limit, now or earlier; earlier events have been passed on.
    pub fn push(
        &mut self,
        slice: &[u8],
        stamp: u64,
        mut each: impl FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        if self.is_too_long {
            return Err(TooLong);
        }
        let mut rest = slice;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr2(b'\r', b'\n', rest) {
            let (line, tail) = rest.split_at(end);
            self.end_line(line, stamp, &mut each)
                .inspect_err(|TooLong| self.is_too_long = true)?;
            self.after_cr = tail == b"\r";
            let end = if tail.starts_with(b"\r\n") { 2 } else { 1 };
            rest = &tail[end..];
        }
        if rest.is_empty() {
            return Ok(());
        }
        if self.line.bytes.len() + rest.len() > self.limit {
            self.is_too_long = true;
            return Err(TooLong);
        }
        self.line.push(rest, stamp, self.is_first);
        Ok(())
    }

    /// Ends the stream. An event without its empty line is passed on if its data is `[DONE]` or a
    /// JSON object.
    pub fn finish(&mut self, mut each: impl FnMut(Event<'_>)) -> Ending {
        let is_comment = self.line.bytes.starts_with(b":");
        let is_in_line = !self.line.bytes.is_empty() && !is_comment;
        if self.is_too_long {
            return Ending::Cut;
        }
        if is_in_line {
            let stamp = self.line.stamp;
            if self.end_line(b"", stamp, &mut each).is_err() {
                return Ending::Cut;
            }
        }
        let data = self.data.strip_suffix('\n');
        match data {
            Some(data) if is_done(data) || Balance::is_object(data) => {
                self.dispatch(&mut each);
                Ending::Forgiven
            }
            None if !is_in_line && self.kind.is_empty() => Ending::Whole,
            _ => Ending::Cut,
        }
    }

    /// Ends a line, of which `line` is the part in this slice.
    #[inline]
    fn end_line(
        &mut self,
        line: &[u8],
        stamp: u64,
        each: &mut impl FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        if self.line.bytes.len() + line.len() > self.limit {
            return Err(TooLong);
        }
        if self.line.bytes.is_empty() {
            return self.read_line(line, stamp, each);
        }
        let mut kept = std::mem::replace(&mut self.line, Line::NEW);
        kept.bytes.extend_from_slice(line);
        let read = self.read_line(&kept.bytes, kept.completed(stamp), each);
        kept.clear();
        self.line = kept;
        read
    }

    /// Reads a line without its end, completed by a slice with this stamp.
    fn read_line(
        &mut self,
        line: &[u8],
        stamp: u64,
        each: &mut impl FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        let line = match std::mem::take(&mut self.is_first) {
            true => line.strip_prefix(MARK).unwrap_or(line),
            false => line,
        };
        if line.is_empty() {
            self.dispatch(each);
            return Ok(());
        }
        let (name, value) = match memchr(b':', line) {
            None => (line, &b""[..]),
            Some(colon) => (&line[..colon], &line[colon + 1..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                push_text(&mut self.data, value);
                if self.data.len() > self.limit {
                    return Err(TooLong);
                }
                self.data.push('\n');
                self.stamp = stamp;
            }
            b"event" => {
                self.kind.clear();
                push_text(&mut self.kind, value);
            }
            b"id" if memchr(0, value).is_none() => {
                self.id.clear();
                push_text(&mut self.id, value);
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let time = str::from_utf8(value).ok().map(str::parse);
                self.retry = Some(time.and_then(Result::ok).unwrap_or(u64::MAX));
            }
            // A comment has an empty name.
            _ => {}
        }
        Ok(())
    }

    /// Passes the event on that an empty line has ended.
    fn dispatch(&mut self, each: &mut impl FnMut(Event<'_>)) {
        if let Some(data) = self.data.strip_suffix('\n') {
            self.events += 1;
            each(Event {
                kind: match self.kind.as_str() {
                    "" => "message",
                    kind => kind,
                },
                data,
                id: &self.id,
                retry: self.retry,
                stamp: self.stamp,
            });
            self.data.clear();
        }
        self.kind.clear();
    }
}

/// Adds bytes to a text; bytes that are not UTF-8 become U+FFFD, as the Encoding standard decodes
/// them.
fn push_text(text: &mut String, bytes: &[u8]) {
    if let Ok(valid) = str::from_utf8(bytes) {
        text.push_str(valid);
        return;
    }
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
