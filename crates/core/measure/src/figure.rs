//! The figure that a threshold compares, and its judgement.
//!
//! Requests whose end was not seen are in the latency as "at least this long", so a quantile that
//! includes them is a lower bound of the true figure. A lower bound can fail a rule such as
//! `p99<50ms`, but can never pass it. A quantile of too few samples is not a figure; but it passes
//! a bound from above if even the largest sample does.

use crate::form;
use crate::words::{quantile_text, share_text_to};
use drumfire_plan::{Comparison, Metric, Threshold};
use drumfire_units::rounded;

/// The certainty of the figure that a threshold compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// The figure itself.
    #[default]
    Exact,
    /// A lower bound: the figure is this or larger.
    AtLeast,
    /// An upper bound: the largest of too few samples for a quantile.
    AtMost,
}

form! { enum Certainty { 0 => Exact, 1 => AtLeast, 2 => AtMost } }

/// The judgement of a threshold; the worst is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Judgement {
    /// The rule is true, or the condition false.
    Passes,
    /// Either answer is possible.
    Undecided,
    /// The rule is false, or the condition true.
    Fails,
}

impl Judgement {
    /// Whether a run passes with this judgement. A rule must be certain to pass; a condition that
    /// was never certain has not ended the run.
    pub(crate) const fn passes(self, threshold: &Threshold) -> bool {
        match self {
            Self::Passes => true,
            Self::Undecided => threshold.is_condition(),
            Self::Fails => false,
        }
    }
}

/// A figure in its metric's unit: nanoseconds, per second, share, count.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Figure {
    /// The figure itself.
    Exact(f64),
    /// The figure is this or larger.
    AtLeast(f64),
    /// A quantile of too few samples, which has no figure.
    Scarce {
        /// The largest sample.
        most: f64,
        /// A text with the number of samples that are needed.
        why: String,
    },
}

impl Figure {
    /// A figure that is exact, or a lower bound because of requests without an end.
    pub(crate) const fn bounded(value: f64, is_at_least: bool) -> Self {
        match is_at_least {
            true => Self::AtLeast(value),
            false => Self::Exact(value),
        }
    }

    /// A quantile of `count` samples, the largest of which is `most`; `needed` are necessary.
    pub(crate) fn scarce(q: f64, needed: u64, count: u64, most: f64) -> Self {
        Self::Scarce {
            most,
            why: scarce_text(q, needed, count),
        }
    }

    pub(crate) const fn value(&self) -> f64 {
        match self {
            Self::Exact(value) | Self::AtLeast(value) | Self::Scarce { most: value, .. } => *value,
        }
    }

    pub(crate) const fn certainty(&self) -> Certainty {
        match self {
            Self::Exact(_) => Certainty::Exact,
            Self::AtLeast(_) => Certainty::AtLeast,
            Self::Scarce { .. } => Certainty::AtMost,
        }
    }

    /// The judgement of `threshold`.
    pub(crate) fn judge(&self, threshold: &Threshold) -> Judgement {
        let value = self.value();
        let passes = threshold.passes(value);
        let is_decided = match self {
            Self::Exact(_) => true,
            // The true figure is at or above the bound. The judgement is certain if both ends
            // agree, and also the threshold's value if it is between them.
            Self::AtLeast(_) => {
                passes == threshold.passes(f64::INFINITY)
                    && passes == threshold.passes(value.max(threshold.bound))
            }
            Self::Scarce { .. } => passes && bounds_from_above(threshold),
        };
        match (is_decided, passes) {
            (false, _) => Judgement::Undecided,
            (true, true) => Judgement::Passes,
            (true, false) => Judgement::Fails,
        }
    }

    /// The figure with its unit, and with a sign if it is only a bound. Has three digits, or as
    /// many more as are needed to distinguish it from the threshold's value.
    pub(crate) fn text(&self, threshold: &Threshold) -> String {
        let text = value_text(threshold, self.value());
        match self {
            Self::Exact(_) => text,
            Self::AtLeast(_) => format!("≥ {text}"),
            Self::Scarce { .. } => format!("≤ {text}"),
        }
    }
}

/// Whether the threshold is a rule, not a condition, with an upper bound.
fn bounds_from_above(threshold: &Threshold) -> bool {
    let is_above = matches!(threshold.comparison, Comparison::Less | Comparison::AtMost);
    is_above && !threshold.is_condition()
}

/// The maximum number of digits, beyond the usual three, for distinguishing two values.
const DIGITS_MORE: usize = 9;

/// A value in the threshold's unit. If `rate>=200/s` failed with 199.68/s, three digits would show
/// 200/s.
fn value_text(threshold: &Threshold, value: f64) -> String {
    let text = |value, more| text_to(&threshold.metric, value, more);
    let is_told_apart = |more: &usize| {
        value == threshold.bound || text(value, *more) != text(threshold.bound, *more)
    };
    let more = (0..DIGITS_MORE).find(is_told_apart);
    text(value, more.unwrap_or(DIGITS_MORE))
}

