//! Rate laws as text.

use drumfire_plan::{Law, Sequence};
use drumfire_units::{Nanos, Rate};
use proptest::prelude::*;

fn parse(text: &str) -> Sequence {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Each text with its canonical form.
#[test]
fn canonical_forms() {
    for (text, canonical) in [
        (
            "line(5,200,60s) const(200,5m)",
            "line(5/s,200/s,1m) const(200/s,5m)",
        ),
        (
            " line( 5/s , 200/s,60s )const ( 200 )\n",
            "line(5/s,200/s,1m) const(200/s)",
        ),
        ("500", "const(500/s)"),
        ("90/m", "const(90/m)"),
        ("once(100) 0.2/s", "once(100) const(1/5s)"),
        ("step(10,50,10,30s)", "step(10/s,50/s,10/s,30s)"),
        ("unlimited(10s) unlimited", "unlimited(10s) unlimited"),
        ("unlimited()", "unlimited"),
        ("sine(100,50,60s,10m)", "sine(100/s,50/s,1m,10m)"),
        ("sine(100,100,60s)", "sine(100/s,100/s,1m)"),
        ("stairs(5)", "stairs(5/s)"),
        ("stairs( 5, 1s, 0,2s )", "stairs(5/s,1s,0/s,2s)"),
        ("stairs(5,1s,90/m,1s,7)", "stairs(300/m,1s,90/m,1s,420/m)"),
    ] {
        assert_eq!(parse(text).to_string(), canonical, "{text}");
        assert_eq!(parse(canonical), parse(text), "{text}");
    }
}

#[test]
fn laws_hold_what_was_written() {
    let forever = Law::Const {
        rate: Rate::per_second(200),
        duration: Nanos::MAX,
    };
    assert!(forever.runs_on());
    assert_eq!(parse("200"), Sequence(vec![forever]));
    let step = Law::Step {
        from: Rate::per_second(10),
        to: Rate::per_second(50),
        by: Rate::per_second(10),
        duration: Nanos::from_secs(30),
    };
    assert!(!step.runs_on());
    assert_eq!(parse("step(10,50,10,30s)"), Sequence(vec![step]));
}

/// Each text with the byte position and the text of its error.
const REFUSED: &[(&str, usize, &str)] = &[
    ("", 0, "write a rate such as 500/s"),
    ("   ", 0, "the load is empty"),
    (
        "const(5,1s) lines(5,200,60s)",
        12,
        "`lines` is not a law; did you mean `line`? The laws are const, line",
    ),
    (
        "surge(5)",
        0,
        "the laws are const, line, once, sine, stairs, step, trace, unlimited",
    ),
    ("fast", 0, "neither a rate nor a law"),
    ("line", 0, "write line(FROM, TO, DURATION)"),
    (
        "line(5,200)",
        0,
        "`line` has 2 arguments here; write line(FROM, TO, DURATION)",
    ),
    ("once()", 0, "has 0 arguments"),
    ("line(1 10 1m)", 0, "`line` has 1 argument here"),
    ("poisson(10)", 0, "write const(10/s,5m)"),
    ("line(5,x,60s)", 7, "`x` is not a rate"),
    ("line(5, 200, 60)", 13, "`60` is not a duration"),
    ("const(5,0s)", 8, "a duration can't be 0"),
    ("const(5,1500000h)", 8, "longer than 146 years"),
    ("const(5,,1s)", 8, "an argument is missing"),
    ("const(5,)", 8, "an argument is missing"),
    ("const(5", 7, "a closing parenthesis is missing"),
    (
        "const(5 line(1,2,3s)",
        12,
        "a closing parenthesis is missing",
    ),
    ("once(1.5)", 5, "`1.5` is not a count"),
    ("once(-1)", 5, "is not a count"),
    ("step(1,2,0,1s)", 9, "a step of 0"),
    ("sine(10,11,1s)", 8, "write at most 10/s"),
    ("sine(10,5,0s)", 10, "a duration can't be 0"),
    ("stairs()", 0, "write stairs(RATE, DURATION"),
    ("stairs(5,1s,x)", 12, "`x` is not a rate"),
    ("stairs(5,0s)", 9, "a duration can't be 0"),
    ("stairs(1/7919ms,1s,1/7907h,1s)", 19, "per second"),
    ("stairs(5) 3", 10, "nothing can follow"),
    (
        "500 const(5,1s)",
        4,
        "nothing can follow a law without an end",
    ),
    ("unlimited 5", 10, "nothing can follow"),
    (
        "const(5,1s))",
        11,
        "unexpected `)`; separate laws with spaces",
    ),
    (
        "const(5,1s),const(6,1s)",
        11,
        "unexpected `,`; separate laws",
    ),
    ("(const(5,1s))", 0, "unexpected `(`; separate laws"),
    ("99999999999999999999/s", 0, "can't be counted"),
    ("line(0.0000000001,5,1s)", 5, "can't be counted"),
    ("trace(times.txt)", 6, "can't be read here"),
    ("é", 0, "neither a rate"),
];

#[test]
fn refused_laws_say_what_is_right() {
    for &(text, at, words) in REFUSED {
        let error = text.parse::<Sequence>().expect_err(text);
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.message.contains(words), "{text}: {error}");
        assert_eq!(
            error.to_string(),
            format!("at byte {at}: {}", error.message)
        );
    }
    assert!("1".repeat(2_000_000).parse::<Sequence>().is_err());
}

