//! The names of the metrics, and the figure of each.

use crate::Unit;
use drumfire_measure::{Figures, Histogram, Interval, LlmFigures, WorkerHealth};

/// A counter of a pool, which only grows.
pub(crate) struct PoolCount {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) unit: Option<Unit>,
    pub(crate) of: fn(&Figures) -> u64,
}

pub(crate) const POOL_COUNTS: &[PoolCount] = &[
    PoolCount {
        name: "drumfire_requests_intended",
        help: "Requests that became due according to the load profile.",
        unit: None,
        of: |pool| pool.counts.intended,
    },
    PoolCount {
        name: "drumfire_requests_dropped",
        help: "Requests that were due but dropped by the late policy.",
        unit: None,
        of: |pool| pool.counts.dropped,
    },
    PoolCount {
        name: "drumfire_requests_retried",
        help: "Requests that were sent again because their connection was closed.",
        unit: None,
        of: |pool| pool.retried,
    },
    PoolCount {
        name: "drumfire_requests_warmup",
        help: "Requests that ended in the warm-up, which is excluded from every other metric.",
        unit: None,
        of: |pool| pool.warmup.finished(),
    },
    PoolCount {
        name: "drumfire_connections_opened",
        help: "Connections that were opened.",
        unit: None,
        of: |pool| pool.connections.opened,
    },
    PoolCount {
        name: "drumfire_sent_bytes",
        help: "Bytes written to connections, inside TLS.",
        unit: Some(Unit::Bytes),
        of: |pool| pool.bytes.sent,
    },
    PoolCount {
        name: "drumfire_received_bytes",
        help: "Bytes read from connections, inside TLS.",
        unit: Some(Unit::Bytes),
        of: |pool| pool.bytes.received,
    },
    PoolCount {
        name: "drumfire_sent_messages",
        help: "Messages of gRPC calls that were sent.",
        unit: None,
        of: |pool| pool.messages.sent,
    },
    PoolCount {
        name: "drumfire_received_messages",
        help: "Events of event streams and messages of gRPC calls that were received.",
        unit: None,
        of: |pool| pool.messages.received,
    },
];

/// A gauge of a pool, which goes up and down.
pub(crate) struct PoolLevel {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) of: fn(&Figures) -> u64,
}

pub(crate) const POOL_LEVELS: &[PoolLevel] = &[
    PoolLevel {
        name: "drumfire_requests_in_flight",
        help: "Requests that were sent and have not ended.",
        of: in_flight,
    },
    PoolLevel {
        name: "drumfire_requests_waiting",
        help: "Requests that are due and wait for a connection or a user.",
        of: waiting,
    },
    PoolLevel {
        name: "drumfire_connections_open",
        help: "Connections that are open.",
        of: |pool| {
            let closed = pool.connections.closed.iter().sum();
            pool.connections.known().saturating_sub(closed)
        },
    },
];

fn in_flight(pool: &Figures) -> u64 {
    u64::try_from(pool.under_way).unwrap_or(0)
}

/// The number of waiting requests. Requests count as sent when they end, so requests in flight are
/// neither waiting nor counted. If iterations are programs, the iterations determine one by one how
/// many requests are due.
fn waiting(pool: &Figures) -> u64 {
    let counts = &pool.counts;
    let accounted = counts.sent.saturating_add(counts.dropped);
    let accounted = accounted.saturating_add(counts.pending);
    let left = counts.intended.saturating_sub(accounted);
    left.saturating_sub(in_flight(pool))
}

/// A distribution of times of a pool.
pub(crate) struct PoolTimes {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) of: fn(&Figures) -> &Histogram,
}

pub(crate) const POOL_TIMES: &[PoolTimes] = &[
    PoolTimes {
        name: "drumfire_response_time_seconds",
        help: "Time from when a request was due to the end of its response, for ok requests; a lower \
               bound for requests whose end was not seen.",
        of: |pool| &pool.latency.response_time,
    },
    PoolTimes {
        name: "drumfire_service_time_seconds",
        help: "Time from when a request was sent to the end of its response, for the requests in drumfire_response_time_seconds.",
        of: |pool| &pool.latency.service_time,
    },
    PoolTimes {
        name: "drumfire_first_byte_seconds",
        help: "Time from when a request was sent to the first byte of its response, for ok requests.",
        of: |pool| &pool.latency.first_byte,
    },
    PoolTimes {
        name: "drumfire_failed_time_seconds",
        help: "Time from when a request was due to its failure, for failed requests.",
        of: |pool| &pool.latency.failed,
    },
    PoolTimes {
        name: "drumfire_waiting_seconds",
        help: "Time that a due request waited for a free connection.",
        of: |pool| &pool.latency.waiting,
    },
    PoolTimes {
        name: "drumfire_lag_seconds",
        help: "The generator's own lateness: from when a request could be sent until it was.",
        of: |pool| &pool.latency.lag,
    },
    PoolTimes {
        name: "drumfire_connect_seconds",
        help: "Time to open a connection.",
        of: |pool| &pool.connections.connect,
    },
    PoolTimes {
        name: "drumfire_tls_handshake_seconds",
        help: "Time for a TLS handshake.",
        of: |pool| &pool.connections.tls_handshake,
    },
    PoolTimes {
        name: "drumfire_first_message_seconds",
        help: "Time from when a request was sent to its first event or streamed message.",
        of: |pool| &pool.messages.first,
    },
    PoolTimes {
        name: "drumfire_message_gap_seconds",
        help: "Time from one event or streamed message of a request to the next.",
        of: |pool| &pool.messages.gap,
    },
];

