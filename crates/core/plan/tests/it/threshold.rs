//! Thresholds as text.

use drumfire_plan::{
    Comparison, Finish, LlmError, Metric, Role, Slo, SloLimit, SloTime, Threshold, Times,
};
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::cmp::Ordering;

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
fn metrics_of_a_run() {
    use Comparison::{AtLeast, AtMost, Equal, Greater, Less, NotEqual};
    use Metric::{
        Dropped, Failed, Iteration, Max, Mean, Min, Of, Quantile, Rate, Status, StatusClass,
        TimedOut, Unsent,
    };
    let p = Quantile;
    let of = |times, metric| Of(times, Box::new(metric));
    let lag = of(Times::Lag, p(0.99));
    for (text, metric, comparison, bound, canonical) in [
        ("p99<50ms", p(0.99), Less, 5e7, "p99<50ms"),
        ("p99 < 50 ms", p(0.99), Less, 5e7, "p99<50ms"),
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
        ("failed<=100%", Failed, AtMost, 1.0, "failed<=100%"),
        ("dropped<1%", Dropped, Less, 0.01, "dropped<1%"),
        ("unsent == 0", Unsent, Equal, 0.0, "unsent==0%"),
        ("timed_out<1%", TimedOut, Less, 0.01, "timed_out<1%"),
        ("status(500)==0", Status(500), Equal, 0.0, "status(500)==0"),
        (
            "status ( 5xx ) < 9",
            StatusClass(5),
            Less,
            9.0,
            "status(5xx)<9",
        ),
        (
            "first_byte.p99<50ms",
            of(Times::FirstByte, p(0.99)),
            Less,
            5e7,
            "first_byte.p99<50ms",
        ),
        (
            "connect . max <= 1s",
            of(Times::Connect, Max),
            AtMost,
            1e9,
            "connect.max<=1s",
        ),
        ("lag.p99<1ms", lag, Less, 1e6, "lag.p99<1ms"),
        (
            "iteration . p95 < 2s",
            Iteration(Box::new(p(0.95))),
            Less,
            2e9,
            "iteration.p95<2s",
        ),
        (
            "iteration.failed<1%",
            Iteration(Box::new(Failed)),
            Less,
            0.01,
            "iteration.failed<1%",
        ),
    ] {
        check(text, metric, comparison, bound, canonical);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn metrics_of_answers() {
    use Comparison::{AtLeast, Equal, Less};
    use Metric::{
        Cached, Goodput, GoodputRate, LlmErrors, Max, Of, Quantile, Short, Speed, Step, Tokens,
    };
    let p = Quantile;
    let of = |times, metric| Of(times, Box::new(metric));
    let limit = |time, inclusive, bound| SloLimit {
        time,
        inclusive,
        bound: Nanos::from_millis(bound),
    };
    let slo = || {
        Slo(vec![
            limit(SloTime::Ttft, false, 200),
            limit(SloTime::Tpot, true, 50),
        ])
    };
    let finish = Metric::Finish(Finish::Length);
    let step = |metric| Step("chat".to_owned(), Box::new(metric));
    for (text, metric, comparison, bound, canonical) in [
        (
            "ttft.p99<500ms",
            of(Times::Ttft, p(0.99)),
            Less,
            5e8,
            "ttft.p99<500ms",
        ),
        (
            "stall.max<1s",
            of(Times::Stall, Max),
            Less,
            1e9,
            "stall.max<1s",
        ),
        (
            "speed.p10 >= 20/s",
            Speed(Box::new(p(0.1))),
            AtLeast,
            20.0,
            "speed.p10>=20/s",
        ),
        ("tokens>=1000/s", Tokens, AtLeast, 1000.0, "tokens>=1000/s"),
        ("cached<1%", Cached, Less, 0.01, "cached<1%"),
        ("short<1%", Short, Less, 0.01, "short<1%"),
        (
            "finish( length )==100%",
            finish,
            Equal,
            1.0,
            "finish(length)==100%",
        ),
        (
            "llm_errors==0",
            LlmErrors(None),
            Equal,
            0.0,
            "llm_errors==0",
        ),
        (
            "llm_errors(overloaded)==0",
            LlmErrors(Some(LlmError::Overloaded)),
            Equal,
            0.0,
            "llm_errors(overloaded)==0",
        ),
        (
            "goodput( ttft < 200ms , tpot <= 50ms ) >= 99%",
            Goodput(slo()),
            AtLeast,
            0.99,
            "goodput(ttft<200ms,tpot<=50ms)>=99%",
        ),
        (
            "goodput(ttft<200ms,tpot<=50ms)>=4/s",
            GoodputRate(slo()),
            AtLeast,
            4.0,
            "goodput(ttft<200ms,tpot<=50ms)>=4/s",
        ),
        (
            "step(chat).goodput(ttft<200ms,tpot<=50ms)>=4/s",
            step(GoodputRate(slo())),
            AtLeast,
            4.0,
            "step(chat).goodput(ttft<200ms,tpot<=50ms)>=4/s",
        ),
    ] {
        check(text, metric, comparison, bound, canonical);
    }
    for text in [
        "finish(early)==1%",
        "finish==1%",
        "llm_errors(x)==0",
        "goodput>=99%",
        "goodput()>=99%",
        "goodput(ttft>1s)>=99%",
        "goodput(lag<1s)>=99%",
        "goodput(ttft<5)>=99%",
        "goodput(ttft<1s>=99%",
        "speed.avg>=1/s",
        "speed>=1/s",
        "tokens>=5ms",
        "iteration.tokens>=5/s",
        "ttft<5ms",
    ] {
        assert!(text.parse::<Threshold>().is_err(), "{text}");
    }
}

#[test]
fn metrics_of_pools_and_steps() {
    use Comparison::Less;
    use Metric::{Failed, Iteration, Max, Of, Pool, Quantile, Rate, Step};
    let p = Quantile;
    let of = |times, metric| Of(times, Box::new(metric));
    let pool = |name: &str, metric| Pool(name.to_owned(), Box::new(metric));
    let step = |name: &str, metric| Step(name.to_owned(), Box::new(metric));
    for (text, metric, bound, canonical) in [
        (
            "orders:failed<0.1%",
            pool("orders", Failed),
            0.001,
            "orders: failed<0.1%",
        ),
        (
            "buy/log in: p95<500ms",
            pool("buy", step("log in", p(0.95))),
            5e8,
            "buy/log in: p95<500ms",
        ),
        (
            "buy / http://h:80/a: lag.max<1s",
            pool("buy", step("http://h:80/a", of(Times::Lag, Max))),
            1e9,
            "buy/http://h:80/a: lag.max<1s",
        ),
        (
            "buy: iteration.rate<9",
            pool("buy", Iteration(Box::new(Rate))),
            9.0,
            "buy: iteration.rate<9/s",
        ),
        (
            "step(login).p95<200ms",
            step("login", p(0.95)),
            2e8,
            "step(login).p95<200ms",
        ),
        (
            "step ( GET /f(x) ) . failed < 1%",
            step("GET /f(x)", Failed),
            0.01,
            "step(GET /f(x)).failed<1%",
        ),
        (
            "step(a).lag.max<1s",
            step("a", of(Times::Lag, Max)),
            1e9,
            "step(a).lag.max<1s",
        ),
    ] {
        check(text, metric, Less, bound, canonical);
    }
}

#[test]
fn a_window_stands_at_the_end() {
    let window = |text| parse(text).window;
    assert_eq!(window("p99<50ms over 60s"), Some(Nanos::from_secs(60)));
    assert_eq!(window("p99<50ms"), None);
    assert_eq!(
        parse("p99<50ms  over  60s ").to_string(),
        "p99<50ms over 1m"
    );
}

/// Each text with the byte position and the text of its error.
const REFUSED: &[(&str, usize, &str)] = &[
    ("", 0, "a metric is missing"),
    ("<50ms", 0, "a metric is missing"),
    (
        "maxx<1s",
        0,
        "`maxx` is not a metric; did you mean `max`? The metrics are p99",
    ),
    ("latency<1s", 0, "p95<500ms"),
    ("weight<1s", 0, "the metrics are p99, avg"),
    ("p<1s", 1, "above 0 and up to 100"),
    ("p0<1s", 1, "above 0 and up to 100"),
    ("p100.1<1s", 1, "above 0 and up to 100"),
    ("p(99<1s", 2, "above 0"),
    ("p9.9.9<1s", 1, "above 0"),
    ("p99.99999999<1s", 1, "at most 6 decimals"),
    (
        "P99<1s",
        0,
        "`P` is not a metric; write it in lower case: `p`",
    ),
    ("Rate>5", 0, "write it in lower case: `rate`"),
    (
        "step()<1s",
        5,
        "no metric follows the step; write step(NAME) and a metric",
    ),
    ("p99", 3, "write one of < <= > >= == !="),
    ("p99=1s", 3, "for equality, write =="),
    ("p99≤1s", 3, "write <="),
    (
        "p99<50",
        4,
        "invalid bound `50`; write a duration with its unit",
    ),
    ("p99<", 4, "a bound is missing; write a duration"),
    ("rate>=fast", 6, "write a rate such as 995/s"),
    ("failed<200%", 7, "a share below 1"),
    (
        "failed<1",
        7,
        "`1` could mean 1 % or a share, where 1 is all; write 1%, or a share below 1",
    ),
    ("unsent<1.0", 7, "write 1.0%"),
    ("status(5xy)==0", 7, "three digits or a class"),
    ("status(0xx)==0", 7, "three digits or a class"),
    ("first_byte<1ms", 10, "first_byte.p99<1ms"),
    ("connect.rate<1/s", 8, "`connect` has only times"),
    ("step(a).dropped<1%", 8, "counted per pool, not per step"),
    ("buy/a: connect.p99<1ms", 7, "connections belong to a pool"),
    ("failed<5", 7, "write 5%"),
    ("failed<500", 7, "a percentage such as 0.1%"),
    ("failed<NaN", 7, "invalid bound `NaN`"),
    ("status(500)==0.5", 13, "a count such as 0"),
    ("status(500)==+1", 13, "a count such as 0"),
    ("status==0", 6, "three digits"),
    ("status(99)==0", 7, "three digits"),
    ("lag<1ms", 3, "lag.p99<1ms"),
    ("lag.rate<1/s", 4, "`lag` has only times"),
    ("step<1ms", 0, "write step(NAME)"),
    ("step().p99<1s", 5, "the step has no name"),
    ("step(x<1s", 5, "is not closed"),
    ("p99<50ms 60s", 9, "unexpected `60s`"),
    ("p99<50ms over", 13, "the length of the window"),
    ("p99<50ms over 0", 14, "the length of the window"),
    ("p99<50ms over 60s more", 18, "or write abort"),
    ("p99<50ms abort soon", 15, "such as after 10s"),
    ("p99<50ms after 10s", 9, "or write a window"),
    ("p99<50ms abort after", 20, "such as after 10s"),
    ("p99<50ms abort after 0", 21, "such as after 10s"),
    ("p99<50ms abort over 10s", 15, "unexpected `over 10s`"),
];

#[test]
fn refused_thresholds_say_what_is_right() {
    for &(text, at, words) in REFUSED {
        let error = text.parse::<Threshold>().expect_err(text);
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.message.contains(words), "{text}: {error}");
    }
    assert!("p99<1s ".repeat(1000).parse::<Threshold>().is_err());
}

/// A rate in words as the bound.
#[test]
fn bounds_in_words_have_their_form() {
    for (text, at, words) in [
        (
            "rate>=10 per second",
            6,
            "invalid bound `10 per second`; write 10/s",
        ),
        ("rate>10 every 2 seconds over 60s", 5, "write 10/2s"),
        ("rate>1,000", 5, "write 1000/s"),
    ] {
        let error = text.parse::<Threshold>().expect_err(text);
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.message.contains(words), "{text}: {error}");
    }
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
            let of = |times| Metric::Of(times, Box::new(metric.clone()));
            prop_oneof![
                Just(of(Times::Lag)),
                Just(of(Times::FirstByte)),
                Just(of(Times::Connect)),
                Just(of(Times::Ttft)),
                Just(of(Times::Itl)),
                Just(Metric::Iteration(Box::new(metric.clone()))),
                Just(metric)
            ]
        })
        .prop_map(move |metric| (metric, time()));
    let plain = prop_oneof![
        times,
        Just((Metric::Rate, (0.0..1e12).boxed())),
        Just((Metric::Failures, (0..u32::MAX).prop_map(f64::from).boxed())),
        Just((Metric::Failed, (0.0..=1.0).boxed())),
        Just((
            Metric::Failed,
            (0..=1000).prop_map(|n| f64::from(n) / 1000.0).boxed()
        )),
        Just((Metric::Unsent, (0.0..1.0).boxed())),
        Just((Metric::Dropped, (0.0..1.0).boxed())),
        Just((
            Metric::Iteration(Box::new(Metric::Unsent)),
            (0.0..1.0).boxed()
        )),
        (100..1000_u16).prop_map(|code| (
            Metric::Status(code),
            any::<u32>().prop_map(f64::from).boxed()
        )),
        (1..10_u8).prop_map(|class| (
            Metric::StatusClass(class),
            any::<u32>().prop_map(f64::from).boxed()
        )),
    ];
    let name = || proptest::option::of("[a-z][a-z ()]{0,9}[a-z]");
    (plain, name(), name()).prop_map(|((metric, bound), step, pool)| {
        let of_pool = matches!(
            metric,
            Metric::Dropped | Metric::Unsent | Metric::Iteration(_) | Metric::Of(Times::Connect, _)
        );
        let metric = match step.filter(|_| !of_pool) {
            Some(name) => Metric::Step(name, Box::new(metric)),
            None => metric,
        };
        let metric = match pool {
            Some(name) => Metric::Pool(name, Box::new(metric)),
            None => metric,
        };
        (metric, bound)
    })
}

