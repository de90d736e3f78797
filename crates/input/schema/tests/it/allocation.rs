//! A valid reply is checked without allocation, including its required fields.

#![expect(
    unsafe_code,
    reason = "an allocator that counts is the only way to see allocations"
)]

use drumfire_plan::ReplyCheck;
use drumfire_schema::{ReplyForm, Schema};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::ErrorKind;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending has lost its counter, and its allocations do not matter.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
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

#[test]
fn a_right_reply_costs_no_allocation() {
    let plain_proto = include_str!("fixture/plain.proto");
    let old_proto = include_str!("fixture/old.proto");
    // A name, a child with a number, packed numbers.
    let plain = [0x2a, 1, b'a', 0x42, 2, 0x08, 7, 0x52, 3, 1, 2, 3];
    // n, the part with its name, raw; then the same bytes again as a child.
    let need = [0x08, 1, 0x1b, 0x0a, 0, 0x1c, 0xe2, 0x2b, 0];
    let child = [&need[..], &[0x12, need.len() as u8], &need].concat();
    // The child in two parts: n, and the rest.
    let halves = [&need[..], &[0x12, 2], &need[..2], &[0x12, 7], &need[2..]].concat();
    for (text, method, message, allocates) in [
        (plain_proto, "plain.v1.Service/Call", &plain[..], false),
        (old_proto, "old.v1.Service/Need", &need, false),
        (old_proto, "old.v1.Service/Need", &child, false),
        (old_proto, "old.v1.Service/Need", &halves, true),
    ] {
        let read = |name: &str| match name {
            "a.proto" => Ok(text.as_bytes().to_vec()),
            _ => Err(ErrorKind::NotFound.into()),
        };
        let schema = Schema::from_proto(&["a.proto".to_owned()], &[], read).unwrap();
        let method = schema.method(method).unwrap();
        let form = ReplyForm::for_method(&method);
        let before = ALLOCATIONS.with(Cell::get);
        for _ in 0..1000 {
            assert_eq!(form.check(message), Ok(()));
        }
        let count = ALLOCATIONS.with(Cell::get) - before;
        assert_eq!(count > 0, allocates, "{count} allocations: {message:x?}");
    }
}
