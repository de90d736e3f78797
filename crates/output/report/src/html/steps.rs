//! The steps of a run: their table, and the pictures of each step, folded. Without the page's
//! program a reader opens the pictures below the table; with it, a step's name in the table opens
//! them.

use super::picture::{self, Rank};
use super::{Part, section};
use crate::figure::{self, Figure};
use crate::markup::Markup;
use crate::section::steps::{self, PicturedStep};
use crate::section::{PageExtent, RunSection};
use drumfire_measure::Summary;

/// The maximum number of steps with pictures: each takes some ten kilobytes.
const STEPS_MAX: usize = 12;

/// The part of the steps; `None` for a run of a single step.
pub(super) fn part(summary: &Summary, extent: &PageExtent) -> Option<Part> {
    let section = RunSection::Steps.section(summary, extent)?;
    let steps = steps::pictured(summary, extent);
    let figures = steps.iter().zip(pictured(&steps));
    let figures: Vec<Vec<Figure>> = figures
        .map(|(step, is_pictured)| match is_pictured {
            true => figure::of_step(summary, step.place),
            false => Vec::new(),
        })
        .collect();
    let link = |(number, all): (usize, &Vec<Figure>)| {
        (!all.is_empty()).then(|| format!("#{}", name(number)))
    };
    let links: Vec<Option<String>> = figures.iter().enumerate().map(link).collect();
    let pictures = |out: &mut Markup| {
        if figures.iter().any(|of| !of.is_empty()) {
            out.element("span", &[("class", "inline dim")], "Pictures of");
        }
        for (number, (step, figures)) in steps.iter().zip(&figures).enumerate() {
            if !figures.is_empty() {
                print(out, step, figures, &name(number));
            }
        }
    };
    Some(super::part("steps", |out| {
        section::print_linked(out, &section, &links, pictures);
    }))
}

/// Which of the steps have pictures: all, or the slowest of many.
fn pictured(steps: &[PicturedStep]) -> Vec<bool> {
    let p99 = |step: &PicturedStep| step.times.quantile_unchecked(0.99);
    let mut times: Vec<_> = steps.iter().map(p99).collect();
    times.sort_unstable();
    let least = times.iter().rev().nth(STEPS_MAX - 1).copied();
    let mut left = STEPS_MAX;
    let is_slow = |step: &PicturedStep| {
        let is_slow = least.is_none_or(|least| p99(step) >= least) && left > 0;
        left -= usize::from(is_slow);
        is_slow
    };
    steps.iter().map(is_slow).collect()
}

/// The id of the pictures of a step, by the number of its row.
fn name(number: usize) -> String {
    format!("step-{}", number + 1)
}

/// Appends the pictures of a step, folded.
fn print(out: &mut Markup, step: &PicturedStep, figures: &[Figure], id: &str) {
    out.open("details", &[("class", "step inline"), ("name", "step")]);
    out.open("summary", &[]);
    section::print_cut(out, &step.name);
    out.close("summary");
    out.open("div", &[("class", "pair"), ("id", id)]);
    for figure in figures {
        picture::print(out, figure, Rank::Still);
    }
    out.close("div");
    out.close("details");
}