/// A sum of the generator's own time, in seconds, which only grows.
pub(crate) struct OwnTime {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) of: fn(&WorkerHealth) -> f64,
}

pub(crate) const OWN_TIMES: &[OwnTime] = &[
    OwnTime {
        name: "drumfire_generator_cpu_seconds",
        help: "CPU time that the worker threads have used.",
        of: |health| health.cpu.as_secs_f64(),
    },
    OwnTime {
        name: "drumfire_generator_run_queue_seconds",
        help: "Time that worker threads were ready to run but had no core.",
        of: |health| health.run_queue_delay.as_secs_f64(),
    },
];

/// A distribution of the generator's own times.
pub(crate) struct OwnTimes {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) of: fn(&WorkerHealth) -> &Histogram,
}

pub(crate) const OWN_DISTRIBUTIONS: &[OwnTimes] = &[
    OwnTimes {
        name: "drumfire_generator_loop_turn_seconds",
        help: "Time from one wait of a worker's event loop to the next.",
        of: |health| &health.loop_turn,
    },
    OwnTimes {
        name: "drumfire_generator_wake_lateness_seconds",
        help: "How much later than requested a worker's wait returned.",
        of: |health| &health.wake_lateness,
    },
    OwnTimes {
        name: "drumfire_generator_handling_seconds",
        help: "Time from a response's end, by kernel timestamp, until a worker read it; empty if the clock \
               is `program`.",
        of: |health| &health.handling,
    },
    OwnTimes {
        name: "drumfire_generator_leaving_seconds",
        help: "Time from handing a request to the kernel to its departure, by kernel timestamp; empty \
               unless the clock is `wire`.",
        of: |health| &health.leaving,
    },
];

/// The rate at which requests or iterations became due in an interval, per second.
pub(crate) fn rate(interval: &Interval, pool: &Figures) -> f64 {
    let measured = match &pool.iterations {
        Some(iterations) => iterations.counts.intended,
        None => pool.counts.intended,
    };
    let due = measured.saturating_add(pool.warmup.intended);
    let seconds = (interval.end - interval.start).as_secs_f64();
    if seconds > 0.0 {
        due as f64 / seconds
    } else {
        0.0
    }
}

/// A counter of the answers of language models, which only pools with such answers have.
pub(crate) struct AnswerCount {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) of: fn(&LlmFigures) -> u64,
}

pub(crate) const ANSWER_COUNTS: &[AnswerCount] = &[
    AnswerCount {
        name: "drumfire_llm_answers",
        help: "Requests that ended, whose response is read as the answer of a language model.",
        of: |llm| llm.answers,
    },
    AnswerCount {
        name: "drumfire_llm_input_tokens",
        help: "Tokens of prompts, as the target reports them.",
        of: |llm| llm.input,
    },
    AnswerCount {
        name: "drumfire_llm_cached_tokens",
        help: "Tokens of prompts that the target had in its cache, as it reports them.",
        of: |llm| llm.cached,
    },
    AnswerCount {
        name: "drumfire_llm_output_tokens",
        help: "Generated tokens: as the target reports them, or else one for each event.",
        of: LlmFigures::tokens,
    },
];

/// A distribution of times of answers, which only pools with such answers have.
pub(crate) struct AnswerTimes {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) of: fn(&LlmFigures) -> &Histogram,
}

pub(crate) const ANSWER_TIMES: &[AnswerTimes] = &[
    AnswerTimes {
        name: "drumfire_llm_ttft_seconds",
        help: "Time from when a request was due to the first token of its answer.",
        of: |llm| &llm.ttft,
    },
    AnswerTimes {
        name: "drumfire_llm_ttft_service_seconds",
        help: "Time from when a request was sent to the first token of its answer.",
        of: |llm| &llm.ttft_service,
    },
    AnswerTimes {
        name: "drumfire_llm_tpot_seconds",
        help: "Time per token of an answer after its first event.",
        of: |llm| &llm.tpot,
    },
    AnswerTimes {
        name: "drumfire_llm_gap_seconds",
        help: "Time from one event with tokens to the next event of the same answer.",
        of: |llm| &llm.gap,
    },
];
