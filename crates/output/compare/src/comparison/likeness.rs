//! Checks whether the difference of two runs describes their target.
//!
//! Each run is checked alone first, and then against the first run of the base. The check uses the
//! typed facts of the plan that a run stores. Therefore equal plans in different words are alike,
//! and plans with different laws are not. A run from an older version has no such facts: it is
//! alike only to runs without them. For a run from JSON, the texts of its plan are compared, which
//! are generated from those facts.
//!
//! The number of steps is compared, but not their names: without names in the plan, they are URLs
//! and differ with the target.

use crate::compared::Compared;
use drumfire_measure::{ArrivalClock, PoolInfo, Summary, Validity};
use drumfire_plan::{escaped_lines, secret};
use drumfire_stats::RUNS_MAX;
use std::collections::BTreeMap;

/// Refuses sides that are not comparable.
///
/// # Errors
/// The run and the reason, in a sentence.
pub(crate) fn check(
    base: &[Compared],
    candidate: &[Compared],
    any_target: bool,
) -> Result<(), String> {
    for (side, runs) in [("base", base), ("candidate", candidate)] {
        match runs.len() {
            0 => return Err(format!("the {side} has no runs")),
            1..=RUNS_MAX => {}
            more => {
                return Err(format!(
                    "the {side} has {more} runs; at most {RUNS_MAX} are compared"
                ));
            }
        }
    }
    let runs: Vec<&Compared> = base.iter().chain(candidate).collect();
    runs.iter().try_for_each(|run| is_sound(run))?;
    for (at, run) in runs.iter().enumerate() {
        let id = |run: &Compared| run.summary().info.id.clone();
        if runs[..at].iter().any(|other| id(other) == id(run)) {
            let name = name(run.summary());
            return Err(format!("run {name} can't be compared with itself"));
        }
        is_like(runs[0], run, any_target)?;
    }
    Ok(())
}

/// Refuses a run whose figures do not measure its target.
pub(crate) fn is_sound(compared: &Compared) -> Result<(), String> {
    let run = compared.summary();
    let refused = |why: &str| Err(format!("run {} can't be compared: {why}", name(run)));
    if let Some(fault) = compared.fault() {
        return refused(fault);
    }
    if run.verdict.validity == Validity::Invalid {
        return refused(
            "it is invalid: its figures are the generator's, not the target's; for the reason, see `drumfire report`",
        );
    }
    if run.total.counts.ok == 0 {
        return refused(&unanswered(run));
    }
    Ok(())
}

/// Why a run without ok requests is not comparable: the reasons of its target's state.
fn unanswered(run: &Summary) -> String {
    let reasons = run.target.reasons.iter();
    let reasons = reasons.map(|reason| escaped_lines(&reason.text));
    let reasons: Vec<String> = reasons.collect();
    match reasons.is_empty() {
        true => "none of its requests was ok".to_owned(),
        false => format!("none of its requests was ok: {}", reasons.join(", ")),
    }
}

/// Refuses a run whose load or target differs from the first run's.
pub(crate) fn is_like(first: &Compared, run: &Compared, any_target: bool) -> Result<(), String> {
    let infos = [first, run].map(|run| &run.summary().info);
    let refused = |what: &str| {
        let (one, other) = (name(first.summary()), name(run.summary()));
        Err(format!("runs {one} and {other} can't be compared: {what}"))
    };
    let targets = infos.map(|info| secret::url(&info.target));
    if !any_target && targets[0] != targets[1] {
        let [one, other] = infos.map(|info| secret::excerpt(&info.target));
        return refused(&format!(
            "their targets are {one} and {other}; to compare them anyway, use --any-target"
        ));
    }
    difference(first, run).map_or(Ok(()), |what| refused(&what))
}

/// The loads of two runs, in the words of a difference.
const LOADS: &str = "the planned loads";

/// What makes two runs unlike, apart from their targets.
pub(crate) fn difference(first: &Compared, run: &Compared) -> Option<String> {
    let infos = [first, run].map(|run| &run.summary().info);
    if infos[0].pools.len() != infos[1].pools.len() {
        return Some("they have different pools".to_owned());
    }
    let is_read = first.is_read() || run.is_read();
    let mut pools = infos[0].pools.iter().zip(&infos[1].pools);
    let of_pools = pools.find_map(|(one, other)| {
        let what = differs(one, other, is_read)?;
        let pool = escaped_lines(&one.name);
        let values = match what == LOADS {
            true => values(first, run),
            false => String::new(),
        };
        Some(format!("{what} of pool {pool} differ{values}"))
    });
    let is_of_texts = is_read && first.load() != run.load();
    of_pools
        .or_else(|| is_of_texts.then(|| format!("{LOADS} differ{}", values(first, run))))
        .or_else(|| clocks_differ(first, run))
}

/// The clocks of two plans, if these differ: the plans can ask for one clock. Once a run has
/// measured its own delay, that delay bounds the difference of the clocks.
fn clocks_differ(first: &Compared, run: &Compared) -> Option<String> {
    let summaries = [first, run].map(Compared::summary);
    let [one, other] = summaries.map(|run| run.info.clock);
    let are_planned = summaries.iter().all(|run| run.total.counts.sent == 0);
    (are_planned && one != other)
        .then(|| format!("one is timed {}, the other {}", timed(one), timed(other)))
}

/// The first part of two loads that differs, with both values.
fn values(first: &Compared, run: &Compared) -> String {
    let [one, other] = [first, run].map(Compared::load);
    let mut keys = one.keys().chain(other.keys());
    let Some(key) = keys.find(|key| one.get(*key) != other.get(*key)) else {
        return String::new();
    };
    let shown = |load: &BTreeMap<String, String>| {
        let value = load.get(key).map(|value| escaped_lines(value));
        value.unwrap_or_else(|| "not set".to_owned())
    };
    let (one, other) = (shown(&one), shown(&other));
    format!(": {} is {one} and {other}", escaped_lines(key))
}

/// How exchanges are timed with a clock.
const fn timed(clock: ArrivalClock) -> &'static str {
    match clock {
        ArrivalClock::Program => "by the program's clock",
        ArrivalClock::Kernel => "by the kernel's clock",
        ArrivalClock::Wire => "on the wire",
    }
}

/// The first facts of a pool that differ. With a run from JSON, the load is compared elsewhere.
fn differs(one: &PoolInfo, other: &PoolInfo, is_read: bool) -> Option<&'static str> {
    let load = |pool: &PoolInfo| {
        let asked = pool.asked.as_ref();
        asked.map(|asked| (asked.load.clone(), asked.users.clone(), asked.stop))
    };
    let facts = [
        ("the names", one.name != other.name),
        ("the models", one.model != other.model),
        (LOADS, !is_read && load(one) != load(other)),
        ("the steps", one.steps.len() != other.steps.len()),
    ];
    let found = facts.into_iter().find(|(_, differs)| *differs);
    found.map(|(what, _)| what)
}

fn name(run: &Summary) -> String {
    escaped_lines(&run.info.id)
}
