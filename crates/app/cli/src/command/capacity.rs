//! `drumfire capacity`: the maximum rate at which a target meets its objectives.
//!
//! The search makes one run, stored like any other, and controls its rate (`Seeker`). The load
//! comes from the flags of `drumfire http`, from a command line of `drumfire grpc` instead of the
//! URLs, or from a plan, in which the rate of one pool is searched.

mod calls;
mod progress;
mod terms;

use super::phases::{self, Compiled, Phases};
use super::plan_file::PlanFile;
use super::results::{
    Carried, Destinations, Ended, Observers, destinations_of, is_quiet, open_observed,
};
use crate::display::{Display, DisplayWish};
use crate::document::{self, Written};
use crate::exit::{Exit, Failure};
use crate::flags::CapacityFlags;
use crate::github::Stdout;
use crate::host::Machine;
use crate::output::{Destination, Output};
use crate::signals::Signals;
use crate::{session, store_place};
use drumfire_capacity::{Answer, Finding, Search, Terms, Why};
use drumfire_compile::{Host, compile, compile_draft};
use drumfire_measure::{Objective, Summary};
use drumfire_plan::{Plan, Threshold};
use drumfire_report::Naming;
use drumfire_report::capacity;
use drumfire_session::{Console as _, Seeker, Session, Shown, store_finding};
use progress::Shower;
use std::path::Path;
use std::sync::Arc;
use terms::Wanted;

/// Searches for the capacity. The exit code is 99 if the first rate misses the objectives.
pub(crate) fn run(flags: &CapacityFlags, output: &Output) -> Result<Exit, Failure> {
    let wanted = Wanted::from_flags(flags)?;
    let output = &output.colored(flags.http.load.output.color);
    match plan_file(&flags.http.urls) {
        Some(name) => of_plan(name, flags, &wanted, output),
        None => of_flags(flags, &wanted, output),
    }
}

/// The plan file, if it is the only argument.
fn plan_file(urls: &[String]) -> Option<&str> {
    let [only] = urls else {
        return None;
    };
    let extension = Path::new(only).extension().and_then(|it| it.to_str());
    let is_plan = matches!(extension, Some("yaml" | "yml" | "json" | "toml"));
    (is_plan && Path::new(only).is_file()).then_some(only)
}

fn of_flags(flags: &CapacityFlags, wanted: &Wanted, output: &Output) -> Result<Exit, Failure> {
    if flags.pool.is_some() {
        return Err(Failure::usage(
            "--pool selects a pool of a plan, but no plan was given; give a plan file as the only \
             argument, or leave --pool out",
        ));
    }
    let of_cluster = |url: &String| url.trim_start_matches("drumfire ").starts_with("cluster ");
    if flags.http.urls.iter().any(of_cluster) {
        return Err(Failure::usage(
            "a search for the capacity runs on this machine, and not on agents; give the plan alone: \
             `drumfire capacity plan.yaml`",
        ));
    }
    let mut written = match calls::line(&flags.http.urls) {
        Some(line) => calls::of_line(line, flags)?,
        None => document::of_http(&flags.http)?,
    };
    wanted.apply_to(&mut written.document, 0)?;
    let host = Machine::here(output);
    let plan =
        compile(&written.document, &host).map_err(|found| Failure::from_diagnostics(&found))?;
    let signals = Signals::default();
    let seek = Seek {
        flags,
        wanted,
        pool: 0,
        output,
    };
    seek.carry_out(plan, written, &signals)?.ended
}

fn of_plan(
    name: &str,
    flags: &CapacityFlags,
    wanted: &Wanted,
    output: &Output,
) -> Result<Exit, Failure> {
    let file = PlanFile::read(name)?;
    let pool = std::cell::Cell::new(0);
    let read = |host: &Arc<dyn Host>| {
        let mut draft = file.draft(&[], host, output);
        document::apply_flags(&mut draft.document, &flags.http.load.settings)?;
        document::renew_prompts(&mut draft.document)?;
        pool.set(wanted.pool(&draft.document, flags.pool.as_deref())?);
        wanted.apply_to(&mut draft.document, pool.get())?;
        let plan = compile_draft(&draft, host).map_err(|found| file.failure(&found))?;
        Ok(Compiled { draft, plan })
    };
    phases::around(&file, Phases::Run, output, read, |compiled, signals| {
        let written = Written {
            naming: Naming::Keys,
            folder: file.folder.clone(),
            ..compiled.draft.document.into()
        };
        let seek = Seek {
            flags,
            wanted,
            pool: pool.get(),
            output,
        };
        seek.carry_out(compiled.plan, written, signals)
    })
}

/// A search before its start.
struct Seek<'a> {
    flags: &'a CapacityFlags,
    wanted: &'a Wanted,
    /// The index of the pool whose rate is searched.
    pool: usize,
    output: &'a Output,
}

