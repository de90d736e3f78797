//! The static table (RFC 7541 appendix A).

/// The number of its entries; their indices begin with 1.
pub(super) const LENGTH: usize = ENTRIES.len();

/// The entry with this index, from 1 to [`LENGTH`].
#[inline]
pub(super) fn entry(index: usize) -> Option<(&'static [u8], &'static [u8])> {
    let (name, value) = ENTRIES.get(index.wrapping_sub(1))?;
    Some((name.as_bytes(), value.as_bytes()))
}

/// The index of an entry with this name and value.
pub(super) fn find(name: &[u8], value: &[u8]) -> Option<usize> {
    let same = |entry: &(&str, &str)| entry.0.as_bytes() == name && entry.1.as_bytes() == value;
    ENTRIES.iter().position(same).map(|at| at + 1)
}

/// The index of the first entry with this name.
#[inline]
pub(super) fn find_name(name: &[u8]) -> Option<usize> {
    let at = ENTRIES
        .iter()
        .position(|entry| entry.0.as_bytes() == name)?;
    Some(at + 1)
}

#[rustfmt::skip]
static ENTRIES: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];
