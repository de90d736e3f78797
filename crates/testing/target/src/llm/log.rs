//! The log of requests for tokens: the times at which events were due and written.

use super::api::Api;
use crate::clock;
use drumfire_units::Nanos;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// One worker's log. Each request and each event takes an entry.
#[derive(Debug)]
pub(crate) struct LlmLog {
    /// The number of free entries.
    room: AtomicUsize,
    /// The number of requests and events that found no free entry.
    lost: AtomicU64,
    records: Mutex<Vec<LlmRecord>>,
    is_on: bool,
}

/// One request. Times are on the monotonic clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct LlmRecord {
    /// The number of the request in this server, from 0.
    pub(crate) number: u64,
    pub(crate) api: Api,
    /// The request's header `x-request-id`.
    pub(crate) request_id: Option<String>,
    pub(crate) is_streamed: bool,
    pub(crate) prompt_tokens: u32,
    pub(crate) cached_tokens: u32,
    /// The request was read completely.
    pub(crate) read: Nanos,
    /// The request got a seat among those that decode.
    pub(crate) admitted: Option<Nanos>,
    pub(crate) events: Vec<LoggedEvent>,
    /// How the answer ended.
    pub(crate) end: &'static str,
    pub(crate) ended: Nanos,
}

/// One event with tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedEvent {
    due: Nanos,
    /// The time after its write returned; `None`: not written.
    written: Option<Nanos>,
    tokens: u32,
}

impl LlmLog {
    /// A log with this many entries.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            room: AtomicUsize::new(capacity),
            lost: AtomicU64::new(0),
            records: Mutex::default(),
            is_on: capacity > 0,
        }
    }

    /// Takes an entry, if there is a free one. Only the owning worker calls this.
    fn take_entry(&self) -> bool {
        let room = self.room.load(Ordering::Relaxed);
        if room == 0 {
            let lost = u64::from(self.is_on);
            self.lost
                .store(self.lost.load(Ordering::Relaxed) + lost, Ordering::Relaxed);
            return false;
        }
        self.room.store(room - 1, Ordering::Relaxed);
        true
    }

    fn copy_to(&self, all: &mut Vec<LlmRecord>) -> u64 {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(records.iter().cloned());
        self.lost.load(Ordering::Relaxed)
    }
}

/// The record of a request in progress. The last owner that drops it adds it to the log.
#[derive(Debug)]
pub(crate) struct LlmRecording {
    log: Arc<LlmLog>,
    record: RefCell<LlmRecord>,
    is_kept: bool,
}

impl LlmRecording {
    /// Begins a record.
    pub(crate) fn new(log: &Arc<LlmLog>, record: LlmRecord) -> Self {
        Self {
            is_kept: log.take_entry(),
            log: Arc::clone(log),
            record: RefCell::new(record),
        }
    }

    /// Records when the request got its seat.
    pub(crate) fn admitted(&self, at: Nanos) {
        self.record.borrow_mut().admitted = Some(at);
    }

    /// Records an event that is about to be written.
    pub(crate) fn event(&self, due: Nanos, tokens: u32) {
        if self.is_kept && self.log.take_entry() {
            self.record.borrow_mut().events.push(LoggedEvent {
                due,
                written: None,
                tokens,
            });
        }
    }

    /// Records that all events so far are written.
    pub(crate) fn written(&self, now: Nanos) {
        let mut record = self.record.borrow_mut();
        for event in record.events.iter_mut().rev() {
            if event.written.is_some() {
                break;
            }
            event.written = Some(now);
        }
    }

    /// Records the end.
    pub(crate) fn ended(&self, end: &'static str) {
        let mut record = self.record.borrow_mut();
        record.end = end;
        record.ended = clock::now();
    }
}

impl Drop for LlmRecording {
    fn drop(&mut self) {
        if self.is_kept {
            let record = std::mem::take(self.record.get_mut());
            let mut records = self
                .log
                .records
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            records.push(record);
        }
    }
}

/// All workers' logs as lines of JSON: the clocks, then each request.
pub(crate) fn print<'a>(logs: impl Iterator<Item = &'a LlmLog>) -> String {
    let mut records = Vec::new();
    let lost: u64 = logs.map(|log| log.copy_to(&mut records)).sum();
    records.sort_unstable_by_key(|record| record.number);
    let header = json!({
        "clock": "CLOCK_MONOTONIC",
        "monotonic": clock::now().0,
        "realtime": clock::wall().0,
        "requests": records.len(),
        "lost": lost,
    });
    let mut text = format!("{header}\n");
    for record in &records {
        // Writing to a String can't fail.
        let _ = writeln!(text, "{}", record.to_json());
    }
    text
}

impl LlmRecord {
    fn to_json(&self) -> Value {
        let column = |value: fn(&LoggedEvent) -> Value| -> Vec<Value> {
            self.events.iter().map(value).collect()
        };
        json!({
            "request": self.number,
            "api": self.api.name(),
            "x_request_id": self.request_id,
            "stream": self.is_streamed,
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "read": self.read.0,
            "admitted": self.admitted.map(|at| at.0),
            "due": column(|event| event.due.0.into()),
            "written": column(|event| event.written.map(|at| at.0).into()),
            "tokens": column(|event| event.tokens.into()),
            "end": self.end,
            "ended": self.ended.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_its_events_and_the_log_its_limit() {
        let log = Arc::new(LlmLog::new(4));
        let record = |number| LlmRecord {
            number,
            ..LlmRecord::default()
        };
        let (first, second) = (
            LlmRecording::new(&log, record(1)),
            LlmRecording::new(&log, record(0)),
        );
        first.event(Nanos(10), 2);
        first.written(Nanos(11));
        first.event(Nanos(20), 1);
        // There are no more entries.
        second.event(Nanos(20), 1);
        first.ended("cancelled");
        drop(first);
        drop(second);
        drop(LlmRecording::new(&log, record(2)));
        let text = print(std::iter::once(&*log));
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            (&lines[0]["requests"], &lines[0]["lost"]),
            (&json!(2), &json!(2))
        );
        assert_eq!(lines[1]["due"], json!([]));
        let columns = ["due", "written", "tokens", "end"].map(|name| lines[2][name].clone());
        assert_eq!(
            columns,
            [
                json!([10, 20]),
                json!([11, null]),
                json!([2, 1]),
                json!("cancelled")
            ]
        );
        assert_eq!(lines.len(), 3);
    }
}
