//! A comparison in words: its answer, its sides, its table, and what limits the answer.

use super::differences;
use crate::answers::target_words;
use crate::calendar;
use crate::grid::{Cell, Column, Grid};
use crate::line::Ink;
use crate::quantity::{counted, latency_f64, rate, share_of};
use crate::secret;
use crate::section::{Body, Facts, Section};
use crate::style::Unicode;
use drumfire_compare::{Answer, Comparison, Figure, RUNS_MAX, Rounds, Row, Runs};
use drumfire_measure::TargetState;

/// Both sides, the settings in which they differ, the table of figures, and what limits the answer.
/// The sides come first, so that a comparison of the wrong runs is noticed.
pub(crate) fn section(of: &Comparison) -> Section {
    let items = |label, cells| Body::Facts(Facts::items(label, cells));
    let line = |label, words| Body::Facts(Facts::lines(label, vec![Cell::new(words)]));
    let mut bodies = vec![
        items("Base", side(&of.base)),
        items("Candidate", side(&of.candidate)),
    ];
    let plans = differences::sentence(&of.differences);
    bodies.extend(plans.map(|plans| line("Plans", plans)));
    bodies.extend(to_decide(of).map(|words| line("To decide", words)));
    bodies.push(Body::Table(figures(of)));
    let intervals = match of.is_pair() {
        true => {
            "The interval contains the shift with 95 % confidence, but it covers only chance within \
             the runs. One pair of runs has no answer."
        }
        false => {
            "Each interval has the confidence at which its figure is tested beside the others, 95 % \
             or more: it excludes 0 exactly if the runs differ more than equal runs would. A dash \
             means that no difference could be shown, however large. p is the probability that \
             equal sets differ this much, for all figures together."
        }
    };
    let explanation = format!(
        "The value of each run; for sets, the median of their runs. The shift of a time or a rate is \
         candidate / base − 1; the shift of failures is a difference. {intervals}"
    );
    Section {
        id: "figures",
        title: "Figures",
        explanation,
        remarks: of.cautions.iter().cloned().chain(resolution(of)).collect(),
        bodies,
    }
}

/// A row for each figure. A pair has neither a probability nor an answer. On a narrow terminal, the
/// medians give way first.
fn figures(of: &Comparison) -> Grid {
    let is_pair = of.is_pair();
    let interval = match is_pair {
        true => "95 % interval",
        false => "interval",
    };
    let mut columns = vec![
        Column::names("figure"),
        Column::numbers("base", 2),
        Column::numbers("candidate", 1),
        Column::numbers("shift", 0),
        Column::numbers(interval, 0),
    ];
    if !is_pair {
        columns.extend([Column::numbers("p", 3), Column::words("answer", 0)]);
    }
    let rows = of.rows.iter().map(|row| {
        let median = |of| Cell::measured(of, value(row.figure, of));
        let mut cells = vec![
            Cell::new(row.figure.name()).inked(Ink::Bold),
            median(row.medians[0]),
            median(row.medians[1]),
            Cell::measured(row.shift, signed(row.shift)),
            Cell::new(interval_words(row.interval)).inked(Ink::Dim),
        ];
        if !is_pair {
            let p = row.p.map_or_else(String::new, probability);
            cells.push(Cell::new(p).numbered(row.p).inked(Ink::Dim));
            // An open answer is dim and not green: nothing was shown.
            let ink = match row.answer {
                Some(Answer::Worse) => Ink::Bad,
                Some(Answer::Better | Answer::Equal) => Ink::Good,
                Some(Answer::Open) | None => Ink::Dim,
            };
            cells.push(Cell::new(answer_name(row)).inked(ink));
        }
        cells.into()
    });
    Grid::new(columns, rows)
}

