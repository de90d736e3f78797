//! `drumfire resume`.

use super::baseline;
use super::phases::{self, Compiled, Phases};
use super::plan_file::PlanFile;
use super::results::{
    self, Carried, Destinations, Observers, Report, display_wish, is_on, note_page,
};
use super::stored::failure;
use super::ui;
use crate::display::Display;
use crate::exit::{Exit, Failure};
use crate::flags::ResumeFlags;
use crate::github::Github;
use crate::output::Output;
use crate::signals::Signals;
use crate::{document, intervals, runs_folder, session, terminal};
use drumfire_compile::{Host, compile_draft};
use drumfire_document::{Document, Layer as _, Outputs, Pool, Request, form};
use drumfire_engine::Prepared;
use drumfire_measure::{Asked, AskedBody, Figures, LISTED_MAX, Model, RunInfo};
use drumfire_plan::{Load, Plan, PoolProgress, Url, rest};
use drumfire_session::{Storing, naming_of, stored, stored_plan};
use drumfire_store::{Directory, Part, Record};
use drumfire_ui::Subject;
use drumfire_units::Nanos;
use std::path::Path;
use std::sync::Arc;

/// Runs the rest of a stored run's plan, and writes the results of the whole run.
pub(crate) fn run(flags: &ResumeFlags, output: &Output) -> Result<Exit, Failure> {
    let path = runs_folder::find(&flags.report.run)?;
    let directory = Directory::open(&path).map_err(failure)?;
    let record = Record::read(&path).map_err(failure)?;
    let file = PlanFile::of_stored(&path)?;
    let outputs = outputs_of(flags)?;
    let read = |host: &Arc<dyn Host>| {
        let mut rest = rest_of(&file, host, &record, output)?;
        rest.draft.document.outputs = outputs.clone();
        Ok(rest)
    };
    phases::around(&file, Phases::Run, output, read, |rest, signals| {
        go_on(rest, directory, &path, flags, signals, output)
    })
}

/// The outputs of a resumed run.
fn outputs_of(flags: &ResumeFlags) -> Result<Outputs, Failure> {
    let mut outputs = document::outputs(&flags.settings)?;
    outputs.fill(&document::outputs(&flags.report.settings)?);
    Ok(outputs)
}

/// Runs the rest of a plan.
fn go_on(
    rest: Compiled,
    directory: Directory,
    path: &Path,
    flags: &ResumeFlags,
    signals: &Signals,
    output: &Output,
) -> Result<Carried, Failure> {
    let outputs = outputs_of(flags)?;
    let wish = display_wish(&outputs)?;
    let record = Record::read(path).map_err(failure)?;
    let baseline = baseline::read_baseline(&outputs, output)?;
    if let Some(baseline) = &baseline {
        // The rest of a run has another end than the whole run, and the whole is compared.
        let checked = baseline.check(&record.summary.info);
        checked.map_err(|why| Failure::usage(format!("--baseline: {why}")))?;
    }
    let destinations = Destinations::from_outputs(&outputs)?
        .of_plan(stored_plan(path))
        .of_baseline(baseline);
    let naming = naming_of(&record);
    let Compiled { draft, plan } = rest;
    let output = &output.colored(flags.report.color);
    let (display, output) = Display::for_plan(&plan, wish, naming, output);
    let output = &output;
    let subject = Subject {
        plan: &plan,
        text: destinations.plan(),
        naming,
        redactor: output.redactor(),
    };
    let page = ui::page(&outputs, &subject, output)?;
    let meter = results::meter(&outputs, output)?;
    let ready = session::ready(plan)?;
    let mut notes = beyond_log(&ready.plan);
    if has_lists(&draft.document) {
        notes.extend(uncertain(&record, &ready));
    }
    let observers = Observers {
        display,
        page,
        intervals: intervals::open(&outputs)?,
        rows: None,
        vllm: None,
        server: None,
        new_prompts: results::new_prompts(&draft.document),
        meter,
        storing: Some(Storing::resumed(directory, record)),
        // The baseline was checked above.
        baseline: None,
    };
    let session = session::build_session(ready, &notes, signals, output)?;
    let page = observers.show_page(&session);
    let outcome = observers.attached_to(session, output).run()?;
    let summary = stored(Record::read(path).map_err(failure)?);
    let style = terminal::stdout_style(flags.report.color).naming(naming);
    let github = Github::from_environment(&outputs);
    let results = github.quoting(destinations.stdout(), output, || {
        destinations.write(&summary, Report::from_outputs(&outputs), &style, output)
    });
    github.show(&summary, naming, destinations.stdout(), output);
    note_page(page.as_deref(), output);
    let lacking = || session::lacking(&outcome);
    let exit = session::exit_of(&summary, is_on(&outputs.strict));
    let ended = results.and_then(|()| lacking()).map(|()| exit);
    Ok(Carried {
        goes_on: false,
        ended: ended.map_err(|failure| failure.of_run(exit)),
        stored: outcome.stored.clone(),
        pages: destinations.pages(&summary, naming),
    })
}

