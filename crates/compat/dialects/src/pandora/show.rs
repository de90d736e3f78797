//! Pandora's output: rows of results during the run, the log, and the counters.

mod answers;
mod counters;
mod log;
mod phout;

use super::config::{Config, Pool};
use super::gun::{Gun, Loaded, Way};
use super::output::{Output, Place};
use super::schedule::Startup;
use super::shot::NO_TAG;
use crate::{CountersPage, Stream};
use answers::Answers;
use counters::LogCounters;
use drumfire_measure::{Figures, Interval, Kept, Outcome, RunEvent, RunInfo, Summary, Transcript};
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

/// The message if a server does not support HTTP/2.
const NOT_HTTP2: &str = "shoot panic: Non HTTP/2 connection established. Seems that target doesn't \
                         support HTTP/2.";

/// The output state of a pool.
#[derive(Debug)]
pub(super) struct Shown {
    id: String,
    output: Output,
    startup: Startup,
    columns: Columns,
    /// Whether each iteration is a scenario.
    scenarios: bool,
    /// Whether the run ends if a server does not choose HTTP/2.
    needs_http2: bool,
    /// Whether ammo has numbers in the output.
    is_numbered: bool,
    answers: Option<Answers>,
    answers_to: Option<Place>,
}

impl Shown {
    /// Reads the output settings of a pool.
    pub(super) fn from_pool(pool: &Pool) -> Self {
        let (sizes, phases, needs_http2) = match &pool.gun {
            Gun::Http(gun) => (gun.sizes, gun.phases, gun.way == Way::Http2 && gun.tls),
            Gun::Grpc(_) => (false, false, false),
        };
        let status = match &pool.gun {
            Gun::Http(_) => Status::Http,
            Gun::Grpc(_) => Status::Grpc,
        };
        let (answers, answers_to) = Answers::from_pool(pool).unzip();
        Self {
            answers,
            answers_to,
            is_numbered: matches!(&pool.gun, Gun::Http(gun) if gun.loaded == Loaded::Shots),
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

    /// The minimum status of exchanges that the log contains in full; `None` without a log.
    pub(super) fn least_status_in_full(&self) -> Option<u16> {
        self.answers.as_ref().map(Answers::least_status)
    }

    /// The destination of the rows.
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
    streams: Streams,
    log: Log,
    counters: LogCounters,
    expvar: Option<u16>,
    started_at: u64,
    interrupted: bool,
    /// The reason why the run must end.
    fault: Option<String>,
    pub(super) notes: Vec<String>,
}

/// The destinations that are written during the run, each once.
#[derive(Debug, Default)]
struct Streams {
    places: Vec<Place>,
    writers: Vec<Box<dyn Stream>>,
    /// The pending bytes of each destination.
    pending: Vec<Vec<u8>>,
}

impl Streams {
    /// The index of a destination.
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

    /// Writes the pending bytes.
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
            for place in pool.place().into_iter().chain(&pool.answers_to) {
                streams.add(place);
            }
        }
        if config.profiles {
            notes.push("profiles of Go's runtime are not written".to_owned());
        }
        Self {
            tags: Vec::new(),
            pools,
            streams,
            log,
            counters: LogCounters::default(),
            expvar: config.expvar,
            started_at: 0,
            interrupted: false,
            fault: None,
            notes,
        }
    }

    fn info(&mut self, at: Nanos, message: &str) {
        if self.log.has_info() {
            let at = self.started_at + at.0;
            self.log
                .line(at, "INFO", message, &mut self.streams.pending);
        }
    }

