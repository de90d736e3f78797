//! The remaining plan of a run that ended before its plan did.

use crate::{Law, Load, Plan, PlanParts, Pool, Sequence, Stop, UserSteps};
use drumfire_units::{Nanos, Rate};
use std::fmt;

/// The progress of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolProgress {
    /// The number of requests sent.
    pub requests: u64,
    /// The number of iterations started; without steps, the number of requests.
    pub iterations: u64,
    /// The number of dropped arrivals of a rate; they had numbers as well.
    pub dropped: u64,
}

/// Why a plan cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRest {
    /// Nothing is left.
    Nothing,
    /// One pool has ended and others have not, so the rest would be a different plan.
    Uneven {
        /// The pool's name.
        pool: String,
    },
    /// The rest of a law cannot be written as a law.
    Law {
        /// The pool's name.
        pool: String,
        /// The law's name.
        law: &'static str,
    },
    /// The rest is not a valid plan; contains its flaws.
    Flaws(Vec<String>),
}

impl fmt::Display for NoRest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => {
                f.write_str("the run reached the end of its plan: nothing is left to run")
            }
            Self::Uneven { pool } => write!(
                f,
                "the pool {pool} has ended and others have not; a run can be resumed only with all \
                 of its pools"
            ),
            Self::Law { pool, law } => write!(
                f,
                "the pool {pool} has the law {law}, which can't be resumed in the middle"
            ),
            Self::Flaws(flaws) => {
                write!(f, "the rest of the plan is invalid: {}", flaws.join("; "))
            }
        }
    }
}

impl std::error::Error for NoRest {}

/// The rest of a plan after a run of this length, with this progress of its pools, in order. `part`
/// is the number of the run's next part, which gets other random values.
///
/// # Errors
/// If nothing is left, or the rest cannot be written as a plan.
pub fn rest(plan: Plan, elapsed: Nanos, done: &[PoolProgress], part: u64) -> Result<Plan, NoRest> {
    let PlanParts {
        name: plan_name,
        pools,
        mut generator,
        thresholds,
    } = plan.into_parts();
    let mut rest = Vec::with_capacity(pools.len());
    let mut ended = None;
    let nothing = PoolProgress::default();
    for (index, pool) in pools.into_iter().enumerate() {
        let done = done.get(index).unwrap_or(&nothing);
        let name = pool.name.clone();
        match rest_of(pool, elapsed, *done)? {
            Some(pool) => rest.push(pool),
            None => ended = ended.or(Some(name)),
        }
    }
    match ended {
        Some(_) if rest.is_empty() => return Err(NoRest::Nothing),
        Some(pool) => return Err(NoRest::Uneven { pool }),
        None => {}
    }
    generator.seed = generator.seed.wrapping_add(part);
    let parts = PlanParts {
        name: plan_name,
        pools: rest,
        generator,
        thresholds,
    };
    Plan::new(parts).map_err(|flaws| NoRest::Flaws(flaws.iter().map(ToString::to_string).collect()))
}

/// The rest of a pool; `None` if nothing is left.
///
/// A law starts with an arrival, so its rest must start at an arrival of the whole law. Otherwise,
/// each part of a run would have one more arrival. If the next arrival is less than a second away,
/// this time is skipped; otherwise the rest starts with a silent piece.
fn rest_of(mut pool: Pool, elapsed: Nanos, done: PoolProgress) -> Result<Option<Pool>, NoRest> {
    let until_next = match &pool.load {
        Load::Open { rate, .. } | Load::PerUser { rate, .. } => until_next(rate, elapsed),
        Load::Closed { .. } => Nanos::ZERO,
    };
    let (elapsed, silence) = match until_next < Nanos::from_secs(1) {
        true => (elapsed + until_next, Nanos::ZERO),
        false => (elapsed, until_next),
    };
    let Stop {
        duration,
        requests,
        iterations,
        drain,
    } = pool.stop;
    let round = pool.program.round(pool.requests.len());
    // A list that was left in the middle continues by number of requests.
    let (requests, iterations) = match (requests, iterations) {
        (None, Some(count)) if !pool.program.has_steps() => {
            (Some(count.saturating_mul(round)), None)
        }
        other => other,
    };
    // A rate numbers all its arrivals, and its limit refers to these numbers.
    let passed = match pool.load {
        Load::Open { .. } => done.dropped,
        Load::Closed { .. } | Load::PerUser { .. } => 0,
    };
    let after = |count: u64, begun: u64| count.saturating_sub(begun).saturating_sub(passed);
    let stop = Stop {
        duration: duration.map(|duration| duration - elapsed),
        requests: requests.map(|count| after(count, done.requests)),
        iterations: iterations.map(|count| after(count, done.iterations)),
        drain,
    };
    if stop.duration == Some(Nanos::ZERO) || stop.requests == Some(0) || stop.iterations == Some(0)
    {
        return Ok(None);
    }
    pool.stop = stop;
    pool.begun = done.iterations.saturating_add(passed);
    pool.users = pool.users.map(|users| rest_of_users(&users, elapsed));
    let law = match &mut pool.load {
        Load::Open { rate, .. } | Load::PerUser { rate, .. } => rate,
        Load::Closed { .. } => return Ok(Some(pool)),
    };
    match rest_of_law(law, elapsed + silence) {
        Ok(Some(rest)) => *law = behind(silence, rest),
        Ok(None) => return Ok(None),
        Err(law) => {
            return Err(NoRest::Law {
                pool: pool.name,
                law,
            });
        }
    }
    Ok(Some(pool))
}

