//! A call allocates nothing once warm: counts the allocations of the data plane.
#![expect(
    unsafe_code,
    reason = "an allocator that counts is the only way to see allocations"
)]

use drumfire_grpc::{
    Compressor, Decompressor, Encoding, Keep, Replies, Reply, ReplySettings, begin_message,
    finish_message, timeout_value, write_message,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending no longer has a counter, and nothing to count.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        let _ = BYTES.try_with(|count| count.set(count.get() + layout.size() as u64));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The result of the work, and the total number of bytes that it allocated.
pub(crate) fn allocated_bytes<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = BYTES.with(Cell::get);
    let result = work();
    (result, BYTES.with(Cell::get) - before)
}

fn allocations(mut work: impl FnMut()) -> u64 {
    work();
    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..1000 {
        work();
    }
    ALLOCATIONS.with(Cell::get) - before
}

/// One call with three messages, in pieces of this size.
fn call(
    reply: &mut Reply,
    settings: &ReplySettings,
    body: &[u8],
    size: usize,
    decompressor: &mut Decompressor,
) {
    reply.start_call(settings);
    let head = [
        ("content-type", &b"application/grpc"[..]),
        ("grpc-encoding", settings.accepted.name().as_bytes()),
        ("trace-bin", b"AQID"),
    ];
    assert_eq!(reply.head(200, head), Ok(()));
    let mut length = 0;
    for piece in body.chunks(size) {
        assert_eq!(
            reply.data(piece, decompressor, |message| length += message.length),
            Ok(())
        );
    }
    let trailers = [("grpc-status", &b"0"[..]), ("grpc-message", b"fine")];
    assert!(reply.trailers(trailers).is_ok());
    assert_eq!((length, reply.messages()), (3000, 3));
}

#[test]
fn replies_allocate_nothing_once_warm() {
    // The states of gzip and zstd are reused as well.
    for accepted in [Encoding::Identity, Encoding::Gzip, Encoding::Zstd] {
        let mut body = Vec::new();
        let mut compressor = Compressor::new(accepted);
        for _ in 0..3 {
            assert_eq!(compressor.write_message(&mut body, &[7; 1000]), Ok(()));
        }
        for keep in [Keep::Length, Keep::Payload] {
            for size in [usize::MAX, 100] {
                let settings = ReplySettings {
                    replies: Replies::Many,
                    accepted,
                    keep,
                    ..ReplySettings::default()
                };
                let mut decompressor = Decompressor::default();
                let mut reply = Reply::new(&settings);
                let counted =
                    allocations(|| call(&mut reply, &settings, &body, size, &mut decompressor));
                assert_eq!(counted, 0, "{accepted:?} {keep:?} {size}");
            }
        }
    }
}

#[test]
fn requests_allocate_nothing_once_warm() {
    let mut out = Vec::new();
    let mut compressors = [Encoding::Gzip, Encoding::Zstd].map(Compressor::new);
    let counted = allocations(|| {
        out.clear();
        assert_eq!(write_message(&mut out, b"hello"), Ok(()));
        let start = begin_message(&mut out);
        out.extend_from_slice(timeout_value(out.len() as u64).as_bytes());
        assert_eq!(finish_message(&mut out, start), Ok(()));
        for compressor in &mut compressors {
            assert_eq!(compressor.write_message(&mut out, &[7; 1000]), Ok(()));
        }
    });
    assert_eq!(counted, 0);
}
