//! Rows that stay in their file: an index of a bounded size says where they begin, and each thread
//! keeps the pages that it read last.
//!
//! While the file is read for the first time, each row is noted where it begins ([`RowIndex::note`]),
//! and then all bytes to the next one are covered ([`RowIndex::cover`]). Between two places of the
//! index lies a group of rows with a checksum, which is compared whenever the group is read again: a
//! row that was overwritten in place, by another of the same length, is no row of the feed.

use super::json_rows::JsonColumns;
use super::row_reader::RowReader;
use super::row_step::{ChangedRow, RowStep};
use crate::read_at::{ReadAt, read_full};
use crc32fast::Hasher;
use drumfire_plan::DataError;
use minijinja::Value;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// An index has at most this many places, of twelve bytes with their checksums; when there would be
/// more, every second goes.
const PLACES_MAX: usize = 1 << 20;
/// How many pages a thread keeps, of all files together.
const PAGES_KEPT: usize = 8;
/// The bytes of a page of rows that are read one behind the other.
const PAGE_BYTES: u64 = 64 << 10;
/// How far behind a page a row lies that continues it: threads take rows in turns.
const STEP_MAX: u64 = 64;

thread_local! {
    /// The pages that were used last on this thread, the latest first.
    static KEPT: RefCell<Vec<Page>> = const { RefCell::new(Vec::new()) };
}

/// Where the rows of a file begin: each, or each second, fourth and so on, so that the places have a
/// bounded number.
#[derive(Clone, Debug)]
pub(super) struct RowIndex {
    places: Vec<u64>,
    /// The checksums of the bytes from each place to the next.
    checks: Vec<u32>,
    /// That of the bytes from the last place on, as far as they were covered.
    open: Hasher,
    /// How many rows lie between two places, a power of two.
    every: u64,
    rows: u64,
    places_max: usize,
}

impl Default for RowIndex {
    fn default() -> Self {
        Self::bounded(PLACES_MAX)
    }
}

impl RowIndex {
    /// An index with so many places at most.
    pub(super) fn bounded(places_max: usize) -> Self {
        Self {
            places: Vec::new(),
            checks: Vec::new(),
            open: Hasher::new(),
            every: 1,
            rows: 0,
            places_max,
        }
    }

    /// A row begins here; rows come in their order.
    pub(super) fn note(&mut self, row: u64, offset: u64) {
        self.rows = row + 1;
        if row & (self.every - 1) != 0 {
            return;
        }
        self.close();
        if self.places.len() == self.places_max {
            self.halve(offset);
        }
        if row & (self.every - 1) == 0 {
            self.places.push(offset);
        } else if let (Some(place), Some(check)) = (self.places.last(), self.checks.pop()) {
            self.open = Hasher::new_with_initial_len(check, offset - place);
        }
    }

    /// Covers the bytes that follow those before, from the first row on.
    pub(super) fn cover(&mut self, bytes: &[u8]) {
        if !self.places.is_empty() {
            self.open.update(bytes);
        }
    }

    /// Ends the group of rows behind the last place, if there is one.
    fn close(&mut self) {
        if !self.places.is_empty() {
            self.checks.push(std::mem::take(&mut self.open).finalize());
        }
    }

    /// Makes one group of two; the last one ends at `end`.
    fn halve(&mut self, end: u64) {
        let count = self.places.len();
        for (at, left) in (0..count).step_by(2).enumerate() {
            let right = left + 1;
            if let (Some(start), Some(check)) = (self.places.get(right), self.checks.get(right)) {
                let length = self.places.get(right + 1).unwrap_or(&end) - start;
                let mut both = Hasher::new_with_initial(self.checks[left]);
                both.combine(&Hasher::new_with_initial_len(*check, length));
                self.checks[left] = both.finalize();
            }
            self.places[at] = self.places[left];
            self.checks[at] = self.checks[left];
        }
        self.places.truncate(count.div_ceil(2));
        self.checks.truncate(count.div_ceil(2));
        self.every *= 2;
    }

    /// The index with the place where the last row ends.
    pub(super) fn finish(mut self, end: u64) -> Self {
        self.close();
        self.places.push(end);
        self.places.shrink_to_fit();
        self.checks.shrink_to_fit();
        self
    }

