//! The fields of a response or of trailers, checked and decoded.
//!
//! The fields are stored in one buffer, with a length before each name and value, and every search
//! starts from the beginning: most responses need no field at all, and few need more than two. The
//! buffer belongs to the decoder or the memory, and is valid until the connection reads another
//! block.

use std::fmt;

/// Bytes before each field: the lengths of its name and its value.
const PREFIX: usize = 8;

/// The fields of one head or trailer section in their order, without pseudo-fields. They are
/// searched for on request, so that an unread head costs nothing.
#[derive(Clone, Copy)]
pub struct Headers<'a> {
    list: &'a [u8],
}

impl<'a> Headers<'a> {
    pub(crate) const fn new(list: &'a [u8]) -> Self {
        Self { list }
    }

    /// Names, in lower case, and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> + use<'a> {
        // A checked name is a token, and therefore ASCII.
        self.bytes()
            .map(|(name, value)| (str::from_utf8(name).unwrap_or_default(), value))
    }

    /// Names, as bytes, and values. Names are not checked for UTF-8: converting a response's names
    /// to text costs more than comparing them.
    #[inline]
    pub fn bytes(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut rest = self.list;
        std::iter::from_fn(move || {
            let (name, value, after) = split(rest)?;
            rest = after;
            Some((name, value))
        })
    }

    /// The first value of the field with this name, which must be in lower case.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'a [u8]> {
        let mut rest = self.list;
        while let Some((field, value, after)) = split(rest) {
            if field == name.as_bytes() {
                return Some(value);
            }
            rest = after;
        }
        None
    }
}

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(
                self.iter()
                    .map(|(name, value)| (name, value.escape_ascii().to_string())),
            )
            .finish()
    }
}

/// Appends a field to a list that [`Headers`] reads. No field is longer than 4 GiB, because limits
/// are smaller.
pub(crate) fn push(list: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    list.extend_from_slice(&(name.len() as u32).to_ne_bytes());
    list.extend_from_slice(&(value.len() as u32).to_ne_bytes());
    list.extend_from_slice(name);
    list.extend_from_slice(value);
}

/// The first field of a list, and the rest.
fn split(list: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (prefix, rest) = list.split_at_checked(PREFIX)?;
    let length = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_ne_bytes);
    let (name, rest) = rest.split_at_checked(length(&prefix[..4])? as usize)?;
    let (value, rest) = rest.split_at_checked(length(&prefix[4..])? as usize)?;
    Some((name, value, rest))
}

#[cfg(test)]
mod tests {
    use super::{Headers, push};

    #[test]
    fn fields_come_back_in_order() {
        let mut list = Vec::new();
        let fields: [(&str, &[u8]); 4] =
            [("a", b"1"), ("b", b""), ("a", b"2"), ("long", &[7; 999])];
        for (name, value) in fields {
            push(&mut list, name.as_bytes(), value);
        }
        let headers = Headers::new(&list);
        assert_eq!(headers.iter().collect::<Vec<_>>(), fields);
        assert_eq!(headers.find("a"), Some(&b"1"[..]));
        assert_eq!(headers.find("long"), Some(&[7; 999][..]));
        assert_eq!(headers.find("c"), None);
    }
}
