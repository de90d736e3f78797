//! The output of `vllm bench serve`.

use super::meaning::Meaning;
use super::result_file::{ResultFile, float};
use drumfire_measure::{RunEvent, RunInfo, Summary};
use drumfire_plan::StopReason;
use drumfire_report::style::Style;
use drumfire_report::vllm::{self, VllmFacts, VllmFigures, VllmTally};
use std::fmt::Write as _;
use std::io::{self, Write};

/// The number of failures that are listed.
const ERRORS: usize = 10;

/// How a run and its result are shown.
#[derive(Debug)]
pub(super) struct Presentation {
    facts: VllmFacts,
    file: Option<ResultFile>,
    notes: Vec<String>,
    ready_check: u64,
    warmups: u64,
    is_timed: bool,
    is_file: bool,
    tally: VllmTally,
    /// The probes, if there are any.
    probes: Option<VllmTally>,
    figures: Option<VllmFigures>,
    stopped: Option<StopReason>,
}

impl Presentation {
    /// The presentation of a command line.
    ///
    /// # Errors
    /// If a value is invalid.
    pub(super) fn new(
        of: &Meaning<'_>,
        facts: VllmFacts,
        file: Option<ResultFile>,
    ) -> Result<Self, String> {
        let mut notes = of.args.notes();
        notes.extend(of.dataset.notes.iter().cloned());
        if facts.is_detailed && facts.generates {
            notes.push(
                "--save-detailed: generated_texts are empty, because answers are not kept"
                    .to_owned(),
            );
        }
        Ok(Self {
            notes,
            ready_check: of.args.count("ready-check-timeout-sec")?,
            warmups: of.args.count("num-warmups")?,
            is_timed: of.dataset.is_timed,
            is_file: of.dataset.is_file,
            file,
            tally: match facts.request_rate.is_none()
                && facts.ramp.is_none()
                && !of.dataset.is_timed
            {
                true => VllmTally::of_burst(),
                false => VllmTally::default(),
            },
            probes: of.load.probes.map(|_| VllmTally::default()),
            figures: None,
            stopped: None,
            facts,
        })
    }

    /// The lines about failed requests.
    fn failures(&self) -> String {
        let errors = self.tally.errors(ERRORS);
        let mut out = String::new();
        if !errors.is_empty() {
            let _ = writeln!(
                out,
                "Failed requests during benchmark run detected (capping to {ERRORS}):"
            );
        }
        for (number, error) in errors.iter().enumerate() {
            // Writing to a String can't fail.
            let _ = writeln!(out, "Error {number}: {error}");
        }
        out
    }

    /// The figures, which exist after the run.
    fn figures(&self) -> VllmFigures {
        let figures = self.figures.clone();
        figures.unwrap_or_else(|| VllmFigures::new(&self.tally, &self.facts.limits))
    }
}

impl crate::Presentation for Presentation {
    fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The lines before the run. drumfire has sent the requests before it by then.
    fn render_start(&self, _info: &RunInfo) -> String {
        let facts = &self.facts;
        let mut out = "Starting initial single prompt test run...\n".to_owned();
        out.push_str(match self.ready_check {
            0 => "Skipping endpoint ready check.\n",
            _ => "Initial test run completed.\n",
        });
        if self.warmups > 0 {
            let warmups = self.warmups;
            // Writing to a String can't fail.
            let _ = writeln!(out, "Warming up with {warmups} requests...");
            out.push_str("Warmup run completed.\n");
        }
        out.push_str("Starting main benchmark run...\n");
        if self.is_timed {
            out.push_str("Self timing is set, using the timestamps from the trace file.\n");
            return out;
        }
        let _ = match &facts.ramp {
            Some(ramp) => writeln!(
                out,
                "Traffic ramp-up strategy: {}.\nWill increase RPS from {} to {} RPS over the \
                 duration of the benchmark.",
                ramp.strategy, ramp.start, ramp.end
            ),
            None => {
                let rate = float(facts.request_rate.unwrap_or(f64::INFINITY));
                writeln!(out, "Traffic request rate: {rate}")
            }
        };
        let distribution = match facts.burstiness {
            1.0 => "Poisson process",
            _ => "Gamma distribution",
        };
        let most = facts.max_concurrency;
        let most = most.map_or_else(|| "None".to_owned(), |most| most.to_string());
        let _ = writeln!(
            out,
            "Burstiness factor: {} ({distribution})\nMaximum request concurrency: {most}",
            float(facts.burstiness)
        );
        out
    }

    fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Kept(all) => {
                for kept in all.iter() {
                    let text = kept.detail.as_ref().map(ToString::to_string);
                    match (kept.pool, &mut self.probes) {
                        (1.., Some(probes)) => probes.record(kept, text.as_deref()),
                        _ => self.tally.record(kept, text.as_deref()),
                    }
                }
            }
            RunEvent::Stopping { reason } => {
                self.stopped.get_or_insert(*reason);
            }
            _ => {}
        }
    }

    /// Probes end with the last answer of the load.
    fn is_done(&self) -> bool {
        let wanted = self.facts.num_prompts.unwrap_or(0);
        self.probes.is_some() && self.tally.count() as u64 >= wanted
    }

    fn finish(&mut self, _summary: &Summary) {
        self.tally.close();
        let figures = VllmFigures::new(&self.tally, &self.facts.limits);
        self.figures = Some(match &self.probes {
            Some(probes) => figures.with_probes(probes),
            None => figures,
        });
    }

    fn epilogue(&self, _summary: &Summary, _style: &Style) -> String {
        let mut out = String::new();
        if let Some(lack) = self.tally.lack() {
            // Writing to a String can't fail.
            let _ = writeln!(out, "{lack}");
        }
        let (sent, wanted) = (
            self.tally.count() as u64,
            self.facts.num_prompts.unwrap_or(0),
        );
        let was_ended = self.stopped == Some(StopReason::Signal);
        if self.is_file && sent < wanted && !was_ended {
            let _ = writeln!(
                out,
                "the file has only {sent} usable prompts; each is sent once, so that no prompt is \
                 answered from a cache"
            );
        }
        out
    }

    fn places(&self) -> Vec<Option<&str>> {
        let file = self.file.as_ref().map(|file| Some(file.path.as_str()));
        std::iter::once(None).chain(file).collect()
    }

    fn write(&mut self, place: usize, _summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let figures = self.figures();
        let Some(file) = self.file.as_ref().filter(|_| place > 0) else {
            let table = vllm::table(&self.facts, &figures);
            return out.write_all(format!("{}{table}", self.failures()).as_bytes());
        };
        out.write_all(&file.before)?;
        if !file.before.is_empty() {
            out.write_all(b"\n")?;
        }
        let json = vllm::json(&self.facts, &self.tally, &figures);
        out.write_all(json.as_bytes())
    }

    /// vLLM exits with 0 even if every request failed.
    fn exit_code(&self, _summary: &Summary) -> u8 {
        match &self.figures {
            Some(figures) if figures.completed > 0 => 0,
            _ => 1,
        }
    }
}
