//! Simulated searches of `drumfire capacity`: the error of its answers, and how often its intervals
//! contain the true value.
//!
//! The search is the program's. The target is a single-server queue (M/G/1) with Poisson arrivals
//! and a mean service time of 1 ms, and the objective is `p99<50ms`. For comparison, the table has
//! bisection with steps from an empty queue. The true value is exact for exponential service, and
//! simulated otherwise.

use clap::Parser;
use drumfire_capacity::{Act, Answer, Observation, Search, Slo, Stage, Tally, Terms};
use drumfire_plan::Random;
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::io::{Result, Write};

/// Simulate searches of `drumfire capacity`, and print their errors
#[derive(Debug, Parser)]
struct Flags {
    /// Searches of each row
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// Requests of the simulation that finds the true value
    #[arg(long, default_value_t = 20_000_000)]
    requests: u64,
}

/// The bound of the objective, in seconds, and the allowed share beyond.
const BOUND: f64 = 0.05;
const SHARE: f64 = 0.01;
/// The mean service time, in seconds.
const SERVICE: f64 = 0.001;
/// The time from the beginning of an interval until a command takes effect, in seconds.
const LEAD: f64 = 0.25;
/// The maximum relative error of a near answer.
const NEAR: f64 = 0.03;
/// The multiple of the capacity that counts as too much, and the maximum seconds above it.
const TOO_MUCH: f64 = 1.2;
const TOO_LONG: u32 = 5;

/// The law of service times.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Exponential,
    Fixed,
    /// Lognormal, with this deviation as a fraction of the mean.
    Lognormal(f64),
}

impl Law {
    fn name(self) -> String {
        match self {
            Self::Exponential => "M/M/1".to_owned(),
            Self::Fixed => "M/D/1".to_owned(),
            Self::Lognormal(part) => format!("lognormal, cv {part}"),
        }
    }

    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Exponential => SERVICE * random.exponential(),
            Self::Fixed => SERVICE,
            Self::Lognormal(part) => {
                let square = (1.0 + part * part).ln();
                SERVICE * (square.sqrt() * random.normal() - square / 2.0).exp()
            }
        }
    }

    /// The rate at which the allowed share is beyond the bound in equilibrium, per second.
    fn capacity(self, requests: u64) -> f64 {
        if self == Self::Exponential {
            // P(response > t) = exp(−(µ − λ) · t)
            return 1.0 / SERVICE - (1.0 / SHARE).ln() / BOUND;
        }
        let (mut low, mut high) = (0.3 / SERVICE, 1.0 / SERVICE);
        for _ in 0..12 {
            let middle = f64::midpoint(low, high);
            match self.share(middle, requests) < SHARE {
                true => low = middle,
                false => high = middle,
            }
        }
        f64::midpoint(low, high)
    }

    /// The share beyond the bound at a rate, by Lindley's recursion.
    fn share(self, rate: f64, requests: u64) -> f64 {
        let mut random = Random::new(77, 0, 0, 0);
        let (mut waits, mut beyond) = (0.0_f64, 0_u64);
        for _ in 0..requests {
            let response = waits + self.draw(&mut random);
            beyond += u64::from(response > BOUND);
            waits = (response - random.exponential() / rate).max(0.0);
        }
        beyond as f64 / requests as f64
    }
}

/// A single-server queue.
struct Queue {
    law: Law,
    random: Random,
    now: f64,
    free_at: f64,
    /// The arrivals and ends of the requests in the queue.
    under_way: VecDeque<(f64, f64)>,
}

impl Queue {
    fn new(law: Law, seed: u64) -> Self {
        Self {
            law,
            random: Random::new(seed, 1, 0, 0),
            now: 0.0,
            free_at: 0.0,
            under_way: VecDeque::new(),
        }
    }

    fn arrive(&mut self, rate: f64, until: f64) -> u64 {
        let before = self.under_way.len();
        let mut at = self.now + self.random.exponential() / rate;
        while at < until {
            self.free_at = self.free_at.max(at) + self.law.draw(&mut self.random);
            self.under_way.push_back((at, self.free_at));
            at += self.random.exponential() / rate;
        }
        self.now = until;
        (self.under_way.len() - before) as u64
    }

    /// Simulates a second; the rate changes when a command takes effect.
    fn second(&mut self, before: f64, rate: f64) -> Observation {
        let began = self.now;
        let due = self.arrive(before, began + LEAD) + self.arrive(rate, began + 1.0);
        let mut times = Vec::new();
        let mut tally = Tally::default();
        while let Some((from, end)) = self.under_way.front().copied()
            && end <= self.now
        {
            self.under_way.pop_front();
            tally.of += 1;
            times.push(end - from);
            tally.beyond += u64::from(end - from > BOUND);
            tally.near += u64::from(end - from > 0.75 * BOUND);
        }
        let overdue = self
            .under_way
            .iter()
            .filter(|(from, _)| self.now - from > BOUND);
        tally.overdue = overdue.count() as u64;
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2);
        Observation {
            span: Nanos::from_secs(1),
            rate: LEAD * before + (1.0 - LEAD) * rate,
            due,
            ended: tally.of,
            median: median.map(|seconds| Nanos((seconds * 1e9) as u64)),
            outstanding: self.under_way.len() as u64,
            tallies: vec![tally],
            is_sound: true,
        }
    }
}

