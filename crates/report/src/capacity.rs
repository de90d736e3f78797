//! A capacity that was searched for: the answer, what bounds it, and the knee.
//!
//! A [`Finding`] is filled while the run goes on; `text`, `markdown` and `json` show what is in it
//! and decide nothing. The knee is a row for each rate that was tried, in the order of the rates:
//! response times against the load.

mod json;
mod markdown;
mod text;

use drumfire_capacity::{Answer, Stage};
use drumfire_measure::{Histogram, Objective};
use drumfire_units::Nanos;

pub use json::SCHEMA;

/// A search and its result.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The id of the run that was made for it.
    pub run: String,
    /// The target, as the run names it.
    pub target: String,
    /// The answer.
    pub answer: Answer,
    /// The objectives, in their order.
    pub objectives: Vec<Objective>,
    /// The rates that were tried.
    pub knee: Vec<KneeRow>,
    /// What bounds the rate; `None` where nothing was found.
    pub bottleneck: Option<Bottleneck>,
    /// Why the search has no answer of the target, as the generator says of itself.
    pub reasons: Vec<String>,
    /// Whether it was ended before its own end.
    pub is_cut_short: bool,
}

/// What bounds the rate at which the objectives are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// The target: requests are beyond their objective from the moment at which they were sent.
    Target,
    /// Connections: requests waited for one that was free, and the target was not what was slow.
    Connections,
}

/// The requests at one rate.
#[derive(Clone, Debug)]
pub struct KneeRow {
    /// The stage of the search.
    pub stage: Stage,
    /// The mean rate that was asked for, per second.
    pub rate: f64,
    /// The time for which it was.
    pub span: Nanos,
    /// The requests that ended.
    pub ended: u64,
    /// The times that the objectives are about; of the response where none is.
    pub times: Histogram,
    /// For each objective, the share of the requests that was beyond it.
    pub shares: Vec<f64>,
}

impl Finding {
    /// The answer as a sentence, for the notes of the run.
    #[must_use]
    pub fn note(&self) -> String {
        format!("capacity: {}", sentence(self))
    }

    /// The rows of the knee, from the lowest rate on. Those in which a queue was drained are left
    /// out, for it was another rate's.
    fn rows(&self) -> Vec<&KneeRow> {
        let mut rows: Vec<&KneeRow> = self.knee.iter().collect();
        rows.retain(|row| row.stage != Stage::Drain && row.ended > 0);
        rows.sort_by(|one, other| one.rate.total_cmp(&other.rate));
        rows
    }

    /// The objective that a row is shown by: the one that bounds the rate, or the first.
    fn shown(&self) -> usize {
        match &self.answer {
            Answer::Found(capacity) => capacity.slo,
            _ => 0,
        }
    }

    /// The quantile that a row shows beside the median.
    fn quantile(&self) -> f64 {
        let timed = self.objectives.get(self.shown());
        let timed = timed.filter(|objective| objective.bound.is_some());
        timed.map_or(0.99, |objective| 1.0 - objective.share)
    }

    /// The expressions of all objectives.
    fn wanted(&self) -> String {
        let all: Vec<&str> = self.objectives.iter().map(|it| &*it.expression).collect();
        all.join(", ")
    }

    /// The expression of one objective.
    fn expression(&self, slo: usize) -> &str {
        self.objectives.get(slo).map_or("", |it| &it.expression)
    }
}

/// `width` is half of the interval, per second: a digit below a tenth of it says nothing.
///
/// A rate with as many digits as its interval supports, and three at least.
fn rounded(rate: f64, width: f64) -> String {
    let digits = match (rate, width) {
        (_, width) if width >= 3.0 => 0,
        (rate, _) if rate >= 1_000.0 => 0,
        (_, width) if width >= 0.3 => 1,
        (rate, _) if rate >= 100.0 => 1,
        _ => 2,
    };
    per_second(rate, digits)
}

/// A rate with three digits before anything is rounded away that stands before the point.
fn short(rate: f64) -> String {
    per_second(
        rate,
        match rate {
            ..9.995 => 2,
            ..99.95 => 1,
            _ => 0,
        },
    )
}

