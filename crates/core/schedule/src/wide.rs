//! 256-bit products, for comparisons that must be exact.

/// An unsigned 256-bit integer: high and low half. The derived order is the numeric order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wide {
    high: u128,
    low: u128,
}

impl Wide {
    /// `a · b`.
    #[inline]
    pub(crate) const fn product(a: u128, b: u128) -> Self {
        const MASK: u128 = u64::MAX as u128;
        let (a1, a0) = (a >> 64, a & MASK);
        let (b1, b0) = (b >> 64, b & MASK);
        let low = a0 * b0;
        let cross = a1 * b0 + (low >> 64); // below 2^128: (2^64 - 1)^2 + 2^64 - 1
        let cross_low = a0 * b1 + (cross & MASK);
        Self {
            high: a1 * b1 + (cross >> 64) + (cross_low >> 64),
            low: (cross_low << 64) | (low & MASK),
        }
    }

    /// `self · 2^64`; the value must be below 2^192.
    #[inline]
    pub(crate) const fn times_2_to_64(self) -> Self {
        debug_assert!(self.high >> 64 == 0);
        Self {
            high: (self.high << 64) | (self.low >> 64),
            low: self.low << 64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn product_is_exact(a: u128, b: u128) {
            let wide = Wide::product(a, b);
            let value = (BigUint::from(wide.high) << 128) + BigUint::from(wide.low);
            prop_assert_eq!(value, BigUint::from(a) * BigUint::from(b));
        }

        #[test]
        fn shift_is_exact(a: u128, b: u64) {
            let wide = Wide::product(a, u128::from(b));
            let shifted = wide.times_2_to_64();
            let value = (BigUint::from(shifted.high) << 128) + BigUint::from(shifted.low);
            prop_assert_eq!(value, (BigUint::from(a) * BigUint::from(b)) << 64);
        }
    }
}
