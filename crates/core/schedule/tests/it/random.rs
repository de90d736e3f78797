//! Samples of random arrivals, and their distance from a distribution.

use drumfire_plan::{Arrivals, Law, Sequence};
use drumfire_schedule::{Next, Schedule};

/// The critical value of [`distance`] at 1 %.
pub(crate) const CRITICAL: f64 = 1.63;

/// Starts in seconds.
pub(crate) fn starts(law: Law, arrivals: Arrivals, seed: u64, count: usize) -> Vec<f64> {
    let sequence = Sequence(vec![law]);
    let schedule = Schedule::new(&sequence, arrivals, seed).expect("a schedule");
    let mut segment = schedule.segment(0, 1);
    let mut starts = Vec::new();
    while let Next::At(due) = segment.peek() {
        if starts.len() == count {
            break;
        }
        starts.push(due.at.as_secs_f64());
        segment.advance();
    }
    starts
}

/// The times from each start to the next.
pub(crate) fn gaps(starts: &[f64]) -> Vec<f64> {
    starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The distance of Kolmogorov and Smirnov between a sample and a distribution, times √n.
pub(crate) fn distance(mut sample: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let gap = |(k, x): (usize, &f64)| {
        let exact = distribution(*x);
        (exact - k as f64 / n)
            .abs()
            .max(((k + 1) as f64 / n - exact).abs())
    };
    sample.iter().enumerate().map(gap).fold(0.0, f64::max) * n.sqrt()
}