/// The rest of a stored plan.
fn rest_of(
    file: &PlanFile,
    host: &Arc<dyn Host>,
    record: &Record,
    output: &Output,
) -> Result<Compiled, Failure> {
    let draft = file.draft(&[], host, output);
    let plan = compile_draft(&draft, host).map_err(|found| file.failure(&found))?;
    output
        .redactor()
        .hide_named(&form::secret_values(&draft.document));
    let has_setup = !draft.document.setup.is_empty();
    same_plan((&file.name, &plan, has_setup), &record.summary.info, output)?;
    // Nothing becomes due during a drain.
    let loads = record.parts.iter().map(Part::load);
    let elapsed = loads.fold(Nanos::ZERO, |sum, end| sum + end);
    let done: Vec<PoolProgress> = record.summary.pools().map(|(_, pool)| done(pool)).collect();
    let part = record.parts.len() as u64;
    let plan = rest(plan, elapsed, &done, part).map_err(Failure::usage)?;
    Ok(Compiled { draft, plan })
}

/// Rejects a plan that differs from the plan in the run's log, because the report contains the
/// facts of the log and the load would be different. A setup produces new values, so the requests
/// of such a plan are compared only by server and method.
fn same_plan(
    (name, plan, has_setup): (&str, &Plan, bool),
    run: &RunInfo,
    output: &Output,
) -> Result<(), Failure> {
    let masked = |text: &str| output.redactor().text(text).into_owned();
    let of_run = run.pools.iter();
    let of_run = of_run.map(|pool| Some((&*pool.name, pool.model, pool.asked.clone()?)));
    // A run of an old version has no facts about its plan.
    let Some(of_run) = of_run.collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let differs = |what: &str| {
        Err(Failure::usage(format!(
            "{name} is not the plan of the run: {what}; restore the plan, or start a new run with \
             `drumfire run`"
        )))
    };
    if of_run.len() != plan.pools().len() {
        return differs("it has other pools");
    }
    for (pool, (of_run, model, asked)) in plan.pools().iter().zip(of_run) {
        let mut ours = Asked::from_pool(pool).with_texts(&masked);
        let mut theirs = asked.with_texts(&masked);
        if has_setup {
            [&mut ours, &mut theirs]
                .into_iter()
                .for_each(without_values);
        }
        if pool.name != of_run || pool.load.is_open() != (model == Model::Open) {
            return differs(&format!("its pool {} is another one", pool.name));
        }
        let urls = ours.requests.first.iter().zip(&theirs.requests.first);
        if let Some((ours, theirs)) = urls.into_iter().find(|(a, b)| a.url != b.url) {
            let (ours, theirs) = (&ours.url, &theirs.url);
            return differs(&format!(
                "its pool {of_run} requests {ours}, and the run requested {theirs}"
            ));
        }
        if let Some(part) = other_part(&ours, &theirs) {
            return differs(&format!("its pool {of_run} has other {part}"));
        }
    }
    Ok(())
}

