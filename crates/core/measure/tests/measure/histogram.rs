//! Histograms compared with sorted vectors.

use crate::samples;
use drumfire_measure::{DecodeError, HIGHEST, Histogram, decode_v2, encode_v2};
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::io::Write;

const QUANTILES: [f64; 9] = [0.0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0];

fn histogram_of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for value in values {
        histogram.record(Nanos(*value));
    }
    histogram
}

/// The smallest value with at least ⌈q·n⌉ values at or below it, by counting.
fn nearest_rank(sorted: &[u64], q: f64) -> u64 {
    let thousandths = (q * 1000.0).round() as usize;
    let rank = (thousandths * sorted.len()).div_ceil(1000).max(1);
    sorted[rank - 1]
}

proptest! {
    #![proptest_config(samples::cases(128))]

    #[test]
    fn quantiles_are_the_sorted_vector_s_to_three_digits(
        mut values in prop::collection::vec(samples::time(41), 1..800)
    ) {
        values.iter_mut().for_each(|value| *value = (*value).min(HIGHEST));
        let histogram = histogram_of(&values);
        values.sort_unstable();
        for q in QUANTILES {
            let exact = nearest_rank(&values, q);
            let shown = histogram.quantile_unchecked(q).0;
            prop_assert!(shown >= exact, "{q}: {shown} < {exact}");
            prop_assert!(shown - exact <= exact / 1024, "{q}: {shown} for {exact}");
        }
        prop_assert_eq!(histogram.beyond(), 0);
    }

    #[test]
    fn extremes_sum_and_count_are_exact(
        values in prop::collection::vec(samples::time(50), 1..400)
    ) {
        let histogram = histogram_of(&values);
        let sum: u128 = values.iter().copied().map(u128::from).sum();
        prop_assert_eq!(histogram.count(), values.len() as u64);
        prop_assert_eq!(Some(&histogram.min().0), values.iter().min());
        prop_assert_eq!(Some(&histogram.max().0), values.iter().max());
        prop_assert_eq!(histogram.sum(), sum);
        prop_assert_eq!(histogram.mean(), sum as f64 / values.len() as f64);
        let beyond = values.iter().filter(|value| **value > HIGHEST).count();
        prop_assert_eq!(histogram.beyond(), beyond as u64);
    }

    #[test]
    fn what_is_beyond_the_range_stands_at_its_end(
        inside in prop::collection::vec(samples::time(40), 1..50),
        beyond in prop::collection::vec(HIGHEST + 1..u64::MAX, 1..50),
    ) {
        let all: Vec<u64> = inside.iter().chain(&beyond).copied().collect();
        let histogram = histogram_of(&all);
        let just_inside = histogram.quantile_unchecked(inside.len() as f64 / all.len() as f64);
        prop_assert!(just_inside.0 < HIGHEST);
        let first_beyond = (inside.len() + 1) as f64 / all.len() as f64;
        prop_assert!(histogram.quantile_unchecked(first_beyond).0 >= HIGHEST);
        prop_assert_eq!(Some(&histogram.max().0), beyond.iter().max());
    }

    #[test]
    fn buckets_hold_every_sample_once(
        values in prop::collection::vec(samples::time(41), 0..400)
    ) {
        let histogram = histogram_of(&values);
        let mut seen = 0;
        let mut below = None;
        for (low, high, count) in histogram.buckets() {
            prop_assert!(below.is_none_or(|below| below < low) && low <= high);
            let inside = values.iter().filter(|v| (low..=high).contains(&(**v).min(HIGHEST)));
            prop_assert_eq!(inside.count() as u64, count);
            below = Some(high);
            seen += count;
        }
        prop_assert_eq!(seen, histogram.count());
    }

    #[test]
    fn taking_away_what_was_added_leaves_the_rest(
        left in prop::collection::vec(samples::time(43), 0..200),
        right in prop::collection::vec(samples::time(43), 0..200),
    ) {
        let rest = histogram_of(&left);
        let mut both = rest.clone();
        both.merge(&histogram_of(&right));
        both.subtract(&histogram_of(&right));
        prop_assert_eq!(both.count(), rest.count());
        prop_assert_eq!(both.sum(), rest.sum());
        prop_assert_eq!(both.beyond(), rest.beyond());
        prop_assert!(both.buckets().eq(rest.buckets()));
        prop_assert!(both.min() <= rest.min() && both.max() >= rest.max());
        if rest.beyond() == 0 {
            prop_assert!(rest.min().0 - both.min().0 <= rest.min().0 / 1024);
            prop_assert!(both.max().0 - rest.max().0 <= rest.max().0 / 1024);
        }
    }

    #[test]
    fn the_interchange_encoding_keeps_every_bucket(
        values in prop::collection::vec(samples::time(41), 0..400)
    ) {
        let histogram = histogram_of(&values);
        let decoded = decode_v2(&encode_v2(&histogram)).unwrap();
        prop_assert!(decoded.buckets().eq(histogram.buckets()));
        prop_assert_eq!(decoded.count(), histogram.count());
        prop_assert!((decoded.mean() - histogram.mean()).abs() <= histogram.mean() / 1000.0 + 0.5);
    }

    #[test]
    fn hostile_bytes_are_refused_without_a_panic(
        values in prop::collection::vec(samples::time(41), 1..40),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        noise in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut bytes = encode_v2(&histogram_of(&values));
        let place = at.index(bytes.len());
        bytes[place] = byte;
        // The bytes are either refused or decoded to some histogram; it only matters that the call
        // returns.
        if let Ok(decoded) = decode_v2(&bytes) {
            prop_assert!(decoded.quantile_unchecked(0.5).0 <= decoded.max().0);
        }
        bytes.truncate(place);
        prop_assert!(decode_v2(&bytes).is_err());
        prop_assert!(decode_v2(&noise).is_err());
    }
}

