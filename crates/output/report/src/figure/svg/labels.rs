//! The labels along a picture, which must not overlap at any width of a page. The width is unknown
//! when a picture is drawn, so that each label has the least width at which it is shown: a label of
//! a wider picture has room between the labels of all narrower ones.

use super::LETTER_EM;
use crate::figure::{Figure, Tick};

/// The maximum number of letters of a mark's name.
const MARK_LETTERS: usize = 24;
/// The share of the width beyond which a mark's name stands at the left of its line.
const MARK_EDGE: f64 = 0.6;
/// The size of a letter of a page in CSS pixels.
const EM: f64 = 12.0;
/// The minimum space between two labels in CSS pixels.
const BETWEEN: f64 = 6.0;
/// The space at the right of a plot in CSS pixels.
const RIGHT: f64 = 26.0;

/// The least width of a picture with a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Any width: of a telephone, too.
    Always,
    /// Half of a small screen.
    Middle,
    /// Half of a large screen.
    Wide,
    /// There is no room at any width.
    Never,
}

impl Shown {
    /// The widths with labels, and the least width of the plot in CSS pixels, as the page's style
    /// sheet has it.
    const ALL: [(Self, f64); 3] = [
        (Self::Always, 240.0),
        (Self::Middle, 340.0),
        (Self::Wide, 460.0),
    ];

    /// The class of a text in the style sheets.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Always => "dim",
            Self::Middle => "dim middle",
            Self::Wide => "dim wide",
            Self::Never => "dim never",
        }
    }
}

/// The widths of the labels of a picture, in their order.
pub(super) struct AxisLabels {
    pub(super) widths: Vec<Shown>,
    /// Whether the labels are the numbers of marks instead of their names.
    pub(super) are_numbers: bool,
}

impl AxisLabels {
    /// The labels of ticks.
    pub(super) fn of_ticks(ticks: &[Tick]) -> Self {
        let label = |tick: &Tick| Label {
            place: tick.place,
            letters: tick.label.chars().count(),
            anchor: anchor_of_tick(tick),
        };
        let labels: Vec<Label> = ticks.iter().map(label).collect();
        Self {
            widths: widths(&labels),
            are_numbers: false,
        }
    }

    /// The names of a figure's marks, or their numbers if not every name has room on a telephone.
    pub(super) fn of_marks(figure: &Figure) -> Self {
        let name = |mark: &crate::figure::Mark| {
            let place = figure.x.place(mark.x);
            Label {
                place,
                letters: cut(&mark.name).chars().count(),
                anchor: anchor_of_mark(place),
            }
        };
        let names: Vec<Label> = figure.marks.iter().map(name).collect();
        let of_names = widths(&names);
        if of_names.iter().all(|wide| *wide == Shown::Always) {
            return Self {
                widths: of_names,
                are_numbers: false,
            };
        }
        let number = |(number, name): (usize, &Label)| Label {
            place: name.place,
            letters: number.to_string().len(),
            anchor: "middle",
        };
        let numbers: Vec<Label> = (1..).zip(&names).map(number).collect();
        Self {
            widths: widths(&numbers),
            are_numbers: true,
        }
    }
}

/// A label at a share of the width.
struct Label {
    place: f64,
    letters: usize,
    anchor: &'static str,
}

impl Label {
    /// The ends of the label in a plot of this width.
    fn ends(&self, width: f64) -> (f64, f64) {
        let (at, length) = (self.place * width, self.letters as f64 * LETTER_EM * EM);
        match self.anchor {
            "middle" => (at - length / 2.0, at + length / 2.0),
            "end" => (at - length, at),
            _ => (at, at + length),
        }
    }
}

/// The least width of each label. From the narrowest picture on, each label that overlaps none of
/// those that are shown, from the left, is shown too.
fn widths(labels: &[Label]) -> Vec<Shown> {
    let mut found = vec![Shown::Never; labels.len()];
    for (wide, width) in Shown::ALL {
        for number in 0..labels.len() {
            let (from, to) = labels[number].ends(width);
            let mut others = found
                .iter()
                .zip(labels)
                .filter(|(of, _)| **of != Shown::Never);
            let is_free = others.all(|(_, other)| {
                let (begin, end) = other.ends(width);
                to + BETWEEN < begin || end + BETWEEN < from
            });
            if found[number] == Shown::Never && is_free && to < width + RIGHT {
                found[number] = wide;
            }
        }
    }
    found
}

/// The anchor of a tick's label. A long one at the end of the axis would leave the picture.
pub(super) fn anchor_of_tick(tick: &Tick) -> &'static str {
    let half = tick.label.chars().count() as f64 * LETTER_EM * EM / 2.0;
    match tick.place > 0.95 && half > RIGHT {
        true => "end",
        false => "middle",
    }
}

/// The anchor of a mark's name at a share of the width.
pub(super) fn anchor_of_mark(place: f64) -> &'static str {
    match place > MARK_EDGE {
        true => "end",
        false => "start",
    }
}

/// The name of a mark, cut to the space of a label.
pub(super) fn cut(name: &str) -> String {
    match name.chars().count() > MARK_LETTERS {
        true => name.chars().take(MARK_LETTERS - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(place: f64, letters: usize) -> Label {
        Label {
            place,
            letters,
            anchor: "middle",
        }
    }

    #[test]
    fn labels_that_are_shown_never_overlap() {
        for (count, letters) in [(9, 5), (5, 9), (28, 2), (60, 2), (2, 24)] {
            let labels: Vec<Label> = (0..count)
                .map(|number| label(f64::from(number) / f64::from(count), letters))
                .collect();
            let found = widths(&labels);
            assert_eq!(found[0], Shown::Always);
            for (place, (_, width)) in Shown::ALL.iter().enumerate() {
                let shown = found
                    .iter()
                    .zip(&labels)
                    .filter(|(wide, _)| Shown::ALL[..=place].iter().any(|(of, _)| of == *wide));
                let ends: Vec<(f64, f64)> = shown.map(|(_, of)| of.ends(*width)).collect();
                assert!(
                    ends.windows(2).all(|pair| pair[0].1 < pair[1].0),
                    "{ends:?}"
                );
            }
        }
    }

    #[test]
    fn more_width_has_more_labels() {
        let labels: Vec<Label> = (0..9)
            .map(|number| label(f64::from(number) / 8.0, 5))
            .collect();
        let found = widths(&labels);
        let count = |of: Shown| found.iter().filter(|wide| **wide == of).count();
        assert!(
            count(Shown::Always) >= 4 && count(Shown::Never) == 0,
            "{found:?}"
        );
    }
}
