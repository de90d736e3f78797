//! A run, and what is written of it.

use crate::exit::{Exit, Failure};
use crate::flags::OutputFlags;
use crate::output::{self, Destination};
use crate::session::{self, Watch};
use crate::terminal;
use drumfire_measure::Summary;
use drumfire_plan::Plan;
use drumfire_report::{csv, json, text};

/// Runs a plan and writes what the flags ask for.
pub(crate) fn of(plan: Plan, flags: &OutputFlags) -> Result<Exit, Failure> {
    let destinations = Destinations::of(flags)?;
    let mut watch = Watch::new(&plan, !flags.no_tui && !flags.quiet);
    let summary = session::execute(plan, &mut |_| {}, &mut |event| watch.observe(event))?;
    destinations.write(&summary, flags)?;
    Ok(session::exit_of(&summary, flags.strict))
}

/// Where the results go, known to be writable.
struct Destinations {
    json: Option<Destination>,
    csv: Option<Destination>,
}

impl Destinations {
    fn of(flags: &OutputFlags) -> Result<Self, Failure> {
        let check = |flag, path: &Option<std::path::PathBuf>| {
            path.as_deref()
                .map(|path| Destination::check(flag, path))
                .transpose()
        };
        if flags.json.is_some() && flags.json == flags.csv {
            return Err(Failure::usage(
                "--json and --csv name the same place; give each a file of its own",
            ));
        }
        Ok(Self {
            json: check("--json", &flags.json)?,
            csv: check("--csv", &flags.csv)?,
        })
    }

    /// Writes every result, the text first: a file that can't be written takes nothing with it.
    fn write(&self, summary: &Summary, flags: &OutputFlags) -> Result<(), Failure> {
        let taken = [&self.json, &self.csv]
            .iter()
            .any(|d| matches!(d, Some(Destination::Stdout)));
        let style = terminal::stdout_style();
        let text = if flags.explain {
            text::summary_explained(summary, &style)
        } else {
            text::summary(summary, &style)
        };
        let printed = if taken {
            Ok(())
        } else {
            output::print(text.as_bytes())
        };
        let json = self
            .json
            .as_ref()
            .map_or(Ok(()), |to| to.write(&json::summary(summary)));
        let csv = self
            .csv
            .as_ref()
            .map_or(Ok(()), |to| to.write(&csv::histogram(summary)));
        printed.and(json).and(csv)
    }
}
