//! `drumfire compare`: compares stored runs, or the JSON that runs wrote.

use super::stored::{self, find, read};
use super::tags;
use crate::exit::{Exit, Failure};
use crate::flags::CompareFlags;
use crate::output::{Destination, Output};
use crate::runs_folder;
use drumfire_compare::{Compared, Comparison, RUNS_MAX, Terms, ToolComparison, ToolResult};
use drumfire_report::{comparison, html};
use drumfire_store::Record;
use std::fs;
use std::path::{Path, PathBuf};

/// The prefix of a side that is given by a tag.
const TAG: &str = "tag:";

/// Compares two sides. The exit code is 4 if the candidate is worse.
pub(crate) fn run(flags: &CompareFlags, output: &Output) -> Result<Exit, Failure> {
    let destinations = ComparisonDestinations::from_flags(&[
        ("--json", flags.json.as_deref()),
        ("--markdown", flags.markdown.as_deref()),
        ("--html", flags.html.as_deref()),
    ])?;
    if let Some(of) = of_tools(flags)? {
        destinations.write_tools(&of, &output.colored(flags.color))?;
        return Ok(Exit::Done);
    }
    let [base, candidate] = [&flags.base, &flags.candidate].map(|side| Named::find(side, output));
    let (base, candidate) = (Side::read(base?)?, Side::read(candidate?)?);
    let terms = Terms {
        least: flags.least,
        any_target: flags.any_target,
    };
    let sides = [&*base.runs, &*candidate.runs];
    let comparison = Comparison::of_sets(sides[0], sides[1], terms).map_err(Failure::usage)?;
    let left_out = base.left_out.into_iter().chain(candidate.left_out);
    let comparison = comparison.cautioned(left_out);
    destinations.write(&comparison, sides, &output.colored(flags.color))?;
    Ok(match comparison.is_worse() {
        true => Exit::Worse,
        false => Exit::Done,
    })
}

/// The results of other tools, if at least one side is the file of one.
///
/// # Errors
/// If the other side is neither, or the files cannot be compared.
fn of_tools(flags: &CompareFlags) -> Result<Option<ToolComparison>, Failure> {
    let sides = [&*flags.base, &*flags.candidate];
    let mut bytes = Vec::new();
    for side in sides {
        let path = Path::new(side);
        bytes.push(match path.is_file() {
            true => Some(stored::json_bytes(path)?),
            false => None,
        });
    }
    let read = |at: usize| bytes[at].as_deref().and_then(ToolResult::of_other_tool);
    let mut found = [read(0), read(1)];
    if found.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut both = Vec::new();
    for (at, side) in sides.into_iter().enumerate() {
        let result = match (found[at].take(), bytes[at].as_deref()) {
            (Some(result), _) => result,
            (None, Some(json)) => ToolResult::of_drumfire(json),
            (None, None) => Err(
                "it is not a file; a result of another tool is compared with one \
                                 other file, such as drumfire's own of --json FILE"
                    .to_owned(),
            ),
        };
        let wrong = |why| Failure::usage(format!("{side} can't be compared: {why}"));
        both.push(result.map_err(wrong)?);
    }
    let mut both = both.into_iter();
    let pair = both.next().zip(both.next());
    Ok(pair.map(|(base, candidate)| ToolComparison::new(base, candidate)))
}

