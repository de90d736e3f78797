//! The verdict on the target.
//!
//! Failures that the generator caused do not count against the target; if they are limits that it
//! reached, they are reasons of the verdict. The target is degraded from 1 % of failures on, and
//! failed if no answer met the plan's expectation. The target falls behind if the number of
//! requests without an answer grows ([`crate::backlog`]). The states are ordered, the worst last,
//! so that a run of several pools has the state of its worst pool.

use crate::words::share_text;
use crate::{Blame, Cause, Figures, Outcome, PoolInfo, Reason, Remedy, status_name};
use drumfire_plan::Growth;
use drumfire_units::rounded::count as grouped;
use std::cmp::Reverse;

/// The share of failed requests from which a target counts as degraded.
const DEGRADED_SHARE: f64 = 0.01;
/// The maximum number of kinds of failure in a reason.
const KINDS: usize = 3;

/// The target's state under the load. `Unknown` is worse than `Ok`: a run with one good pool and
/// one unknown pool is not good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetState {
    /// Fewer than 1 % of the requests failed, and the target kept up with the load.
    Ok,
    /// The target received no requests.
    Unknown,
    /// The target answered fewer requests than it received, and the number without an answer grew.
    Behind,
    /// Some of the requests failed.
    Degraded,
    /// None of the requests was answered as expected.
    Failed,
}

impl TargetState {
    /// All states, the worst last.
    pub const ALL: [Self; 5] = [
        Self::Ok,
        Self::Unknown,
        Self::Behind,
        Self::Degraded,
        Self::Failed,
    ];

    /// The word used in reports and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unknown => "unknown",
            Self::Behind => "behind",
            Self::Degraded => "degraded",
            Self::Failed => "failed",
        }
    }
}

/// The verdict on the target, with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetAnswer {
    /// The target's state; with several pools, the worst one.
    pub state: TargetState,
    /// The failures by kind; with several pools, prefixed with the pool's name.
    pub reasons: Vec<Reason>,
}

impl TargetAnswer {
    /// The verdict on a target without requests.
    pub(crate) const NONE: Self = Self {
        state: TargetState::Unknown,
        reasons: Vec::new(),
    };

    /// The verdict for one pool. Failures for which the generator is to blame are left out.
    #[must_use]
    pub fn judge(pool: &PoolInfo, figures: &Figures) -> Self {
        if let Some(reason) = unreached(pool, figures) {
            return Self {
                state: TargetState::Failed,
                reasons: vec![reason],
            };
        }
        let failures = figures.outcomes().failures();
        let failures = failures.filter(|(outcome, _)| outcome.blame() != Some(Blame::Generator));
        let mut kinds: Vec<(Outcome, u64)> = failures.collect();
        kinds.sort_by_key(|(_, count)| Reverse(*count));
        let failed = kinds.iter().map(|(_, count)| count).sum::<u64>();
        let counts = &figures.counts;
        let share = failed as f64 / (failed.saturating_add(counts.ok)).max(1) as f64;
        let answer = |state, text: String, remedies: &[Remedy]| Self {
            state,
            reasons: vec![Reason::new(text, remedies)],
        };
        match (counts.ok, failed) {
            (0, 0) if counts.in_flight > 0 => {
                let text = "no request was answered".to_owned();
                answer(TargetState::Failed, text, &[])
            }
            (0, 0) => Self::NONE,
            (0, _) => {
                let named = named(&kinds, figures);
                let against = kinds.first();
                let against = against.and_then(|(outcome, _)| remedy(*outcome, figures));
                let (text, against) = match fails_at_proxy(pool, &kinds) {
                    true => (
                        format!("every request failed on the way to the proxy: {named}"),
                        Some(Remedy::Proxy),
                    ),
                    false => (format!("every request failed: {named}"), against),
                };
                answer(TargetState::Failed, text, against.as_slice())
            }
            _ if share >= DEGRADED_SHARE => {
                let (share, kinds) = (share_text(share), named(&kinds, figures));
                let text = format!("{share} of requests failed: {kinds}");
                answer(TargetState::Degraded, text, &[])
            }
            _ => Self {
                state: TargetState::Ok,
                reasons: Vec::new(),
            },
        }
    }

    /// Adds that the target falls behind, unless no answer was as expected, which is worse.
    pub(crate) fn fall_behind(&mut self, reason: Reason) {
        if self.state < TargetState::Failed {
            self.state = self.state.max(TargetState::Behind);
            self.reasons.push(reason);
        }
    }

    /// The verdict for all pools of a run.
    pub(crate) fn of_run(pools: &[(&PoolInfo, &Figures)]) -> Self {
        if let [(pool, only)] = pools {
            return Self::judge(pool, only);
        }
        let mut run = Self::NONE;
        let mut state = None;
        for (pool, figures) in pools {
            let answer = Self::judge(pool, figures);
            state = state.max(Some(answer.state));
            let reasons = answer.reasons.into_iter();
            run.reasons
                .extend(reasons.map(|reason| reason.of_pool(&pool.name)));
        }
        run.state = state.unwrap_or(TargetState::Unknown);
        run
    }
}

