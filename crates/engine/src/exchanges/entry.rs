//! An exchange with its kind: one entry of a worker's list.

use super::exchange::Exchange;
use super::kind::ExchangeKind;
use super::rules::Rules;
use drumfire_measure::{Outcome, Sample, Side};
use drumfire_units::Nanos;

/// An exchange with its kind.
///
/// Every event of an exchange finds its entry cold where there are many: each has cache lines of its
/// own, and no more than four.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Entry {
    pub(super) exchange: Exchange,
    pub(super) kind: ExchangeKind,
}

const _: () = assert!(size_of::<Entry>() <= 256, "four cache lines");

impl Entry {
    /// Whether it is a call, and no response.
    #[inline]
    pub(super) const fn is_call(&self) -> bool {
        matches!(self.kind, ExchangeKind::Call(_))
    }

    /// The record of the exchange, with this end. In a plan with new connections for each request,
    /// the opening is part of the service that is measured.
    #[inline]
    pub(super) fn sample(
        &self,
        rules: &Rules,
        end: Nanos,
        outcome: Outcome,
        status: u16,
    ) -> Sample {
        let account = &self.exchange.account;
        let step = rules.request(&self.exchange).step;
        let mut sample = account.sample(end, outcome, status, step);
        if rules.opening_is_service() {
            account.count_opening(&mut sample);
        }
        sample
    }

    /// The request that it has sent, as it is shown.
    pub(super) fn sent(&self, rules: &Rules) -> Side {
        self.kind.sent(rules.request(&self.exchange))
    }
}
