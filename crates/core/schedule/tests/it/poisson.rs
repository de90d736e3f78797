//! Poisson arrivals, compared with the distributions that define them, with fixed seeds.

use crate::random::{CRITICAL, distance, gaps, starts as starts_of};
use drumfire_plan::{Arrivals, Law, Sequence};
use drumfire_schedule::{Next, Schedule};
use drumfire_units::{Nanos, Rate};

/// Starts of a Poisson process in seconds.
fn starts(law: Law, seed: u64, count: usize) -> Vec<f64> {
    starts_of(law, Arrivals::Poisson, seed, count)
}

#[test]
fn a_constant_rate_gives_a_poisson_process() {
    for seed in [1, 2, 3] {
        let law = Law::Const {
            rate: Rate::per_second(1000),
            duration: Nanos::MAX,
        };
        let starts = starts(law, seed, 200_000);
        let gaps = gaps(&starts);
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean * 1000.0 - 1.0).abs() < 0.01, "seed {seed}: {mean}");
        let d = distance(gaps, |gap| 1.0 - (-1000.0 * gap).exp());
        assert!(d < CRITICAL, "seed {seed}: {d}");
        // Index of dispersion: the variance of counts in windows over their mean is 1.
        let mut counts = vec![0.0; 1900];
        for start in &starts {
            if let Some(count) = counts.get_mut((start * 10.0) as usize) {
                *count += 1.0;
            }
        }
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let index = variance / mean; // standard error √(2/n) = 0.032
        assert!((index - 1.0).abs() < 0.1, "seed {seed}: {index}");
    }
}

#[test]
fn a_line_gives_its_own_density() {
    let law = Law::Line {
        from: Rate::per_second(0),
        to: Rate::per_second(2000),
        duration: Nanos::from_secs(100),
    };
    let starts = starts(law, 7, usize::MAX);
    // Given their number, the arrivals are a sample from N(t)/N(d) = (t/d)².
    assert!((starts.len() as f64 - 1e5).abs() < 3.0 * 1e5_f64.sqrt());
    let d = distance(starts, |t| (t / 100.0).powi(2));
    assert!(d < CRITICAL, "{d}");
}

#[test]
fn a_seed_is_a_schedule() {
    let law = Law::Const {
        rate: Rate::per_second(10),
        duration: Nanos::from_secs(10),
    };
    let of = |seed| starts(law.clone(), seed, usize::MAX);
    assert_eq!(of(5), of(5));
    assert_ne!(of(5), of(6));
    let schedule = Schedule::new(&Sequence(vec![law.clone()]), Arrivals::Poisson, 5).unwrap();
    assert_eq!(schedule.total(), None);
    // Fixed values: the arrivals of a seed are equal on every platform and in every version.
    let first: Vec<_> = (0..4).map(|n| schedule.start_of(n).unwrap().0).collect();
    assert_eq!(first, [29_202_287, 199_522_862, 284_861_229, 373_688_081]);
}

#[test]
fn a_hundred_thousand_empty_levels_do_not_exhaust_the_stack() {
    let law = Law::Step {
        from: Rate::per_second(0),
        to: Rate::per_second(99_999),
        by: Rate::per_second(1),
        duration: Nanos(1),
    };
    let last = Law::Once { count: 1 };
    let schedule = Schedule::new(&Sequence(vec![law, last]), Arrivals::Poisson, 1).unwrap();
    let mut segment = schedule.segment(0, 1);
    let mut end = Nanos::ZERO;
    while let Next::At(due) = segment.peek() {
        end = due.at;
        segment.advance();
    }
    assert_eq!(end, Nanos(100_000));
}
