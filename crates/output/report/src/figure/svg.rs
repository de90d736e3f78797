//! A figure as SVG 1.1 (W3C, 2011). Nothing in it is loaded or run. The style sheet follows the
//! reader's preference for dark or light, the palette is Okabe and Ito's, and each series has its
//! own dashes. Screen readers get the title, the question and the note.
//!
//! A picture is a file ([`svg`], [`files`]), or part of a page, which has the style sheet
//! ([`STYLE`]). Positions are rounded to a tenth of a pixel, in lines to a hundredth along x, since
//! the page's program may stretch that axis.

mod shapes;

use super::{Axis, Figure, Mark, NAMES, Plot, Role, Series, figures};
use crate::NamedFile;
use crate::markup::Markup;
use drumfire_measure::Summary;

/// The width of a picture in CSS pixels.
const WIDTH: f64 = 760.0;
/// The height of a picture in CSS pixels. The height of bars depends on their number.
const HEIGHT: f64 = 320.0;
/// The distance from the top of a bar to the top of the next.
const BAR: f64 = 26.0;
/// The part of the distance that a bar fills.
const BAR_SHARE: f64 = 0.72;
/// The space around the plot: left, top, right, bottom.
const MARGIN: (f64, f64, f64, f64) = (76.0, 66.0, 18.0, 44.0);
/// The space for names beside bars.
const NAMES_WIDTH: f64 = 190.0;
/// The desired number of ticks along the x axis.
pub(crate) const TICKS: usize = 8;
/// The desired number of ticks along the y axis.
const TICKS_UP: usize = 5;
/// The estimated maximum width of a letter of the legend in CSS pixels. The legend is laid out from
/// the right edge, so that an error leaves a gap and no overlap.
const LETTER: f64 = 6.6;
/// The maximum number of letters of a mark's name.
const MARK_LETTERS: usize = 24;
/// The place beyond which a mark's name stands at the left of its line: at the right, the name would
/// leave the picture.
pub(crate) const MARK_EDGE: f64 = WIDTH - MARK_LETTERS as f64 * LETTER;

/// Colours and fonts of pictures. The darker theme has the same hues.
pub(crate) const STYLE: &str = "\
svg{background:#fff;color:#1c1c1c;font:12px system-ui,sans-serif}\
text{fill:currentColor}.title{font-size:15px;font-weight:600}.dim{opacity:.66}\
line.grid{stroke:currentColor;opacity:.14}.mark{stroke:currentColor;opacity:.5;stroke-dasharray:2 3}\
.line{fill:none;stroke-width:1.8;stroke-linejoin:round;vector-effect:non-scaling-stroke}.area{opacity:.28;stroke:none}\
.asked{color:#6e6e6e}.good{color:#0072b2}.bad{color:#d55e00}.lost{color:#a0306e}\
.r0{color:#0072b2}.r1{color:#009e73}.r2{color:#b8860b}.r3{color:#d55e00}.r4{color:#a0306e}\
.line.asked{stroke-dasharray:6 3}.line.r1{stroke-dasharray:7 2}.line.r2{stroke-dasharray:2 2}\
.line.r3{stroke-dasharray:9 2 2 2}\
@media screen and (prefers-color-scheme:dark){svg{background:#16181c;color:#e8e8e8}\
.asked{color:#a8a8a8}.good,.r0{color:#56b4e9}.r1{color:#2fc79a}.r2{color:#f0c542}\
.bad,.r3{color:#ff8a3c}.lost,.r4{color:#e58fc0}}\
.line{stroke:currentColor}.area,.dot,.bar{fill:currentColor}";
/// The paper of a file. Some editors would show dark letters on dark ground without it.
const PAPER: &str =
    ".paper{fill:#fff}@media screen and (prefers-color-scheme:dark){.paper{fill:#16181c}}";

/// The ending of a picture's file.
const ENDING: &str = ".svg";

/// Every picture of a run as a file with the name of its figure.
#[must_use]
pub fn files(summary: &Summary) -> Vec<NamedFile> {
    let file = |figure: Figure| NamedFile {
        name: format!("{}{ENDING}", figure.name),
        bytes: svg(&figure).into_bytes(),
    };
    figures(summary).into_iter().map(file).collect()
}

/// Whether [`files`] may use this name.
#[must_use]
pub fn is_file_name(name: &str) -> bool {
    let figure = name.strip_suffix(ENDING);
    figure.is_some_and(|figure| NAMES.contains(&figure))
}

