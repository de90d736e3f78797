//! Counts allocations, to check that recording allocates nothing.
#![expect(
    unsafe_code,
    reason = "an allocator that counts is the only way to see allocations"
)]

use crate::samples;
use drumfire_measure::{
    Interval, IterationSample, Leniencies, Outcome, PoolSeries, RunInfo, Sample, form,
};
use drumfire_units::Nanos;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that the thread has allocated and not freed.
    static BYTES: Cell<i64> = const { Cell::new(0) };
    /// The maximum of these bytes.
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending no longer has a counter, and nothing to count.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        let _ = BYTES.try_with(|bytes| {
            bytes.set(bytes.get() + layout.size() as i64);
            let _ = PEAK.try_with(|peak| peak.set(peak.get().max(bytes.get())));
        });
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = BYTES.try_with(|bytes| bytes.set(bytes.get() - layout.size() as i64));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

fn samples_of_every_kind() -> Vec<Sample> {
    (0..100_000u64)
        .map(|n| {
            let start = Nanos(n * 10_000);
            let took = Nanos(n.wrapping_mul(2_654_435_761) % 7_200_000_000_000);
            let kinds = Outcome::ALL.len() as u64 * 2;
            let outcome = Outcome::ALL.get((n % kinds) as usize);
            let sample = match outcome {
                None | Some(Outcome::Ok) => samples::late(start, Nanos(n % 5000), took),
                Some(failure) => samples::failed(start, took, *failure),
            };
            Sample {
                step: (n % 3) as u16,
                leniencies: Leniencies((n % 512) as u16),
                ..sample
            }
        })
        .collect()
}

#[test]
fn a_hundred_thousand_records_and_no_allocation() {
    let samples = samples_of_every_kind();
    let names: Vec<Arc<str>> = ["a", "b", "c"].map(Arc::from).to_vec();
    let mut interval = Interval::of_pools([PoolSeries {
        steps: &names,
        iterations: true,
        scenarios: &names,
    }]);
    // The first lower bound and the first status allocate memory.
    for step in 0..3 {
        let timeout = samples::failed(Nanos(0), Nanos(7), Outcome::TimeoutTotal);
        interval.total.record(&Sample { step, ..timeout });
        let ok = samples::ok(Nanos(0), Nanos(7));
        interval.total.record(&Sample { step, ..ok });
    }
    let iteration = |sample: &Sample| IterationSample {
        scenario: u32::from(sample.step),
        intended: sample.intended,
        end: sample.end,
        outcome: sample.outcome,
    };
    let timeout = samples::failed(Nanos(0), Nanos(7), Outcome::TimeoutTotal);
    for step in 0..3 {
        let timeout = iteration(&Sample { step, ..timeout });
        interval.total.record_iteration(&timeout);
    }
    interval.reset(0, Nanos::ZERO);
    let counted = allocations(|| {
        for sample in &samples {
            interval.total.record_intended(1);
            interval.total.record(sample);
            interval.total.record_warmup(sample);
            interval.total.record_iterations_intended(1);
            interval.total.record_iteration(&iteration(sample));
            interval.total.connections.record_opened(Nanos(7));
        }
        interval.total.record_dropped(1);
        interval.total.record_iterations_dropped(1);
    });
    assert_eq!(counted, 0);
    interval.sum_up();
    assert_eq!(interval.total.counts.sent, 100_000);
    assert!(interval.total.latency.response_time.beyond() > 0);
    // Checks the counter itself.
    assert!(allocations(|| drop(Interval::new(&names))) > 0);
}

/// The bytes that an interval allocates for each of ten thousand steps, minus those for one step.
fn bytes_a_step(work: impl Fn(&mut Interval)) -> i64 {
    let taken = |steps: u64| {
        let names: Vec<Arc<str>> = (0..steps).map(|n| Arc::from(n.to_string())).collect();
        let before = BYTES.with(Cell::get);
        let mut interval = Interval::new(&names);
        work(&mut interval);
        interval.sum_up();
        let bytes = BYTES.with(Cell::get) - before;
        drop(interval);
        bytes
    };
    (taken(10_000) - taken(1)) / 10_000
}

/// docs/manual/limits.md contains these figures.
#[test]
fn a_step_of_many_takes_what_it_uses() {
    let unused = bytes_a_step(|_| {});
    assert!((1_000..=1_720).contains(&unused), "{unused} bytes");
    let used = bytes_a_step(|interval| {
        for n in 0..100_000_u64 {
            let sample = samples::ok(Nanos(n), Nanos(1_000_000 + n * n));
            let step = (n % 10_000) as u16;
            interval.total.record(&Sample { step, ..sample });
        }
    });
    assert!((2_000..=2_720).contains(&used), "{used} bytes");
}

/// The maximum of the bytes that the work allocates at a time.
fn peak(work: impl FnOnce()) -> i64 {
    let before = BYTES.with(Cell::get);
    PEAK.with(|peak| peak.set(before));
    work();
    PEAK.with(Cell::get) - before
}

/// Counts in hostile bytes reserve no memory: only items that are present do.
#[test]
fn a_decoder_takes_memory_in_proportion_to_its_bytes() {
    /// The maximum of the bytes of memory that a decoded item needs for each encoded byte; a list
    /// may reserve memory for twice its items.
    const FACTOR: i64 = 512;
    let mut info = crate::form::run_info(crate::form::pools(), 3);
    info.pools[0].asked = Some(crate::asked::asked_by_number(0x0123_4567_89ab_cdef));
    let bytes = form::encode(&info);
    for at in 0..bytes.len() {
        for byte in [0, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = byte;
            let bound = FACTOR * changed.len() as i64;
            let taken = peak(|| drop(form::decode::<RunInfo>(&changed)));
            assert!(taken <= bound, "{taken} bytes for byte {at}");
        }
        let mut changed = bytes[..at].to_vec();
        changed.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        let bound = FACTOR * changed.len() as i64;
        let taken = peak(|| drop(form::decode::<RunInfo>(&changed)));
        assert!(taken <= bound, "{taken} bytes for a count at {at}");
    }
}
