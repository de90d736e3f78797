//! Searches against simulated queues, in virtual time: a second is an interval.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use drumfire_capacity::{Act, Answer, Capacity, Observation, Search, Slo, Stage, Tally, Terms};
use drumfire_units::{Nanos, Random};
use std::collections::VecDeque;

/// The bound of response times, in seconds.
const BOUND: f64 = 0.05;
/// The part of an interval for which a command is on its way.
const LEAD: f64 = 0.25;

/// A server with one place and a queue before it; requests arrive by a Poisson process.
struct Queue {
    /// The service time, as a function of randomness, in seconds.
    service: fn(&mut Random) -> f64,
    /// The share of requests that fail at a rate.
    failed: fn(f64) -> f64,
    /// From when on the service takes longer, and by which factor.
    slower: Option<(f64, f64)>,
    random: Random,
    now: f64,
    free_at: f64,
    /// Arrivals and ends of the requests under way.
    under_way: VecDeque<(f64, f64)>,
}

impl Queue {
    fn new(service: fn(&mut Random) -> f64, seed: u64) -> Self {
        Self {
            service,
            failed: |_| 0.0,
            slower: None,
            random: Random::of(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)),
            now: 0.0,
            free_at: 0.0,
            under_way: VecDeque::new(),
        }
    }

    fn arrive(&mut self, rate: f64, until: f64) {
        let mut at = self.now + self.random.exponential() / rate;
        while at < until {
            let slower = self.slower.filter(|(from, _)| at >= *from);
            let factor = slower.map_or(1.0, |(_, factor)| factor);
            let took = (self.service)(&mut self.random) * factor;
            self.free_at = self.free_at.max(at) + took;
            self.under_way.push_back((at, self.free_at));
            at += self.random.exponential() / rate;
        }
        self.now = until;
    }

    /// A second, at whose beginning the rate is still the one before.
    fn second(&mut self, before: f64, rate: f64) -> Observation {
        let began = self.now;
        self.arrive(before, began + LEAD);
        self.arrive(rate, began + 1.0);
        let mut times = Tally::default();
        while let Some((from, end)) = self.under_way.front().copied() {
            if end > self.now {
                break;
            }
            self.under_way.pop_front();
            times.of += 1;
            times.beyond += u64::from(end - from >= BOUND);
            times.near += u64::from(end - from >= 0.75 * BOUND);
        }
        let failed = ((self.failed)(rate) * times.of as f64).round() as u64;
        Observation {
            span: Nanos::from_secs(1),
            rate: LEAD * before + (1.0 - LEAD) * rate,
            ended: times.of,
            outstanding: self.under_way.len() as u64,
            tallies: vec![
                times,
                Tally {
                    beyond: failed,
                    near: failed,
                    of: times.of,
                },
            ],
            is_sound: true,
        }
    }
}

fn terms() -> Terms {
    Terms {
        slos: vec![
            Slo {
                share: 0.01,
                response: Some(Nanos::from_millis(50)),
            },
            Slo {
                share: 0.01,
                response: None,
            },
        ],
        from: 10.0,
        most: 100_000.0,
        step: Nanos::from_secs(3),
        hold: Nanos::from_secs(180),
        confirm: Nanos::from_secs(60),
    }
}

/// What a search did: its answer, each second's stage and rate.
struct Ran {
    answer: Answer,
    seconds: Vec<(Stage, f64)>,
}

impl Ran {
    fn found(&self) -> &Capacity {
        match &self.answer {
            Answer::Found(capacity) => capacity,
            other => panic!("nothing was found: {other:?}"),
        }
    }

    /// The longest time above a rate behind the bracket, in seconds.
    fn longest_above(&self, rate: f64) -> usize {
        let held = self
            .seconds
            .iter()
            .position(|(stage, _)| *stage == Stage::Hold);
        let behind = &self.seconds[held.unwrap()..];
        let above = behind.split(|(_, asked)| *asked <= rate);
        above.map(<[_]>::len).max().unwrap_or(0)
    }
}

fn run(queue: Queue, terms: Terms) -> Ran {
    run_until(queue, terms, usize::MAX, |_, _| {})
}

