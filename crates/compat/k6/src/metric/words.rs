//! Words of metrics in outputs.

use super::Kind;

impl Kind {
    /// The word in outputs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Trend => "trend",
        }
    }
}
