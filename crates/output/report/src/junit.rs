//! The three answers and the thresholds as cases of JUnit's XML, for CI systems.
//!
//! The elements and attributes are those of Jenkins' schema (`junit-10.xsd`), which all readers
//! accept. A case fails if its answer is the worst one or its threshold failed. An answer in
//! between, such as a suspect run, fails nothing; its reasons are the output of the case. Names of
//! cases do not depend on the result, so that a CI system can follow them. Every case has the
//! length of the run as its time.

use crate::answers::{Answer, Grade, answers, rule};
use crate::failure_kind::explanations;
use crate::plan_name::plan_name;
use crate::quantity::{quantile, rate};
use crate::remedy::{Naming, sentence};
use crate::style::Unicode;
use crate::untrusted::foreign;
use crate::{calendar, secret};
use drumfire_measure::{Summary, ThresholdResult};
use drumfire_units::Nanos;
use quick_junit::{
    NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite, XmlString,
};
use std::time::Duration;

/// The class of the cases of answers.
const ANSWERS: &str = "drumfire.answers";
/// The class of the cases of thresholds.
const THRESHOLDS: &str = "drumfire.thresholds";

/// The quantiles of the latency as properties: in words, and in nanoseconds.
const QUANTILES: [(&str, &str, f64); 4] = [
    ("p50", "p50_ns", 0.5),
    ("p90", "p90_ns", 0.9),
    ("p99", "p99_ns", 0.99),
    ("max", "max_ns", 1.0),
];

/// An attribute of the root that the crate writes although the schema lacks it.
const SKIPPED: &str = " skipped=\"0\"";

/// The document of a finished run. Remedies name settings as the run's caller knows them.
#[must_use]
#[expect(clippy::expect_used, reason = "a string takes every byte")]
pub fn summary(summary: &Summary, naming: Naming) -> Vec<u8> {
    let mut report = Report::new("drumfire");
    report.set_time(time(summary.duration));
    report.add_test_suite(suite(summary, naming));
    let xml = report.to_string().expect("a document in memory");
    xml.replacen(SKIPPED, "", 1).into_bytes()
}

/// The suite of a run, named by its plan, or else by its target.
fn suite(summary: &Summary, naming: Naming) -> TestSuite {
    let name = plan_name(summary.info.name.as_deref());
    let name = name.unwrap_or_else(|| secret::url(&summary.info.target));
    let mut suite = TestSuite::new(foreign(&name, Unicode::On));
    suite.set_time(time(summary.duration));
    let started = calendar::rfc3339_seconds(summary.info.started_at_unix_ns);
    let timestamp = (XmlString::new("timestamp"), XmlString::new(started));
    suite.extra.extend([timestamp]);
    for (name, value) in properties(summary) {
        suite.add_property(Property::new(name, foreign(&value, Unicode::On)));
    }
    let mut answers = answers(summary);
    answers.sort_by_key(|answer| answer.subject);
    for answer in answers {
        suite.add_test_case(answer_case(&answer, summary, naming));
    }
    for threshold in &summary.thresholds {
        suite.add_test_case(threshold_case(threshold, summary.duration));
    }
    suite
}

/// The facts and figures beside the cases.
fn properties(summary: &Summary) -> Vec<(&'static str, String)> {
    let (info, counts) = (&summary.info, &summary.total.counts);
    let times = summary.latency();
    let mut all = vec![
        ("run", info.id.clone()),
        ("target", secret::url(&info.target)),
        ("version", info.version.clone()),
        ("seed", info.seed.to_string()),
        ("sent", counts.sent.to_string()),
        ("ok", counts.ok.to_string()),
        ("failed", counts.failed.to_string()),
        ("dropped", counts.dropped.to_string()),
        ("rate", rate(summary.achieved_per_s())),
    ];
    let asked = summary.intended_per_s().map(rate);
    all.extend(asked.map(|asked| ("rate.asked", asked)));
    for (name, name_ns, q) in QUANTILES {
        let time = quantile(times, q, Unicode::On);
        all.extend(time.map(|time| (name, time)));
        all.extend(times.quantile(q).map(|time| (name_ns, time.0.to_string())));
    }
    all
}

/// The case of an answer, named by its subject (`run`, `load` or `target`). The case of the target
/// explains the failures.
fn answer_case(answer: &Answer<'_>, summary: &Summary, naming: Naming) -> TestCase {
    let reasons = answer.reasons.iter();
    let reasons = reasons.map(|reason| foreign(&sentence(reason, naming), Unicode::On));
    let mut reasons: Vec<String> = reasons.collect();
    if answer.subject == "target" {
        reasons.extend(explanations(summary, naming, &reasons.join("\n")));
    }
    let reasons = reasons.join("\n");
    let status = match answer.grade {
        Grade::Bad => failure(answer.subject, &answer.text, &reasons),
        Grade::Good | Grade::Fair | Grade::Open => TestCaseStatus::success(),
    };
    let name = format!("drumfire: {}", subject_in_words(answer.subject));
    let mut case = case(&name, ANSWERS, status, summary.duration);
    let is_explained = matches!(answer.grade, Grade::Fair | Grade::Open)
        || answer.grade == Grade::Good && answer.subject == "target" && !reasons.is_empty();
    if is_explained {
        case.set_system_out(format!("{}\n{reasons}", answer.text).trim_end());
    }
    case
}

/// The name of an answer's case: the best answer, which does not depend on the result.
fn subject_in_words(subject: &str) -> &str {
    match subject {
        "run" => "run valid",
        "load" => "load kept",
        "target" => "target ok",
        other => other,
    }
}

/// The case of a threshold, named by its rule, with the measured value as its text.
fn threshold_case(threshold: &ThresholdResult, duration: Nanos) -> TestCase {
    let rule = foreign(&rule(threshold), Unicode::On);
    let measured = foreign(&threshold.actual_text, Unicode::On);
    let status = match threshold.passed {
        true => TestCaseStatus::success(),
        false => failure("threshold", &format!("{rule}: {measured}"), &measured),
    };
    let mut case = case(&rule, THRESHOLDS, status, duration);
    if threshold.passed {
        case.set_system_out(measured);
    }
    case
}

/// A case with the length of the run as its time.
fn case(name: &str, class: &str, status: TestCaseStatus, duration: Nanos) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class).set_time(time(duration));
    case
}

/// The status of a failed case: a kind, a message in one line, and the reasons.
fn failure(kind: &str, message: &str, description: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(kind).set_message(message);
    status.set_description(description);
    status
}

const fn time(span: Nanos) -> Duration {
    Duration::from_nanos(span.0)
}
