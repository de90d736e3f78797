//! 35,000 requests per second from files and scenarios: whether every request is sent, and the lag.

use super::plans::{self, ITEM, big_item};
use crate::floor::Encryption;
use crate::process::{self, MemoryWatch};
use crate::rows::Settings;
use crate::server::{Kind, Server};
use crate::summary::Summary;
use crate::table::{Figure, Line, Spread, Target};
use drumfire_units::Nanos;
use std::io::Result;
use std::path::Path;

/// Requests per second.
const RATE: u64 = 35_000;

/// The number of lines in the file of requests.
const LINES: u32 = 1_000;

/// The load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// POST with small bodies, from a file of JSON lines.
    JsonAmmo,
    /// Two steps with a feed, a value taken from JSON, and a template.
    Scenario,
    /// The scenario with 10 kB of JSON in the first response and in the second request.
    BigScenario,
}

impl Load {
    fn title(self) -> String {
        let load = match self {
            Self::JsonAmmo => "JSON ammo of 1,000 lines",
            Self::Scenario => "two steps with CSV, `take` and a template",
            Self::BigScenario => "two steps that receive and send 10 kB of JSON",
        };
        format!("{RATE}/s, {load}, nginx")
    }

    /// The keys of the pool; writes its files into the folder.
    fn pool(self, folder: &Path) -> Result<String> {
        let iterations = RATE / 2;
        plans::write_people(folder)?;
        Ok(match self {
            Self::JsonAmmo => {
                plans::write(folder, "requests.jsonl", &lines())?;
                format!("rate: {RATE}/s\nrequests: [ {{ ammo: requests.jsonl }} ]")
            }
            Self::Scenario => {
                plans::write(folder, "item.json", ITEM)?;
                format!(
                    "rate: {iterations}/s\nscenario:\n  - {{ get: /item.json, name: item, take: \
                     {{ token: json $.token }} }}\n  - {{ get: \"/?name={{{{ people.name }}}}\
                     &token={{{{ token }}}}\", name: look }}"
                )
            }
            Self::BigScenario => {
                let item = big_item();
                plans::write(folder, "item.json", &item)?;
                let body = item.replace("8f14e45fceea167a", "{{ token }}{{ people.name }}");
                format!(
                    "rate: {iterations}/s\nscenario:\n  - {{ get: /item.json, name: item, take: \
                     {{ token: json $.token }} }}\n  - {{ post: /, name: order, headers: \
                     {{ Content-Type: application/json }}, body: '{body}' }}"
                )
            }
        })
    }
}

/// The file of requests.
fn lines() -> String {
    let line = |n: u32| {
        format!(
            "{{\"uri\": \"/?n={n}\", \"method\": \"POST\", \"tag\": \"post\", \"headers\": \
             {{\"Content-Type\": \"application/json\"}}, \"body\": \"{{\\\"id\\\": {n}}}\"}}\n"
        )
    };
    (0..LINES).map(line).collect()
}

/// The figures of one run.
struct Run {
    surplus: f64,
    not_ok: f64,
    p50_micros: f64,
    p999_micros: f64,
    cores: f64,
    valid: f64,
}

/// Makes one run per round.
pub(super) fn measure(load: Load, settings: &Settings) -> Result<Vec<Line>> {
    let server = Server::start(Kind::Nginx, Encryption::Plain, &settings.programs)?;
    let pool = load.pool(server.folder())?;
    let stop = format!("after: {}s", settings.seconds);
    let text = plans::plan(&server.url(""), &pool, &stop);
    let plan = plans::write(server.folder(), "plan.yaml", &text)?;
    let mut runs = Vec::new();
    for _ in 0..settings.rounds {
        runs.push(run(&plan, settings)?);
    }
    let title = load.title();
    let spread = |of: fn(&Run) -> f64| Spread::from_values(runs.iter().map(of));
    let worst = |of: fn(&Run) -> f64| runs.iter().map(|run| of(run).abs()).fold(0.0, f64::max);
    let mut lines = Vec::new();
    let mut figure = |what: &str, value: f64, unit: String, target| {
        lines.push(Line::Figure(Figure {
            what: format!("{title}: {what}"),
            value,
            unit,
            target,
        }));
    };
    let none = Some(Target::Exactly(0.0));
    let of = format!("of {}", RATE * u64::from(settings.seconds));
    let surplus = worst(|run| run.surplus);
    figure("sent minus due, worst run", surplus, of, none);
    let not_ok = worst(|run| run.not_ok);
    figure("sent but not ok, worst run", not_ok, String::new(), none);
    let p50 = spread(|run| run.p50_micros);
    figure("lag p50", p50.median, format!("µs {}", p50.ends()), None);
    let p999 = spread(|run| run.p999_micros);
    figure(
        "lag p99.9",
        p999.median,
        format!("µs {}", p999.ends()),
        None,
    );
    let cores = spread(|run| run.cores);
    let one = Some(Target::AtMost(1.0));
    figure("cores used", cores.median, cores.ends(), one);
    let valid = runs.iter().map(|run| run.valid).sum();
    let of = format!("of {}", runs.len());
    figure("runs that drumfire judges valid", valid, of, None);
    Ok(lines)
}

fn run(plan: &Path, settings: &Settings) -> Result<Run> {
    let mut command = plans::run(&settings.programs.drumfire, plan);
    let limit = Nanos::from_secs(u64::from(settings.seconds) + 60);
    let finished = process::run(&mut command, limit, MemoryWatch::Nothing)?;
    let summary = Summary::parse(&finished.stdout)?;
    let sent = summary.count("sent")? as f64;
    let intended = (RATE * u64::from(settings.seconds)) as f64;
    Ok(Run {
        surplus: sent - intended,
        not_ok: sent - summary.count("ok")? as f64,
        p50_micros: summary.micros("lag", "0.5")?,
        p999_micros: summary.micros("lag", "0.999")?,
        cores: finished.cpu().as_secs_f64() / f64::from(settings.seconds),
        valid: f64::from(u8::from(summary.is_valid())),
    })
}
