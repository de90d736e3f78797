//! Checks that a text is UTF-8, over pieces cut anywhere (RFC 6455 sections 5.6 and 8.1).

/// The state between two pieces of a text: the beginning of a character that was cut.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextCheck {
    cut: [u8; 4],
    cut_length: u8,
}

/// The text is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invalid;

impl TextCheck {
    /// Whether the text so far ends with a complete character.
    #[inline]
    pub(crate) const fn is_complete(self) -> bool {
        self.cut_length == 0
    }

    /// Checks the next piece. An error is found at the first byte that no text can have here.
    #[inline]
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<(), Invalid> {
        let piece = match self.cut_length {
            0 => piece,
            _ => self.continue_cut(piece)?,
        };
        match std::str::from_utf8(piece) {
            Ok(_) => Ok(()),
            Err(error) if error.error_len().is_some() => Err(Invalid),
            Err(error) => {
                let cut = &piece[error.valid_up_to()..];
                self.cut[..cut.len()].copy_from_slice(cut);
                self.cut_length = cut.len() as u8;
                Ok(())
            }
        }
    }

    /// Completes the character that was cut, as far as the piece suffices; returns the rest.
    #[cold]
    fn continue_cut<'a>(&mut self, piece: &'a [u8]) -> Result<&'a [u8], Invalid> {
        let mut rest = piece;
        while let (1.., Some((&byte, after))) = (self.cut_length, rest.split_first()) {
            rest = after;
            let length = usize::from(self.cut_length) + 1;
            // At most three bytes are an incomplete character.
            self.cut[length - 1] = byte;
            self.cut_length = length as u8;
            match std::str::from_utf8(&self.cut[..length]) {
                Ok(_) => self.cut_length = 0,
                Err(error) if error.error_len().is_some() => return Err(Invalid),
                Err(_) => {}
            }
        }
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::{Invalid, TextCheck};
    use proptest::prelude::*;

    fn check(pieces: &[&[u8]]) -> Result<bool, Invalid> {
        let mut check = TextCheck::default();
        for piece in pieces {
            check.push(piece)?;
        }
        Ok(check.is_complete())
    }

    /// The result for a text in one piece, by the standard library.
    fn expected(bytes: &[u8]) -> Result<bool, Invalid> {
        match std::str::from_utf8(bytes) {
            Ok(_) => Ok(true),
            Err(error) if error.error_len().is_none() => Ok(false),
            Err(_) => Err(Invalid),
        }
    }

    #[test]
    fn the_first_wrong_byte_is_found() {
        for (good, bad) in [
            (&b"\xf4"[..], &b"\x90"[..]),
            (b"\xed", b"\xa0"),
            (b"\xe2\x82", b"a"),
            (b"a", b"\xc0"),
            (b"\xf0\x90\x80", b"\xc3"),
        ] {
            assert!(check(&[good]).is_ok());
            assert_eq!(check(&[good, bad]), Err(Invalid));
        }
    }

    proptest! {
        #[test]
        fn pieces_are_checked_as_the_whole(
            bytes in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..12),
                proptest::collection::vec(
                    proptest::sample::select(&b"\xf0\x9f\xa6\x80\xe2\x82\xac\xc3\xa9\xed\xf4a"[..]),
                    0..12,
                ),
                any::<String>().prop_map(String::into_bytes),
            ],
            size in 1..4_usize,
        ) {
            let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
            prop_assert_eq!(check(&pieces), expected(&bytes));
        }
    }
}
