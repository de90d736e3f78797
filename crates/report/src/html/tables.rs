//! The tables of a run: its times, pools, steps, stages, failures and slowest requests, its
//! connections by address, and what its protocols did. A table of pools, steps or stages that would
//! have a single row, which the numbers above it have already, is left out.
//!
//! Each function makes one [`Grid`] from the summary and nothing else; [`parts`] calls them in the
//! order of the page, and a grid without rows gives no part. A new table is a function in that
//! list.
//!
//! Numbers are rounded by [`crate::quantity`] as in the terminal, and a table has the same
//! quantiles as Markdown, so that a number can be found again in any of the three. Failures are
//! marked where there are any. Lists that a server or a plan may make long are bounded; the JSON
//! has them whole.

use super::Part;
use super::grid::{self, Cell, Grid};
use crate::connection_facts::{self, AddressCells, Fact};
use crate::figure::Sparks;
use crate::latency_rows::LatencyRow;
use crate::markdown::QUANTILES;
use crate::quantity::{
    count, latency, latency_at_least, quantile, rate, share, share_tenths, span, throughput,
};
use crate::secret;
use crate::step_rows::{StepRows, step_rows};
use crate::style::Unicode;
use crate::text::foreign;
use drumfire_measure::{Histogram, Leniency, Outcome, SpreadTime, StageRow, Summary, status_name};
use drumfire_units::ByteSize;

/// The most rows of steps and of failures: a table is for reading, and of a thousand steps the
/// page's text and its JSON have more.
const ROWS: usize = 60;
/// The columns of a step's latency over time, at most; a run with fewer cells has one for each.
const SPARK_COLUMNS: usize = 60;

/// All tables of the run that have rows, in the order of the page.
pub(super) fn parts(summary: &Summary) -> impl Iterator<Item = Part> {
    let grids = [
        times,
        pools,
        steps,
        stages,
        failures,
        slowest,
        addresses,
        connections,
        protocol,
    ];
    grids
        .into_iter()
        .filter_map(|grid| grid::part(&grid(summary)))
}

/// The table of the times of all requests: *the* latency first, then its parts, as in the report.
fn times(summary: &Summary) -> Grid {
    let rows = LatencyRow::of(summary).into_iter().map(|row| {
        let mut cells = vec![Cell::Text(row.words().to_owned())];
        cells.extend(quantiles(row.times));
        cells
    });
    Grid {
        id: "times",
        title: "Times",
        rows: rows.collect(),
        heads: heads(&["time"], &quantile_names()),
        explanation: "A response time consists of the time that a request waits for a free \
                      connection, drumfire's own lag, and the service time. Times are of ok \
                      responses and timeouts.",
    }
}

/// The table of pools, where there are several, in the plan's order. Each pool's times are those of
/// its own model, which the explanation says, since two neighbouring rows may have different ones;
/// the rate that was asked for is a dash in a closed one.
fn pools(summary: &Summary) -> Grid {
    let several = summary.info.pools.len() > 1;
    let rows = summary.pools().filter(|_| several).map(|(pool, figures)| {
        let counts = &figures.counts;
        // A mean over the run: laws that rise or fall have a row for each stage in the table below.
        let asked = summary.intended_per_s_of(pool, figures).map(rate);
        let mut cells = vec![
            Cell::Text(foreign(&pool.name, Unicode::On)),
            Cell::Text(count(counts.sent)),
            Cell::failures(counts.failed, count(counts.failed)),
            Cell::Text(rate(summary.achieved_per_s_of(figures))),
            Cell::number(asked),
        ];
        cells.extend(quantiles(pool.model.latency(&figures.latency)));
        cells
    });
    Grid {
        id: "pools",
        title: "Pools",
        rows: rows.collect(),
        heads: heads(
            &["pool", "sent", "failed", "rate", "asked"],
            &quantile_names(),
        ),
        explanation: "Each pool has its own load. Times are response times; in the closed model, \
                      where users do not wait for connections, service times. They are of ok \
                      responses and timeouts.",
    }
}

