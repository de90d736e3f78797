//! Whether the target received the requested load.
//!
//! This is the second of three questions that a report answers, before the target's figures: a
//! target that received half of its load may look better than it is. Arrivals that became due are
//! compared with arrivals that were sent. If more than one in a hundred is missing, the reason is
//! the scarce resource, connections, streams or users, with the number that the rate needs by
//! Little's law. The remedy is a larger number: as many as are busy on average cannot keep a load
//! with any randomness.
//!
//! A run of which nothing became due, because it was cut off or ended within its warm-up, has no
//! answer: a ✓ would praise a load that nobody sent.

use crate::words::share_text;
use crate::{Counts, Figures, Model, PoolInfo, Reason, Remedy};
use drumfire_plan::{Growth, LatePolicy};
use drumfire_units::{Nanos, rounded::count as grouped};

/// One in this number of due requests may be left unsent.
const UNSENT_PART: u64 = 100;
/// The approximate number of ports for connections from one address to another: the default range
/// of Linux.
const PORTS: u64 = 28_000;

/// The spans to which the figures of a pool apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spans {
    /// From the end of the warm-up to the last end of a request.
    pub measured: Nanos,
    /// From the end of the warm-up to the end of the load. The drain follows.
    pub load: Nanos,
}

/// The requested rate of a pool's arrivals, per second: the plan's if it is one number, else the
/// arrivals that became due over the time of the load. `None` without such a time, and for a closed
/// model, which requests no rate.
pub(crate) fn requested_per_s(pool: &PoolInfo, due: u64, load: Nanos) -> Option<f64> {
    match pool.model {
        Model::Closed => None,
        Model::Open => pool.intended_rate.or_else(|| due_per_s(due, load)),
    }
}

/// The requests or iterations that became due, per second of the time of the load. `None` without
/// such a time.
pub(crate) fn due_per_s(due: u64, load: Nanos) -> Option<f64> {
    (load > Nanos::ZERO).then(|| due as f64 / load.as_secs_f64())
}

/// The verdict on the load, with its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadAnswer {
    /// Whether at least 99 % of the arrivals that became due were sent; with few arrivals, all but
    /// one. A closed model's users always send what they request, and a request without data is not
    /// sent. `None` if that can't be judged: no arrival was due, or only one, which was not sent.
    pub kept: Option<bool>,
    /// The share of due arrivals that were sent, from 0 to 1; 1 if none were due. Requests without
    /// data are excluded.
    pub sent_share: f64,
    /// The reasons why the load was not kept or not judged, one or two for each pool concerned; for
    /// a closed model whose users waited, the resource they waited for.
    pub reasons: Vec<Reason>,
    /// The number of connections that the load needs at the measured service time, by Little's law;
    /// for a single pool with an open model, or one whose users waited for connections.
    pub connections_needed: Option<u64>,
}

impl LoadAnswer {
    /// The verdict before any pool is judged.
    pub(crate) const NONE: Self = Self {
        kept: None,
        sent_share: 1.0,
        reasons: Vec::new(),
        connections_needed: None,
    };

    /// Subtracts a share of the requested load, from 0 to 1, that is unaccounted for.
    pub(crate) fn miss(&mut self, share: f64) {
        if share <= 0.0 {
            return;
        }
        self.kept = Some(false);
        self.sent_share *= 1.0 - share;
        let share = share_text(share);
        let text = format!("{share} of the requested load is unaccounted for");
        self.reasons.push(Reason::new(text, &[]));
    }

    /// Notes that all agents were lost before the rest of the plan was sent. The requests due until
    /// then may have been sent.
    pub(crate) fn lose(&mut self) {
        self.kept = Some(false);
        let text = "all agents were lost before the plan ended";
        self.reasons.push(Reason::new(text, &[]));
    }

    /// The verdict for one pool over these spans.
    #[must_use]
    pub fn judge(pool: &PoolInfo, figures: &Figures, spans: Spans) -> Self {
        let counts = asked_for(figures);
        let shared = Shared::from_figures(pool, figures, spans.measured);
        let needed = match &shared {
            Some(shared) => whole(shared.busy / streams(pool, figures)),
            None => connections_needed(pool, figures, spans.load),
        };
        let left = counts.dropped.saturating_add(counts.pending);
        let unmade = unmade(figures);
        let few = (counts.intended / UNSENT_PART).max(1);
        let is_kept = left.saturating_add(unmade) <= few;
        let sent = reached(figures);
        let kept = (!is_kept || sent > 0).then_some(is_kept);
        let sent_share = match counts.intended {
            0 => 1.0,
            intended => sent as f64 / intended as f64,
        };
        let mut reasons = Vec::new();
        if kept.is_none() {
            reasons.push(unjudged(figures));
        }
        if !is_kept && unmade > 0 {
            let text = format!("{} had no data and were not sent", requests(unmade));
            reasons.push(Reason::new(text, &[]));
        }
        if !is_kept && (left > few || unmade == 0) {
            reasons.push(reason(pool, figures, spans.load));
        }
        reasons.extend(shared.map(|shared| shared.reason(pool, figures)));
        Self {
            kept,
            sent_share,
            reasons,
            connections_needed: needed,
        }
    }

