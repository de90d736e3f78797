//! Comparisons of runs that differ only in an injected shift.

use crate::fixture::{Dice, ended, health, info, sample};
use drumfire_compare::{
    Answer, Baseline, Compared, Comparison, RoundForm, Rounds, RoundsEnd, Terms, UnsoundRound,
};
use drumfire_measure::{
    ArrivalClock, AskedBody, Certainty, Changed, Coverage, Doubt, Interval, LatencyKind, Model,
    Outcome, Reading, Reason, Summary, TargetState, ThresholdResult, Validity,
};
use drumfire_plan::{ChangeKind, KeepAlive, StopReason, Warmup};
use drumfire_report::Naming;
use drumfire_report::comparison::{self, foreseen};
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_report::{html, json};
use drumfire_units::Nanos;
use std::sync::Arc;

const TERMS: Terms = Terms {
    least: 0.02,
    any_target: false,
};
const STYLE: Style = Style::new(100, Color::Off, Unicode::On);

/// A run of 20 s at 100/s that begins in this second. Its latencies spread from run to run by 2 %,
/// and are this many times as long as those of the others; of so many requests one fails.
fn run(second: u64, factor: f64, one_in: u64) -> Summary {
    close(reading(second, factor, one_in))
}

fn close(reading: Reading) -> Summary {
    let total = reading.so_far().total.clone();
    reading.close_with(Nanos::from_secs(20), health(&total))
}

/// The books of such a run before they are closed.
fn reading(second: u64, factor: f64, one_in: u64) -> Reading {
    let mut info = info(Model::Open);
    info.id = format!("run-{second}");
    info.started_at_unix_ns += second * 1_000_000_000;
    let mut dice = Dice::new(second);
    let factor = factor * (1.0 + 0.02 * (dice.roll() - 0.5));
    let mut interval = Interval::of_pools(&info.pools);
    let mut reading = Reading::new(Arc::new(info), &[]);
    for at in 0..20 {
        interval.reset(at, Nanos::from_secs(at));
        interval.end = Nanos::from_secs(at + 1);
        for n in 0..100 {
            let mut sample = sample(interval.start + Nanos::from_millis(10 * n));
            let length = factor * (1e6 + 4e6 * dice.roll().powi(6));
            sample.end = sample.sent + Nanos(length as u64);
            sample.first_byte = sample.end;
            let pool = interval.pool_mut(0);
            pool.record_intended(1);
            pool.record(&match (at * 100 + n) % one_in {
                0 => ended(sample, Outcome::HttpStatus, 503),
                _ => sample,
            });
        }
        interval.sum_up();
        reading.absorb(&interval);
    }
    reading
}

/// Runs in turn, A B B A: the even ones of each four are of the base.
fn sides(count: u64, factor: f64, one_in: u64) -> [Vec<Summary>; 2] {
    let (mut base, mut candidate) = (Vec::new(), Vec::new());
    for n in 0..2 * count {
        match matches!(n % 4, 0 | 3) {
            true => base.push(run(n * 30, 1.0, 200)),
            false => candidate.push(run(n * 30, factor, one_in)),
        }
    }
    [base, candidate]
}

fn compared(side: &[Summary]) -> Vec<Compared> {
    let runs = side.iter().cloned().map(Arc::new);
    runs.map(Compared::from_summary).collect()
}

fn compare(base: &[Summary], candidate: &[Summary], terms: Terms) -> Result<Comparison, String> {
    let [base, candidate] = [base, candidate].map(compared);
    Comparison::of_sets(&base, &candidate, terms)
}

fn words(sides: &[Vec<Summary>; 2]) -> (String, bool, serde_json::Value) {
    let found = compare(&sides[0], &sides[1], TERMS).unwrap();
    let json = serde_json::from_slice(&comparison::json(&found)).unwrap();
    (comparison::text(&found, &STYLE), found.is_worse(), json)
}

#[test]
fn a_shift_that_was_injected_is_found_and_named() {
    let (text, is_worse, json) = words(&sides(8, 1.1, 200));
    assert!(is_worse, "{text}");
    assert!(
        text.starts_with("Answer       ✗ the candidate is worse: p50 by +"),
        "{text}"
    );
    assert_eq!(json["schema"], "drumfire.comparison.v1");
    assert_eq!(json["answer"], "worse");
    for figure in json["figures"].as_array().unwrap() {
        let shift = figure["shift"].as_f64().unwrap();
        let (low, high) = (
            figure["interval"][0].as_f64().unwrap(),
            figure["interval"][1].as_f64().unwrap(),
        );
        assert!(low <= shift && shift <= high, "{figure}");
        match figure["name"].as_str().unwrap() {
            "p50" | "p95" => {
                assert_eq!(figure["answer"], "worse", "{text}");
                assert!(low <= 0.1 && 0.1 <= high, "{figure}");
            }
            "failed" | "rate" => assert_eq!(figure["answer"], "equal", "{text}"),
            _ => {}
        }
    }
    let (text, is_worse, json) = words(&sides(8, 0.9, 200));
    assert!(!is_worse, "{text}");
    assert_eq!(json["answer"], "better", "{text}");
}