/// The answer of all figures in a sentence. Figures that are worse come first, since they decide. One
/// pair of runs has no verdict, whatever its intervals are.
pub(crate) fn answer(of: &Comparison) -> (String, Ink) {
    if of.is_pair() {
        let words = "One pair of runs has no verdict: runs of the same program differ, too. For a \
                     verdict, take several runs of each side in turn.";
        return (words.to_owned(), Ink::Bold);
    }
    let [worse, better] = [Answer::Worse, Answer::Better].map(|answer| listed(of, answer));
    // The sentence has both, because the reader decides about a trade. The exit code is that of worse.
    let least = percent(of.terms.least);
    let runs = match of.rounds {
        Some(_) => "rounds",
        None => "runs",
    };
    match (worse, better) {
        (Some(worse), None) => (format!("✗ the candidate is worse: {worse}"), Ink::Bad),
        (Some(worse), Some(better)) => (
            format!("✗ the candidate is worse: {worse}. Better: {better}"),
            Ink::Bad,
        ),
        (None, Some(better)) => (format!("✓ the candidate is better: {better}"), Ink::Good),
        (None, None) if of.rows.iter().all(|row| row.answer == Some(Answer::Equal)) => {
            (format!("✓ equal within {least}"), Ink::Good)
        }
        (None, None) => (
            undecided(of).unwrap_or_else(|| {
                format!("undecided: too few {runs} to show a shift of {least}, or to rule it out")
            }),
            Ink::Warn,
        ),
    }
}

