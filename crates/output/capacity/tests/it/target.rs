//! A simulated target, and a search against it.

use drumfire_capacity::{Act, Answer, Capacity, Observation, Search, Slo, Stage, Tally, Terms};
use drumfire_units::{Nanos, Random};

/// The fraction of an interval before a command takes effect.
const LEAD: f64 = 0.25;

/// The fate of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    pub(crate) end: f64,
    pub(crate) is_ok: bool,
}

impl Fate {
    pub(crate) const fn ok(end: f64) -> Self {
        Self { end, is_ok: true }
    }

    pub(crate) const fn failed(end: f64) -> Self {
        Self { end, is_ok: false }
    }
}

/// A server; its requests come in the order of time.
pub(crate) trait Server {
    fn serve(&mut self, at: f64, random: &mut Random) -> Fate;
}

impl<F: FnMut(f64, &mut Random) -> Fate> Server for F {
    fn serve(&mut self, at: f64, random: &mut Random) -> Fate {
        self(at, random)
    }
}

/// How requests arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Arrivals {
    Poisson,
    Constant,
}

/// A server under load.
pub(crate) struct Target {
    server: Box<dyn Server>,
    arrivals: Arrivals,
    random: Random,
    now: f64,
    last: f64,
    under_way: Vec<(f64, Fate)>,
}

impl Target {
    pub(crate) fn new(server: Box<dyn Server>, arrivals: Arrivals, seed: u64) -> Self {
        Self {
            server,
            arrivals,
            random: Random::from_state(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)),
            now: 0.0,
            last: 0.0,
            under_way: Vec::new(),
        }
    }

    /// Sends requests at a rate until a time; returns their number.
    fn arrive(&mut self, rate: f64, until: f64) -> u64 {
        let mut count = 0;
        // A random gap drawn for the previous rate is discarded.
        let from = match self.arrivals {
            Arrivals::Poisson => self.now,
            Arrivals::Constant => self.last,
        };
        let mut at = (from + self.gap(rate)).max(self.now);
        while at < until {
            let fate = self.server.serve(at, &mut self.random);
            self.under_way.push((at, fate));
            self.last = at;
            at += self.gap(rate);
            count += 1;
        }
        self.now = until;
        count
    }

    fn gap(&mut self, rate: f64) -> f64 {
        match self.arrivals {
            Arrivals::Poisson => self.random.exponential() / rate,
            Arrivals::Constant => 1.0 / rate,
        }
    }

    /// Simulates a second, at whose beginning the rate is still the previous one.
    pub(crate) fn second(&mut self, before: f64, rate: f64, slos: &[Slo]) -> Observation {
        let began = self.now;
        let due = self.arrive(before, began + LEAD) + self.arrive(rate, began + 1.0);
        let now = self.now;
        let mut tallies = vec![Tally::default(); slos.len()];
        let (mut ended, mut times) = (0, Vec::new());
        self.under_way.retain(|(from, fate)| {
            let is_over = fate.end <= now;
            ended += u64::from(is_over);
            if is_over {
                times.push(fate.end - from);
            }
            for (tally, slo) in tallies.iter_mut().zip(slos) {
                add(tally, slo, (*from, *fate), now);
            }
            !is_over
        });
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2);
        Observation {
            median: median.map(|seconds| Nanos((seconds * 1e9) as u64)),
            span: Nanos::from_secs(1),
            rate: LEAD * before + (1.0 - LEAD) * rate,
            due,
            ended,
            outstanding: self.under_way.len() as u64,
            tallies,
            is_sound: true,
        }
    }
}

fn add(tally: &mut Tally, slo: &Slo, (from, fate): (f64, Fate), now: f64) {
    let is_over = fate.end <= now;
    match slo.response.map(Nanos::as_secs_f64) {
        Some(bound) if is_over => {
            let took = fate.end - from;
            tally.of += 1;
            tally.beyond += u64::from(took >= bound);
            tally.near += u64::from(took >= 0.75 * bound);
        }
        Some(bound) => tally.overdue += u64::from(now - from >= bound),
        None if is_over => {
            tally.of += 1;
            tally.beyond += u64::from(!fate.is_ok);
            tally.near += u64::from(!fate.is_ok);
        }
        None => {}
    }
}

/// The course of a search: its answer, and the stage and rate of each second.
pub(crate) struct Ran {
    pub(crate) answer: Answer,
    pub(crate) seconds: Vec<(Stage, f64)>,
}

impl Ran {
    pub(crate) fn found(&self) -> &Capacity {
        match &self.answer {
            Answer::Found(capacity) => capacity,
            other => panic!("nothing was found: {other:?}"),
        }
    }

    /// The rate of a confirmed proof.
    pub(crate) fn ticked(&self) -> Option<f64> {
        match &self.answer {
            Answer::Found(capacity) => {
                let confirmation = capacity.confirmation.as_ref()?;
                confirmation.is_kept.then_some(confirmation.rate)
            }
            Answer::Above(rate) => Some(*rate),
            _ => None,
        }
    }

    /// The longest time above a rate after the bracket, in seconds.
    pub(crate) fn longest_above(&self, rate: f64) -> usize {
        let held = self
            .seconds
            .iter()
            .position(|(stage, _)| *stage == Stage::Hold);
        let behind = &self.seconds[held.unwrap()..];
        let above = behind.split(|(_, asked)| *asked <= rate);
        above.map(<[_]>::len).max().unwrap_or(0)
    }
}

/// Runs a search to its end.
pub(crate) fn run(target: Target, terms: Terms) -> Ran {
    run_until(target, terms, usize::MAX, |_, _| {})
}

/// Runs a search for at most `seconds` seconds; `change` can modify its intervals.
pub(crate) fn run_until(
    mut target: Target,
    terms: Terms,
    most: usize,
    change: impl Fn(usize, &mut Observation),
) -> Ran {
    let slos = terms.slos.clone();
    let latest = terms.latest().as_secs_f64() as usize + 1;
    let (mut before, mut rate) = (terms.from, terms.from);
    let mut search = Search::new(terms);
    let mut seconds = Vec::new();
    while seconds.len() < most {
        assert!(seconds.len() <= latest, "the search takes too long");
        let mut seen = target.second(before, rate, &slos);
        change(seconds.len(), &mut seen);
        seconds.push((search.progress().stage, seen.rate));
        before = rate;
        match search.observe(&seen) {
            Act::Stay => {}
            Act::Rate(next) => rate = next,
            Act::End => break,
        }
    }
    Ran {
        answer: search.answer(),
        seconds,
    }
}
