//! Reading and writing allocate nothing once warm, and memory is bounded: counts the allocations.
#![expect(
    unsafe_code,
    reason = "an allocator that counts is the only way to see allocations"
)]

use crate::seen::{DEFLATE, frame};
use drumfire_websocket::{
    Agreed, Closing, Event, Kind, Limits, Outgoing, Reader, Shared, Violation, Writer,
};
use flate2::{Compress, Compression, FlushCompress};
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

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

fn live() -> i64 {
    LIVE.with(Cell::get)
}

/// Reads pieces, and counts the messages.
fn read<'a>(
    reader: &mut Reader,
    shared: &mut Shared,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<u64, Violation> {
    let mut count = 0;
    for mut input in pieces {
        loop {
            let step = reader.handle_input(input, shared)?;
            input = &input[step.consumed..];
            match step.event {
                Event::NeedInput => break,
                Event::Message(_) => count += 1,
                _ => {}
            }
        }
    }
    Ok(count)
}

/// A stream of ten texts, half of them in fragments with a ping between, some of them compressed.
fn stream(is_compressed: bool) -> Vec<u8> {
    let mut packer = Compress::new(Compression::default(), false);
    let mut bytes = Vec::new();
    for number in 0..10 {
        let text = format!("{{\"price\":{number},\"symbol\":\"é☃🦀\"}}").into_bytes();
        let (bit, payload) = match is_compressed {
            false => (0, text),
            true => {
                let mut packed = Vec::with_capacity(1000);
                let done = packer.compress_vec(&text, &mut packed, FlushCompress::Sync);
                assert!(done.is_ok());
                packed.truncate(packed.len() - 4);
                (0x40, packed)
            }
        };
        if number % 2 == 0 {
            bytes.extend(frame(0x81 | bit, &payload));
        } else {
            let (first, second) = payload.split_at(payload.len() / 2);
            let frames = [
                frame(0x01 | bit, first),
                frame(0x89, b"ping"),
                frame(0x80, second),
            ];
            bytes.extend(frames.concat());
        }
    }
    bytes
}

#[test]
fn reading_and_writing_allocate_nothing_once_warm() {
    for agreed in [Agreed::default(), DEFLATE] {
        let is_compressed = agreed.deflate.is_some();
        let stream = stream(is_compressed);
        for size in [usize::MAX, 100, 7, 1] {
            let mut shared = Shared::default();
            let mut reader = Reader::new(&agreed, 1000);
            let mut writer = Writer::new(&agreed);
            let mut out = Vec::with_capacity(10_000);
            let mut play = |turns| {
                for _ in 0..turns {
                    out.clear();
                    let pieces = stream.chunks(size.min(stream.len()));
                    assert_eq!(read(&mut reader, &mut shared, pieces), Ok(10));
                    let message = Outgoing::new(Kind::Text, &stream);
                    writer.message(&mut out, message, &mut || 1, &mut shared);
                    assert!(Writer::pong(&mut out, b"pong", 2).is_ok());
                }
            };
            // A window grows until it is full.
            play(if is_compressed { 200 } else { 2 });
            let before = allocations();
            play(100);
            let count = allocations() - before;
            assert_eq!(count, 0, "pieces of {size}, compressed: {is_compressed}");
        }
    }
}

#[test]
fn an_idle_connection_has_its_structures_and_nothing_else() {
    let sizes = [
        size_of::<Reader>(),
        size_of::<Writer>(),
        size_of::<Closing>(),
    ];
    assert!(sizes.iter().sum::<usize>() <= 168, "{sizes:?}");
    let stream = stream(false);
    let mut shared = Shared::default();
    let mut warm = Reader::new(&Agreed::default(), 1000);
    assert_eq!(read(&mut warm, &mut shared, stream.chunks(3)), Ok(10));
    let before = live();
    let readers: Vec<_> = (0..100)
        .map(|_| {
            let mut reader = Reader::new(&Agreed::default(), 1000);
            assert_eq!(read(&mut reader, &mut shared, stream.chunks(3)), Ok(10));
            reader
        })
        .collect();
    let structures = 100 * size_of::<Reader>() as i64;
    // A `Vec` may have more room than elements.
    assert!(
        live() - before <= 2 * structures,
        "{} bytes",
        live() - before
    );
    drop(readers);
}

#[test]
fn memory_is_bounded_by_what_is_kept() {
    const KEEP: usize = 10_000;
    let zeros = vec![0; 1 << 20];
    let mut packed = Vec::with_capacity(10_000);
    let mut packer = Compress::new(Compression::default(), false);
    let done = packer.compress_vec(&zeros, &mut packed, FlushCompress::Sync);
    assert!(done.is_ok());
    packed.truncate(packed.len() - 4);
    let hostile = [
        // A frame of 1 MiB, endless fragments, a claim of 2⁶² bytes, a bomb.
        frame(0x82, &zeros),
        [b"\x02\x01a".to_vec(), b"\x00\x03aaa".repeat(100_000)].concat(),
        [&b"\x82\x7f\x40\0\0\0\0\0\0\0"[..], &zeros].concat(),
        frame(0xc2, &packed),
    ];
    for bytes in &hostile {
        let before = live();
        let mut shared = Shared::new(Limits {
            message_bytes: 1 << 62,
        });
        let mut reader = Reader::new(&DEFLATE, KEEP);
        let mut most = 0;
        for piece in bytes.chunks(1000) {
            assert!(read(&mut reader, &mut shared, [piece]).is_ok());
            most = most.max(live() - before);
        }
        // Twice the kept bytes, because buffers grow by doubling; the pieces in which a message is
        // decompressed, the decompressor, and the window with its slack.
        let bound = 2 * KEEP + 16 * 1024 + 64 * 1024 + 36 * 1024;
        assert!(most <= bound as i64, "{most} bytes, {}", bytes[0]);
    }
}

#[test]
fn a_context_of_ours_takes_a_compressor_and_one_of_the_server_a_window() {
    let mut shared = Shared::default();
    let (mut first, mut second) = (Writer::new(&DEFLATE), Writer::new(&DEFLATE));
    let mut out = Vec::with_capacity(1000);
    let mut send = |writer: &mut Writer, shared: &mut Shared| {
        let before = live();
        out.clear();
        let message = Outgoing::new(Kind::Text, b"a message, a message");
        writer.message(&mut out, message, &mut || 1, shared);
        live() - before
    };
    send(&mut first, &mut shared);
    let compressor = send(&mut second, &mut shared);
    assert!(
        (300_000..400_000).contains(&compressor),
        "{compressor} bytes"
    );
    assert_eq!(send(&mut second, &mut shared), 0);

    let stream = stream(true);
    let mut warm = Reader::new(&DEFLATE, 1000);
    assert_eq!(read(&mut warm, &mut shared, stream.chunks(3)), Ok(10));
    let before = live();
    let mut reader = Reader::new(&DEFLATE, 1000);
    assert_eq!(read(&mut reader, &mut shared, stream.chunks(3)), Ok(10));
    let window = live() - before;
    assert!((300..2000).contains(&window), "{window} bytes");
}
