//! The tolerated mistakes of a response: a bit set, so that a sample carries it for free.

/// A deviation from the RFC that is tolerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Notice {
    /// A minor version above 1, read as HTTP/1.1 (RFC 9110 section 2.5).
    HigherMinor,
    /// Lines of the head that end in LF alone (RFC 9112 section 2.2).
    BareLf,
    /// A field folded over several lines (RFC 9112 section 5.2).
    ObsFold,
    /// Repeated Content-Length fields with one value (RFC 9110 section 8.6).
    DuplicateLength,
    /// Bytes after the response's end, which are discarded; the connection is closed.
    Excess,
    /// Content-Length together with Transfer-Encoding (RFC 9112 section 6.3).
    LengthAndCoding,
    /// Transfer-Encoding in an HTTP/1.0 response (RFC 9112 section 6.1).
    CodingInHttp10,
    /// White space after a chunk's size (RFC 9112 section 7.1.1, bad white space).
    ChunkSpace,
    /// An empty line before the status line (RFC 9112 section 2.2).
    EmptyLine,
    /// A body that ended with the connection, whose TLS ended without close_notify (RFC 9112
    /// section 9.8).
    NoCloseNotify,
}

impl Notice {
    /// Every notice, in the order of the bits.
    pub const ALL: [Self; 10] = [
        Self::HigherMinor,
        Self::BareLf,
        Self::ObsFold,
        Self::DuplicateLength,
        Self::Excess,
        Self::LengthAndCoding,
        Self::CodingInHttp10,
        Self::ChunkSpace,
        Self::EmptyLine,
        Self::NoCloseNotify,
    ];

    /// The stable name, as it appears in the results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HigherMinor => "higher_minor",
            Self::BareLf => "bare_lf",
            Self::ObsFold => "obs_fold",
            Self::DuplicateLength => "duplicate_length",
            Self::Excess => "excess",
            Self::LengthAndCoding => "length_and_coding",
            Self::CodingInHttp10 => "coding_in_http10",
            Self::ChunkSpace => "chunk_space",
            Self::EmptyLine => "empty_line",
            Self::NoCloseNotify => "no_close_notify",
        }
    }
}

/// A set of notices, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notices(pub u16);

impl Notices {
    /// Adds a notice.
    #[inline]
    pub fn insert(&mut self, notice: Notice) {
        self.0 |= 1 << notice as u8;
    }

    /// Adds all notices of another set.
    #[inline]
    pub fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether the set contains a notice.
    #[inline]
    #[must_use]
    pub const fn contains(self, notice: Notice) -> bool {
        self.0 & (1 << notice as u8) != 0
    }

    /// The notices in the set, in the order of their bits.
    pub fn iter(self) -> impl Iterator<Item = Notice> {
        Notice::ALL
            .into_iter()
            .filter(move |&notice| self.contains(notice))
    }
}
