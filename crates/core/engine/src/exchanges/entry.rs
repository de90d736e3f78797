//! An exchange with the state of its request and response: one entry of a worker's list.

use super::exchange::Exchange;
use super::rules::Rules;
use super::state::ExchangeState;
use drumfire_measure::{Outcome, Sample};
use drumfire_units::Nanos;

/// An exchange with the state of its request and response.
///
/// With many entries, every event of an exchange finds its entry cold, so each entry has its own
/// cache lines, at most four.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Entry {
    pub(super) exchange: Exchange,
    pub(super) state: ExchangeState,
}

const _: () = assert!(size_of::<Entry>() <= 256, "four cache lines");

impl Entry {
    /// The record of the exchange, with this end. If the plan opens a connection for each request,
    /// the opening is part of the measured service.
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
}
