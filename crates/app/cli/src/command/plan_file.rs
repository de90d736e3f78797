//! A plan's file, and the mistakes in it.

use crate::exit::Failure;
use crate::flags::ColorChoice;
use crate::host::{HostCache, Machine, folder_of};
use crate::output::Output;
use crate::{input, terminal};
use drumfire_compile::Host;
use drumfire_document::Diagnostic;
use drumfire_document::Place;
use drumfire_document::form::{self, DocumentDraft, Setting, Source, Syntax};
use drumfire_report::{Naming, Spot, marked_line};
use drumfire_units::utf8;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The argument for standard input.
const STDIN: &str = "-";

/// A plan's file.
pub(crate) struct PlanFile {
    /// The file's name in messages.
    pub(crate) name: String,
    /// The folder to which the plan's paths are relative.
    pub(crate) folder: PathBuf,
    text: String,
    /// Cached results of the plan's requests to the outside, such as schemas.
    answers: Arc<HostCache>,
}

impl PlanFile {
    /// Reads a plan's file; `-` is standard input.
    pub(crate) fn read(given: &str) -> Result<Self, Failure> {
        let (bytes, name) = match given {
            STDIN => (input::stdin("the plan")?, "stdin"),
            name => {
                let wrong = |error| Failure::usage(format!("can't read {name}: {error}"));
                (input::read(Path::new(name)).map_err(wrong)?, name)
            }
        };
        let folder = match given {
            STDIN => PathBuf::new(),
            name => folder_of(Path::new(name)),
        };
        Self::of_bytes(&bytes, name, folder)
    }

    /// A plan from another source, without a folder for its paths.
    pub(crate) fn of_text(text: &str, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            folder: PathBuf::new(),
            text: text.to_owned(),
            answers: Arc::default(),
        }
    }

    fn of_bytes(bytes: &[u8], name: &str, folder: PathBuf) -> Result<Self, Failure> {
        let text = utf8::text(bytes)
            .map_err(|what| Failure::usage(format!("{name}: the plan is {what}")))?;
        Ok(Self {
            name: name.to_owned(),
            folder,
            text: text.to_owned(),
            answers: Arc::default(),
        })
    }

    /// The plan of a stored run. Its paths are relative to the folder of the original plan.
    pub(crate) fn of_stored(run: &Path) -> Result<Self, Failure> {
        let path = run.join(drumfire_store::PLAN);
        let bytes =
            drumfire_store::read_plan(run).map_err(|error| Failure::usage(error.to_string()))?;
        let mut file = Self::of_bytes(&bytes, &path.to_string_lossy(), PathBuf::new())?;
        file.folder = drumfire_session::folder_of(&file.text);
        Ok(file)
    }

    /// The machine as the file sees it.
    pub(crate) fn host(&self, output: &Output) -> Arc<dyn Host> {
        Machine::in_folder(self.folder.clone(), &self.answers, output)
    }

    /// The machine as the file sees it, with the values that the plan's setup produced.
    pub(crate) fn host_with(
        &self,
        taken: BTreeMap<String, String>,
        output: &Output,
    ) -> Arc<dyn Host> {
        Machine::after_setup(self.folder.clone(), taken, &self.answers, output)
    }

    /// The document, as far as it can be read, with these settings applied. From here on, the
    /// output masks its secrets.
    pub(crate) fn draft(
        &self,
        settings: &[Setting],
        host: &Arc<dyn Host>,
        output: &Output,
    ) -> DocumentDraft {
        let draft = form::draft(&Source {
            text: &self.text,
            name: &self.name,
            syntax: syntax(&self.name),
            settings,
            environment: &**host,
        });
        output.redactor().hide(&draft.secrets);
        draft
    }

    /// All mistakes of the plan: a line for each one, followed by the marked line of the file. The
    /// mistakes of another tool's file are of no use.
    pub(crate) fn failure(&self, found: &[Diagnostic]) -> Failure {
        if let Some(words) = foreign(&self.name, &self.text) {
            return Failure::usage(format!("{}: {words}", self.name));
        }
        let shown: Vec<String> = found.iter().map(|found| self.shown(found)).collect();
        Failure::of_lines(shown, found)
    }

    fn shown(&self, found: &Diagnostic) -> String {
        let found = &Diagnostic {
            remedy: Naming::Keys.named(&found.remedy).into_owned(),
            ..found.clone()
        };
        let Place::File {
            name, line, column, ..
        } = &found.place
        else {
            return found.to_string();
        };
        if **name != *self.name {
            return found.to_string();
        }
        let spot = Spot {
            source: &self.text,
            line: *line,
            column: *column,
            within: found.mark.as_ref().map(|mark| (&*mark.text, mark.column)),
        };
        // Messages are printed without control characters, so without colour.
        let marked = marked_line(&spot, &terminal::stderr_style(ColorChoice::Never));
        match marked.is_empty() {
            true => found.to_string(),
            false => format!("{}\n{}", found.on_one_line(), marked.trim_end_matches('\n')),
        }
    }
}

/// The syntax of a file with this name.
pub(crate) fn syntax(name: &str) -> Syntax {
    match Path::new(name).extension() {
        Some(extension) if extension.eq_ignore_ascii_case("toml") => Syntax::Toml,
        _ => Syntax::Yaml,
    }
}

/// The mistake and its remedy if the file belongs to another tool.
fn foreign(name: &str, text: &str) -> Option<&'static str> {
    let has_key = |key: &str| {
        let mut lines = text.lines();
        lines.any(|line| line.trim_start_matches([' ', '-']).starts_with(key))
    };
    let extension = Path::new(name).extension().and_then(|e| e.to_str());
    match extension {
        Some("js" | "ts") if text.contains("'k6") || text.contains("\"k6") => {
            Some("this is a k6 script; to run it, use `drumfire k6 run` instead of `drumfire run`")
        }
        Some("js" | "ts" | "lua" | "py" | "scala" | "jmx") => Some(
            "this is another tool's script; to create a plan, use `drumfire http FLAGS URL \
             --print-plan`",
        ),
        _ if has_key("gun:") && has_key("ammo:") => Some(
            "this is a Pandora configuration; to run it, use `drumfire pandora`; to convert it to a \
             plan, add --print-plan",
        ),
        _ => None,
    }
}
