//! A histogram in the contract.
//!
//! Figures for a person who reads the document stand beside the whole histogram, in the encoding
//! that HdrHistogram's tools read, so that documents of several runs can be merged. The encoding
//! has no lower bounds; `at_least` names the figures that they may have made too small.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_measure::{Histogram, encode_v2};
use serde::Serialize;
use std::collections::BTreeMap;

/// The quantiles of the contract by their names. One that the count cannot support is absent, for a
/// number there would be taken for a measurement.
const QUANTILES: [(&str, f64); 8] = [
    ("0.5", 0.5),
    ("0.75", 0.75),
    ("0.9", 0.9),
    ("0.95", 0.95),
    ("0.99", 0.99),
    ("0.999", 0.999),
    ("0.9999", 0.9999),
    ("0.99999", 0.99999),
];

/// A distribution: an empty one has the count 0 and no other key, since every figure of no samples
/// would be a number without a meaning.
#[derive(Serialize)]
pub(super) struct Distribution {
    count: u64,
    #[serde(flatten)]
    spread: Option<Spread>,
}

/// The fields that a non-empty distribution has beside its count. Times are nanoseconds.
#[derive(Serialize)]
struct Spread {
    min: u64,
    mean: u64,
    stddev: u64,
    max: u64,
    /// Samples beyond the histogram's range: counted in its last bucket.
    beyond: u64,
    quantiles: BTreeMap<&'static str, u64>,
    /// The least time that is only a lower bound, of a request whose end was not seen. Absent where
    /// there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least_from_ns: Option<u64>,
    /// The figures that such times may have made too small, by name; absent with those times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at_least: Vec<&'static str>,
    /// HdrHistogram V2, compressed, base64.
    histogram: String,
}

impl Distribution {
    /// The form of a histogram.
    pub(super) fn of(histogram: &Histogram) -> Self {
        let spread = (histogram.count() > 0).then(|| Spread {
            min: histogram.min().0,
            mean: histogram.mean().round() as u64,
            stddev: histogram.stddev().round() as u64,
            max: histogram.max().0,
            beyond: histogram.beyond(),
            quantiles: QUANTILES
                .iter()
                .filter_map(|(name, q)| Some((*name, histogram.quantile(*q)?.0)))
                .collect(),
            at_least_from_ns: histogram.at_least_from().map(|time| time.0),
            at_least: at_least(histogram),
            histogram: STANDARD.encode(encode_v2(histogram)),
        });
        Self {
            count: histogram.count(),
            spread,
        }
    }
}

/// The names of the figures that are lower bounds. The mean is one as soon as any sample is; a
/// quantile only from the least such sample on, since those below it are exact.
fn at_least(histogram: &Histogram) -> Vec<&'static str> {
    if histogram.at_least_from().is_none() {
        return Vec::new();
    }
    let extremes = [("min", 0.0), ("max", 1.0)];
    let supported = QUANTILES
        .iter()
        .filter(|(_, q)| histogram.quantile(*q).is_some());
    let bounds = extremes.iter().chain(supported);
    let bounds = bounds.filter(|(_, q)| histogram.is_at_least(*q));
    let names = bounds.map(|(name, _)| *name);
    ["mean"].into_iter().chain(names).collect()
}
