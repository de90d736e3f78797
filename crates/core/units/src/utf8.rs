//! Texts of files, as editors and shells write them.

/// The bytes that some editors write before a UTF-8 text.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The first bytes of compressed files, with the name of the form.
const COMPRESSED: [(&[u8], &str); 5] = [
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
];

/// The text of a file, without a byte order mark.
///
/// # Errors
/// When it is not valid UTF-8: what it is, and what to do about a compressed file and about a text in
/// UTF-16, which PowerShell writes. Otherwise, the first line that is not UTF-8, if there are several.
pub fn text(bytes: &[u8]) -> Result<&str, String> {
    if let Some(what) = other_form(bytes) {
        return Err(what);
    }
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let is_end = |byte: &&u8| **byte == b'\n';
        let before = bytes[..error.valid_up_to()].iter().filter(is_end).count();
        match bytes.trim_ascii_end().contains(&b'\n') {
            true => format!("not valid UTF-8 in line {}", before + 1),
            false => "not valid UTF-8".to_owned(),
        }
    })
}

/// The form of a file that is not a text in UTF-8, and what to do about it: UTF-16, or compressed.
#[must_use]
pub fn other_form(bytes: &[u8]) -> Option<String> {
    if is_utf16(bytes) {
        let instead = "save it as UTF-8 (in PowerShell, `Out-File -Encoding utf8`)";
        return Some(format!("UTF-16, not UTF-8; {instead}"));
    }
    let mut known = COMPRESSED.iter();
    let (_, form) = known.find(|(begin, _)| bytes.starts_with(begin))?;
    // The letters of a form may begin a text.
    let is_text = std::str::from_utf8(bytes).is_ok();
    (!is_text).then(|| format!("compressed ({form}); decompress it first"))
}

/// Whether a text is in UTF-16: by its mark, or by zeros beside its first two letters.
fn is_utf16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [a, 0, b, 0, ..] | [0, a, 0, b, ..] => *a != 0 && *b != 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn marks_are_no_part_of_a_text() {
        assert_eq!(text("\u{feff}aé".as_bytes()), Ok("aé"));
        assert_eq!(text(b"a"), Ok("a"));
        assert_eq!(text(b"\0\0a\0"), Ok("\0\0a\0"));
        for (bytes, why) in [
            (&b"a\xff"[..], "not valid UTF-8"),
            (b"a\xff\n", "not valid UTF-8"),
            (b"a\nb\n\xff\n", "not valid UTF-8 in line 3"),
            (
                b"\x1f\x8b\x08\0\xff\n\n",
                "compressed (gzip); decompress it first",
            ),
            (b"PK\x03\x04\xff", "compressed (zip); decompress it first"),
        ] {
            assert_eq!(text(bytes), Err(why.to_owned()));
        }
        for sixteen in [&b"\xff\xfea\0"[..], b"\xfe\xff\0a", b"a\0b\0", b"\0a\0b"] {
            assert!(text(sixteen).is_err_and(|why| why.starts_with("UTF-16")));
        }
    }
}