/// The picture as an SVG file with its style sheet and paper.
#[must_use]
pub fn svg(figure: &Figure) -> String {
    let mut out = Markup::default();
    draw_in(&mut out, figure, Place::Alone);
    out.finish()
}

/// Appends the picture to a page, which has the style sheet and sets the width.
pub(crate) fn draw(out: &mut Markup, figure: &Figure) {
    draw_in(out, figure, Place::Page);
}

/// The place of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A file.
    Alone,
    /// A page with the style sheet and the paper.
    Page,
}

/// Appends the picture as one `svg` element. Ids are made from the name of the figure. A file has a
/// size in pixels; a picture in a page has only proportions.
fn draw_in(out: &mut Markup, figure: &Figure, place: Place) {
    let frame = Frame::for_figure(figure);
    let height = frame.bottom() + MARGIN.3;
    let (title, description) = (format!("{}-t", figure.name), format!("{}-d", figure.name));
    let (width, tall) = (WIDTH.to_string(), height.to_string());
    let size = [("width", &*width), ("height", &*tall)];
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("viewBox", &*format!("0 0 {WIDTH} {height}")),
        ("role", "img"),
        ("aria-labelledby", &*format!("{title} {description}")),
    ];
    match place {
        Place::Alone => out.open("svg", &[&attributes[..], &size].concat()),
        Place::Page => out.open("svg", &attributes),
    }
    let described = [figure.question, figure.note.as_deref().unwrap_or_default()].join(" ");
    out.element("title", &[("id", &title)], &figure.title);
    out.element("desc", &[("id", &description)], described.trim());
    if place == Place::Alone {
        out.open("style", &[]);
        out.raw(STYLE);
        out.raw(PAPER);
        out.close("style");
        out.empty("rect", &[&[("class", "paper")], &size[..]].concat());
    }
    text(out, "title", (12.0, 22.0), "start", &figure.title);
    text(out, "dim", (12.0, 40.0), "start", figure.question);
    frame.draw_axes(out, figure);
    frame.open_plot(out);
    match &figure.plot {
        Plot::Lines(all) => shapes::lines(out, &frame, all),
        Plot::Bands(all) => shapes::bands(out, &frame, all),
        Plot::Points(all) => shapes::points(out, &frame, all),
        Plot::Heat(heat) => shapes::heat(out, &frame, heat),
        Plot::Bars(bars) => shapes::bars(out, &frame, bars),
    }
    out.close("svg");
    group(out, "marks", |out| {
        let marks = figure.marks.iter();
        marks.for_each(|mark| frame.draw_mark(out, mark));
    });
    group(out, "legend", |out| draw_legend(out, &figure.plot));
    out.close("svg");
}

