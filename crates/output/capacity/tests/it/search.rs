//! Searches of single-server queues with a mean service time of 1 ms, and the ways in which a
//! search ends.

use crate::target::{Arrivals, Fate, Target, run, run_until};
use drumfire_capacity::{Answer, Slo, Terms, Why};
use drumfire_units::{Nanos, Random};

/// A single-server queue whose service time is multiplied by a factor from some time on.
struct Queue {
    service: fn(&mut Random) -> f64,
    slower: Option<(f64, f64)>,
}

impl Queue {
    fn steady(service: fn(&mut Random) -> f64, seed: u64) -> Target {
        Self {
            service,
            slower: None,
        }
        .target(seed)
    }

    fn target(self, seed: u64) -> Target {
        let mut free_at = 0.0_f64;
        let server = move |at: f64, random: &mut Random| {
            let slower = self.slower.filter(|(from, _)| at >= *from);
            let factor = slower.map_or(1.0, |(_, factor)| factor);
            free_at = free_at.max(at) + (self.service)(random) * factor;
            Fate::ok(free_at)
        };
        Target::new(Box::new(server), Arrivals::Poisson, seed)
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

/// Exponential service with a mean of 1 ms: the response time is exponential with the rate µ − λ,
/// so 1 % of the requests are beyond 50 ms at µ − ln(100) / 50 ms, which is 907.9/s.
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
        let (mut within, mut kept) = (0, 0);
        for seed in 1..=8 {
            let ran = run(Queue::steady(service, seed), terms());
            let capacity = ran.found();
            within += usize::from((capacity.rate / truth - 1.0).abs() < 0.03);
            assert!(capacity.low < capacity.rate && capacity.rate < capacity.high);
            assert!(ran.longest_above(1.2 * truth) <= 5, "seed {seed}");
            let confirmation = capacity.confirmation.as_ref().unwrap();
            kept += usize::from(confirmation.is_kept);
            assert!(confirmation.rate < capacity.rate);
            assert_eq!(capacity.slo, 0);
        }
        assert!(within >= 7, "{within} of 8 within 3 %");
        assert!(kept >= 7, "{kept} of 8 confirmed");
    }
}

#[test]
fn failures_bound_the_rate_as_response_times_do() {
    // One request in fifty fails from 500/s on, one in two hundred below.
    let ran = run_until(Queue::steady(mm1, 3), terms(), usize::MAX, |_, seen| {
        let share: f64 = if seen.rate > 500.0 { 0.02 } else { 0.005 };
        let failed = &mut seen.tallies[1];
        failed.beyond = (share * failed.of as f64).round() as u64;
        failed.near = failed.beyond;
    });
    let capacity = ran.found();
    assert_eq!(capacity.slo, 1);
    assert!((capacity.rate - 500.0).abs() < 25.0, "{capacity:?}");
}

#[test]
fn a_target_that_misses_at_the_first_rate_has_no_capacity_from_there() {
    let slow = |_: &mut Random| 0.06;
    let ran = run(Queue::steady(slow, 1), terms());
    assert_eq!(ran.answer, Answer::Below(10.0));
    assert!(ran.seconds.len() <= 8, "two steps tell it");
}

#[test]
fn cold_connections_do_not_end_a_search() {
    let ran = run_until(
        Queue::steady(mm1, 5),
        terms(),
        usize::MAX,
        |second, seen| {
            if second < 2 {
                seen.tallies[0].beyond = seen.tallies[0].of;
            }
        },
    );
    assert!((ran.found().rate / 907.9 - 1.0).abs() < 0.05);
}

#[test]
fn the_greatest_rate_that_is_allowed_may_be_kept() {
    let most = Terms {
        most: 300.0,
        ..terms()
    };
    let ran = run(Queue::steady(mm1, 1), most);
    assert_eq!(ran.answer, Answer::Above(300.0));
    assert!(ran.seconds.iter().all(|(_, rate)| *rate <= 300.0));
}

#[test]
fn a_generator_that_is_the_limit_gives_no_answer() {
    let ran = run_until(Queue::steady(mm1, 1), terms(), usize::MAX, |_, seen| {
        seen.is_sound = seen.rate < 300.0;
    });
    let Answer::Generator { rate, kept } = ran.answer else {
        panic!("{:?}", ran.answer);
    };
    assert_eq!((rate, kept), (320.0, Some(160.0)));
}

#[test]
fn single_intervals_of_a_late_generator_are_left_out() {
    let ran = run_until(
        Queue::steady(mm1, 2),
        terms(),
        usize::MAX,
        |second, seen| {
            if second % 20 == 19 {
                seen.is_sound = false;
                seen.tallies[0].beyond = seen.tallies[0].of;
            }
        },
    );
    assert!((ran.found().rate / 907.9 - 1.0).abs() < 0.04);
}

/// The generator freezes at the end of an interval, which is known only in the next interval.
#[test]
fn requests_that_a_generator_made_late_are_taken_back() {
    let ran = run_until(
        Queue::steady(mm1, 2),
        terms(),
        usize::MAX,
        |second, seen| match second % 20 {
            18 => seen.tallies[0].overdue += seen.due / 4,
            19 => seen.is_sound = false,
            _ => {}
        },
    );
    assert!(
        (ran.found().rate / 907.9 - 1.0).abs() < 0.04,
        "{:?}",
        ran.answer
    );
}

#[test]
fn a_search_that_is_ended_early_says_what_it_knows() {
    let ran = run_until(Queue::steady(mm1, 1), terms(), 11, |_, _| {});
    let open = Answer::Unknown {
        why: Why::Ended,
        kept: Some(40.0),
        missed: None,
    };
    assert_eq!(ran.answer, open);
    let ran = run_until(Queue::steady(mm1, 1), terms(), 150, |_, _| {});
    let capacity = ran.found();
    assert!(capacity.confirmation.is_none());
    assert!(
        capacity.low < 907.9 && 907.9 < capacity.high,
        "{capacity:?}"
    );
}

#[test]
fn a_target_that_becomes_slower_is_not_overloaded_for_long() {
    let queue = Queue {
        service: md1,
        slower: Some((120.0, 2.0)),
    };
    let ran = run(queue.target(4), terms());
    // The target's capacity is then half of its earlier value.
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
        let ran = run(Queue::steady(mm1, 9), terms);
        let capacity = ran.found().clone();
        capacity.high / capacity.low
    };
    assert!(width(30) > width(600));
}