impl Seek<'_> {
    /// Makes the run, and prints the finding.
    fn carry_out(
        &self,
        plan: Plan,
        mut written: Written,
        signals: &Signals,
    ) -> Result<Carried, Failure> {
        let output = self.output;
        let outputs = &mut written.document.outputs;
        let place = |of: &Option<drumfire_document::Text>| of.as_ref().map(|it| it.value.clone());
        let forms = Forms::from_flags(place(&outputs.json), place(&outputs.markdown))?;
        (outputs.json, outputs.markdown) = (None, None);
        // The baseline of a plan belongs to the plan's own load, which the search replaces.
        outputs.baseline = None;
        let outputs = &written.document.outputs;
        let destinations = destinations_of(&written, output)?;
        if matches!(destinations.stdout(), Stdout::Taken) {
            return Err(Failure::usage(
                "standard output is reserved for the answer; write the results of the run to files",
            ));
        }
        let quiet = is_quiet(outputs);
        let (session, observers, objectives) = self.open(plan, &written, &destinations, signals)?;
        let info = session.info();
        let slo = |objective| Seeker::slo(objective, self.pool, info);
        let terms = Terms {
            slos: objectives.iter().map(slo).collect(),
            ..self.wanted.terms.clone()
        };
        let mut finding = Finding {
            run: session.info().id.clone(),
            target: session.info().target.clone(),
            answer: Answer::Unknown {
                why: Why::Ended,
                kept: None,
                missed: None,
            },
            objectives,
            knee: Vec::new(),
            course: Vec::new(),
            bottleneck: None,
            failure: None,
            reasons: Vec::new(),
            is_cut_short: true,
        };
        let mut shower = Shower::new(quiet, output);
        let pool = u16::try_from(self.pool).unwrap_or(u16::MAX);
        let seeker = Seeker::new(Search::new(terms), pool, &mut finding, |progress| {
            shower.show(progress);
        });
        let session = observers.attached_to(session, output).driven();
        let outcome = session.observed_by(seeker).run()?;
        shower.clear();
        if let Some(run) = &outcome.stored
            && let Err(error) = store_finding(run, &finding, output.redactor())
        {
            output.note(&format!("can't store the result of the search: {error}"));
        }
        let summary = &outcome.summary;
        let ended = Ended::alone(summary, written.naming).of_search(&finding);
        let files = destinations.write_files(&ended, output);
        forms.write(&finding, output)?;
        files?;
        session::lacking(&outcome)?;
        if !quiet && let Some(stored) = &outcome.stored {
            shower.remark(&format!("the run is stored in {}", stored.display()));
        }
        let pages = destinations.pages(&outcome.summary, written.naming);
        Ok(Carried {
            ended: Ok(exit_of(&finding, summary)),
            stored: outcome.stored.clone(),
            pages: pages.map(|pages| pages.of_search(finding)),
            goes_on: false,
        })
    }

    /// The session of the plan, with the observers of its outputs and the objectives of the run.
    fn open<'s>(
        &self,
        plan: Plan,
        written: &Written,
        destinations: &Destinations,
        signals: &Signals,
    ) -> Result<(Session<'s>, Observers, Vec<Objective>), Failure> {
        let (flags, output) = (&self.flags.http.load.output, self.output);
        store_place::check(flags)?;
        let wish = DisplayWish::without_screen(match is_quiet(&written.document.outputs) {
            true => Shown::Nothing,
            false => Shown::Remarks,
        });
        let (display, _) = Display::for_plan(&plan, wish, written.naming, output);
        let mut objectives = Vec::new();
        let open = |plan, output: &Output| {
            let session =
                session::build_session(session::ready(plan)?, &written.notes, signals, output)?;
            objectives = self.objectives(&session, &self.wanted.rules)?;
            Ok(session)
        };
        let to = (display, output);
        let (session, observers) = open_observed(plan, written, destinations, flags, to, open)?;
        Ok((session, observers, objectives))
    }

    /// The objectives of the run. A rule that names no pool applies to the searched pool.
    fn objectives(
        &self,
        session: &Session<'_>,
        rules: &[Threshold],
    ) -> Result<Vec<Objective>, Failure> {
        let info = session.info();
        let each = rules.iter().map(|rule| {
            let rule = terms::of_pool(rule, info, self.pool);
            Objective::from_rule(&rule, info)
                .map_err(|why| Failure::usage(format!("--slo `{}`: {why}", rule.expression)))
        });
        each.collect()
    }
}

/// The forms of a finding besides the text, and their destinations.
struct Forms {
    json: Option<Destination>,
    markdown: Option<Destination>,
}

impl Forms {
    fn from_flags(json: Option<String>, markdown: Option<String>) -> Result<Self, Failure> {
        let check = |flag, place: Option<String>| {
            let place = place.map(|place| Destination::check(flag, Path::new(&place)));
            place.transpose()
        };
        let (json, markdown) = (check("--json", json)?, check("--markdown", markdown)?);
        if let (Some(Destination::Stdout), Some(Destination::Stdout)) = (&json, &markdown) {
            return Err(Failure::usage(
                "--json and --markdown name the same place; use a separate file for each",
            ));
        }
        Ok(Self { json, markdown })
    }

    /// Writes the forms, and prints the text unless one of them replaces it.
    fn write(&self, finding: &Finding, output: &Output) -> Result<(), Failure> {
        let redactor = output.redactor();
        let forms = [
            (
                &self.json,
                redactor.json(&capacity::json(finding)).into_owned(),
            ),
            (
                &self.markdown,
                redactor.bytes(&capacity::markdown(finding)).into_owned(),
            ),
        ];
        let mut is_taken = false;
        for (to, bytes) in &forms {
            if let Some(to) = to {
                to.write(bytes)?;
                is_taken |= matches!(to, Destination::Stdout);
            }
        }
        match is_taken {
            true => Ok(()),
            false => output.print(capacity::text(finding, &output.stdout_style()).as_bytes()),
        }
    }
}

/// The exit code of a finding.
fn exit_of(finding: &Finding, summary: &Summary) -> Exit {
    if summary.total.counts.ok == 0 && summary.total.counts.sent > 0 {
        return Exit::Failed;
    }
    match &finding.answer {
        _ if finding.is_cut_short => Exit::CutShort,
        Answer::Found(capacity) => match &capacity.confirmation {
            Some(confirmation) if confirmation.is_kept => Exit::Done,
            _ => Exit::NotStrict,
        },
        Answer::Above(_) => Exit::Done,
        Answer::Below(_) => Exit::Threshold,
        Answer::Generator { .. } | Answer::Unknown { .. } => Exit::NotStrict,
    }
}