/// The destinations of a comparison's forms, checked to be writable.
pub(super) struct ComparisonDestinations {
    forms: Vec<(&'static str, Destination)>,
}

impl ComparisonDestinations {
    /// The destinations of the flags that are set.
    ///
    /// # Errors
    /// If a place cannot be written, or two flags name one place.
    pub(super) fn from_flags(flags: &[(&'static str, Option<&Path>)]) -> Result<Self, Failure> {
        let given = flags
            .iter()
            .filter_map(|(flag, file)| Some((*flag, (*file)?)));
        let given: Vec<(&'static str, &Path)> = given.collect();
        for (at, (flag, file)) in given.iter().enumerate() {
            let mut earlier = given[..at].iter();
            if let Some((other, _)) = earlier.find(|(_, earlier)| earlier == file) {
                return Err(Failure::usage(format!(
                    "{other} and {flag} name the same place; use a separate file for each"
                )));
            }
        }
        let mut forms = Vec::new();
        for (flag, file) in given {
            forms.push((flag, Destination::check(flag, file)?));
        }
        Ok(Self { forms })
    }

    /// Writes the forms, and prints the text unless one of them uses standard output. The sides are
    /// those that were compared.
    pub(super) fn write(
        &self,
        comparison: &Comparison,
        [base, candidate]: [&[Compared]; 2],
        output: &Output,
    ) -> Result<(), Failure> {
        for (flag, to) in &self.forms {
            to.write(&match *flag {
                "--json" => comparison::json(comparison),
                "--markdown" => comparison::markdown(comparison),
                _ => html::comparison_page(comparison, base, candidate),
            })?;
        }
        let mut places = self.forms.iter();
        match places.any(|(_, to)| matches!(to, Destination::Stdout)) {
            true => Ok(()),
            false => output.print(comparison::text(comparison, &output.stdout_style()).as_bytes()),
        }
    }
}

impl ComparisonDestinations {
    /// Writes the comparison of other tools' results, which has no page.
    fn write_tools(&self, of: &ToolComparison, output: &Output) -> Result<(), Failure> {
        let mut prints = true;
        for (flag, to) in &self.forms {
            let form = match *flag {
                "--json" => comparison::tool_json(of),
                "--markdown" => comparison::tool_markdown(of),
                _ => {
                    return Err(Failure::usage(format!(
                        "{flag}: results of other tools are compared as text, or with --json or \
                         --markdown"
                    )));
                }
            };
            prints &= !matches!(to, Destination::Stdout);
            to.write(&form)?;
        }
        match prints {
            true => output.print(comparison::tool_text(of, &output.stdout_style()).as_bytes()),
            false => Ok(()),
        }
    }
}

/// The runs of a side.
struct Side {
    runs: Vec<Compared>,
    /// The runs that are left out, each as a sentence with its reason.
    left_out: Vec<String>,
}

impl Side {
    /// Reads the runs of a side. From a tag or a directory, runs that cannot be compared are left
    /// out; a directory may belong to an interrupted experiment. A run that the user names directly
    /// must be comparable.
    fn read(named: Named) -> Result<Self, Failure> {
        let paths = match named {
            Named::Each(paths) => {
                let runs: Result<Vec<Compared>, Failure> =
                    paths.iter().map(|path| read(path)).collect();
                return Ok(Self {
                    runs: runs?,
                    left_out: Vec::new(),
                });
            }
            Named::Found(paths) => paths,
        };
        let mut side = Self {
            runs: Vec::new(),
            left_out: Vec::new(),
        };
        let mut refused = None;
        for path in paths {
            let sound = read(&path).and_then(|run| {
                let checked = Comparison::check(&run).map_err(Failure::usage);
                checked.map(|()| run)
            });
            match sound {
                Ok(run) => side.runs.push(run),
                Err(failure) => {
                    side.left_out
                        .push(format!("Left out: {}.", failure.message));
                    refused = Some(failure);
                }
            }
        }
        match (side.runs.is_empty(), refused) {
            (true, Some(failure)) => Err(failure),
            _ => Ok(side),
        }
    }
}

/// The runs of a side, as the user gave them.
enum Named {
    /// Runs that were named directly.
    Each(Vec<PathBuf>),
    /// All runs with a tag, or in a directory.
    Found(Vec<PathBuf>),
}

impl Named {
    /// Finds the runs of a side.
    ///
    /// # Errors
    /// If there are no runs, or more than can be compared. The number is checked before any run is
    /// read.
    fn find(given: &str, output: &Output) -> Result<Self, Failure> {
        let named = match given.strip_prefix(TAG) {
            Some(tag) => Self::Found(tags::runs(tag, output)?),
            None => named(given)?,
        };
        let (Self::Each(paths) | Self::Found(paths)) = &named;
        match paths.len() {
            ..=RUNS_MAX => Ok(named),
            count => Err(Failure::usage(format!(
                "{} has {count} runs; at most {RUNS_MAX} of a side are compared, so leave some out",
                match named {
                    Self::Each(_) => "a side".to_owned(),
                    Self::Found(_) => format!("`{}`", given.escape_debug()),
                }
            ))),
        }
    }
}

/// The given runs: each by its directory, id or JSON file, or all runs in a directory that is not
/// itself a run. If the directory has no runs, its JSON files are used.
fn named(given: &str) -> Result<Named, Failure> {
    let folder = Path::new(given);
    if folder.is_dir() && Record::version(folder).is_none() {
        let below = runs_folder::names(folder);
        let mut below: Vec<PathBuf> = below.into_iter().map(|id| folder.join(id)).collect();
        if below.is_empty() {
            below = json_files(folder);
        }
        return match below.is_empty() {
            true => Err(Failure::usage(format!(
                "{} is neither a run nor a directory of runs",
                folder.display()
            ))),
            false => Ok(Named::Found(below)),
        };
    }
    let each: Result<Vec<PathBuf>, Failure> =
        given.split(',').map(|name| find(name.trim())).collect();
    Ok(Named::Each(each?))
}

/// The JSON files in a directory, sorted by name.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_json =
        |path: &PathBuf| path.is_file() && path.extension().is_some_and(|end| end == "json");
    let mut files: Vec<PathBuf> = paths.filter(is_json).collect();
    files.sort();
    files
}
