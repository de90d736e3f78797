//! The result of a search for a capacity as text, Markdown and JSON: the answer, what bounds it, and
//! the knee, which has a row for each tried rate.

pub(crate) mod facts;
mod json;
mod why;

use crate::answers::Grade;
use crate::grid::Cell;
use crate::line::Ink;
use crate::markdown;
use crate::section::{Body, Facts};
use crate::style::Style;
use crate::text::printed;
use drumfire_capacity::{Answer, Bottleneck, Capacity, Finding, Why};

pub use json::json;

/// The finding as text: the answer, the facts beside it, and a row for each rate that was tried.
#[must_use]
pub fn text(finding: &Finding, style: &Style) -> String {
    let grade = grade(finding);
    let ink = match grade {
        Grade::Good => Ink::Good,
        Grade::Bad => Ink::Bad,
        Grade::Fair | Grade::Open => Ink::Warn,
    };
    let answer = Cell::new(format!("{}{}", mark(grade), sentence(finding))).inked(ink);
    let mut section = facts::section(finding);
    let answer = Facts::lines("Capacity", vec![answer]);
    section.bodies.insert(0, Body::Facts(answer));
    printed(&[section], style)
}

/// The grade of an answer: good for a confirmed capacity or a maximum that keeps the objectives, bad
/// if no rate or not even the first keeps them. A search that was cut short or limited by the
/// generator is in between.
pub(crate) fn grade(finding: &Finding) -> Grade {
    match &finding.answer {
        Answer::Found(capacity) if !finding.is_cut_short && capacity.confirmed().is_some() => {
            Grade::Good
        }
        Answer::Above(_) => Grade::Good,
        Answer::Below(_)
        | Answer::Unknown {
            why: Why::Independent { .. },
            ..
        } => Grade::Bad,
        Answer::Found(_) | Answer::Generator { .. } | Answer::Unknown { .. } => Grade::Fair,
    }
}

/// The mark of an answer that the search has proven; empty for any other.
pub(crate) const fn mark(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "✓ ",
        Grade::Bad => "✗ ",
        Grade::Fair | Grade::Open => "",
    }
}

/// The finding as Markdown, for a comment. The answer is the heading.
#[must_use]
pub fn markdown(finding: &Finding) -> Vec<u8> {
    let answer = markdown::escaped(&sentence(finding));
    let mut out = format!("## {}{answer}\n\n", mark(grade(finding)));
    markdown::print(&mut out, &facts::section(finding));
    out.into_bytes()
}

/// The answer as a sentence, for the notes of the run.
#[must_use]
pub fn note(finding: &Finding) -> String {
    format!("capacity: {}", sentence(finding))
}

/// A rate with as many digits as its interval supports, and at least three. `width` is half of the
/// interval, per second.
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

