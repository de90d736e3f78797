//! Requests and responses allocate nothing once warm, and a connection is small.
#![expect(
    unsafe_code,
    reason = "an allocator that counts is the only way to see allocations"
)]

use crate::peer::{END_STREAM, data, headers, request, settings};
use drumfire_http2::{Connection, EndStream, Event, Head, Settings, StreamRef};
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
        // A thread that is ending no longer has a counter, and nothing to count.
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

fn ready() -> Connection {
    let mut connection = Connection::new(&Settings::default());
    feed(&mut connection, &settings(&[]), 9);
    connection
}

/// Passes input in pieces of `piece` bytes; returns how many responses ended.
fn feed(connection: &mut Connection, input: &[u8], piece: usize) -> usize {
    let mut ended = 0;
    for mut rest in input.chunks(piece) {
        loop {
            let step = connection.handle_input(rest).expect("no violation");
            rest = &rest[step.consumed..];
            match step.event {
                Event::NeedInput => break,
                Event::Head { end: true, .. }
                | Event::Data { end: true, .. }
                | Event::Trailers { .. } => ended += 1,
                _ => {}
            }
        }
    }
    connection.output_sent(connection.output().len());
    ended
}

/// Opens a hundred requests at a time, each with the body `body` unless it is empty.
fn open(connection: &mut Connection, head: &Head, body: &[u8], streams: &mut Vec<StreamRef>) {
    streams.clear();
    let end = if body.is_empty() {
        EndStream::Yes
    } else {
        EndStream::No
    };
    for token in 0..100 {
        let extra: [(&[u8], &[u8]); 1] = [(b"x-request", b"17")];
        let stream = connection.open(token, head, &extra, end).expect("room");
        if !body.is_empty() {
            let taken = connection.send_data(stream, body, EndStream::Yes);
            assert_eq!(taken, Ok(body.len()));
        }
        streams.push(stream);
    }
    connection.output_sent(connection.output().len());
}

/// Counts the allocations of many rounds, after some rounds to warm up.
fn check(body: &[u8], piece: usize, answer: impl Fn(u32, u32) -> Vec<u8>) {
    let mut connection = ready();
    let head = request("POST");
    let mut streams = Vec::with_capacity(100);
    let mut allocations = 0;
    for round in 0..60 {
        let before = ALLOCATIONS.with(Cell::get);
        open(&mut connection, &head, body, &mut streams);
        let opened = ALLOCATIONS.with(Cell::get) - before;
        // The server allows as many bytes of uploads again.
        let mut answers = crate::peer::number(8, 0, 100 * body.len().max(1) as u32);
        answers.extend(streams.iter().flat_map(|stream| answer(stream.id(), round)));
        let before = ALLOCATIONS.with(Cell::get);
        assert_eq!(feed(&mut connection, &answers, piece), 100);
        if round >= 30 {
            allocations += opened + ALLOCATIONS.with(Cell::get) - before;
        }
    }
    assert_eq!(allocations, 0);
}

fn small(stream: u32, _: u32) -> Vec<u8> {
    let fields = [
        (":status", "200"),
        ("server", "nginx"),
        ("content-length", "100"),
    ];
    [
        headers(stream, 0, &fields),
        data(stream, END_STREAM, &[0; 100]),
    ]
    .concat()
}

/// The date changes from round to round, and is put into the table each time.
fn dated(stream: u32, round: u32) -> Vec<u8> {
    let block = [&[0x88, 0x61, 4][..], format!("{round:4}").trim().as_bytes()].concat();
    let mut block = block;
    let digits = block.len() - 3;
    block[2] = digits as u8;
    let trailers = headers(stream, END_STREAM, &[("grpc-status", "0")]);
    [
        crate::peer::frame(1, 4, stream, &block),
        data(stream, 0, &[0; 17]),
        trailers,
    ]
    .concat()
}

#[test]
fn requests_and_responses_allocate_nothing() {
    check(b"", usize::MAX, small);
    check(&[0; 200], usize::MAX, small);
}

#[test]
fn responses_in_pieces_allocate_nothing() {
    check(b"", 7, small);
    check(b"", 1000, dated);
}

#[test]
fn a_connection_is_small() {
    let size = |live: i64| live as usize + size_of::<Connection>();
    let head = request("GET");
    let before = LIVE.with(Cell::get);
    let mut connection = ready();
    connection.output_sent(connection.output().len());
    let fresh = LIVE.with(Cell::get) - before;
    let stream = connection
        .open(1, &head, &[], EndStream::Yes)
        .expect("room");
    let answer = small(stream.id(), 0);
    let before_answer = LIVE.with(Cell::get);
    let used = before_answer - before + {
        feed(&mut connection, &answer, 9);
        LIVE.with(Cell::get) - before_answer
    } - answer.capacity() as i64;
    println!("fresh {} bytes, used {} bytes", size(fresh), size(used));
    assert!(size(fresh) < 2048, "{}", size(fresh));
    assert!(size(used) < 4096, "{}", size(used));
}
