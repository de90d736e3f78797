//! Cookies allocate nothing after warm-up, and a jar is small.
#![expect(
    unsafe_code,
    reason = "an allocator that counts is the only way to see allocations"
)]

use crate::exchange::{NOW, site};
use drumfire_cookies::Jar;
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

/// The allocations of a thousand rounds, after one warm-up round.
fn allocations(mut round: impl FnMut(u64)) -> u64 {
    round(0);
    let before = ALLOCATIONS.with(Cell::get);
    for number in 1..=1000 {
        round(number);
    }
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn the_same_cookies_again_cost_no_allocation() {
    let at = site("https://shop.example.com/cart");
    let mut jar = Jar::new();
    let mut out = String::with_capacity(1000);
    let values = ["1111", "2222"];
    let count = allocations(|number| {
        let mut field = [0; 60];
        let text = b"session=....; Path=/; Max-Age=600; Secure; HttpOnly";
        field[..text.len()].copy_from_slice(text);
        field[8..12].copy_from_slice(values[number as usize % 2].as_bytes());
        assert!(jar.store(&field[..text.len()], at, NOW + number));
        assert!(jar.store(b"seen=1; Domain=example.com", at, NOW + number));
        assert!(!jar.store(b"lost=1; Domain=example.org", at, NOW + number));
        out.clear();
        jar.write(at, NOW + number, &mut out);
    });
    assert_eq!(count, 0);
    assert_eq!(out, "session=1111; seen=1");
}

#[test]
fn a_jar_that_is_cleared_keeps_its_memory_for_the_next_iteration() {
    let at = site("https://shop.example.com/cart");
    let token = format!("token={}", "t".repeat(1500));
    let fields = [
        &*token,
        "a=1; Path=/",
        "b=22; Max-Age=5",
        "a=; Max-Age=0; Path=/",
    ];
    let mut jar = Jar::new();
    let count = allocations(|number| {
        for field in fields {
            assert!(jar.store(field.as_bytes(), at, NOW + number));
        }
        assert_eq!(jar.len(), 2);
        jar.clear();
    });
    assert_eq!(count, 0);
}

#[test]
fn uncommonly_much_memory_is_given_back() {
    let at = site("https://shop.example.com/");
    let before = LIVE.with(Cell::get);
    let mut jar = Jar::new();
    for name in ["a", "b", "c"] {
        let field = format!("{name}={}", "v".repeat(3000));
        assert!(jar.store(field.as_bytes(), at, NOW));
    }
    assert!(LIVE.with(Cell::get) - before > 9000, "the counter counts");
    jar.clear();
    assert_eq!(LIVE.with(Cell::get), before);
}

#[test]
fn a_jar_is_small() {
    let at = site("https://shop.example.com/");
    let before = LIVE.with(Cell::get);
    let mut jar = Jar::new();
    let live = || LIVE.with(Cell::get) - before;
    jar.store(b"a=1; Max-Age=0", at, NOW);
    assert_eq!(live(), 0, "an empty jar has no memory of its own");
    let session = b"session=0123456789abcdef0123456789abcdef; Path=/; HttpOnly";
    jar.store(session, at, NOW);
    let one = live() + size_of::<Jar>() as i64;
    jar.store(b"theme=dark; Path=/", at, NOW);
    let two = live() + size_of::<Jar>() as i64;
    println!("one cookie {one} bytes, two {two} bytes");
    assert!(one <= 256 && two <= 320, "{one}, {two}");
}