/// A rate with three digits, or with all digits before the point.
pub(crate) fn short(rate: f64) -> String {
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

/// A requested rate, without zeros at its end.
fn asked(rate: f64) -> String {
    let text = rounded(rate, 0.0);
    let number = text.strip_suffix("/s").unwrap_or(&text);
    match number.contains('.') {
        true => format!("{}/s", number.trim_end_matches('0').trim_end_matches('.')),
        false => text,
    }
}

/// The answer in a sentence, for text, Markdown and the notes of the run.
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

/// The sentence of a capacity.
fn found(capacity: &Capacity, wanted: &str) -> String {
    format!("{}; {}", headline_of(capacity, wanted), limit(capacity))
}

/// The answer without its interval, for a heading.
pub(crate) fn headline(finding: &Finding) -> String {
    match &finding.answer {
        Answer::Found(capacity) => headline_of(capacity, &finding.wanted()),
        _ => sentence(finding),
    }
}

/// The rate that the target keeps. The confirmed rate comes first, because the estimate misses the
/// objective in half of all cases.
fn headline_of(capacity: &Capacity, wanted: &str) -> String {
    match capacity.confirmed() {
        Some(confirmation) => format!("{} keeps {wanted}", short(confirmation.rate)),
        None => {
            let [rate, ..] = rates(capacity);
            format!("not confirmed: up to about {rate} keeps {wanted}")
        }
    }
}

/// The limit with its interval.
pub(crate) fn limit(capacity: &Capacity) -> String {
    let [rate, low, high] = rates(capacity);
    format!("the limit is {rate} (90 % interval {low} to {high})")
}

/// The estimate and the ends of its interval, as texts.
pub(crate) fn rates(capacity: &Capacity) -> [String; 3] {
    let width = (capacity.high - capacity.low) / 2.0;
    [capacity.rate, capacity.low, capacity.high].map(|it| rounded(it, width))
}

/// What bounds the rate, in a sentence.
pub(crate) fn bottleneck_words(finding: &Finding, bottleneck: Bottleneck) -> String {
    match bottleneck {
        Bottleneck::Target => {
            let objective = finding.objectives.get(finding.bounding());
            let bound = objective.filter(|it| it.is_of_response);
            let bound = bound.and_then(|it| it.bound);
            match bound {
                Some(bound) => format!(
                    "the target: its own responses took {bound} or longer, not counting waits for \
                     a connection or for drumfire"
                ),
                None => "the target: the slow requests were slow after they were sent, not while \
                         they waited"
                    .to_owned(),
            }
        }
        Bottleneck::Connections => "connections: requests waited for a free one, but the target \
             itself was not slow; allow more with -c"
            .to_owned(),
        Bottleneck::Failures => {
            let most = finding.failure.as_ref();
            let most = most.map_or_else(String::new, |name| format!(", most often by {name}"));
            format!("failures: the target refused or failed requests{most}")
        }
    }
}

/// What bounds the rate, in a word or two; `None` if the search does not know.
pub(crate) const fn bottleneck_name(finding: &Finding) -> Option<&'static str> {
    match (finding.bottleneck, &finding.answer) {
        (_, Answer::Generator { .. }) => Some("drumfire itself"),
        (Some(Bottleneck::Target), _) => Some("the target"),
        (Some(Bottleneck::Connections), _) => Some("connections"),
        (Some(Bottleneck::Failures), _) => Some("failures"),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{Color, Style, Unicode};
    use drumfire_capacity::{Confirmation, KneeRow, Stage, Trend, Why};
    use drumfire_compare::contract::capacity as contract;
    use drumfire_measure::{Histogram, Model, Objective, PoolInfo, RunInfo};
    use drumfire_units::Nanos;

    fn objective(text: &str) -> Objective {
        let pool = PoolInfo::new("main", Model::Open, ["GET /"]);
        let rule = text.parse().expect("a rule");
        Objective::from_rule(&rule, &RunInfo::new(vec![pool])).expect("an objective")
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
            course: Vec::new(),
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
        super::text(finding, &Style::new(100, Color::Off, Unicode::On))
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

    /// A rate at which requests fail is bad, although no request was slow.
    #[test]
    fn the_knee_has_the_objective_that_a_rate_misses() {
        let mut finding = finding(Answer::Below(640.0));
        let mut refused = row(Stage::Refine, 800.0, &[2, 3]);
        refused.shares = vec![0.0, 0.0427];
        finding.knee.push(refused);
        let text = text(&finding);
        for (stage, missed) in [("refine", "4.27 % failed<1%"), ("climb", "0.40 % p99<50ms")] {
            let line = text.lines().find(|line| line.contains(stage));
            let words: Vec<&str> = line.expect("the row").split_whitespace().collect();
            assert!(words.join(" ").contains(missed), "{text}");
        }
        // With a single objective, the name is not repeated in each row.
        finding.objectives.truncate(1);
        let alone = super::text(&finding, &Style::new(100, Color::Off, Unicode::On));
        assert!(!alone.contains("objective"), "{alone}");
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
        let text = text(&finding(Answer::Found(capacity)));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!text.contains('✓'), "{text}");
        for part in [
            "Capacity not confirmed: up to about 905/s keeps p99<50ms, failed<1%; the limit is 905/s",
            "Unconfirmed p99<50ms was missed in bursts, one in 50s; a confirmation that could show them \
             takes 3m22s; use --confirm 3m22s",
            "the target became slower while the load was held: from 905/s to 740/s",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn json_and_markdown_say_the_same() {
        let finding = finding(found());
        let document: serde_json::Value = serde_json::from_slice(&json(&finding)).expect("JSON");
        let schema = include_str!("../../../../docs/schema/drumfire.capacity.v1.json");
        let schema = serde_json::from_str(schema).expect("a schema");
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        assert!(validator.is_valid(&document), "{document:#}");
        let read: contract::Document = serde_json::from_slice(&json(&finding)).expect("a document");
        assert_eq!(serde_json::to_value(read).expect("JSON"), document);
        assert_eq!(document["answer"], "found");
        assert_eq!(document["rate_per_s"], 905.31);
        assert_eq!(document["slo"], "p99<50ms");
        assert_eq!(document["limited_by"], "target");
        assert_eq!(document["confirmation"]["kept"], true);
        assert_eq!(document["why"], serde_json::Value::Null);
        assert_eq!(document["knee"][0]["rate_per_s"], 640.0);
        let text = String::from_utf8(markdown(&finding)).expect("a text");
        assert!(text.starts_with("## ✓ 878/s keeps p99\\<50ms"), "{text}");
        assert!(text.contains("| 905/s | hold |"), "{text}");
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
