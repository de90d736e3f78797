//! Our histogram compared with the crate whose buckets it uses: equal figures, bit for bit.

use crate::samples;
use drumfire_measure::{HIGHEST, Histogram, encode_v2};
use drumfire_units::Nanos;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use proptest::prelude::*;

/// The crate's histogram of these values; values beyond the range are placed at its end.
fn reference_of(values: &[u64]) -> Hdr<u64> {
    let reference = Hdr::new_with_bounds(1, 3_600_000_000_000, 3);
    let mut reference = reference.expect("a layout that the crate supports");
    for value in values {
        let recorded = reference.record((*value).min(HIGHEST));
        assert!(recorded.is_ok(), "{value}");
    }
    reference
}

fn histogram_of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|v| histogram.record(Nanos(*v)));
    histogram
}

/// Values of every magnitude, many of them more than once.
fn values() -> impl Strategy<Value = Vec<u64>> {
    let value = prop_oneof![
        samples::time(64),
        samples::time(42),
        samples::time(13),
        0..4_u64,
        HIGHEST - 2..HIGHEST + 3
    ];
    prop::collection::vec(value, 0..500)
}

/// The crate's quantile, limited by the exact extremes like ours.
fn expected_quantile(reference: &Hdr<u64>, values: &[u64], rank: usize) -> u64 {
    let min = values.iter().copied().min().unwrap_or(0);
    let max = values.iter().copied().max().unwrap_or(0);
    match rank {
        1 if values.len() > 1 => min,
        rank if rank == values.len() => max,
        rank => {
            let share = (rank as f64 - 0.5) / values.len() as f64;
            reference.value_at_quantile(share).clamp(min, max)
        }
    }
}

fn assert_same(ours: &Histogram, reference: &Hdr<u64>) -> Result<(), TestCaseError> {
    prop_assert_eq!(ours.count(), reference.len());
    let buckets = reference.iter_recorded().map(|step| {
        let high = step.value_iterated_to();
        (
            reference.lowest_equivalent(high),
            high,
            step.count_at_value(),
        )
    });
    prop_assert!(ours.buckets().eq(buckets));
    let mut encoded = Vec::new();
    let written = V2DeflateSerializer::new().serialize(reference, &mut encoded);
    prop_assert!(written.is_ok());
    prop_assert_eq!(encode_v2(ours), encoded);
    Ok(())
}

proptest! {
    #![proptest_config(samples::cases(96))]

    #[test]
    fn recording_is_the_crate_s(values in values()) {
        let (ours, reference) = (histogram_of(&values), reference_of(&values));
        assert_same(&ours, &reference)?;
        for rank in 1..=values.len() {
            let q = rank as f64 / values.len() as f64;
            let expected = expected_quantile(&reference, &values, rank);
            prop_assert_eq!(ours.quantile_unchecked(q).0, expected, "{} of {}", rank, values.len());
        }
    }

    #[test]
    fn merging_and_taking_away_is_the_crate_s(left in values(), right in values()) {
        let (mut ours, theirs) = (histogram_of(&left), histogram_of(&right));
        let (mut reference, other) = (reference_of(&left), reference_of(&right));
        ours.merge(&theirs);
        reference.add(&other).unwrap();
        assert_same(&ours, &reference)?;
        let clone = ours.clone();
        prop_assert_eq!(&clone, &ours);
        assert_same(&clone, &reference)?;
        ours.subtract(&theirs);
        reference.subtract(&other).unwrap();
        assert_same(&ours, &reference)?;
        ours.reset();
        assert_same(&ours, &reference_of(&[]))?;
        prop_assert_eq!(ours, Histogram::new());
    }

    #[test]
    fn different_samples_are_not_equal(mut values in values(), at in any::<prop::sample::Index>()) {
        prop_assume!(!values.is_empty());
        let before = histogram_of(&values);
        let at = at.index(values.len());
        values[at] = values[at].wrapping_add(1 << 50);
        prop_assert_ne!(before, histogram_of(&values));
    }
}
