//! When a response is ok.

/// The rule that divides responses into ok and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expect {
    /// A status below 400, the default.
    #[default]
    Below400,
    /// 2xx, and 301 and 307 as they are: go-wrk's rule.
    GoWrk,
    /// 200 to 499: slow_cooker's rule.
    Below500,
}

impl Expect {
    /// Whether a final response with this status is ok.
    #[inline]
    #[must_use]
    pub fn accepts(self, status: u16) -> bool {
        match self {
            Self::Below400 => status < 400,
            Self::GoWrk => matches!(status, 200..=299 | 301 | 307),
            Self::Below500 => matches!(status, 200..=499),
        }
    }
}
