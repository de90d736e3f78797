//! A capacity that was searched for: the answer, what bounds it, and the knee.
//!
//! A [`Finding`] is filled while the run goes on; `text`, `markdown` and `json` show what is in it
//! and decide nothing. The knee is a row for each rate that was tried, in the order of the rates:
//! response times against the load.

mod json;
mod markdown;
mod text;
mod why;

use drumfire_capacity::{Answer, Capacity, Confirmation, Stage, Why};
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
    /// The most frequent failure, if there was one.
    pub failure: Option<String>,
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
    /// Failures: the target refused requests, or did not answer them as the plan expects.
    Failures,
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
            Answer::Unknown {
                why: Why::Independent { slo, .. } | Why::Missed { slo, .. },
                ..
            } => *slo,
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
        Answer::Found(capacity) => found(capacity, &wanted),
        Answer::Below(rate) => format!("below {}: the first rate misses {wanted}", asked(*rate)),
        Answer::Above(rate) => format!("{} or more: the maximum rate keeps {wanted}", asked(*rate)),
        Answer::Generator { rate, kept } => {
            let rate = asked(*rate);
            let kept = kept.map_or_else(String::new, |kept| {
                format!("; {} held for a few seconds", asked(kept))
            });
            format!("no answer: at {rate} the generator was the limit{kept}")
        }
        Answer::Unknown { why, kept, missed } => why::sentence(finding, why, [*kept, *missed]),
    }
}

/// The sentence of a capacity: first the rate that was confirmed, because the estimate itself misses
/// the objective as often as not.
fn found(capacity: &Capacity, wanted: &str) -> String {
    let width = (capacity.high - capacity.low) / 2.0;
    let [rate, low, high] =
        [capacity.rate, capacity.low, capacity.high].map(|it| rounded(it, width));
    let interval = format!("90 % interval {low} to {high}");
    match confirmed(capacity) {
        Some(confirmation) => {
            let kept = short(confirmation.rate);
            format!("{kept} keeps {wanted}; the limit is {rate} ({interval})")
        }
        None => format!("not confirmed; the limit of {wanted} is about {rate} ({interval})"),
    }
}

/// The confirmation that proved a rate.
fn confirmed(capacity: &Capacity) -> Option<&Confirmation> {
    capacity.confirmation.as_ref().filter(|it| it.is_kept)
}

/// What bounds the rate, in a sentence.
fn bottleneck_words(bottleneck: Bottleneck, failure: Option<&str>) -> String {
    match bottleneck {
        Bottleneck::Target => {
            "the target: the slow requests were slow after they were sent, not while they waited"
                .to_owned()
        }
        Bottleneck::Connections => "connections: requests waited for a free one, but the target \
             itself was not slow; allow more with -c"
            .to_owned(),
        Bottleneck::Failures => {
            let most = failure.map_or_else(String::new, |name| format!(", most often by {name}"));
            format!("failures: the target refused or failed requests{most}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{Color, Style, Unicode};
    use drumfire_capacity::Trend;
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
            failure: None,
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
                requests: 52_431.0,
                is_kept: true,
                made: 1,
            }),
            trend: None,
            why: None,
        })
    }

    fn text(finding: &Finding) -> String {
        finding.text(&Style::new(100, Color::Off, Unicode::On))
    }

    #[test]
    fn the_answer_stands_first_and_the_knee_goes_up() {
        let text = text(&finding(found()));
        let first = "Capacity     ✓ 878/s keeps p99<50ms, failed<1%; the limit is 905/s (90 % interval 881/s to 930/s)\n";
        assert!(text.starts_with(first), "{text}");
        let confirmed =
            "Confirmed    878/s, 52,431 requests: 0.31 % beyond p99<50ms, 1 % allowed; 0 % beyond";
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
        let unknown = |why| Answer::Unknown {
            why,
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
                unknown(Why::Ended),
                "no answer yet: 640/s held for a few seconds, 1,280/s missed",
            ),
            (
                unknown(Why::NotRecovered {
                    overload: 1_280.0,
                    rate: 128.0,
                    share: 1.0,
                }),
                "the target does not recover from the overload that this search made at 1,280/s: at \
                 128/s, 100 % of the requests miss an objective, although it kept them at 640/s",
            ),
            (
                unknown(Why::Independent {
                    slo: 0,
                    tried: vec![(138.0, 0.165), (69.0, 0.047)],
                }),
                "no rate keeps p99<50ms: the share of requests beyond it does not depend on the rate \
                 (16.5 % at 138/s, 4.70 % at 69.0/s)",
            ),
            (
                unknown(Why::TooShort {
                    slo: 0,
                    rate: 1.2,
                    requests: 368.0,
                    gap: None,
                    seconds: 309.0,
                }),
                "no answer: p99<50ms needs 368 requests, which take 5m9s at 1.20/s; use --hold 5m9s \
                 --confirm 5m9s",
            ),
        ] {
            let text = text(&finding(answer)).replace("\n             ", " ");
            assert!(text.contains(part), "{text}");
        }
    }

    /// A capacity that no confirmation proved has no mark, and its reason.
    #[test]
    fn what_was_not_confirmed_is_not_ticked() {
        let Answer::Found(mut capacity) = found() else {
            panic!("a capacity");
        };
        capacity.confirmation = None;
        capacity.trend = Some(Trend::Capacity {
            from: 905.0,
            to: 740.0,
        });
        capacity.why = Some(Why::TooShort {
            slo: 0,
            rate: 870.0,
            requests: 368.0,
            gap: Some(50.0),
            seconds: 202.0,
        });
        let text = text(&finding(Answer::Found(capacity))).replace("\n             ", " ");
        assert!(!text.contains('✓'), "{text}");
        for part in [
            "not confirmed; the limit of p99<50ms, failed<1% is about 905/s",
            "no: p99<50ms was missed in bursts, one in 50s; a confirmation that could show them \
             takes 3m22s; use --confirm 3m22s",
            "the target became slower while the load was held: from 905/s to 740/s",
        ] {
            assert!(text.contains(part), "{part}: {text}");
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
        assert_eq!(json["why"], serde_json::Value::Null);
        assert_eq!(json["knee"][0]["rate_per_s"], 640.0);
        let markdown = String::from_utf8(finding.markdown()).expect("a text");
        assert!(
            markdown.starts_with("**Capacity: 878/s keeps p99\\<50ms"),
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
