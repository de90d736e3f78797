//! State that the connections of one worker share: limits, the memory of recent heads, spare
//! buffers.

use crate::Limits;
use crate::framing::{Framing, RequestKind};
use crate::head::Parsed;
use crate::scan::Scan;

/// How many heads are remembered. A target mostly answers one request with one head; a second is
/// useful when its date changes, or when two kinds of answers alternate.
const HEADS: usize = 2;
/// A longer head is not remembered: comparing it would cost as much as reading it.
const HEAD_BYTES_REMEMBERED: usize = 2048;
/// How many buffers for split heads are kept for later ones.
const SPARES: usize = 64;
/// A spare buffer that has grown beyond this is returned to the system.
const SPARE_BYTES: usize = 8 * 1024;

/// One worker's scratch space. Every [`crate::Machine`] of the worker uses it.
#[derive(Debug)]
pub struct Shared {
    pub(crate) limits: Limits,
    pub(crate) memory: HeadMemory,
    /// The last head that was assembled from pieces or unfolded, to which [`crate::Head`] points.
    pub(crate) assembled: Vec<u8>,
    #[expect(
        clippy::vec_box,
        reason = "a machine holds one by its box, to stay small"
    )]
    spares: Vec<Box<Assembly>>,
}

/// A head that has not arrived completely yet.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    pub(crate) bytes: Vec<u8>,
    pub(crate) scan: Scan,
}

impl Shared {
    /// Creates scratch space with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            memory: HeadMemory::default(),
            assembled: Vec::new(),
            spares: Vec::new(),
        }
    }

    /// The limits that it was created with.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Takes an empty assembly, reused if possible.
    pub(crate) fn take_assembly(&mut self) -> Box<Assembly> {
        self.spares.pop().unwrap_or_default()
    }

    /// Returns an assembly whose bytes are no longer needed.
    pub(crate) fn give_back(&mut self, mut assembly: Box<Assembly>) {
        if self.spares.len() < SPARES && assembly.bytes.capacity() <= SPARE_BYTES {
            assembly.bytes.clear();
            assembly.scan = Scan::default();
            self.spares.push(assembly);
        }
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

/// A cache of recent heads and their meaning. A head is read again only if it differs from all of
/// them in at least one byte. Equal bytes in answer to requests of one kind have equal meaning, so
/// the memory can't be wrong.
#[derive(Debug, Default)]
pub(crate) struct HeadMemory {
    entries: [Option<Remembered>; HEADS],
    latest: usize,
}

#[derive(Debug)]
struct Remembered {
    bytes: Vec<u8>,
    kind: RequestKind,
    framing: Framing,
}

impl HeadMemory {
    /// The meaning of the head at the start of `input`, if it is cached.
    #[inline]
    pub(crate) fn recall(&mut self, input: &[u8], kind: RequestKind) -> Option<Parsed> {
        for step in 0..HEADS {
            let index = (self.latest + step) % HEADS;
            if let Some(entry) = &self.entries[index]
                && entry.kind == kind
                && input.starts_with(&entry.bytes)
            {
                self.latest = index;
                return Some(Parsed {
                    length: entry.bytes.len(),
                    framing: entry.framing,
                });
            }
        }
        None
    }

    /// Remembers a head, and drops the least recently used one.
    pub(crate) fn learn(&mut self, head: &[u8], kind: RequestKind, framing: Framing) {
        if head.len() > HEAD_BYTES_REMEMBERED {
            return;
        }
        self.latest = (self.latest + HEADS - 1) % HEADS;
        let entry = &mut self.entries[self.latest];
        let mut bytes = entry.take().map(|old| old.bytes).unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(head);
        *entry = Some(Remembered {
            bytes,
            kind,
            framing,
        });
    }
}
