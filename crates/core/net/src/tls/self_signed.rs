//! Certificates that name themselves as their issuer.

use std::error::Error;
use std::fmt;

/// The reason for refusing a certificate that no trusted authority can have signed.
#[derive(Debug)]
pub(super) struct SelfSigned;

impl fmt::Display for SelfSigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the certificate is self-signed and not trusted")
    }
}

impl Error for SelfSigned {}

/// Whether a certificate's issuer is its subject; false if the certificate can't be read.
pub(super) fn is_self_signed(certificate: &[u8]) -> bool {
    names(certificate).is_some_and(|(issuer, subject)| issuer == subject)
}

/// The issuer and the subject of a certificate, in DER (RFC 5280 section 4.1).
fn names(certificate: &[u8]) -> Option<(&[u8], &[u8])> {
    // Certificate { TBSCertificate { [0] version?, serial, signature, issuer, validity, subject, …
    let certificate = Element::first(certificate)?;
    let mut rest = Element::first(certificate.content)?.content;
    let mut next = || {
        let element = Element::first(rest)?;
        rest = element.behind;
        Some(element)
    };
    if next()?.tag == VERSION {
        let _serial = next()?;
    }
    let _signature = next()?;
    let issuer = next()?.content;
    let _validity = next()?;
    Some((issuer, next()?.content))
}

/// The tag of a certificate's version, which certificates of version 1 lack.
const VERSION: u8 = 0xa0;

/// An element of DER (X.690 section 8.1) with a tag of one byte.
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
    /// The bytes after the element.
    behind: &'a [u8],
}

impl<'a> Element<'a> {
    fn first(bytes: &'a [u8]) -> Option<Self> {
        let (tag, bytes) = bytes.split_first()?;
        let (first, mut bytes) = bytes.split_first()?;
        let length = match first {
            short @ 0..0x80 => usize::from(*short),
            long => {
                let (digits, behind) = bytes.split_at_checked(usize::from(long & 0x7f))?;
                bytes = behind;
                let digit = |length: usize, digit: &u8| {
                    Some(length.checked_mul(256)? + usize::from(*digit))
                };
                digits.iter().try_fold(0, digit)?
            }
        };
        let (content, behind) = bytes.split_at_checked(length)?;
        Some(Self {
            tag: *tag,
            content,
            behind,
        })
    }
}
