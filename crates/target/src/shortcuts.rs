//! The answers to requests over HTTP/1 that are known byte for byte.

/// How many requests are known.
const ENTRIES: usize = 4;
/// The longest request worth knowing.
pub(crate) const REQUEST_MAX: usize = 2 * 1024;
/// The longest answer worth knowing.
pub(crate) const ANSWER_MAX: usize = 256 * 1024;

/// The last few requests with a constant answer; one worker's.
#[derive(Debug, Default)]
pub(crate) struct Shortcuts {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Shortcuts {
    /// The answer to the request that the input starts with, and that request's length.
    pub(crate) fn find(&self, input: &[u8]) -> Option<(&[u8], usize)> {
        self.entries
            .iter()
            .find(|entry| input.starts_with(&entry.request))
            .map(|entry| (&*entry.answer, entry.request.len()))
    }

    /// Remembers an answer, instead of the oldest.
    pub(crate) fn insert(&mut self, request: Vec<u8>, answer: Vec<u8>) {
        if self.entries.len() == ENTRIES {
            self.entries.pop();
        }
        self.entries.insert(0, Entry { request, answer });
    }
}
