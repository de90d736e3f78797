//! What summaries show of trends.

use std::fmt;

use crate::metric::Values;

/// A figure of a trend: `avg`, `min`, `med`, `max`, `count` or `p(N)`.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendStat {
    text: String,
    figure: Figure,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    Avg,
    Min,
    Med,
    Max,
    Count,
    Percentile(f64),
}

impl TrendStat {
    /// The figures that k6 shows by default.
    #[must_use]
    pub fn defaults() -> Vec<Self> {
        let figures = [
            ("avg", Figure::Avg),
            ("min", Figure::Min),
            ("med", Figure::Med),
            ("max", Figure::Max),
            ("p(90)", Figure::Percentile(90.0)),
            ("p(95)", Figure::Percentile(95.0)),
        ];
        figures
            .into_iter()
            .map(|(text, figure)| Self {
                text: text.to_owned(),
                figure,
            })
            .collect()
    }

    /// Parse the name of a figure.
    ///
    /// # Errors
    ///
    /// What is wrong with the name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "invalid trend stat `{text}`; use avg, min, med, max, count or p(N) with N from 0 to 100"
            )
        };
        let text = text.trim();
        let figure = match text {
            "avg" => Figure::Avg,
            "min" => Figure::Min,
            "med" => Figure::Med,
            "max" => Figure::Max,
            "count" => Figure::Count,
            _ => {
                let percent = text
                    .strip_prefix("p(")
                    .and_then(|rest| rest.strip_suffix(')'));
                let percent = percent.and_then(|number| number.parse::<f64>().ok());
                let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
                Figure::Percentile(percent.ok_or_else(wrong)?)
            }
        };
        Ok(Self {
            text: text.to_owned(),
            figure,
        })
    }

    /// The value of the figure.
    #[must_use]
    pub fn value(&self, values: &Values) -> f64 {
        match self.figure {
            Figure::Avg => values.mean(),
            Figure::Min => values.min(),
            Figure::Med => values.percentile(50.0),
            Figure::Max => values.max(),
            Figure::Count => values.count() as f64,
            Figure::Percentile(percent) => values.percentile(percent),
        }
    }

    /// Whether the figure is a number of samples, and no value of the metric.
    pub(crate) fn is_count(&self) -> bool {
        self.figure == Figure::Count
    }

    /// The name without brackets: `p95`.
    pub(crate) fn plain_name(&self) -> String {
        self.text.replace(['(', ')'], "")
    }
}

impl fmt::Display for TrendStat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::TrendStat;

    #[test]
    fn names() {
        for text in [
            "avg", "min", "med", "max", "count", "p(0)", "p(99.9)", "p(100)",
        ] {
            assert_eq!(TrendStat::parse(text).expect(text).to_string(), text);
        }
        assert_eq!(
            TrendStat::parse("p(99.9)").expect("a stat").plain_name(),
            "p99.9"
        );
        for text in ["", "p", "p(101)", "p(-1)", "p(x)", "p(NaN)", "mean", "p95"] {
            assert!(TrendStat::parse(text).is_err(), "{text}");
        }
        let defaults: Vec<String> = TrendStat::defaults()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(defaults.join(","), "avg,min,med,max,p(90),p(95)");
    }
}
