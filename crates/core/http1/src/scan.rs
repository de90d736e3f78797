//! The strict line-by-line reader of heads, which decides on everything that the fast reader
//! leaves.
//!
//! A scan can stop anywhere and continue with more bytes, and its verdict does not depend on how
//! they arrive: it checks a line once it is complete, and a CR without its LF as soon as it is read.
//!
//! ```text
//!            empty lines                    no field yet            any field
//!               ┌──┐                          │                       ┌──┐
//!            ┌──┴──▼─┐   status line   ┌──────▼─────┐   field    ┌────┴──▼┐
//!   start ──►│ Start ├────────────────►│ FirstField ├───────────►│ Fields │
//!            └───┬───┘                 └──────┬─────┘            └───┬────┘
//!                │ not HTTP                   │ empty line           │ empty line
//!                ▼                            ▼                      ▼
//!              error                         the head's end, if the reason phrase is right
//! ```

use crate::{Error, Limits, Notice, Notices, sniff};

/// Which part of a head the scan has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    FirstField,
    Fields,
}

/// The state of a scan over one head. It stores no bytes: the caller passes the head so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    /// The start of the first line that has not been checked.
    line: usize,
    /// How far the end of that line has been searched for.
    searched: usize,
    count: u32,
    pub(crate) status: u16,
    pub(crate) minor: u8,
    pub(crate) notices: Notices,
    place: Place,
    bad_reason: bool,
}

impl Scan {
    /// Continues with `head`, which begins as in the earlier calls and may have grown. Returns the
    /// head's length if it is complete.
    pub(crate) fn advance(&mut self, head: &[u8], limits: &Limits) -> Result<Option<usize>, Error> {
        let limit = limits.head_bytes as usize;
        let window = &head[..head.len().min(limit)];
        while let Some(end) = self.next_line(window)? {
            let line = self.line..end - 1;
            (self.line, self.searched) = (end, end);
            if self.judge(&window[line], limits)? {
                return if self.bad_reason {
                    Err(Error::Reason)
                } else {
                    Ok(Some(end))
                };
            }
        }
        if head.len() > limit {
            Err(Error::LimitHead)
        } else {
            Ok(None)
        }
    }

    /// The error for a stream that ends in this head.
    pub(crate) fn ended(&self, head: &[u8]) -> Error {
        if self.place == Place::Start && is_foreign(&head[self.line..]) {
            return sniff::judge_ended(&head[self.line..]);
        }
        Error::ClosedInHead
    }

    /// The end of the line that begins at `self.line`, directly after its LF.
    fn next_line(&mut self, window: &[u8]) -> Result<Option<usize>, Error> {
        if self.place == Place::Start && is_foreign(&window[self.line..]) {
            return sniff::judge(&window[self.line..]).map_or(Ok(None), Err);
        }
        let is_end = |&byte: &u8| byte == b'\n' || byte == b'\r';
        if let Some(step) = window[self.searched..].iter().position(is_end) {
            let at = self.searched + step;
            match (window[at], window.get(at + 1)) {
                (b'\n', _) => return Ok(Some(at + 1)),
                (_, Some(b'\n')) => return Ok(Some(at + 2)),
                (_, Some(_)) => return Err(Error::BareCr),
                // A CR at the end of the input: the next byte decides, once it has arrived.
                (_, None) => {}
            }
        }
        self.searched = if window.last() == Some(&b'\r') {
            window.len() - 1
        } else {
            window.len()
        };
        Ok(None)
    }

    /// Checks a line without its LF; returns whether it ends the head.
    fn judge(&mut self, line: &[u8], limits: &Limits) -> Result<bool, Error> {
        let line = line.strip_suffix(b"\r").unwrap_or_else(|| {
            self.notices.insert(Notice::BareLf);
            line
        });
        match (self.place, line.first()) {
            (Place::Start, None) => self.notices.insert(Notice::EmptyLine),
            (Place::Start, Some(_)) => {
                self.judge_status_line(line)?;
                self.place = Place::FirstField;
            }
            (_, None) => return Ok(true),
            (Place::FirstField, Some(b' ' | b'\t')) => return Err(Error::Header),
            (Place::Fields, Some(b' ' | b'\t')) => {
                check_value(line)?;
                self.notices.insert(Notice::ObsFold);
            }
            (_, Some(_)) => {
                check_field(line)?;
                self.place = Place::Fields;
                self.count += 1;
                if self.count > limits.header_count {
                    return Err(Error::LimitHeaderCount);
                }
            }
        }
        Ok(false)
    }

    /// RFC 9112 section 4: `HTTP/1.x SP 3DIGIT SP [reason]`, where the last SP may be missing
    /// together with the reason. A bad reason is noted and reported last, because nothing depends
    /// on it.
    fn judge_status_line(&mut self, line: &[u8]) -> Result<(), Error> {
        let [b'H', b'T', b'T', b'P', b'/', major, b'.', minor, rest @ ..] = line else {
            return Err(sniff::wrong_version(line));
        };
        if *major != b'1' || !minor.is_ascii_digit() {
            return Err(sniff::wrong_version(line));
        }
        let status = match rest {
            [] | [b'\t', ..] | [b' '] | [b' ', b' ' | b'\t', ..] => return Err(Error::StatusLine),
            [b' ', status @ ..] => status,
            _ => return Err(sniff::wrong_version(line)),
        };
        let (digits, reason) = match status {
            [a, b, c] => ([a, b, c], &[][..]),
            [a, b, c, b' ', reason @ ..] => ([a, b, c], reason),
            _ => return Err(Error::Status),
        };
        if !digits.iter().all(|digit| digit.is_ascii_digit()) {
            return Err(Error::Status);
        }
        self.status = digits
            .iter()
            .fold(0, |value, &&digit| value * 10 + u16::from(digit - b'0'));
        self.minor = minor - b'0';
        self.bad_reason = !reason.iter().all(|&byte| is_text(byte));
        Ok(())
    }
}

/// Whether a stream can no longer begin with empty lines and `HTTP/`.
fn is_foreign(stream: &[u8]) -> bool {
    const NAME: &[u8] = b"HTTP/";
    let known = stream.len().min(NAME.len());
    !matches!(stream.first(), None | Some(b'\r' | b'\n')) && stream[..known] != NAME[..known]
}

/// RFC 9112 section 5: a token, a colon with no space before it, a value.
fn check_field(line: &[u8]) -> Result<(), Error> {
    let colon = line
        .iter()
        .position(|&byte| byte == b':')
        .ok_or(Error::Header)?;
    if colon == 0 || !line[..colon].iter().all(|&byte| is_token(byte)) {
        return Err(Error::Header);
    }
    check_value(&line[colon + 1..])
}

fn check_value(value: &[u8]) -> Result<(), Error> {
    if value.iter().all(|&byte| is_text(byte)) {
        Ok(())
    } else {
        Err(Error::Header)
    }
}

/// The bytes of a field value and a reason phrase: HTAB, SP, VCHAR, obs-text (RFC 9110 section
/// 5.5).
pub(crate) const fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}

/// The bytes of a token (RFC 9110 section 5.6.2).
pub(crate) const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}
