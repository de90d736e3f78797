//! How often each response status was seen.

use std::borrow::Cow;

/// A gRPC status `c` is counted as `GRPC_STATUS + c`: an HTTP status has three digits.
pub const GRPC_STATUS: u16 = 1000;

/// HTTP's three digits, and gRPC's 17 codes behind them.
const STATUSES: usize = GRPC_STATUS as usize + GRPC_NAMES.len();

/// The names of gRPC's codes, as its specification spells them.
const GRPC_NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// A status as reports name it: three digits, or gRPC's word.
#[must_use]
pub fn status_name(status: u16) -> Cow<'static, str> {
    let code = usize::from(status).checked_sub(usize::from(GRPC_STATUS));
    match code.and_then(|code| GRPC_NAMES.get(code)) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(format!("{status:03}")),
    }
}

/// A count for each status from 1 to 999 and each of gRPC's, dense so that counting is one
/// addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusCounts(Box<[u64; STATUSES]>);

impl Default for StatusCounts {
    fn default() -> Self {
        Self(Box::new([0; STATUSES]))
    }
}

impl StatusCounts {
    /// Counts one. 0 stands for "no status came", which is where anything impossible goes too.
    #[inline]
    pub(crate) fn record(&mut self, status: u16) {
        let slot = usize::from(status);
        self.0[if slot < STATUSES { slot } else { 0 }] += 1;
    }

    /// How many responses had this status; of 0, how many exchanges brought no status.
    #[must_use]
    pub fn get(&self, status: u16) -> u64 {
        self.0.get(usize::from(status)).copied().unwrap_or(0)
    }

    /// How many responses had a status with this first digit.
    #[must_use]
    pub fn of_class(&self, digit: u8) -> u64 {
        let from = u16::from(digit) * 100;
        let class = (from..from.saturating_add(100)).filter(|status| *status < GRPC_STATUS);
        class.fold(0, |sum: u64, status| sum.saturating_add(self.get(status)))
    }

    /// Every status that was seen, ascending, with its count; exchanges without one left out.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        (0u16..)
            .zip(self.0.iter())
            .skip(1)
            .filter(|(_, count)| **count > 0)
            .map(|(status, count)| (status, *count))
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// Forgets everything and keeps the memory.
    pub fn reset(&mut self) {
        self.0.fill(0);
    }
}
