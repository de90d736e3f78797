//! The parameters of permessage-deflate (RFC 7692 section 7.1).

use std::fmt::Write as _;

/// The parameters on which both sides agree: those that the client offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeflateTerms {
    pub(crate) server_no_takeover: bool,
    pub(crate) client_no_takeover: bool,
    /// The window of the server; `None` means the largest.
    pub(crate) server_bits: Option<u8>,
}

impl DeflateTerms {
    /// The terms of one offered extension; `None` if it is another extension, or can't be accepted.
    pub(crate) fn of_offer(offer: &[u8]) -> Option<Self> {
        let offer = std::str::from_utf8(offer).ok()?;
        let mut parts = offer.split(';').map(str::trim);
        if parts.next() != Some("permessage-deflate") {
            return None;
        }
        let mut terms = Self::default();
        for part in parts {
            let (name, value) = match part.split_once('=') {
                Some((name, value)) => (name.trim(), Some(value.trim().trim_matches('"'))),
                None => (part, None),
            };
            match (name, value) {
                ("server_no_context_takeover", None) => terms.server_no_takeover = true,
                ("client_no_context_takeover", None) => terms.client_no_takeover = true,
                ("server_max_window_bits", Some(bits)) => {
                    // zlib has no window of 8 bits without a wrapper.
                    let bits = bits.parse().ok().filter(|bits| (9..=15).contains(bits))?;
                    terms.server_bits = Some(bits);
                }
                ("client_max_window_bits", _) => {}
                _ => return None,
            }
        }
        Some(terms)
    }

    /// The value of the answer's field.
    pub(crate) fn value(&self) -> String {
        let mut value = String::from("permessage-deflate");
        if self.server_no_takeover {
            value.push_str("; server_no_context_takeover");
        }
        if self.client_no_takeover {
            value.push_str("; client_no_context_takeover");
        }
        if let Some(bits) = self.server_bits {
            // Writing to a String can't fail.
            let _ = write!(value, "; server_max_window_bits={bits}");
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_those_of_the_offer() {
        for (offer, value) in [
            ("permessage-deflate", Some("permessage-deflate")),
            (
                " permessage-deflate; client_max_window_bits; server_no_context_takeover",
                Some("permessage-deflate; server_no_context_takeover"),
            ),
            (
                "permessage-deflate; client_no_context_takeover; server_max_window_bits=10",
                Some("permessage-deflate; client_no_context_takeover; server_max_window_bits=10"),
            ),
            ("permessage-deflate; server_max_window_bits=8", None),
            ("permessage-deflate; x", None),
            ("permessage-bzip2", None),
        ] {
            let terms = DeflateTerms::of_offer(offer.as_bytes());
            assert_eq!(
                terms.map(|terms| terms.value()).as_deref(),
                value,
                "{offer}"
            );
        }
    }
}
