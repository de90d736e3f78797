//! The stored form of a histogram, lossless.
//!
//! | field | form |
//! |---|---|
//! | count | a number; if it is 0, nothing follows |
//! | min, max, beyond | numbers |
//! | sum | a number of up to 128 bits |
//! | smallest lower bound | 0 if there are no lower bounds, otherwise the bound plus 1 |
//! | counts | the number of used buckets, then for each its count less 1, doubled; plus 1 if unused buckets precede it, whose number less 1 follows |
//! | lower bounds | like the counts; only if there is a lower bound |
//!
//! Nearly all used buckets follow another used one and have a count below 64: one byte each.
//!
//! A decoded histogram is [small](Histogram::small): its memory is proportional to its bytes. The
//! decoder checks what recording guarantees, because quantiles and subtraction rely on it: the
//! counts add up to the count, the extremes are in the first and the last used bucket, times beyond
//! the range are in the last bucket, and lower bounds are a part of the counts.

use super::{Histogram, LowerBounds};
use crate::buckets::{Buckets, HIGHEST, LENGTH, place};
use crate::form::{Form, FormError, Input, push_number, put_wide};

impl Form for Histogram {
    fn write(value: &Self, out: &mut Vec<u8>) {
        push_number(out, value.count);
        if value.is_empty() {
            return;
        }
        push_number(out, value.min);
        push_number(out, value.max);
        push_number(out, value.beyond);
        put_wide(out, value.sum);
        let bounds = &value.bounds;
        push_number(out, bounds.from().map_or(0, |from| from.0 + 1));
        encode_counts(value.used(), out);
        if bounds.from().is_some() {
            encode_counts(bounds.used(value.max), out);
        }
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let mut decoded = Self::small();
        Self::read_into(&mut decoded, input)?;
        Ok(decoded)
    }

    /// Reuses the list of buckets.
    fn read_into(value: &mut Self, input: &mut Input<'_>) -> Result<(), FormError> {
        value.restart();
        value.count = input.number()?;
        if value.count == 0 {
            return Ok(());
        }
        value.min = input.number()?;
        value.max = input.number()?;
        value.beyond = input.number()?;
        value.sum = input.wide()?;
        let bounds_from = input.number()?.checked_sub(1);
        let counted = decode_counts(&mut value.buckets, input)?;
        if !counted.spans(value.min, value.max) || counted.sum != value.count {
            return Err(FormError::Malformed("a histogram's counts"));
        }
        let last = value.buckets.count_at(place(HIGHEST));
        let out_of_range = value.beyond > 0 || value.max > HIGHEST;
        if out_of_range && (value.beyond > last || value.beyond == 0 || value.max <= HIGHEST) {
            return Err(FormError::Malformed("a histogram's count beyond its range"));
        }
        if let Some(from) = bounds_from {
            value.bounds = decode_bounds(from, value, input)?;
        }
        Ok(())
    }
}

/// Reads the lower bounds, the smallest of which is `from`. They must be a part of the decoded
/// counts.
fn decode_bounds(
    from: u64,
    decoded: &Histogram,
    input: &mut Input<'_>,
) -> Result<LowerBounds, FormError> {
    let mut buckets = Buckets::small();
    let counted = decode_counts(&mut buckets, input)?;
    let bounds = LowerBounds::from_buckets(buckets, from);
    let mut used = bounds.used(decoded.max);
    let is_part = used.all(|(place, count)| decoded.buckets.count_at(place) >= count);
    drop(used);
    let lies = decoded.min <= from && from <= decoded.max;
    let begins = counted.first == place(from.min(HIGHEST));
    let ends = counted.last <= place(decoded.max.min(HIGHEST));
    if is_part && lies && begins && ends {
        Ok(bounds)
    } else {
        Err(FormError::Malformed("a histogram's lower bounds"))
    }
}

/// Appends used buckets with their counts, in ascending order. Their number comes first, so they
/// are collected before anything is written.
fn encode_counts(used: impl Iterator<Item = (usize, u64)>, out: &mut Vec<u8>) {
    let mut marked = Vec::new();
    let (mut next, mut length) = (0, 0);
    for (place, count) in used {
        let unused = (place - next) as u64;
        put_wide(
            &mut marked,
            u128::from(count - 1) << 1 | u128::from(unused > 0),
        );
        if unused > 0 {
            push_number(&mut marked, unused - 1);
        }
        next = place + 1;
        length += 1;
    }
    push_number(out, length);
    out.extend_from_slice(&marked);
}

/// A summary of counts: the first and the last used place, and the sum.
struct Counted {
    first: usize,
    last: usize,
    sum: u64,
}

