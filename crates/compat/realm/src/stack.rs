//! The stacks of fibres, in large mappings: a stack costs the pages that it has touched.

use std::cell::{Cell, RefCell};
use std::io;
use std::num::NonZeroUsize;
use std::ptr;
use std::rc::Rc;

use corosensei::stack::StackPointer;
use corosensei::stack::valgrind::ValgrindStackRegistration;

/// The size of a stack: address space, of which a plain script touches 8 to 16 KiB.
pub(crate) const SIZE: usize = 512 * 1024;

/// The lowest part of a stack, which QuickJS leaves to host functions. QuickJS checks its depth before
/// each call, so that this part is also the guard between two stacks.
pub(crate) const RESERVE: usize = 128 * 1024;

/// The stacks of one mapping. The kernel allows 65,530 mappings by default.
const CHUNK: usize = 64;

/// Stacks above this number have no page below them that stops the program: each such page splits a mapping
/// in two.
const GUARDED_MAX: usize = 8 * 1024;

const PAGE: usize = 4096;

/// What a stack keeps when it is unused. The rest is returned to the system.
const WARM: usize = 32 * 1024;

/// What stays below the frame that returns memory: its own calls, and what a switch saves.
const BELOW_FRAME: usize = 4096;

/// Return to the system what the running stack has touched below this call, in earlier and deeper calls.
/// `floor` is that of the stack.
#[inline(never)]
pub(crate) fn release_below(floor: usize) {
    let here = 0_u8;
    let low = floor - RESERVE + PAGE;
    let high = (std::hint::black_box(&raw const here) as usize - BELOW_FRAME) & !(PAGE - 1);
    if high > low {
        // SAFETY: the part is of our mapping and below the innermost frame, which is that of this function:
        // it is not inlined, and its frame and the call of the system take less than `BELOW_FRAME`. No code
        // reads there before it has written; the pages are zero afterwards.
        unsafe { libc::madvise(low as *mut _, high - low, libc::MADV_DONTNEED) };
    }
}

/// A pool of stacks of one thread.
#[derive(Clone, Default)]
pub(crate) struct Stacks(Rc<Pool>);

#[derive(Default)]
struct Pool {
    chunks: RefCell<Vec<usize>>,
    free: RefCell<Vec<usize>>,
    made: Cell<usize>,
}

impl Stacks {
    /// A stack that no other fibre uses.
    ///
    /// # Errors
    ///
    /// The system's error, if it refuses memory.
    pub(crate) fn take(&self) -> io::Result<Stack> {
        let kept = self.0.free.borrow_mut().pop();
        let low = match kept {
            Some(low) => low,
            None => self.0.make()?,
        };
        let registered = ValgrindStackRegistration::new(low as *mut u8, SIZE);
        Ok(Stack {
            low,
            pool: self.0.clone(),
            _registered: registered,
        })
    }
}

impl Pool {
    fn make(&self) -> io::Result<usize> {
        let made = self.made.get();
        if made.is_multiple_of(CHUNK) {
            let chunk = map(CHUNK * SIZE)?;
            self.chunks.borrow_mut().push(chunk);
        }
        let Some(chunk) = self.chunks.borrow().last().copied() else {
            return Err(io::Error::other("no mapping"));
        };
        let low = chunk + made % CHUNK * SIZE;
        if made < GUARDED_MAX {
            // SAFETY: the page is the lowest of a stack within our mapping that nobody uses.
            check(unsafe { libc::mprotect(low as *mut _, PAGE, libc::PROT_NONE) })?;
        }
        self.made.set(made + 1);
        Ok(low)
    }
}

fn map(size: usize) -> io::Result<usize> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new anonymous mapping at a place of the system's choice.
    let memory = unsafe { libc::mmap(ptr::null_mut(), size, access, flags, -1, 0) };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    #[cfg(target_os = "linux")]
    // SAFETY: the whole of our mapping. Otherwise a touched stack can take 2 MiB. A kernel without huge
    // pages refuses, and needs no advice.
    unsafe {
        libc::madvise(memory, size, libc::MADV_NOHUGEPAGE);
    }
    Ok(memory as usize)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for &chunk in self.chunks.borrow().iter() {
            // SAFETY: the mapping is ours, and no stack is in use: each one holds the pool.
            unsafe { libc::munmap(chunk as *mut _, CHUNK * SIZE) };
        }
    }
}

/// One stack, which returns to its pool when it is dropped.
pub(crate) struct Stack {
    low: usize,
    pool: Rc<Pool>,
    /// Valgrind follows switches only between stacks that it knows. Elsewhere this does nothing.
    _registered: ValgrindStackRegistration,
}

impl Stack {
    /// The lowest address that QuickJS may use.
    pub(crate) fn floor(&self) -> usize {
        self.low + RESERVE
    }

    /// Return the memory of a deep recursion to the system.
    fn trim(&self) {
        const SEEN: usize = 512;
        let warm = self.low + SIZE - WARM;
        // SAFETY: the words are within our mapping, and no fibre runs on this stack. Pages that were not
        // touched are zero.
        let touched = (warm - SEEN..warm)
            .step_by(size_of::<usize>())
            .any(|address| unsafe { ptr::read_volatile(address as *const usize) } != 0);
        if touched {
            let (low, size) = (self.low + PAGE, SIZE - WARM - PAGE);
            // SAFETY: a part of our mapping that nobody uses; it is zero afterwards.
            unsafe { libc::madvise(low as *mut _, size, libc::MADV_DONTNEED) };
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.trim();
        self.pool.free.borrow_mut().push(self.low);
    }
}

// SAFETY: `base` and `limit` enclose SIZE bytes that are mapped as long as the pool exists, which the stack
// holds, and that only this stack uses. Below the first `GUARDED_MAX` stacks is a page without access. The
// others rely on QuickJS's own check, which leaves `RESERVE` bytes, and on host functions, which do not
// recurse.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        address(self.low + SIZE)
    }

    fn limit(&self) -> StackPointer {
        address(self.low)
    }
}

/// The address of a mapping, which is never 0.
fn address(address: usize) -> StackPointer {
    NonZeroUsize::new(address).unwrap_or(NonZeroUsize::MIN)
}
