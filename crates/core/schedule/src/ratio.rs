//! Rates as reduced fractions: events per nanosecond.

use drumfire_units::Rate;

/// The limit of numerators and denominators: with it, the product of two of them and a time fits.
const LIMIT: u128 = 1 << 62;

/// Events per nanosecond in lowest terms; both below 2^62, `per` never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    pub(crate) events: u64,
    pub(crate) per: u64,
}

impl Ratio {
    /// The fraction in lowest terms, or `None` if it does not fit.
    pub(crate) fn new(events: u128, per: u128) -> Option<Self> {
        let divisor = common_divisor(events, per);
        if divisor == 0 || per == 0 {
            return None;
        }
        let (events, per) = (events / divisor, per / divisor);
        if events >= LIMIT || per >= LIMIT {
            return None;
        }
        Some(Self {
            events: u64::try_from(events).ok()?,
            per: u64::try_from(per).ok()?,
        })
    }

    /// Converts a rate; `None` if it does not fit.
    pub(crate) fn from_rate(rate: Rate) -> Option<Self> {
        Self::new(u128::from(rate.events), u128::from(rate.per.0))
    }

    /// Events per nanosecond, for guesses and for display.
    pub(crate) fn as_f64(self) -> f64 {
        self.events as f64 / self.per as f64
    }
}

/// The numerators over the least common denominator, and this denominator.
pub(crate) fn common<const N: usize>(ratios: [Ratio; N]) -> Option<([u64; N], u64)> {
    let mut per = 1_u128;
    for ratio in ratios {
        let own = u128::from(ratio.per);
        per = per / common_divisor(per, own) * own;
        if per >= LIMIT {
            return None;
        }
    }
    let mut numerators = [0; N];
    for (numerator, ratio) in numerators.iter_mut().zip(ratios) {
        let events = u128::from(ratio.events) * (per / u128::from(ratio.per));
        if events >= LIMIT {
            return None;
        }
        *numerator = u64::try_from(events).ok()?;
    }
    Some((numerators, u64::try_from(per).ok()?))
}

/// Greatest common divisor, with gcd(0, x) = x.
fn common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduces_and_finds_common_denominators() {
        let rate = |text: &str| Ratio::from_rate(text.parse().unwrap()).unwrap();
        assert_eq!(
            rate("200/s"),
            Ratio {
                events: 1,
                per: 5_000_000
            }
        );
        assert_eq!(rate("0/s").events, 0);
        assert_eq!(
            common([rate("5/s"), rate("200/s")]),
            Some(([1, 40], 200_000_000))
        );
        assert_eq!(
            common([rate("1/7ns"), rate("1/999999999999999998ns")]),
            None
        );
        assert_eq!(Ratio::new(1, 1 << 62), None);
        assert_eq!(Ratio::new(1, 0), None);
    }
}