/// A value with the unit of its metric, with `more` digits beyond the usual three. Counts are whole
/// numbers with all digits.
fn text_to(metric: &Metric, value: f64, more: usize) -> String {
    match metric {
        Metric::Quantile(_) | Metric::Mean | Metric::Min | Metric::Max | Metric::Of(..) => {
            rounded::time_to(value, more)
        }
        Metric::Rate | Metric::Tokens | Metric::Speed(_) | Metric::GoodputRate(_) => {
            rounded::rate_to(value, more)
        }
        Metric::Failed
        | Metric::TimedOut
        | Metric::Dropped
        | Metric::Unsent
        | Metric::Cached
        | Metric::Finish(_)
        | Metric::Short
        | Metric::Goodput(_) => share_text_to(value, more),
        Metric::Failures | Metric::LlmErrors(_) | Metric::Status(_) | Metric::StatusClass(_) => {
            rounded::count(value as u64)
        }
        Metric::Iteration(inner) | Metric::Step(_, inner) | Metric::Pool(_, inner) => {
            text_to(inner, value, more)
        }
    }
}

/// Describes a quantile with too few samples.
fn scarce_text(q: f64, needed: u64, count: u64) -> String {
    let (needed, count) = (rounded::count(needed), rounded::count(count));
    format!(
        "{} needs {needed} samples, but there were only {count}",
        quantile_text(q)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges a threshold by this figure.
    ///
    /// An exact figure decides. A lower bound decides if every larger figure gives the same answer.
    /// A quantile of too few samples decides only that a rule with an upper bound passes, by its
    /// largest sample.
    fn judged(rule: &str, figure: &Figure) -> Judgement {
        figure.judge(&rule.parse().expect("a rule"))
    }

    #[test]
    fn a_lower_bound_decides_only_what_every_greater_figure_does() {
        use Judgement::{Fails, Passes, Undecided};
        let forty = Figure::bounded(40e6, true);
        for (rule, judgement) in [
            ("p99<50ms", Undecided),
            ("p99<40ms", Fails),
            ("p99<=40ms", Undecided),
            ("p99<=39ms", Fails),
            ("p99>39ms", Passes),
            ("p99>40ms", Undecided),
            ("p99>=40ms", Passes),
            ("p99>=41ms", Undecided),
            ("max==40ms", Undecided),
            ("max==50ms", Undecided),
            ("max==39ms", Fails),
            ("max!=39ms", Passes),
            ("max!=50ms", Undecided),
        ] {
            assert_eq!(judged(rule, &forty), judgement, "{rule}");
        }
        for (condition, judgement) in [
            ("p99>50ms", Undecided),
            ("p99>30ms", Fails),
            ("p99<50ms", Undecided),
            ("p99<30ms", Passes),
        ] {
            let condition = Threshold::abort_on(condition).expect("a condition");
            assert_eq!(forty.judge(&condition), judgement, "{condition}");
        }
    }

    #[test]
    fn an_upper_bound_only_lets_a_rule_pass() {
        let most = Figure::scarce(0.99, 368, 20, 40e6);
        assert_eq!(judged("p99<50ms", &most), Judgement::Passes);
        for rule in ["p99<40ms", "p99>30ms", "p99==40ms", "p99!=50ms"] {
            assert_eq!(judged(rule, &most), Judgement::Undecided, "{rule}");
        }
        let condition = Threshold::abort_on("p99<50ms").expect("a condition");
        assert_eq!(most.judge(&condition), Judgement::Undecided);
    }

    #[test]
    fn a_figure_has_the_digits_that_tell_it_from_its_bound() {
        for (rule, value, text) in [
            ("rate>=200/s", 199.68, "199.7/s"),
            ("rate>=200/s", 199.997, "199.997/s"),
            ("rate>=200/s", 195.4, "195/s"),
            ("rate>=200/s", 200.0, "200/s"),
            ("rate>=20000/s", 19_999.7, "19,999.7/s"),
            ("p99<50ms", 50.03e6, "50.03 ms"),
            ("p99<50ms", 41.2e6, "41.2 ms"),
            ("p99<1s", 1_000_400_000.0, "1.0004 s"),
            ("p99<1s", 999_800_000.0, "999.8 ms"),
            ("failed<1%", 0.010_004, "1.0004 %"),
            ("failed<1%", 0.02, "2.00 %"),
            ("failures<=5", 6.0, "6"),
        ] {
            let threshold: Threshold = rule.parse().expect("a rule");
            assert_eq!(Figure::Exact(value).text(&threshold), text, "{rule}");
        }
    }
}
