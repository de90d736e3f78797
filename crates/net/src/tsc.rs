//! The processor's time-stamp counter, as a cheap hand between two looks at the real clock.
//!
//! A look at the system's clock costs some 30 ns, which two stamps in every exchange would make a
//! visible part of its cost; the counter costs a third of it. It is anchored to the real clock some
//! thousands of times a second, so that neither its drift nor a change of processor adds up.

use std::cell::Cell;

/// The counter may be trusted between anchors where the kernel itself keeps time by it.
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// The rate is known well enough after this long: an error of 100 ns in 20 ms is 5 ppm.
const CALIBRATION: u64 = 20_000_000;

/// An anchor holds for so many ticks, half a millisecond or less: an error of 50 ppm is 25 ns then.
const ANCHOR_TICKS: u64 = 1_000_000;

/// Nanoseconds by the counter, anchored to another clock.
#[derive(Debug)]
pub(crate) struct Hand {
    /// Where the rate is measured from: nanoseconds and ticks.
    first: (u64, u64),
    anchor: Cell<(u64, u64)>,
    /// Nanoseconds in a tick, times 2^32; 0 until it is known.
    scale: Cell<u64>,
    /// The latest reading handed out: time never runs backwards.
    latest: Cell<u64>,
}

impl Hand {
    /// A hand that knows its rate after some milliseconds of anchors; `None` where the counter is
    /// not to be trusted.
    pub(crate) fn new(now: u64) -> Option<Self> {
        let source = std::fs::read_to_string(CLOCK_SOURCE).ok()?;
        let ticks = ticks().filter(|_| source.trim() == "tsc")?;
        Some(Self {
            first: (now, ticks),
            anchor: Cell::new((now, ticks)),
            scale: Cell::new(0),
            latest: Cell::new(now),
        })
    }

    /// Whether the last anchor is so old that the next look at the real clock is worth its cost.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        let (_, count) = self.anchor.get();
        self.scale.get() == 0 || ticks().is_none_or(|now| now.wrapping_sub(count) > ANCHOR_TICKS)
    }

    /// Sets the hand by the real clock, read at this moment.
    pub(crate) fn anchor(&self, now: u64) {
        let Some(ticks) = ticks() else { return };
        self.anchor.set((now, ticks));
        let (time, count) = (
            now.wrapping_sub(self.first.0),
            ticks.wrapping_sub(self.first.1),
        );
        if time >= CALIBRATION && count > 0 {
            let scale = (u128::from(time) << 32) / u128::from(count);
            self.scale.set(u64::try_from(scale).unwrap_or(0));
        }
    }

    /// The time by the counter; `None` until its rate is known.
    #[inline]
    pub(crate) fn read(&self) -> Option<u64> {
        let scale = self.scale.get();
        if scale == 0 {
            return None;
        }
        let (time, count) = self.anchor.get();
        let passed = ticks()?.saturating_sub(count);
        let now = time + ((u128::from(passed) * u128::from(scale)) >> 32) as u64;
        let now = now.max(self.latest.get());
        self.latest.set(now);
        Some(now)
    }

    /// A reading of the real clock, held to what the hand has already shown.
    #[inline]
    pub(crate) fn hold(&self, now: u64) -> u64 {
        let now = now.max(self.latest.get());
        self.latest.set(now);
        now
    }
}

/// The counter.
#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "the instruction has no safe form")]
#[expect(clippy::unnecessary_wraps, reason = "other processors have none")]
fn ticks() -> Option<u64> {
    // SAFETY: RDTSC reads a register and nothing else; user space may run it on every system whose
    // clock source is the counter.
    Some(unsafe { core::arch::x86_64::_rdtsc() })
}

/// There is no counter that is known to be cheap and steady.
#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;

    #[test]
    fn follows_the_real_clock_and_never_runs_backwards() {
        let clock = Clock::start();
        let Some(hand) = Hand::new(clock.now().0) else {
            return;
        };
        while hand.read().is_none() {
            hand.anchor(clock.now().0);
        }
        let mut before = 0;
        for round in 0..100_000 {
            if round % 1_000 == 0 {
                hand.anchor(clock.now().0);
            }
            let (early, read, late) = (clock.now().0, hand.read().unwrap(), clock.now().0);
            assert!(read >= before);
            before = read;
            // 20 µs is much for a drift of some ppm, and little for a machine that is busy.
            assert!(
                read + 20_000 >= early && read <= late + 20_000,
                "{early} {read} {late}"
            );
        }
    }
}
