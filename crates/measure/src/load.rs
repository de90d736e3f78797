//! Whether the load that was asked for was put on the target.
//!
//! The question is the second of three that a report answers, before the target's figures: a target
//! that got half of its load may look better than it is. Arrivals that became due are laid beside
//! those that were sent; where more than one in a hundred is missing, the reason names the thing
//! that was scarce, connections, streams or users, and Little's law says how many the rate would
//! have taken.

use crate::words::share_text;
use crate::{Counts, Figures, Model, PoolInfo, Reason, Remedy};
use drumfire_plan::Growth;
use drumfire_units::{Nanos, rounded::count as grouped};

/// Of a hundred requests that were due, one may be left unsent.
const UNSENT_PART: u64 = 100;
/// One address has ports for about this many connections to one other: those that Linux chooses
/// from by itself.
const PORTS: u64 = 28_000;

/// The answer, with its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadAnswer {
    /// Whether at least 99 % of what was due was sent. A closed model's users ask for no more than
    /// they send.
    pub kept: bool,
    /// The share of what was due that was sent, 0 to 1; 1 where nothing was due.
    pub sent_share: f64,
    /// Why not, one for each pool whose load was not kept.
    pub reasons: Vec<Reason>,
    /// How many connections the rate takes at the service time that was seen, by Little's law; of
    /// a single pool with an open model.
    pub connections_needed: Option<u64>,
}

impl LoadAnswer {
    /// Nothing was asked for.
    pub(crate) const NONE: Self = Self {
        kept: true,
        sent_share: 1.0,
        reasons: Vec::new(),
        connections_needed: None,
    };

    /// The answer for one pool over a span.
    #[must_use]
    pub fn of(pool: &PoolInfo, figures: &Figures, span: Nanos) -> Self {
        let counts = asked_for(figures);
        let needed = connections_needed(pool, figures, span);
        let unsent = counts.dropped.saturating_add(counts.pending);
        let kept = unsent <= (counts.intended / UNSENT_PART).max(1);
        let sent_share = match counts.intended {
            0 => 1.0,
            intended => counts.sent as f64 / intended as f64,
        };
        let reasons = if kept {
            Vec::new()
        } else {
            vec![reason(pool, figures, needed)]
        };
        Self {
            kept,
            sent_share,
            reasons,
            connections_needed: needed,
        }
    }

    /// The answer for all pools of a run.
    pub(crate) fn of_run(pools: &[(&PoolInfo, &Figures)], span: Nanos) -> Self {
        let mut answers = pools.iter().map(|(pool, figures)| {
            let answer = Self::of(pool, figures, span);
            (pool, *asked_for(figures), answer)
        });
        if pools.len() == 1
            && let Some((.., only)) = answers.next()
        {
            return only;
        }
        let (mut intended, mut sent) = (0_u64, 0_u64);
        let mut run = Self::NONE;
        for (pool, counts, answer) in answers {
            intended = intended.saturating_add(counts.intended);
            sent = sent.saturating_add(counts.sent);
            run.kept &= answer.kept;
            let name = format!("{}: {} sent", pool.name, share_text(answer.sent_share));
            let reasons = answer.reasons.into_iter();
            run.reasons
                .extend(reasons.map(|reason| reason.of_pool(&name)));
        }
        if intended > 0 {
            run.sent_share = sent as f64 / intended as f64;
        }
        run
    }
}

/// The counts of the arrivals that the schedule asks for: iterations, which are the requests where
/// each iteration is one of them.
fn asked_for(figures: &Figures) -> &Counts {
    match &figures.iterations {
        Some(iterations) => &iterations.counts,
        None => &figures.counts,
    }
}

/// With λ arrivals per second, each of n requests with a mean service time of W seconds, λ·n·W
/// requests are under way at a time (Little's law); a connection carries as many as it has streams. Where users are the scarce
/// thing, this is how many of them are needed with one stream each.
fn connections_needed(pool: &PoolInfo, figures: &Figures, span: Nanos) -> Option<u64> {
    let service = &figures.latency.service_time;
    if pool.model == Model::Closed || service.is_empty() {
        return None;
    }
    let rate = match pool.intended_rate {
        Some(rate) => rate,
        None if span == Nanos::ZERO => return None,
        None => asked_for(figures).intended as f64 / span.as_secs_f64(),
    };
    let started = asked_for(figures).sent.max(1) as f64;
    let requests_each = figures.counts.sent as f64 / started;
    let at_a_time = rate * requests_each * service.mean() / 1e9;
    let needed = (at_a_time / f64::from(pool.streams.max(1))).ceil();
    (needed.is_finite() && needed < 1e15).then_some((needed as u64).max(1))
}

/// Which of the things that a request needs was not free, and how many it would take.
fn reason(pool: &PoolInfo, figures: &Figures, needed: Option<u64>) -> Reason {
    let connections = u64::from(pool.connections);
    let open = figures.connections.in_place_at_end();
    let room = connections * u64::from(pool.streams.max(1));
    // Users beside a rate bound the connections that it needs.
    let by_users = pool.growth == Growth::AsNeeded;
    let users = pool.users.map(u64::from);
    let users = users.filter(|users| *users < room || by_users && *users == room);
    let (scarce, what, remedy): (u64, _, fn(u64) -> Remedy) = match users {
        Some(users) => (users, "user", Remedy::Users),
        None => (connections, "connection", Remedy::Connections),
    };
    let mut text = match figures.held_back.allowed {
        Some(allowed) => format!("servers allow {allowed} streams at a time"),
        None if open < scarce && users.is_none() => format!(
            "only {} of {} connections {}",
            grouped(open),
            grouped(scarce),
            match pool.growth {
                Growth::Ahead => "could be opened",
                Growth::AsNeeded => "were open",
            }
        ),
        None => format!("{} busy", all(scarce, what)),
    };
    // More of them do not help where the others could not be opened.
    let wanted = needed.filter(|needed| *needed > scarce && open >= scarce.min(connections));
    let Some(wanted) = wanted.map(rounded_up) else {
        return Reason::new(text, &[]);
    };
    let are = if wanted == 1 { "is" } else { "are" };
    text.push_str(&format!(
        "; about {} {are} needed at this service time",
        grouped(wanted)
    ));
    if wanted > PORTS {
        text.push_str(", more than one address has ports for");
        return Reason::new(text, &[Remedy::LowerRate]);
    }
    Reason::new(text, &[remedy(wanted)])
}

/// An estimate with no more digits than it is worth: two, from a thousand on.
fn rounded_up(estimate: u64) -> u64 {
    let mut unit = 1;
    while estimate / unit >= 1_000 {
        unit *= 10;
    }
    match estimate {
        0..1_000 => estimate,
        _ => estimate.div_ceil(unit * 10) * unit * 10,
    }
}

/// All of so many things, as the subject of a clause.
fn all(count: u64, what: &str) -> String {
    match count {
        1 => format!("the only {what} was"),
        2 => format!("both {what}s were"),
        count => format!("all {} {what}s were", grouped(count)),
    }
}