/// A law after a time in which nothing is due.
fn behind(silence: Nanos, mut law: Sequence) -> Sequence {
    if silence > Nanos::ZERO {
        let none = Law::Const {
            rate: ratio(0, 1),
            duration: silence,
        };
        law.0.insert(0, none);
    }
    law
}

/// The time until the next arrival of the law's current piece, rounded up, or until the piece's
/// end. Zero if the piece's arrivals have no phase that a rest could lose.
fn until_next(law: &Sequence, elapsed: Nanos) -> Nanos {
    let mut start = Nanos::ZERO;
    for piece in &law.0 {
        let (into, duration) = (elapsed - start, length(piece));
        start += duration;
        if start <= elapsed {
            continue;
        }
        let next = match piece {
            Law::Const { rate, .. } => next_of_constant(*rate, into),
            Law::Line { from, to, .. } => next_of_line(*from, *to, duration, into),
            Law::Step { .. } => return until_next(&constants(piece), into),
            _ => None,
        };
        return next.map_or(Nanos::ZERO, |next| next.min(duration) - into);
    }
    Nanos::ZERO
}

/// The first arrival of a constant rate that is not due before this time.
fn next_of_constant(rate: Rate, into: Nanos) -> Option<Nanos> {
    let (events, per) = (u128::from(rate.events), u128::from(rate.per.0.max(1)));
    let come = (u128::from(into.0) * events).div_ceil(per);
    let next = come.checked_mul(per)?.checked_div(events)?;
    let next = match next * events < come * per {
        true => next + 1,
        false => next,
    };
    u64::try_from(next).ok().map(Nanos)
}

/// The first arrival of a line that is not due before this time. The number of arrivals until t is
/// a·t + (b − a)·t² / 2d.
fn next_of_line(from: Rate, to: Rate, duration: Nanos, into: Nanos) -> Option<Nanos> {
    let per_ns = |rate: Rate| rate.events as f64 / rate.per.0.max(1) as f64;
    let (from, slope) = (
        per_ns(from),
        (per_ns(to) - per_ns(from)) / duration.0.max(1) as f64,
    );
    let arrivals = |at: f64| at.mul_add(from, slope * at * at / 2.0);
    let come = arrivals(into.0 as f64);
    // The arithmetic is off by less than this fraction of an arrival.
    let wanted = (come - (come * 1e-14).max(1e-9)).ceil();
    // This form of the root is also accurate for a slope near 0 (Numerical Recipes, section 5.6).
    let root = wanted.mul_add(2.0 * slope, from * from).max(0.0).sqrt();
    let next = 2.0 * wanted / (from + root);
    next.is_finite()
        .then(|| Nanos(next.ceil() as u64).max(into))
}

/// The number of users from a time on.
fn rest_of_users(users: &UserSteps, elapsed: Nanos) -> UserSteps {
    let now = users.changes().iter().rfind(|(at, _)| *at <= elapsed);
    let now = now.map_or(0, |(_, count)| *count);
    let later = users.changes().iter().filter(|(at, _)| *at > elapsed);
    let later = later.map(|(at, count)| (*at - elapsed, *count));
    let changes = std::iter::once((Nanos::ZERO, now)).chain(later).collect();
    UserSteps::changing(changes).unwrap_or_else(|| UserSteps::constant(now))
}

/// A law from a time on; `None` if it has ended by then. The error is the name of a law that cannot
/// start in its middle.
fn rest_of_law(law: &Sequence, elapsed: Nanos) -> Result<Option<Sequence>, &'static str> {
    let mut rest = Vec::new();
    let mut start = Nanos::ZERO;
    for piece in &law.0 {
        let into = elapsed - start;
        rest.extend(piece_after(piece, into, start >= elapsed)?);
        start += length(piece);
    }
    Ok((!rest.is_empty()).then_some(Sequence(rest)))
}

