//! The kinds of failure of a run: one record for each kind, which every format renders.
//!
//! `measure` has a row for each message of an outcome. A record gathers the rows of an outcome with
//! what came, what the plan expects, where, an example and a remedy. Messages, names and bodies may
//! come from servers; the renderings escape them.

use crate::quantity::{count, counted, share_of};
use crate::remedy::{Naming, remedy_beside};
use crate::show::content;
use crate::status::reason_phrase;
use crate::step_name::StepName;
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_measure::{Blame, Closing, ErrorRow, FailedBody, Outcome, Summary};
use drumfire_plan::Expect;
use drumfire_units::Nanos;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The maximum number of statuses and of steps in a sentence.
const LISTED_MAX: usize = 3;

/// Failures of one kind.
pub(crate) struct FailureKind<'a> {
    /// The kind.
    pub(crate) outcome: Outcome,
    /// The party to blame.
    pub(crate) blame: Blame,
    /// The number of requests that ended so.
    pub(crate) count: u64,
    /// Their share of all requests that ended, from 0 to 1.
    pub(crate) share: f64,
    /// The unexpected statuses with their counts, the most frequent first; empty for other kinds.
    pub(crate) statuses: Vec<(u16, u64)>,
    /// The messages with their counts, the most frequent first.
    pub(crate) messages: Vec<ErrorRow>,
    /// The statuses that the plan expects, if the kind is about them and they are known.
    pub(crate) expected: Option<Expect>,
    /// The steps that failed so with their counts, the most frequent first. Empty if the run has one
    /// step.
    pub(crate) steps: Vec<(StepName, u64)>,
    /// The first body that was kept.
    pub(crate) first_body: Option<&'a FailedBody>,
    /// An action that may help.
    pub(crate) remedy: Option<String>,
}

/// The kinds of failure of a run by blame, the most frequent of a blame first. Remedies name
/// settings as the reader knows them.
pub(crate) fn failure_kinds(summary: &Summary, naming: Naming) -> Vec<FailureKind<'_>> {
    let ended = summary.total.counts.finished().max(1) as f64;
    let mut kinds: Vec<FailureKind<'_>> = Vec::new();
    for row in summary.total.errors() {
        match kinds.iter_mut().find(|kind| kind.outcome == row.outcome) {
            Some(kind) => {
                kind.count += row.count;
                kind.messages.push(row);
            }
            None => kinds.push(FailureKind {
                outcome: row.outcome,
                blame: row.blame,
                count: row.count,
                share: 0.0,
                statuses: Vec::new(),
                messages: vec![row],
                expected: None,
                steps: Vec::new(),
                first_body: None,
                remedy: None,
            }),
        }
    }
    if kinds.is_empty() {
        return kinds;
    }
    let steps = summary.steps();
    for kind in &mut kinds {
        kind.share = kind.count as f64 / ended;
        if kind.outcome == Outcome::HttpStatus {
            kind.statuses = unexpected_statuses(summary);
            kind.expected = expected(summary);
        }
        let failed = steps.iter().filter(|_| steps.len() > 1);
        let failed = failed.map(|step| (StepName::from_step(step), step.errors.get(kind.outcome)));
        kind.steps = failed.filter(|(_, count)| *count > 0).collect();
        kind.steps.sort_by_key(|(_, count)| Reverse(*count));
        let mut bodies = summary.failed_bodies.iter();
        kind.first_body = bodies.find(|failed| failed.outcome == kind.outcome);
        kind.remedy = kind.find_remedy(summary, naming);
    }
    kinds.sort_by_key(|kind| (kind.blame, Reverse(kind.count)));
    kinds
}

