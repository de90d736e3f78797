//! State that all workers of a server and its owner share.

use crate::arrivals::Arrivals;
use crate::counters::{Counters, Tallies};
use crate::llm::{LlmLog, LlmMetrics, LlmShared, print_log, print_metrics};
use crate::options::{ArrivalLog, ServerOptions, Storefront};
use crate::shop::Shop;
use drumfire_units::Nanos;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The shared state of a server. Each worker writes only its own part; the shop has locks.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Set once, to end the server.
    pub(crate) stopping: AtomicBool,
    /// The shop, if there is one.
    pub(crate) shop: Option<Shop>,
    /// The mock of servers for language models, if there is one.
    pub(crate) llm: Option<LlmShared>,
    workers: Vec<WorkerShared>,
}

/// The part of one worker.
#[derive(Debug)]
pub(crate) struct WorkerShared {
    pub(crate) tallies: Tallies,
    pub(crate) arrivals: Arrivals,
    /// The times of the writes of event streams.
    pub(crate) event_writes: Arrivals,
    pub(crate) llm: LlmOwn,
}

/// One worker's part of the mock.
#[derive(Debug)]
pub(crate) struct LlmOwn {
    pub(crate) log: Arc<LlmLog>,
    pub(crate) metrics: LlmMetrics,
}

impl Shared {
    pub(crate) fn new(options: &ServerOptions) -> Self {
        let workers = options.threads;
        let capacity = match options.arrival_log {
            ArrivalLog::Off => 0,
            ArrivalLog::First(capacity) => capacity.div_ceil(workers),
        };
        let worker = || WorkerShared {
            tallies: Tallies::default(),
            arrivals: Arrivals::new(capacity),
            event_writes: Arrivals::new(capacity),
            llm: LlmOwn {
                log: Arc::new(LlmLog::new(capacity)),
                metrics: LlmMetrics::default(),
            },
        };
        Self {
            stopping: AtomicBool::new(false),
            shop: (options.storefront == Storefront::Open).then(|| Shop::new(options.seed)),
            llm: options.llm.as_ref().map(LlmShared::new),
            workers: (0..workers).map(|_| worker()).collect(),
        }
    }

    /// The part of one worker.
    #[inline]
    pub(crate) fn worker(&self, index: usize) -> &WorkerShared {
        &self.workers[index]
    }

    /// The sum of all workers' counters.
    pub(crate) fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        for worker in &self.workers {
            worker.tallies.add_to(&mut sum);
        }
        sum
    }

    /// All workers' arrivals, in order.
    pub(crate) fn arrivals(&self) -> Vec<Nanos> {
        self.merged(|worker| &worker.arrivals)
    }

    /// All workers' writes of event streams, in order.
    pub(crate) fn event_writes(&self) -> Vec<Nanos> {
        self.merged(|worker| &worker.event_writes)
    }

    /// All workers' logs of requests for tokens, as lines of JSON.
    pub(crate) fn llm_log(&self) -> String {
        print_log(self.workers.iter().map(|worker| &*worker.llm.log))
    }

    /// All workers' figures of the mock.
    pub(crate) fn llm_metrics(&self) -> String {
        print_metrics(self.workers.iter().map(|worker| &worker.llm.metrics))
    }

    fn merged(&self, log: impl Fn(&WorkerShared) -> &Arrivals) -> Vec<Nanos> {
        let mut all = Vec::new();
        for worker in &self.workers {
            log(worker).copy_to(&mut all);
        }
        all.sort_unstable();
        all
    }
}
