//! Counts of responses by status.
//!
//! Statuses of HTTP and of gRPC share one table; those of gRPC lie above [`GRPC_STATUS`], so that a
//! sample has one number. A server may send any three digits, so that the table covers all of them
//! and is bounded by that. Pages of 64 are taken as statuses come: most runs see one or two.

use crate::form::{Form, FormError, Input, put};
use std::borrow::Cow;

/// A gRPC status `c` is counted as `GRPC_STATUS + c`: an HTTP status has three digits.
pub const GRPC_STATUS: u16 = 1000;

/// HTTP's status 000 is counted as this one: 0 counts exchanges that brought no status.
pub const STATUS_ZERO: u16 = GRPC_STATUS + GRPC_NAMES.len() as u16;

/// HTTP's three digits, gRPC's 17 codes behind them, and 000.
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

/// A status as reports name it: three digits, or gRPC's word.
#[must_use]
pub fn status_name(status: u16) -> Cow<'static, str> {
    let code = usize::from(status).checked_sub(usize::from(GRPC_STATUS));
    match code.and_then(|code| GRPC_NAMES.get(code)) {
        Some(name) => Cow::Borrowed(name),
        None if status == STATUS_ZERO => Cow::Borrowed("000"),
        None => Cow::Owned(format!("{status:03}")),
    }
}

/// The statuses that share a page of counts.
const PAGE: usize = 64;

/// The counts of [`PAGE`] statuses in a row.
type Page = Box<[u64; PAGE]>;

/// A count for each status from 1 to 999 and each of gRPC's, so that counting is one addition. The
/// first status of 64 in a row takes memory for all of them; most targets give two or three.
#[derive(Clone, Debug, Default)]
pub struct StatusCounts([Option<Page>; STATUSES.div_ceil(PAGE)]);

impl PartialEq for StatusCounts {
    fn eq(&self, other: &Self) -> bool {
        self.all().eq(other.all())
    }
}

impl Eq for StatusCounts {}

/// The number of statuses that were seen, then each as its distance after the one before, and its
/// count.
impl Form for StatusCounts {
    fn write(value: &Self, out: &mut Vec<u8>) {
        let statuses: Vec<_> = value.all().collect();
        put(out, statuses.len() as u64);
        let mut next = 0;
        for (status, count) in statuses {
            put(out, u64::from(status - next));
            put(out, count);
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
    /// Counts one response. 0 stands for exchanges that brought no status, to which impossible
    /// numbers are added too.
    #[inline]
    pub(crate) fn record(&mut self, status: u16) {
        let status = usize::from(status);
        match self.0.get_mut(status / PAGE) {
            Some(Some(page)) => page[status % PAGE] += 1,
            _ => self.add(status, 1),
        }
    }

    /// Adds to a count, and takes the page's memory where there is none: at most once for each of
    /// 16 pages.
    #[cold]
    #[inline(never)]
    fn add(&mut self, status: usize, count: u64) {
        let status = if status < STATUSES { status } else { 0 };
        let page = self.0[status / PAGE].get_or_insert_with(|| Box::new([0; PAGE]));
        let mine = &mut page[status % PAGE];
        *mine = mine.saturating_add(count);
    }

    /// Responses with this status; of 0, exchanges that brought none.
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

    /// Every status that was seen, ascending, with its count; exchanges without one left out.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.all().filter(|(status, _)| *status > 0)
    }

    /// Every status that was seen, ascending, with its count; 0 where exchanges brought none.
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

    /// Forgets everything and keeps the memory.
    pub fn reset(&mut self) {
        for page in self.0.iter_mut().flatten() {
            page.fill(0);
        }
    }
}