/// The table of steps, where there are several, with each step's latency over time where its
/// timeline has enough requests. Beyond the bound those with the greatest times are kept.
///
/// The sparks are made for the rows that are shown, in their order, and share one quantile, which
/// the heading names; a step without a timeline has a dash.
fn steps(summary: &Summary) -> Grid {
    let StepRows { rows: steps, total } = step_rows(summary, ROWS);
    let places: Vec<_> = steps.iter().map(|row| row.place).collect();
    let sparks = Sparks::of(summary, &places, SPARK_COLUMNS);
    let mut rows = Vec::new();
    for (number, row) in steps.iter().enumerate().filter(|_| total > 1) {
        let (step, counts) = (&row.step, &row.step.counts);
        let name = foreign(&secret::url(&step.name), Unicode::On);
        let mut cells = vec![
            Cell::Text(name.clone()),
            Cell::Text(count(counts.sent)),
            Cell::failures(counts.failed, count(counts.failed)),
        ];
        cells.extend(quantiles(row.kind.of_step(step)));
        if let Some(sparks) = &sparks {
            let title = format!("{} of {name} over time", sparks.quantile);
            let spark = sparks.steps[number].clone();
            cells.push(match spark {
                Some(spark) => Cell::Spark(spark, title),
                None => Cell::number(None),
            });
        }
        rows.push(cells);
    }
    let mut names = quantile_names();
    names.extend(sparks.map(|sparks| format!("{} over time", sparks.quantile)));
    Grid {
        id: "steps",
        title: "Steps",
        rows,
        heads: heads(&["step", "sent", "failed"], &names),
        explanation: "Numbers per step. If there are many steps, only the slowest are listed. The \
                      last column shows its quantile through the run, each step on its own scale; \
                      a gap has too few requests.",
    }
}

/// The table of the parts of a load, one row for each stage of each pool; empty where no load has
/// stages. Stages are as the run had them: an order that changed a load has begun one.
fn stages(summary: &Summary) -> Grid {
    let several = summary.info.pools.len() > 1;
    let stages = summary.stages();
    Grid {
        id: "stages",
        title: "Stages",
        rows: stages
            .iter()
            .map(|stage| stage_row(stage, several))
            .collect(),
        heads: heads(
            &["stage", "from", "ok", "failed", "rate", "of goal"],
            &["p50", "p90", "p99", "max"].map(str::to_owned),
        ),
        explanation: "The stages of the load, by when requests ended. Of goal: answered requests as \
                      a share of due requests.",
    }
}

/// The cells of a stage. Its rate is over the part of it that was measured; times that a failure or
/// a timeout made too small are marked as lower bounds.
fn stage_row(stage: &StageRow<'_>, several: bool) -> Vec<Cell> {
    let row = &stage.row;
    let name = match several {
        true => format!("{}: {}", stage.pool.name, stage.stage.name),
        false => stage.stage.name.clone(),
    };
    let failures = row.bad.saturating_add(row.failed);
    let goal = row.goal.filter(|goal| *goal > 0);
    let answered = row.good.saturating_add(row.bad);
    let time = |reading: Option<SpreadTime>| {
        Cell::number(
            reading.map(|SpreadTime { time, is_at_least }| match is_at_least {
                true => latency_at_least(time, Unicode::On),
                false => latency(time, Unicode::On),
            }),
        )
    };
    vec![
        Cell::Text(foreign(&name, Unicode::On)),
        Cell::Text(span(row.start, Unicode::On)),
        Cell::Text(count(row.good)),
        Cell::failures(failures, count(failures)),
        Cell::number(stage.ended_per_s().map(rate)),
        Cell::number(goal.map(|goal| share(answered, goal))),
        time(row.latency.p50),
        time(row.latency.p90),
        time(row.latency.p99),
        time(row.latency.max),
    ]
}

