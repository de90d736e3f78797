//! What drumfire says beside k6's summary: whether the figures can be trusted, and the times from when requests
//! were due.

use super::flags::{Flags, Wanted};
use crate::exit::{Exit, Failure};
use crate::output::{Destination, Output};
use crate::terminal;
use drumfire_measure::{RunInfo, Summary, Validity};
use drumfire_net::Clock;
use drumfire_report::html::{self, Origin};
use drumfire_report::line::Line;
use drumfire_report::text::{self, RunSection};
use drumfire_report::{NamedFile, Naming, json};
use drumfire_session::Console as _;
use drumfire_units::{Nanos, rounded};
use drumfire_vus::Verdict;
use std::path::Path;

/// The sections that are printed.
const SECTIONS: [RunSection; 6] = [
    RunSection::Verdict,
    RunSection::Requests,
    RunSection::Latency,
    RunSection::Iterations,
    RunSection::Errors,
    RunSection::Transport,
];

/// A share of the time from which the script is named as a cause.
const SCRIPT_SHARE: f64 = 0.05;

/// The results beside k6's own.
pub(super) struct Truth {
    html: Option<Destination>,
    json: Option<Destination>,
    is_strict: bool,
    is_shown: bool,
}

impl Truth {
    /// Checks that the results can be written.
    pub(super) fn new(flags: &Flags) -> Result<Self, Failure> {
        let place = |flag: &str, path: &Option<String>| {
            let path = path.as_ref();
            let check = path.map(|path| Destination::check(flag, Path::new(path)));
            check.transpose()
        };
        Ok(Self {
            html: place("--html", &flags.html)?,
            json: place("--json", &flags.json)?,
            is_strict: flags.is_strict,
            is_shown: flags.summary != Wanted::None,
        })
    }

    /// The facts of a run, without its scenarios.
    pub(super) fn info(script: &str, seed: u64) -> RunInfo {
        RunInfo {
            id: String::from("k6"),
            started_at_unix_ns: Clock::unix_time(),
            seed,
            version: crate::flags::VERSION.to_owned(),
            target: script.to_owned(),
            ..RunInfo::new(Vec::new())
        }
    }

    /// Writes the results, and prints the verdict on the standard error.
    pub(super) fn show(&self, verdict: &Verdict, output: &Output) -> Result<(), Failure> {
        let Some(summary) = verdict.summary.as_deref() else {
            return Ok(());
        };
        if let Some(to) = &self.json {
            to.write(&json::summary(summary))?;
        }
        if let Some(to) = &self.html {
            to.write(&page(summary))?;
        }
        // Without requests of the scenarios there is nothing to judge.
        if self.is_shown && summary.total.counts.intended > 0 {
            output.draw(&block(verdict, summary));
        }
        Ok(())
    }

    /// The exit code of a run that has done what k6 requires of it.
    pub(super) fn exit(&self, verdict: &Verdict, output: &Output) -> Exit {
        if !self.is_strict {
            return Exit::Done;
        }
        let summary = verdict.summary.as_deref();
        let Some(summary) = summary.filter(|of| of.total.counts.intended > 0) else {
            output
                .note("--strict: the scenarios sent no HTTP request, so there is nothing to judge");
            return Exit::NotStrict;
        };
        match summary.verdict.validity == Validity::Valid && summary.load.kept != Some(false) {
            true => Exit::Done,
            false => Exit::NotStrict,
        }
    }
}

fn page(summary: &Summary) -> Vec<u8> {
    let files = [NamedFile {
        name: "summary.json".to_owned(),
        bytes: json::summary(summary),
    }];
    html::page(
        summary,
        &Origin {
            naming: Naming::Script,
            plan: "",
            files: &files,
            teardown: None,
            against: None,
        },
    )
}

/// The text of the verdict.
fn block(verdict: &Verdict, summary: &Summary) -> String {
    let style = terminal::stderr_style(crate::flags::ColorChoice::Auto).naming(Naming::Script);
    let rows = text::rows(summary, &SECTIONS, &style);
    let mut out = String::from("\n  █ DRUMFIRE: times from when requests were due\n");
    for row in rows.iter().map(Line::text) {
        out.push_str(if row.is_empty() { "" } else { "    " });
        out.push_str(&row);
        out.push('\n');
    }
    let (share, longest) = verdict.script;
    if verdict.thrown > 0 {
        out.push_str(&format!(
            "\n    {} of the iterations ended with an exception; k6 counts them as complete\n",
            rounded::count(verdict.thrown)
        ));
    }
    if share >= SCRIPT_SHARE || longest >= Nanos::from_millis(10) {
        out.push_str(&format!(
            "\n    the script computed for {:.0} % of the time, and for up to {} at a time; other users waited then\n",
            share * 100.0,
            rounded::time(longest.0 as f64)
        ));
    }
    out
}
