//! The metrics of an inference server, read before, during and after a run.
//!
//! The server's own times exclude the network and gateways in front of it, its counters show whether
//! prompts were answered from its prefix cache, and its gauges how many requests wait in it. The
//! increase of the counters becomes notes of the report, the gauges are read once per interval. The
//! run does not start if the metrics cannot be read.

use crate::{InferenceBoard, Note, Observer, RunContext, SessionError};
use drumfire_document::Text;
use drumfire_measure::{InferenceRecord, RunEvent, RunInfo, Summary};
use drumfire_metrics::ServerCounters;
use drumfire_net::{PostTarget, TlsConfig, TlsIdentity, TlsMaterial, TlsOptions, TlsVerify};
use drumfire_plan::{Host, Scheme, Url};
use drumfire_units::Nanos;
use std::time::Duration;

/// The time limit of a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// The minimum time between two reads during a run.
const PAUSE: Nanos = Nanos::from_millis(500);

/// The share of cached prompts from which a run is suspect or a note warns, as vLLM's own client
/// warns.
pub(crate) const CACHED_SHARE: f64 = 0.01;

/// Whether the prompts of a run are meant to be new to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptsAre {
    /// All are new: the run is suspect if the server had them in its cache.
    New,
    /// Some are repeated, or share beginnings.
    Repeated,
}

/// The observer that reads a server's metrics.
pub struct ServerMetrics {
    target: PostTarget,
    /// The URL in messages, without secrets.
    name: String,
    prompts: PromptsAre,
    before: ServerCounters,
    record: InferenceRecord,
    board: InferenceBoard,
    /// The time of the last read.
    last: Nanos,
}

impl ServerMetrics {
    /// The observer for the metrics at a URL, whose path is `/metrics` if it has none.
    ///
    /// # Errors
    /// If the URL is invalid.
    pub fn new(url: &Text, prompts: PromptsAre) -> Result<Self, SessionError> {
        let wrong = |why: String| SessionError::Refused(format!("{}: {why}", url.place));
        let parsed = Url::parse(&url.value).map_err(|error| wrong(error.message))?;
        let path = match &*parsed.target {
            "/" => "/metrics",
            path => path,
        };
        let name = match &parsed.origin.host {
            Host::Name(name) => name.clone(),
            Host::Address(address) => address.to_string(),
        };
        let tls = match parsed.origin.scheme {
            Scheme::Http => None,
            Scheme::Https => {
                let tls = TlsConfig::new(&TlsOptions {
                    name: &name,
                    material: &TlsMaterial::default(),
                    identity: TlsIdentity::Withheld,
                    verify: TlsVerify::Yes,
                    alpn: &[],
                    resumed_per_million: 1_000_000,
                });
                Some(tls.map_err(|error| wrong(error.to_string()))?)
            }
        };
        let uri = format!("{}{path}", parsed.origin);
        let target = PostTarget::new(&uri, tls, PATIENCE).map_err(wrong)?;
        let name = parsed.origin.to_string();
        Ok(Self {
            target,
            prompts,
            before: ServerCounters::default(),
            record: InferenceRecord {
                server: name.clone(),
                ..InferenceRecord::default()
            },
            name,
            board: InferenceBoard::default(),
            last: Nanos::ZERO,
        })
    }
}

impl Observer for ServerMetrics {
    fn open(&mut self, _info: &mut RunInfo) -> Result<(), SessionError> {
        let name = &self.name;
        let refused =
            |why| SessionError::Refused(format!("can't read the metrics of {name}: {why}"));
        self.before = read(&self.target).map_err(refused)?;
        Ok(())
    }

    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        self.board = run.inference.clone();
        self.board.set(Box::new(self.record.clone()));
        Ok(())
    }

    fn yields(&self) -> bool {
        true
    }

    fn observe(&mut self, event: &RunEvent) {
        let RunEvent::IntervalClosed(interval) = event else {
            return;
        };
        if interval.end < self.last + PAUSE {
            return;
        }
        self.last = interval.end;
        match read(&self.target) {
            Ok(counters) => self.record.add(counters.moment(interval.end)),
            Err(_) => self.record.failed_reads += 1,
        }
        self.board.set(Box::new(self.record.clone()));
    }

    fn finish(self: Box<Self>, summary: &Summary) -> Vec<Note> {
        let Self {
            name,
            prompts,
            before,
            mut record,
            target,
            ..
        } = *self;
        let after = match read(&target) {
            Ok(after) => after,
            Err(why) => {
                let text = format!("the metrics of {name} could not be read again: {why}");
                return vec![Note::Report(text), Note::Inference(Box::new(record))];
            }
        };
        after.count_since(&before, &mut record);
        let mut notes = notes(&record, prompts, summary);
        notes.push(Note::Inference(Box::new(record)));
        notes
    }
}

/// Reads the metrics once.
fn read(target: &PostTarget) -> Result<ServerCounters, String> {
    let answer = target.get().map_err(|error| error.to_string())?;
    match answer.status {
        200 => Ok(ServerCounters::parse(&answer.text())),
        status => Err(format!("the server responded with {status}")),
    }
}

/// The figures in words, and a doubt or a warning if the cache had too many of the prompts.
fn notes(record: &InferenceRecord, prompts: PromptsAre, summary: &Summary) -> Vec<Note> {
    let name = &record.server;
    let mut parts = Vec::new();
    let ms = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
    if let Some(ttft) = record.ttft {
        let ours = summary.total.llm().map(|llm| &llm.ttft_service);
        let ours = ours.filter(|times| !times.is_empty());
        let beyond = ours.map_or_else(String::new, |times| {
            let beyond = times.mean() / 1e9 - ttft;
            format!(", and {} more until it was read here", ms(beyond))
        });
        parts.push(format!("mean time to first token {}{beyond}", ms(ttft)));
    }
    if let Some(gap) = record.gap {
        parts.push(format!("mean time between tokens {}", ms(gap)));
    }
    let share = record.cached_share();
    if let Some(share) = share {
        parts.push(format!(
            "{:.1} % of the prompts' tokens cached",
            share * 100.0
        ));
    }
    if let Some(count) = record.preemptions {
        parts.push(format!("{count} preemptions"));
    }
    if parts.is_empty() && record.whole().is_none_or(|whole| whole.running.is_none()) {
        let text = format!("{name} has no metrics of vLLM or SGLang for this run");
        return vec![Note::Report(text)];
    }
    let mut notes = Vec::new();
    if !parts.is_empty() {
        let text = format!("metrics of {name}: {}", parts.join("; "));
        notes.push(Note::Report(text));
    }
    if let Some(share) = share.filter(|share| *share >= CACHED_SHARE) {
        notes.push(match prompts {
            PromptsAre::New => Note::Doubt(format!(
                "{name} had {:.1} % of the new prompts' tokens in its prefix cache, which makes \
                 answers faster",
                share * 100.0
            )),
            PromptsAre::Repeated => Note::Report(
                "the server answered a part of the prompts from its prefix cache; unless prompts \
                 share it on purpose, the run is faster than new prompts would be"
                    .to_owned(),
            ),
        });
    }
    notes
}
