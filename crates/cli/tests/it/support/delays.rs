//! What only a punctual machine shows, and how far this one was from that.
//!
//! A rate, a time and what was done within a time depend on the machine as well: where other programs
//! have its cores, they say nothing of ours. A test looks at them [`punctually`], and at its counts and
//! books in any case.

use super::turn::{self, alone};
use std::fs;
use std::thread::available_parallelism;
use std::time::Duration;

/// Ticks of the kernel's clock in a second, as it shows times to programs.
const TICKS: u64 = 100;

/// How often what failed is tried again with the machine alone.
const MORE: usize = 3;

/// Makes an attempt, which asserts what holds on any machine and returns what is wrong with its times.
/// Where something is, other tests may have had the cores, and it is tried again without them. What is
/// wrong each time is a defect, unless other programs kept the machine from being punctual each time:
/// its delays were longer than `slack`, the time by which something may be late.
#[track_caller]
pub(crate) fn punctually(slack: Duration, attempt: impl Fn() -> Result<(), String>) {
    if let Err(wrong) = attempt() {
        let known = try_again(slack, attempt);
        assert_eq!(known, Ok(()), "at first: {wrong}");
    }
}

/// Tries what has failed again with the machine alone: what is wrong with it, if it is a defect.
pub(crate) fn try_again(
    slack: Duration,
    attempt: impl Fn() -> Result<(), String>,
) -> Result<(), String> {
    let _turn = (!turn::is_alone()).then(alone);
    let mut found = Vec::new();
    let mut least = Duration::MAX;
    for _ in 0..MORE {
        let delays = Delays::begin();
        let Err(wrong) = attempt() else { return Ok(()) };
        found.push(wrong);
        least = least.min(delays.most());
    }
    let found = found.join("\n");
    if least <= slack {
        return Err(format!(
            "the machine was late by {least:?} at most: {found}"
        ));
    }
    eprintln!("this machine is late by {least:?}, and nothing is known of this: {found}");
    Ok(())
}

/// What is wrong where a condition of times does not hold.
pub(crate) fn in_time(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// The delays of this machine since a moment.
#[derive(Debug)]
pub(crate) struct Delays {
    /// For how long programs had been kept waiting by then.
    before: Option<Duration>,
}

impl Delays {
    pub(crate) fn begin() -> Self {
        Self { before: waited() }
    }

    /// The most by which anything may have come later since, whatever waited for whatever else; without
    /// end on a machine that does not say.
    pub(crate) fn most(&self) -> Duration {
        let waited = waited().zip(self.before);
        waited.map_or(Duration::MAX, |(now, before)| now.saturating_sub(before))
    }
}

/// For how long, since the machine has started, programs that were ready had no core, or none while its
/// hypervisor had it, and for how long they waited for a disk or for memory.
fn waited() -> Option<Duration> {
    let stalled = |of: &str| {
        let text = fs::read_to_string(format!("/proc/pressure/{of}")).ok()?;
        // some avg10=0.00 avg60=0.00 avg300=0.00 total=12345
        let some = text.lines().find(|line| line.starts_with("some "))?;
        let total = some.rsplit_once("total=")?.1.parse().ok()?;
        Some(Duration::from_micros(total))
    };
    // Of the cores only their mean is told, and one of them may have kept all programs waiting.
    let cores = available_parallelism().map_or(1, |cores| cores.get() as u32);
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let stolen: u64 = stat.split_whitespace().nth(8)?.parse().ok()?;
    let others = ["io", "memory"].map(|of| stalled(of).unwrap_or_default());
    let others = others.iter().sum::<Duration>();
    Some(stalled("cpu")? * cores + others + Duration::from_millis(stolen * 1_000 / TICKS))
}

#[test]
fn what_is_late_on_a_busy_machine_is_no_defect() {
    use std::cell::Cell;
    use std::time::Instant;
    let cores = available_parallelism().map_or(1, |cores| cores.get());
    let busy = || {
        let end = Instant::now() + Duration::from_millis(300);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    };
    // Three for each core: whichever is counted waits for most of that time.
    let delays = Delays::begin();
    let many = || {
        std::thread::scope(|scope| {
            for _ in 0..3 * cores {
                scope.spawn(busy);
            }
        });
    };
    many();
    assert!(delays.most() >= Duration::from_millis(100), "{delays:?}");
    let tries = Cell::new(0);
    let late = || {
        tries.set(tries.get() + 1);
        many();
        Err("late".to_owned())
    };
    punctually(Duration::from_millis(100), late);
    assert_eq!(tries.get(), 1 + MORE);
    // What succeeds once was late by chance, and what fails on a machine that waits for nothing was not.
    let third = || in_time(tries.replace(tries.get() + 1) == 1 + MORE + 2, String::new);
    punctually(Duration::MAX, third);
    assert_eq!(tries.get(), 1 + MORE + 3);
    let wrong = std::panic::catch_unwind(|| punctually(Duration::MAX, || Err("wrong".to_owned())));
    assert!(wrong.is_err());
}
