//! Texts of files, as editors and shells write them.

/// The bytes that some editors write before a UTF-8 text.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of a file, without a byte order mark.
///
/// # Errors
/// If the text is not valid UTF-8: the actual encoding, if known, and the fix for UTF-16, which
/// PowerShell writes.
pub fn text(bytes: &[u8]) -> Result<&str, &'static str> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(
            "UTF-16, not UTF-8; save it as UTF-8 (in PowerShell, `Out-File -Encoding utf8`)",
        );
    }
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|_| "not valid UTF-8")
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn marks_are_no_part_of_a_text() {
        assert_eq!(text("\u{feff}aé".as_bytes()), Ok("aé"));
        assert_eq!(text(b"a"), Ok("a"));
        assert_eq!(text(b"a\xff"), Err("not valid UTF-8"));
        for sixteen in [b"\xff\xfea\0", b"\xfe\xff\0a"] {
            assert!(text(sixteen).is_err_and(|why| why.starts_with("UTF-16")));
        }
    }
}
