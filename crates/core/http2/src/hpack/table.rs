//! The dynamic table of a decoder (RFC 7541 section 2.3.2).
//!
//! An entry's text is appended to one buffer and never moved while it is valid; the buffer is
//! compacted when it would exceed twice the table's size. So an insertion costs a copy of its text,
//! an eviction changes a number, and memory is limited for any sequence of insertions.

use std::collections::VecDeque;

/// The cost of an entry in addition to its text (RFC 7541 section 4.1).
pub(super) const ENTRY_BYTES: usize = 32;

/// Entries in the order of insertion, their text in one buffer.
#[derive(Debug)]
pub(super) struct Table {
    /// The entries' text, preceded by text of evicted entries.
    text: Vec<u8>,
    /// The oldest first.
    entries: VecDeque<Entry>,
    size: usize,
    size_max: usize,
    /// Grows with every change.
    epoch: u64,
}

/// The place of an entry's text: its start, and the lengths of name and value.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u32,
    name: u32,
    value: u32,
}

impl Entry {
    const fn size(self) -> usize {
        self.name as usize + self.value as usize + ENTRY_BYTES
    }
}

impl Table {
    pub(super) const fn new(size_max: usize) -> Self {
        Self {
            text: Vec::new(),
            entries: VecDeque::new(),
            size: 0,
            size_max,
            epoch: 0,
        }
    }

    /// A number that changes with every change of the table.
    #[inline]
    pub(super) const fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// The entry that was inserted `age` entries before the newest.
    #[inline]
    pub(super) fn entry(&self, age: usize) -> Option<(&[u8], &[u8])> {
        let at = self.entries.len().checked_sub(age + 1)?;
        let entry = self.entries.get(at)?;
        let start = entry.start as usize;
        let middle = start + entry.name as usize;
        let end = middle + entry.value as usize;
        Some((self.text.get(start..middle)?, self.text.get(middle..end)?))
    }

    /// Adds an entry and evicts the oldest ones. An entry larger than the table leaves it empty
    /// (RFC 7541 section 4.4).
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        let size = name.len() + value.len() + ENTRY_BYTES;
        if size > self.size_max {
            self.shrink(0);
            return;
        }
        self.shrink(self.size_max - size);
        if self.text.len() + name.len() + value.len() > 2 * self.size_max {
            self.compact();
        }
        self.entries.push_back(Entry {
            start: self.text.len() as u32,
            name: name.len() as u32,
            value: value.len() as u32,
        });
        self.text.extend_from_slice(name);
        self.text.extend_from_slice(value);
        self.size += size;
        self.epoch += 1;
    }

    /// Changes the limit of the table (RFC 7541 section 4.3).
    pub(super) fn resize(&mut self, size_max: usize) {
        if size_max != self.size_max {
            self.size_max = size_max;
            self.epoch += 1;
            self.shrink(size_max);
        }
    }

    /// Evicts the oldest entries until at most `size` is left.
    fn shrink(&mut self, size: usize) {
        while self.size > size {
            let Some(oldest) = self.entries.pop_front() else {
                break;
            };
            self.size -= oldest.size();
            self.epoch += 1;
        }
        if self.entries.is_empty() {
            self.text.clear();
        }
    }

    /// Moves the remaining entries to the buffer's start.
    fn compact(&mut self) {
        let start = self
            .entries
            .front()
            .map_or(self.text.len() as u32, |oldest| oldest.start);
        self.text.drain(..start as usize);
        for entry in &mut self.entries {
            entry.start -= start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn the_oldest_go_first() {
        let mut table = Table::new(100);
        for (name, value) in [("a", "1"), ("b", "2"), ("c", "3")] {
            table.insert(name.as_bytes(), value.as_bytes());
        }
        assert_eq!(table.entry(0), Some((&b"c"[..], &b"3"[..])));
        assert_eq!(table.entry(1), Some((&b"b"[..], &b"2"[..])));
        assert_eq!(table.entry(2), None);
        assert_eq!(table.size(), 68);
        table.insert(b"name", &[b'x'; 64]);
        assert_eq!(table.size(), 100, "exactly full");
        table.insert(b"name", &[b'x'; 65]);
        assert_eq!(
            (table.size(), table.entry(0)),
            (0, None),
            "larger than the table"
        );
    }

    #[test]
    fn the_text_is_kept_through_many_changes() {
        let mut table = Table::new(200);
        for round in 0..1000_u32 {
            let value = "v".repeat(round as usize % 50);
            table.insert(&round.to_be_bytes(), value.as_bytes());
            assert_eq!(
                table.entry(0),
                Some((&round.to_be_bytes()[..], value.as_bytes()))
            );
            if let Some((name, _)) = table.entry(1) {
                assert_eq!(name, (round - 1).to_be_bytes());
            }
            assert!(table.text.len() <= 400);
        }
    }

    #[test]
    fn what_changes_nothing_has_no_epoch() {
        let mut table = Table::new(0);
        let epoch = table.epoch();
        table.insert(b"a", b"b");
        table.resize(0);
        assert_eq!(table.epoch(), epoch);
        table.resize(50);
        table.insert(b"a", b"b");
        assert_ne!(table.epoch(), epoch);
    }
}
