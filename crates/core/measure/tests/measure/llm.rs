//! Answers of language models: their times, their speed, and rules on them.

use crate::samples;
use drumfire_measure::{AnswerSample, Interval, Model, Outcome, Reading, Sample, ThresholdResult};
use drumfire_plan::{EventClass, Finish, Slo, Threshold, TokenUsage};
use drumfire_units::Nanos;

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

/// An answer whose first token comes at `first`, with `events` events of a token each, `apart`.
fn answer(first: u64, apart: u64, events: u64) -> AnswerSample {
    let last = first + apart * (events - 1);
    AnswerSample {
        generates: true,
        first: Some(ms(first)),
        first_visible: Some(ms(first)),
        last: Some(ms(last)),
        stall: (events > 1).then_some(ms(apart)),
        token_events: events,
        counted: events,
        usage: TokenUsage {
            input: Some(100),
            cached: Some(25),
            output: Some(events as u32),
            reasoning: None,
        },
        asked: Some(10),
        finish: Some(match events {
            10 => Finish::Length,
            _ => Finish::Stop,
        }),
        is_complete: true,
        ..AnswerSample::default()
    }
}

fn slos(rules: &[Threshold]) -> Vec<Slo> {
    Threshold::slos(rules)
}

/// Runs these answers in one second, and returns the results of these rules.
fn results(answers: &[(AnswerSample, Sample)], rules: &[&str]) -> Vec<ThresholdResult> {
    let rules: Vec<Threshold> = rules
        .iter()
        .map(|rule| rule.parse().expect("a rule"))
        .collect();
    let mut info = (*samples::run(Model::Open, &["chat"])).clone();
    info.thresholds = rules.clone();
    let mut interval = Interval::of_pools(&info.pools);
    interval.end = Nanos::from_secs(1);
    let figures = interval.pool_mut(0);
    for (answer, sample) in answers {
        figures.record_intended(1);
        figures.record(sample);
        let llm = figures.llm_mut(0);
        for n in 0..answer.token_events {
            llm.record_event(EventClass::Token);
            llm.record_tokens(1);
            if n > 0 {
                llm.record_gap(answer.stall.unwrap_or_default(), None);
            }
        }
        llm.record(answer, sample, Model::Open, &slos(&rules));
    }
    interval.sum_up();
    let mut reading = Reading::new(info.into(), &rules);
    reading.absorb(&interval);
    reading.close(Nanos::from_secs(1), 0.0).thresholds
}

/// Fifty answers of ten tokens, 20 ms apart, half of which begin after 30 ms and half after 80 ms;
/// and two that failed.
fn run() -> Vec<(AnswerSample, Sample)> {
    let mut all: Vec<_> = (0..50_u64)
        .map(|n| {
            let first = if n % 2 > 0 { 80 } else { 30 };
            (answer(first, 20, 10), samples::ok(ms(0), ms(first + 180)))
        })
        .collect();
    let failed = samples::failed(ms(0), ms(40), Outcome::LlmOverloaded);
    let cut = AnswerSample {
        usage: TokenUsage::default(),
        finish: None,
        is_complete: false,
        ..answer(30, 1, 2)
    };
    all.extend([(cut, failed), (cut, failed)]);
    all
}

#[test]
fn rules_apply_to_the_figures_of_answers() {
    for (rule, passes, text) in [
        ("ttft.p50<31ms", true, "30 ms"),
        ("ttft.max<80ms", false, "80 ms"),
        ("ttfv.min>=30ms", true, "30 ms"),
        ("tpot.max<=20ms", true, "20 ms"),
        ("tpot.med>21ms", false, "20 ms"),
        ("gap.max<=20ms", true, "20 ms"),
        ("stall.max<20.1ms", true, "20 ms"),
        ("speed.p10>=49/s", true, "50/s"),
        ("speed.min>51/s", false, "50/s"),
        ("tokens>=504/s", true, "504/s"),
        ("cached<26%", true, "25 %"),
        ("finish(length)>=96%", true, "96.2 %"),
        ("finish(stop)==0%", true, "0 %"),
        ("short==0%", true, "0 %"),
        ("llm_errors(overloaded)==2", true, "2"),
        ("llm_errors(rate_limit)==0", true, "0"),
        ("llm_errors==2", true, "2"),
        ("goodput(ttft<50ms)>=48%", true, "48.1 %"),
        (
            "goodput(ttft<=80ms,tpot<=20ms,response<1s)>=97%",
            false,
            "96.2 %",
        ),
        ("goodput(ttft<50ms,tpot<20ms)>=1%", false, "0 %"),
        ("goodput(ttft<50ms)>=25/s", true, "25/s"),
        ("step(chat).ttft.p50<31ms", true, "30 ms"),
    ] {
        let result = &results(&run(), &[rule])[0];
        assert_eq!(result.passed, passes, "{rule}: {}", result.actual_text);
        let figure = result.actual_text.split(',').next().unwrap_or_default();
        let figure = figure.replace(".0 ", " ").replace(".0/", "/");
        assert_eq!(figure, text, "{rule}: {}", result.actual_text);
    }
}

