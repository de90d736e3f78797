//! An expectation that is checked for a share of all responses.

use crate::Expectation;
use drumfire_plan::{Mismatch, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of parts in a whole: shares have a resolution of 0.0001 %.
const WHOLE: u128 = 1_000_000;

/// A share of all responses, greater than 0 and at most all.
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

    /// Whether the response with this number, from 0, belongs to the share. The first one does, and
    /// the others are spread evenly.
    fn has(self, number: u64) -> bool {
        let before = |number: u128| (number * self.0).div_ceil(WHOLE);
        before(u128::from(number) + 1) > before(u128::from(number))
    }
}

/// An expectation about a share of all responses. Copies share one count, so the share applies to
/// the responses of all threads together.
#[derive(Clone, Debug)]
pub struct Sampled {
    pub(crate) expectation: Expectation,
    share: Share,
    seen: Arc<AtomicU64>,
}

impl Sampled {
    /// Creates an expectation for a share of the responses.
    #[must_use]
    pub fn new(expectation: Expectation, share: Share) -> Self {
        Self {
            expectation,
            share,
            seen: Arc::default(),
        }
    }

    /// Checks a response if it belongs to the share. The content of `scratch` is overwritten; only
    /// its memory is reused.
    ///
    /// # Errors
    /// If the response does not meet the expectation.
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