    fn start_run(&mut self, info: &RunInfo) {
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

    /// Logs exchanges in full.
    fn log_answers(&mut self, transcripts: &[Transcript]) {
        for transcript in transcripts {
            let tag = self.tag_of(transcript.pool, transcript.sample.step);
            let Some(pool) = self.pools.get_mut(transcript.pool) else {
                continue;
            };
            let place = pool.answers_to.as_ref();
            let stream = place.and_then(|place| self.streams.find(place));
            if let (Some(answers), Some(stream)) = (&mut pool.answers, stream) {
                let out = &mut self.streams.pending[stream];
                answers.write(transcript, &tag, self.started_at, out);
            }
        }
    }

    /// The name of a pool's step.
    fn tag_of(&self, pool: usize, step: u16) -> Arc<str> {
        let tag = self
            .tags
            .get(pool)
            .and_then(|tags| tags.get(usize::from(step)));
        tag.cloned().unwrap_or_default()
    }

    /// Writes the rows of samples.
    fn keep(&mut self, kept: &[Kept]) {
        let mut kept: Vec<&Kept> = kept.iter().collect();
        // The samples of the workers arrive worker by worker.
        kept.sort_by_key(|kept| kept.sample.end);
        for kept in kept {
            let number = usize::from(kept.pool);
            let mut tag = self.tag_of(number, kept.sample.step);
            let Some(pool) = self.pools.get_mut(number) else {
                continue;
            };
            if let Some(answers) = &mut pool.answers {
                answers.count(kept);
            }
            if pool.needs_http2 && kept.sample.outcome == Outcome::TlsAlpn {
                self.fault.get_or_insert_with(|| NOT_HTTP2.to_owned());
            }
            // Calls have an empty tag if the ammo has no tag.
            if pool.columns.status == Status::Grpc && *tag == *NO_TAG {
                tag = Arc::default();
            }
            // Failed steps of a scenario are additionally marked with the tag of ammo without a
            // tag. A call to which the server answers with an error is not a failed step.
            let is_marked = pool.scenarios && pool.columns.status.is_failed(&kept.sample);
            if is_marked {
                tag = format!("{tag}|{NO_TAG}").into();
            }
            let mut row = Row::from_sample(kept, self.started_at, &tag, pool.columns);
            if is_marked {
                row.mark_failed_step();
            }
            let id = match pool.is_numbered {
                true => kept.particulars.arrival + 1,
                false => 0,
            };
            self.write_row(number, &row, id);
        }
    }

    /// Writes a row to the destination of its pool.
    fn write_row(&mut self, number: usize, row: &Row<'_>, ammo: u64) {
        let pool = &self.pools[number];
        match &pool.output {
            Output::Phout { to, id } => {
                if let Some(stream) = self.streams.find(to) {
                    let id = id.then_some(ammo);
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
                row.print(Some(ammo), &mut message);
                let message = String::from_utf8_lossy(&message);
                self.log
                    .line(row.end, "INFO", &message, &mut self.streams.pending);
            }
            Output::Log | Output::Discard => {}
        }
    }

    /// Processes the end of an interval.
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

    /// Writes a row for each discarded request.
    fn write_discarded(&mut self, number: usize, figures: &Figures, at: Nanos) {
        let counts = figures.iterations.as_ref();
        let dropped = counts.map_or(figures.counts.dropped, |of| of.counts.dropped);
        let row = Row::without_times(self.started_at + at.0, DISCARDED, DISCARDED_CODE);
        for _ in 0..dropped {
            self.write_row(number, &row, 0);
        }
    }

    /// Logs each kind of failure once, with its number of occurrences.
    fn warn(&mut self, number: usize, figures: &Figures, at: Nanos) {
        if !self.log.has_warnings() {
            return;
        }
        let id = &self.pools[number].id;
        for row in figures.errors() {
            let message = format!(
                "{} shots failed: {}\t{{\"pool\": \"{id}\"}}",
                row.count, row.detail.text
            );
            let at = self.started_at + at.0;
            self.log
                .line(at, "WARN", &message, &mut self.streams.pending);
        }
    }

    /// Logs the number of answers that could not be logged.
    fn account_for_answers(&mut self, end: Nanos) {
        for pool in 0..self.pools.len() {
            let lacking = self.pools[pool]
                .answers
                .as_ref()
                .map_or(0, Answers::lacking);
            if lacking > 0 && self.log.has_warnings() {
                let id = &self.pools[pool].id;
                let message = format!(
                    "{lacking} answers are missing in answlog: there were too many at a \
                     time\t{{\"pool\": \"{id}\"}}"
                );
                let at = self.started_at + end.0;
                self.log
                    .line(at, "WARN", &message, &mut self.streams.pending);
            }
        }
    }

    fn is_clean(&self) -> bool {
        self.fault.is_none() && !self.interrupted
    }
}

impl crate::Presentation for Presentation {
    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn streams(&self) -> Vec<crate::LineDestination<'_>> {
        let places = self.streams.places.iter();
        let place = |place| match place {
            &Place::Stdout => crate::LineDestination::Stdout,
            &Place::Stderr => crate::LineDestination::Stderr,
            Place::File(path) => crate::LineDestination::File(path),
        };
        places.map(place).collect()
    }

    fn set_streams(&mut self, writers: Vec<Box<dyn Stream>>) {
        self.streams.writers = writers;
    }

    fn counters_page(&self) -> Option<CountersPage> {
        self.expvar.map(|port| CountersPage {
            address: format!("localhost:{port}"),
            path: "/debug/vars",
            media_type: "application/json; charset=utf-8",
        })
    }

    fn counters(&self) -> String {
        self.counters.json()
    }

    fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => self.start_run(info),
            RunEvent::Kept(kept) => self.keep(kept),
            RunEvent::Transcripts(transcripts) => self.log_answers(transcripts),
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
            self.fault = Some(format!("could not write a result: {error}"));
        }
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    fn finish(&mut self, summary: &Summary) {
        self.counters.finish();
        let end = summary.duration;
        self.account_for_answers(end);
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
            let fault = format!("could not write a result: {error}");
            self.fault.get_or_insert(fault);
        }
    }

    fn epilogue(&self, summary: &Summary, style: &Style) -> String {
        text::summary(summary, style)
    }

    /// 0, or 1 after a fault or an interruption.
    fn exit_code(&self, _summary: &Summary) -> u8 {
        u8::from(!self.is_clean())
    }
}