fn run_until(
    mut queue: Queue,
    terms: Terms,
    most: usize,
    change: impl Fn(usize, &mut Observation),
) -> Ran {
    let mut rate = terms.from;
    let mut before = rate;
    let mut search = Search::new(terms);
    let mut seconds = Vec::new();
    while seconds.len() < most {
        assert!(seconds.len() < 2_000, "the search has no end");
        let mut seen = queue.second(before, rate);
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

/// Exponential service with a mean of 1 ms: the response time is exponential with the rate
/// µ − λ, so that 1 % are beyond 50 ms at µ − ln(100) / 50 ms, which is 907.9/s.
fn mm1(random: &mut Random) -> f64 {
    random.exponential() * 0.001
}

fn md1(_: &mut Random) -> f64 {
    0.001
}

#[test]
fn capacities_of_known_queues_are_found() {
    // M/D/1: by simulation of 40 million requests.
    for (service, truth) in [(mm1 as fn(&mut Random) -> f64, 907.9), (md1, 953.9)] {
        let mut within = 0;
        for seed in 1..=8 {
            let ran = run(Queue::new(service, seed), terms());
            let capacity = ran.found();
            within += usize::from((capacity.rate / truth - 1.0).abs() < 0.03);
            assert!(capacity.low < capacity.rate && capacity.rate < capacity.high);
            assert!(ran.longest_above(1.2 * truth) <= 5, "seed {seed}");
            let confirmation = capacity.confirmation.as_ref().unwrap();
            assert!(confirmation.is_kept, "seed {seed}: {confirmation:?}");
            assert!(confirmation.rate < capacity.rate);
            assert_eq!(capacity.slo, 0);
        }
        assert!(within >= 7, "{within} of 8 within 3 %");
    }
}

#[test]
fn failures_bound_the_rate_as_response_times_do() {
    let mut queue = Queue::new(mm1, 3);
    // One in fifty from 500/s on, one in two hundred below.
    queue.failed = |rate| if rate > 500.0 { 0.02 } else { 0.005 };
    let ran = run(queue, terms());
    let capacity = ran.found();
    assert_eq!(capacity.slo, 1);
    assert!((capacity.rate - 500.0).abs() < 25.0, "{capacity:?}");
}

#[test]
fn a_target_that_misses_at_the_first_rate_has_no_capacity_from_there() {
    let slow = |_: &mut Random| 0.06;
    let ran = run(Queue::new(slow, 1), terms());
    assert_eq!(ran.answer, Answer::Below(10.0));
    assert!(ran.seconds.len() <= 8, "two steps tell it");
}

#[test]
fn cold_connections_do_not_end_a_search() {
    let ran = run_until(Queue::new(mm1, 5), terms(), usize::MAX, |second, seen| {
        if second < 2 {
            seen.tallies[0].beyond = seen.tallies[0].of;
        }
    });
    assert!((ran.found().rate / 907.9 - 1.0).abs() < 0.05);
}

#[test]
fn the_greatest_rate_that_is_allowed_may_be_kept() {
    let most = Terms {
        most: 300.0,
        ..terms()
    };
    let ran = run(Queue::new(mm1, 1), most);
    assert_eq!(ran.answer, Answer::Above(300.0));
    assert!(ran.seconds.iter().all(|(_, rate)| *rate <= 300.0));
}

#[test]
fn a_generator_that_is_the_limit_gives_no_answer() {
    let ran = run_until(Queue::new(mm1, 1), terms(), usize::MAX, |_, seen| {
        seen.is_sound = seen.rate < 300.0;
    });
    let Answer::Generator { rate, kept } = ran.answer else {
        panic!("{:?}", ran.answer);
    };
    assert_eq!((rate, kept), (320.0, Some(160.0)));
}

#[test]
fn single_intervals_of_a_late_generator_are_left_out() {
    let ran = run_until(Queue::new(mm1, 2), terms(), usize::MAX, |second, seen| {
        if second % 20 == 19 {
            seen.is_sound = false;
            seen.tallies[0].beyond = seen.tallies[0].of;
        }
    });
    assert!((ran.found().rate / 907.9 - 1.0).abs() < 0.04);
}

#[test]
fn a_search_that_is_ended_early_says_what_it_knows() {
    let ran = run_until(Queue::new(mm1, 1), terms(), 11, |_, _| {});
    let Answer::Open { kept, missed } = ran.answer else {
        panic!("{:?}", ran.answer);
    };
    assert_eq!((kept, missed), (Some(40.0), None));
    let ran = run_until(Queue::new(mm1, 1), terms(), 150, |_, _| {});
    let capacity = ran.found();
    assert!(capacity.confirmation.is_none());
    assert!(
        capacity.low < 907.9 && 907.9 < capacity.high,
        "{capacity:?}"
    );
}

#[test]
fn a_target_that_becomes_slower_is_not_overloaded_for_long() {
    let mut queue = Queue::new(md1, 4);
    queue.slower = Some((120.0, 2.0));
    let ran = run(queue, terms());
    // From then on its capacity is half of what it was.
    let late: Vec<f64> = ran.seconds[120..].iter().map(|(_, rate)| *rate).collect();
    let overloaded = late.iter().filter(|rate| **rate > 1.2 * 477.0).count();
    assert!(overloaded <= 30, "{overloaded} seconds");
}

#[test]
fn a_short_hold_has_a_wide_interval() {
    let width = |hold| {
        let terms = Terms {
            hold: Nanos::from_secs(hold),
            ..terms()
        };
        let ran = run(Queue::new(mm1, 9), terms);
        let capacity = ran.found().clone();
        capacity.high / capacity.low
    };
    assert!(width(30) > width(600));
}
