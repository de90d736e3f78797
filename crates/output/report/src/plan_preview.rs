//! The preview of a plan before its run, which `drumfire check` prints: its pools with their load over
//! time, and the placement on this machine.
//!
//! Everything is computed from the plan and the schedule. Except for random arrivals, the numbers of
//! requests are exact. `None` means that a number depends on the target: a closed load has as many
//! requests as are answered. Such a number is left out, and so is a drawing without a known end.
//!
//! Names, hosts and steps come from a file that may be anyone's; each is escaped where its line is
//! made.

mod chart;
mod here;
mod rules;

use self::chart::{AXIS, Chart};
use crate::line::{Ink, Line, flow, wrap};
use crate::page::{Explain, Page};
use crate::quantity::{count, counted, enumerated, rate, span};
use crate::request_order;
use crate::style::Style;
use crate::untrusted::Untrusted;
use drumfire_placement::{Placement, Unfit};
use drumfire_plan::{
    Arrivals, ClockChoice, Growth, Law, Load, Plan, Pool, Sequence, Threads, UserSteps, WaitChoice,
    Warmup, secret,
};
use drumfire_schedule::{Schedule, ScheduleError};
use drumfire_units::Nanos;
use std::fmt;

/// The maximum width of a drawing.
const COLUMNS_MAX: usize = 72;
/// The maximum number of times at which users arrive in a drawing: each column adds up all of them.
const COME_DRAWN: usize = 10_000;
/// The maximum number of listed targets.
const TARGETS_NAMED: usize = 3;

/// The plan in words and drawings, then the placement on this machine, or the reasons why the plan
/// can't be run here. `name` is the name of the plan's file. Nothing is resolved, connected or sent.
///
/// # Errors
/// If the schedule can't be computed.
pub fn plan_preview(
    plan: &Plan,
    placed: &Result<Placement, Vec<Unfit>>,
    name: &str,
    style: &Style,
) -> Result<String, ScheduleError> {
    let pools = plan.pools().iter().map(Preview::for_pool);
    let pools: Vec<Preview<'_>> = pools.collect::<Result<_, _>>()?;
    let mut page = Page::new(style, Explain::No);
    let name = Untrusted::new(name).escaped(style.unicode);
    let verdict = Line::single(format!("{name} is valid"), Ink::Good);
    let facts = facts(plan, &pools, style).into_iter().map(Line::plain);
    let items = std::iter::once(verdict).chain(facts).collect();
    page.lines(flow(items, style.glyph(" · ", ", "), style.width()));
    let starts = pools.iter().map(|pool| rules::Starts {
        count: pool.starts,
        within: pool.end,
    });
    let starts: Vec<_> = starts.collect();
    for sentence in rules::without_samples(plan, &starts)
        .into_iter()
        .chain(plan.notes())
    {
        let sentence = Untrusted::new(&sentence).escaped(style.unicode);
        let rows = wrap(&sentence, style.width());
        page.lines(rows.into_iter().map(|row| Line::single(row, Ink::Warn)));
    }
    for pool in &pools {
        page.gap();
        pool.print(&mut page);
    }
    page.gap();
    here::print(placed, &mut page);
    Ok(page.finish())
}

