//! The tolerated mistakes of a server: a bit set, so that a sample carries it for free.

/// A deviation from the RFC that is tolerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Notice {
    /// A frame's length in more bytes than needed (RFC 6455 section 5.2).
    LongLength,
    /// Bytes after the close frame, which are discarded (RFC 6455 section 1.4).
    Excess,
    /// A compressed message that ends with a final block, without the empty block after it (RFC 7692
    /// section 7.2.1).
    FinalBlock,
}

impl Notice {
    /// Every notice, in the order of the bits.
    pub const ALL: [Self; 3] = [Self::LongLength, Self::Excess, Self::FinalBlock];

    /// The stable name, as it appears in the results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LongLength => "ws_long_length",
            Self::Excess => "ws_excess",
            Self::FinalBlock => "ws_final_block",
        }
    }
}

/// A set of notices, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notices(pub u8);

impl Notices {
    /// Adds a notice.
    #[inline]
    pub const fn insert(&mut self, notice: Notice) {
        self.0 |= 1 << notice as u8;
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