    /// The verdict for all pools of a run. A pool that is not judged, such as one whose load begins
    /// later, leaves the answer to the others.
    pub(crate) fn of_run(pools: &[(&PoolInfo, &Figures)], spans: Spans) -> Self {
        let mut answers = pools.iter().map(|(pool, figures)| {
            let answer = Self::judge(pool, figures, spans);
            let intended = asked_for(figures).intended;
            (pool, intended, reached(figures), answer)
        });
        if pools.len() == 1
            && let Some((.., only)) = answers.next()
        {
            return only;
        }
        let (mut intended, mut sent) = (0_u64, 0_u64);
        let mut run = Self::NONE;
        let mut unjudged = Vec::new();
        for (pool, due, reached, answer) in answers {
            intended = intended.saturating_add(due);
            sent = sent.saturating_add(reached);
            let name = match answer.kept {
                Some(false) => format!("{}: {} sent", pool.name, share_text(answer.sent_share)),
                Some(true) | None => pool.name.clone(),
            };
            let reasons = answer.reasons.into_iter();
            let reasons = reasons.map(|reason| reason.of_pool(&name));
            match answer.kept {
                None => unjudged.extend(reasons),
                Some(kept) => {
                    run.kept = Some(run.kept.unwrap_or(true) && kept);
                    run.reasons.extend(reasons);
                }
            }
        }
        if run.kept.is_none() {
            run.reasons = unjudged;
        }
        if intended > 0 {
            run.sent_share = sent as f64 / intended as f64;
        }
        run
    }
}

/// The counts of the arrivals of the schedule: iterations, or requests if each iteration is one
/// request.
fn asked_for(figures: &Figures) -> &Counts {
    match &figures.iterations {
        Some(iterations) => &iterations.counts,
        None => &figures.counts,
    }
}

/// The arrivals that began but sent nothing, because data was missing. An iteration of several
/// requests counts as begun.
fn unmade(figures: &Figures) -> u64 {
    match figures.iterations {
        Some(_) => 0,
        None => figures.without_data(),
    }
}

/// The arrivals that were sent to the target, or at least begun.
fn reached(figures: &Figures) -> u64 {
    asked_for(figures).sent.saturating_sub(unmade(figures))
}

/// The reason why the load of a pool is not judged.
fn unjudged(figures: &Figures) -> Reason {
    let what = match figures.iterations {
        Some(_) => "iteration",
        None => "request",
    };
    let text = match asked_for(figures).intended {
        0 => format!("no {what} was due"),
        _ => format!("only one {what} was due, and it was not sent"),
    };
    Reason::new(text, &[])
}

/// The arrivals per second, and the requests per arrival, of an open model that has sent any.
struct RequestDemand {
    arrivals_per_s: f64,
    requests_each: f64,
}

impl RequestDemand {
    fn from_figures(pool: &PoolInfo, figures: &Figures, load: Nanos) -> Option<Self> {
        if figures.latency.service_time.is_empty() {
            return None;
        }
        let asked = asked_for(figures);
        Some(Self {
            arrivals_per_s: requested_per_s(pool, asked.intended, load)?,
            requests_each: figures.counts.sent as f64 / asked.sent.max(1) as f64,
        })
    }

    /// With λ arrivals per second, each with n requests and a mean service time of W seconds, λ·n·W
    /// requests are running at a time (Little's law).
    fn requests_at_a_time(&self, figures: &Figures) -> f64 {
        let service = figures.latency.service_time.mean() / 1e9;
        self.arrivals_per_s * self.requests_each * service
    }

    /// The average number of busy users. A user is busy for a whole iteration, including pauses,
    /// but not while an arrival waits for a user. If all `users` were always busy, their total time
    /// divided by the iterations they started is an upper bound.
    fn users_at_a_time(&self, users: u64, figures: &Figures) -> f64 {
        let requests = self.requests_at_a_time(figures);
        let Some(iterations) = &figures.iterations else {
            return requests;
        };
        // Iterations that were due and not started are in both sums with the same time.
        let held = iterations.time.sum() as f64 - figures.latency.waiting.sum() as f64;
        let seen = iterations.time.count();
        let started = seen.saturating_sub(iterations.counts.pending).max(1);
        let by_time = self.arrivals_per_s * held / started as f64 / 1e9;
        let counts = &iterations.counts;
        let by_share = users as f64 * counts.intended as f64 / counts.sent.max(1) as f64;
        by_time.min(by_share).max(requests)
    }
}

