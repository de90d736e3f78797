//! The numbers and texts of which messages consist.
//!
//! A number has eight bytes, the least first; a text and a byte string are preceded by their
//! length. Bytes come from another process: what is read is bounded by what is there, and a message
//! ends with its last value.
//!
//! A message begins with [`FORM`] and [`VERSION`], and ends with the CRC-32 of everything before: so
//! bytes of something else are not taken for another version, and one that was altered on its way is
//! not read at all. The checksum finds accidents; who a message is from, its key says.

use std::fmt;

/// The beginning of each message.
const FORM: u64 = u64::from_le_bytes(*b"drumfire");
/// The number of the protocol that is spoken here.
const VERSION: u64 = 5;
/// The last version whose messages began with its number.
const VERSION_BARE: u64 = 4;
/// The bytes of the checksum.
const SUM: usize = 4;

/// Why bytes are no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageError {
    /// They are not a message of drumfire.
    Unknown,
    /// Their checksum differs.
    Altered,
    /// They end within a value.
    Short,
    /// A value that no message has; the text names its place.
    Malformed(&'static str),
    /// They are of another version of the protocol.
    Version(u64),
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("a message of no known form"),
            Self::Altered => f.write_str("the message was altered on its way"),
            Self::Short => f.write_str("the message is truncated"),
            Self::Malformed(what) => write!(f, "malformed: {what}"),
            Self::Version(version) => write!(
                f,
                "the other side uses protocol version {version}, this program version {VERSION}; \
                 run the same drumfire version on all machines"
            ),
        }
    }
}

impl std::error::Error for MessageError {}

/// The beginning of a message.
pub(crate) fn begin() -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, FORM);
    put(&mut out, VERSION);
    out
}

/// A message with its end.
pub(crate) fn seal(mut out: Vec<u8>) -> Vec<u8> {
    let sum = crc32fast::hash(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

/// The values of a message.
pub(crate) fn open(bytes: &[u8]) -> Result<Input<'_>, MessageError> {
    let mut input = Input::new(bytes);
    match input.number() {
        Ok(FORM) => {}
        Ok(version @ 1..=VERSION_BARE) => return Err(MessageError::Version(version)),
        Ok(_) | Err(_) => return Err(MessageError::Unknown),
    }
    match input.number()? {
        VERSION => {}
        other => return Err(MessageError::Version(other)),
    }
    let Input(rest) = input;
    let (_, sum) = bytes.split_last_chunk::<SUM>().ok_or(MessageError::Short)?;
    if crc32fast::hash(&bytes[..bytes.len() - SUM]).to_le_bytes() != *sum {
        return Err(MessageError::Altered);
    }
    let length = rest.len().checked_sub(SUM).ok_or(MessageError::Short)?;
    Ok(Input(&rest[..length]))
}

/// Appends a number.
pub(crate) fn put(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a byte string.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a number that may be missing.
pub(crate) fn put_optional(out: &mut Vec<u8>, value: Option<u64>) {
    put(out, value.is_some().into());
    put(out, value.unwrap_or(0));
}

/// The bytes that are left to read.
#[derive(Debug)]
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn number(&mut self) -> Result<u64, MessageError> {
        let (head, rest) = self.0.split_first_chunk().ok_or(MessageError::Short)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*head))
    }

    /// A number of up to 32 bits.
    pub(crate) fn small(&mut self) -> Result<u32, MessageError> {
        let wrong = |_| MessageError::Malformed("a number has more than 32 bits");
        u32::try_from(self.number()?).map_err(wrong)
    }

    pub(crate) fn flag(&mut self) -> Result<bool, MessageError> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(MessageError::Malformed("a flag that is neither 0 nor 1")),
        }
    }

    pub(crate) fn optional(&mut self) -> Result<Option<u64>, MessageError> {
        let is_there = self.flag()?;
        let value = self.number()?;
        Ok(is_there.then_some(value))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], MessageError> {
        let length = usize::try_from(self.number()?).map_err(|_| MessageError::Short)?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(MessageError::Short)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self) -> Result<String, MessageError> {
        let text = std::str::from_utf8(self.bytes()?);
        let text = text.map_err(|_| MessageError::Malformed("a text is not UTF-8"))?;
        Ok(text.to_owned())
    }

    pub(crate) const fn end(&self) -> Result<(), MessageError> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(MessageError::Malformed("bytes after the last value")),
        }
    }
}
