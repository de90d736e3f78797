//! A figure as SVG 1.1 (W3C, 2011). Nothing in it is loaded or run. The style sheet follows the
//! reader's preference for dark or light, the palette is Okabe and Ito's, and each series has its
//! own dashes. Screen readers get the title, the question and the note.
//!
//! A picture is a file ([`svg`], [`files`]), or part of a page ([`draw`]), which has the style sheet
//! ([`STYLE`]). Both have the same *area*: an element as wide as the plot, in which places along x
//! are percentages and places along y are pixels. Its type therefore keeps its size at any width.
//! The shapes are in a nested picture of [`ACROSS`] units that is stretched along x; lines and dots
//! keep their form, because strokes do not scale. A page adds titles, units and legends as HTML, and
//! a file has them as text.
//!
//! Positions are rounded to a tenth of a unit along y and to a hundredth along x, since the page's
//! program may stretch that axis.

mod labels;
mod shapes;

pub(crate) use shapes::degrees;

use super::{Axis, Figure, NAMES, Plot, Role, Series, Unit, figures};
use crate::NamedFile;
use crate::markup::Markup;
use drumfire_measure::Summary;
use labels::AxisLabels;

/// The width of a plot in its own units.
pub(crate) const ACROSS: f64 = 1_000.0;
/// The height of a plot in CSS pixels. The height of bars depends on their number.
const HEIGHT: f64 = 160.0;
/// The space between the end of the y axis and the top of the plot, so that no line lies on it.
const HEAD_ROOM: f64 = 8.0;
/// The distance from the top of a bar's name to the top of the next.
const BAR: f64 = 36.0;
/// The height of a bar, and the space for its name above it.
const BAR_HEIGHT: f64 = 12.0;
const BAR_NAME: f64 = 18.0;
/// The space above a plot with marks, for their names.
const STRIP: f64 = 18.0;
/// The width of a file in CSS pixels.
const WIDTH: f64 = 760.0;
/// The space around the area of a file: at the top without the strip, right, and at the bottom.
const MARGIN: (f64, f64, f64) = (62.0, 30.0, 44.0);
/// The desired number of ticks along the x axis.
pub(crate) const TICKS: usize = 8;
/// The desired number of ticks along the y axis.
const TICKS_UP: usize = 5;
/// The estimated maximum width of a letter in ems: of the wide fonts of some systems.
const LETTER_EM: f64 = 0.62;
/// The size of letters in a file in CSS pixels.
const EM: f64 = 12.0;
/// The maximum number of letters of a line of text in a file.
const LINE_LETTERS: usize = 100;

/// Colours and fonts of pictures. The darker theme has the same hues.
pub(crate) const STYLE: &str = "\
svg{background:#fff;color:#1c1c1c;font-family:system-ui,sans-serif}\
text{fill:currentColor}.title{font-size:15px;font-weight:600}.dim{opacity:.72}.never{display:none}\
line.grid{stroke:currentColor;opacity:.14}line.mark{stroke:currentColor;opacity:.5;stroke-dasharray:2 3}\
.line,.dot,.least{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round;vector-effect:non-scaling-stroke}\
.dot{stroke-width:5;stroke-linecap:round}.area-of{opacity:.28;stroke:none}\
.asked{color:#6e6e6e}.good{color:#0072b2}.bad{color:#d55e00}.lost{color:#a0306e}\
.r0{color:#0072b2}.r1{color:#009e73}.r2{color:#b8860b}.r3{color:#d55e00}.r4{color:#a0306e}\
.line.asked{stroke-dasharray:6 3}.line.r1{stroke-dasharray:7 2}.line.r2{stroke-dasharray:2 2}\
.line.r3{stroke-dasharray:9 2 2 2}\
@media screen and (prefers-color-scheme:dark){svg{background:#16181c;color:#e8e8e8}\
.asked{color:#a8a8a8}.good,.r0{color:#56b4e9}.r1{color:#2fc79a}.r2{color:#f0c542}\
.bad,.r3{color:#ff8a3c}.lost,.r4{color:#e58fc0}}\
.cells{stroke:currentColor}.area-of,.bar{fill:currentColor}";
/// The type and the paper of a file. Some editors would show dark letters on dark ground without
/// paper.
const ALONE: &str = "svg{font-size:12px}\
    .paper{fill:#fff}@media screen and (prefers-color-scheme:dark){.paper{fill:#16181c}}";

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
    let frame = Frame::for_figure(figure);
    let left = frame.left_em(figure) * EM;
    let top = MARGIN.0 + frame.strip(figure);
    let below = below(figure);
    let height = top + frame.height + MARGIN.2 + below.len() as f64 * 16.0;
    let size = [
        ("width", &*WIDTH.to_string()),
        ("height", &*height.to_string()),
    ];
    let name = naming(figure.name);
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("viewBox", &*format!("0 0 {WIDTH} {height}")),
        ("role", "img"),
        ("aria-labelledby", &*format!("{} {}", name.0, name.1)),
    ];
    out.open("svg", &[&attributes[..], &size].concat());
    describe(&mut out, figure, &name);
    out.open("style", &[]);
    out.raw(STYLE);
    out.raw(ALONE);
    out.close("style");
    out.empty("rect", &[&[("class", "paper")], &size[..]].concat());
    text(&mut out, "title", ("12", 22.0), "start", &figure.title);
    text(&mut out, "dim", ("12", 40.0), "start", &question(figure));
    let mut line = top + frame.height + 34.0;
    if let Some(along) = along(figure) {
        text(&mut out, "dim", ("730", line), "end", along);
    }
    for words in &below {
        line += 16.0;
        text(&mut out, "dim", ("12", line), "start", words);
    }
    let wide = (WIDTH - left - MARGIN.1).to_string();
    let place = [("x", &*left.to_string()), ("y", &*top.to_string())];
    let wide = [("width", &*wide), ("height", &*frame.height.to_string())];
    let overflow = [("overflow", "visible")];
    out.open("svg", &[&place[..], &wide, &overflow].concat());
    draw_area(&mut out, figure, &frame);
    out.close("svg");
    group(&mut out, "legend", |out| draw_legend(out, &figure.plot));
    out.close("svg");
    out.finish()
}

