//! Files larger than memory: bytes that are read from any place, in windows.

use drumfire_units::utf8::BYTE_ORDER_MARK;
use std::fmt;
use std::io;
use std::sync::Arc;

/// A file up to this size stays in memory, decoded.
pub(crate) const MEMORY_BYTES_MAX: u64 = 16 << 20;
/// How many bytes a window reads at a time.
const CHUNK_BYTES: usize = 256 << 10;
/// One entry of a file has at most this many bytes.
const ENTRY_BYTES_MAX: usize = 64 << 20;

/// Bytes that can be read from any place, by many threads at a time.
pub trait ReadAt: Send + Sync + fmt::Debug {
    /// How many there are.
    fn size(&self) -> u64;

    /// Reads from an offset on; 0 at the end.
    ///
    /// # Errors
    /// Those of the file.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(self.len());
        let rest = &self[start..];
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// Fills `into` from an offset on, as far as there are bytes; their number.
pub(crate) fn read_full(source: &dyn ReadAt, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match source.read_at(offset + filled as u64, &mut into[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A part of a file, from the first byte that was not taken.
#[derive(Debug)]
pub(crate) struct Window {
    source: Arc<dyn ReadAt>,
    bytes: Vec<u8>,
    /// How much of the bytes was taken.
    taken: usize,
    /// Where the bytes begin in the file.
    start: u64,
    is_last: bool,
}

impl Window {
    /// The beginning of a file, behind the mark with which a text in UTF-8 may begin.
    ///
    /// # Errors
    /// In words: the file's, or a text in UTF-16.
    pub(crate) fn open(source: Arc<dyn ReadAt>) -> Result<Self, String> {
        let mut window = Self {
            source,
            bytes: Vec::new(),
            taken: 0,
            start: 0,
            is_last: false,
        };
        window.grow()?;
        if window.rest().starts_with(b"\xff\xfe") || window.rest().starts_with(b"\xfe\xff") {
            return Err("the text is UTF-16; convert it to UTF-8".to_owned());
        }
        if window.rest().starts_with(BYTE_ORDER_MARK) {
            window.consume(BYTE_ORDER_MARK.len());
        }
        Ok(window)
    }

    /// The bytes that were not taken.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    /// Whether nothing follows them.
    pub(crate) const fn is_last(&self) -> bool {
        self.is_last
    }

    /// Where they begin in the file.
    pub(crate) const fn offset(&self) -> u64 {
        self.start + self.taken as u64
    }

    /// Takes bytes; returns how many lines end in them.
    pub(crate) fn consume(&mut self, count: usize) -> u64 {
        let lines = self.lines_before(count);
        self.taken = (self.taken + count).min(self.bytes.len());
        lines
    }

    /// How many lines end within the next bytes.
    pub(crate) fn lines_before(&self, count: usize) -> u64 {
        let rest = self.rest();
        let next = &rest[..count.min(rest.len())];
        next.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    /// Reads more behind what was not taken.
    ///
    /// # Errors
    /// In words: the file's, or an entry that is too long.
    pub(crate) fn grow(&mut self) -> Result<(), String> {
        self.bytes.drain(..self.taken);
        self.start += self.taken as u64;
        self.taken = 0;
        let held = self.bytes.len();
        if held > ENTRY_BYTES_MAX {
            return Err(format!("an entry has more than {ENTRY_BYTES_MAX} bytes"));
        }
        // An entry that is longer than the window is not looked through again for each chunk.
        self.bytes.resize(held + CHUNK_BYTES.max(held), 0);
        let offset = self.start + held as u64;
        let read = read_full(&*self.source, offset, &mut self.bytes[held..]);
        let read = read.map_err(|error| error.to_string())?;
        self.bytes.truncate(held + read);
        self.is_last = offset + read as u64 >= self.source.size() || read == 0;
        Ok(())
    }

    /// The whole file, if it is no longer than an entry may be.
    ///
    /// # Errors
    /// As [`Window::grow`].
    pub(crate) fn whole(&mut self) -> Result<&[u8], String> {
        while !self.is_last {
            self.grow()?;
        }
        Ok(self.rest())
    }
}
