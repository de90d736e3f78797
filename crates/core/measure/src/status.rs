//! Counts of responses by status.
//!
//! HTTP and gRPC statuses share one table; gRPC statuses are above [`GRPC_STATUS`], so that a
//! sample has one number. A server may send any three digits, so the table covers all of them and
//! is thereby bounded. Pages of 64 are allocated when statuses occur: most runs use one or two.

use crate::form::{Form, FormError, Input, push_number};
use std::borrow::Cow;

/// A gRPC status `c` is counted as `GRPC_STATUS + c`, because an HTTP status has three digits.
pub const GRPC_STATUS: u16 = 1000;

/// The HTTP status 000 is counted as this one, because 0 counts exchanges without a status.
pub const STATUS_ZERO: u16 = GRPC_STATUS + GRPC_NAMES.len() as u16;

/// HTTP's three digits, then gRPC's 17 codes, and 000.
const STATUSES: usize = STATUS_ZERO as usize + 1;

/// The number of gRPC's codes.
pub(crate) const GRPC_STATUSES: usize = GRPC_NAMES.len();

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

/// A status as reports show it: three digits, or gRPC's name.
#[must_use]
pub fn status_name(status: u16) -> Cow<'static, str> {
    let code = usize::from(status).checked_sub(usize::from(GRPC_STATUS));
    match code.and_then(|code| GRPC_NAMES.get(code)) {
        Some(name) => Cow::Borrowed(name),
        None if status == STATUS_ZERO => Cow::Borrowed("000"),
        None => Cow::Owned(format!("{status:03}")),
    }
}

/// The number of statuses that share a page of counts.
const PAGE: usize = 64;

/// The counts of [`PAGE`] consecutive statuses.
type Page = Box<[u64; PAGE]>;

/// A count for each status from 1 to 999 and each of gRPC's, so that counting is one addition. The
/// first status of 64 consecutive ones allocates memory for all of them; most targets use two or
/// three statuses.
#[derive(Clone, Debug, Default)]
pub struct StatusCounts([Option<Page>; STATUSES.div_ceil(PAGE)]);

impl PartialEq for StatusCounts {
    fn eq(&self, other: &Self) -> bool {
        self.all().eq(other.all())
    }
}

impl Eq for StatusCounts {}

/// The number of statuses that occurred, then for each its distance from the previous one, and its
/// count.
impl Form for StatusCounts {
    fn write(value: &Self, out: &mut Vec<u8>) {
        let statuses: Vec<_> = value.all().collect();
        push_number(out, statuses.len() as u64);
        let mut next = 0;
        for (status, count) in statuses {
            push_number(out, u64::from(status - next));
            push_number(out, count);
            next = status + 1;
        }
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let mut statuses = Self::default();
        Self::read_into(&mut statuses, input)?;
        Ok(statuses)
    }

    fn read_into(value: &mut Self, input: &mut Input<'_>) -> Result<(), FormError> {
        const MALFORMED: FormError = FormError::Malformed("counts by status");
        value.reset();
        let mut next = 0_u64;
        for _ in 0..input.length()? {
            let status = next.checked_add(input.number()?).ok_or(MALFORMED)?;
            let count = input.number()?;
            let place = usize::try_from(status).map_err(|_| MALFORMED)?;
            if count == 0 || place >= STATUSES {
                return Err(MALFORMED);
            }
            value.add(place, count);
            next = status + 1;
        }
        Ok(())
    }
}

impl StatusCounts {
    /// Counts one response. 0 counts exchanges without a status; impossible numbers are added to
    /// it.
    #[inline]
    pub(crate) fn record(&mut self, status: u16) {
        let status = usize::from(status);
        match self.0.get_mut(status / PAGE) {
            Some(Some(page)) => page[status % PAGE] += 1,
            _ => self.add(status, 1),
        }
    }

    /// Adds to a count, and allocates the page if it is missing: at most once for each of 16 pages.
    #[cold]
    #[inline(never)]
    fn add(&mut self, status: usize, count: u64) {
        let status = if status < STATUSES { status } else { 0 };
        let page = self.0[status / PAGE].get_or_insert_with(|| Box::new([0; PAGE]));
        let mine = &mut page[status % PAGE];
        *mine = mine.saturating_add(count);
    }

    /// Responses with this status; for 0, exchanges without a status.
    #[must_use]
    pub fn get(&self, status: u16) -> u64 {
        let status = usize::from(status);
        match self.0.get(status / PAGE) {
            Some(Some(page)) => page[status % PAGE],
            _ => 0,
        }
    }

    /// Responses whose status has this first digit.
    #[must_use]
    pub fn of_class(&self, digit: u8) -> u64 {
        let from = u16::from(digit) * 100;
        let class = (from..from.saturating_add(100)).filter(|status| *status < GRPC_STATUS);
        class.fold(0, |sum: u64, status| sum.saturating_add(self.get(status)))
    }

    /// Every status that occurred, ascending, with its count, without 0.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.all().filter(|(status, _)| *status > 0)
    }

    /// Every status that occurred, ascending, with its count; 0 means exchanges without a status.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        let pages = (0u16..).step_by(PAGE).zip(&self.0);
        let counts = pages.filter_map(|(from, page)| Some((from, page.as_ref()?)));
        let counts = counts.flat_map(|(from, page)| (from..).zip(page.iter().copied()));
        counts.filter(|(_, count)| *count > 0)
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        for (status, count) in other.all() {
            self.add(usize::from(status), count);
        }
    }

    /// Resets all counts and keeps the memory.
    pub fn reset(&mut self) {
        for page in self.0.iter_mut().flatten() {
            page.fill(0);
        }
    }
}
