//! A rule for one value of a response.

use crate::excerpt::excerpt;
use crate::{Check, Extractor};
use drumfire_plan::{Mismatch, MismatchKind, Response, secret};
use drumfire_units::rounded;

/// An expectation about a response.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The value to check.
    pub subject: Extractor,
    /// The rule for the value.
    pub check: Check,
    /// The kind of failure if the check fails.
    pub kind: MismatchKind,
}

impl Expectation {
    /// Checks a response. The content of `scratch` is overwritten; only its memory is reused.
    ///
    /// # Errors
    /// If the response does not meet the expectation, with the actual value.
    pub fn judge(&self, response: &Response<'_>, scratch: &mut String) -> Result<(), Mismatch> {
        let Self { subject, check, .. } = self;
        if let Some(bytes) = subject.bytes(response) {
            return self.judge_bytes(bytes, response);
        }
        scratch.clear();
        match subject.extract(response, scratch) {
            Ok(_) => self.judge_bytes(scratch.as_bytes(), response),
            Err(none) if none.is_missing() && check.wants_none() => Ok(()),
            Err(none) => Err(self.mismatch(format!("{subject}: {none}; expected `{check}`"))),
        }
    }

    fn judge_bytes(&self, value: &[u8], response: &Response<'_>) -> Result<(), Mismatch> {
        let Self { subject, check, .. } = self;
        if check.holds(value) {
            return Ok(());
        }
        if secret::is_secret(&subject.to_string()) {
            let reason = format!("{subject} is not as expected; the value may be a secret");
            return Err(self.mismatch(reason));
        }
        let found = match subject.is_time() {
            true => rounded::time(response.time.0 as f64),
            false => excerpt(value),
        };
        Err(self.mismatch(format!("{subject} is {found}, expected `{check}`")))
    }

    const fn mismatch(&self, reason: String) -> Mismatch {
        let kind = self.kind;
        Mismatch { kind, reason }
    }
}