/// Appends the area of a picture to a page, which has the style sheet, or the sentence of a figure
/// without a plot. The page's style sheet puts the area between its labels.
pub(crate) fn draw(out: &mut Markup, figure: &Figure) {
    if let Plot::Nothing(sentence) = &figure.plot {
        out.element("p", &[("class", "nothing")], sentence);
        return;
    }
    let name = naming(figure.name);
    let ids = format!("{} {}", name.0, name.1);
    open_area(out, figure, ("aria-labelledby", &ids));
    describe(out, figure, &name);
    draw_area(out, figure, &Frame::for_figure(figure));
    out.close("svg");
}

/// Appends the area of a picture as [`draw`], without ids: a page may have several pictures of one
/// name.
pub(crate) fn draw_still(out: &mut Markup, figure: &Figure) {
    if let Plot::Nothing(sentence) = &figure.plot {
        out.element("p", &[("class", "nothing")], sentence);
        return;
    }
    open_area(out, figure, ("aria-label", &figure.title));
    draw_area(out, figure, &Frame::for_figure(figure));
    out.close("svg");
}

/// Begins the area of a picture on a page, with the attribute that names it.
fn open_area(out: &mut Markup, figure: &Figure, named: (&str, &str)) {
    let frame = Frame::for_figure(figure);
    let (left, top) = (frame.left_em(figure), frame.strip(figure));
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("class", "area"),
        ("role", "img"),
        named,
        ("height", &*frame.height.to_string()),
        ("style", &*format!("--left:{left:.1}em;--top:{top}px")),
    ];
    out.open("svg", &attributes);
}

/// The ids of a picture's title and description.
fn naming(name: &str) -> (String, String) {
    (format!("{name}-t"), format!("{name}-d"))
}

/// Appends the title and the description, which screen readers read.
fn describe(out: &mut Markup, figure: &Figure, name: &(String, String)) {
    let described = [figure.question, figure.note.as_deref().unwrap_or_default()].join(" ");
    out.element("title", &[("id", &name.0)], &figure.title);
    out.element("desc", &[("id", &name.1)], described.trim());
}

/// The question with the unit of the y axis, if there is one.
pub(crate) fn question(figure: &Figure) -> String {
    match (figure.y.title, &figure.plot) {
        ("", _) | (_, Plot::Nothing(_)) => figure.question.to_owned(),
        (unit, _) => format!("{} · {unit}", figure.question),
    }
}

/// The words below the x axis. The time needs none, and bars have their numbers beside them.
pub(crate) fn along(figure: &Figure) -> Option<&'static str> {
    let is_plain =
        figure.x.unit == Unit::RunTime || matches!(figure.plot, Plot::Bars(_) | Plot::Nothing(_));
    (!is_plain && !figure.x.title.is_empty()).then_some(figure.x.title)
}