impl FailureKind<'_> {
    /// What came, in one line: the unexpected statuses, or else the only message. `None` if several
    /// messages came.
    pub(crate) fn came(&self) -> Option<String> {
        if !self.statuses.is_empty() {
            return Some(self.statuses_in_words());
        }
        match &self.messages[..] {
            [only] => Some(only.detail.to_string()),
            _ => None,
        }
    }

    /// Everything that came, with counts: the unexpected statuses, or else all messages.
    pub(crate) fn all_that_came(&self) -> Vec<(String, u64)> {
        match self.statuses.is_empty() {
            true => {
                let rows = self.messages.iter();
                rows.map(|row| (row.detail.to_string(), row.count))
                    .collect()
            }
            false => {
                let statuses = self.statuses.iter();
                statuses
                    .map(|(status, n)| (status_in_words(*status), *n))
                    .collect()
            }
        }
    }

    /// The messages that [`Self::came`] does not contain.
    pub(crate) fn other_messages(&self) -> Vec<&ErrorRow> {
        let words = self.outcome.words();
        let messages = self.messages.iter();
        match (self.statuses.is_empty(), &self.messages[..]) {
            (true, [_]) => Vec::new(),
            (true, _) => messages.collect(),
            (false, _) => messages.filter(|row| row.detail.text != words).collect(),
        }
    }

    /// The most frequent unexpected statuses with their names, and with counts if there are several.
    fn statuses_in_words(&self) -> String {
        let shown = self.statuses.iter().take(LISTED_MAX);
        let shown = shown.map(|&(status, n)| match self.statuses.len() {
            1 => status_in_words(status),
            _ => format!("{} × {}", count(n), status_in_words(status)),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// The steps that failed so, the most frequent first; `None` if the run has one step.
    pub(crate) fn steps_in_words(&self) -> Option<String> {
        let shown = self.steps.iter().take(LISTED_MAX);
        let mut words: Vec<String> = shown
            .map(|(name, n)| format!("{} in {}", count(*n), name.words()))
            .collect();
        let more = self.steps.len().saturating_sub(LISTED_MAX) as u64;
        words.extend((more > 0).then(|| counted(more, "other step")));
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The beginning of the first body in one line, of at most `letters` characters. The body is
    /// masked and escaped.
    pub(crate) fn first_body_in_words(&self, letters: usize) -> Option<String> {
        let lines = content(&self.first_body?.body, &[], &[], Unicode::On);
        Some(one_line(&lines, letters))
    }

    /// The beginning of the first body as a fact, with its status if there are several.
    pub(crate) fn first_body_as_fact(&self, letters: usize) -> Option<String> {
        let text = self.first_body_in_words(letters)?;
        Some(match (self.statuses.len() > 1, self.first_body) {
            (true, Some(failed)) => format!("first body, of {}: {text}", failed.status),
            _ => format!("first body: {text}"),
        })
    }

    /// The kind and what came, in a few words: `http_status 503`, or `tls:untrusted`. A failure to
    /// connect has its address.
    pub(crate) fn cause(&self) -> String {
        let name = self.outcome.name();
        let more = if self.statuses.len() > 1 { "/…" } else { "" };
        match (self.statuses.first(), &self.messages[..]) {
            (Some((status, _)), _) => format!("{name} {status}{more}"),
            (None, [only]) if self.outcome.is_of_opening() => format!("{name} ({})", only.detail),
            (None, _) => name.to_owned(),
        }
    }

    /// All facts in one sentence, without the remedy.
    pub(crate) fn sentence(&self) -> String {
        let share = share_of(self.share);
        let mut facts = vec![format!(
            "{} × {} ({share})",
            count(self.count),
            self.outcome.name()
        )];
        let frequent = || self.messages.first().map(|row| row.detail.to_string());
        if let Some(came) = self.came().or_else(frequent) {
            facts[0].push_str(&format!(": {came}"));
        }
        let expected = self
            .expected
            .map(|expect| format!("the plan expects {expect}"));
        let body = self.first_body_as_fact(EXAMPLE_LETTERS);
        facts.extend(
            expected
                .into_iter()
                .chain(self.steps_in_words())
                .chain(body),
        );
        facts.join("; ")
    }

    /// The remedy: the one of the most frequent message, unless the server closes most connections
    /// after one or two requests. Unexpected statuses need none.
    fn find_remedy(&self, summary: &Summary, naming: Naming) -> Option<String> {
        if !self.statuses.is_empty() {
            return None;
        }
        let connections = &summary.total.connections;
        let closed = connections.closed_by(Closing::Peer) + connections.closed_by(Closing::Reset);
        let carried = &connections.carried;
        let closes_each = closed.saturating_mul(2) > carried.count()
            && carried.quantile_unchecked(0.5) <= Nanos(2);
        if self.outcome == Outcome::ClosedReused && closes_each {
            let text = "the server closes its connections after one or two requests; use \
                        --no-keepalive";
            return Some(naming.named(text).into_owned());
        }
        let causes = self.messages.iter().map(|row| row.detail.cause);
        let remedy = remedy_beside(self.outcome, causes, naming)?;
        Some(remedy.into_owned())
    }
}

/// A line for each of the most frequent kinds of failure, escaped: the sentence of the kind, and the
/// remedy unless `context` contains it.
pub(crate) fn explanations(summary: &Summary, naming: Naming, context: &str) -> Vec<String> {
    let mut kinds = failure_kinds(summary, naming);
    kinds.sort_by_key(|kind| Reverse(kind.count));
    let lines = kinds.iter().take(EXPLAINED_MAX).map(|kind| {
        let sentence = foreign(&kind.sentence(), Unicode::On);
        let remedy = kind.remedy.iter();
        let remedy = remedy.filter(|text| !context.contains(text.as_str()));
        let remedy: String = remedy.map(|text| format!("; {text}")).collect();
        format!("{sentence}{remedy}")
    });
    lines.collect()
}

/// The maximum number of kinds with a line.
const EXPLAINED_MAX: usize = 5;
/// The maximum number of characters of a body in a sentence.
const EXAMPLE_LETTERS: usize = 120;

/// Lines in one line, of at most `letters` characters. JSON is indented, so that its first line is a
/// brace.
pub(crate) fn one_line(lines: &[String], letters: usize) -> String {
    let texts = lines.iter().map(|line| line.trim());
    let texts: Vec<&str> = texts.filter(|line| !line.is_empty()).collect();
    let whole = texts.join(" ");
    match whole.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

/// A status with its name.
fn status_in_words(status: u16) -> String {
    match reason_phrase(status) {
        Some(phrase) => format!("{status} {phrase}"),
        None => status.to_string(),
    }
}

/// The statuses that their pools do not expect, the most frequent first. If the expectation of a
/// pool is unknown, its statuses from 400 on.
fn unexpected_statuses(summary: &Summary) -> Vec<(u16, u64)> {
    let mut statuses = BTreeMap::new();
    for (pool, figures) in summary.pools() {
        let expect = pool.asked.as_ref().and_then(|asked| asked.expect);
        let expect = expect.unwrap_or(Expect::BELOW_400);
        for (status, n) in figures.status() {
            // Statuses of gRPC have other numbers.
            if (100..600).contains(&status) && !expect.accepts(status) {
                *statuses.entry(status).or_default() += n;
            }
        }
    }
    let mut statuses: Vec<(u16, u64)> = statuses.into_iter().collect();
    statuses.sort_by_key(|&(status, n)| (Reverse(n), status));
    statuses
}

/// The statuses that all pools expect; `None` if they are unknown or differ.
fn expected(summary: &Summary) -> Option<Expect> {
    let mut pools = summary.info.pools.iter();
    let of_pool = |pool: &drumfire_measure::PoolInfo| pool.asked.as_ref()?.expect;
    let first = pools.next().and_then(of_pool)?;
    pools
        .all(|pool| of_pool(pool) == Some(first))
        .then_some(first)
}