#[test]
fn the_encoding_is_the_compressed_v2_that_other_tools_read() {
    let bytes = encode_v2(&histogram_of(&[1, 2, 3]));
    assert_eq!(bytes[..4], [0x1c, 0x84, 0x93, 0x14], "the cookie");
    assert_eq!(
        bytes.len(),
        8 + u32::from_be_bytes(bytes[4..8].try_into().unwrap()) as usize
    );
    assert_eq!(bytes[8] & 0x0f, 8, "a zlib stream");
}

/// Wraps an uncompressed encoding in the compressed form.
fn compressed(inner: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    stream.write_all(inner)?;
    let stream = stream.finish()?;
    let mut bytes = vec![0x1c, 0x84, 0x93, 0x14];
    bytes.extend((stream.len() as u32).to_be_bytes());
    bytes.extend(stream);
    Ok(bytes)
}

#[test]
fn a_header_that_asks_for_too_much_is_refused() {
    let refused = |inner: &[u8]| decode_v2(&compressed(inner).unwrap()).unwrap_err();
    let mut header = vec![0x1c, 0x84, 0x93, 0x13];
    header.extend([0; 8]);
    header.extend(3_u32.to_be_bytes());
    header.extend(1_u64.to_be_bytes());
    header.extend(3_600_000_000_000_u64.to_be_bytes());
    header.extend(1_f64.to_be_bytes());
    assert!(decode_v2(&compressed(&header).unwrap()).unwrap().is_empty());
    let mut boasts = header.clone();
    boasts[4..8].fill(0xff);
    assert!(matches!(refused(&boasts), DecodeError::Malformed(_)));
    let mut wide = header.clone();
    wide[24] = 0x3f;
    assert_eq!(refused(&wide), DecodeError::OtherBuckets);
    let mut fine = header.clone();
    fine[15] = 5;
    assert_eq!(refused(&fine), DecodeError::OtherBuckets);
    let bomb = vec![0; 100_000_000];
    assert_eq!(
        refused(&bomb).to_string(),
        "not a histogram in the V2 encoding: it is larger than any histogram"
    );
}

#[test]
fn an_empty_histogram_is_all_zero() {
    let empty = Histogram::new();
    assert!(empty.is_empty());
    assert_eq!((empty.min(), empty.max()), (Nanos::ZERO, Nanos::ZERO));
    assert_eq!((empty.mean(), empty.stddev()), (0.0, 0.0));
    assert_eq!(empty.quantile(0.5), None);
    assert_eq!(empty.quantile(1.0), None);
    assert_eq!(empty.quantile_unchecked(0.99), Nanos::ZERO);
    assert_eq!(empty.buckets().count(), 0);
}

#[test]
fn a_quantile_needs_its_samples() {
    let mut histogram = Histogram::new();
    for n in 1..=367 {
        histogram.record(Nanos::from_millis(n));
    }
    assert_eq!(histogram.quantile(0.99), None);
    assert_eq!(histogram.quantile(1.0), Some(Nanos::from_millis(367)));
    assert_eq!(histogram.quantile(0.0), Some(Nanos::from_millis(1)));
    histogram.record(Nanos::from_millis(368));
    let p99 = histogram.quantile(0.99).unwrap();
    assert!(
        (Nanos::from_millis(365)..Nanos::from_millis(366)).contains(&p99),
        "{p99}"
    );
}

#[test]
fn the_deviation_is_that_of_the_population() {
    let histogram = histogram_of(&[100, 100, 300, 300]);
    assert_eq!(histogram.stddev(), 100.0);
    assert_eq!(histogram_of(&[7, 7, 7]).stddev(), 0.0);
}

#[test]
fn reset_leaves_an_empty_histogram() {
    let mut histogram = histogram_of(&[5, HIGHEST + 1]);
    histogram.reset();
    assert_eq!(histogram, Histogram::new());
}