/// The facts of the whole run. The length is the one of the pool that ends last, and is left out if
/// any pool has no known end. Defaults have no words.
fn facts(plan: &Plan, pools: &[Preview<'_>], style: &Style) -> Vec<String> {
    let mut facts = vec![counted(pools.len() as u64, "pool")];
    let ends: Option<Vec<Nanos>> = pools.iter().map(|pool| pool.end).collect();
    let longest = ends.and_then(|ends| ends.into_iter().max());
    facts.extend(longest.map(|end| span(end, style.unicode)));
    let generator = plan.generator();
    facts.push(match generator.threads {
        Threads::AsMany => "one thread per core".to_owned(),
        Threads::Exactly(count) => counted(u64::from(count), "thread"),
    });
    match generator.warmup {
        Warmup::Span(Nanos::ZERO) => {}
        Warmup::Span(warmup) => {
            let warmup = span(warmup, style.unicode);
            facts.push(format!("warm-up {warmup}"));
        }
        Warmup::Auto => facts.push("warm-up until latencies settle".to_owned()),
    }
    match generator.wait {
        WaitChoice::Sleep | WaitChoice::Adaptive => {}
        WaitChoice::Spin => facts.push("busy-waiting".to_owned()),
    }
    match generator.clock {
        ClockChoice::Program => {}
        ClockChoice::Receive => facts.push("timed by kernel timestamps".to_owned()),
        ClockChoice::Wire => facts.push("timed on the wire, by kernel timestamps".to_owned()),
    }
    if !plan.thresholds().is_empty() {
        facts.push(counted(plan.thresholds().len() as u64, "threshold"));
    }
    facts
}

/// A pool, with the end and the amount of its load.
struct Preview<'a> {
    pool: &'a Pool,
    /// The law of an open load with constant arrivals. Random arrivals have the same expected number.
    schedule: Option<Schedule>,
    /// The time after which nothing starts, if it is known.
    end: Option<Nanos>,
    /// The number of requests, or iterations of a scenario, that start, if it is known.
    starts: Option<u64>,
}

impl<'a> Preview<'a> {
    /// The preview of a pool. A closed load has no schedule. Users with rates have the schedule of
    /// one user, which begins when a user arrives.
    ///
    /// # Errors
    /// If the schedule of the law can't be computed.
    fn for_pool(pool: &'a Pool) -> Result<Self, ScheduleError> {
        let most = pool.starts_most();
        let law = match &pool.load {
            Load::Open { rate, .. } => rate,
            Load::Closed { .. } => {
                return Ok(Self {
                    pool,
                    schedule: None,
                    end: pool.stop.duration,
                    starts: most,
                });
            }
            Load::PerUser { rate, users, .. } => {
                let schedule = Schedule::new(rate, Arrivals::Constant, 0)?;
                let users = pool.users_over_time(*users);
                let Ends { end, starts } = Ends::of_each(&users, &schedule, pool, most);
                return Ok(Self {
                    pool,
                    schedule: Some(schedule),
                    end,
                    starts,
                });
            }
        };
        let schedule = Schedule::new(law, Arrivals::Constant, 0)?;
        let Ends { end, starts } = Ends::compute(law, &schedule, pool.stop.duration, most);
        Ok(Self {
            pool,
            schedule: Some(schedule),
            end,
            starts,
        })
    }

    /// Prints the pool: its load, connections and requests, then the drawing.
    fn print(&self, page: &mut Page<'_>) {
        let style = page.style;
        let separator = style.glyph(" · ", ", ");
        let name = Untrusted::new(&self.pool.name).escaped(style.unicode);
        let facts = [self.load(style), self.carriers(style), self.requests(style)];
        let rows = facts.into_iter().flat_map(|facts| {
            let facts = facts.into_iter().map(Line::plain).collect();
            flow(facts, separator, page.block_room())
        });
        let rows: Vec<Line> = rows.collect();
        page.block(Line::single(name, Ink::Bold), rows);
        page.lines(self.drawing(style));
    }

