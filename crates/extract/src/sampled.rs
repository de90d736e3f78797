//! An expectation that is checked of a part of all responses.

use crate::Expectation;
use drumfire_plan::{Mismatch, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many parts a whole has: shares are told apart to a ten-thousandth of a percent.
const WHOLE: u128 = 1_000_000;

/// A part of all responses, above nothing and at most all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u128);

impl Share {
    /// Parses a percentage such as `10%` or `0.5%`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = text.strip_suffix('%')?;
        let is_plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let percent: f64 = number.parse().ok().filter(|_| is_plain)?;
        let parts = (percent / 100.0 * WHOLE as f64).round();
        (parts >= 1.0 && parts <= WHOLE as f64).then_some(Self(parts as u128))
    }

    /// Whether the response of this number, from 0, is one of the part. The first is, and the
    /// others lie evenly.
    fn has(self, number: u64) -> bool {
        let before = |number: u128| (number * self.0).div_ceil(WHOLE);
        before(u128::from(number) + 1) > before(u128::from(number))
    }
}

/// An expectation of a part of all responses. Copies count together: of the responses of all
/// threads it is the same part.
#[derive(Clone, Debug)]
pub struct Sampled {
    pub(crate) expectation: Expectation,
    share: Share,
    seen: Arc<AtomicU64>,
}

impl Sampled {
    /// The expectation of a part.
    #[must_use]
    pub fn new(expectation: Expectation, share: Share) -> Self {
        Self {
            expectation,
            share,
            seen: Arc::default(),
        }
    }

    /// Checks a response if it is one of the part. The text in `scratch` is lost, its memory used.
    ///
    /// # Errors
    /// When the response is not as expected.
    pub(crate) fn judge(
        &self,
        response: &Response<'_>,
        scratch: &mut String,
    ) -> Result<(), Mismatch> {
        match self.share.has(self.seen.fetch_add(1, Ordering::Relaxed)) {
            true => self.expectation.judge(response, scratch),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn a_share_is_exact_and_even() {
        for (text, of, wanted) in [
            ("100%", 7, 7),
            ("50%", 10, 5),
            ("10%", 1_000, 100),
            ("10%", 1, 1),
            ("0.5%", 1_000, 5),
            ("33.3333%", 3, 1),
            ("66%", 50, 33),
        ] {
            let share = Share::parse(text).expect(text);
            let count = (0..of).filter(|number| share.has(*number)).count();
            assert_eq!(count, wanted, "{text} of {of}");
        }
        for wrong in [
            "",
            "%",
            "0%",
            "101%",
            "10",
            "-1%",
            "1e1%",
            "x%",
            "0.00000001%",
        ] {
            assert_eq!(Share::parse(wrong), None, "{wrong}");
        }
    }
}