/// A rate in words, or a time instead of a rate, with the byte position and the text of its error.
#[test]
fn rates_in_words_have_their_form() {
    for (text, at, words) in [
        ("100 times", 4, "`times` is neither a rate nor a law"),
        ("10 every 2 seconds", 0, "write 10/2s"),
        ("every 2 seconds", 0, "write 1/2s"),
        ("once a second", 0, "write 1/s"),
        ("1,000", 0, "write 1000/s"),
        (
            "2s",
            0,
            "`2s` is a time, not a rate; for one request every 2s, write 1/2s",
        ),
    ] {
        let error = text.parse::<Sequence>().expect_err(text);
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.message.contains(words), "{text}: {error}");
    }
}

#[test]
fn traces_come_from_the_caller() {
    let mut files = Vec::new();
    let mut read = |file: &str| {
        files.push(file.to_owned());
        match file {
            "a, b (1.txt" => Ok(vec![Nanos(1), Nanos(2)]),
            _ => Err("no such file".to_owned()),
        }
    };
    let text = "trace( a, b (1.txt ) 5";
    let sequence = Sequence::parse_with(text, &mut read).unwrap();
    assert_eq!(sequence.0.len(), 2);
    assert_eq!(sequence.to_string(), "trace(2 times) const(5/s)");
    let error = Sequence::parse_with("trace(x)", &mut read).unwrap_err();
    assert_eq!((error.at, error.message.as_str()), (6, "no such file"));
    assert_eq!(files, ["a, b (1.txt", "x"]);
}

fn any_rate() -> impl Strategy<Value = Rate> {
    (0..1_000_000_000_000_000_u64, 1..1_000_000_000_000_000_u64).prop_map(|(events, per)| Rate {
        events,
        per: Nanos(per),
    })
}

fn any_duration() -> impl Strategy<Value = Nanos> {
    (1..1_u64 << 62).prop_map(Nanos)
}

/// Steps with the same `per` for all rates, each with an end.
fn any_stairs() -> impl Strategy<Value = Law> {
    let levels = proptest::collection::vec((any::<u64>(), any_duration()), 1..5);
    (1..1_000_000_000_000_000_u64, levels).prop_map(|(per, levels)| {
        let per = Nanos(per);
        let steps = levels.into_iter();
        let steps = steps.map(|(events, span)| (Rate { events, per }, span));
        Law::Stairs {
            steps: steps.collect(),
        }
    })
}

fn any_law() -> impl Strategy<Value = Law> {
    prop_oneof![
        (any_rate(), any_duration()).prop_map(|(rate, duration)| Law::Const { rate, duration }),
        (any_rate(), any_rate(), any_duration()).prop_map(|(from, to, duration)| Law::Line {
            from,
            to,
            duration
        }),
        (any_rate(), any_rate(), any_rate(), any_duration()).prop_map(
            |(from, to, mut by, duration)| {
                by.events += 1;
                Law::Step {
                    from,
                    to,
                    by,
                    duration,
                }
            }
        ),
        any::<u64>().prop_map(|count| Law::Once { count }),
        any_duration().prop_map(|duration| Law::Unlimited { duration }),
        any_stairs(),
        (any_rate(), any_duration(), any_duration()).prop_map(|(mean, period, duration)| {
            Law::Sine {
                mean,
                amplitude: mean,
                period,
                duration,
            }
        }),
    ]
}

fn any_sequence() -> impl Strategy<Value = Sequence> {
    let endless = prop_oneof![
        any_rate().prop_map(|rate| Law::Const {
            rate,
            duration: Nanos::MAX
        }),
        Just(Law::Unlimited {
            duration: Nanos::MAX
        }),
        any_rate().prop_map(|rate| Law::Stairs {
            steps: [(rate, Nanos::MAX)].into()
        }),
    ];
    (
        proptest::collection::vec(any_law(), 1..6),
        proptest::option::of(endless),
    )
        .prop_map(|(mut laws, last)| {
            laws.extend(last);
            Sequence(laws)
        })
}

proptest! {
    #[test]
    fn printing_and_parsing_gives_the_sequence_back(sequence in any_sequence()) {
        prop_assert_eq!(parse(&sequence.to_string()), sequence);
    }

    #[test]
    fn any_text_is_parsed_or_refused(
        text: String,
        near in "((const|line|step|stairs|sine|once|unlimited|trace|[a-z]{0,4})[( ]?[0-9smh./, ]{0,12}[) ]?){0,4}",
    ) {
        for text in [text, near] {
            match text.parse::<Sequence>() {
                Ok(sequence) => prop_assert_eq!(parse(&sequence.to_string()), sequence),
                Err(error) => prop_assert!(text.is_char_boundary(error.at)),
            }
        }
    }
}