    /// The load: its law, the number of requests that become due, and its length. The expected number
    /// of random arrivals is "about". A closed load reaches its count "within" its time.
    fn load(&self, style: &Style) -> Vec<String> {
        let noun = match self.pool.program.has_steps() {
            true => "iteration",
            false => "request",
        };
        let mut facts = Vec::new();
        let mut about = "";
        match &self.pool.load {
            Load::Open { rate, arrivals, .. } => {
                facts.push(format!("open model: {}", Rates::from_sequence(rate)));
                match arrivals {
                    Arrivals::Constant => {}
                    Arrivals::Poisson => facts.push("random arrivals".to_owned()),
                    Arrivals::Gamma(shape) => {
                        facts.push(format!("gamma arrivals of shape {shape}"))
                    }
                }
                if *arrivals != Arrivals::Constant {
                    about = "about ";
                }
            }
            Load::PerUser { users, rate, .. } => {
                let (law, users) = (Rates::from_sequence(rate), self.users(*users));
                facts.push(format!("open model: {law} for each of {users}"));
            }
            Load::Closed { users, think, pace } => {
                facts.push(format!("closed model: {}", self.users(*users)));
                match think.fixed() {
                    Some(Nanos::ZERO) => {}
                    Some(time) => facts.push(format!("think time {}", span(time, style.unicode))),
                    None => facts.push(format!("think time {think}")),
                }
                if *pace > Nanos::ZERO {
                    facts.push(format!("pace {}", span(*pace, style.unicode)));
                }
            }
        }
        facts.push(match self.starts {
            Some(starts) => format!("{about}{} intended", counted(starts, noun)),
            None => format!("as many {noun}s as the target answers"),
        });
        let within = match (&self.pool.load, self.starts) {
            (Load::Closed { .. }, Some(_)) => "within",
            _ => "in",
        };
        let end = self.end.map(|end| span(end, style.unicode));
        facts.extend(end.map(|end| format!("{within} {end}")));
        facts
    }

    /// The users of a load, as a range if their number changes.
    fn users(&self, most: u32) -> String {
        let changes = self
            .pool
            .users
            .as_ref()
            .map(UserSteps::changes)
            .unwrap_or_default();
        match changes.iter().map(|(_, count)| *count).min() {
            Some(least) if least < most => {
                let least = count(u64::from(least));
                format!("{least} to {} users", count(u64::from(most)))
            }
            _ => counted(u64::from(most), "user"),
        }
    }

    /// The connections of the plan, and the timeout, which bounds how long a request holds one. The
    /// bound of this machine is printed below, and may be lower.
    fn carriers(&self, style: &Style) -> Vec<String> {
        let connections = &self.pool.connections;
        let number = counted(u64::from(connections.count), "connection");
        let mut facts = vec![match connections.growth {
            Growth::Ahead => number,
            Growth::AsNeeded => format!("up to {number}, opened as needed"),
        }];
        if connections.streams > 1 {
            let streams = count(u64::from(connections.streams));
            facts.push(format!("{streams} concurrent requests on each"));
        }
        if let (Some(users), Load::Open { .. }) = (&self.pool.users, &self.pool.load) {
            facts.push(counted(u64::from(users.most()), "user"));
        }
        let timeout = self.pool.timeouts.total;
        if timeout > Nanos::ZERO && timeout < Nanos::MAX {
            facts.push(format!("timeout {}", span(timeout, style.unicode)));
        }
        facts
    }

    /// The requests and their first targets. The search ends with the first target that is not
    /// listed, since a plan may have a million requests.
    fn requests(&self, style: &Style) -> Vec<String> {
        let pool = self.pool;
        let number = counted(pool.requests.len() as u64, "request");
        let mut facts = vec![match pool.program.has_steps() {
            true => format!("a scenario with {number}"),
            false if pool.requests.len() > 1 => {
                format!("{number} {}", request_order::words(&pool.program))
            }
            false => number,
        }];
        let mut targets: Vec<String> = Vec::new();
        for request in &pool.requests {
            let target = request.url.origin.to_string();
            if !targets.contains(&target) {
                targets.push(target);
            }
            if targets.len() > TARGETS_NAMED {
                break;
            }
        }
        let more = targets.len() > TARGETS_NAMED;
        targets.truncate(TARGETS_NAMED);
        if more {
            targets.push("others".to_owned());
        }
        let named = secret::url(&enumerated(&targets));
        facts.push(format!(
            "to {}",
            Untrusted::new(&named).escaped(style.unicode)
        ));
        facts
    }

