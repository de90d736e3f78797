//! The file of `--save-result`: its name, and the results that it already has.

use super::args::{Args, mistake};
use drumfire_compile::Host;
use drumfire_report::vllm::VllmFacts;
use std::io;
use std::path::Path;

/// The file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResultFile {
    pub(super) path: String,
    /// Its content before the run, with `--append-result`.
    pub(super) before: Vec<u8>,
}

impl ResultFile {
    /// The file of a command line, if it asks for one.
    ///
    /// # Errors
    /// If flags contradict each other, or the file to append to cannot be read.
    pub(super) fn from_args(
        args: &Args,
        facts: &VllmFacts,
        host: &dyn Host,
    ) -> Result<Option<Self>, String> {
        let appends = args.has("append-result");
        if !args.has("save-result") && !appends {
            let others = ["result-filename", "result-dir", "save-detailed"];
            return match others.into_iter().find(|name| args.has(name)) {
                Some(name) => Err(mistake(name, "it has no effect without --save-result")),
                None => Ok(None),
            };
        }
        let name = match args.text("result-filename") {
            Some(name) => name.to_owned(),
            None => name(facts),
        };
        let path = match args.text("result-dir") {
            Some(folder) => Path::new(folder).join(name).to_string_lossy().into_owned(),
            None => name,
        };
        let before = match appends {
            false => Vec::new(),
            true => match host.read(&path) {
                Ok(before) => before,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                Err(error) => {
                    let why = format!("can't read {path}: {error}");
                    return Err(mistake("append-result", why));
                }
            },
        };
        Ok(Some(Self { path, before }))
    }
}

/// The name by the backend, the load, the model and the date.
fn name(facts: &VllmFacts) -> String {
    let label = facts.label.as_deref().unwrap_or(&facts.backend);
    let concurrency = facts.max_concurrency;
    let concurrency = concurrency.map_or_else(String::new, |most| format!("-concurrency{most}"));
    let model = facts.model_id.rsplit('/').next().unwrap_or_default();
    let load = match &facts.ramp {
        Some(ramp) => format!(
            "ramp-up-{}-{}qps-{}qps",
            ramp.strategy, ramp.start, ramp.end
        ),
        None => format!("{}qps", float(facts.request_rate.unwrap_or(f64::INFINITY))),
    };
    let date = &facts.date;
    format!("{label}-{load}{concurrency}-{model}-{date}.json")
}

/// A number as Python prints it: `10.0`, or `inf`.
pub(super) fn float(number: f64) -> String {
    format!("{number:?}")
}
