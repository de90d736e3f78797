//! Checks that need a punctual machine, and measures how punctual this machine was.
//!
//! A rate, a time, and the work done within a time depend on the machine as well. If other programs
//! use its cores, these figures are not a property of drumfire. A test checks them inside
//! [`punctually`], and checks its counts in any case.

use super::turn::{self, alone};
use std::fs;
use std::thread::available_parallelism;
use std::time::Duration;

/// The kernel's clock ticks per second, in times that it shows to programs.
const TICKS: u64 = 100;

/// The number of repetitions of a failed attempt with the machine alone.
const MORE: usize = 3;

/// Runs an attempt. The attempt asserts everything that holds on any machine, and returns an error
/// if its times are wrong.
///
/// Other tests may have used the cores, so a failed attempt is repeated without them. If every
/// attempt fails, this is a defect, unless other programs delayed every attempt by more than
/// `slack`, the maximum delay that the test tolerates.
#[track_caller]
pub(crate) fn punctually(slack: Duration, attempt: impl Fn() -> Result<(), String>) {
    if let Err(wrong) = attempt() {
        let known = try_again(slack, attempt);
        assert_eq!(known, Ok(()), "at first: {wrong}");
    }
}

/// Repeats a failed attempt with the machine alone. Returns the errors if they are a defect.
pub(crate) fn try_again(
    slack: Duration,
    attempt: impl Fn() -> Result<(), String>,
) -> Result<(), String> {
    let _turn = (!turn::is_alone()).then(alone);
    let mut found = Vec::new();
    let mut least = Duration::MAX;
    for _ in 0..MORE {
        let delays = Delays::start();
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

/// An error if a condition on times does not hold.
pub(crate) fn in_time(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// The delays of this machine since a moment.
#[derive(Debug)]
pub(crate) struct Delays {
    /// The total time for which programs had waited at that moment.
    before: Option<Duration>,
}

impl Delays {
    pub(crate) fn start() -> Self {
        Self { before: waited() }
    }

    /// The maximum delay since the start, whichever waits added up; unlimited if the machine does
    /// not report waits.
    pub(crate) fn most(&self) -> Duration {
        let waited = waited().zip(self.before);
        waited.map_or(Duration::MAX, |(now, before)| now.saturating_sub(before))
    }
}

/// The total time since the machine started for which ready programs had no core, or none because
/// the hypervisor used it, plus the time for which programs waited for a disk or for memory.
fn waited() -> Option<Duration> {
    let stalled = |of: &str| {
        let text = fs::read_to_string(format!("/proc/pressure/{of}")).ok()?;
        // some avg10=0.00 avg60=0.00 avg300=0.00 total=12345
        let some = text.lines().find(|line| line.starts_with("some "))?;
        let total = some.rsplit_once("total=")?.1.parse().ok()?;
        Some(Duration::from_micros(total))
    };
    // The kernel reports only the mean over the cores, and one of them may have delayed all
    // programs.
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
    // Three threads per core: a counted thread waits for most of that time.
    let delays = Delays::start();
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
    // An attempt that succeeds once was late by chance. One that fails although nothing on the
    // machine waited is a defect.
    let third = || in_time(tries.replace(tries.get() + 1) == 1 + MORE + 2, String::new);
    punctually(Duration::MAX, third);
    assert_eq!(tries.get(), 1 + MORE + 3);
    let wrong = std::panic::catch_unwind(|| punctually(Duration::MAX, || Err("wrong".to_owned())));
    assert!(wrong.is_err());
}
