//! The times at which all connections of one agent were busy while another agent had free ones.
//!
//! Agents do not lend each other connections, so requests may wait on one of them unnecessarily.
//! For each span of the run and each pool, an agent's interval shows whether its requests waited
//! for a connection. If one agent's requests waited in a span and another's did not, the span
//! counts as short for the first agent.

use drumfire_measure::Interval;
use drumfire_units::Nanos;
use std::collections::BTreeMap;

/// The maximum number of spans that lack the reports of some agents.
const OPEN_MAX: usize = 64;
/// The mean wait from which an agent counts as short of connections.
const WAIT_MIN: Nanos = Nanos::from_millis(1);

/// The spans of a run, and the agents that were short in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contrast {
    open: BTreeMap<Nanos, Vec<Pool>>,
    /// The time for which each place was short while another was not.
    short: Vec<Nanos>,
}

/// A pool in a span.
#[derive(Clone, Debug, Default)]
struct Pool {
    /// Whether an agent had free connections.
    has_spare: bool,
    /// The agents without free connections, with the length of their intervals.
    short: Vec<(usize, Nanos)>,
}

impl Contrast {
    /// Adds an interval of a place.
    pub(crate) fn add(&mut self, place: usize, interval: &Interval) {
        let length = interval.end - interval.start;
        let pools = self.open.entry(interval.start).or_default();
        pools.resize_with(interval.pools().len().max(pools.len()), Pool::default);
        for (pool, figures) in pools.iter_mut().zip(interval.pools()) {
            let waiting = &figures.latency.waiting;
            let mean = waiting.mean();
            if waiting.count() > 0 && waiting.sum() == 0 {
                pool.has_spare = true;
            }
            if mean > WAIT_MIN.0 as f64 {
                pool.short.push((place, length));
            }
        }
        while self.open.len() > OPEN_MAX
            && let Some((_, pools)) = self.open.pop_first()
        {
            self.settle(pools);
        }
    }

    /// The time for which each place was short of connections while another had free ones.
    pub(crate) fn close(&mut self) -> &[Nanos] {
        for pools in std::mem::take(&mut self.open).into_values() {
            self.settle(pools);
        }
        &self.short
    }

    fn settle(&mut self, pools: Vec<Pool>) {
        let mut short = BTreeMap::new();
        for pool in pools.into_iter().filter(|pool| pool.has_spare) {
            short.extend(pool.short);
        }
        for (place, length) in short {
            if self.short.len() <= place {
                self.short.resize(place + 1, Nanos::ZERO);
            }
            self.short[place] += length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn interval(second: u64, wait: Option<u64>) -> Interval {
        let mut interval = Interval::new(&[Arc::from("a")]);
        (interval.start, interval.end) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        if let Some(wait) = wait {
            interval.total.latency.waiting.record(Nanos(wait));
        }
        interval
    }

    #[test]
    fn an_agent_is_short_while_another_has_some_to_spare() {
        for (first, second, expected) in [
            (Some(5_000_000), Some(0), vec![Nanos::from_secs(3)]),
            (Some(5_000_000), Some(5_000_000), vec![]),
            // An agent without requests in the span has no effect.
            (Some(5_000_000), None, vec![]),
            (Some(0), Some(0), vec![]),
        ] {
            let mut contrast = Contrast::default();
            for at in 0..3 {
                contrast.add(0, &interval(at, first));
                contrast.add(1, &interval(at, second));
            }
            assert_eq!(contrast.close(), expected, "{first:?} {second:?}");
        }
    }
}
