//! Files of certificates and keys: texts in PEM, and the words for files that are not.

use drumfire_units::utf8::BYTE_ORDER_MARK;
use rustls::pki_types::pem;

/// The text without a byte order mark, which some editors write.
pub(super) fn strip_byte_order_mark(file: &[u8]) -> &[u8] {
    file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file)
}

/// The content of a file that has no certificate or no key in PEM, and its conversion; empty if the
/// content is unknown.
pub(super) fn instead(file: &[u8]) -> &'static str {
    let has = |text: &str| {
        let mut parts = file.windows(text.len());
        parts.any(|part| part == text.as_bytes())
    };
    match file {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "; it is UTF-16: save it as UTF-8",
        // A sequence that begins with the version 3.
        [0x30, 0x82, _, _, 2, 1, 3, ..] | [0x30, 0x80, 2, 1, 3, ..] => {
            "; it is PKCS #12: convert it with `openssl pkcs12 -in FILE -nodes -out FILE.pem`"
        }
        [0x30, 0x81 | 0x82, ..] => {
            "; it is in DER: convert it with `openssl x509 -inform der` or `openssl pkey -inform der`"
        }
        _ if has("BEGIN CERTIFICATE REQUEST") => {
            "; it is a request, for which an authority makes the certificate"
        }
        _ if has("BEGIN OPENSSH PRIVATE KEY") => {
            "; it is a key of OpenSSH: convert a copy with `ssh-keygen -p -m PKCS8 -f COPY`"
        }
        _ if has("BEGIN PUBLIC KEY") => "; it is a public key: give the private one",
        _ => "",
    }
}

/// A mistake in a text in PEM.
pub(super) fn mistake(error: &pem::Error) -> String {
    match error {
        pem::Error::MissingSectionEnd { end_marker } => {
            let kind = String::from_utf8_lossy(end_marker);
            format!(
                "a section has no end `-----END {}-----`",
                kind.escape_debug()
            )
        }
        pem::Error::IllegalSectionStart { line } => {
            let line = String::from_utf8_lossy(line);
            format!("`{}` does not begin a section", line.trim().escape_debug())
        }
        pem::Error::Base64Decode(_) => "the content of a section is not base64".to_owned(),
        other => other.to_string(),
    }
}