#[test]
fn names_of_pools_may_have_slashes_and_begin_as_steps() {
    let of = |pool: &str, step: Option<&str>, inner: Metric| {
        let inner = match step {
            Some(step) => Metric::Step(step.to_owned(), Box::new(inner)),
            None => inner,
        };
        Metric::Pool(pool.to_owned(), Box::new(inner))
    };
    let pools = ["a", "a/b", "a/b/c", "step(x)", "other"];
    for (text, pool, step) in [
        ("a: failed<1%", "a", None),
        ("a/b: failed<1%", "a/b", None),
        ("a/b/c: failed<1%", "a/b/c", None),
        ("a/b/d: failed<1%", "a/b", Some("d")),
        ("a/d/c: failed<1%", "a", Some("d/c")),
        ("a/http://h:1/: failed<1%", "a", Some("http://h:1/")),
        ("ab/c: failed<1%", "ab", Some("c")),
        ("step(x): failed<1%", "step(x)", None),
        ("step(x)/y: failed<1%", "step(x)", Some("y")),
        ("step one: failed<1%", "step one", None),
        ("steps/y: failed<1%", "steps", Some("y")),
    ] {
        let rule = Threshold::rule_of(text, &pools).expect(text);
        assert_eq!(rule.metric, of(pool, step, Metric::Failed), "{text}");
        let condition = Threshold::abort_on_of(text, &pools).expect(text);
        assert_eq!(condition.metric, rule.metric, "{text}");
    }
    // Metrics that only pools have apply to a pool whose name contains a slash.
    let dropped = Threshold::rule_of("a/b: dropped<1%", &pools).expect("a rule of a pool");
    assert_eq!(dropped.metric, of("a/b", None, Metric::Dropped));
    let step = Threshold::rule_of("a/d: dropped<1%", &pools).expect_err("a step");
    assert!(
        step.message.contains("counted per pool, not per step"),
        "{step}"
    );
    let of_step = Metric::Step("x".to_owned(), Box::new(Metric::Failed));
    assert_eq!(parse("step(x).failed<1%").metric, of_step);
    let rule = Threshold::rule_of("step(x).failed<1%", &pools).expect("of the step");
    assert_eq!(rule.metric, of_step);
}

