//! The metrics of an inference server, read before and after a run.
//!
//! The server's own times exclude the network and gateways in front of it, and its counters show
//! whether prompts were answered from its prefix cache. Their increase over the run becomes notes of
//! the report. The run does not start if the metrics cannot be read.

use crate::{Note, Observer, SessionError};
use drumfire_document::Text;
use drumfire_measure::{RunInfo, Summary};
use drumfire_metrics::{ServerCounters, ServerFigures};
use drumfire_net::{PostTarget, TlsConfig, TlsIdentity, TlsMaterial, TlsOptions, TlsVerify};
use drumfire_plan::{Host, Scheme, Url};
use std::time::Duration;

/// The time limit of a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// The share of cached prompts from which a note warns, as vLLM's own client does.
const CACHED_SHARE: f64 = 0.01;

/// The observer that reads a server's metrics.
pub struct ServerMetrics {
    target: PostTarget,
    /// The URL in messages, without secrets.
    name: String,
    before: ServerCounters,
}

impl ServerMetrics {
    /// The observer for the metrics at a URL, whose path is `/metrics` if it has none.
    ///
    /// # Errors
    /// If the URL is invalid.
    pub fn new(url: &Text) -> Result<Self, SessionError> {
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
        Ok(Self {
            target,
            name: parsed.origin.to_string(),
            before: ServerCounters::default(),
        })
    }

    fn read(&self) -> Result<ServerCounters, String> {
        let answer = self.target.get();
        let answer = answer.map_err(|error| error.to_string())?;
        match answer.status {
            200 => Ok(ServerCounters::parse(&answer.text())),
            status => Err(format!("the server responded with {status}")),
        }
    }
}

impl Observer for ServerMetrics {
    fn open(&mut self, _info: &mut RunInfo) -> Result<(), SessionError> {
        let name = &self.name;
        let refused =
            |why| SessionError::Refused(format!("can't read the metrics of {name}: {why}"));
        self.before = self.read().map_err(refused)?;
        Ok(())
    }

    fn finish(self: Box<Self>, summary: &Summary) -> Vec<Note> {
        let name = &self.name;
        let notes = match self.read() {
            Ok(after) => notes(name, &after.since(&self.before), summary),
            Err(why) => vec![format!(
                "the metrics of {name} could not be read again: {why}"
            )],
        };
        notes.into_iter().map(Note::Report).collect()
    }
}

/// The figures in words, and a warning if the cache had too many of the prompts.
fn notes(name: &str, figures: &ServerFigures, summary: &Summary) -> Vec<String> {
    let mut parts = Vec::new();
    let ms = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
    if let Some(ttft) = figures.ttft {
        let ours = summary.total.llm().map(|llm| &llm.ttft_service);
        let ours = ours.filter(|times| !times.is_empty());
        let beyond = ours.map_or_else(String::new, |times| {
            let beyond = times.mean() / 1e9 - ttft;
            format!(", and {} more until it was read here", ms(beyond))
        });
        parts.push(format!("mean time to first token {}{beyond}", ms(ttft)));
    }
    if let Some(gap) = figures.gap {
        parts.push(format!("mean time between tokens {}", ms(gap)));
    }
    let share = figures.cached_share();
    if let Some(share) = share {
        parts.push(format!(
            "{:.1} % of the prompts' tokens cached",
            share * 100.0
        ));
    }
    if let Some(count) = figures.preemptions {
        parts.push(format!("{count} preemptions"));
    }
    if parts.is_empty() {
        return vec![format!("{name} has no metrics of vLLM for this run")];
    }
    let mut notes = vec![format!("metrics of {name}: {}", parts.join("; "))];
    if share.is_some_and(|share| share >= CACHED_SHARE) {
        notes.push(
            "the server answered a part of the prompts from its prefix cache; unless prompts share \
             it on purpose, the run is faster than new prompts would be"
                .to_owned(),
        );
    }
    notes
}
