//! A comparison as text for a terminal.
//!
//! The answer stands first and in a sentence, for most readers need nothing below it. Both sides
//! follow, so that a comparison of the wrong runs is seen, then the table, then what makes the
//! answer less than it seems. On a narrow page the medians give way first: shift, interval and
//! answer are what the page is for.
//!
//! Every number comes from the rows. The one thing that is computed here is half of an interval,
//! as the least shift that runs with this spread could have shown.

use super::differences;
use crate::answers::target_words;
use crate::calendar;
use crate::line::{Ink, Line, labelled, wrap};
use crate::quantity::{counted, in_letters, latency_f64, rate, share_of};
use crate::secret;
use crate::style::{Style, Unicode};
use crate::table::{Column, Side, Table};
use crate::untrusted::Untrusted;
use drumfire_compare::{Answer, Comparison, Figure, Rounds, Row, Runs};
use drumfire_measure::TargetState;

/// The column at which everything after a label begins.
const LABEL: usize = 13;

/// The answer, both sides, a row for each figure, and what makes the answer less than it seems.
#[must_use]
pub fn text(of: &Comparison, style: &Style) -> String {
    let mut out = String::new();
    let (sentence, ink) = answer(of, style);
    labelled(("Answer", LABEL), &sentence, ink, style, &mut out);
    out.push('\n');
    for (label, side) in [("Base", &of.base), ("Candidate", &of.candidate)] {
        labelled(
            (label, LABEL),
            &words(side, style),
            Ink::Plain,
            style,
            &mut out,
        );
    }
    if let Some(sentence) = difference(of, style) {
        for line in wrap(&sentence, style.width()) {
            Line::plain(line).print(style, &mut out);
        }
    }
    out.push('\n');
    for line in table(of, style).lines(style.width()) {
        line.print(style, &mut out);
    }
    for sentence in remarks(of, style) {
        out.push('\n');
        let sentence = in_letters(&sentence, style.unicode);
        for line in wrap(&sentence, style.width()) {
            Line::of(line, Ink::Dim).print(style, &mut out);
        }
    }
    out
}

/// One pair has no verdict, whatever its intervals say.
///
/// The answer of all figures in a sentence: what is worse goes first, since it decides.
pub(crate) fn answer(of: &Comparison, style: &Style) -> (String, Ink) {
    if of.is_pair() {
        let words = "One pair of runs has no verdict: runs of the same program differ, too. For a \
                     verdict, take several runs of each side in turn.";
        return (words.to_owned(), Ink::Bold);
    }
    let [worse, better] = [Answer::Worse, Answer::Better].map(|answer| listed(of, answer, style));
    // Worse and better together are a trade, and its reader decides: the sentence has both, and the exit
    // code is that of what is worse.
    let least = percent(of.terms.least);
    let runs = match of.rounds {
        Some(_) => "rounds",
        None => "runs",
    };
    match (worse, better) {
        (Some(worse), None) => (
            format!("{} the candidate is worse: {worse}", style.glyph("✗", "x")),
            Ink::Bad,
        ),
        (Some(worse), Some(better)) => {
            let cross = style.glyph("✗", "x");
            (
                format!("{cross} the candidate is worse: {worse}. Better: {better}"),
                Ink::Bad,
            )
        }
        (None, Some(better)) => (
            format!(
                "{} the candidate is better: {better}",
                style.glyph("✓", "+")
            ),
            Ink::Good,
        ),
        (None, None) if of.rows.iter().all(|row| row.answer == Some(Answer::Equal)) => (
            format!("{} equal within {least}", style.glyph("✓", "+")),
            Ink::Good,
        ),
        (None, None) => (
            undecided(of, style).unwrap_or_else(|| {
                format!("undecided: too few {runs} to show a shift of {least}, or to rule it out")
            }),
            Ink::Warn,
        ),
    }
}

/// The answer where the interval of an undecided figure lies beyond the least shift that matters:
/// it looks worse or better, but is one of several figures, whose intervals are its own.
fn undecided(of: &Comparison, style: &Style) -> Option<String> {
    let looks = |row: &Row| {
        let (low, high) = row.interval.filter(|_| row.answer == Some(Answer::Open))?;
        let least = row.figure.least(of.terms.least);
        let is_beyond = low >= least || high <= -least;
        let word = match (low > 0.0) == row.figure.is_better_greater() {
            true => "better",
            false => "worse",
        };
        is_beyond.then(|| {
            format!(
                "{} looks {word} ({})",
                row.figure.name(),
                interval_words(row, style)
            )
        })
    };
    let looks: Vec<String> = of.rows.iter().filter_map(looks).collect();
    let made = counted(
        of.base.ids.len() as u64,
        match of.rounds {
            Some(_) => "round",
            None => "run",
        },
    );
    let of_each = match of.rounds {
        Some(_) => "",
        None => " of each",
    };
    let enough = match of.enough() {
        needed if needed > of.base.ids.len().min(of.candidate.ids.len()) => {
            format!("use {needed} or more")
        }
        _ => "use more".to_owned(),
    };
    (!looks.is_empty()).then(|| {
        format!(
            "undecided: {}, but {made}{of_each} can't show it for {}; {enough}",
            looks.join(", "),
            match of.rows.len() {
                1 => "one figure".to_owned(),
                figures => format!("{figures} figures together"),
            }
        )
    })
}