#[test]
fn failures_that_were_injected_are_found() {
    let (text, is_worse, json) = words(&sides(8, 1.0, 10));
    assert!(is_worse, "{text}");
    let failed = &json["figures"]
        .as_array()
        .unwrap()
        .iter()
        .find(|figure| figure["name"] == "failed")
        .unwrap();
    assert_eq!(failed["unit"], "share");
    let shift = failed["shift"].as_f64().unwrap();
    assert!((shift - 0.095).abs() < 1e-9, "{failed}");
}

#[test]
fn equal_sets_are_equal_and_few_runs_show_nothing() {
    let (text, is_worse, json) = words(&sides(12, 1.0, 200));
    assert!(!is_worse, "{text}");
    assert_ne!(json["answer"], "better", "{text}");
    let (text, is_worse, json) = words(&sides(3, 1.5, 200));
    assert!(!is_worse, "{text}");
    assert_eq!(json["answer"], "nothing shown");
    let words: Vec<&str> = text.split_whitespace().collect();
    let enough = "3 and 3 runs are too few to show any difference, however large, in 5 figures; take 5 of each.";
    assert!(words.join(" ").contains(enough), "{text}");
}

/// No answer contradicts its own table: an interval excludes 0 exactly if the figure is worse or
/// better, and lies within the least shift exactly if the figure is equal.
#[test]
fn intervals_are_at_the_level_that_decides() {
    let mut seen = std::collections::BTreeSet::new();
    let mut check = |found: &Comparison| {
        for row in &found.rows {
            let excludes = row
                .interval
                .is_some_and(|(low, high)| low > 0.0 || high < 0.0);
            let is_within = |(low, high): (f64, f64)| -row.least <= low && high <= row.least;
            let answer = row.answer.unwrap();
            let text = comparison::text(found, &STYLE);
            match answer {
                Answer::Worse | Answer::Better => assert!(excludes, "{text}"),
                Answer::Equal => assert!(row.interval.is_some_and(is_within), "{text}"),
                Answer::Open => assert!(!excludes || row.shift.abs() < row.least, "{text}"),
            }
            assert!(row.confidence.is_none_or(|of| of >= 0.95), "{text}");
            seen.insert(answer.name());
        }
    };
    for (count, factor) in [
        (4, 1.5),
        (5, 1.1),
        (6, 1.02),
        (8, 1.0),
        (8, 1.05),
        (12, 0.97),
    ] {
        let made = sides(count, factor, 200);
        check(&compare(&made[0], &made[1], TERMS).unwrap());
        let rounds = usize::try_from(count).unwrap();
        for planned in [rounds, 12] {
            check(&experiment(&made, planned, RoundsEnd::Planned));
        }
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn an_open_answer_says_what_would_decide_it() {
    let made = sides(6, 1.01, 200);
    let words = |found: &Comparison| {
        let text = comparison::text(found, &STYLE);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let found = compare(&made[0], &made[1], TERMS).unwrap();
    assert_eq!(found.answer(), Some(Answer::Open), "{}", words(&found));
    assert!(words(&found).contains("To decide "), "{}", words(&found));
    assert!(
        words(&found).contains(" runs of each side"),
        "{}",
        words(&found)
    );
    let found = experiment(&made, 6, RoundsEnd::Planned);
    assert!(words(&found).contains(" rounds"), "{}", words(&found));
    for (figure, needed) in found.undecided() {
        assert!(
            needed.is_none_or(|needed| needed >= found.enough()),
            "{figure:?}"
        );
    }
    let few = experiment(&sides(2, 1.01, 200), 10, RoundsEnd::Signal);
    assert!(!words(&few).contains("To decide"), "{}", words(&few));
}

#[test]
fn an_interval_beyond_the_least_shift_is_no_absence_of_one() {
    let (text, is_worse, json) = words(&sides(4, 1.5, 200));
    assert!(!is_worse && json["answer"] == "nothing shown", "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.starts_with("Answer undecided: p50 looks worse (+"),
        "{text}"
    );
    assert!(words.contains(" by itself)"), "{text}");
    let enough = "but 4 runs of each can't show it for 5 figures together; use 5 or more";
    assert!(words.contains(enough), "{text}");
    let (text, ..) = self::words(&sides(4, 0.6, 200));
    assert!(text.contains("p50 looks better (−"), "{text}");
}

#[test]
fn what_differs_and_is_not_refused_is_in_the_answer() {
    let [base, mut candidate] = sides(2, 1.0, 200);
    for run in &mut candidate {
        let info = Arc::make_mut(&mut run.info);
        info.target = info.target.replace("127.0.0.1:8080", "127.0.0.1:9090");
        info.warmup = Warmup::Span(Nanos::from_millis(300));
        info.tls_verified = Some(false);
        let asked = info.pools[0].asked.as_mut().unwrap();
        asked.transport.keep_alive = KeepAlive::No;
        let request = &mut asked.requests.first[0];
        request.url = "http://127.0.0.1:9090/plaintext".to_owned();
        request.method = "POST".to_owned();
        request.body = AskedBody::Bytes(1);
    }
    candidate[1].target.state = TargetState::Behind;
    let any = Terms {
        any_target: true,
        ..TERMS
    };
    let files = |side: &Vec<Summary>| side.iter().map(read).collect::<Vec<_>>();
    for [base, candidate] in [
        [compared(&base), compared(&candidate)],
        [compared(&base), files(&candidate)],
    ] {
        let found = Comparison::of_sets(&base, &candidate, any).unwrap();
        let line = "They differ in: keep-alive (on, off), body (none, 1), method (GET, POST), \
                    certificate verification (none, off), warm-up (0, 300ms).";
        let text = comparison::text(&found, &Style::new(200, Color::Off, Unicode::On));
        assert!(text.contains(line), "{text}");
        let markdown = String::from_utf8(comparison::markdown(&found)).unwrap();
        assert!(
            markdown.contains("They differ in: keep-alive"),
            "{markdown}"
        );
        let json: serde_json::Value = serde_json::from_slice(&comparison::json(&found)).unwrap();
        let first = serde_json::json!({"key": "keep_alive", "base": ["yes"], "candidate": ["no"]});
        assert_eq!(json["differences"][0], first);
        let states = "target falls behind in 1 of 2, target ok in 1 of 2";
        assert!(text.contains(states), "{text}");
        assert_eq!(
            json["base"]["target_states"],
            serde_json::json!(["ok", "ok"])
        );
        assert_eq!(json["candidate"]["target_states"][1], "behind");
    }
    let [base, candidate] = sides(2, 1.0, 200);
    let found = compare(&base, &candidate, TERMS).unwrap();
    assert!(
        !comparison::text(&found, &STYLE).contains("differ in"),
        "{}",
        comparison::text(&found, &STYLE)
    );
}

/// Plans whose runs could not be compared are found before there are any.
#[test]
fn plans_are_compared_as_their_runs_would_be() {
    let info = info(Model::Open);
    assert_eq!(Comparison::check_plans(&info, &info), Ok(()));
    let refused = |change: &dyn Fn(&mut drumfire_measure::RunInfo)| {
        let mut other = info.clone();
        change(&mut other);
        Comparison::check_plans(&info, &other).unwrap_err()
    };
    assert_eq!(
        refused(&|info| info.clock = ArrivalClock::Wire),
        "one is timed by the program's clock, the other on the wire"
    );
    assert_eq!(
        refused(&|info| info.pools[0].model = Model::Closed),
        "the models of pool main differ"
    );
    assert_eq!(
        refused(&|info| info.pools[0].asked.as_mut().unwrap().stop.requests = Some(7)),
        "the planned loads of pool main differ: stop.requests is not set and 7"
    );
}

/// Users of one side wait for connections, so that the response time is compared on both.
#[test]
fn both_sides_have_one_latency() {
    let closed = |second: u64, waiting: u64| {
        let mut run = run(second, 1.0, 200);
        Arc::make_mut(&mut run.info).pools[0].model = Model::Closed;
        let latency = &mut run.total.latency;
        for _ in 0..waiting {
            latency.waiting.record(Nanos::from_millis(50));
        }
        latency.response_time = drumfire_measure::Histogram::new();
        for n in 0..2_000 {
            latency
                .response_time
                .record(Nanos::from_millis(60) + Nanos(n));
        }
        run
    };
    let [base, candidate] = [closed(0, 0), closed(30, 2_000)];
    assert_eq!(base.latency_kind(), LatencyKind::Service);
    assert_eq!(candidate.latency_kind(), LatencyKind::Response);
    for candidate in [
        Compared::from_summary(Arc::new(candidate.clone())),
        read(&candidate),
    ] {
        let base = Compared::from_summary(Arc::new(base.clone()));
        let found = Comparison::of_sets(&[base], &[candidate], TERMS).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&comparison::json(&found)).unwrap();
        let figures = json["figures"].as_array().unwrap();
        let p50 = figures.iter().find(|figure| figure["name"] == "p50");
        assert_eq!(p50.unwrap()["shift"], 0.0, "{json}");
    }
}

#[test]
fn one_pair_has_intervals_and_no_verdict() {
    let pair = [vec![run(0, 1.0, 200)], vec![run(60, 1.5, 200)]];
    let (text, is_worse, json) = words(&pair);
    assert!(!is_worse);
    assert!(text.contains("One pair of runs has no verdict:"), "{text}");
    assert!(json["answer"].is_null());
    let figures = json["figures"].as_array().unwrap();
    assert_eq!(
        figures.len(),
        13,
        "p99.9 of 2,000 requests is not known: {text}"
    );
    for figure in figures {
        let shift = figure["shift"].as_f64().unwrap();
        let interval = &figure["interval"];
        let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
        assert!(low <= shift && shift <= high, "{figure}");
        assert!(figure["answer"].is_null() && figure["p"].is_null());
        if figure["unit"] == "ns" {
            assert!(0.2 < low && high < 0.9, "{figure}");
        }
    }
}

#[test]
fn equal_pairs_are_covered_by_their_intervals() {
    let mut covered = 0;
    for n in 0..20 {
        // The same factor for both: the spread between runs is none of a pair's intervals.
        let [base, candidate] = [n * 100, n * 100 + 50].map(|second| vec![run(second, 1.0, 200)]);
        let (_, _, json) = words(&[base, candidate]);
        let figures = json["figures"].as_array().unwrap();
        let p99 = figures
            .iter()
            .find(|figure| figure["name"] == "p99")
            .unwrap();
        let interval = &p99["interval"];
        let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
        covered += u32::from(low <= 0.01 && -0.01 <= high);
    }
    assert!(covered >= 18, "{covered} of 20");
}

#[test]
fn runs_that_came_one_side_after_the_other_are_cautioned() {
    let base: Vec<Summary> = (0..6).map(|n| run(n * 30, 1.0, 200)).collect();
    let candidate: Vec<Summary> = (6..12).map(|n| run(n * 30, 1.0, 200)).collect();
    let found = compare(&base, &candidate, TERMS).unwrap();
    let text = comparison::text(&found, &STYLE);
    assert!(
        text.contains("All runs of one side came before those of the other"),
        "{text}"
    );
    let text = words(&sides(6, 1.0, 200)).0;
    assert!(!text.contains("came before"), "{text}");
}

/// Why a pair of runs is refused.
fn refused(base: &Summary, candidate: &Summary, terms: Terms) -> String {
    let (base, candidate) = (std::slice::from_ref(base), std::slice::from_ref(candidate));
    compare(base, candidate, terms).unwrap_err()
}

#[test]
fn what_can_t_be_compared_is_refused_by_name() {
    let base = run(0, 1.0, 200);
    let with = |change: &dyn Fn(&mut drumfire_measure::RunInfo)| {
        let mut other = run(60, 1.0, 200);
        change(Arc::make_mut(&mut other.info));
        other
    };
    let elsewhere = with(&|info| info.target = "http://127.0.0.1:9090/".to_owned());
    assert_eq!(
        refused(&base, &elsewhere, TERMS),
        "runs run-0 and run-60 can't be compared: their targets are http://127.0.0.1:8080/plaintext and \
         http://127.0.0.1:9090/; to compare them anyway, use --any-target"
    );
    let any = Terms {
        any_target: true,
        ..TERMS
    };
    assert!(compare(std::slice::from_ref(&base), &[elsewhere], any).is_ok());
    let other_model = with(&|info| info.pools[0].model = Model::Closed);
    assert!(refused(&base, &other_model, TERMS).ends_with("the models of pool main differ"));
    let other_load = with(&|info| info.pools[0].asked = None);
    let found = refused(&base, &other_load, TERMS);
    assert!(
        found.contains("the planned loads of pool main differ: load."),
        "{found}"
    );
}

/// Runs on the wire are faster than those by the program's clock, by the delay of the program. If
/// the delay explains a shift, the shift has no answer.
#[test]
fn a_shift_that_the_clocks_explain_has_no_answer() {
    let answer = |clock: ArrivalClock, delay: Nanos| {
        let [base, mut candidate] = sides(8, 0.8, 200);
        for run in &mut candidate {
            run.generator.clock = clock;
            (run.generator.handling_p50, run.generator.handling_p99) = (delay, delay);
        }
        let found = compare(&base, &candidate, TERMS).unwrap();
        let mut cautions = found.cautions.iter();
        let is_cautioned = cautions.any(|of| of.contains("different clocks"));
        (found.answer(), is_cautioned)
    };
    let of_program = answer(ArrivalClock::Program, Nanos::ZERO);
    assert_eq!(of_program, (Some(Answer::Better), false));
    let of_short_delay = answer(ArrivalClock::Wire, Nanos::from_micros(1));
    assert_eq!(of_short_delay, (Some(Answer::Better), true));
    let of_long_delay = answer(ArrivalClock::Wire, Nanos::from_secs(1));
    assert_eq!(of_long_delay, (Some(Answer::Equal), true));
}

#[test]
fn runs_without_their_whole_load_are_refused_by_name() {
    let base = run(0, 1.0, 200);
    let mut by_rule = run(60, 1.0, 200);
    by_rule.load_end.reason = Some(StopReason::Threshold);
    assert_eq!(
        refused(&base, &by_rule, TERMS),
        "run run-60 can't be compared: a rule ended it early, so a part of its load is missing"
    );
    let mut open = run(60, 1.0, 200);
    open.coverage = Coverage::Begun;
    assert!(refused(&base, &open, TERMS).ends_with("it is still active, or it was cut off"));
    open.coverage = Coverage::Resumed;
    assert!(compare(std::slice::from_ref(&base), &[open], TERMS).is_ok());
    let mut silent = run(60, 1.0, 200);
    silent.total.counts.ok = 0;
    silent.target.reasons = vec![Reason {
        text: "every request failed: connect:refused".to_owned(),
        remedies: Vec::new(),
    }];
    assert!(
        refused(&base, &silent, TERMS)
            .ends_with("none of its requests was ok: every request failed: connect:refused")
    );
    assert_eq!(
        refused(&base, &base, TERMS),
        "run run-0 can't be compared with itself"
    );
    assert_eq!(
        compare(&[], &[base], TERMS).unwrap_err(),
        "the base has no runs"
    );
}

#[test]
fn a_narrow_page_keeps_shift_and_answer_and_ascii_has_no_other_letters() {
    let found = sides(6, 1.1, 200);
    let found = compare(&found[0], &found[1], TERMS).unwrap();
    let narrow = comparison::text(&found, &Style::new(40, Color::Off, Unicode::Off));
    assert!(narrow.is_ascii(), "{narrow}");
    assert!(narrow.lines().all(|line| line.len() <= 40), "{narrow}");
    assert!(
        narrow.contains("shift") && narrow.contains("worse"),
        "{narrow}"
    );
}

/// The experiment of so many rounds of which these were made.
fn experiment(sides: &[Vec<Summary>; 2], planned: usize, ended: RoundsEnd) -> Comparison {
    let [base, candidate] = [0, 1].map(|side| compared(&sides[side]));
    let rounds = Rounds {
        planned,
        ended,
        form: RoundForm::Turns,
    };
    let unsound = match ended {
        RoundsEnd::Unsound => vec![UnsoundRound {
            round: 3,
            side: "B",
            reason: "run x can't be compared: it is invalid".to_owned(),
        }],
        _ => Vec::new(),
    };
    Comparison::of_rounds(&base, &candidate, TERMS, rounds, &unsound).unwrap()
}

/// Both sides can miss a threshold without a difference between them.
#[test]
fn failed_thresholds_have_their_side_and_rounds() {
    let mut made = sides(6, 1.0, 200);
    let result = |expression: &str, passed| ThresholdResult {
        expression: expression.to_owned(),
        is_condition: false,
        passed,
        actual: None,
        certainty: Certainty::Exact,
        actual_text: String::new(),
        ended_run_at: None,
    };
    let [a, b] = &mut made;
    for ((a, b), round) in a.iter_mut().zip(b).zip(1..) {
        a.thresholds = vec![result("p99<1ms", round != 3)];
        b.thresholds = vec![
            result("p99<1ms", true),
            result("rate>300/s", ![1, 2, 6].contains(&round)),
            result("failed<0.1%", false),
        ];
    }
    let found = experiment(&made, 6, RoundsEnd::Planned);
    let expected = [
        "A: the threshold p99<1ms failed in round 3.",
        "B: the threshold rate>300/s failed in rounds 1, 2 and 6.",
        "B: the threshold failed<0.1% failed in all 6 rounds.",
    ];
    let text = comparison::text(&found, &STYLE);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let json: serde_json::Value = serde_json::from_slice(&comparison::json(&found)).unwrap();
    let cautions = json["cautions"].as_array().unwrap();
    for sentence in expected {
        assert!(words.contains(sentence), "{text}");
        assert!(cautions.iter().any(|of| of == sentence), "{cautions:?}");
    }
    assert!(!text.contains("B: the threshold p99"), "{text}");
}

#[test]
fn rounds_that_can_t_be_compared_are_in_the_answer_with_side_and_reason() {
    let found = experiment(&sides(2, 1.0, 200), 10, RoundsEnd::Unsound);
    let text = comparison::text(&found, &STYLE);
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    let why = "Ended after 2 of 10 rounds: too many had a run that can't be compared.";
    assert!(words.contains(why), "{text}");
    let round = "Round 3, B: run x can't be compared: it is invalid.";
    assert!(words.contains(round), "{text}");
    let json: serde_json::Value = serde_json::from_slice(&comparison::json(&found)).unwrap();
    let unsound = &json["rounds"]["unsound"][0];
    assert_eq!(
        (&unsound["round"], &unsound["side"]),
        (&3.into(), &"b".into())
    );
    assert_eq!(unsound["reason"], "run x can't be compared: it is invalid");
}

#[test]
fn an_experiment_names_its_answer_and_what_it_could_have_shown() {
    let found = experiment(&sides(8, 1.1, 200), 8, RoundsEnd::Planned);
    let text = comparison::text(&found, &STYLE);
    assert!(found.is_worse() && found.is_different(), "{text}");
    assert!(
        text.starts_with("Answer       ✗ the candidate is worse: p50 by +"),
        "{text}"
    );
    let json: serde_json::Value = serde_json::from_slice(&comparison::json(&found)).unwrap();
    assert_eq!(json["rounds"]["planned"], 8);
    assert_eq!(json["rounds"]["ended"], "planned");
    let p50 = &json["figures"][0];
    let (shift, p) = (p50["shift"].as_f64().unwrap(), p50["p"].as_f64().unwrap());
    assert!((0.08..0.12).contains(&shift), "{p50}");
    // Two of the 256 outcomes of eight pairs are as far out, in a figure or two.
    assert!((0.007..0.05).contains(&p), "{p50}");
    let detectable = p50["detectable"].as_f64().unwrap();
    assert!((0.001..0.03).contains(&detectable), "{p50}");
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.contains("four of five experiments of 8 rounds detect shifts of: p50 ±"),
        "{text}"
    );
    let better = experiment(&sides(8, 0.9, 200), 8, RoundsEnd::Planned);
    assert!(!better.is_worse() && better.is_different());
    let equal = experiment(&sides(12, 1.0, 200), 12, RoundsEnd::Planned);
    assert!(
        !equal.is_different(),
        "{}",
        comparison::text(&equal, &STYLE)
    );
}

#[test]
fn an_experiment_that_ended_early_says_so_and_few_rounds_show_nothing() {
    let early = experiment(&sides(8, 1.3, 200), 20, RoundsEnd::Shown);
    assert!(comparison::text(&early, &STYLE).contains("Ended after 8 of 20 rounds"));
    let one = experiment(&sides(2, 1.3, 200), 10, RoundsEnd::Signal);
    let text = comparison::text(&one, &STYLE);
    assert!(!one.is_different(), "{text}");
    assert!(text.contains("Interrupted after 2 of 10 rounds."), "{text}");
    assert!(
        text.contains("2 rounds can't show any difference"),
        "{text}"
    );
    assert!(!text.contains("One pair"), "{text}");
    let first = sides(1, 1.3, 200);
    let text = comparison::text(&experiment(&first, 10, RoundsEnd::Signal), &STYLE);
    assert!(text.contains("undecided"), "{text}");
    let rounds = Rounds {
        planned: 10,
        form: RoundForm::Turns,
        ended: RoundsEnd::Planned,
    };
    assert_eq!(
        foreseen(rounds),
        "10 rounds detect a shift of 1.6 % if runs of the same program differ by 1 %, 3.2 % if they differ by 2 %, \
         8.1 % if they differ by 5 % (in four of five experiments)"
    );
    let six = Rounds {
        planned: 6,
        ..rounds
    };
    assert!(
        foreseen(six).ends_with("; use 8 or more to detect a shift even if all figures vary"),
        "{}",
        foreseen(six)
    );
    let looks: Vec<usize> = (1..=10).filter(|made| rounds.is_look(*made)).collect();
    assert_eq!(looks, [6, 8, 10]);
    let [base, candidate] = sides(2, 1.0, 200);
    let [base, candidate] = [compared(&base), compared(&candidate[..1])];
    let refused = Comparison::of_rounds(&base, &candidate, TERMS, rounds, &[]);
    assert!(refused.unwrap_err().contains("without one of its runs"));
}

#[test]
fn a_duet_is_compared_second_by_second_and_says_what_both_sides_share() {
    let [base, mut candidate] = sides(8, 1.1, 200);
    let duet = |candidate: &[Summary]| {
        let [base, candidate] = [&base[..], candidate].map(compared);
        let rounds = Rounds {
            planned: 8,
            form: RoundForm::Duet,
            ended: RoundsEnd::Planned,
        };
        Comparison::of_rounds(&base, &candidate, TERMS, rounds, &[]).unwrap()
    };
    let words = |found: &Comparison| {
        let text = comparison::text(found, &STYLE);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let found = duet(&candidate);
    assert!(found.is_worse());
    assert!(
        words(&found).contains("the same server at the same time"),
        "{}",
        words(&found)
    );
    let json: serde_json::Value = serde_json::from_slice(&comparison::json(&found)).unwrap();
    assert_eq!(json["rounds"]["form"], "duet");
    // A hundred requests a second support a median of each.
    let p50 = json["figures"][0]["shift"].as_f64().unwrap();
    assert!((0.07..0.13).contains(&p50), "{p50}");
    let mut moved = |target: &str| {
        for run in &mut candidate {
            Arc::make_mut(&mut run.info).target = target.to_owned();
        }
        words(&duet(&candidate))
    };
    let beside = moved("http://127.0.0.1:9090/plaintext");
    assert!(
        beside.contains("Both servers are on one machine"),
        "{beside}"
    );
    let elsewhere = moved("http://10.1.1.1:8080/");
    assert!(!elsewhere.contains("Both servers"), "{elsewhere}");
    assert!(!elsewhere.contains("the same server"), "{elsewhere}");
}

#[test]
fn a_comparison_as_markdown_has_the_answer_and_a_table() {
    let found = sides(8, 1.1, 200);
    let found = compare(&found[0], &found[1], TERMS).unwrap();
    let text = String::from_utf8(comparison::markdown(&found)).unwrap();
    assert!(
        text.starts_with("## ✗ the candidate is worse: p50 by +"),
        "{text}"
    );
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[2].starts_with("| figure "), "{text}");
    assert!(
        text.contains("- **Base**: 8 runs, the first started ")
            && text.contains(" · `http://127.0.0.1:8080/plaintext` · target ok"),
        "{text}"
    );
    assert!(
        text.contains(
            "| figure | base | candidate | shift | interval | p | answer |\n| --- | ---: | ---: |"
        ),
        "{text}"
    );
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(rows.len(), 7, "{text}");
    assert!(
        rows.iter().all(|row| row.matches(" |").count() == 7),
        "{text}"
    );
    assert!(rows[2].ends_with("| worse |"), "{text}");
    assert!(
        text.contains("With this spread, the runs can't show smaller shifts than these"),
        "{text}"
    );
    let pair = compare(&[run(0, 1.0, 200)], &[run(60, 1.5, 200)], TERMS).unwrap();
    let text = String::from_utf8(comparison::markdown(&pair)).unwrap();
    assert!(
        text.starts_with("## One pair of runs has no verdict:"),
        "{text}"
    );
    assert!(!text.contains("| p |"), "{text}");
}

/// The run as its JSON has it.
fn read(run: &Summary) -> Compared {
    Compared::from_json(&json::summary(run)).unwrap()
}

#[test]
fn runs_of_json_are_compared_as_the_runs_themselves() {
    let sides = sides(8, 1.1, 20);
    let whole = compare(&sides[0], &sides[1], TERMS).unwrap();
    let files = |side: &Vec<Summary>| side.iter().map(read).collect::<Vec<Compared>>();
    let base = compared(&sides[0]);
    for (base, candidate) in [
        (base, files(&sides[1])),
        (files(&sides[0]), files(&sides[1])),
    ] {
        let found = Comparison::of_sets(&base, &candidate, TERMS).unwrap();
        assert_eq!(
            comparison::text(&found, &STYLE),
            comparison::text(&whole, &STYLE)
        );
        assert_eq!(comparison::json(&found), comparison::json(&whole));
    }
}

#[test]
fn a_pair_of_json_has_shifts_and_says_why_there_are_no_intervals() {
    let runs = [run(0, 1.0, 200), run(30, 1.1, 200)];
    let [whole, files] = [compared(&runs), runs.iter().map(read).collect()];
    let of = |runs: &[Compared]| Comparison::of_sets(&runs[..1], &runs[1..], TERMS).unwrap();
    let [whole_json, files_json] = [&whole, &files].map(|runs| {
        serde_json::from_slice::<serde_json::Value>(&comparison::json(&of(runs))).unwrap()
    });
    let figures = |of: &serde_json::Value| of["figures"].as_array().unwrap().clone();
    assert_eq!(figures(&files_json).len(), 13);
    for (whole, file) in figures(&whole_json).iter().zip(figures(&files_json)) {
        assert_eq!(whole["shift"], file["shift"], "{file}");
        assert!(whole["interval"].is_array() && file["interval"].is_null());
    }
    let text = comparison::text(&of(&files), &STYLE);
    assert!(
        text.contains("There are no intervals: they are computed"),
        "{text}"
    );
    // Pictures of files are those of the runs themselves.
    let pictures = |runs: &[Compared]| {
        let parts = html::comparison(&of(runs), &runs[..1], &runs[1..]);
        let parts = parts
            .into_iter()
            .filter(|part| !["about", "forest", "figures"].contains(&part.id));
        parts.map(|part| part.html).collect::<Vec<_>>()
    };
    assert_eq!(pictures(&files), pictures(&whole));
}

#[test]
fn what_is_no_run_as_json_is_named() {
    let good = String::from_utf8(json::summary(&run(0, 1.0, 200))).unwrap();
    for (text, why) in [
        ("{".to_owned(), "it is not JSON"),
        ("{}".to_owned(), "it has no `schema`"),
        (
            good.replacen("drumfire.summary.v1", "drumfire.comparison.v1", 1),
            "its schema is `drumfire.comparison.v1`",
        ),
        (
            good.replacen("\"id\"", "\"no_id\"", 1),
            "missing field `id`",
        ),
        (
            good.replacen("\"model\": \"open\"", "\"model\": \"ajar\"", 1),
            "unknown model `ajar`",
        ),
        (
            good.replacen("\"histogram\": \"H", "\"histogram\": \"I", 1),
            "`latency.response_time.histogram`",
        ),
        (
            good.replacen("2026-01-31T", "2026-01-32T", 1),
            "`run.started_at` is not a time",
        ),
        (
            good.replacen("\"validity\": \"", "\"validity\": \"un", 1),
            "unknown validity `unvalid`; use `valid`, `suspect`, `invalid`",
        ),
    ] {
        assert_ne!(text, good, "{why}");
        let error = Compared::from_json(text.as_bytes()).unwrap_err();
        assert!(error.contains(why), "{why}: {error}");
    }
}

#[test]
fn runs_of_json_that_are_no_measure_are_refused() {
    let whole = compared(&[run(0, 1.0, 200)]);
    let refused = |change: fn(&mut serde_json::Value)| {
        let mut value: serde_json::Value =
            serde_json::from_slice(&json::summary(&run(30, 1.0, 200))).unwrap();
        change(&mut value);
        let file = Compared::from_json(value.to_string().as_bytes()).unwrap();
        Comparison::of_sets(&whole, &[file], TERMS).unwrap_err()
    };
    for (found, why) in [
        (
            refused(|of| of["verdict"]["validity"] = "invalid".into()),
            "it is invalid",
        ),
        (
            refused(|of| of["run"]["ended"]["reason"] = "signal".into()),
            "a signal ended it early",
        ),
        (
            refused(|of| of["run"]["ended"] = serde_json::json!({"reason": "lost", "at_ns": 1})),
            "it lost all agents",
        ),
        (
            refused(|of| of["run"]["coverage"] = "begun".into()),
            "it is still active, or it was cut off",
        ),
        (
            refused(|of| of["run"]["load_changes"] = 1.into()),
            "its load was changed while it ran",
        ),
        (
            refused(|of| of["run"]["unaccounted_share"] = 0.5.into()),
            "agents were lost",
        ),
        (
            refused(|of| of["run"]["plan"]["load.rate"] = "5/s".into()),
            "the planned loads differ",
        ),
        (
            refused(|of| of["run"]["target"] = "http://other/".into()),
            "to compare them anyway, use --any-target",
        ),
        (
            refused(|of| of["run"]["id"] = "run-0".into()),
            "compared with itself",
        ),
    ] {
        assert!(found.contains(why), "{why}: {found}");
    }
}

/// A run's JSON is refused for the reasons for which the stored run is: every end of its load,
/// every coverage, commands, and parts of the load without an account.
#[test]
fn json_is_refused_as_the_stored_run_is() {
    let untouched: fn(&mut Reading) = |_| ();
    let changed: fn(&mut Reading) = |reading| {
        reading.note_change(&Changed {
            pool: None,
            kind: ChangeKind::Pause,
            at: Nanos::from_secs(1),
            law: Vec::new(),
            note: "paused".to_owned(),
        });
    };
    let lost: fn(&mut Reading) = |reading| {
        reading.doubt(Doubt {
            text: "agent-1 was lost".to_owned(),
            unknown: 0.25,
        });
    };
    let mut refused = 0;
    for reason in StopReason::ALL.map(Some).into_iter().chain([None]) {
        for coverage in Coverage::ALL {
            for happen in [untouched, changed, lost] {
                let mut reading = reading(0, 1.0, 200);
                happen(&mut reading);
                let mut run = close(reading);
                run.coverage = coverage;
                run.load_end.reason = reason;
                let from_json = Comparison::check(&read(&run));
                let stored = Comparison::check(&Compared::from_summary(Arc::new(run)));
                assert_eq!(from_json, stored, "{reason:?}, {coverage:?}");
                refused += u32::from(stored.is_err());
            }
        }
    }
    // Only a load that ended by its plan, or of unknown end, in a run without changes and losses is
    // compared, if the run's end is recorded.
    let ends = StopReason::ALL.len() as u32 + 1;
    assert_eq!(refused, ends * 3 * 3 - 3 * 2);
}

/// Every field of the form is described, and every described one is needed.
#[test]
fn comparisons_satisfy_their_schema() {
    let schema = include_str!("../../../../../docs/schema/drumfire.comparison.v1.json");
    let schema = closed(schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let sets = sides(8, 1.1, 200);
    let pair = sides(1, 1.1, 200);
    let found = [
        compare(&sets[0], &sets[1], TERMS).unwrap(),
        compare(&pair[0], &pair[1], TERMS).unwrap(),
        experiment(&sets, 8, RoundsEnd::Planned),
        experiment(&sides(2, 1.3, 200), 10, RoundsEnd::Signal),
        experiment(&sides(2, 1.3, 200), 10, RoundsEnd::Unsound),
    ];
    for comparison in found {
        let document: serde_json::Value =
            serde_json::from_slice(&comparison::json(&comparison)).unwrap();
        let faults: Vec<_> = validator
            .iter_errors(&document)
            .map(|of| of.to_string())
            .collect();
        assert!(faults.is_empty(), "{faults:#?} {document}");
        let mut more = document.clone();
        more["figures"][0]["other"] = 1.into();
        assert!(!validator.is_valid(&more), "unknown fields are found");
    }
}

#[test]
fn a_run_beside_its_baseline_has_it_in_every_form() {
    let [base, candidate] = [run(0, 1.0, 200), run(30, 1.1, 200)];
    let baseline = Baseline::new(Compared::from_summary(Arc::new(base))).unwrap();
    assert_eq!(baseline.check(&candidate.info), Ok(()));
    let against = baseline.against(&candidate).unwrap();
    let document: serde_json::Value =
        serde_json::from_slice(&comparison::json_of_baseline(&against, &candidate)).unwrap();
    let own: serde_json::Value = serde_json::from_slice(&json::summary(&candidate)).unwrap();
    assert_eq!(document["comparison"]["schema"], "drumfire.comparison.v1");
    assert_eq!(document["comparison"]["base"]["runs"][0], "run-0");
    assert_eq!(document["comparison"]["answer"], serde_json::Value::Null);
    for (key, value) in own.as_object().unwrap() {
        assert_eq!(&document[key], value, "{key}");
    }
    let markdown =
        String::from_utf8(comparison::markdown_of_baseline(&against.comparison)).unwrap();
    assert!(
        markdown.starts_with("### Comparison with the baseline\n\nOne pair"),
        "{markdown}"
    );
    let origin = html::Origin {
        naming: Naming::Flags,
        plan: "",
        files: &[],
        teardown: None,
        against: Some(&against),
    };
    let page = String::from_utf8(html::page(&candidate, &origin)).unwrap();
    assert!(page.contains("<section id=\"baseline\">"), "{page}");
    assert!(page.contains("</svg>\nbaseline</span>") && page.contains("</svg>\nthis run</span>"));
}

#[test]
fn a_baseline_that_is_none_is_refused_before_the_load() {
    let good = run(0, 1.0, 200);
    let baseline = |run: &Summary| Baseline::new(Compared::from_summary(Arc::new(run.clone())));
    let mut invalid = good.clone();
    invalid.verdict.validity = Validity::Invalid;
    assert!(baseline(&invalid).unwrap_err().contains("it is invalid"));
    let mut info = drumfire_measure::RunInfo::clone(&run(30, 1.0, 200).info);
    info.target = "http://other/".to_owned();
    assert_eq!(baseline(&good).unwrap().check(&info), Ok(()));
    let mut other = run(30, 1.0, 200);
    Arc::make_mut(&mut other.info).target = "http://other/".to_owned();
    let against = baseline(&good).unwrap().against(&other).unwrap();
    let found = comparison::text(&against.comparison, &STYLE);
    assert!(found.contains("The targets differ:"), "{found}");
    info.pools[0].asked.as_mut().unwrap().stop.requests = Some(7);
    let refused = baseline(&good).unwrap().check(&info).unwrap_err();
    assert!(
        refused.contains("the planned loads of pool main differ"),
        "{refused}"
    );
}

/// A schema that forbids every field which it does not name.
pub(crate) fn closed(schema: &str) -> serde_json::Value {
    fn close(schema: &mut serde_json::Value) {
        match schema {
            serde_json::Value::Object(map) => {
                if map.contains_key("properties") {
                    map.insert("additionalProperties".to_owned(), false.into());
                }
                map.values_mut().for_each(close);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(close),
            _ => {}
        }
    }
    let mut schema = serde_json::from_str(schema).unwrap();
    close(&mut schema);
    schema
}
