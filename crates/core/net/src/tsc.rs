//! The processor's time-stamp counter, as a cheap clock between two readings of the real clock.
//!
//! A reading of the system's clock costs some 30 ns. Two time stamps in every exchange would make
//! that a visible part of the exchange's cost; the counter costs a third of it. It is anchored to
//! the real clock some thousands of times a second, so that neither its drift nor a change of
//! processor adds up.

use std::cell::Cell;

/// The counter can be trusted between anchors if the kernel itself keeps time by it.
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// The rate is known precisely enough after this time: an error of 100 ns in 20 ms is 5 ppm.
const CALIBRATION: u64 = 20_000_000;

/// An anchor is valid for this many ticks, half a millisecond or less, in which an error of 50 ppm
/// makes 25 ns.
const ANCHOR_TICKS: u64 = 1_000_000;

/// The maximum number of times that both clocks are read until one of the readings is close.
const LOOKS: u32 = 8;

/// A reading is close if it takes at most this many ticks, a microsecond or less: then the thread
/// was not descheduled between the two clocks, which would make this clock wrong by that time.
const CLOSE_TICKS: u64 = 2_000;

/// The real clock and the counter at one moment, or any two clocks of some billion ticks a second:
/// the closest of several readings.
pub(crate) fn look(clock: impl Fn() -> u64, ticks: impl Fn() -> Option<u64>) -> Option<(u64, u64)> {
    let mut closest: Option<(u64, (u64, u64))> = None;
    for _ in 0..LOOKS {
        let (before, now, after) = (ticks()?, clock(), ticks()?);
        let apart = after.saturating_sub(before);
        if closest.is_none_or(|(least, _)| apart < least) {
            closest = Some((apart, (now, before + apart / 2)));
        }
        if apart <= CLOSE_TICKS {
            break;
        }
    }
    closest.map(|(_, moment)| moment)
}

/// Nanoseconds by the counter, anchored to another clock.
#[derive(Debug)]
pub(crate) struct TscClock {
    /// The start of measuring the rate: nanoseconds and ticks; `None` if the counter can't be
    /// trusted.
    first: Option<(u64, u64)>,
    anchor: Cell<(u64, u64)>,
    /// Nanoseconds in a tick, times 2^32; 0 until it is known, and always 0 if the counter can't be
    /// trusted.
    scale: Cell<u64>,
    /// The latest returned reading, so that time never runs backwards.
    latest: Cell<u64>,
}

impl TscClock {
    /// Creates a clock that is usable once calibrated, after some 20 ms of anchors; never if the
    /// counter can't be trusted.
    pub(crate) fn new(clock: impl Fn() -> u64) -> Self {
        let source = std::fs::read_to_string(CLOCK_SOURCE);
        let is_trusted = source.is_ok_and(|source| source.trim() == "tsc");
        let first = look(clock, ticks).filter(|_| is_trusted);
        let anchor = first.unwrap_or_default();
        Self {
            first,
            anchor: Cell::new(anchor),
            scale: Cell::new(0),
            latest: Cell::new(anchor.0),
        }
    }

    /// Whether the last anchor is so old that reading the real clock again is worth its cost;
    /// always true without an anchor.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        let (_, count) = self.anchor.get();
        self.scale.get() == 0 || ticks().is_none_or(|now| now.wrapping_sub(count) > ANCHOR_TICKS)
    }

    /// Sets the counter by the real clock.
    pub(crate) fn anchor(&self, clock: impl Fn() -> u64) {
        let Some(first) = self.first else {
            return;
        };
        let Some((now, ticks)) = look(clock, ticks) else {
            return;
        };
        self.anchor.set((now, ticks));
        let (time, count) = (now.wrapping_sub(first.0), ticks.wrapping_sub(first.1));
        if time >= CALIBRATION && count > 0 {
            let scale = (u128::from(time) << 32) / u128::from(count);
            self.scale.set(u64::try_from(scale).unwrap_or(0));
        }
    }

    /// The time by the counter; `None` until its rate is known.
    #[inline(always)]
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

    /// A reading of the real clock that is never earlier than the latest returned time.
    #[inline]
    pub(crate) fn hold(&self, now: u64) -> u64 {
        let now = now.max(self.latest.get());
        self.latest.set(now);
        now
    }
}

/// Reads the counter.
#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "the instruction has no safe form")]
#[expect(clippy::unnecessary_wraps, reason = "other processors return None")]
fn ticks() -> Option<u64> {
    // SAFETY: RDTSC reads a register and nothing else; user space may run it on every system whose
    // clock source is the counter.
    Some(unsafe { core::arch::x86_64::_rdtsc() })
}

/// Returns `None`, because no counter here is known to be cheap and steady.
#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;

    /// Two clocks of the same rate, and a thread that is descheduled for `aside` after each reading
    /// of the first.
    fn looked(aside: &[u64]) -> (u64, u64) {
        let (time, looks) = (Cell::new(0), Cell::new(0));
        let clock = || {
            let now = time.get() + 100;
            time.set(now + aside.get(looks.get()).copied().unwrap_or(0));
            looks.set(looks.get() + 1);
            now
        };
        let moment = look(clock, || {
            time.set(time.get() + 100);
            Some(time.get())
        });
        moment.unwrap()
    }

    #[test]
    fn a_thread_that_is_put_aside_between_the_clocks_looks_again() {
        let away = 20_000_000;
        for aside in [&[][..], &[away], &[away; 7], &[away, 5_000, away, away]] {
            let (now, ticks) = looked(aside);
            assert!(now.abs_diff(ticks) <= 2_500, "{aside:?}: {now} {ticks}");
        }
        // The best reading is used.
        let (now, ticks) = looked(&[away; 20]);
        assert!(now.abs_diff(ticks) <= away);
    }

    #[test]
    fn follows_the_real_clock_and_never_runs_backwards() {
        let clock = Clock::start();
        let real = || clock.now().0;
        let tsc = TscClock::new(real);
        if tsc.first.is_none() {
            return;
        }
        while tsc.read().is_none() {
            tsc.anchor(real);
        }
        let (mut before, mut anchored) = (0, 0);
        for round in 0..100_000 {
            if round % 1_000 == 0 {
                tsc.anchor(real);
                anchored = real();
            }
            let (early, read, late) = (real(), tsc.read().unwrap(), real());
            assert!(read >= before);
            before = read;
            // 20 µs are much for a drift of some ppm, except if the thread was descheduled since
            // the anchor, whose rate is known to a hundred ppm at worst.
            let off = 20_000 + (late - anchored) / 5_000;
            assert!(
                read + off >= early && read <= late + off,
                "{early} {read} {late}, {off} allowed"
            );
        }
    }
}