/// The numbered marks in words, for a page or a file. Empty if the marks have their names beside
/// them.
pub(crate) fn numbered(figure: &Figure) -> Vec<String> {
    if matches!(figure.plot, Plot::Nothing(_)) || !AxisLabels::of_marks(figure).are_numbers {
        return Vec::new();
    }
    let marks = (1..).zip(&figure.marks);
    let words = |(number, mark): (u32, &super::Mark)| {
        format!("{number} {} ({})", mark.name, figure.x.label(mark.x))
    };
    marks.map(words).collect()
}

/// The lines below the picture of a file: the numbered marks.
fn below(figure: &Figure) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for words in numbered(figure) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + words.chars().count() < LINE_LETTERS => {
                line.push_str(" · ");
                line.push_str(&words);
            }
            _ => lines.push(words),
        }
    }
    lines
}

/// Appends what is in the area: the grid with its labels, the plot, and the marks.
fn draw_area(out: &mut Markup, figure: &Figure, frame: &Frame<'_>) {
    frame.draw_axes(out, figure);
    frame.open_plot(out);
    match &figure.plot {
        Plot::Lines(all) => shapes::lines(out, frame, all),
        Plot::Bands(all) => shapes::bands(out, frame, all),
        Plot::Points(all) => shapes::points(out, frame, all),
        Plot::Heat(heat) => shapes::heat(out, frame, heat),
        Plot::Bars(bars) => shapes::bars(out, frame, bars),
        Plot::Nothing(_) => {}
    }
    out.close("svg");
    match &figure.plot {
        Plot::Bars(bars) => shapes::names_of_bars(out, figure, bars),
        Plot::Nothing(sentence) => text(out, "", ("0", 24.0), "start", sentence),
        _ => {}
    }
    group(out, "marks", |out| frame.draw_marks(out, figure));
}

/// The plot in its own units, and its axes. y grows downwards in SVG and upwards in a figure.
pub(crate) struct Frame<'a> {
    x: &'a Axis,
    y: &'a Axis,
    height: f64,
}

impl<'a> Frame<'a> {
    /// The frame of a figure. Bars need a height for each bar.
    pub(crate) fn for_figure(figure: &'a Figure) -> Self {
        Self {
            x: &figure.x,
            y: &figure.y,
            height: match &figure.plot {
                Plot::Bars(bars) => bars.len() as f64 * BAR,
                Plot::Nothing(_) => 40.0,
                _ => HEIGHT,
            },
        }
    }

    /// The place of the plot: left, top, width and height in its units.
    pub(crate) const fn place(&self) -> [f64; 4] {
        [0.0, 0.0, ACROSS, self.height]
    }

    /// The place of a value of the x axis.
    pub(crate) fn across(&self, value: f64) -> f64 {
        self.x.place(value) * ACROSS
    }

    /// The place of a value of the y axis.
    pub(crate) fn down(&self, value: f64) -> f64 {
        self.down_at(self.y.place(value))
    }

    /// The place of a share of the y axis, from its beginning at the bottom.
    fn down_at(&self, place: f64) -> f64 {
        HEAD_ROOM + (1.0 - place) * (self.height - HEAD_ROOM)
    }

    /// The place of the top of a bar, by its number.
    fn top_of_bar(number: usize) -> f64 {
        number as f64 * BAR + BAR_NAME
    }

    /// The place of the middle of a bar with its name, by its number.
    pub(crate) fn middle_of_bar(number: usize) -> f64 {
        number as f64 * BAR + BAR / 2.0
    }

    /// The width of the labels of the y axis in ems.
    fn left_em(&self, figure: &Figure) -> f64 {
        if matches!(figure.plot, Plot::Bars(_) | Plot::Nothing(_)) {
            return 1.0;
        }
        let labels = self.y.ticks(TICKS_UP).into_iter();
        let letters = labels.map(|tick| tick.label.chars().count()).max();
        (letters.unwrap_or(0) as f64 * LETTER_EM + 1.0).max(3.0)
    }

    /// The height of the strip of marks.
    const fn strip(&self, figure: &Figure) -> f64 {
        match figure.marks.is_empty() {
            true => 4.0,
            false => STRIP,
        }
    }