/// The result of a search.
struct Found {
    rate: f64,
    low: f64,
    high: f64,
    is_confirmed: bool,
    seconds: u32,
    /// The longest time far above the capacity, after the bracket.
    too_much: u32,
}

fn search(law: Law, seed: u64, truth: f64, hold: u64) -> Option<Found> {
    let terms = Terms {
        slos: vec![Slo {
            share: SHARE,
            response: Some(Nanos((BOUND * 1e9) as u64)),
        }],
        from: 10.0,
        most: 1e6,
        step: Nanos::from_secs(3),
        hold: Nanos::from_secs(hold),
        confirm: Nanos::from_secs(60),
    };
    let mut search = Search::new(terms);
    let mut queue = Queue::new(law, seed);
    let (mut before, mut rate) = (10.0, 10.0);
    let (mut seconds, mut above, mut too_much, mut is_held) = (0, 0, 0, false);
    loop {
        let seen = queue.second(before, rate);
        seconds += 1;
        is_held |= search.progress().stage == Stage::Hold;
        above = match is_held && seen.rate > TOO_MUCH * truth {
            true => above + 1,
            false => 0,
        };
        too_much = u32::max(too_much, above);
        before = rate;
        match search.observe(&seen) {
            Act::Stay => {}
            Act::Rate(next) => rate = next,
            Act::End => break,
        }
    }
    let Answer::Found(capacity) = search.answer() else {
        return None;
    };
    Some(Found {
        rate: capacity.rate,
        low: capacity.low,
        high: capacity.high,
        is_confirmed: capacity.confirmation.is_some_and(|it| it.is_kept),
        seconds,
        too_much,
    })
}

/// Bisection: 18 steps of 10 s, each from an empty queue.
fn bisection(law: Law, seed: u64) -> f64 {
    let (mut low, mut high) = (0.3 / SERVICE, 1.0 / SERVICE);
    for step in 0..18 {
        let rate = f64::midpoint(low, high);
        let mut queue = Queue::new(law, seed * 100 + step);
        let (mut beyond, mut of) = (0, 0);
        for _ in 0..10 {
            let tally = queue.second(rate, rate).tallies[0];
            (beyond, of) = (beyond + tally.beyond, of + tally.of);
        }
        match (beyond as f64) < SHARE * of as f64 {
            true => low = rate,
            false => high = rate,
        }
    }
    f64::midpoint(low, high)
}

fn main() -> Result<()> {
    let flags = Flags::parse();
    let mut out = std::io::stdout();
    writeln!(
        out,
        "| queue | capacity | hold | searches | bias | within 3 % | interval covers | half of it (median) | \
         above 1.2 × for > 5 s | confirmed | took | bisection, 180 s: bias, within 3 % |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|"
    )?;
    let laws = [
        Law::Exponential,
        Law::Fixed,
        Law::Lognormal(1.0),
        Law::Lognormal(2.0),
    ];
    for law in laws {
        let truth = law.capacity(flags.requests);
        for hold in [180, 600] {
            print(law, truth, hold, &flags, &mut out)?;
        }
    }
    Ok(())
}

fn print(law: Law, truth: f64, hold: u64, flags: &Flags, out: &mut impl Write) -> Result<()> {
    let seeds = || flags.first..flags.first + flags.seeds;
    let found: Vec<Found> = seeds()
        .filter_map(|seed| search(law, seed, truth, hold))
        .collect();
    let all = flags.seeds as f64;
    let share = |of: &dyn Fn(&Found) -> bool| {
        100.0 * found.iter().filter(|found| of(found)).count() as f64 / all
    };
    let mean =
        |of: &dyn Fn(&Found) -> f64| found.iter().map(of).sum::<f64>() / found.len().max(1) as f64;
    // With few bursts, a few searches have very wide intervals, which would dominate a mean.
    let halves = found
        .iter()
        .map(|found| (found.high - found.low) / 2.0 / found.rate);
    let mut halves: Vec<f64> = halves.collect();
    halves.sort_by(f64::total_cmp);
    let half = halves.get(halves.len() / 2).copied().unwrap_or_default();
    let bisected: Vec<f64> = seeds()
        .map(|seed| bisection(law, seed) / truth - 1.0)
        .collect();
    let bias = bisected.iter().sum::<f64>() / all;
    let near = bisected.iter().filter(|error| error.abs() <= NEAR).count() as f64 / all;
    writeln!(
        out,
        "| {} | {truth:.1}/s | {hold} s | {} | {:+.2} % | **{:.0} %** | **{:.0} %** | ±{:.1} % | {:.0} % | {:.0} % | \
         {:.0} s | {:+.1} %, {:.0} % |",
        law.name(),
        found.len(),
        100.0 * (mean(&|found| found.rate) / truth - 1.0),
        share(&|found| (found.rate / truth - 1.0).abs() <= NEAR),
        share(&|found| found.low <= truth && truth <= found.high),
        100.0 * half,
        share(&|found| found.too_much > TOO_LONG),
        share(&|found| found.is_confirmed),
        mean(&|found| f64::from(found.seconds)),
        100.0 * bias,
        100.0 * near,
    )?;
    out.flush()
}
