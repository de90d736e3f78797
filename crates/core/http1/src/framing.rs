//! The fields that frame a message, and what they mean in combination (RFC 9112 section 6).

use crate::{Error, Notice, Notices};

/// How a request affects the framing of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Neither of the other kinds.
    Normal,
    /// HEAD: the response has no body, regardless of its fields.
    Head,
    /// CONNECT: after a 2xx response the connection is a tunnel.
    Connect,
    /// The request asks for another protocol: after a 101 response the connection is a tunnel, in
    /// which that protocol is spoken (RFC 9110 section 7.8).
    Upgrade,
}

impl RequestKind {
    /// Whether the connection is a tunnel after a response with this status.
    pub(crate) const fn opens_tunnel(self, status: u16) -> bool {
        match self {
            Self::Normal | Self::Head => false,
            Self::Connect => matches!(status, 200..300),
            Self::Upgrade => status == 101,
        }
    }
}

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// The response has no body.
    None,
    /// After this many bytes.
    Length(u64),
    /// After its last chunk.
    Chunked,
    /// When the peer closes the connection.
    Close,
    /// The response has no body, and the connection has become a tunnel (RFC 9110 sections 7.8 and
    /// 9.3.6).
    Tunnel,
}

/// The framing of the rest of a message, as its final head announces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Framing {
    pub(crate) content_length: Option<u64>,
    pub(crate) body: BodyKind,
    pub(crate) status: u16,
    pub(crate) notices: Notices,
    /// Whether the connection stays open after the message, according to the head.
    pub(crate) persistent: bool,
}

/// Collects the framing fields of one head.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    notices: Notices,
}

impl Fields {
    /// Notes one field; most fields do not affect framing.
    #[inline]
    pub(crate) fn note(&mut self, name: &[u8], value: &[u8]) -> Result<(), Error> {
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => {
                self.note_connection(value);
                Ok(())
            }
            14 if name.eq_ignore_ascii_case(b"content-length") => self.note_length(value),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.note_coding(value),
            _ => Ok(()),
        }
    }

    fn note_connection(&mut self, value: &[u8]) {
        for option in elements(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// RFC 9110 section 8.6: a list that repeats one decimal value counts as that value; any other
    /// value that is not a decimal number is an error.
    fn note_length(&mut self, value: &[u8]) -> Result<(), Error> {
        for element in elements(value) {
            let length = decimal(element).ok_or(Error::ContentLength)?;
            match self.length.replace(length) {
                None => {}
                Some(earlier) if earlier == length => self.notices.insert(Notice::DuplicateLength),
                Some(_) => return Err(Error::ContentLength),
            }
        }
        Ok(())
    }

    /// drumfire never offers another coding (TE), so a server may only use a single `chunked`.
    fn note_coding(&mut self, value: &[u8]) -> Result<(), Error> {
        for element in elements(value) {
            if self.chunked || !element.eq_ignore_ascii_case(b"chunked") {
                return Err(Error::TransferCoding);
            }
            self.chunked = true;
        }
        Ok(())
    }

    /// Resolves the fields' combined meaning in a final response with this status and minor version
    /// to a request of this kind.
    pub(crate) fn resolve(mut self, status: u16, minor: u8, kind: RequestKind) -> Framing {
        let body = self.body(status, kind);
        let mut persistent = !self.close && (minor >= 1 || self.keep_alive);
        if minor > 1 {
            self.notices.insert(Notice::HigherMinor);
        }
        if self.chunked && self.length.is_some() {
            self.notices.insert(Notice::LengthAndCoding);
            persistent = false;
        }
        if self.chunked && minor == 0 {
            self.notices.insert(Notice::CodingInHttp10);
            persistent = false;
        }
        if body == BodyKind::Close {
            persistent = false;
        }
        let content_length = if self.chunked { None } else { self.length };
        Framing {
            content_length,
            body,
            status,
            notices: self.notices,
            persistent,
        }
    }

    /// Follows the order of RFC 9112 section 6.3. A 205 must not have content (RFC 9110 section
    /// 15.3.6), but it is framed like any other response: a server may end it with an empty chunked
    /// body.
    fn body(&self, status: u16, kind: RequestKind) -> BodyKind {
        if kind == RequestKind::Head || matches!(status, 204 | 304) {
            return BodyKind::None;
        }
        if kind.opens_tunnel(status) {
            return BodyKind::Tunnel;
        }
        match (self.chunked, self.length) {
            (true, _) => BodyKind::Chunked,
            (false, Some(length)) => BodyKind::Length(length),
            (false, None) => BodyKind::Close,
        }
    }
}

/// The elements of a comma-separated value, without the white space around them.
fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// A non-empty sequence of digits whose value fits.
fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}