/// The number of simultaneous requests on a connection: the plan's streams, or as many as its
/// server allows.
fn streams(pool: &PoolInfo, figures: &Figures) -> f64 {
    let allowed = figures.held_back.allowed.unwrap_or(u32::MAX);
    f64::from(pool.streams.min(allowed).max(1))
}

/// The number of connections that the rate needs at the measured service time. With too few
/// connections the service time is still the target's own, so the estimate is valid for the
/// requested load, not only for the one that was sent.
fn connections_needed(pool: &PoolInfo, figures: &Figures, load: Nanos) -> Option<u64> {
    let demand = RequestDemand::from_figures(pool, figures, load)?;
    whole(demand.requests_at_a_time(figures) / streams(pool, figures))
}

/// An estimate as a whole number, at least one.
fn whole(estimate: f64) -> Option<u64> {
    let needed = estimate.ceil();
    (needed.is_finite() && needed < 1e15).then_some((needed as u64).max(1))
}

/// The number of standard deviations of a Poisson number by which a remedy exceeds its mean: with
/// as many servers as are busy on average, or a few more, any randomness makes an endless queue
/// (square-root staffing; Halfin and Whitt 1981).
const ROOM: f64 = 2.0;
/// If a smaller part of a resource was busy on average, more of it is not a remedy: it was all busy
/// only while the target was stopped.
const BUSY_PART: f64 = 0.8;

/// The scarce resource: users, or connections with their streams.
struct Scarce {
    count: u64,
    noun: &'static str,
    /// The average number that are busy if the whole load is kept.
    busy: Option<f64>,
    /// The number of simultaneous requests on one.
    carries: f64,
    remedy: fn(u64) -> Remedy,
}

impl Scarce {
    fn from_figures(pool: &PoolInfo, figures: &Figures, load: Nanos) -> Self {
        let connections = u64::from(pool.connections);
        let demand = RequestDemand::from_figures(pool, figures, load);
        let room = connections * streams(pool, figures) as u64;
        // Users of an open model bound the connections that it needs.
        let by_users = pool.growth == Growth::AsNeeded;
        let users = pool.users.map(u64::from);
        let users = users.filter(|users| *users < room || by_users && *users == room);
        match users {
            Some(users) => Self {
                count: users,
                noun: "user",
                busy: demand.map(|demand| demand.users_at_a_time(users, figures)),
                carries: 1.0,
                remedy: Remedy::Users,
            },
            None => Self {
                count: connections,
                noun: "connection",
                busy: demand.map(|demand| demand.requests_at_a_time(figures)),
                carries: streams(pool, figures),
                remedy: Remedy::Connections,
            },
        }
    }

    /// The minimum number that is needed, and a number with room for randomness. `None` if more are
    /// not a remedy: they were not busy on average, or there are enough.
    fn wanted(&self) -> Option<(u64, u64)> {
        let busy = self.busy?;
        if busy < self.count as f64 * self.carries * BUSY_PART {
            return None;
        }
        let least = whole(busy / self.carries)?;
        let ample = whole((busy + ROOM * busy.sqrt()) / self.carries)?;
        (ample > self.count).then_some((least, ample))
    }
}

/// The reason why a pool's load was not kept: the resource that was not free, and the number of it
/// that is needed.
fn reason(pool: &PoolInfo, figures: &Figures, load: Nanos) -> Reason {
    let scarce = Scarce::from_figures(pool, figures, load);
    let open = figures.connections.in_place_at_end();
    let is_connection = scarce.noun == "connection";
    if is_connection && let Some(text) = late(pool, figures, open) {
        return Reason::new(text, &[]);
    }
    let mut text = match figures.held_back.allowed {
        Some(allowed) => format!("servers allow {allowed} concurrent streams"),
        None if open < scarce.count && is_connection => format!(
            "only {} of {} connections {}",
            grouped(open),
            grouped(scarce.count),
            match pool.growth {
                Growth::Ahead => "could be opened",
                Growth::AsNeeded => "were open",
            }
        ),
        None => format!("{} busy", all(scarce.count, scarce.noun)),
    };
    // More connections do not help if the others could not be opened. Users that pause share
    // connections, so fewer are open than there are users.
    let is_open = !is_connection || open >= scarce.count;
    let Some((least, ample)) = scarce.wanted().filter(|_| is_open) else {
        return Reason::new(text, &[]);
    };
    let (least, ample) = (rounded_up(least), rounded_up(ample));
    let are = if least == 1 { "is" } else { "are" };
    let what = match figures.held_back.allowed.is_some() {
        true => format!(" {}s", scarce.noun),
        false => String::new(),
    };
    // A user's time is an iteration's, which includes the plan's pauses.
    let at = match (is_connection, &figures.iterations) {
        (false, Some(_)) => "at this iteration time",
        _ => "at this service time",
    };
    text.push_str(&format!(
        "; about {}{what} {are} needed {at}",
        grouped(least)
    ));
    if ample > PORTS {
        text.push_str(", more than the ports of one address allow");
        return Reason::new(text, &[Remedy::LowerRate]);
    }
    Reason::new(text, &[(scarce.remedy)(ample)])
}