/// The length of a piece.
fn length(piece: &Law) -> Nanos {
    match piece {
        Law::Const { duration, .. }
        | Law::Line { duration, .. }
        | Law::Unlimited { duration }
        | Law::Sine { duration, .. } => *duration,
        Law::Step {
            from,
            to,
            by,
            duration,
        } => {
            let pieces = steps(*from, *to, *by).len() as u64;
            Nanos(duration.0.saturating_mul(pieces))
        }
        Law::Once { .. } => Nanos::ZERO,
        Law::Trace { times } => times.last().copied().unwrap_or_default(),
        Law::Stairs { steps } => steps
            .iter()
            .fold(Nanos::ZERO, |sum, (_, length)| sum + *length),
    }
}

/// A `step` as its constant rates; any other piece unchanged.
fn constants(piece: &Law) -> Sequence {
    let Law::Step {
        from,
        to,
        by,
        duration,
    } = piece
    else {
        return Sequence(vec![piece.clone()]);
    };
    let rates = steps(*from, *to, *by).into_iter();
    let constant = |rate| Law::Const {
        rate,
        duration: *duration,
    };
    Sequence(rates.map(constant).collect())
}

/// The rates of a `step` in order. They have the same `per`, as the law's text requires.
fn steps(from: Rate, to: Rate, by: Rate) -> Vec<Rate> {
    let common = u128::from(from.per.0) * u128::from(to.per.0) * u128::from(by.per.0);
    let of = |rate: Rate| u128::from(rate.events) * (common / u128::from(rate.per.0));
    let (mut now, end, step) = (of(from), of(to), of(by).max(1));
    let mut rates = Vec::new();
    loop {
        rates.push(ratio(now, common));
        if now == end {
            return rates;
        }
        now = match now < end {
            true if end - now >= step => now + step,
            false if now - end >= step => now - step,
            _ => return rates,
        };
    }
}

/// The rate of `events` in `nanos`: per second if that is a whole number, otherwise in lowest
/// terms; exact if it fits into 64 bits.
fn ratio(events: u128, nanos: u128) -> Rate {
    let second = u128::from(Nanos::from_secs(1).0);
    if let Some(product) = events.checked_mul(second)
        && product.is_multiple_of(nanos.max(1))
        && let Ok(events) = u64::try_from(product / nanos.max(1))
    {
        return Rate {
            events,
            per: Nanos::from_secs(1),
        };
    }
    let (mut a, mut b) = (events, nanos);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    let (mut events, mut nanos) = (events / a.max(1), nanos / a.max(1));
    while u64::try_from(events).is_err() || u64::try_from(nanos).is_err() {
        (events, nanos) = (events / 2, nanos / 2);
    }
    Rate {
        events: events as u64,
        per: Nanos((nanos as u64).max(1)),
    }
}

/// The rest of a piece after a time in it. A piece that has not started is unchanged.
fn piece_after(piece: &Law, into: Nanos, is_ahead: bool) -> Result<Vec<Law>, &'static str> {
    if is_ahead {
        return Ok(vec![piece.clone()]);
    }
    let left = |duration: Nanos| match duration {
        Nanos::MAX => Nanos::MAX,
        duration => duration - into,
    };
    if left(length(piece)) == Nanos::ZERO {
        return Ok(Vec::new());
    }
    Ok(match piece {
        Law::Const { rate, duration } => vec![Law::Const {
            rate: *rate,
            duration: left(*duration),
        }],
        Law::Unlimited { duration } => vec![Law::Unlimited {
            duration: left(*duration),
        }],
        Law::Line { from, to, duration } => vec![Law::Line {
            from: between(*from, *to, into, *duration),
            to: *to,
            duration: left(*duration),
        }],
        Law::Step { .. } => {
            let rest = rest_of_law(&constants(piece), into)?;
            rest.map_or_else(Vec::new, |rest| rest.0)
        }
        Law::Stairs { steps } => vec![Law::Stairs {
            steps: pieces_after(steps.iter().copied(), into).collect(),
        }],
        Law::Trace { times } => vec![Law::Trace {
            times: times
                .iter()
                .filter(|time| **time > into)
                .map(|time| *time - into)
                .collect(),
        }],
        Law::Sine { period, .. } if into.0.is_multiple_of(period.0.max(1)) => {
            let mut whole = piece.clone();
            if let Law::Sine { duration, .. } = &mut whole {
                *duration = left(*duration);
            }
            vec![whole]
        }
        Law::Sine { .. } => return Err("sine"),
        Law::Once { .. } => Vec::new(),
    })
}

