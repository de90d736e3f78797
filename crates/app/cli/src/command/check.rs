//! `drumfire check`.

use super::plan_file::PlanFile;
use crate::exit::{Exit, Failure};
use crate::flags::CheckFlags;
use crate::output::Output;
use crate::terminal;
use drumfire_compile::{TraceTotals, compile_draft, trace_totals};
use drumfire_document::{Document, Phase, Request, Step};
use drumfire_placement::fit;
use drumfire_report::plan_preview;
use drumfire_report::style::Style;
use drumfire_session::this_machine;
use drumfire_units::rounded;

/// Prints all mistakes of a plan, or a description of its load.
pub(crate) fn run(flags: &CheckFlags, output: &Output) -> Result<Exit, Failure> {
    let file = PlanFile::read(&flags.plan)?;
    let host = file.host(output);
    let draft = file.draft(&flags.settings, &host, output);
    let plan = compile_draft(&draft, &host).map_err(|found| file.failure(&found))?;
    let placed = fit(&plan, &this_machine());
    let style = terminal::stdout_style(flags.color);
    let shown = plan_preview(&plan, &placed, &file.name, &style);
    let shown = shown.map_err(|error| Failure::usage(format!("{}: {error}", file.name)))?;
    if !flags.quiet {
        output.print(shown.as_bytes())?;
        for pool in &draft.document.pools {
            if let Some(totals) = trace_totals(pool, plan.generator().seed, &host) {
                let shown = trace_lines(&pool.name.value, &totals, &style);
                output.print(shown.as_bytes())?;
            }
        }
        for phase in [Phase::Setup, Phase::Teardown] {
            output.print(beside(phase, &draft.document, &style).as_bytes())?;
        }
    }
    Ok(match placed {
        Ok(_) => Exit::Done,
        Err(_) => Exit::Failed,
    })
}

/// The sums over a pool's trace.
fn trace_lines(pool: &str, totals: &TraceTotals, style: &Style) -> String {
    let mut items = vec![format!("{} requests", rounded::count(totals.requests))];
    if totals.input > 0 {
        let input = rounded::count(totals.input);
        items.push(format!("{input} tokens of prompts"));
    }
    items.push(format!(
        "{} tokens of answers",
        rounded::count(totals.output)
    ));
    if let Some(share) = totals.cached_share() {
        let share = share * 100.0;
        items.push(format!(
            "{share:.1} % of the prompts in an ideal prefix cache"
        ));
    }
    format!(
        "\ntrace of {pool}\n  {}\n",
        items.join(style.glyph(" · ", ", "))
    )
}

/// The requests of a phase besides the load, sent once; empty if the phase has no requests.
fn beside(phase: Phase, document: &Document, style: &Style) -> String {
    let requests: Vec<&Request> = phase
        .steps(document)
        .iter()
        .flat_map(Step::requests)
        .collect();
    let moment = match phase {
        Phase::Setup => "once before the load",
        Phase::Teardown => "once after the load",
    };
    let count = match requests.len() {
        0 => return String::new(),
        1 => "1 request".to_owned(),
        several => format!("{several} requests"),
    };
    let taken = requests.iter().flat_map(|request| &request.take);
    let taken: Vec<&str> = taken.map(|field| field.name.value.as_str()).collect();
    let mut items = vec![count, moment.to_owned()];
    if phase == Phase::Setup && !taken.is_empty() {
        items.push(format!("takes {}", taken.join(", ")));
    }
    format!(
        "\n{}\n  {}\n",
        phase.key(),
        items.join(style.glyph(" · ", ", "))
    )
}