/// The facts of their plans in which the sides differ, in a sentence.
pub(crate) fn difference(of: &Comparison, style: &Style) -> Option<String> {
    differences::sentence(&of.differences, style)
}

/// In the order of the table, so that the median stands before the tail.
///
/// The figures with this answer and their shifts; `None` where there is none.
fn listed(of: &Comparison, answer: Answer, style: &Style) -> Option<String> {
    let rows = of.rows.iter().filter(|row| row.answer == Some(answer));
    let words = rows.map(|row| format!("{} by {}", row.figure.name(), shift_words(row, style)));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The table as words, for other formats than a terminal's.
pub(crate) fn cells(of: &Comparison, style: &Style) -> Cells {
    let is_pair = of.is_pair();
    let mut heads = vec!["figure", "base", "candidate", "shift", "95 % interval"];
    if !is_pair {
        heads.extend(["p", "answer"]);
    }
    let rows = of.rows.iter().map(|row| {
        let mut cells = vec![
            row.figure.name().to_owned(),
            value(row.figure, row.medians[0], style.unicode),
            value(row.figure, row.medians[1], style.unicode),
            shift_words(row, style),
            interval_words(row, style),
        ];
        if !is_pair {
            cells.push(row.p.map_or_else(String::new, probability));
            cells.push(answer_name(row, of.terms.least));
        }
        cells
    });
    Cells {
        heads,
        rows: rows.collect(),
    }
}

/// What makes the answer less than it seems, and the least shifts that could have been shown, a
/// sentence each.
pub(crate) fn remarks(of: &Comparison, style: &Style) -> Vec<String> {
    let cautions = of.cautions.iter().cloned();
    cautions.chain(resolution(of, style)).collect()
}

/// The table for a terminal. A pair has neither a probability nor an answer, and no columns for them.
fn table(of: &Comparison, style: &Style) -> Table {
    let mut columns = vec![
        Column::names("Figure"),
        Column::numbers("base", 2),
        Column::numbers("candidate", 1),
        Column::numbers("shift", 0),
        Column::numbers("95 % interval", 0),
    ];
    let is_pair = of.is_pair();
    if !is_pair {
        columns.push(Column::numbers("p", 3));
        columns.push(Column {
            heading: "answer",
            side: Side::Left,
            dispensable: 0,
        });
    }
    let mut table = Table::new(columns);
    for row in &of.rows {
        let mut cells = vec![
            Line::of(row.figure.name(), Ink::Bold),
            Line::plain(value(row.figure, row.medians[0], style.unicode)),
            Line::plain(value(row.figure, row.medians[1], style.unicode)),
            Line::plain(shift_words(row, style)),
            Line::of(interval_words(row, style), Ink::Dim),
        ];
        if !is_pair {
            cells.push(Line::of(
                row.p.map_or_else(String::new, probability),
                Ink::Dim,
            ));
            cells.push(answer_words(of, row));
        }
        table.row(cells);
    }
    table
}

/// The answer of a figure in its colour. What is open is dim and not green: nothing was shown.
fn answer_words(of: &Comparison, row: &Row) -> Line {
    let ink = match row.answer {
        Some(Answer::Worse) => Ink::Bad,
        Some(Answer::Better | Answer::Equal) => Ink::Good,
        Some(Answer::Open) | None => Ink::Dim,
    };
    Line::of(answer_name(row, of.terms.least), ink)
}

/// The least shifts that could have been shown: of an experiment by its design and the spread
/// that was seen, of sets half of each interval.
pub(crate) fn resolution(of: &Comparison, style: &Style) -> Option<String> {
    let least = |row: &Row| match (of.rounds, row.interval) {
        (Some(_), _) => row.detectable,
        (None, interval) => interval.map(|(low, high)| (high - low) / 2.0),
    };
    let shifts = of.rows.iter().filter_map(|row| {
        let sign = style.glyph("±", "+-");
        Some(format!(
            "{} {sign}{}",
            row.figure.name(),
            percent(least(row)?)
        ))
    });
    let shifts: Vec<String> = shifts.collect();
    let shifts = (!of.is_pair() && !shifts.is_empty()).then(|| shifts.join(", "))?;
    Some(match of.rounds {
        None => {
            format!("With this spread, the runs can't show smaller shifts than these: {shifts}.")
        }
        Some(rounds) => format!(
            "With the observed spread, four of five experiments of {} rounds detect shifts of: {shifts}.",
            rounds.planned
        ),
    })
}

/// Markdown and the page take these words, so that no format has a figure that another rounds
/// differently.
///
/// The table of a comparison in words.
pub(crate) struct Cells {
    pub(crate) heads: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// What an experiment can show, by its design: a sentence for before its first round.
#[must_use]
pub fn foreseen(rounds: Rounds) -> String {
    let shown = |spread: f64| percent(rounds.resolution(spread).exp_m1());
    format!(
        "{} rounds detect a shift of {} if runs of the same program differ by 1 %, {} if they differ by 2 %, {} if \
         they differ by 5 % (in four of five experiments)",
        rounds.planned,
        shown(0.01),
        shown(0.02),
        shown(0.05),
    )
}

/// The number of runs, the first one and its beginning, the target, and how it did.
pub(crate) fn words(side: &Runs, style: &Style) -> String {
    let target = secret::excerpt(&side.target);
    let target = Untrusted::new(&target).escaped(style.unicode);
    let began = side
        .began
        .first()
        .map(|began| calendar::rfc3339_seconds(*began));
    let from = match side.ids.as_slice() {
        [id] => format!("run {}", Untrusted::new(id).escaped(style.unicode)),
        ids => format!("{}, the first", counted(ids.len() as u64, "run")),
    };
    let pause = style.glyph(" · ", ", ");
    format!(
        "{from} started {}{pause}{target}{pause}{}",
        began.unwrap_or_default(),
        states(side)
    )
}

/// The target's answer to the runs, as their reports have it; of runs with several, to how many
/// of them.
fn states(side: &Runs) -> String {
    let count = |state| side.states.iter().filter(|of| **of == state).count();
    let seen = TargetState::ALL.into_iter().rev();
    let seen: Vec<_> = seen.filter(|state| count(*state) > 0).collect();
    match seen.as_slice() {
        [only] => target_words(*only),
        _ => {
            let all = side.states.len();
            let counted = seen.iter().map(|state| {
                let words = target_words(*state);
                format!("{words} in {} of {all}", count(*state))
            });
            counted.collect::<Vec<_>>().join(", ")
        }
    }
}

/// The shift with its sign, such as `+7.1 %`.
pub(crate) fn shift_words(row: &Row, style: &Style) -> String {
    signed(row.shift, style)
}

/// The ends of the interval with their signs; a dash where too little is known for one.
pub(crate) fn interval_words(row: &Row, style: &Style) -> String {
    match row.interval {
        Some((low, high)) => format!("{} to {}", signed(low, style), signed(high, style)),
        None => style.glyph("–", "-").to_owned(),
    }
}

/// The answer of one figure.
fn answer_name(row: &Row, least: f64) -> String {
    match row.answer {
        Some(Answer::Worse) => "worse".to_owned(),
        Some(Answer::Better) => "better".to_owned(),
        Some(Answer::Equal) => format!("equal within {}", percent(row.figure.least(least))),
        Some(Answer::Open) | None => "undecided".to_owned(),
    }
}

/// A value of a figure with its unit: times as latencies, failures as shares of the requests, rates
/// per second.
pub(crate) fn value(figure: Figure, value: f64, unicode: Unicode) -> String {
    match figure {
        Figure::Latency(..) => latency_f64(value, unicode),
        Figure::Failed => share_of(value),
        Figure::Rate => rate(value),
    }
}

/// A share with its sign: `+7.1 %`, `−0.40 %`, `0 %`. Shares of failures differ by points of these.
pub(crate) fn signed(share: f64, style: &Style) -> String {
    let sign = match share {
        // Too small for a sign.
        -0.000_05..0.000_05 => return percent(0.0),
        ..0.0 => style.glyph("−", "-"),
        _ => "+",
    };
    format!("{sign}{}", percent(share.abs()))
}

/// A share above 0: two digits below ten percent, whole percents from a hundred on.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p < 0.005 => "0 %".to_owned(),
        p if p < 0.995 => format!("{p:.2} %"),
        p if p < 99.95 => format!("{p:.1} %").replace(".0 %", " %"),
        p => format!("{p:.0} %"),
    }
}

/// A probability to three digits: more would promise what a test of ranks does not have.
fn probability(p: f64) -> String {
    match p {
        ..0.001 => "<0.001".to_owned(),
        _ => format!("{p:.3}"),
    }
}
