//! Gamma arrivals, compared with the distribution that defines them, with fixed seeds.

use crate::random::{CRITICAL, distance, gaps, starts};
use drumfire_plan::{Arrivals, Law, Shape};
use drumfire_units::{Nanos, Rate};

/// The shapes under test, in thousandths: bursts, a Poisson process, and nearly even arrivals.
const SHAPES: [u32; 5] = [250, 500, 1_000, 2_000, 8_000];
/// The mean gap, in seconds: so long that a nanosecond, to which starts are rounded, is nothing. At
/// shape 0.25, one gap in forty is below a millionth of the mean.
const MEAN: u64 = 1_000;

fn gamma(thousandths: u32) -> Arrivals {
    Arrivals::Gamma(Shape::from_thousandths(thousandths).expect("a shape"))
}

/// Gaps in units of their mean.
fn scaled_gaps(thousandths: u32, seed: u64, count: usize) -> Vec<f64> {
    let law = Law::Const {
        rate: Rate {
            events: 1,
            per: Nanos::from_secs(MEAN),
        },
        duration: Nanos::MAX,
    };
    let starts = starts(law, gamma(thousandths), seed, count);
    gaps(&starts).iter().map(|gap| gap / MEAN as f64).collect()
}

/// The regularised lower incomplete gamma function: xᵏ e⁻ˣ Σ xⁿ / Γ(k + n + 1).
fn lower(shape: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let mut term = (shape * x.ln() - x - libm::lgamma(shape + 1.0)).exp();
    let mut sum = 0.0;
    for n in 1..1_000 {
        sum += term;
        term *= x / (shape + f64::from(n));
        if term < sum * 1e-15 {
            break;
        }
    }
    sum.min(1.0)
}

#[test]
fn gaps_have_the_mean_and_the_variation_of_their_shape() {
    for thousandths in SHAPES {
        let shape = f64::from(thousandths) / 1_000.0;
        // A million gaps: the standard error of the mean of shape 0.25 is 0.2 %.
        let all: Vec<f64> = (1..=5)
            .flat_map(|seed| scaled_gaps(thousandths, seed, 200_000))
            .collect();
        let n = all.len() as f64;
        let mean = all.iter().sum::<f64>() / n;
        let variance = all.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let variation = variance.sqrt() / mean;
        assert!((mean - 1.0).abs() < 0.005, "shape {shape}: mean {mean}");
        let exact = 1.0 / shape.sqrt();
        assert!(
            (variation / exact - 1.0).abs() < 0.01,
            "shape {shape}: {variation}, not {exact}"
        );
        // Gaps are independent: the correlation of neighbours has a standard error of 0.1 %.
        let lagged = all.windows(2).map(|w| (w[0] - 1.0) * (w[1] - 1.0));
        let correlation = lagged.sum::<f64>() / n / variance;
        assert!(correlation.abs() < 0.005, "shape {shape}: {correlation}");
    }
}

#[test]
fn gaps_follow_the_gamma_distribution() {
    for thousandths in SHAPES {
        let shape = f64::from(thousandths) / 1_000.0;
        // At 1 %, one in a hundred samples is beyond the critical value.
        let far = (1..=20)
            .filter(|seed| {
                let gaps = scaled_gaps(thousandths, *seed, 20_000);
                distance(gaps, |gap| lower(shape, gap * shape)) >= CRITICAL
            })
            .count();
        assert!(far <= 1, "shape {shape}: {far} of 20 samples differ");
    }
}

#[test]
fn shape_1_is_a_poisson_process_to_the_eye_of_the_test() {
    let gaps = scaled_gaps(1_000, 3, 100_000);
    let d = distance(gaps, |gap| 1.0 - (-gap).exp());
    assert!(d < CRITICAL, "{d}");
}

#[test]
fn a_seed_is_a_schedule_for_each_shape() {
    let law = || Law::Const {
        rate: Rate::per_second(10),
        duration: Nanos::from_secs(10),
    };
    let of = |thousandths, seed| starts(law(), gamma(thousandths), seed, usize::MAX);
    assert_eq!(of(500, 5), of(500, 5));
    assert_ne!(of(500, 5), of(500, 6));
    assert_ne!(of(500, 5), of(2_000, 5));
}
