//! A stream allocates nothing once warm, and its memory is bounded: counts the allocations.
#![expect(
    unsafe_code,
    reason = "an allocator that counts is the only way to see allocations"
)]

use drumfire_sse::{Ending, Reader, TooLong};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending has lost its counter, and its allocations do not matter.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        let _ = LIVE.try_with(|live| live.set(live.get() + layout.size() as i64));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = LIVE.try_with(|live| live.set(live.get() - layout.size() as i64));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn streams_allocate_nothing_once_warm() {
    let mut stream = b"\xef\xbb\xbfretry: 100\n\n".to_vec();
    for number in 0..50 {
        let event = format!(
            "id: {number}\nevent: token\ndata: {{\"choices\":[{{\"é\":{number}}}]}}\ndata: \r\n\r\n"
        );
        stream.extend_from_slice(event.as_bytes());
    }
    for size in [usize::MAX, 100, 7, 1] {
        let size = size.min(stream.len());
        let mut reader = Reader::new(1024);
        let mut play = || {
            reader.begin(1024);
            let mut count = 0;
            for (stamp, slice) in (0..).zip(stream.chunks(size)) {
                assert_eq!(reader.push(slice, stamp, |_| count += 1), Ok(()));
            }
            assert_eq!(reader.finish(|_| count += 1), Ending::Whole);
            assert_eq!(count, 50);
        };
        play();
        let before = ALLOCATIONS.with(Cell::get);
        (0..100).for_each(|_| play());
        assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0, "slices of {size}");
    }
}

#[test]
fn memory_is_bounded_by_the_limit() {
    const LIMIT: usize = 64 * 1024;
    let hostile: [&[u8]; 5] = [
        b"x",
        b": ",
        b"data: ab\n",
        b"data: \xff\n",
        b"id: 1\nevent: 2\n",
    ];
    for piece in hostile {
        let slice = piece.repeat(1000);
        let before = LIVE.with(Cell::get);
        let mut reader = Reader::new(LIMIT);
        let mut pushed = Ok(());
        for _ in 0..200 {
            pushed = reader.push(&slice, 0, |_| ());
            let live = LIVE.with(Cell::get) - before;
            // Buffers grow by doubling.
            assert!(live <= 6 * LIMIT as i64, "{piece:?}: {live} bytes");
        }
        let is_fields = piece.starts_with(b"id");
        assert_eq!(pushed, if is_fields { Ok(()) } else { Err(TooLong) });
        reader.begin(LIMIT);
        let live = LIVE.with(Cell::get) - before;
        assert!(live <= 4 * 16 * 1024, "{piece:?}: {live} bytes are kept");
    }
}