/// The users of a closed model who waited for connections, or for streams.
struct Shared {
    users: u64,
    /// The average number of running requests if none waits.
    busy: f64,
}

impl Shared {
    /// `None` if users did not wait, or waited for another reason.
    fn from_figures(pool: &PoolInfo, figures: &Figures, span: Nanos) -> Option<Self> {
        let latency = &figures.latency;
        let users = u64::from(pool.users?);
        let room = f64::from(pool.connections) * streams(pool, figures);
        if pool.model == Model::Open || !latency.waits() || users as f64 <= room {
            return None;
        }
        // The time of all users without their waits, and the share of it in which requests are
        // running.
        let free = users as f64 * span.0 as f64 - latency.waiting.sum() as f64;
        let share = latency.service_time.sum() as f64 / free.max(1.0);
        Some(Self {
            users,
            // Users without other steps are always busy, except at the end of the run. And all
            // connections were busy while any user waited.
            busy: match share >= BUSY_PART {
                true => users as f64,
                false => (users as f64 * share).max(room),
            },
        })
    }

    /// The resource that users waited for, and the number that is needed.
    fn reason(&self, pool: &PoolInfo, figures: &Figures) -> Reason {
        let (users, count) = (self.users, u64::from(pool.connections));
        let carries = streams(pool, figures);
        let connections = if count == 1 {
            "connection"
        } else {
            "connections"
        };
        let (text, what) = match figures.held_back.allowed {
            Some(allowed) => (
                format!("servers allow {allowed} concurrent streams"),
                " connections",
            ),
            None => (
                format!(
                    "{} users shared {} {connections}",
                    grouped(users),
                    grouped(count)
                ),
                "",
            ),
        };
        let most = (users as f64 / carries).ceil();
        let ample = (self.busy + ROOM * self.busy.sqrt()) / carries;
        let (Some(least), Some(ample)) = (whole(self.busy / carries), whole(ample.min(most)))
        else {
            return Reason::new(text, &[]);
        };
        if ample <= count {
            return Reason::new(text, &[]);
        }
        let are = if least == 1 { "is" } else { "are" };
        let text = format!(
            "{text}; about {}{what} {are} needed at this service time",
            grouped(rounded_up(least))
        );
        Reason::new(text, &[Remedy::Connections(rounded_up(ample))])
    }
}

/// The clause for arrivals that the late policy dropped although nothing was scarce: more
/// connections could have been opened and none failed to open, so the next arrival was due before a
/// thread handled the previous one, or before a connection was open.
fn late(pool: &PoolInfo, figures: &Figures, open: u64) -> Option<String> {
    let late = pool.asked.as_ref()?.load.late()?;
    let counts = asked_for(figures);
    let has_room = pool.growth == Growth::AsNeeded && open < u64::from(pool.connections);
    let is_scarce = !has_room || figures.held_back.allowed.is_some() || counts.pending > 0;
    let has_failed = figures.counts.failed > 0;
    if late == LatePolicy::Queue || counts.dropped == 0 || is_scarce || has_failed {
        return None;
    }
    let dropped = grouped(counts.dropped);
    Some(format!(
        "the late policy dropped {dropped}, although more connections could have been opened"
    ))
}

/// An estimate with only as many digits as are significant: two, from a thousand on.
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

/// A number of requests.
fn requests(count: u64) -> String {
    match count {
        1 => "1 request".to_owned(),
        count => format!("{} requests", grouped(count)),
    }
}

/// All of `count` items, as the subject of a clause.
fn all(count: u64, what: &str) -> String {
    match count {
        1 => format!("the only {what} was"),
        2 => format!("both {what}s were"),
        count => format!("all {} {what}s were", grouped(count)),
    }
}