/// A share as a rule has it, without zeros at its end: `1 %`, `0.1 %`.
fn allowed(share: f64) -> String {
    let text = format!("{:.6}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A rate in groups of three digits, with `digits` behind the point: `12,345.6/s`.
fn per_second(rate: f64, digits: usize) -> String {
    let text = format!("{rate:.digits$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match fraction {
        "" => format!("{grouped}/s"),
        fraction => format!("{grouped}.{fraction}/s"),
    }
}

/// A rate that was asked for, without zeros at its end.
fn asked(rate: f64) -> String {
    let text = rounded(rate, 0.0);
    let number = text.strip_suffix("/s").unwrap_or(&text);
    match number.contains('.') {
        true => format!("{}/s", number.trim_end_matches('0').trim_end_matches('.')),
        false => text,
    }
}

/// One sentence serves text, Markdown and the notes of the run, so that a capacity reads the same
/// wherever it is found.
///
/// The sentence of an answer, its state apart.
fn sentence(finding: &Finding) -> String {
    let wanted = finding.wanted();
    match &finding.answer {
        Answer::Found(capacity) => {
            let width = (capacity.high - capacity.low) / 2.0;
            let [rate, low, high] =
                [capacity.rate, capacity.low, capacity.high].map(|it| rounded(it, width));
            format!("{rate} keeps {wanted} (90 % interval {low} to {high})")
        }
        Answer::Below(rate) => format!("below {}: the first rate misses {wanted}", asked(*rate)),
        Answer::Above(rate) => format!("{} or more: the maximum rate keeps {wanted}", asked(*rate)),
        Answer::Generator { rate, kept } => {
            let rate = asked(*rate);
            let kept = kept.map_or_else(String::new, |kept| {
                format!("; {} held for a few seconds", asked(kept))
            });
            format!("no answer: at {rate} the generator was the limit{kept}")
        }
        Answer::Open { kept, missed } => {
            let known = match (kept, missed) {
                (Some(kept), Some(missed)) => format!(
                    "{} held for a few seconds, {} missed",
                    asked(*kept),
                    asked(*missed)
                ),
                (Some(kept), None) => {
                    format!("{} held for a few seconds", asked(*kept))
                }
                (None, _) => "no rate was tested to the end".to_owned(),
            };
            format!("no answer yet: {known}")
        }
    }
}

/// What bounds the rate, in a sentence.
const fn bottleneck_words(bottleneck: Bottleneck) -> &'static str {
    match bottleneck {
        Bottleneck::Target => {
            "the target: the slow requests were slow after they were sent, not while they waited"
        }
        Bottleneck::Connections => {
            "connections: requests waited for a free one, but the target itself was not slow; allow \
             more with -c"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{Color, Style, Unicode};
    use drumfire_capacity::{Capacity, Confirmation};
    use drumfire_measure::{Model, PoolInfo, RunInfo};

    fn objective(text: &str) -> Objective {
        let pool = PoolInfo::new("main", Model::Open, ["GET /"]);
        let rule = text.parse().expect("a rule");
        Objective::of(&rule, &RunInfo::new(vec![pool])).expect("an objective")
    }

    fn row(stage: Stage, rate: f64, took: &[u64]) -> KneeRow {
        let mut times = Histogram::new();
        for ms in took {
            for _ in 0..400 {
                times.record(Nanos::from_millis(*ms));
            }
        }
        KneeRow {
            stage,
            rate,
            span: Nanos::from_secs(3),
            ended: times.count(),
            times,
            shares: vec![0.004, 0.0],
        }
    }

    fn finding(answer: Answer) -> Finding {
        Finding {
            run: "20260131-235959".to_owned(),
            target: "http://127.0.0.1:8080/".to_owned(),
            answer,
            objectives: vec![objective("p99<50ms"), objective("failed<1%")],
            knee: vec![
                row(Stage::Hold, 905.3, &[10, 20, 49]),
                row(Stage::Climb, 640.0, &[2, 3]),
                row(Stage::Drain, 448.0, &[90]),
            ],
            bottleneck: Some(Bottleneck::Target),
            reasons: Vec::new(),
            is_cut_short: false,
        }
    }

    fn found() -> Answer {
        Answer::Found(Capacity {
            rate: 905.31,
            low: 881.2,
            high: 929.7,
            slo: 0,
            held: 180.0,
            confirmation: Some(Confirmation {
                rate: 878.2,
                shares: vec![0.003_1, 0.0],
                is_kept: true,
                made: 1,
            }),
        })
    }

    fn text(finding: &Finding) -> String {
        finding.text(&Style::new(100, Color::Off, Unicode::On))
    }

    #[test]
    fn the_answer_stands_first_and_the_knee_goes_up() {
        let text = text(&finding(found()));
        let first =
            "Capacity     ✓ 905/s keeps p99<50ms, failed<1% (90 % interval 881/s to 930/s)\n";
        assert!(text.starts_with(first), "{text}");
        let confirmed =
            "Confirmed    878/s: 0.31 % beyond p99<50ms, 1 % allowed; 0 % beyond failed<1%";
        assert!(text.contains(confirmed), "{text}");
        let (low, high) = (text.find("640"), text.find("905/s  hold"));
        assert!(
            low.zip(high).is_some_and(|(low, high)| low < high),
            "{text}"
        );
        assert!(!text.contains("drain"), "{text}");
    }

    #[test]
    fn every_other_answer_has_its_sentence() {
        let open = Answer::Open {
            kept: Some(640.0),
            missed: Some(1_280.0),
        };
        let generator = Answer::Generator {
            rate: 20_480.0,
            kept: Some(10_240.0),
        };
        for (answer, part) in [
            (
                Answer::Below(10.0),
                "below 10/s: the first rate misses p99<50ms",
            ),
            (Answer::Above(5_000.0), "5,000/s or more"),
            (
                generator,
                "at 20,480/s the generator was the limit; 10,240/s held",
            ),
            (
                open,
                "no answer yet: 640/s held for a few seconds, 1,280/s missed",
            ),
        ] {
            let text = text(&finding(answer));
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn json_and_markdown_say_the_same() {
        let finding = finding(found());
        let json: serde_json::Value = serde_json::from_slice(&finding.json()).expect("JSON");
        assert_eq!(json["answer"], "found");
        assert_eq!(json["rate_per_s"], 905.31);
        assert_eq!(json["slo"], "p99<50ms");
        assert_eq!(json["limited_by"], "target");
        assert_eq!(json["confirmation"]["kept"], true);
        assert_eq!(json["knee"][0]["rate_per_s"], 640.0);
        let markdown = String::from_utf8(finding.markdown()).expect("a text");
        assert!(
            markdown.starts_with("**Capacity: 905/s keeps p99\\<50ms"),
            "{markdown}"
        );
        assert!(markdown.contains("| 905/s | hold |"), "{markdown}");
    }

    #[test]
    fn a_rate_has_no_more_digits_than_its_interval() {
        for (rate, width, text) in [
            (905.31, 24.0, "905/s"),
            (905.31, 1.0, "905.3/s"),
            (12_345.6, 200.0, "12,346/s"),
            (9.876, 0.1, "9.88/s"),
            (1_234_567.0, 1e5, "1,234,567/s"),
        ] {
            assert_eq!(rounded(rate, width), text);
        }
    }
}