/// The table of failures: each kind with one message, the most frequent first. The remedies are not
/// repeated here; they stand in the report as text below, beside the same names.
fn failures(summary: &Summary) -> Grid {
    let errors = summary.total.errors();
    let rows = errors.iter().take(ROWS).map(|error| {
        vec![
            Cell::Text(error.outcome.name().to_owned()),
            Cell::Text(count(error.count)),
            Cell::Text(foreign(&error.detail.to_string(), Unicode::On)),
        ]
    });
    Grid {
        id: "failures",
        title: "Failures",
        rows: rows.collect(),
        heads: ["failure", "requests", "message"]
            .map(str::to_owned)
            .to_vec(),
        explanation: "Failures by kind, each with a message. The full report below has causes and \
                      remedies.",
    }
}

/// The table of the slowest requests, the slowest first, with the trace by which a request can be
/// found in the target's own records. A request without an answer has its failure in place of a
/// status. The time at which it was due is counted from the run's start, as the x axes of the
/// pictures are.
fn slowest(summary: &Summary) -> Grid {
    let (kind, slowest) = summary.slowest_requests();
    let rows = slowest.into_iter().map(|slow| {
        let pool = summary.info.pools.get(usize::from(slow.pool));
        let step = pool.and_then(|pool| pool.steps.get(usize::from(slow.step)));
        let step = step.map(|step| foreign(&secret::url(step), Unicode::On));
        let end = match slow.outcome {
            Outcome::Ok | Outcome::HttpStatus if slow.status > 0 => slow.status.to_string(),
            outcome => outcome.name().to_owned(),
        };
        let trace = Some(&slow.trace).filter(|trace| !trace.is_empty());
        vec![
            Cell::number(slow.time(kind).map(|time| latency(time, Unicode::On))),
            Cell::Text(format!("{:.3} s", slow.intended.as_secs_f64())),
            Cell::Text(end),
            Cell::number(step),
            Cell::number(trace.map(|trace| foreign(trace, Unicode::On))),
        ]
    });
    Grid {
        id: "slowest",
        title: "Slowest requests",
        rows: rows.collect(),
        heads: [kind.words(), "due at", "end", "step", "trace"]
            .map(str::to_owned)
            .to_vec(),
        explanation: "The requests with the longest times, and when each was due, counted \
                      from the start of the run. A trace is the id in the traceparent header of \
                      the request; use it to find the request in the target's traces.",
    }
}

/// The table of addresses that connections were opened to, by which a reader finds the instance
/// behind a balancer that gets more than its part. The number of requests is known when a
/// connection is closed, so that the heading says of which connections it is.
fn addresses(summary: &Summary) -> Grid {
    let rows = connection_facts::addresses(&summary.total.connections);
    let rows = rows.into_iter().map(
        |AddressCells {
             address,
             opened,
             carried,
             share,
         }| [address, opened, carried, share].map(Cell::Text).into(),
    );
    Grid {
        id: "addresses",
        title: "Connections by address",
        rows: rows.collect(),
        heads: [
            "address",
            "opened",
            "requests on connections since closed",
            "share",
        ]
        .map(str::to_owned)
        .to_vec(),
        explanation: "The addresses of the opened connections. The requests of a connection are \
                      counted when it is closed. Uneven shares often mean that a load balancer \
                      sends all connections to one server.",
    }
}

/// The table of the connections' lives: how they were opened, why they were closed, and how evenly
/// the requests were spread. The facts and their order are those of the line in the terminal; a
/// warning there is marked here. One fact alone is no table.
fn connections(summary: &Summary) -> Grid {
    let total = &summary.total;
    let facts = connection_facts::opened(total, Unicode::On).into_iter();
    let facts = facts.chain(connection_facts::closings(&total.connections));
    let facts = facts.chain(connection_facts::spread(&total.connections));
    // The number of connections alone is in the table of addresses.
    let rows: Vec<_> = facts.map(fact_row).collect();
    Grid {
        id: "connections",
        title: "Connections",
        rows: match rows.len() {
            0 | 1 => Vec::new(),
            _ => rows,
        },
        heads: ["connections", "value"].map(str::to_owned).to_vec(),
        explanation: "How many connections were opened, how long that took, and why connections \
                      were closed before the end of the load. Closes that the plan requires are \
                      left out.",
    }
}

