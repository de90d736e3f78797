//! How a call ended.

use crate::{Code, Violation, metadata, percent};

/// The maximum length of a stored status message, in bytes of UTF-8.
pub(crate) const MESSAGE_BYTES: usize = 8 * 1024;
/// The maximum length of a stored `grpc-status-details-bin`, in bytes of base64.
const DETAILS_BYTES: usize = 64 * 1024;

/// How a call ended: the server's status, or the status to which a faulty reply is mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The code.
    pub code: Code,
    /// The mistake in the reply, if the status is not the server's own.
    pub violation: Option<Violation>,
    /// The server's message, percent-decoded, never empty, at most 8 KiB. It comes from the peer:
    /// escape it before you show it. `None` if the code is OK.
    pub message: Option<Box<str>>,
    /// The encoded `google.rpc.Status` of `grpc-status-details-bin`, if it was base64 of at most 64
    /// KiB. `None` if the code is OK.
    pub details: Option<Box<[u8]>>,
}

impl Status {
    /// The server's status for success.
    pub const OK: Self = Self::of_code(Code::OK);

    /// A status without a message.
    #[must_use]
    pub const fn of_code(code: Code) -> Self {
        Self {
            code,
            violation: None,
            message: None,
            details: None,
        }
    }

    /// Whether the call succeeded.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.code == Code::OK
    }
}

impl From<Violation> for Status {
    fn from(violation: Violation) -> Self {
        Self {
            violation: Some(violation),
            ..Self::of_code(violation.code())
        }
    }
}

/// The status fields of a trailer block. Fields are read once, and copied only if the call failed.
#[derive(Debug, Default)]
pub(crate) struct StatusFields<'h> {
    /// The first that is not OK, else OK, else `None` (the protocol does not define several of
    /// them; contradictory fields never count as success).
    code: Option<Result<Code, Violation>>,
    message: &'h [u8],
    details: &'h [u8],
    malformed: bool,
}

impl<'h> StatusFields<'h> {
    /// Handles the next field.
    pub(crate) fn read_field(&mut self, name: &[u8], value: &'h [u8]) {
        match name {
            b"grpc-status" => {
                if !matches!(self.code, Some(Err(_)))
                    && self.code.is_none_or(|code| code == Ok(Code::OK))
                {
                    self.code = Some(parse_code(value));
                }
            }
            b"grpc-message" => self.message = value,
            b"grpc-status-details-bin" => self.details = value,
            _ => self.malformed |= !metadata::is_valid_received(name, value),
        }
    }

    /// Whether the block contains a grpc-status.
    pub(crate) fn is_present(&self) -> bool {
        self.code.is_some()
    }

    /// Whether the call failed by the server's own status.
    pub(crate) fn is_failure(&self) -> bool {
        self.code.is_some_and(|code| code != Ok(Code::OK))
    }

    /// Whether any fields can't be metadata.
    pub(crate) fn is_malformed(&self) -> bool {
        self.malformed
    }

    /// The status in the fields.
    pub(crate) fn status(&self) -> Status {
        let (code, violation) = match self.code {
            None => (
                Violation::StatusMissing.code(),
                Some(Violation::StatusMissing),
            ),
            Some(Err(violation)) => (violation.code(), Some(violation)),
            Some(Ok(Code::OK)) if self.malformed => return Violation::Metadata.into(),
            Some(Ok(Code::OK)) => return Status::OK,
            Some(Ok(code)) => (code, None),
        };
        let message = percent::decode(self.message, MESSAGE_BYTES);
        let details = match self.details.len() {
            1..=DETAILS_BYTES => metadata::decode_binary(self.details),
            _ => None,
        };
        Status {
            code,
            violation,
            message: (!message.is_empty()).then(|| message.into_boxed_str()),
            details: details.map(Vec::into_boxed_slice),
        }
    }
}

/// `1*DIGIT`; numbers beyond the list are UNKNOWN, as the list of codes requires.
fn parse_code(value: &[u8]) -> Result<Code, Violation> {
    if let [digit @ b'0'..=b'9'] = value {
        return Ok(Code::of_number(digit - b'0').unwrap_or(Code::UNKNOWN));
    }
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Violation::StatusMalformed);
    }
    let number = value.iter().fold(0u8, |number, digit| {
        number.saturating_mul(10).saturating_add(digit - b'0')
    });
    Code::of_number(number).ok_or(Violation::StatusMalformed)
}
