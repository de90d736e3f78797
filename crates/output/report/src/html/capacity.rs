//! The page of a search for a capacity: the answer as the heading, what limits it, the picture of the
//! rates with the objective, the table of rates, and then the course of the search, which is the
//! page of its run.

use super::{Document, Origin, Part, Place, knee, origin_facts, part, parts_of, section};
use crate::answers::{Answer as RunAnswer, Grade, answers};
use crate::capacity::{
    bottleneck_name, bottleneck_words, facts, grade, headline, limit, mark, short,
};
use crate::figure::{Figure, Mark, Pictures, Unit};
use crate::markup::Markup;
use crate::quantity::span;
use crate::remedy::sentence;
use crate::secret;
use crate::section::{Body, Section};
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_capacity::{Answer, CourseStage, Finding, Stage};
use drumfire_measure::Summary;

/// The parts of a run's page that a search replaces: its figures are of many rates.
const REPLACED: [&str; 3] = ["about", "answers", "numbers"];
/// Two stages that begin closer than this share of the search have one mark.
const APART: f64 = 0.025;
/// The first of the numbers in circles, and their count in Unicode.
const CIRCLES: (u32, usize) = (0x2460, 20);

/// The page as the bytes of a file. The summary and the origin are those of the search's run.
#[must_use]
pub fn capacity_page(finding: &Finding, summary: &Summary, origin: &Origin<'_>) -> Vec<u8> {
    let document = Document {
        title: &capacity_title(finding),
        place: Place::File,
        parts: &capacity(finding, summary, origin),
    };
    document.print()
}

/// The title of the page, unescaped.
#[must_use]
pub fn capacity_title(finding: &Finding) -> String {
    format!("drumfire: {}", headline(finding))
}

/// The parts of the page, in the order of reading.
#[must_use]
pub fn capacity(finding: &Finding, summary: &Summary, origin: &Origin<'_>) -> Vec<Part> {
    let mut parts = vec![
        part("about", |out| about(out, finding, summary)),
        part("answers", |out| tiles(out, finding, summary, origin)),
        part("knee", |out| knee::print(out, finding)),
        section::part(&rates(finding)),
        part("course", |out| course(out, finding)),
    ];
    parts.retain(|part| !part.html.is_empty());
    let pictures = Pictures::new(summary);
    let figures = pictures.all().into_iter();
    let figures = figures.filter(|figure| figure.name != "knee");
    let figures = figures.map(|figure| numbered(figure, &finding.course));
    let run = parts_of(summary, origin, &pictures, figures.collect()).into_iter();
    let (links, run): (Vec<Part>, Vec<Part>) = run
        .filter(|part| !REPLACED.contains(&part.id))
        .partition(|part| part.id == "links");
    parts.splice(2..2, links);
    parts.extend(run);
    parts
}

/// The answer, the target, the time and the run's name.
fn about(out: &mut Markup, finding: &Finding, summary: &Summary) {
    let answer = format!("{}{}", mark(grade(finding)), headline(finding));
    let target = secret::excerpt(&finding.target);
    out.open("header", &[("id", "about")]);
    out.element("h1", &[], &answer);
    let facts = origin_facts(summary).collect::<Vec<_>>().join(" · ");
    let facts = format!("Capacity of {target} · {facts}");
    out.element("p", &[("class", "dim")], &facts);
    out.close("header");
}

/// The limit and whether it is confirmed, what limits the rate, and whether the run is valid.
fn tiles(out: &mut Markup, finding: &Finding, summary: &Summary, origin: &Origin<'_>) {
    out.open("section", &[("id", "answers")]);
    out.open("ul", &[("class", "answers")]);
    let (title, mut words) = match &finding.answer {
        Answer::Found(capacity) => {
            let title = match capacity.confirmed() {
                Some(confirmation) => format!("confirmed at {}", short(confirmation.rate)),
                None => "not confirmed".to_owned(),
            };
            (title, vec![limit(capacity)])
        }
        Answer::Below(_) => ("below the first rate".to_owned(), Vec::new()),
        Answer::Above(_) => ("confirmed at the maximum rate".to_owned(), Vec::new()),
        Answer::Generator { .. } | Answer::Unknown { .. } => ("no answer".to_owned(), Vec::new()),
    };
    // The reasons of a limit of drumfire's own are beside the limit.
    let is_own = matches!(finding.answer, Answer::Generator { .. });
    let facts = facts::confirmed(finding).into_iter();
    let facts = facts.chain(facts::circumstances(finding));
    let facts = facts.filter(|(label, _)| !(is_own && *label == "Reason"));
    words.extend(facts.map(|(_, of)| of));
    let grade = grade(finding);
    // The heading has the reason of an answer that is missing.
    let is_answered = !matches!(
        finding.answer,
        Answer::Generator { .. } | Answer::Unknown { .. }
    );
    if is_answered || !words.is_empty() {
        tile(
            out,
            class(grade),
            &format!("{}{title}", mark(grade)),
            &words,
        );
    }
    if let Some(name) = bottleneck_name(finding) {
        let words = finding.bottleneck.map(|it| bottleneck_words(finding, it));
        // The words begin with the name.
        let words = words.map(|words| match words.split_once(": ") {
            Some((_, reason)) => reason.to_owned(),
            None => words,
        });
        let reasons = finding.reasons.iter().filter(|_| is_own).cloned();
        let words: Vec<String> = words.into_iter().chain(reasons).collect();
        tile(out, "is-open", &format!("limited by {name}"), &words);
    }
    let of_run = answers(summary).into_iter().find(|of| of.subject == "run");
    if let Some(RunAnswer {
        grade,
        text,
        reasons,
        ..
    }) = of_run
    {
        let reasons = reasons.iter();
        let reasons = reasons.map(|reason| foreign(&sentence(reason, origin.naming), Unicode::On));
        let title = format!("{} {text}", grade.mark());
        tile(out, class(grade), &title, &reasons.collect::<Vec<_>>());
    }
    out.close("ul");
    out.close("section");
}

