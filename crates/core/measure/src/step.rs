//! The figures of one step: one tag, scenario step or URL.
//!
//! A pool with one step has no list of them: its figures are the step's. With several, a sample is
//! recorded only into its step, and the pool's sums are computed on the control plane, so that
//! recording touches one series in every plan.

use crate::llm::Llm;
use crate::messages::StepMessages;
use crate::series::SeriesMut;
use crate::{
    ByteCounts, Counts, Histogram, LatencyKind, LlmFigures, Messages, OutcomeCounts, Sample,
    StatusCounts,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The maximum number of steps of a pool with separate figures; the others are summed under
/// `other`.
pub const STEPS: usize = 10_000;

/// The maximum number of steps of a run with which each step gets all the memory for recording at
/// the start.
const STEPS_READY: usize = 64;

/// When the histograms of steps allocate their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepMemory {
    /// All of it at once: recording does not allocate.
    Ready,
    /// Each histogram as needed, so that a rare step costs little.
    AsNeeded,
}

impl StepMemory {
    /// The rule for a run whose pools have this many steps together; every thread has all of them.
    pub(crate) const fn for_steps(steps: usize) -> Self {
        match steps > STEPS_READY {
            true => Self::AsNeeded,
            false => Self::Ready,
        }
    }
}

/// One step's share of an interval or of a run: the series for its samples.
///
/// Requests are not dropped by step, so `counts.intended` is the sum of sent and pending; for a
/// pool with one step, the counts are the pool's.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The name of its pool, in a list of the steps of several pools.
    pub pool: Option<Arc<str>>,
    /// The step's name in the plan.
    pub name: Arc<str>,
    /// Requests.
    pub counts: Counts,
    /// Bytes.
    pub bytes: ByteCounts,
    /// Response times of ok samples and, as "at least this long", of all whose end was not seen.
    pub response_time: Histogram,
    /// Service times of these, if they were sent.
    pub service_time: Histogram,
    /// Statuses of all samples.
    pub status: StatusCounts,
    /// The exchanges of each outcome.
    pub errors: OutcomeCounts,
    pub(crate) messages: StepMessages,
    pub(crate) llm: Llm,
}

impl Step {
    /// The times of this kind of the step's requests.
    #[must_use]
    pub const fn times(&self, kind: LatencyKind) -> &Histogram {
        match kind {
            LatencyKind::Response => &self.response_time,
            LatencyKind::Service => &self.service_time,
        }
    }

    /// An empty step with this memory.
    fn new(name: Arc<str>, memory: StepMemory) -> Self {
        let histogram = match memory {
            StepMemory::AsNeeded => Histogram::small,
            StepMemory::Ready => Histogram::new,
        };
        Self {
            pool: None,
            name,
            counts: Counts::default(),
            bytes: ByteCounts::default(),
            response_time: histogram(),
            service_time: histogram(),
            status: StatusCounts::default(),
            errors: OutcomeCounts::default(),
            messages: match memory {
                StepMemory::AsNeeded => StepMessages::default(),
                StepMemory::Ready => StepMessages::ready(),
            },
            llm: Llm::default(),
        }
    }

    /// The steps with separate figures: none for a plan with one step, whose figures are the
    /// totals; otherwise the first [`STEPS`] by name, and `other` for the rest.
    pub(crate) fn all(names: &[Arc<str>], memory: StepMemory) -> Vec<Self> {
        if names.len() <= 1 {
            return Vec::new();
        }
        let own = names.iter().take(STEPS).cloned();
        let other = (names.len() > STEPS).then(|| Arc::from("other"));
        let names = own.chain(other);
        names.map(|name| Self::new(name, memory)).collect()
    }

    /// Messages, if the step's exchanges have messages; also of exchanges that have not ended.
    #[must_use]
    pub fn messages(&self) -> Option<&Messages> {
        self.messages.get()
    }

    /// The answers of language models, if there are any; also of exchanges that have not ended.
    #[must_use]
    pub fn llm(&self) -> Option<&LlmFigures> {
        self.llm.get()
    }

    /// The step's parts as a series for recording.
    #[inline]
    pub(crate) fn series_mut(&mut self) -> SeriesMut<'_> {
        SeriesMut {
            counts: &mut self.counts,
            bytes: &mut self.bytes,
            outcomes: &mut self.errors,
            status: &mut self.status,
            response_time: &mut self.response_time,
            service_time: &mut self.service_time,
        }
    }

    /// Records one finished exchange. A step counts a request as intended when it ends; its pool
    /// counts it when it becomes due.
    #[inline]
    pub(crate) fn record(&mut self, sample: &Sample) {
        self.counts.intended += 1;
        self.series_mut().record(sample);
    }

    /// Records requests that were due and not sent.
    pub(crate) fn record_pending(&mut self, waited: Nanos, count: u64) {
        self.counts.intended = self.counts.intended.saturating_add(count);
        self.series_mut().record_pending(waited, count);
    }

    /// Records an exchange that was running at the end of the drain.
    pub(crate) fn record_in_flight(&mut self, sample: &Sample) {
        self.counts.intended += 1;
        self.series_mut().record_in_flight(sample);
    }

    /// Whether requests of the step were recorded.
    pub(crate) fn has_requests(&self) -> bool {
        self.counts != Counts::default()
    }

    /// Whether the step has no records.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_requests() && self.messages().is_none() && self.llm().is_none()
    }

    /// Adds `other`, which must be of the same name.
    pub fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.name, other.name, "steps merge by name");
        if other.is_empty() {
            return;
        }
        self.counts.merge(&other.counts);
        self.bytes.merge(&other.bytes);
        self.response_time.merge(&other.response_time);
        self.service_time.merge(&other.service_time);
        self.status.merge(&other.status);
        self.errors.merge(&other.errors);
        self.messages.merge(&other.messages);
        self.llm.merge(&other.llm);
    }

    pub(crate) fn reset(&mut self) {
        if self.is_empty() {
            return;
        }
        self.counts = Counts::default();
        self.bytes = ByteCounts::default();
        self.response_time.reset();
        self.service_time.reset();
        self.status.reset();
        self.errors = OutcomeCounts::default();
        self.messages.reset();
        self.llm.reset();
    }
}