/// Consecutive constant rates, from a time on.
fn pieces_after(
    pieces: impl Iterator<Item = (Rate, Nanos)>,
    into: Nanos,
) -> impl Iterator<Item = (Rate, Nanos)> {
    let mut start = Nanos::ZERO;
    pieces.filter_map(move |(rate, duration)| {
        let past = into - start;
        start += duration;
        match duration {
            Nanos::MAX => Some((rate, duration)),
            _ => (duration > past).then(|| (rate, duration - past)),
        }
    })
}

/// The rate of a line at a time in it, rounded down, because a rest with slightly more than a whole
/// number of arrivals would have one more.
fn between(from: Rate, to: Rate, into: Nanos, duration: Nanos) -> Rate {
    // The unit is events per million seconds, so that every product fits.
    const PER: u128 = 1_000_000_000_000_000;
    let of = |rate: Rate| u128::from(rate.events).saturating_mul(PER) / u128::from(rate.per.0);
    let (from, to) = (of(from), of(to));
    let (into, duration) = (u128::from(into.0), u128::from(duration.0.max(1)));
    let now = match from <= to {
        true => from + (to - from).saturating_mul(into) / duration,
        false => from - (from - to).saturating_mul(into).div_ceil(duration),
    };
    ratio(now, PER)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rest of a law's text after this number of seconds, as a text.
    fn rest(law: &str, seconds: u64) -> Result<String, &'static str> {
        let law: Sequence = law.parse().unwrap();
        let rest = rest_of_law(&law, Nanos::from_secs(seconds))?;
        Ok(rest.map_or_else(|| "nothing".to_owned(), |law| law.to_string()))
    }

    #[test]
    fn a_law_goes_on_where_it_was() {
        for (law, seconds, expected) in [
            ("500/s", 30, "500/s"),
            ("const(500,60s)", 30, "const(500/s,30s)"),
            ("const(500,60s)", 60, "nothing"),
            ("const(500,60s)", 90, "nothing"),
            ("const(5,60s) const(7,1m)", 70, "const(7/s,50s)"),
            ("const(5,60s) const(7,1m)", 60, "const(7/s,1m)"),
            ("line(0,100,100s)", 25, "line(25/s,100/s,75s)"),
            (
                "line(100,0,100s) const(9,1m)",
                25,
                "line(75/s,0/s,75s) const(9/s,1m)",
            ),
            ("step(10,30,10,20s)", 30, "const(20/s,10s) const(30/s,20s)"),
            ("once(5) const(2,10s)", 0, "once(5) const(2/s,10s)"),
            ("once(5) const(2,10s)", 4, "const(2/s,6s)"),
        ] {
            let expected: Result<Sequence, _> = match expected {
                "nothing" => {
                    assert_eq!(rest(law, seconds), Ok("nothing".to_owned()), "{law}");
                    continue;
                }
                text => text.parse(),
            };
            let expected = expected.unwrap().to_string();
            assert_eq!(rest(law, seconds), Ok(expected), "{law} after {seconds} s");
        }
        assert_eq!(rest("sine(10,5,60s,10m)", 61), Err("sine"));
        assert!(rest("sine(10,5,60s,10m)", 120).is_ok());
    }

    #[test]
    fn a_rest_begins_at_an_arrival_of_the_whole() {
        for (law, at, expected) in [
            ("const(100,4s)", 1_103_400_000, 6_600_000),
            ("const(100,4s)", 1_100_000_000, 0),
            ("const(3,4s)", 1_000_000_001, 333_333_333),
            // The next arrival would be after the end.
            ("const(3,1100ms) const(5,1s)", 1_000_000_001, 99_999_999),
            ("const(5,1s) const(3/m,1m)", 2_000_000_000, 19_000_000_000),
            ("step(10,30,10,250ms)", 350_000_000, 0),
            ("step(10,30,10,250ms)", 351_000_000, 49_000_000),
            ("line(0,100,2s)", 1_000_000_000, 0),
            ("line(0,100,2s)", 1_000_000_001, 19_803_902),
            ("const(0,4s)", 1_000_000_001, 0),
            ("unlimited(4s)", 1_000_000_001, 0),
        ] {
            let law: Sequence = law.parse().unwrap();
            assert_eq!(
                until_next(&law, Nanos(at)),
                Nanos(expected),
                "{law} at {at}"
            );
        }
    }

    #[test]
    fn users_go_on_as_many_as_they_were() {
        let secs = Nanos::from_secs;
        let users = UserSteps::changing(vec![(secs(0), 1), (secs(10), 5), (secs(20), 9)]).unwrap();
        let rest = rest_of_users(&users, secs(15));
        assert_eq!(rest.changes(), [(secs(0), 5), (secs(5), 9)]);
        let rest = rest_of_users(&users, secs(20));
        assert_eq!(rest.changes(), [(secs(0), 9)]);
    }
}