/// Appends a tile with its sentences.
fn tile(out: &mut Markup, class: &str, title: &str, words: &[String]) {
    out.open("li", &[("class", class)]);
    out.element("strong", &[], title);
    for words in words {
        out.element("p", &[("class", "dim")], words);
    }
    out.close("li");
}

const fn class(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "is-good",
        Grade::Fair => "is-fair",
        Grade::Bad => "is-bad",
        Grade::Open => "is-open",
    }
}

/// The table of the rates that were tried.
fn rates(finding: &Finding) -> Section {
    Section {
        id: "rates",
        title: "Rates that were tried",
        explanation: "Each row is a rate: the time for which it was requested, the requests that \
                      ended, and the share of them beyond the objective that this rate misses most. \
                      ≤ marks an upper bound of a quantile that the number of requests does not \
                      support."
            .to_owned(),
        remarks: Vec::new(),
        bodies: vec![Body::Table(facts::knee(finding))],
    }
}

/// The heading of the search's course, with its stages by their numbers in the pictures.
fn course(out: &mut Markup, finding: &Finding) {
    out.open("section", &[("id", "course")]);
    out.element("h2", &[], "The course of the search");
    out.open("ol", &[("class", "search-course")]);
    for (number, stage) in stages(&finding.course) {
        let [low, high] = [stage.low, stage.high].map(short);
        let rates = match low == high {
            true => low,
            false => format!("{low} to {high}"),
        };
        let start = span(stage.start, Unicode::On);
        let words = format!("{number} {} from {start}, {rates}", stage.stage.name());
        out.element("li", &[], &words);
    }
    out.close("ol");
    out.close("section");
}

/// The stages that have a number: all but drains, which last seconds.
fn stages(course: &[CourseStage]) -> Vec<(String, CourseStage)> {
    let shown = course
        .iter()
        .filter(|of| !matches!(of.stage, Stage::Drain | Stage::Over));
    let number = |(at, stage): (usize, &CourseStage)| (circled(at), *stage);
    shown.enumerate().map(number).collect()
}

/// The number of a stage, which is its index plus 1, in a circle.
fn circled(index: usize) -> String {
    let (first, count) = CIRCLES;
    let letter = (index < count).then(|| char::from_u32(first + index as u32));
    letter
        .flatten()
        .map_or_else(|| format!("({})", index + 1), String::from)
}

/// A figure over time with the numbers of the stages as marks. Stages that begin within a small part
/// of the search share a mark.
fn numbered(figure: Figure, course: &[CourseStage]) -> Figure {
    if figure.x.unit != Unit::RunTime {
        return figure;
    }
    let near = (figure.x.to - figure.x.from) * APART;
    let mut marks: Vec<Mark> = Vec::new();
    for (number, stage) in stages(course) {
        let x = stage.start.0 as f64;
        match marks.last_mut() {
            Some(last) if x - last.x < near => last.name.push_str(&number),
            _ => marks.push(Mark { x, name: number }),
        }
    }
    Figure { marks, ..figure }
}

#[cfg(test)]
mod tests {
    use super::{circled, numbered, stages};
    use crate::figure::{Axis, Figure, Mark, Plot, Unit};
    use drumfire_capacity::{CourseStage, Stage};
    use drumfire_units::Nanos;

    #[test]
    fn stages_have_numbers_and_near_ones_share_a_mark() {
        let stage = |stage, second| CourseStage {
            stage,
            start: Nanos::from_secs(second),
            low: 10.0,
            high: 320.0,
        };
        let course = [
            stage(Stage::Climb, 0),
            stage(Stage::Drain, 17),
            stage(Stage::Refine, 19),
            stage(Stage::Drain, 22),
            stage(Stage::Hold, 20),
            stage(Stage::Confirm, 80),
        ];
        let named: Vec<String> = stages(&course).into_iter().map(|(name, _)| name).collect();
        assert_eq!(named, ["①", "②", "③", "④"]);
        let figure = Figure {
            name: "rate",
            title: String::new(),
            question: "",
            x: Axis::linear("time", Unit::RunTime, [100e9]),
            y: Axis::linear("", Unit::PerSecond, [1.0]),
            plot: Plot::Lines(Vec::new()),
            marks: vec![Mark {
                x: 1.0,
                name: "20/s".to_owned(),
            }],
            note: None,
        };
        let marks = numbered(figure, &course).marks;
        let marks: Vec<(f64, &str)> = marks.iter().map(|mark| (mark.x, &*mark.name)).collect();
        assert_eq!(marks, [(0.0, "①"), (19e9, "②③"), (80e9, "④")]);
        assert_eq!(circled(19), "⑳");
        assert_eq!(circled(20), "(21)");
    }
}
