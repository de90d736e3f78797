//! Thresholds as text.

use drumfire_plan::{Comparison, Metric, Threshold};
use drumfire_units::Nanos;
use proptest::prelude::*;

fn parse(text: &str) -> Threshold {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Checks the meaning of a text, and its printed form.
fn check(text: &str, metric: Metric, comparison: Comparison, bound: f64, canonical: &str) {
    let threshold = parse(text);
    assert_eq!(threshold.metric, metric, "{text}");
    assert_eq!(threshold.comparison, comparison, "{text}");
    assert_eq!(threshold.bound.to_bits(), bound.to_bits(), "{text}");
    assert_eq!(threshold.expression, text.trim());
    assert_eq!(threshold.to_string(), canonical, "{text}");
}

#[test]
fn the_grammar_of_the_manual() {
    use Comparison::{AtLeast, AtMost, Equal, Greater, Less, NotEqual};
    use Metric::{Failed, Lag, Max, Mean, Min, Quantile, Rate, Status, Step};
    let p = Quantile;
    let lag = Lag(Box::new(p(0.99)));
    let step = |name: &str, metric| Step(name.to_owned(), Box::new(metric));
    for (text, metric, comparison, bound, canonical) in [
        ("p99<50ms", p(0.99), Less, 5e7, "p99<50ms"),
        ("p99.9<=1s", p(0.999), AtMost, 1e9, "p99.9<=1s"),
        ("p(99.99) < 1s", p(0.9999), Less, 1e9, "p99.99<1s"),
        ("p100<2s", p(1.0), Less, 2e9, "p100<2s"),
        ("avg<20ms", Mean, Less, 2e7, "avg<20ms"),
        ("mean < 20ms", Mean, Less, 2e7, "avg<20ms"),
        ("med>1us", p(0.5), Greater, 1e3, "p50>1us"),
        ("min!=0", Min, NotEqual, 0.0, "min!=0"),
        (" max < 2s ", Max, Less, 2e9, "max<2s"),
        ("rate>=995/s", Rate, AtLeast, 995.0, "rate>=995/s"),
        ("rate>=90/m", Rate, AtLeast, 1.5, "rate>=1.5/s"),
        ("rate>0.5", Rate, Greater, 0.5, "rate>0.5/s"),
        ("failed<0.1%", Failed, Less, 0.001, "failed<0.1%"),
        ("failed==0", Failed, Equal, 0.0, "failed==0%"),
        ("failed<=0.05", Failed, AtMost, 0.05, "failed<=5%"),
        ("status(500)==0", Status(500), Equal, 0.0, "status(500)==0"),
        ("lag.p99<1ms", lag, Less, 1e6, "lag.p99<1ms"),
        (
            "step(login).p95<200ms",
            step("login", p(0.95)),
            Less,
            2e8,
            "step(login).p95<200ms",
        ),
        (
            "step ( GET /f(x) ) . failed < 1%",
            step("GET /f(x)", Failed),
            Less,
            0.01,
            "step(GET /f(x)).failed<1%",
        ),
        (
            "step(a).lag.max<1s",
            step("a", Lag(Box::new(Max))),
            Less,
            1e9,
            "step(a).lag.max<1s",
        ),
    ] {
        check(text, metric, comparison, bound, canonical);
    }
    let window = |text| parse(text).window;
    assert_eq!(window("p99<50ms over 60s"), Some(Nanos::from_secs(60)));
    assert_eq!(window("p99<50ms"), None);
    assert_eq!(
        parse("p99<50ms  over  60s ").to_string(),
        "p99<50ms over 1m"
    );
}

/// Each text with the byte and words of its error.
#[test]
fn refused_thresholds_say_what_is_right() {
    for (text, at, words) in [
        ("", 0, "a metric is missing"),
        ("<50ms", 0, "a metric is missing"),
        (
            "maxx<1s",
            0,
            "`maxx` is not a metric; did you mean `max`? The metrics are p99",
        ),
        ("latency<1s", 0, "the metrics are p99, avg"),
        ("p<1s", 1, "above 0 and up to 100"),
        ("p0<1s", 1, "above 0 and up to 100"),
        ("p100.1<1s", 1, "above 0 and up to 100"),
        ("p(99<1s", 2, "above 0"),
        ("p9.9.9<1s", 1, "above 0"),
        ("p99", 3, "write one of < <= > >= == !="),
        ("p99=1s", 3, "for equality write =="),
        ("p99≤1s", 3, "write <="),
        (
            "p99<50",
            4,
            "`50` can't be the bound; write a duration with its unit",
        ),
        ("p99<", 4, "a bound is missing; write a duration"),
        ("rate>=fast", 6, "write a rate such as 995/s"),
        ("failed<200%", 7, "a share from 0 to 1"),
        ("failed<5", 7, "a percentage such as 0.1%"),
        ("failed<NaN", 7, "can't be the bound"),
        ("status(500)==0.5", 13, "a count such as 0"),
        ("status(500)==+1", 13, "a count such as 0"),
        ("status==0", 6, "three digits"),
        ("status(99)==0", 7, "three digits"),
        ("lag<1ms", 3, "lag.p99<1ms"),
        ("lag.rate<1/s", 4, "lag has times only"),
        ("step<1ms", 0, "write step(NAME)"),
        ("step().p99<1s", 5, "the step has no name"),
        ("step(x<1s", 5, "has no end"),
        ("p99<50ms 60s", 9, "`60s` is left over"),
        ("p99<50ms over", 13, "a window's length"),
        ("p99<50ms over 0", 14, "a window's length"),
        ("p99<50ms over 60s more", 14, "nothing after it"),
    ] {
        let error = text.parse::<Threshold>().expect_err(text);
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.message.contains(words), "{text}: {error}");
    }
    assert!("p99<1s ".repeat(1000).parse::<Threshold>().is_err());
}

