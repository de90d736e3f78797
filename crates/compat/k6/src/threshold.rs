//! Thresholds: `p(95)<500`, on a metric or on the samples of a metric with certain tags.

use std::fmt;

use drumfire_units::Nanos;
use serde_json::Value;

use crate::metric::{Kind, Sink};
use crate::scenario::duration;

/// What a threshold compares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The number of samples of a counter, added up.
    Count,
    /// A counter's sum for each second, or the share of a rate.
    Rate,
    /// The last value of a gauge.
    Value,
    /// The mean of a trend.
    Avg,
    /// The least value of a trend.
    Min,
    /// The greatest value of a trend.
    Max,
    /// The median of a trend.
    Med,
    /// A percentile of a trend, from 0 to 100.
    Percentile(f64),
}

/// How a threshold compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `==` or `===`
    Equal,
    /// `!=`
    Unequal,
}

/// A threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The text of the threshold, which names it in reports.
    pub text: String,
    /// What is compared.
    pub method: Method,
    /// How it is compared.
    pub relation: Relation,
    /// The number that it is compared with.
    pub bound: f64,
}

/// The relations, the longest first.
const RELATIONS: [(&str, Relation); 7] = [
    ("===", Relation::Equal),
    (">=", Relation::AtLeast),
    ("<=", Relation::AtMost),
    ("==", Relation::Equal),
    ("!=", Relation::Unequal),
    (">", Relation::Above),
    ("<", Relation::Below),
];

/// The methods without an argument.
const METHODS: [(&str, Method); 7] = [
    ("count", Method::Count),
    ("rate", Method::Rate),
    ("value", Method::Value),
    ("avg", Method::Avg),
    ("min", Method::Min),
    ("max", Method::Max),
    ("med", Method::Med),
];

impl Threshold {
    /// Parse `METHOD RELATION NUMBER`.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("invalid threshold `{text}`: {why}");
        let at = text
            .find(['<', '>', '=', '!'])
            .ok_or_else(|| wrong("no relation; use `p(95)<500`"))?;
        let (method, rest) = text.split_at(at);
        let (sign, relation) = RELATIONS
            .iter()
            .find(|(sign, _)| rest.starts_with(sign))
            .ok_or_else(|| wrong("unknown relation; use >, >=, <, <=, ==, === or !="))?;
        let number = rest[sign.len()..].trim();
        let bound: f64 = number
            .parse()
            .map_err(|_| wrong(&format!("`{number}` is not a number")))?;
        if !bound.is_finite() {
            return Err(wrong("the bound is not finite"));
        }
        let method = Method::parse(method.trim()).ok_or_else(|| {
            wrong("unknown method; use count, rate, value, avg, min, max, med or p(N)")
        })?;
        Ok(Self {
            text: text.to_owned(),
            method,
            relation: *relation,
            bound,
        })
    }

    /// Whether a metric of this kind has the method.
    #[must_use]
    pub fn fits(&self, kind: Kind) -> bool {
        match self.method {
            Method::Count => kind == Kind::Counter,
            Method::Rate => matches!(kind, Kind::Counter | Kind::Rate),
            Method::Value => kind == Kind::Gauge,
            _ => kind == Kind::Trend,
        }
    }

    /// The number that is compared, after so many seconds. `None` means: the metric has no sample, or lacks
    /// the method.
    #[must_use]
    pub fn actual(&self, sink: &Sink, seconds: f64) -> Option<f64> {
        match (self.method, sink) {
            (Method::Count, Sink::Counter(sum)) => Some(*sum),
            (Method::Rate, Sink::Counter(sum)) => {
                Some(if seconds > 0.0 { sum / seconds } else { 0.0 })
            }
            (Method::Rate, Sink::Rate { passes, total }) if *total > 0 => {
                Some(*passes as f64 / *total as f64)
            }
            (Method::Value, Sink::Gauge { last, .. }) => Some(*last),
            (method, Sink::Trend(values)) => match method {
                Method::Avg => Some(values.mean()),
                Method::Min => Some(values.min()),
                Method::Max => Some(values.max()),
                Method::Med => Some(values.percentile(50.0)),
                Method::Percentile(percent) => Some(values.percentile(percent)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the threshold holds at the end of a run. A rate without a sample holds; other metrics are
    /// compared with 0 if they have none.
    #[must_use]
    pub fn holds(&self, sink: &Sink, seconds: f64) -> bool {
        let Some(actual) = self.actual(sink, seconds) else {
            return true;
        };
        match self.relation {
            Relation::Above => actual > self.bound,
            Relation::AtLeast => actual >= self.bound,
            Relation::Below => actual < self.bound,
            Relation::AtMost => actual <= self.bound,
            Relation::Equal => actual == self.bound,
            Relation::Unequal => actual != self.bound,
        }
    }
}

impl Method {
    fn parse(text: &str) -> Option<Self> {
        if let Some(argument) = text
            .strip_prefix("p(")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            let percent: f64 = argument.trim().parse().ok()?;
            return (0.0..=100.0)
                .contains(&percent)
                .then_some(Self::Percentile(percent));
        }
        METHODS
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, method)| *method)
    }
}

/// The samples that a threshold is about: `http_req_duration{name:A,status:200}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Selection {
    /// The metric.
    pub metric: String,
    /// Tags that samples must have. Empty means: all samples.
    pub tags: Vec<(String, String)>,
}

