//! Cached answers to HTTP/1 requests, by the exact bytes of the request.

/// The number of cached requests.
const ENTRIES: usize = 4;
/// The maximum size of a cached request.
pub(crate) const REQUEST_MAX: usize = 2 * 1024;
/// The maximum size of a cached answer.
pub(crate) const ANSWER_MAX: usize = 256 * 1024;

/// The last few requests with a constant answer, for one worker.
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
    /// The answer to the request at the start of the input, and the length of that request.
    pub(crate) fn find(&self, input: &[u8]) -> Option<(&[u8], usize)> {
        self.entries
            .iter()
            .find(|entry| input.starts_with(&entry.request))
            .map(|entry| (&*entry.answer, entry.request.len()))
    }

    /// Caches an answer; replaces the oldest.
    pub(crate) fn insert(&mut self, request: Vec<u8>, answer: Vec<u8>) {
        if self.entries.len() == ENTRIES {
            self.entries.pop();
        }
        self.entries.insert(0, Entry { request, answer });
    }
}