/// Removes from requests everything that a value of the setup can change.
fn without_values(asked: &mut Asked) {
    for request in &mut asked.requests.first {
        if let Ok(url) = Url::parse(&request.url) {
            request.url = url.origin.to_string();
        }
        request.headers.clear();
        request.body = AskedBody::None;
    }
}

/// The first part in which the plans of a pool differ.
fn other_part(ours: &Asked, theirs: &Asked) -> Option<&'static str> {
    let Asked {
        requests,
        steps,
        load,
        users,
        stop,
        transport,
        expect,
    } = ours;
    // The record may lack them.
    let is_expected = expect.is_none() || theirs.expect.is_none() || *expect == theirs.expect;
    let parts = [
        (*requests == theirs.requests, "requests"),
        (*steps == theirs.steps, "steps"),
        (*load == theirs.load, "rates or users"),
        (*users == theirs.users, "users"),
        (*stop == theirs.stop, "stop conditions"),
        (*transport == theirs.transport, "connections or timeouts"),
        (is_expected, "expected statuses"),
    ];
    let mut parts = parts.into_iter().filter(|(is_same, _)| !is_same);
    parts.next().map(|(_, part)| part)
}

/// Notes about requests that were not compared, because the log contains only the first ones.
fn beyond_log(plan: &Plan) -> Vec<String> {
    let long = plan
        .pools()
        .iter()
        .filter(|pool| pool.requests.len() > LISTED_MAX);
    let notes = long.map(|pool| {
        format!(
            "the requests of the pool {} after the first {LISTED_MAX} are not in the log; the resumed \
             part took them from its plan",
            pool.name
        )
    });
    notes.collect()
}

/// Whether a document has rows or lines through which its requests advance.
fn has_lists(document: &Document) -> bool {
    let requests = document.pools.iter().flat_map(Pool::every_request);
    let own = |request: &Request| request.data.lines.is_some() || request.data.order.is_some();
    let common = |pool: &Pool| pool.settings.body.lines.is_some();
    !document.feeds.is_empty()
        || document.defaults.body.lines.is_some()
        || document.pools.iter().any(common)
        || requests.into_iter().any(own)
}

/// Notes about pools that cannot continue at the exact number.
///
/// Numbers are numbers of arrivals, which a record counts. If one worker was ahead of another,
/// there were gaps below the highest number.
fn uncertain(record: &Record, ready: &Prepared) -> Vec<String> {
    let of_pool = |index: usize, figures: &Figures| {
        let pool = &ready.plan.pools()[index];
        let is_divided = ready.placement.threads().min(ready.placement.shares(index)) > 1;
        let is_counted = pool.stop.requests.is_some() || pool.stop.iterations.is_some();
        let why = if !record.is_whole() {
            "the record lacks the last requests before the run was interrupted"
        } else if is_divided && figures.counts.pending > 0 {
            "its threads had progressed unequally"
        } else if is_divided && !is_counted && !matches!(pool.load, Load::Open { .. }) {
            "each of its threads reads them at its own pace"
        } else {
            return None;
        };
        Some(format!(
            "rows and lines of the pool {} continue after about the first {}: {why}",
            pool.name, pool.begun
        ))
    };
    let figures = record.summary.pools().map(|(_, figures)| figures);
    let notes = figures
        .enumerate()
        .map(|(index, figures)| of_pool(index, figures));
    notes.flatten().collect()
}

/// How much of its load a pool has sent, including requests in flight.
fn done(figures: &Figures) -> PoolProgress {
    let requests = figures.counts.sent.saturating_add(figures.warmup.sent);
    let (iterations, dropped) = match &figures.iterations {
        Some(iterations) => (iterations.counts.sent, iterations.counts.dropped),
        None => (requests, figures.counts.dropped),
    };
    PoolProgress {
        requests,
        iterations,
        dropped,
    }
}