fn any_metric() -> impl Strategy<Value = (Metric, BoxedStrategy<f64>)> {
    let time = || {
        any::<u64>()
            .prop_map(|ns| ns as f64 / 2.0)
            .prop_map(f64::floor)
            .boxed()
    };
    let times = prop_oneof![
        (1..100_000_000_u32)
            .prop_map(|q| Metric::Quantile(format!("{q}e-8").parse().unwrap_or(1.0))),
        Just(Metric::Mean),
        Just(Metric::Min),
        Just(Metric::Max),
    ];
    let times = times
        .prop_flat_map(|metric| {
            let lag = Metric::Lag(Box::new(metric.clone()));
            prop_oneof![Just(metric), Just(lag)]
        })
        .prop_map(move |metric| (metric, time()));
    let plain = prop_oneof![
        times,
        Just((Metric::Rate, (0.0..1e12).boxed())),
        Just((Metric::Failed, (0.0..=1.0).boxed())),
        Just((
            Metric::Failed,
            (0..=1000).prop_map(|n| f64::from(n) / 1000.0).boxed()
        )),
        (100..1000_u16).prop_map(|code| (
            Metric::Status(code),
            any::<u32>().prop_map(f64::from).boxed()
        )),
    ];
    let name = proptest::option::of("[a-z][a-z ()]{0,9}[a-z]");
    (plain, name).prop_map(|((metric, bound), name)| match name {
        Some(name) => (Metric::Step(name, Box::new(metric)), bound),
        None => (metric, bound),
    })
}

fn any_threshold() -> impl Strategy<Value = Threshold> {
    let comparison = prop_oneof![
        Just(Comparison::Less),
        Just(Comparison::AtMost),
        Just(Comparison::Greater),
        Just(Comparison::AtLeast),
        Just(Comparison::Equal),
        Just(Comparison::NotEqual),
    ];
    let bounded = any_metric().prop_flat_map(|(metric, bound)| (Just(metric), bound));
    let window = proptest::option::of((1..u64::MAX).prop_map(Nanos));
    (bounded, comparison, window).prop_map(|((metric, bound), comparison, window)| Threshold {
        expression: String::new(),
        metric,
        comparison,
        bound,
        window,
    })
}

proptest! {
    #[test]
    fn printing_and_parsing_gives_the_threshold_back(threshold in any_threshold()) {
        let text = threshold.to_string();
        let again = parse(&text);
        prop_assert_eq!(&again.expression, &text);
        let expression = String::new();
        prop_assert_eq!(Threshold { expression, ..again }, threshold);
    }

    #[test]
    fn any_text_is_parsed_or_refused(
        text: String,
        near in "(step\\([a-z)]{0,3}\\)?)?\\.?(lag\\.)?(p|avg|rate|failed|status)?[(]?[0-9.]{0,4}[)]?[<>=!]{0,2}[0-9ms%/é. ]{0,6}( ?over ?[0-9ms]{0,3})?",
    ) {
        for text in [text, near] {
            match text.parse::<Threshold>() {
                Ok(threshold) => {
                    let again = parse(&threshold.to_string());
                    prop_assert_eq!(again.metric, threshold.metric);
                    prop_assert_eq!(again.bound.to_bits(), threshold.bound.to_bits());
                }
                Err(error) => prop_assert!(text.is_char_boundary(error.at)),
            }
        }
    }
}