    /// The number of whole groups from a place on that bytes still are, of `count` at most.
    fn unchanged(&self, first: usize, count: usize, bytes: &[u8]) -> usize {
        let start = self.places[first];
        let is_unchanged = |at: usize| {
            let from = (self.places[at] - start) as usize;
            let to = (self.places[at + 1] - start) as usize;
            let group = bytes.get(from..to);
            group.is_some_and(|group| crc32fast::hash(group) == self.checks[at])
        };
        let mut groups = first..first + count;
        groups.position(|at| !is_unchanged(at)).unwrap_or(count)
    }

    /// The place at or before a row, by its number.
    const fn before(&self, row: u64) -> usize {
        (row / self.every) as usize
    }
}

/// The rows of a file.
#[derive(Debug)]
pub(super) struct StoredRows {
    source: Arc<dyn ReadAt>,
    /// The reader at the first row, and at any other.
    readers: [RowReader; 2],
    columns: JsonColumns,
    index: RowIndex,
}

impl StoredRows {
    /// The rows that an index finds.
    pub(super) const fn new(
        source: Arc<dyn ReadAt>,
        readers: [RowReader; 2],
        columns: JsonColumns,
        index: RowIndex,
    ) -> Self {
        Self {
            source,
            readers,
            columns,
            index,
        }
    }

    /// The value in a row; undefined where there is none.
    ///
    /// # Errors
    /// When the file can't be read any more, or is another than before.
    pub(super) fn value(self: &Arc<Self>, row: u64, column: usize) -> Result<Value, DataError> {
        self.with_row(row, |reader, row| reader.value(row, column))
    }

    /// Appends the text of the value in a row of a plain column.
    ///
    /// # Errors
    /// When the row lacks it; when the file can't be read any more, or is another than before.
    pub(super) fn push(
        self: &Arc<Self>,
        row: u64,
        column: usize,
        out: &mut String,
    ) -> Result<(), DataError> {
        self.with_row(row, |reader, row| reader.push(row, column, out))
    }

    /// Calls `use_it` with a row that its reader has decoded.
    fn with_row<T>(
        self: &Arc<Self>,
        row: u64,
        use_it: impl FnOnce(&RowReader, &str) -> Result<T, DataError>,
    ) -> Result<T, DataError> {
        if row >= self.index.rows {
            return Err(ChangedRow.into());
        }
        KEPT.with_borrow_mut(|kept| {
            self.find(kept, row)?;
            let page = &mut kept[0];
            page.decode(row)?;
            let text = page.text(row)?;
            use_it(&page.reader, text)
        })
    }

    /// Makes the page with a row the first of those that are kept.
    fn find(self: &Arc<Self>, kept: &mut Vec<Page>, row: u64) -> Result<(), DataError> {
        let is_own = |page: &Page| Arc::ptr_eq(&page.file, self);
        if let Some(at) = kept.iter().position(|page| is_own(page) && page.has(row)) {
            kept[..=at].rotate_right(1);
            return Ok(());
        }
        // A page that the row continues is read on; any other takes the place of the oldest.
        let continued = kept
            .iter()
            .position(|page| is_own(page) && page.is_before(row));
        if continued.is_none() && kept.len() < PAGES_KEPT {
            kept.push(Page::new(Arc::clone(self)));
        }
        let at = continued.unwrap_or(kept.len() - 1);
        kept[..=at].rotate_right(1);
        let bytes = match continued {
            Some(_) => PAGE_BYTES,
            None => 0,
        };
        let loaded = kept[0].load(self, row, bytes);
        if loaded.is_err() {
            kept.remove(0);
        }
        loaded
    }
}

/// Some rows of a file, one behind the other.
struct Page {
    file: Arc<StoredRows>,
    rows: Range<u64>,
    bytes: Vec<u8>,
    /// Where the rows lie in the bytes that were found so far.
    found: Vec<Range<usize>>,
    /// The bytes before the next of them.
    passed: usize,
    reader: RowReader,
    /// Which row the reader has decoded.
    decoded: Option<u64>,
}

impl Page {
    fn new(file: Arc<StoredRows>) -> Self {
        Self {
            reader: file.readers[1].clone(),
            file,
            rows: 0..0,
            bytes: Vec::new(),
            found: Vec::new(),
            passed: 0,
            decoded: None,
        }
    }

