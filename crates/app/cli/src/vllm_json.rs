//! `--vllm-json`: the answers of a run as `vllm bench serve --save-result` writes them.

use crate::exit::Failure;
use crate::output::Destination;
use crate::results::{self, Content};
use drumfire_document::{Document, LlmSettings, Text};
use drumfire_measure::{Kept, Model, RunEvent, RunInfo, Summary};
use drumfire_report::vllm::{self, VllmFacts, VllmFigures, VllmMetric, VllmTally};
use drumfire_session::{Note, Observer, Redactor};
use std::path::Path;

/// The percentiles of the times.
const PERCENTILES: [f64; 4] = [50.0, 90.0, 95.0, 99.0];

/// The observer that collects the answers of a run and writes them at its end.
pub(crate) struct VllmJson {
    destination: Destination,
    redactor: Redactor,
    tally: VllmTally,
    facts: VllmFacts,
    /// The number of samples that have come.
    seen: u64,
}

impl VllmJson {
    /// Checks the place in the document's outputs, if there is one.
    ///
    /// # Errors
    /// If the place cannot be written, or the document sends no prompts.
    pub(crate) fn open(document: &Document, redactor: &Redactor) -> Result<Option<Self>, Failure> {
        let mut wanted = results::wanted(&document.outputs);
        let found = wanted.find(|(row, _)| matches!(row.content, Content::Answers));
        let Some((_, place)) = found else {
            return Ok(None);
        };
        let mut pools = document.pools.iter();
        let Some(pool) = pools.find(|pool| pool.llm != LlmSettings::default()) else {
            let message = format!(
                "{}: the plan sends no prompts to a language model; use --json",
                place.place
            );
            return Err(Failure::usage(message));
        };
        Ok(Some(Self {
            destination: Destination::check(&place.place.to_string(), Path::new(&place.value))?,
            redactor: redactor.clone(),
            tally: VllmTally::default(),
            seen: 0,
            facts: facts(&pool.llm, pool.load.arrivals.as_ref()),
        }))
    }

    fn record(&mut self, kept: &Kept) {
        let text = kept.detail.as_ref().map(ToString::to_string);
        let text = text.as_deref().map(|text| self.redactor.text(text));
        self.tally.record(kept, text.as_deref());
    }

    /// Adds the facts that only a run that has started knows.
    fn begin(&mut self, info: &RunInfo) {
        self.facts.date = vllm::date(info.started_at_unix_ns);
        if let Some(pool) = info.pools.first() {
            self.facts.request_rate = pool.intended_rate;
            self.facts.max_concurrency = match pool.model {
                Model::Open => None,
                Model::Closed => pool.users.map(u64::from),
            };
        }
    }
}

/// The facts that the plan contains.
fn facts(llm: &LlmSettings, arrivals: Option<&Text>) -> VllmFacts {
    let text = |text: &Option<Text>| text.as_ref().map(|text| text.value.clone());
    let api = text(&llm.api).unwrap_or_else(|| "chat".to_owned());
    let generates = !matches!(&*api, "embeddings" | "rerank");
    let model_id = text(&llm.model).unwrap_or_default();
    let shape = arrivals.and_then(|text| text.value.strip_prefix("gamma:"));
    VllmFacts {
        date: String::new(),
        backend: format!("openai-{api}"),
        label: None,
        tokenizer_id: Some(model_id.clone()),
        model_id,
        num_prompts: None,
        metadata: Vec::new(),
        request_rate: None,
        burstiness: shape.and_then(|shape| shape.parse().ok()).unwrap_or(1.0),
        max_concurrency: None,
        ramp: None,
        generates,
        metrics: match generates {
            true => VllmMetric::ALL.into(),
            false => vec![VllmMetric::E2el],
        },
        percentiles: PERCENTILES.into(),
        limits: Vec::new(),
        is_detailed: false,
    }
}

impl Observer for VllmJson {
    fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => self.begin(info),
            RunEvent::Kept(kept) => {
                self.seen += kept.len() as u64;
                kept.iter().for_each(|kept| self.record(kept));
            }
            _ => {}
        }
    }

    fn finish(mut self: Box<Self>, summary: &Summary) -> Vec<Note> {
        let counts = &summary.total.counts;
        let lost = (counts.ok + counts.failed).saturating_sub(self.seen);
        let lost = (lost > 0).then(|| format!("vLLM's result lacks {lost} requests of the run"));
        self.tally.close();
        let figures = VllmFigures::new(&self.tally, &[]);
        let mut json = vllm::json(&self.facts, &self.tally, &figures);
        json.push('\n');
        let bytes = self.redactor.json(json.as_bytes());
        let failure = self.destination.write(&bytes).err();
        let failure = failure.map(|failure| failure.message);
        let notes = failure.into_iter().chain(lost).chain(self.tally.lack());
        notes.map(Note::Failure).collect()
    }
}