/// The place of the plot in CSS pixels, and its axes. y grows downwards in SVG and upwards in a
/// figure.
pub(crate) struct Frame<'a> {
    x: &'a Axis,
    y: &'a Axis,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl<'a> Frame<'a> {
    /// The frame of a figure. Bars need room for their names at the left, and a height for each
    /// bar.
    pub(crate) fn for_figure(figure: &'a Figure) -> Self {
        let (left, top, right, bottom) = MARGIN;
        let (left, height) = match &figure.plot {
            Plot::Bars(bars) => (NAMES_WIDTH, bars.len() as f64 * BAR),
            _ => (left, HEIGHT - top - bottom),
        };
        Self {
            x: &figure.x,
            y: &figure.y,
            left,
            top,
            width: WIDTH - left - right,
            height,
        }
    }

    /// The place of the plot: left, top, width and height in the units of the picture.
    pub(crate) const fn place(&self) -> [f64; 4] {
        [self.left, self.top, self.width, self.height]
    }

    /// The place of a value of the x axis.
    pub(crate) fn across(&self, value: f64) -> f64 {
        self.left + self.x.place(value) * self.width
    }

    /// The place of a value of the y axis.
    pub(crate) fn down(&self, value: f64) -> f64 {
        self.top + (1.0 - self.y.place(value)) * self.height
    }

    /// The place of the top of a bar, by its number.
    fn top_of_bar(&self, number: usize) -> f64 {
        self.top + number as f64 * BAR
    }

    /// The place of the middle of a bar, by its number.
    pub(crate) fn middle_of_bar(&self, number: usize) -> f64 {
        self.top_of_bar(number) + BAR * BAR_SHARE / 2.0
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Begins the nested picture of the shapes, with the same coordinates. The page's program zooms
    /// by its view.
    fn open_plot(&self, out: &mut Markup) {
        let ends = self.place().map(|end| end.to_string());
        let [x, y, width, height] = &ends;
        let attributes = [
            ("class", "plot"),
            ("x", x),
            ("y", y),
            ("width", width),
            ("height", height),
            ("viewBox", &*ends.join(" ")),
            ("preserveAspectRatio", "none"),
            ("overflow", "visible"),
        ];
        out.open("svg", &attributes);
    }

    /// Draws the grid, the ticks with their labels, and the titles of the axes. The page's program
    /// replaces the group of the x axis' ticks.
    fn draw_axes(&self, out: &mut Markup, figure: &Figure) {
        let (left, right) = (self.left, self.left + self.width);
        for tick in self.y.ticks(TICKS_UP) {
            let y = self.top + (1.0 - tick.place) * self.height;
            line(out, "grid", (left, y), (right, y));
            text(out, "dim", (left - 6.0, y + 4.0), "end", &tick.label);
        }
        group(out, "ticks", |out| {
            for tick in self.x.ticks(TICKS) {
                let x = left + tick.place * self.width;
                line(out, "grid", (x, self.top), (x, self.bottom()));
                text(out, "dim", (x, self.bottom() + 16.0), "middle", &tick.label);
            }
        });
        let below = (right, self.bottom() + 34.0);
        text(out, "dim", below, "end", figure.x.title);
        text(out, "dim", (left, self.top - 8.0), "start", figure.y.title);
    }

    /// Draws a mark as a line through the plot with its name at the top.
    fn draw_mark(&self, out: &mut Markup, mark: &Mark) {
        let x = self.across(mark.x);
        line(out, "mark", (x, self.top), (x, self.bottom()));
        let name: String = mark.name.chars().take(MARK_LETTERS).collect();
        let (at, anchor) = match x > MARK_EDGE {
            true => (x - 4.0, "end"),
            false => (x + 4.0, "start"),
        };
        text(out, "dim", (at, self.top + 12.0), anchor, &name);
    }
}

/// Writes the legend from the right edge, the last series first, each after a piece of its line.
/// Bars, cells and a single rank have no legend.
fn draw_legend(out: &mut Markup, plot: &Plot) {
    let (Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all)) = plot else {
        return;
    };
    if let [only] = &all[..]
        && only.role == Role::Rank(0)
    {
        return;
    }
    let mut right = WIDTH - MARGIN.2;
    for Series { name, role, .. } in all.iter().rev() {
        text(out, "", (right, 22.0), "end", name);
        right -= name.chars().count() as f64 * LETTER + 6.0;
        let dash = format!("M{:.1} 18h18", right - 18.0);
        path(out, &format!("line {}", class(*role)), &dash);
        right -= 34.0;
    }
}

/// The class of a role's colour in [`STYLE`]. Ranks beyond the palette have its last colour.
pub(crate) const fn class(role: Role) -> &'static str {
    match role {
        Role::Asked => "asked",
        Role::Good => "good",
        Role::Bad => "bad",
        Role::Lost => "lost",
        Role::Rank(0) => "r0",
        Role::Rank(1) => "r1",
        Role::Rank(2) => "r2",
        Role::Rank(3) => "r3",
        Role::Rank(_) => "r4",
    }
}

/// A group of elements with a class.
fn group(out: &mut Markup, class: &str, content: impl FnOnce(&mut Markup)) {
    out.open("g", &[("class", class)]);
    content(out);
    out.close("g");
}

fn line(out: &mut Markup, class: &str, from: (f64, f64), to: (f64, f64)) {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(|at| format!("{at:.1}"));
    let ends = [("x1", &*x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)];
    out.empty("line", &[&[("class", class)], &ends[..]].concat());
}

fn path(out: &mut Markup, class: &str, d: &str) {
    out.empty("path", &[("class", class), ("d", d)]);
}

fn text(out: &mut Markup, class: &str, at: (f64, f64), anchor: &str, content: &str) {
    let (x, y) = (format!("{:.1}", at.0), format!("{:.1}", at.1));
    let attributes = [
        ("class", class),
        ("x", &x),
        ("y", &y),
        ("text-anchor", anchor),
    ];
    out.element("text", &attributes, content);
}
