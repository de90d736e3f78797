//! A cache of requests and their answers.

/// How many requests are remembered.
const ENTRIES: usize = 4;
/// The longest request worth remembering.
const REQUEST_MAX: usize = 2 * 1024;
/// The longest answer worth remembering.
pub(crate) const ANSWER_MAX: usize = 256 * 1024;

/// The last few requests with a constant answer, byte for byte. Equal bytes have equal meaning, so
/// a known request is answered without being parsed.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Cache {
    /// The answer to the request that the input starts with, and that request's length.
    #[inline]
    pub(crate) fn find(&self, input: &[u8]) -> Option<(&[u8], usize)> {
        self.entries
            .iter()
            .find(|entry| input.starts_with(&entry.request))
            .map(|entry| (&*entry.answer, entry.request.len()))
    }

    /// Remembers an answer, in place of the oldest. The request is one whole head without a body.
    pub(crate) fn insert(&mut self, request: &[u8], answer: &[u8]) {
        if request.len() > REQUEST_MAX || answer.len() > ANSWER_MAX {
            return;
        }
        if self.entries.len() == ENTRIES {
            self.entries.pop();
        }
        let (request, answer) = (request.to_vec(), answer.to_vec());
        self.entries.insert(0, Entry { request, answer });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_the_input_starts_with() {
        let mut cache = Cache::default();
        cache.insert(b"a\r\n\r\n", b"A");
        cache.insert(b"b\r\n\r\n", b"B");
        assert_eq!(cache.find(b"b\r\n\r\na\r\n\r\n"), Some((&b"B"[..], 5)));
        assert_eq!(cache.find(b"a\r\n\r\n"), Some((&b"A"[..], 5)));
        assert_eq!(cache.find(b"a\r\n\r"), None);
        assert_eq!(cache.find(b""), None);
    }

    #[test]
    fn forgets_the_oldest_and_refuses_the_large() {
        let mut cache = Cache::default();
        for n in 0..=ENTRIES {
            cache.insert(format!("{n}\r\n\r\n").as_bytes(), b"x");
        }
        assert_eq!(cache.find(b"0\r\n\r\n"), None);
        assert!(cache.find(b"1\r\n\r\n").is_some());
        cache.insert(&[b'x'; REQUEST_MAX + 1], b"x");
        assert_eq!(cache.find(&[b'x'; REQUEST_MAX + 1]), None);
    }
}
