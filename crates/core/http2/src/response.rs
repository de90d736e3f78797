//! Checks the fields of a response (RFC 9113 section 8), and interprets them.
//!
//! The decoder passes fields one by one, in the middle of a block; the first mistake is noted and
//! the rest of the block is still read, because the decoder has to process it. A mistake makes the
//! message malformed and resets its stream, never the connection. A response that passes can be
//! used without further checks: names are tokens in lower case, values have no control characters,
//! and the framing follows from the verdict alone.

use crate::head::{is_name_byte, is_value};
use crate::headers::{self, Headers};
use crate::{LimitKind, Limits, StreamError};

/// The role of a header block in its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A head, interim or final.
    Head,
    Trailers,
}

/// The part of a header block that matters to the framing of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// 0 in trailers.
    pub(crate) status: u16,
    pub(crate) content_length: Option<u64>,
}

/// The fields of one header block as they are decoded, checked one by one.
#[derive(Debug)]
pub(crate) struct Fields {
    list: Vec<u8>,
    role: Role,
    status: Option<u16>,
    content_length: Option<u64>,
    /// Whether a regular field has come, that means any field except a pseudo-field.
    regular: bool,
    count: u32,
    /// RFC 9113 section 6.5.2: names, values and 32 for each field.
    size: usize,
    /// The first mistake; no field is kept after it.
    problem: Option<StreamError>,
}

/// The cost of a field in addition to its text.
const FIELD_BYTES: usize = 32;
/// A list that has grown beyond this is returned to the system.
const LIST_BYTES: usize = 8 * 1024;

/// Whether each byte may occur in a name, as a table: one load for each byte of each name.
static NAME_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = is_name_byte(byte as u8);
        byte += 1;
    }
    table
};

impl Fields {
    pub(crate) const fn new() -> Self {
        Self {
            list: Vec::new(),
            role: Role::Head,
            status: None,
            content_length: None,
            regular: false,
            count: 0,
            size: 0,
            problem: None,
        }
    }

    /// Starts with another header block.
    pub(crate) fn start_block(&mut self, role: Role) {
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        list.shrink_to(LIST_BYTES);
        *self = Self {
            list,
            role,
            ..Self::new()
        };
    }

    /// The fields without `:status`.
    pub(crate) fn headers(&self) -> Headers<'_> {
        Headers::new(&self.list)
    }

    pub(crate) fn list(&self) -> &[u8] {
        &self.list
    }

    /// Handles the next field. It must be called with every field of the block, even after a
    /// problem.
    #[inline]
    pub(crate) fn note(&mut self, name: &[u8], value: &[u8], limits: &Limits) {
        if self.problem.is_none()
            && let Err(problem) = self.judge(name, value, limits)
        {
            self.problem = Some(problem);
        }
    }

    /// The meaning of the block, once it contains all fields.
    pub(crate) fn verdict(&self) -> Result<Verdict, StreamError> {
        match (self.problem, self.role, self.status) {
            (Some(problem), ..) => Err(problem),
            (None, Role::Head, None) => Err(StreamError::malformed("no :status")),
            (None, _, status) => Ok(Verdict {
                status: status.unwrap_or_default(),
                content_length: self.content_length,
            }),
        }
    }

    fn judge(&mut self, name: &[u8], value: &[u8], limits: &Limits) -> Result<(), StreamError> {
        self.size += name.len() + value.len() + FIELD_BYTES;
        if self.size > limits.head_bytes as usize {
            return Err(StreamError::Limit(LimitKind::Head));
        }
        if name.first() == Some(&b':') {
            return self.pseudo(name, value);
        }
        self.regular = true;
        self.count += 1;
        if self.count > limits.header_count {
            return Err(StreamError::Limit(LimitKind::HeaderCount));
        }
        if name.is_empty() || !name.iter().all(|&byte| NAME_BYTES[usize::from(byte)]) {
            return Err(StreamError::malformed(
                "field name with a forbidden character",
            ));
        }
        if !is_value(value) {
            return Err(StreamError::malformed(
                "field value with a forbidden character",
            ));
        }
        self.special(name, value)?;
        headers::push(&mut self.list, name, value);
        Ok(())
    }

    /// Checks a pseudo-field (RFC 9113 section 8.3).
    fn pseudo(&mut self, name: &[u8], value: &[u8]) -> Result<(), StreamError> {
        if self.role == Role::Trailers {
            return Err(StreamError::malformed("pseudo-field in trailers"));
        }
        if self.regular {
            return Err(StreamError::malformed("pseudo-field after other fields"));
        }
        if name != b":status" {
            return Err(StreamError::malformed(
                "pseudo-field not allowed in a response",
            ));
        }
        if self.status.is_some() {
            return Err(StreamError::malformed("two :status"));
        }
        // The caller checks the range of the number to see whether it is a valid status.
        if value.is_empty() || value.len() > 3 || !value.iter().all(u8::is_ascii_digit) {
            return Err(StreamError::malformed(":status that is not three digits"));
        }
        let digit = |status: u16, &byte: &u8| status * 10 + u16::from(byte - b'0');
        self.status = Some(value.iter().fold(0, digit));
        Ok(())
    }

    /// Checks fields that affect the framing (RFC 9113 section 8.2.2, RFC 9110 section 8.6).
    #[inline]
    fn special(&mut self, name: &[u8], value: &[u8]) -> Result<(), StreamError> {
        match name {
            b"content-length" => {
                let length =
                    number(value).ok_or(StreamError::malformed("malformed content-length"))?;
                match self.content_length.replace(length) {
                    None => Ok(()),
                    Some(_) => Err(StreamError::malformed("two content-length")),
                }
            }
            b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding"
            | b"upgrade" => Err(StreamError::malformed(
                "connection-specific field of HTTP/1",
            )),
            b"te" if value != b"trailers" => Err(StreamError::malformed("te other than trailers")),
            _ => Ok(()),
        }
    }
}

/// The value of a text that contains only digits.
fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}
