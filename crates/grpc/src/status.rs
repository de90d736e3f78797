//! How a call ended.

use crate::{Code, Violation, metadata, percent};

/// The longest message of a status that is kept, in bytes of UTF-8.
pub(crate) const MESSAGE_BYTES: usize = 8 * 1024;
/// The longest `grpc-status-details-bin` that is kept, in bytes of base64.
const DETAILS_BYTES: usize = 64 * 1024;

/// How a call ended: the server's status, or the one that its reply amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The code.
    pub code: Code,
    /// The mistake in the reply, when the status is not the server's own.
    pub violation: Option<Violation>,
    /// The server's words, percent-decoded, never empty, at most 8 KiB. They are the peer's:
    /// escape them before they are shown. `None` when the code is OK.
    pub message: Option<Box<str>>,
    /// The encoded `google.rpc.Status` of `grpc-status-details-bin`, if it was base64 and at most
    /// 64 KiB of that. `None` when the code is OK.
    pub details: Option<Box<[u8]>>,
}

impl Status {
    /// The server's status for success.
    pub const OK: Self = Self::of_code(Code::OK);

    /// A status without words.
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

/// The status fields of a trailer block. Fields are looked at once, and copied only when the call
/// failed.
#[derive(Debug, Default)]
pub(crate) struct StatusFields<'h> {
    /// The first that is not OK, else OK, else nothing (the protocol does not define two of them;
    /// success is never concluded from contradiction).
    code: Option<Result<Code, Violation>>,
    message: &'h [u8],
    details: &'h [u8],
    malformed: bool,
}

impl<'h> StatusFields<'h> {
    /// Takes the next field.
    pub(crate) fn take(&mut self, name: &[u8], value: &'h [u8]) {
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

    /// Whether there was a grpc-status.
    pub(crate) fn is_present(&self) -> bool {
        self.code.is_some()
    }

    /// Whether the call failed by the server's own status.
    pub(crate) fn is_failure(&self) -> bool {
        self.code.is_some_and(|code| code != Ok(Code::OK))
    }

    /// Whether there are fields that can't be metadata.
    pub(crate) fn is_malformed(&self) -> bool {
        self.malformed
    }

    /// The status that the fields spell.
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

/// `1*DIGIT`; numbers beyond the list are UNKNOWN, as the list of codes asks.
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