/// A length includes its first number and ends below its double. A merge adds lengths.
#[test]
fn times_to_the_first_token_are_grouped_by_prompt() {
    let recorded = |tokens: &[Option<u32>]| {
        let mut interval = Interval::of_pools(&samples::run(Model::Open, &["chat"]).pools);
        let llm = interval.pool_mut(0).llm_mut(0);
        for (n, input) in (1..).zip(tokens) {
            let mut answer = answer(10 * n, 1, 2);
            answer.usage.input = *input;
            llm.record(&answer, &samples::ok(ms(0), ms(500)), Model::Open, &[]);
        }
        interval.sum_up();
        interval
    };
    let lengths = |interval: &Interval| -> Vec<(u64, u64, u64, Nanos)> {
        let llm = interval.total.llm().expect("answers");
        let all = llm.ttft_by_prompt();
        all.map(|(tokens, times)| (tokens.start, tokens.end, times.count(), times.max()))
            .collect()
    };
    let mut all = recorded(&[Some(64), Some(127), None, Some(0)]);
    let near = |of: Vec<(u64, u64, u64, Nanos)>| -> Vec<_> {
        let near = |time: Nanos| (time.0 + 500_000) / 1_000_000;
        of.into_iter()
            .map(|(a, b, n, max)| (a, b, n, near(max)))
            .collect()
    };
    assert_eq!(near(lengths(&all)), [(0, 1, 1, 40), (64, 128, 2, 20)]);
    all.total
        .merge(&recorded(&[Some(63), Some(u32::MAX)]).total);
    let longest = 1 << 31;
    let expected = [
        (0, 1, 1, 40),
        (32, 64, 1, 10),
        (64, 128, 2, 20),
        (longest, 2 * longest, 1, 20),
    ];
    assert_eq!(near(lengths(&all)), expected);
}

/// Each rule on goodput has its own count, and equal limits share one.
#[test]
fn rules_on_goodput_have_their_own_counts() {
    let rules = [
        "goodput(ttft<50ms)>=48%",
        "p50<1s",
        "goodput(ttft<90ms)>=96%",
        "goodput(ttft<50ms)<49%",
    ];
    let all = results(&run(), &rules);
    assert!(all.iter().all(|result| result.passed), "{all:?}");
}

#[test]
fn a_run_without_answers_has_no_figures_of_them() {
    for rule in [
        "ttft.p50<1s",
        "tokens>1/s",
        "goodput(ttft<1s)>=1%",
        "speed.min>1/s",
    ] {
        let result = &results(&[], &[rule])[0];
        assert!(!result.passed);
        assert!(
            result.actual_text.contains("read: chat"),
            "{}",
            result.actual_text
        );
    }
}

/// The time per token leaves out the tokens of the first event.
#[test]
fn the_time_per_token_has_a_definition() {
    let all = answer(10, 20, 10);
    assert_eq!(all.tpot(), Some(ms(20)));
    let counted = AnswerSample {
        first_tokens: Some(4),
        ..all
    };
    assert_eq!(counted.tpot(), Some(ms(30)));
    for none in [
        answer(10, 0, 1),
        AnswerSample {
            is_complete: false,
            ..all
        },
        AnswerSample {
            usage: TokenUsage::default(),
            ..all
        },
        AnswerSample {
            usage: TokenUsage {
                output: Some(1),
                ..TokenUsage::default()
            },
            ..all
        },
    ] {
        assert_eq!(none.tpot(), None, "{none:?}");
    }
}