    /// The load over time; nothing if the end is unknown. Each column is an equal part of the time,
    /// and has the rate in its middle. Users who arrive at very many times are not drawn, since each
    /// column is a pass over all of them.
    fn drawing(&self, style: &Style) -> Vec<Line> {
        let is_bound = self.schedule.is_none() && self.starts.is_some();
        let Some(end) = self.end.filter(|end| *end > Nanos::ZERO && !is_bound) else {
            return Vec::new();
        };
        let columns = style.width().saturating_sub(AXIS + 3).min(COLUMNS_MAX);
        let edge =
            |column: usize| Nanos((u128::from(end.0) * column as u128 / columns as u128) as u64);
        let ranges = (0..columns).map(|column| (edge(column), edge(column + 1)));
        match (&self.schedule, &self.pool.load) {
            (Some(schedule), Load::Open { rate: law, .. }) => {
                let values: Vec<f64> = ranges.map(|(a, b)| rate_between(schedule, a, b)).collect();
                let chart = Chart {
                    top: Rates::from_sequence(law).most.unwrap_or(0.0),
                    unit: rate,
                    end,
                };
                chart.lines(&values, style)
            }
            (
                Some(schedule),
                Load::PerUser {
                    rate: law, users, ..
                },
            ) => {
                let users = self.pool.users_over_time(*users);
                let Some(come) = arrivals_of(&users).filter(|come| come.len() <= COME_DRAWN) else {
                    return Vec::new();
                };
                let between = |(from, to)| {
                    let each = come.iter().filter(|(at, _)| *at < to);
                    let rates = each.map(|(at, count)| {
                        f64::from(*count) * rate_between(schedule, from - *at, to - *at)
                    });
                    rates.sum::<f64>()
                };
                let chart = Chart {
                    top: Rates::from_sequence(law).most.unwrap_or(0.0),
                    unit: rate,
                    end,
                };
                chart.lines(&ranges.map(between).collect::<Vec<f64>>(), style)
            }
            (_, Load::Closed { users, .. }) => {
                let users = self.pool.users_over_time(*users);
                let at = |time| f64::from(users_at(&users, time));
                let values: Vec<f64> = ranges.map(|(from, _)| at(from)).collect();
                let chart = Chart {
                    top: f64::from(users.most()),
                    unit: |users| count(users.round() as u64),
                    end,
                };
                chart.lines(&values, style)
            }
            (None, Load::Open { .. } | Load::PerUser { .. }) => Vec::new(),
        }
    }
}

/// The end of an open load, and the number of arrivals until then, if they are known. The load ends
/// with the first of three bounds: the plan's time, the length of the law, and a count.
struct Ends {
    end: Option<Nanos>,
    starts: Option<u64>,
}

impl Ends {
    /// The end of a load with one law for the whole pool. A law without a rate has no number of
    /// arrivals.
    fn compute(
        law: &Sequence,
        schedule: &Schedule,
        limit: Option<Nanos>,
        most: Option<u64>,
    ) -> Self {
        let end = limit.into_iter().chain(schedule.duration()).min();
        if law.0.iter().any(|law| matches!(law, Law::Unlimited { .. })) {
            return Self { end, starts: most };
        }
        let within = match (limit, schedule.total()) {
            (None, total) => total,
            (Some(limit), _) => Some(schedule.count_before(limit)),
        };
        Self::bound(end, within, most, |last| schedule.start_of(last))
    }

    /// The end of a load in which each user follows the law from the user's arrival on.
    fn of_each(users: &UserSteps, schedule: &Schedule, pool: &Pool, most: Option<u64>) -> Self {
        let limit = pool.stop.duration;
        let last = users.changes().last().map(|(at, _)| *at);
        let over = last.zip(schedule.duration()).map(|(at, law)| at + law);
        let end = limit.into_iter().chain(over).min();
        let arrivals = arrivals_of(users).unwrap_or_default();
        let each = arrivals.iter().map(|(at, come)| {
            let count = match limit {
                Some(limit) => Some(schedule.count_before(limit - *at)),
                None => schedule.total(),
            };
            Some(count?.saturating_mul(u64::from(*come)))
        });
        let within: Option<Vec<u64>> = each.collect();
        let within = within.filter(|each| !each.is_empty());
        let within = within.map(|each| each.into_iter().fold(0, u64::saturating_add));
        Self::bound(end, within, most, |_| None)
    }