    /// Begins the nested picture of the shapes. The page's program zooms by its view.
    fn open_plot(&self, out: &mut Markup) {
        let height = self.height.to_string();
        let attributes = [
            ("class", "plot"),
            ("width", "100%"),
            ("height", &*height),
            ("viewBox", &*format!("0 0 {ACROSS} {height}")),
            ("preserveAspectRatio", "none"),
            ("overflow", "visible"),
        ];
        out.open("svg", &attributes);
    }

    /// Draws the grid, and the ticks with their labels. The page's program replaces the group of the
    /// x axis' ticks.
    fn draw_axes(&self, out: &mut Markup, figure: &Figure) {
        let has_grid = !matches!(figure.plot, Plot::Bars(_) | Plot::Nothing(_));
        if has_grid {
            for tick in self.y.ticks(TICKS_UP) {
                let y = self.down_at(tick.place);
                line(out, "grid", ("0", "100%"), (y, y));
                text(out, "dim", ("-6", y + 4.0), "end", &tick.label);
            }
        }
        group(out, "ticks", |out| {
            if !has_grid {
                return;
            }
            let ticks = self.x.ticks(TICKS);
            let labels = AxisLabels::of_ticks(&ticks);
            for (tick, wide) in ticks.iter().zip(labels.widths) {
                let x = share(tick.place);
                line(out, "grid", (&x, &x), (0.0, self.height));
                let anchor = labels::anchor_of_tick(tick);
                text(
                    out,
                    wide.class(),
                    (&x, self.height + 16.0),
                    anchor,
                    &tick.label,
                );
            }
        });
    }

    /// Draws each mark as a line through the plot, with its name on the strip above it, or with its
    /// number if the names of all have no room.
    fn draw_marks(&self, out: &mut Markup, figure: &Figure) {
        let labels = AxisLabels::of_marks(figure);
        let marks = figure.marks.iter().zip(1_u32..).zip(&labels.widths);
        for ((mark, number), wide) in marks {
            let place = self.x.place(mark.x);
            let x = share(place);
            line(out, "mark", (&x, &x), (-2.0, self.height));
            let (anchor, label) = match labels.are_numbers {
                true => ("middle", number.to_string()),
                false => (labels::anchor_of_mark(place), labels::cut(&mark.name)),
            };
            text(out, wide.class(), (&x, -6.0), anchor, &label);
        }
    }
}

/// A share of the area's width as a percentage.
fn share(place: f64) -> String {
    format!("{}%", number(place * 100.0, 2))
}

/// A number with at most these decimals, as short as possible.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// The series of which a drawing has a legend: none for bars and cells, and none for a single line
/// of the first rank, which the title names.
pub(crate) fn in_legend(plot: &Plot) -> &[Series] {
    match plot {
        Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => match &all[..] {
            [only] if only.role == Role::Rank(0) => &[],
            all => all,
        },
        Plot::Heat(_) | Plot::Bars(_) | Plot::Nothing(_) => &[],
    }
}

/// Writes the legend of a file from the right edge, the last series first, each after a piece of its
/// line.
fn draw_legend(out: &mut Markup, plot: &Plot) {
    let mut right = WIDTH - MARGIN.1;
    for Series { name, role, .. } in in_legend(plot).iter().rev() {
        text(out, "", (&number(right, 1), 22.0), "end", name);
        right -= name.chars().count() as f64 * LETTER_EM * EM + 10.0;
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

/// A line between two places along x, which are lengths or percentages, and two along y.
fn line(out: &mut Markup, class: &str, (x1, x2): (&str, &str), (y1, y2): (f64, f64)) {
    let (y1, y2) = (number(y1, 1), number(y2, 1));
    let ends = [
        ("class", class),
        ("x1", x1),
        ("x2", x2),
        ("y1", &y1),
        ("y2", &y2),
    ];
    out.empty("line", &ends);
}

fn path(out: &mut Markup, class: &str, d: &str) {
    out.empty("path", &[("class", class), ("d", d)]);
}

/// A text at a place along x, which is a length or a percentage, and one along y.
fn text(out: &mut Markup, class: &str, (x, y): (&str, f64), anchor: &str, content: &str) {
    let y = number(y, 1);
    let attributes = [
        ("class", class),
        ("x", x),
        ("y", &y),
        ("text-anchor", anchor),
    ];
    // An element begins text at its start without the attribute.
    let attributes = match anchor {
        "start" => &attributes[..3],
        _ => &attributes[..],
    };
    out.element("text", attributes, content);
}
