//! Once warm, inspecting a response does not allocate, except for parsing a page or a tree.

#![expect(
    unsafe_code,
    reason = "an allocator that counts is the only way to see allocations"
)]

use crate::reply::Reply;
use crate::rules::rules;
use drumfire_plan::{Inspection, MismatchKind, Taken};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

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

/// The number of allocations in a thousand inspections of one response.
fn allocations(checks: &[(&str, &str, MismatchKind)], takes: &[&str], reply: &Reply) -> u64 {
    let rules = rules(checks, takes);
    let mut taken = Taken::default();
    let mut look = || {
        taken.clear();
        assert_eq!(rules.inspect(&reply.response(), &mut taken), Ok(()));
    };
    look();
    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..1000 {
        look();
    }
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn what_most_plans_look_at_costs_no_allocation() {
    let body = r#"{"state":"paid","order":{"id":17,"lines":[{"sku":"a\u00e4"},{"sku":"b"}]}}"#;
    let reply = Reply::new(body)
        .with("location", "/orders/17")
        .with("set-cookie", "session=abc; Path=/");
    let checks = [
        ("status", "200", MismatchKind::Header),
        ("time", "<500ms", MismatchKind::Time),
        ("size", "<10kB", MismatchKind::Body),
        ("body", "contains paid", MismatchKind::Body),
        ("body", r"matches /id.:\d+/", MismatchKind::Body),
        ("json $.state", "equals paid", MismatchKind::Body),
        ("header Location", "exists", MismatchKind::Header),
    ];
    let takes = [
        "json $.order.id",
        "json $['order'].lines[1]",
        "json#all $.order.lines[*].sku",
        "json#count $..sku",
        r"regex /id.:(\d+)/",
        "header Location",
        "cookie session",
        "body 10",
        "xxh3",
        "sha256",
    ];
    assert_eq!(allocations(&checks, &takes, &reply), 0);
    let page = allocations(&[], &["css b"], &Reply::new("<b>x</b>"));
    assert!(page > 0, "a tree is made of memory: the counter counts");
}