impl Selection {
    /// Parse a key of `thresholds`. The value of a tag may contain colons.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("invalid metric `{text}`; use `metric` or `metric{{tag:value}}`");
        let Some((metric, rest)) = text.split_once('{') else {
            return Ok(Self {
                metric: text.trim().to_owned(),
                tags: Vec::new(),
            });
        };
        let list = rest.trim_end().strip_suffix('}').ok_or_else(wrong)?;
        let tags = list.split(',').map(|tag| {
            let (name, value) = tag.split_once(':').ok_or_else(wrong)?;
            let clean = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
            Ok((clean(name), clean(value)))
        });
        Ok(Self {
            metric: metric.trim().to_owned(),
            tags: tags.collect::<Result<_, String>>()?,
        })
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.metric)?;
        if self.tags.is_empty() {
            return Ok(());
        }
        let tags: Vec<String> = self
            .tags
            .iter()
            .map(|(name, value)| format!("{name}:{value}"))
            .collect();
        write!(f, "{{{}}}", tags.join(","))
    }
}

/// A threshold with what happens if it fails during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdRule {
    /// The threshold.
    pub threshold: Threshold,
    /// Whether the run ends at once.
    pub abort_on_fail: bool,
    /// The time after the begin of the run before which the run does not end.
    pub delay_abort: Nanos,
}

impl ThresholdRule {
    /// Read an element of a list of thresholds: a text, or an object.
    pub(crate) fn parse(value: &Value) -> Result<Self, String> {
        let text = value.as_str().or_else(|| value.get("threshold")?.as_str());
        let text = text.ok_or_else(|| {
            format!("invalid threshold {value}; use a text such as \"p(95)<500\"")
        })?;
        let delay = value.get("delayAbortEval").filter(|delay| !delay.is_null());
        Ok(Self {
            threshold: Threshold::parse(text)?,
            abort_on_fail: match value.get("abortOnFail") {
                None | Some(Value::Null) => false,
                Some(Value::Bool(is)) => *is,
                Some(_) => {
                    return Err(format!(
                        "invalid threshold {value}: `abortOnFail` must be true or false"
                    ));
                }
            },
            delay_abort: delay.map_or(Ok(Nanos::ZERO), duration)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for (text, method, relation, bound) in [
            (
                "p(95)<500",
                Method::Percentile(95.0),
                Relation::Below,
                500.0,
            ),
            (
                "p(99.9) <= 1e3",
                Method::Percentile(99.9),
                Relation::AtMost,
                1000.0,
            ),
            ("rate>0.9", Method::Rate, Relation::Above, 0.9),
            ("count === 3", Method::Count, Relation::Equal, 3.0),
            ("avg!=-1", Method::Avg, Relation::Unequal, -1.0),
            ("med >=2", Method::Med, Relation::AtLeast, 2.0),
            ("value==0", Method::Value, Relation::Equal, 0.0),
        ] {
            let threshold = Threshold::parse(text).expect(text);
            assert_eq!(
                (threshold.method, threshold.relation, threshold.bound),
                (method, relation, bound),
                "{text}"
            );
        }
        for (text, message) in [
            (
                "p(95)",
                "invalid threshold `p(95)`: no relation; use `p(95)<500`",
            ),
            (
                "rate=1",
                "invalid threshold `rate=1`: unknown relation; use >, >=, <, <=, ==, === or !=",
            ),
            ("rate<x", "invalid threshold `rate<x`: `x` is not a number"),
            (
                "p(101)<1",
                "invalid threshold `p(101)<1`: unknown method; use count, rate, value, avg, min, max, med or p(N)",
            ),
            (
                "rate<1&&rate>0",
                "invalid threshold `rate<1&&rate>0`: `1&&rate>0` is not a number",
            ),
        ] {
            assert_eq!(Threshold::parse(text), Err(message.to_owned()));
        }
    }

    #[test]
    fn selections() {
        let selection = Selection::parse("http_req_duration{name:A, group:::outer::inner}")
            .expect("a selection");
        assert_eq!(selection.metric, "http_req_duration");
        assert_eq!(
            selection.tags[1],
            ("group".to_owned(), "::outer::inner".to_owned())
        );
        assert_eq!(
            selection.to_string(),
            "http_req_duration{name:A,group:::outer::inner}"
        );
        assert_eq!(
            Selection::parse("checks").expect("a selection").to_string(),
            "checks"
        );
        assert!(Selection::parse("a{b}").is_err() && Selection::parse("a{b:c").is_err());
    }

    /// At the end, metrics without a sample are 0, but a rate holds.
    #[test]
    fn verdicts() {
        let of = |kind, samples: &[f64]| {
            let mut sink = Sink::new(kind);
            samples.iter().for_each(|sample| sink.add(*sample));
            sink
        };
        for (text, sink, holds) in [
            ("count>0", of(Kind::Counter, &[]), false),
            ("value>0", of(Kind::Gauge, &[]), false),
            ("p(95)>1", of(Kind::Trend, &[]), false),
            ("rate>0.9", of(Kind::Rate, &[]), true),
            ("rate>0.5", of(Kind::Rate, &[1.0, 0.0]), false),
            ("rate>=0.5", of(Kind::Rate, &[1.0, 0.0]), true),
            ("rate==1.5", of(Kind::Counter, &[1.0, 2.0]), true),
            ("count==3", of(Kind::Counter, &[1.0, 2.0]), true),
            ("p(50)===1.5", of(Kind::Trend, &[1.0, 2.0]), true),
            ("max<2", of(Kind::Trend, &[1.0, 2.0]), false),
        ] {
            let threshold = Threshold::parse(text).expect(text);
            assert_eq!(threshold.holds(&sink, 2.0), holds, "{text} of {sink:?}");
        }
        let p95 = Threshold::parse("p(95)<1").expect("a threshold");
        assert!(p95.fits(Kind::Trend) && !p95.fits(Kind::Rate));
        let rate = Threshold::parse("rate<1").expect("a threshold");
        assert!(rate.fits(Kind::Counter) && rate.fits(Kind::Rate) && !rate.fits(Kind::Gauge));
    }
}