/// The table of what the protocols carried: statuses, bytes and messages, then all that was out of
/// the ordinary.
///
/// Statuses are in ascending order, and shares are of all responses, also of those beyond the
/// bound. Bytes are there always, since a throughput is looked for even where it is small; any
/// other row only where something of it has happened.
fn protocol(summary: &Summary) -> Grid {
    let total = &summary.total;
    let row = |name: String, value: String| vec![Cell::Text(name), Cell::Text(value)];
    let mut statuses: Vec<(u16, u64)> = total.status().collect();
    // Summed before the list is cut, so that shares are of all responses.
    let answered = statuses.iter().map(|(_, n)| n).sum();
    statuses.sort_unstable();
    let statuses = statuses.into_iter().map(|(status, n)| {
        let share = share_tenths(n, answered);
        row(
            status_name(status).into_owned(),
            format!("{} ({share})", count(n)),
        )
    });
    let mut rows: Vec<_> = statuses.take(ROWS).collect();
    let bytes = &total.bytes;
    let received = throughput(bytes.received, summary.duration);
    rows.push(row(
        "bytes sent".to_owned(),
        ByteSize(bytes.sent).to_string(),
    ));
    rows.push(row(
        "bytes received".to_owned(),
        format!("{} ({received})", ByteSize(bytes.received)),
    ));
    let messages = &total.messages;
    for (name, n) in [
        ("messages sent", messages.sent),
        ("messages received", messages.received),
        ("messages unsent", messages.unsent),
    ] {
        if n > 0 {
            rows.push(row(name.to_owned(), count(n)));
        }
    }
    rows.extend(connection_facts::protocol(total).into_iter().map(fact_row));
    let forgiven = total.leniencies.iter().zip(Leniency::ALL);
    let forgiven = forgiven.filter(|(n, _)| **n > 0);
    rows.extend(
        forgiven.map(|(n, leniency)| row(format!("forgiven: {}", leniency.words()), count(*n))),
    );
    Grid {
        id: "protocol",
        title: "Protocol",
        rows,
        heads: ["protocol", "value"].map(str::to_owned).to_vec(),
        explanation: "The statuses of all responses with their shares, the bytes sent and received, \
                      and unusual events: resent requests, interim responses and harmless \
                      violations of the standard.",
    }
}

/// A fact as a row of two cells: as a sentence the value may come first, in a table it never does.
fn fact_row(fact: Fact) -> Vec<Cell> {
    let value = match fact.is_warning {
        true => Cell::Bad(fact.value),
        false => Cell::Text(fact.value),
    };
    vec![Cell::Text(fact.name), value]
}

/// The headings of a table: its own, then those that it shares with others.
fn heads(first: &[&str], more: &[String]) -> Vec<String> {
    let first = first.iter().map(|head| (*head).to_owned());
    first.chain(more.iter().cloned()).collect()
}

/// The headings of the quantiles.
fn quantile_names() -> Vec<String> {
    QUANTILES.map(|(name, _)| name.to_owned()).to_vec()
}

/// The cells of the quantiles, a dash where the count supports none.
///
/// A histogram says itself which quantiles its count supports, so that a step with few requests has
/// a median and no p99.9, as in the terminal.
fn quantiles(times: &Histogram) -> impl Iterator<Item = Cell> {
    let cell = |(_, q)| Cell::number(quantile(times, q, Unicode::On));
    QUANTILES.map(cell).into_iter()
}
