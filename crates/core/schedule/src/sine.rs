//! The sine law, with integer arithmetic for the mean and a polynomial for the wave.
//!
//! N(t) = mean·t + amplitude·P/2π · (1 − cos 2πt/P). The first term and the reduction of t to one
//! period are exact. The second term uses only IEEE 754 additions, multiplications and divisions,
//! not the platform's sine, so that every platform computes the same arrivals. Its error is below
//! 2^-51 of the wave's size: less than 1 ns for periods up to ten days, except near the times where
//! the rate is almost zero (amplitude = mean) and arrivals are far apart.

use crate::level::{Level, TWO_TO_64};
use crate::ratio::Ratio;
use crate::wide::Wide;
use std::f64::consts::PI;

/// mean + amplitude · sin(2πt / period); `period` is at least 1 and amplitude ≤ mean.
#[derive(Clone, Debug)]
pub(crate) struct Sine {
    mean: Ratio,
    amplitude: f64, // events per nanosecond
    period: u64,
}

/// The coefficients of x, x³, x⁵ … in the series of the sine: 1/(2k+1)! with its sign. The first
/// omitted term is below 2^-59 of the value for x ≤ π/2.
const SERIES: [f64; 11] = [
    1.0,
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5_040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
    1.0 / 355_687_428_096_000.0,
    -1.0 / 121_645_100_408_832_000.0,
    1.0 / 51_090_942_171_709_440_000.0,
];

/// sin x for 0 ≤ x ≤ π/2.
fn sine_of(x: f64) -> f64 {
    let square = x * x;
    x * SERIES
        .iter()
        .rev()
        .fold(0.0, |sum, term| sum * square + term)
}

impl Sine {
    pub(crate) fn new(mean: Ratio, amplitude: Ratio, period: u64) -> Self {
        Self {
            mean,
            amplitude: amplitude.as_f64(),
            period,
        }
    }

    /// The highest rate in events per nanosecond.
    pub(crate) fn peak(&self) -> f64 {
        self.mean.as_f64() + self.amplitude
    }

    /// amplitude·P/2π · (1 − cos 2πt/P) = amplitude·P/π · sin²(πt/P).
    fn wave(&self, t: u64) -> f64 {
        let phase = t % self.period;
        let phase = phase.min(self.period - phase); // sin(π − x) = sin x
        let sine = sine_of(PI * phase as f64 / self.period as f64);
        self.amplitude * self.period as f64 / PI * (sine * sine)
    }

    /// Whether N(t) ≤ level.
    pub(crate) fn at_most(&self, t: u64, level: Level) -> bool {
        let wave = (self.wave(t) * TWO_TO_64) as u128;
        let Some(rest) = level.checked_sub(wave) else {
            return false;
        };
        Wide::product(u128::from(t) * u128::from(self.mean.events), 1 << 64)
            <= Wide::product(rest, u128::from(self.mean.per))
    }

    /// Newton's method within the bracket (n − size of the wave)/mean ≤ t ≤ n/mean.
    pub(crate) fn guess(&self, level: Level) -> f64 {
        let count = level as f64 / TWO_TO_64;
        let mean = self.mean.as_f64();
        let (mut high, size) = (count / mean, self.amplitude * self.period as f64 / PI);
        let mut low = ((count - size) / mean).max(0.0);
        let mut t = low + (high - low) / 2.0;
        for _ in 0..60 {
            let excess = mean * t + self.wave(t as u64) - count;
            if excess > 0.0 {
                high = t;
            } else {
                low = t;
            }
            let newton = t - excess / self.rate_at(t as u64);
            let next = if newton > low && newton < high {
                newton
            } else {
                low + (high - low) / 2.0
            };
            if (next - t).abs() < 0.5 {
                return next;
            }
            t = next;
        }
        t
    }

    /// The rate at `t` in events per nanosecond.
    pub(crate) fn rate_at(&self, t: u64) -> f64 {
        let phase = t % self.period;
        let (phase, sign) = if phase > self.period / 2 {
            (self.period - phase, -1.0)
        } else {
            (phase, 1.0)
        };
        // sin 2x = 2 sin x cos x, with cos x = sin(π/2 − x).
        let x = PI * phase as f64 / self.period as f64;
        let double = 2.0 * sine_of(x) * sine_of((PI / 2.0 - x).max(0.0));
        (self.mean.as_f64() + sign * self.amplitude * double).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomial_is_the_sine() {
        for k in 0..=10_000 {
            let x = f64::from(k) / 10_000.0 * PI / 2.0;
            assert!((sine_of(x) - x.sin()).abs() <= 4.0e-16, "{x}");
        }
    }

    #[test]
    fn a_whole_period_adds_the_mean() {
        let ratio = |text: &str| Ratio::from_rate(text.parse().unwrap()).unwrap();
        let second = 1_000_000_000;
        let law = Sine::new(ratio("100/s"), ratio("50/s"), 60 * second);
        assert!(law.at_most(60 * second, 6000 << 64));
        assert!(!law.at_most(60 * second + 1, 6000 << 64));
        assert!((law.rate_at(0) * 1e9 - 100.0).abs() < 1e-9);
        assert!((law.rate_at(15 * second) * 1e9 - 150.0).abs() < 1e-9);
        assert!((law.rate_at(45 * second) * 1e9 - 50.0).abs() < 1e-9);
    }
}