/// The answer if an undecided figure alone would differ by more than the least shift that matters:
/// the figure looks worse or better, but several figures are tested together.
fn undecided(of: &Comparison) -> Option<String> {
    let looks = |row: &Row| {
        let alone = row.interval_alone;
        let (low, high) = alone.filter(|_| row.answer == Some(Answer::Open))?;
        let is_beyond = low >= row.least || high <= -row.least;
        let word = match (low > 0.0) == row.figure.is_better_greater() {
            true => "better",
            false => "worse",
        };
        is_beyond.then(|| {
            format!(
                "{} looks {word} ({} by itself)",
                row.figure.name(),
                interval_words(alone)
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

/// What would decide the undecided figures; `None` if all are decided, if the runs are too few to
/// estimate it, or without a verdict. Figures that need the same number are listed together, the
/// least number first.
pub(crate) fn to_decide(of: &Comparison) -> Option<String> {
    if of.rows.iter().all(|row| row.interval_alone.is_none()) {
        return None;
    }
    let mut needs: Vec<(usize, Vec<&str>)> = Vec::new();
    for (figure, needed) in of.undecided() {
        let needed = needed.unwrap_or(usize::MAX);
        match needs.iter_mut().find(|(of, _)| *of == needed) {
            Some((_, names)) => names.push(figure.name()),
            None => needs.push((needed, vec![figure.name()])),
        }
    }
    needs.sort_by_key(|(needed, _)| *needed);
    let unit = match of.rounds {
        Some(_) => "rounds",
        None => "runs of each side",
    };
    let made = of.base.ids.len().min(of.candidate.ids.len());
    let words = needs.into_iter().map(|(needed, names)| {
        let names = names.join(", ");
        match needed {
            ..=RUNS_MAX if needed <= made => format!("{names}: more than {made} {unit}"),
            ..=RUNS_MAX => format!("{names}: about {needed} {unit}"),
            _ => format!(
                "{names}: more than {RUNS_MAX} {unit}, so use longer runs or a quieter machine"
            ),
        }
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The answer in a few words, for a heading.
pub(crate) fn headline(of: &Comparison) -> (String, Ink) {
    let least = percent(of.terms.least);
    match of.answer() {
        Some(Answer::Worse) => ("✗ The candidate is worse".to_owned(), Ink::Bad),
        Some(Answer::Better) => ("✓ The candidate is better".to_owned(), Ink::Good),
        Some(Answer::Equal) => (format!("✓ Equal within {least}"), Ink::Good),
        Some(Answer::Open) => ("Undecided".to_owned(), Ink::Warn),
        None => ("One pair of runs: no verdict".to_owned(), Ink::Bold),
    }
}

/// The figures with this answer and their shifts, in the order of the table; `None` without one.
pub(crate) fn listed(of: &Comparison, answer: Answer) -> Option<String> {
    let rows = of.rows.iter().filter(|row| row.answer == Some(answer));
    let words = rows.map(|row| format!("{} by {}", row.figure.name(), signed(row.shift)));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The least shifts that the runs can show: for an experiment, by its design and the observed
/// spread; for sets, half of each interval.
fn resolution(of: &Comparison) -> Option<String> {
    let least = |row: &Row| match (of.rounds, row.interval) {
        (Some(_), _) => row.detectable,
        (None, interval) => interval.map(|(low, high)| (high - low) / 2.0),
    };
    let shifts = of.rows.iter().filter_map(|row| {
        let least = percent(least(row)?);
        Some(format!("{} ±{least}", row.figure.name()))
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

/// The shifts that an experiment detects by its design: a sentence before its first round.
#[must_use]
pub fn foreseen(rounds: Rounds) -> String {
    let shown = |spread: f64| percent(rounds.resolution(spread).exp_m1());
    let enough = Comparison::rounds_enough();
    let few = match rounds.planned < enough {
        true => format!("; use {enough} or more to detect a shift even if all figures vary"),
        false => String::new(),
    };
    format!(
        "{} rounds detect a shift of {} if runs of the same program differ by 1 %, {} if they differ by 2 %, {} if \
         they differ by 5 % (in four of five experiments){few}",
        rounds.planned,
        shown(0.01),
        shown(0.02),
        shown(0.05),
    )
}

/// The number of runs, the start of the first, the target, and the target's answers.
pub(crate) fn side(side: &Runs) -> Vec<Cell> {
    let target = secret::excerpt(&side.target);
    let began = side
        .began
        .first()
        .map(|began| calendar::rfc3339_seconds(*began));
    let from = match side.ids.as_slice() {
        [id] => format!("run {id}"),
        ids => format!("{}, the first", counted(ids.len() as u64, "run")),
    };
    let began = began.unwrap_or_default();
    vec![
        Cell::foreign(format!("{from} started {began}")),
        Cell::code(target),
        Cell::new(states(side)),
    ]
}

/// The answers on the target, as the reports of the runs have them. If they differ, each has the
/// number of its runs.
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

/// The ends of the interval with their signs; a dash without an interval.
pub(crate) fn interval_words(interval: Option<(f64, f64)>) -> String {
    match interval {
        Some((low, high)) => format!("{} to {}", signed(low), signed(high)),
        None => "–".to_owned(),
    }
}

/// The answer of one figure.
pub(crate) fn answer_name(row: &Row) -> String {
    match row.answer {
        Some(Answer::Worse) => "worse".to_owned(),
        Some(Answer::Better) => "better".to_owned(),
        Some(Answer::Equal) => format!("equal within {}", percent(row.least)),
        Some(Answer::Open) | None => "undecided".to_owned(),
    }
}

/// A value of a figure with its unit: times as latencies, failures as shares of the requests, rates
/// per second.
pub(crate) fn value(figure: Figure, value: f64) -> String {
    match figure {
        Figure::Latency(..) => latency_f64(value, Unicode::On),
        Figure::Failed => share_of(value),
        Figure::Rate => rate(value),
    }
}

/// A share with its sign: `+7.1 %`, `−0.40 %`, `0 %`. Shares of failures differ by such points.
pub(crate) fn signed(share: f64) -> String {
    let sign = match share {
        // Too small for a sign.
        -0.000_05..0.000_05 => return percent(0.0),
        ..0.0 => "−",
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

/// A probability with three digits, which is what a test of ranks supports.
fn probability(p: f64) -> String {
    match p {
        ..0.001 => "<0.001".to_owned(),
        _ => format!("{p:.3}"),
    }
}