impl Counted {
    /// Whether the extremes are in the first and the last bucket.
    fn spans(&self, min: u64, max: u64) -> bool {
        let lies = |value: u64, at: usize| place(value.min(HIGHEST)) == at;
        min <= max && lies(min, self.first) && lies(max, self.last)
    }
}

/// Reads what [`encode_counts`] wrote, at least one bucket.
fn decode_counts(buckets: &mut Buckets, input: &mut Input<'_>) -> Result<Counted, FormError> {
    const MALFORMED: FormError = FormError::Malformed("a histogram's buckets");
    let length = input.length()?;
    // A bucket has at least one byte, so a false number causes no large allocation.
    buckets.reserve(length);
    let mut counted: Option<Counted> = None;
    let mut next = 0_usize;
    for _ in 0..length {
        let (unused, less_one) = decode_count(input)?;
        let unused = usize::try_from(unused).map_err(|_| MALFORMED)?;
        let place = next.checked_add(unused).ok_or(MALFORMED)?;
        if place >= LENGTH {
            return Err(MALFORMED);
        }
        let count = less_one.checked_add(1).ok_or(MALFORMED)?;
        buckets.push(place, count);
        next = place + 1;
        let counted = counted.get_or_insert(Counted {
            first: place,
            last: place,
            sum: 0,
        });
        counted.last = place;
        counted.sum = counted.sum.saturating_add(count);
    }
    counted.ok_or(MALFORMED)
}

/// Reads a count: the number of unused buckets before it, and the count less one.
fn decode_count(input: &mut Input<'_>) -> Result<(u64, u64), FormError> {
    const MALFORMED: FormError = FormError::Malformed("a histogram's count");
    let marked = input.wide()?;
    let count = u64::try_from(marked >> 1).map_err(|_| MALFORMED)?;
    let unused = match marked & 1 {
        0 => 0,
        _ => input.number()?.checked_add(1).ok_or(MALFORMED)?,
    };
    Ok((unused, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_units::Nanos;
    use proptest::prelude::*;

    fn encoded(histogram: &Histogram) -> Vec<u8> {
        let mut bytes = Vec::new();
        Histogram::write(histogram, &mut bytes);
        bytes
    }

    fn decoded(bytes: &[u8]) -> Result<Histogram, FormError> {
        let mut input = Input::new(bytes);
        let histogram = Histogram::read(&mut input)?;
        input.finish()?;
        Ok(histogram)
    }

    /// Any times, some of which are lower bounds and some beyond the range.
    fn any_histogram() -> impl Strategy<Value = Histogram> {
        let time = (any::<u64>(), 0_u32..64, any::<bool>(), 1_u64..4);
        prop::collection::vec(time, 0..40).prop_map(|times| {
            let mut histogram = Histogram::new();
            for (time, shift, is_bound, count) in times {
                if is_bound {
                    histogram.record_at_least_of(Nanos(time >> shift), count);
                } else {
                    histogram.record(Nanos(time >> shift));
                }
            }
            histogram
        })
    }

    #[test]
    fn an_empty_one_is_one_byte() {
        assert_eq!(encoded(&Histogram::new()), [0]);
        assert_eq!(decoded(&[0]), Ok(Histogram::new()));
    }

    #[test]
    fn the_extremes_of_numbers_come_back() {
        let mut histogram = Histogram::new();
        histogram.record_at_least_of(Nanos::MAX, u64::MAX);
        histogram.record_at_least_of(Nanos::ZERO, u64::MAX);
        assert_eq!(decoded(&encoded(&histogram)), Ok(histogram));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_histogram_comes_back(histogram in any_histogram()) {
            prop_assert_eq!(decoded(&encoded(&histogram)), Ok(histogram));
        }

        #[test]
        fn what_was_taken_away_does_not_come_back(
            all in any_histogram(), part in any_histogram()
        ) {
            let mut rest = all;
            rest.merge(&part);
            rest.subtract(&part);
            prop_assert_eq!(decoded(&encoded(&rest)), Ok(rest));
        }

        #[test]
        fn no_bytes_make_a_histogram_that_breaks(
            histogram in any_histogram(), at in any::<usize>(), byte in any::<u8>()
        ) {
            let mut bytes = encoded(&histogram);
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(mut decoded) = decoded(&bytes) {
                prop_assert_eq!(encoded(&decoded), bytes);
                decoded.merge(&histogram);
                decoded.subtract(&histogram);
                for q in [0.0, 0.5, 0.99, 1.0] {
                    let _ = (decoded.quantile_unchecked(q), decoded.is_at_least(q));
                }
                decoded.reset();
                prop_assert_eq!(decoded, Histogram::new());
            }
        }
    }
}
