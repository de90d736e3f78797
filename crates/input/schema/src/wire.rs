//! Protobuf's wire format, read in place.

/// The reason why bytes are not a message. The type is small, so that the success path has no extra
/// cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireFault {
    Truncated,
    Varint,
    Number,
    Key,
    Text,
    Depth,
    GroupOpen,
    GroupEnd,
    Required,
}

impl WireFault {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Truncated => "ends too early",
            Self::Varint => "a varint of more than 64 bits",
            Self::Number => "a field number of 0",
            Self::Key => "an invalid field key",
            Self::Text => "a string that is not UTF-8",
            Self::Depth => "nested more than 100 deep",
            Self::GroupOpen => "a group without an end",
            Self::GroupEnd => "the end of a group that has not begun",
            Self::Required => "a required field is missing",
        }
    }
}

/// The wire type of a value, by the number in its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Varint,
    Fixed64,
    /// A length-prefixed byte string.
    Delimited,
    Start,
    End,
    Fixed32,
}

/// The rest of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The number of remaining bytes.
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A field's number, which is not 0, and the wire type of its value.
    #[inline]
    pub(crate) fn key(&mut self) -> Result<(u32, Wire), WireFault> {
        let key = u32::try_from(self.varint()?).map_err(|_| WireFault::Key)?;
        let wire = match key & 7 {
            0 => Wire::Varint,
            1 => Wire::Fixed64,
            2 => Wire::Delimited,
            3 => Wire::Start,
            4 => Wire::End,
            5 => Wire::Fixed32,
            _ => return Err(WireFault::Key),
        };
        match key >> 3 {
            0 => Err(WireFault::Number),
            number => Ok((number, wire)),
        }
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, WireFault> {
        match self.0 {
            [byte @ 0..=0x7f, rest @ ..] => {
                self.0 = rest;
                Ok(u64::from(*byte))
            }
            _ => self.long_varint(),
        }
    }

    /// A varint of more than one byte: seven bits each, lowest first.
    fn long_varint(&mut self) -> Result<u64, WireFault> {
        let mut value = 0;
        for (n, &byte) in self.0.iter().take(10).enumerate() {
            // The tenth byte has room for one bit.
            if n == 9 && byte > 1 {
                return Err(WireFault::Varint);
            }
            value |= u64::from(byte & 0x7f) << (7 * n);
            if byte < 0x80 {
                self.0 = &self.0[n + 1..];
                return Ok(value);
            }
        }
        Err(WireFault::Truncated)
    }

    /// A length-prefixed byte string.
    #[inline]
    pub(crate) fn delimited(&mut self) -> Result<&'a [u8], WireFault> {
        let length = usize::try_from(self.varint()?).map_err(|_| WireFault::Truncated)?;
        self.bytes(length)
    }

    /// Skips a value after its key. For a group, the number of the final key is not checked.
    pub(crate) fn skip(&mut self, wire: Wire) -> Result<(), WireFault> {
        let mut open = 0usize;
        let mut wire = wire;
        loop {
            match wire {
                Wire::Varint => drop(self.varint()?),
                Wire::Fixed64 => drop(self.bytes(8)?),
                Wire::Fixed32 => drop(self.bytes(4)?),
                Wire::Delimited => drop(self.delimited()?),
                Wire::Start => open += 1,
                Wire::End => open = open.checked_sub(1).ok_or(WireFault::GroupEnd)?,
            }
            if open == 0 {
                return Ok(());
            }
            wire = self.key()?.1;
        }
    }

    #[inline]
    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], WireFault> {
        let (bytes, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(WireFault::Truncated)?;
        self.0 = rest;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_have_up_to_ten_bytes() {
        let ones = [0xff; 9];
        for (bytes, value) in [
            (&[0x00][..], Ok(0)),
            (&[0x7f], Ok(127)),
            (&[0x80, 0x01], Ok(128)),
            (&[0x80, 0x00], Ok(0)),
            (&[&ones[..], &[1]].concat(), Ok(u64::MAX)),
            (&[&ones[..], &[2]].concat(), Err(WireFault::Varint)),
            (&[&ones[..], &[0x80, 0]].concat(), Err(WireFault::Varint)),
            (&[0x80], Err(WireFault::Truncated)),
            (&[], Err(WireFault::Truncated)),
        ] {
            assert_eq!(Reader::new(bytes).varint(), value, "{bytes:x?}");
        }
    }

    #[test]
    fn keys_have_a_number_and_one_of_six_forms() {
        for (bytes, key) in [
            (&[0x08][..], Ok((1, Wire::Varint))),
            (&[0x3a], Ok((7, Wire::Delimited))),
            (
                &[0xfd, 0xff, 0xff, 0xff, 0x0f],
                Ok(((1 << 29) - 1, Wire::Fixed32)),
            ),
            (&[0x80, 0x80, 0x80, 0x80, 0x10], Err(WireFault::Key)),
            (&[0x02], Err(WireFault::Number)),
            (&[0x0e], Err(WireFault::Key)),
            (&[0x0f], Err(WireFault::Key)),
            (&[], Err(WireFault::Truncated)),
        ] {
            assert_eq!(Reader::new(bytes).key(), key, "{bytes:x?}");
        }
    }
}