    /// The bound that is met first: the arrivals within the end, or the count `most`, whose last
    /// arrival is due at the time that `due` returns.
    fn bound(
        end: Option<Nanos>,
        within: Option<u64>,
        most: Option<u64>,
        due: impl Fn(u64) -> Option<Nanos>,
    ) -> Self {
        match (within, most) {
            (within, Some(most)) if within.is_none_or(|within| most <= within) => Self {
                end: most.checked_sub(1).and_then(due).or(end),
                starts: Some(most),
            },
            (within, _) => Self {
                end,
                starts: within,
            },
        }
    }
}

/// The lowest and the highest rate of a law, and its pieces without a rate.
#[derive(Default)]
struct Rates {
    least: Option<f64>,
    most: Option<f64>,
    /// Descriptions of pieces without a rate.
    others: Vec<String>,
}

impl Rates {
    /// The rates of a law. A line or a step is between its ends, and a sine between its extremes.
    /// Equal pieces without a rate are described once.
    fn from_sequence(law: &Sequence) -> Self {
        let mut rates = Self::default();
        for law in &law.0 {
            match law {
                Law::Const { rate, .. } => rates.widen(&[rate.as_per_second()]),
                Law::Line { from, to, .. } | Law::Step { from, to, .. } => {
                    rates.widen(&[from.as_per_second(), to.as_per_second()]);
                }
                Law::Sine {
                    mean, amplitude, ..
                } => {
                    let (mean, amplitude) = (mean.as_per_second(), amplitude.as_per_second());
                    rates.widen(&[mean - amplitude, mean + amplitude]);
                }
                Law::Stairs { steps } => {
                    let steps: Vec<f64> = steps.iter().map(|(r, _)| r.as_per_second()).collect();
                    rates.widen(&steps);
                }
                Law::Once { count: n } => rates.others.push(format!("{} at once", count(*n))),
                Law::Unlimited { .. } => {
                    rates
                        .others
                        .push("as fast as the target answers".to_owned());
                }
                Law::Trace { .. } => rates.others.push("the times of a trace".to_owned()),
            }
        }
        rates.others.dedup();
        rates
    }

    /// Widens the range to these rates.
    fn widen(&mut self, values: &[f64]) {
        for value in values {
            self.least = Some(self.least.map_or(*value, |least| least.min(*value)));
            self.most = Some(self.most.map_or(*value, |most| most.max(*value)));
        }
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_rates = match (self.least, self.most) {
            (Some(least), Some(most)) if least < most => {
                Some(format!("{} to {}", rate(least), rate(most)))
            }
            (_, most) => most.map(rate),
        };
        let all: Vec<String> = of_rates.into_iter().chain(self.others.clone()).collect();
        f.write_str(&enumerated(&all))
    }
}

/// The rate in the middle of a span, or the mean over it where many arrivals fall on one time.
fn rate_between(schedule: &Schedule, from: Nanos, to: Nanos) -> f64 {
    let seconds = (to.0 - from.0) as f64 / 1e9;
    let middle = schedule.rate_at(Nanos(from.0 + (to.0 - from.0) / 2));
    let counted = schedule.count_before(to) - schedule.count_before(from);
    // By the place of the span, a constant rate gives at most one more.
    match middle.is_finite() && counted as f64 > middle * seconds + 1.5 {
        true => counted as f64 / seconds,
        false => middle,
    }
}

/// The times at which users arrive, with the number at each; `None` if users leave, too.
fn arrivals_of(users: &UserSteps) -> Option<Vec<(Nanos, u32)>> {
    let mut present = 0;
    let come = users.changes().iter().map(|(at, count)| {
        let come = count.checked_sub(present)?;
        present = *count;
        Some((*at, come))
    });
    come.collect()
}

/// The number of users at a time.
fn users_at(users: &UserSteps, at: Nanos) -> u32 {
    let after = users.changes().partition_point(|(from, _)| *from <= at);
    users.changes()[..after]
        .last()
        .map_or(0, |(_, count)| *count)
}
