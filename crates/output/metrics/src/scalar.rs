//! One number of a metric, with its name in Prometheus.

use crate::{BOUNDS, Family, Label, Value};

/// One number of a metric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar<'a> {
    /// The name, with the suffix of its kind.
    pub(crate) name: &'a str,
    /// Its labels.
    pub(crate) labels: &'a [Label],
    /// The bound, if the number is a bucket.
    pub(crate) le: Option<&'static str>,
    /// A number.
    pub(crate) value: &'a Value,
}

/// Calls `does` for every number of a metric: for a distribution, its buckets, its sum and its
/// count.
pub(crate) fn each(family: &Family, does: &mut dyn FnMut(Scalar<'_>)) {
    let name = &*family.sample_name();
    let [bucket, sum, count] = ["bucket", "sum", "count"].map(|part| format!("{name}_{part}"));
    for point in &family.points {
        let mut give = |name: &str, le, value: &Value| {
            does(Scalar {
                name,
                labels: &point.labels,
                le,
                value,
            });
        };
        let Value::Distribution(times) = &point.value else {
            give(name, None, &point.value);
            continue;
        };
        for (bound, within) in BOUNDS.iter().zip(times.within) {
            give(&bucket, Some(bound.text), &Value::Count(within));
        }
        let all = Value::Count(times.count);
        give(&bucket, Some("+Inf"), &all);
        give(&sum, None, &Value::Number(times.sum));
        give(&count, None, &all);
    }
}
