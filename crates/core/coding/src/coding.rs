//! Content codings and their names.

/// A content coding that this crate decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Brotli (RFC 7932).
    Br,
    /// Deflate in a zlib wrapper (RFC 1950), or without it (RFC 1951), as many servers send it.
    Deflate,
    /// gzip (RFC 1952), one or more members.
    Gzip,
    /// Zstandard (RFC 8878), one or more frames.
    Zstd,
}

impl Coding {
    /// The value of Accept-Encoding.
    pub const ACCEPTED: &'static str = "gzip, deflate, br, zstd";

    /// The coding with this name, in any letter case (RFC 9110 section 8.4.1).
    #[must_use]
    pub fn of_name(name: &[u8]) -> Option<Self> {
        const NAMES: [(&str, Coding); 5] = [
            ("br", Coding::Br),
            ("deflate", Coding::Deflate),
            ("gzip", Coding::Gzip),
            ("x-gzip", Coding::Gzip),
            ("zstd", Coding::Zstd),
        ];
        let known = NAMES
            .iter()
            .find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()));
        known.map(|(_, coding)| *coding)
    }

    /// The coding's name in Content-Encoding.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Br => "br",
            Self::Deflate => "deflate",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}