/// The reason why no request could be sent, if no connection was ever ready although requests
/// waited. Without it, no failed request would show this.
pub(crate) fn unreached(pool: &PoolInfo, figures: &Figures) -> Option<Reason> {
    let (counts, connections) = (&figures.counts, &figures.connections);
    // Users of a closed model wait for connections that are opened in advance, without being due.
    let waits = counts.pending > 0 || pool.growth == Growth::Ahead && connections.known() > 0;
    if counts.sent > 0 || figures.warmup.sent > 0 || !waits || connections.was_any_ready() {
        return None;
    }
    let all = grouped(u64::from(pool.connections));
    let connection = match pool.connections {
        1 => "connection",
        _ => "connections",
    };
    Some(match connections.known() {
        0 => Reason::new(
            format!("no request could be sent: none of {all} {connection} could be opened"),
            &[Remedy::Against(Outcome::ConnectUnreachable)],
        ),
        opened => Reason::new(
            format!(
                "no request could be sent: the target accepted {} of {all} {connection} but \
                 completed no handshake",
                grouped(opened)
            ),
            &[],
        ),
    })
}

/// Whether all failures are failures to connect to the pool's proxy.
fn fails_at_proxy(pool: &PoolInfo, kinds: &[(Outcome, u64)]) -> bool {
    let is_of_opening = |(outcome, _): &(Outcome, u64)| {
        matches!(
            outcome,
            Outcome::DnsNotFound
                | Outcome::DnsFailed
                | Outcome::DnsTimeout
                | Outcome::ConnectRefused
                | Outcome::ConnectTimeout
                | Outcome::ConnectUnreachable
                | Outcome::ConnectReset
                | Outcome::TimeoutConnect
        )
    };
    let asked = pool.asked.as_ref();
    asked.is_some_and(|asked| asked.transport.is_proxied) && kinds.iter().all(is_of_opening)
}

/// The names of the most frequent kinds, the kind of unexpected statuses with the statuses; with
/// the shares if there are several kinds.
fn named(kinds: &[(Outcome, u64)], figures: &Figures) -> String {
    let name = |(outcome, count): &(Outcome, u64)| match outcome {
        Outcome::HttpStatus => format!("{}{}", outcome.name(), statuses(*count, figures)),
        _ => format!("{}{}", outcome.name(), found(*outcome, figures)),
    };
    if let [only] = kinds {
        return format!("{}{}", name(only), peer(only.0, figures));
    }
    let all = kinds.iter().map(|(_, count)| count).sum::<u64>().max(1) as f64;
    let shown = kinds.iter().take(KINDS);
    let mut names: Vec<String> = shown
        .map(|kind| format!("{} ({})", name(kind), share_text(kind.1 as f64 / all)))
        .collect();
    if kinds.len() > KINDS {
        names.push(format!("{} other kinds", kinds.len() - KINDS));
    }
    names.join(", ")
}

/// The remedy for failures of a kind, or for their common cause; `None` if all messages contain a
/// remedy.
fn remedy(outcome: Outcome, figures: &Figures) -> Option<Remedy> {
    let rows = figures.errors();
    let mut causes = rows.iter().filter(|row| row.outcome == outcome);
    let first = causes.next().and_then(|row| row.detail.cause);
    let common = first.filter(|_| causes.all(|row| row.detail.cause == first));
    match common {
        Some(Cause::Remedied) => None,
        Some(Cause::Found) | None => Some(Remedy::Against(outcome)),
        Some(cause) => Some(Remedy::Remove(cause)),
    }
}

/// The mistake that drumfire found if failures have the name of a code that the server did not
/// send, in brackets after a space; the most frequent one.
fn found(outcome: Outcome, figures: &Figures) -> String {
    let rows = figures.errors();
    let row = rows.iter().find(|row| row.outcome == outcome);
    match row.filter(|row| row.detail.cause == Some(Cause::Found)) {
        Some(row) => format!(" ({})", row.detail),
        None => String::new(),
    }
}

/// The message of failures to connect, which contains the address, in brackets after a space; empty
/// if there are several messages.
fn peer(outcome: Outcome, figures: &Figures) -> String {
    match &figures.errors()[..] {
        [only] if outcome.is_of_opening() && only.detail.text != outcome.words() => {
            format!(" ({})", only.detail)
        }
        _ => String::new(),
    }
}

/// The statuses of the exchanges that failed because of their status, the most frequent first,
/// after a space. Empty if a plan expects statuses other than 200 to 299, because it is then
/// unknown which of them failed.
fn statuses(failed: u64, figures: &Figures) -> String {
    let is_bad = |status: u16| !(200..300).contains(&status);
    let mut bad: Vec<(u16, u64)> = figures.status().filter(|of| is_bad(of.0)).collect();
    if bad.iter().map(|(_, count)| count).sum::<u64>() != failed {
        return String::new();
    }
    bad.sort_by_key(|(_, count)| Reverse(*count));
    let more = if bad.len() > KINDS { "/…" } else { "" };
    let names = bad.iter().take(KINDS);
    let names: Vec<_> = names.map(|(status, _)| status_name(*status)).collect();
    format!(" {}{more}", names.join("/"))
}