    fn has(&self, row: u64) -> bool {
        self.rows.contains(&row)
    }

    /// Whether a row follows those of the page.
    const fn is_before(&self, row: u64) -> bool {
        row >= self.rows.end && row - self.rows.end < STEP_MAX
    }

    /// Reads the rows from the place before a row on: to the next place, and further as long as they
    /// have no more than so many bytes.
    fn load(&mut self, file: &Arc<StoredRows>, row: u64, bytes: u64) -> Result<(), DataError> {
        if !Arc::ptr_eq(&self.file, file) {
            self.file = Arc::clone(file);
        }
        let index = &file.index;
        let first = index.before(row);
        let (Some(start), Some(rest)) = (index.places.get(first), index.places.get(first + 1..))
        else {
            return Err(ChangedRow.into());
        };
        let count = rest.partition_point(|end| end - start <= bytes).max(1);
        let end = rest.get(count - 1).ok_or(ChangedRow)?;
        self.rows = 0..0;
        self.reader.reset(&file.readers[usize::from(first > 0)]);
        self.found.clear();
        (self.passed, self.decoded) = (0, None);
        self.bytes.resize((end - start) as usize, 0);
        let read = read_full(&*file.source, *start, &mut self.bytes);
        let read = read.map_err(|error| DataError::new(format!("can't read the file: {error}")))?;
        self.bytes.truncate(read);
        // What changed behind the row is no matter of this one.
        let count = index.unchanged(first, count, &self.bytes);
        if count == 0 {
            return Err(ChangedRow.into());
        }
        let last = ((first + count) as u64 * index.every).min(index.rows);
        self.rows = first as u64 * index.every..last;
        Ok(())
    }

    /// Has the reader decode a row of the page.
    fn decode(&mut self, row: u64) -> Result<(), ChangedRow> {
        if self.decoded == Some(row) {
            return Ok(());
        }
        let at = (row - self.rows.start) as usize;
        self.decoded = None;
        while self.found.len() <= at {
            match self.reader.step(&self.bytes[self.passed..], true) {
                RowStep::Row { row, bytes } => {
                    let passed = self.passed;
                    self.found.push(passed + row.start..passed + row.end);
                    self.passed += bytes;
                }
                RowStep::Blank { bytes } => self.passed += bytes,
                RowStep::More | RowStep::End | RowStep::Broken { .. } => return Err(ChangedRow),
            }
        }
        let bytes = &self.bytes[self.found[at].clone()];
        self.reader.decode(bytes, &self.file.columns)?;
        self.decoded = Some(row);
        Ok(())
    }

    /// The text of a row that was decoded.
    fn text(&self, row: u64) -> Result<&str, ChangedRow> {
        let found = self.found.get((row - self.rows.start) as usize);
        let bytes = found.and_then(|found| self.bytes.get(found.clone()));
        bytes
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .ok_or(ChangedRow)
    }
}

#[cfg(test)]
mod tests {
    use super::RowIndex;

    #[test]
    fn an_index_has_a_bounded_number_of_places() {
        for (rows, places_max) in (1..70).flat_map(|rows| [(rows, 8), (rows, 7)]) {
            let mut index = RowIndex::bounded(places_max);
            let bytes: Vec<u8> = (0..rows * 10).map(|at| at as u8).collect();
            for row in 0..rows {
                index.note(row, row * 10);
                index.cover(&bytes[row as usize * 10..][..10]);
            }
            let index = index.finish(rows * 10);
            assert!(index.places.len() <= 9, "{rows}");
            let groups = index.places.len() - 1;
            assert_eq!(index.unchanged(0, groups, &bytes), groups, "{rows}");
            for at in 0..rows * 10 {
                let mut changed = bytes.clone();
                changed[at as usize] ^= 1;
                let before = (at / 10 / index.every) as usize;
                assert_eq!(index.unchanged(0, groups, &changed), before, "{rows}");
            }
            for row in 0..rows {
                let at = index.before(row);
                let start = index.places[at] / 10;
                assert!(
                    start <= row && row < index.places[at + 1] / 10,
                    "{row} of {rows}"
                );
                assert_eq!(start, at as u64 * index.every);
            }
        }
    }
}
