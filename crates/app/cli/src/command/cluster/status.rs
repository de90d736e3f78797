//! `drumfire cluster status`: the active runs and their agents.

use super::journal::{self, Kept};
use crate::command::agent::credentials;
use crate::exit::{Exit, Failure};
use crate::flags::ClusterStatusFlags;
use crate::output::Output;
use drumfire_cluster::{AgentStatus, Stage, Status, runs_under_way};
use drumfire_report::json::{self, ClusterAgent, ClusterRun};
use drumfire_units::rounded::{count, time};
use std::time::Duration;

/// The time that coordinators have to answer.
const PATIENCE: Duration = Duration::from_millis(600);
/// The column headings of the table of agents.
const HEADS: [&str; 11] = [
    "agent",
    "state",
    "shares",
    "cores",
    "version",
    "clock",
    "heartbeat",
    "data until",
    "requests",
    "lag",
    "max lag",
];

/// Shows the active runs in a group, or one of them.
pub(crate) fn run(flags: &ClusterStatusFlags, output: &Output) -> Result<Exit, Failure> {
    let credentials = credentials(&flags.nats, &flags.way)?;
    let mut runs = runs_under_way(credentials, PATIENCE)?;
    if let Some(wanted) = &flags.run {
        runs.retain(|status| status.run.starts_with(wanted.as_str()));
        if runs.is_empty() {
            let shown = wanted.escape_debug();
            return Err(Failure::failed(format!(
                "no coordinator of a run `{shown}` responds in the group {}",
                flags.way.group
            )));
        }
    }
    // The earlier coordinator of a run that was taken over may still answer for a moment.
    let journals = journal::runs();
    if flags.json {
        let runs = runs.iter().map(json_of).collect();
        return output.print(&json::cluster(runs)).map(|()| Exit::Done);
    }
    let mut lines: Vec<String> = runs.iter().flat_map(lines_of).collect();
    let is_silent = |kept: &&Kept| runs.iter().all(|status| status.run != kept.run);
    let silent = journals.iter().filter(is_silent);
    lines.extend(silent.filter_map(|kept| line_of_journal(kept, &flags.way.group)));
    if lines.is_empty() {
        lines.push(format!("no run is active in the group {}", flags.way.group));
    }
    output.print_foreign(&lines)?;
    Ok(Exit::Done)
}

/// The line of a run whose coordinator did not answer in a group. Empty if the coordinator may
/// answer in another group.
fn line_of_journal(kept: &Kept, group: &str) -> Option<String> {
    let run = &kept.run;
    let other = kept.group.as_ref().filter(|it| *it != group);
    let of_group = other.map_or_else(String::new, |other| format!(" of the group {other}"));
    match (kept.is_held, other) {
        (true, Some(_)) => None,
        (true, None) => Some(format!(
            "run {run}  the coordinator does not respond, but its process exists; \
             `drumfire cluster attach --take-over {run}` takes the run from it"
        )),
        (false, _) => Some(format!(
            "run {run}{of_group}  no coordinator responds; `drumfire cluster attach {run}` continues it"
        )),
    }
}

/// The lines of a run.
fn lines_of(status: &Status) -> Vec<String> {
    let there = status.agents.len();
    let stage = match status.elapsed {
        _ if status.is_over => "over".to_owned(),
        None => format!("gathering agents: {there} of {} have joined", status.wanted),
        Some(elapsed) => format!("{:.1} s", elapsed.as_secs_f64()),
    };
    let term = match status.term {
        1 => String::new(),
        term => format!("  (coordinator {term})"),
    };
    let mut rows = vec![HEADS.map(str::to_owned)];
    rows.extend(status.agents.iter().map(cells));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..HEADS.len())
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let line = |row: &[String; HEADS.len()]| {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        format!("  {}", cells.join("  ").trim_end())
    };
    let mut lines = vec![format!("run {}  {stage}{term}", status.run)];
    lines.extend(rows.iter().map(line));
    lines
}

fn cells(agent: &AgentStatus) -> [String; HEADS.len()] {
    let rounded = |it: drumfire_units::Nanos| time(it.0 as f64);
    let dash = || "-".to_owned();
    let shares = agent
        .shares
        .map_or_else(dash, |shares| format!("{} of {}", shares.count, shares.of));
    let clock = agent.offset.map_or_else(dash, |offset| {
        let sign = if offset.ahead < 0 { "-" } else { "+" };
        let ahead = time(offset.ahead.unsigned_abs() as f64);
        format!("{sign}{ahead} ± {}", rounded(offset.uncertainty))
    });
    let has_load = agent.stage != Stage::Waits;
    let of_load = |text: String| if has_load { text } else { dash() };
    [
        agent.name.clone(),
        agent.stage.name().to_owned(),
        shares,
        agent.cores.to_string(),
        agent.program.clone(),
        clock,
        format!("{} ago", rounded(agent.silent)),
        of_load(format!("{:.1} s", agent.reported.as_secs_f64())),
        of_load(count(agent.sent)),
        of_load(rounded(agent.lag_mean)),
        of_load(rounded(agent.lag_max)),
    ]
}

fn json_of(status: &Status) -> ClusterRun {
    ClusterRun {
        run: status.run.clone(),
        term: status.term,
        agents_wanted: status.wanted,
        elapsed_ns: status.elapsed.map(|elapsed| elapsed.0),
        is_over: status.is_over,
        agents: status.agents.iter().map(json_of_agent).collect(),
    }
}

fn json_of_agent(agent: &AgentStatus) -> ClusterAgent {
    ClusterAgent {
        name: agent.name.clone(),
        state: agent.stage.name().to_owned(),
        version: agent.program.clone(),
        cores: agent.cores,
        shares: agent.shares.map(|shares| shares.count),
        shares_of: agent.shares.map(|shares| shares.of),
        clock_ahead_ns: agent.offset.map(|offset| offset.ahead),
        clock_uncertainty_ns: agent.offset.map(|offset| offset.uncertainty.0),
        silent_ns: agent.silent.0,
        reported_ns: agent.reported.0,
        sent: agent.sent,
        dropped: agent.dropped,
        lag_mean_ns: agent.lag_mean.0,
        lag_max_ns: agent.lag_max.0,
    }
}
