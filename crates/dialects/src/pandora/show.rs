//! Pandora's output: rows of results while the run goes on, the log, and the counters.

mod counters;
mod log;
mod phout;

use super::config::{Config, Pool};
use super::gun::{Gun, Loaded, Way};
use super::output::{Output, Place};
use super::schedule::Startup;
use super::shot::NO_TAG;
use crate::Stream;
use counters::Counters;
use drumfire_measure::{Figures, Interval, Kept, Outcome, RunEvent, RunInfo, Summary};
use drumfire_plan::StopReason;
use drumfire_report::style::Style;
use drumfire_report::text;
use drumfire_units::Nanos;
use log::Log;
use phout::{Columns, Row, Status};
use std::io::{self, Write};
use std::sync::Arc;

/// The tag of rows of discarded shots, and their code.
const DISCARDED: &str = "discarded";
const DISCARDED_CODE: u32 = 777;

/// The message where a server does not speak HTTP/2.
const NOT_HTTP2: &str = "shoot panic: Non HTTP/2 connection established. Seems that target doesn't \
                         support HTTP/2.";

/// A pool as it is shown.
#[derive(Debug)]
pub(super) struct Shown {
    id: String,
    output: Output,
    startup: Startup,
    columns: Columns,
    /// Whether a shot is a scenario.
    scenarios: bool,
    /// Whether a server that does not choose HTTP/2 ends the run.
    needs_http2: bool,
}

impl Shown {
    /// The pool of a configuration.
    pub(super) fn of(pool: &Pool) -> Self {
        let (sizes, phases, needs_http2) = match &pool.gun {
            Gun::Http(gun) => (gun.sizes, gun.phases, gun.way == Way::Http2 && gun.tls),
            Gun::Grpc(_) => (false, false, false),
        };
        let status = match &pool.gun {
            Gun::Http(_) => Status::Http,
            Gun::Grpc(_) => Status::Grpc,
        };
        Self {
            id: pool.id.clone(),
            output: pool.output.clone(),
            startup: pool.startup.clone(),
            columns: Columns {
                sizes,
                phases,
                status,
            },
            scenarios: pool.gun.loaded() == Loaded::Scenarios,
            needs_http2,
        }
    }

    /// Where its rows go.
    fn place(&self) -> Option<&Place> {
        match &self.output {
            Output::Phout { to, .. } | Output::JsonLines { to } => Some(to),
            Output::Log | Output::Discard => None,
        }
    }
}

/// How Pandora shows a run.
#[derive(Debug)]
pub(crate) struct Presentation {
    pools: Vec<Shown>,
    /// The names of the steps of each pool.
    tags: Vec<Vec<Arc<str>>>,
    /// How many rows each pool has.
    rows: Vec<u64>,
    streams: Streams,
    log: Log,
    counters: Counters,
    expvar: Option<u16>,
    started_at: u64,
    interrupted: bool,
    /// Why the run must end.
    fault: Option<String>,
    pub(crate) notes: Vec<String>,
}

/// Places that are written to while the run goes on, each once.
#[derive(Debug, Default)]
struct Streams {
    places: Vec<Place>,
    writers: Vec<Box<dyn Stream>>,
    /// Bytes that go to each.
    pending: Vec<Vec<u8>>,
}

impl Streams {
    /// The number of a place.
    fn add(&mut self, place: &Place) -> usize {
        if let Some(known) = self.places.iter().position(|known| known == place) {
            return known;
        }
        self.places.push(place.clone());
        self.pending.push(Vec::new());
        self.places.len() - 1
    }

    fn find(&self, place: &Place) -> Option<usize> {
        self.places.iter().position(|known| known == place)
    }

    /// Writes what is pending.
    fn flush(&mut self) -> io::Result<()> {
        for (writer, bytes) in self.writers.iter_mut().zip(&mut self.pending) {
            writer.write_all(bytes)?;
            writer.flush()?;
            bytes.clear();
        }
        Ok(())
    }
}

