//! The page of a search for a capacity.

use crate::fixture;
use drumfire_capacity::{
    Answer, Bottleneck, Capacity, Confirmation, CourseStage, Finding, KneeRow, Stage, Why,
};
use drumfire_measure::{Histogram, Model, Objective, PoolInfo, RunInfo};
use drumfire_report::Naming;
use drumfire_report::html::{self, Origin, Part};
use drumfire_units::Nanos;
use uppsala::parse;

const ORIGIN: Origin<'static> = Origin {
    naming: Naming::Flags,
    plan: "",
    files: &[],
    teardown: None,
    against: None,
};

fn objective(text: &str) -> Objective {
    let pool = PoolInfo::new("main", Model::Open, ["GET /"]);
    let rule = text.parse().expect("a rule");
    Objective::from_rule(&rule, &RunInfo::new(vec![pool])).expect("an objective")
}

fn row(stage: Stage, rate: f64, millis: u64, count: u64) -> KneeRow {
    let mut times = Histogram::new();
    for _ in 0..count {
        times.record(Nanos::from_millis(millis));
    }
    let missed = if millis >= 50 { 1.0 } else { 0.0 };
    KneeRow {
        stage,
        rate,
        span: Nanos::from_secs(3),
        ended: count,
        times,
        shares: vec![missed, 0.0],
    }
}

fn finding(answer: Answer) -> Finding {
    let stage = |stage, second, low, high| CourseStage {
        stage,
        start: Nanos::from_secs(second),
        low,
        high,
    };
    Finding {
        run: "r1".to_owned(),
        target: "http://user:secret@127.0.0.1:8080/<b>".to_owned(),
        answer,
        objectives: vec![objective("p99<50ms"), objective("failed<1%")],
        knee: vec![
            row(Stage::Climb, 10.0, 5, 30),
            row(Stage::Climb, 320.0, 640, 400),
            row(Stage::Hold, 150.0, 45, 4_000),
            row(Stage::Confirm, 118.0, 34, 4_000),
        ],
        course: vec![
            stage(Stage::Climb, 0, 10.0, 320.0),
            stage(Stage::Drain, 2, 80.0, 80.0),
            stage(Stage::Hold, 3, 140.0, 160.0),
            stage(Stage::Confirm, 6, 118.0, 118.0),
        ],
        bottleneck: Some(Bottleneck::Target),
        failure: None,
        reasons: vec!["drumfire itself was late".to_owned()],
        is_cut_short: false,
    }
}

fn capacity(confirmation: Option<Confirmation>, why: Option<Why>) -> Answer {
    Answer::Found(Capacity {
        rate: 155.0,
        low: 139.0,
        high: 174.0,
        slo: 0,
        held: 25.0,
        confirmation,
        trend: None,
        why,
    })
}

fn confirmation() -> Confirmation {
    Confirmation {
        rate: 118.0,
        shares: vec![0.000_8, 0.0],
        requests: 3_879.0,
        is_kept: true,
        made: 1,
    }
}

fn parts(finding: &Finding) -> Vec<Part> {
    html::capacity(finding, &fixture::drifting(), &ORIGIN)
}

/// The markup of the part with this id.
fn html_of<'a>(parts: &'a [Part], id: &str) -> &'a str {
    &parts.iter().find(|part| part.id == id).unwrap().html
}

#[test]
fn the_answer_is_the_heading_and_the_knee_the_first_picture() {
    let found = finding(capacity(Some(confirmation()), None));
    let parts = parts(&found);
    let ids: Vec<&str> = parts.iter().map(|part| part.id).take(6).collect();
    assert_eq!(
        ids,
        ["about", "answers", "links", "knee", "rates", "course"]
    );
    let [about, answers, knee, rates, course, rate] =
        ["about", "answers", "knee", "rates", "course", "rate"].map(|id| html_of(&parts, id));
    assert!(
        about.contains("<h1>✓ 118/s keeps p99&lt;50ms, failed&lt;1%</h1>"),
        "{about}"
    );
    assert!(
        !about.contains("secret") && !about.contains("<b>"),
        "{about}"
    );
    for words in [
        "confirmed at 118/s",
        "the limit is 155/s (90 % interval 139/s to 174/s)",
        "limited by the target",
        "drumfire itself was late",
    ] {
        assert!(answers.contains(words), "{words}: {answers}");
    }
    // A dot for each rate; the first has too few requests for p99.
    assert_eq!(
        knee.matches("<circle").count(),
        4 + 4,
        "with the keys: {knee}"
    );
    assert!(
        knee.contains("is-kept hollow") && knee.contains("is-missed"),
        "{knee}"
    );
    assert!(
        knee.contains("class=\"band\"") && knee.contains("class=\"objective\""),
        "{knee}"
    );
    assert!(knee.contains("limit 155/s (139/s to 174/s)"), "{knee}");
    assert!(
        rates.contains("<td class=\"words\">confirm</td>"),
        "{rates}"
    );
    for words in [
        "① climb from 0",
        "10.0/s to 320/s",
        "② hold from 3 s",
        "③ confirm",
    ] {
        assert!(course.contains(words), "{words}: {course}");
    }
    assert!(
        rate.contains("①②③") && !rate.contains("warm-up ends"),
        "{rate}"
    );
    let mut seen: Vec<&str> = parts.iter().map(|part| part.id).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), parts.len(), "each id once");
}

#[test]
fn every_answer_has_a_well_formed_page() {
    let not_confirmed = capacity(None, Some(Why::Unproven));
    let unknown = Answer::Unknown {
        why: Why::Ended,
        kept: None,
        missed: None,
    };
    let generator = Answer::Generator {
        rate: 320.0,
        kept: None,
    };
    for (answer, words) in [
        (
            not_confirmed,
            "not confirmed: up to about 155/s keeps p99&lt;50ms",
        ),
        (Answer::Below(10.0), "✗ below 10/s: the first rate misses"),
        (
            Answer::Above(320.0),
            "✓ 320/s or more: the maximum rate keeps",
        ),
        (generator, "limited by drumfire itself"),
        (unknown, "no answer yet"),
    ] {
        let mut finding = finding(answer);
        for rows in [finding.knee.len(), 0] {
            finding.knee.truncate(rows);
            let page = html::capacity_page(&finding, &fixture::open(), &ORIGIN);
            let page = String::from_utf8(page).unwrap();
            assert!(page.contains(words), "{words}");
            let (before, rest) = page.split_once("<script>").unwrap();
            let (_, after) = rest.split_once("</script>").unwrap();
            let xml = format!("{before}{after}").replace("<!doctype html>", "");
            assert!(parse(xml.trim()).is_ok(), "{words}");
        }
    }
    // An objective without a time has a picture of shares.
    let mut finding = finding(Answer::Below(10.0));
    finding.objectives.swap(0, 1);
    let parts = parts(&finding);
    let knee = html_of(&parts, "knee");
    assert!(
        knee.contains("Share beyond the objective by rate"),
        "{knee}"
    );
}