#[test]
fn a_rule_that_aborts_and_a_condition_differ_in_what_passes() {
    let ms = |n: u64| n as f64 * 1e6;
    let rule = parse("p99<1s over 30s abort after 1m");
    assert_eq!(rule.window, Some(Nanos::from_secs(30)));
    let after = Nanos::from_secs(60);
    assert_eq!(rule.role, Role::Abort { after });
    assert!(rule.passes(ms(999)) && !rule.passes(ms(1000)));
    assert_eq!(rule.worse(), Some(Ordering::Greater));

    let condition = Threshold::abort_on("rate<10/s after 1m").expect("a condition");
    assert_eq!(condition.role, Role::AbortOn { after });
    assert!(condition.passes(10.0) && !condition.passes(9.0));
    assert_eq!(condition.worse(), Some(Ordering::Less));

    let error = Threshold::abort_on("p99>1s abort").expect_err("it does so anyway");
    assert_eq!(error.at, 7);
    assert!(error.message.contains("leave out `abort`"), "{error}");
    let errors = Threshold::failures_above(20);
    assert_eq!(Threshold::abort_on(&errors.to_string()), Ok(errors.clone()));
    assert!(errors.passes(20.0) && !errors.passes(21.0));
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
    let after = (1..u64::MAX).prop_map(Nanos);
    let role = prop_oneof![
        Just(Role::Rule),
        Just(Role::Abort { after: Nanos::ZERO }),
        after.clone().prop_map(|after| Role::Abort { after }),
        Just(Role::AbortOn { after: Nanos::ZERO }),
        after.prop_map(|after| Role::AbortOn { after }),
    ];
    let parts = (bounded, comparison, window, role);
    parts.prop_map(|((metric, bound), comparison, window, role)| Threshold {
        expression: String::new(),
        metric,
        comparison,
        bound,
        window,
        role,
    })
}

proptest! {
    #[test]
    fn printing_and_parsing_gives_the_threshold_back(threshold in any_threshold()) {
        let text = threshold.to_string();
        let again = match threshold.is_condition() {
            true => Threshold::abort_on(&text).expect("its own text"),
            false => parse(&text),
        };
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