impl Presentation {
    /// The presentation of these pools of a configuration.
    pub(super) fn new(config: &Config, pools: Vec<Shown>, mut notes: Vec<String>) -> Self {
        let mut streams = Streams::default();
        let log = Log::new(&config.log, streams.add(&config.log.to));
        for pool in &pools {
            if let Some(place) = pool.place() {
                streams.add(place);
            }
        }
        if config.profiles {
            notes.push("profiles are of Go's runtime, and none is written".to_owned());
        }
        for pool in &config.pools {
            if let Some(answers) = pool.gun.answer_log() {
                let (id, path) = (&pool.id, &answers.path);
                notes.push(format!(
                    "\"{id}\" pool: answlog is not written by drumfire yet, neither is {path}"
                ));
            }
        }
        Self {
            rows: vec![0; pools.len()],
            tags: Vec::new(),
            pools,
            streams,
            log,
            counters: Counters::default(),
            expvar: config.expvar,
            started_at: 0,
            interrupted: false,
            fault: None,
            notes,
        }
    }

    /// Where lines go while the run goes on.
    pub(crate) fn streams(&self) -> Vec<crate::StreamPlace<'_>> {
        let places = self.streams.places.iter();
        let place = |place| match place {
            &Place::Stdout => crate::StreamPlace::Stdout,
            &Place::Stderr => crate::StreamPlace::Stderr,
            Place::File(path) => crate::StreamPlace::File(path),
        };
        places.map(place).collect()
    }

    /// The writers of these places.
    pub(crate) fn set_streams(&mut self, writers: Vec<Box<dyn Stream>>) {
        self.streams.writers = writers;
    }

    /// The port on which counters are asked for.
    pub(crate) const fn expvar(&self) -> Option<u16> {
        self.expvar
    }

    /// The counters as JSON.
    pub(crate) fn counters(&self) -> String {
        self.counters.json()
    }

    /// Why the run must end.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Takes note of what happens.
    pub(crate) fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => self.begin(info),
            RunEvent::Kept(kept) => self.keep(kept),
            RunEvent::IntervalClosed(interval) => self.close(interval),
            RunEvent::Stopping {
                reason: StopReason::Signal,
            } if self.fault.is_none() => {
                self.interrupted = true;
                let at = self.counters.end;
                self.info(at, "Signal received. Graceful shutdown.");
            }
            _ => return,
        }
        if let Err(error) = self.streams.flush()
            && self.fault.is_none()
        {
            self.fault = Some(format!("a result can't be written: {error}"));
        }
    }

    fn info(&mut self, at: Nanos, message: &str) {
        if self.log.has_info() {
            let at = self.started_at + at.0;
            self.log
                .line(at, "INFO", message, &mut self.streams.pending);
        }
    }

    fn begin(&mut self, info: &RunInfo) {
        self.started_at = info.started_at_unix_ns;
        self.tags = info.pools.iter().map(|pool| pool.steps.clone()).collect();
        for pool in 0..self.pools.len() {
            let message = format!(
                "Pool run started\t{{\"pool\": \"{}\"}}",
                self.pools[pool].id
            );
            self.info(Nanos::ZERO, &message);
        }
    }

    /// Writes the rows of samples.
    fn keep(&mut self, kept: &[Kept]) {
        let mut kept: Vec<&Kept> = kept.iter().collect();
        // Workers come one after the other.
        kept.sort_by_key(|kept| kept.sample.end);
        for kept in kept {
            let number = usize::from(kept.pool);
            let Some(pool) = self.pools.get(number) else {
                continue;
            };
            if pool.needs_http2 && kept.sample.outcome == Outcome::TlsAlpn {
                self.fault.get_or_insert_with(|| NOT_HTTP2.to_owned());
            }
            self.rows[number] += 1;
            let tags = self.tags.get(number);
            let tag = tags.and_then(|tags| tags.get(usize::from(kept.sample.step)));
            let mut tag = tag.cloned().unwrap_or_default();
            // Calls have an empty tag where ammo has none.
            if pool.columns.status == Status::Grpc && *tag == *NO_TAG {
                tag = Arc::default();
            }
            // What has failed of a scenario bears the mark of ammo without a tag, as well.
            if pool.scenarios && kept.sample.outcome != Outcome::Ok {
                tag = format!("{tag}|{NO_TAG}").into();
            }
            let mut row = Row::of(kept, self.started_at, &tag, pool.columns);
            if pool.scenarios {
                row.mark_failed_step();
            }
            self.write_row(number, &row);
        }
    }

    /// Writes a row where the rows of its pool go.
    fn write_row(&mut self, number: usize, row: &Row<'_>) {
        let pool = &self.pools[number];
        match &pool.output {
            Output::Phout { to, id } => {
                if let Some(stream) = self.streams.find(to) {
                    let id = id.then_some(self.rows[number]);
                    row.print(id, &mut self.streams.pending[stream]);
                    self.streams.pending[stream].push(b'\n');
                }
            }
            Output::JsonLines { to } => {
                if let Some(stream) = self.streams.find(to) {
                    row.print_json(&pool.id, &mut self.streams.pending[stream]);
                }
            }
            Output::Log if self.log.has_info() => {
                let mut message = b"Sample reported: ".to_vec();
                row.print(Some(self.rows[number]), &mut message);
                let message = String::from_utf8_lossy(&message);
                self.log
                    .line(row.end, "INFO", &message, &mut self.streams.pending);
            }
            Output::Log | Output::Discard => {}
        }
    }

    /// Takes note of an interval's end.
    fn close(&mut self, interval: &Interval) {
        let started = self.pools.iter();
        let started = started.map(|pool| pool.startup.started(interval.end));
        let line = self.counters.add(interval, started.sum());
        for (number, figures) in interval.pools().iter().enumerate() {
            self.write_discarded(number, figures, interval.end);
            self.warn(number, figures, interval.end);
        }
        if let Some(line) = line {
            self.info(interval.end, &line);
        }
    }

    /// Writes a row for each shot that was discarded.
    fn write_discarded(&mut self, number: usize, figures: &Figures, at: Nanos) {
        let counts = figures.iterations.as_ref();
        let dropped = counts.map_or(figures.counts.dropped, |of| of.counts.dropped);
        let row = Row::without_times(self.started_at + at.0, DISCARDED, DISCARDED_CODE);
        for _ in 0..dropped {
            self.rows[number] += 1;
            self.write_row(number, &row);
        }
    }

    /// Logs each kind of failure once, with how often it was seen.
    fn warn(&mut self, number: usize, figures: &Figures, at: Nanos) {
        if !self.log.has_warnings() {
            return;
        }
        let id = &self.pools[number].id;
        for row in figures.errors() {
            let message = format!(
                "{} shots failed: {}\t{{\"pool\": \"{id}\"}}",
                row.count, row.message
            );
            let at = self.started_at + at.0;
            self.log
                .line(at, "WARN", &message, &mut self.streams.pending);
        }
    }

    /// Closes the log when the run has ended.
    pub(crate) fn finish(&mut self, summary: &Summary) {
        self.counters.finish();
        let end = summary.duration;
        for pool in 0..self.pools.len() {
            let id = &self.pools[pool].id;
            let message = match self.is_clean() {
                true => format!("Pool run finished successfully\t{{\"pool\": \"{id}\"}}"),
                false => format!("Pool run finished\t{{\"pool\": \"{id}\"}}"),
            };
            self.info(end, &message);
        }
        self.info(end, "Engine finished");
        if let Some(fault) = self.fault.clone() {
            let at = self.started_at + end.0;
            let message = format!("Engine run failed.\t{{\"error\": \"{fault}\"}}");
            self.log
                .line(at, "ERROR", &message, &mut self.streams.pending);
        } else if self.is_clean() {
            self.info(end, "Engine run successfully finished");
        }
        if let Err(error) = self.streams.flush() {
            let fault = format!("a result can't be written: {error}");
            self.fault.get_or_insert(fault);
        }
    }

    fn is_clean(&self) -> bool {
        self.fault.is_none() && !self.interrupted
    }

    /// The text for standard error after the run.
    pub(crate) fn epilogue(&self, summary: &Summary, style: &Style) -> String {
        text::summary(summary, style)
    }

    /// 0, or 1 where something ended the run before its time.
    pub(crate) fn exit_code(&self) -> u8 {
        u8::from(!self.is_clean())
    }
}
