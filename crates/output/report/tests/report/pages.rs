//! Pages of HTML and pictures: well formed, complete for the shortest run, and nothing that a server
//! chose is more than a text in them.

use crate::fixture;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_compare::Compared;
use drumfire_measure::{
    AddressCounts, Closing, Interval, Model, Reading, Summary, ThresholdResult,
};
use drumfire_plan::{EventClass, Secrets};
use drumfire_report::figure::{Figure, NAMES, Plot, Series, Unit, figures, svg, tail};
use drumfire_report::html::Origin;
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_report::{NamedFile, Naming, html, json, markdown, sentence, text};
use drumfire_units::Nanos;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Read as _;
use std::sync::Arc;
use uppsala::parse;

fn runs() -> impl Iterator<Item = Summary> {
    fixture::all().into_iter().map(|(_, run)| run)
}

fn page(summary: &Summary) -> String {
    String::from_utf8(html::page(summary, &origin(Naming::Flags))).unwrap()
}

fn origin(naming: Naming) -> Origin<'static> {
    Origin {
        naming,
        plan: "",
        files: &[],
        teardown: None,
        against: None,
    }
}

/// HTML in which all elements are closed is XML but for its first line and for programs.
pub(crate) fn assert_well_formed(markup: &str) {
    let xml = markup.strip_prefix("<!doctype html>").unwrap_or(markup);
    let (xml, _) = without_program(xml);
    if let Err(error) = parse(xml.trim()) {
        panic!("{error:?} in {markup}");
    }
}

/// A page without its program, and the program.
fn without_program(page: &str) -> (String, &str) {
    let Some((before, rest)) = page.split_once("<script>") else {
        return (page.to_owned(), "");
    };
    let (program, behind) = rest.split_once("</script>").unwrap();
    (format!("{before}{behind}"), program)
}

/// The block of JSON in a page.
fn data(page: &str) -> Value {
    let (_, rest) = page
        .split_once("<script type=\"application/json\" id=\"data\">")
        .unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn pages_and_pictures_are_well_formed() {
    for run in runs() {
        assert_well_formed(&page(&run));
        for figure in figures(&run) {
            assert_well_formed(&svg::svg(&figure));
        }
    }
}

/// Links, scripts, pictures and frames are the ways in which a page loads anything.
#[test]
fn a_page_loads_nothing_and_runs_its_own_program_alone() {
    for run in runs() {
        let page = page(&run);
        let (page, program) = without_program(&page);
        assert!(!program.is_empty() && program.is_ascii());
        assert_eq!(page.matches("<script").count(), 1, "the block of JSON");
        for way in [
            "<link", "<img", "<iframe", " src=", " href=", "url(", "@import", " on",
        ] {
            let found = page
                .split('<')
                .skip(1)
                .filter_map(|tag| tag.split('>').next());
            let found = found
                .map(|tag| format!("<{tag}"))
                .map(|tag| tag.replace(" href=\"#", " id=\""))
                .find(|tag| tag.contains(way));
            assert_eq!(found, None, "{way}");
        }
        assert!(page.contains("default-src 'none'"));
        let digest = STANDARD.encode(Sha256::digest(program));
        assert!(page.contains(&format!("script-src 'sha256-{digest}';")));
    }
}

/// The commands of all paths of a picture's plot.
fn paths(picture: &str) -> String {
    let (_, plot) = picture.split_once("class=\"plot\"").unwrap();
    let (plot, _) = plot.split_once("</svg>").unwrap();
    let paths = plot.split(" d=\"").skip(1);
    paths.filter_map(|path| path.split('"').next()).collect()
}

/// The number after each occurrence of a word.
fn after(text: &str, word: &str) -> Vec<f64> {
    let pieces = text.split(word).skip(1);
    let ends = |piece: &str| piece.find(|c: char| !(c.is_ascii_digit() || "-.".contains(c)));
    let number = |piece: &str| piece[..ends(piece).unwrap()].parse::<f64>().unwrap();
    pieces.map(number).collect()
}

/// The places of dots from the top: lines without length.
fn dots(drawn: &str) -> Vec<f64> {
    let (_, dots) = drawn.split_once("class=\"dot ").unwrap_or_default();
    let (_, d) = dots.split_once(" d=\"").unwrap_or_default();
    let d = d.split('"').next().unwrap_or_default();
    let places = d.split('M').filter_map(|place| place.strip_suffix("h0"));
    let ys = places.filter_map(|place| place.split_once(' ')?.1.parse().ok());
    ys.collect()
}

/// Whether places are equal but for the rounding of a drawing.
fn are_near(some: &[f64], others: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 0.06;
    some.len() == others.len() && some.iter().zip(others).all(near)
}

/// The program's cursor stands where the picture has its points, and each stop has a row of the
/// table.
#[test]
fn a_page_has_the_places_of_its_pictures() {
    for run in runs() {
        let page = page(&run);
        let data = data(&page);
        let mut figures = figures(&run);
        figures.retain(|figure| !matches!(figure.plot, Plot::Nothing(_)));
        let written = data["figures"].as_array().unwrap();
        assert_eq!(written.len(), figures.len());
        for (figure, written) in figures.iter().zip(written) {
            let name = figure.name;
            assert_eq!(written["name"], name);
            let numbers = |of: &Value| -> Vec<f64> {
                let all = of.as_array().into_iter().flatten();
                all.filter_map(Value::as_f64).collect()
            };
            let xs = numbers(&written["xs"]);
            assert_eq!(cells(&page, name).len(), xs.len(), "{name}");
            let picture = svg::svg(figure);
            match &figure.plot {
                Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => {
                    let drawn = picture.split("<g class=\"series\">").skip(1);
                    for (number, (series, drawn)) in all.iter().zip(drawn).enumerate() {
                        let drawn = drawn.split("</g>").next().unwrap();
                        let ys = numbers(&written["series"][number]["ys"]);
                        let values = series.points.iter().filter(|point| point.y.is_some());
                        assert_eq!(ys.len(), values.count(), "{name}");
                        let dots = dots(drawn);
                        let is_line = drawn.contains("class=\"line");
                        assert!(is_line || are_near(&dots, &ys), "{name} {dots:?} {ys:?}");
                    }
                }
                Plot::Nothing(_) => unreachable!("left out above"),
                Plot::Heat(heat) => {
                    assert_eq!(xs.len(), heat.columns.len());
                    let cells = heat.columns.iter().map(|column| column.cells.len());
                    assert_eq!(paths(&picture).matches('M').count(), cells.sum::<usize>());
                }
                Plot::Bars(bars) => {
                    let [_, top, width, _] = numbers(&written["place"])[..] else {
                        panic!("four ends");
                    };
                    let widths = after(&paths(&picture), "h").into_iter();
                    let widths: Vec<f64> = widths.filter(|width| *width > 0.0).collect();
                    let expected = bars.iter().map(|bar| figure.x.place(bar.value) * width);
                    let expected: Vec<f64> = expected.map(|width| width.max(1.0)).collect();
                    assert!(are_near(&widths, &expected), "{widths:?} {expected:?}");
                    assert!(xs.iter().all(|x| *x > top) && xs.is_sorted());
                }
            }
        }
    }
}

/// The table of the heat map has all requests of each span of time, and the table of the outcomes
/// has shares of all.
#[test]
fn the_numbers_of_a_picture_are_a_table() {
    let run = fixture::drifting();
    let page = page(&run);
    let figures = figures(&run);
    let heat = figures.iter().find(|figure| figure.name == "heat").unwrap();
    let Plot::Heat(heat) = &heat.plot else {
        panic!("heat");
    };
    let rows = cells(&page, "heat");
    for (row, column) in rows.iter().zip(&heat.columns) {
        let sum: u64 = column.cells.iter().map(|cell| cell.2).sum();
        assert_eq!(row[1].replace(',', ""), sum.to_string());
        let most = column.cells.iter().map(|cell| cell.2).max();
        let most = most.map_or_else(|| "–".to_owned(), |most| most.to_string());
        assert!(row[2].replace([',', ')'], "").ends_with(&most), "{row:?}");
    }
    let outcomes = cells(&page, "outcomes");
    assert_eq!(outcomes[0][0], "ok");
    assert!(
        outcomes
            .iter()
            .all(|row| row.len() == 3 && row[2].ends_with(" %"))
    );
}

/// A zoom has the ticks of each part of the time, with the labels of the picture.
#[test]
fn a_page_has_the_ticks_of_its_zoom() {
    for run in runs() {
        let time = data(&page(&run))["time"].clone();
        let Some(levels) = time["levels"].as_array() else {
            assert!(figures(&run).iter().all(is_nothing_over_time));
            continue;
        };
        let least = time["least"].as_f64().unwrap();
        assert!(levels[0]["span"].as_f64().unwrap() >= least);
        for figure in figures(&run) {
            let length = figure.x.to - figure.x.from;
            if figure.x.unit != Unit::RunTime || is_nothing_over_time(&figure) {
                continue;
            }
            let fits = |level: &&Value| level["span"].as_f64().unwrap() >= length;
            let level = levels.iter().find(fits).unwrap();
            let labels = level["labels"].as_array().unwrap();
            for tick in figure.x.ticks(8) {
                assert!(labels.contains(&json!(tick.label)), "{tick:?} {labels:?}");
            }
        }
    }
    let both = html::compare(&compared(fixture::open()), &compared(fixture::open()));
    assert!(both.iter().any(|part| part.html.contains("\"levels\"")));
}

/// Whether a figure has no picture over time.
fn is_nothing_over_time(figure: &Figure) -> bool {
    figure.x.unit != Unit::RunTime || matches!(figure.plot, Plot::Nothing(_))
}

/// Rows are ordered by numbers, and no text has to be understood for that.
#[test]
fn cells_of_numbers_have_their_numbers() {
    for run in runs() {
        let page = page(&run);
        for table in page.split("<table class=\"grid\">").skip(1) {
            let (table, _) = table.split_once("</table>").unwrap();
            for cell in table.split("<td").skip(1) {
                let (attributes, rest) = cell.split_once('>').unwrap();
                let text = rest.split('<').next().unwrap();
                let is_number =
                    text.starts_with(|c: char| c.is_ascii_digit() || "–≥<>".contains(c));
                let is_words = attributes.contains("words");
                let has_number = attributes.contains("data-n=\"");
                assert!(has_number || is_words || !is_number, "{cell} in {table}");
            }
        }
    }
}

/// Keeps a page beside the tests' other files, for the tests in a browser.
fn keep(name: &str, page: &str) {
    let folder = format!("{}/pages", env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(format!("{folder}/{name}.html"), page).unwrap();
}

/// A picture of its own says how large it is, and lies on paper in the reader's colours.
#[test]
fn pictures_stand_alone() {
    for run in runs() {
        let files = svg::files(&run);
        assert_eq!(files.len(), figures(&run).len());
        for file in files {
            assert!(svg::is_file_name(&file.name), "{}", file.name);
            let text = String::from_utf8(file.bytes).unwrap();
            assert!(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
            assert!(text.contains(" width=\"760\" height=\""));
            assert!(text.contains("<rect class=\"paper\""));
            assert!(text.contains("prefers-color-scheme:dark"));
        }
    }
    for other in ["rate", "rate.svg.svg", "../rate.svg", "notes.svg"] {
        assert!(!svg::is_file_name(other), "{other}");
    }
}

/// The memory is there where the system tells it, the latency by rate where the rate varied, and
/// those of answers where there are answers.
#[test]
fn every_run_has_every_figure() {
    for run in runs() {
        let figures = figures(&run);
        let made: Vec<&str> = figures.iter().map(|figure| figure.name).collect();
        let mut always = NAMES.to_vec();
        let may_lack = [
            "knee", "memory", "ttft", "tpot", "tokens", "gaps", "prompts",
        ];
        always.retain(|name| !may_lack.contains(name) || made.contains(name));
        let has_answers = run.total.llm().is_some();
        for name in ["ttft", "gaps", "prompts"] {
            assert_eq!(made.contains(&name), has_answers, "{name}");
        }
        assert_eq!(made, always);
        let page = page(&run);
        for name in made {
            assert!(page.contains(&format!("<figure id=\"{name}\"")), "{name}");
        }
    }
}

/// Thresholds that failed stand before the others, and only five are not folded.
#[test]
fn many_thresholds_begin_with_those_that_failed() {
    let mut run = fixture::answers();
    let rule = run.thresholds[0].clone();
    let rules = (0..12).map(|n| ThresholdResult {
        passed: n % 2 > 0,
        ..rule.clone()
    });
    run.thresholds = rules.collect();
    let page = page(&run);
    let (_, part) = page.split_once("<section id=\"thresholds\"").unwrap();
    let (part, _) = part.split_once("</section>").unwrap();
    let (shown, folded) = part
        .split_once("<summary>7 more thresholds, 1 failed</summary>")
        .unwrap();
    let marks = |part: &str| ["✗", "✓"].map(|mark| part.matches(mark).count());
    assert_eq!((marks(shown), marks(folded)), ([5, 0], [1, 6]));
}

/// Half of the answers have prompts of 400 tokens, and half of 1,200.
#[test]
fn answers_have_a_picture_of_prompts() {
    let run = fixture::answers();
    let all = figures(&run);
    let of = |name: &str| all.iter().find(|figure| figure.name == name).unwrap();
    let prompts = of("prompts");
    assert_eq!((prompts.x.from, prompts.x.to), (100.0, 10_000.0));
    for series in series(prompts) {
        let xs: Vec<f64> = series.points.iter().map(|point| point.x).collect();
        assert_eq!(xs, [362.0, 1_448.0], "{}", series.name);
        assert!(series.points.iter().all(|point| point.y.is_some()));
    }
}

/// Every gap is in the heat map, but that of an event which came in one read with the one before.
#[test]
fn gaps_have_a_heat_map() {
    let info = fixture::info(Model::Open);
    let mut interval = Interval::new(&info.pool().steps);
    interval.end = Nanos::from_secs(1);
    let llm = interval.total.llm_mut(0);
    llm.record_event(EventClass::Token);
    (0..10).for_each(|n| llm.record_gap(Nanos::from_millis(n), None));
    interval.sum_up();
    let mut reading = Reading::new(Arc::new(info), &[]);
    reading.absorb(&interval);
    let run = reading.close(Nanos::from_secs(1), 0.0);
    let all = figures(&run);
    let gaps = all.iter().find(|figure| figure.name == "gaps").unwrap();
    let Plot::Heat(heat) = &gaps.plot else {
        panic!("a heat map");
    };
    let cells = heat.columns.iter().flat_map(|column| &column.cells);
    assert_eq!(cells.map(|(_, _, count)| count).sum::<u64>(), 9);
    assert!(page(&run).contains("many gaps"));
}

fn series(figure: &Figure) -> &[Series] {
    match &figure.plot {
        Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => all,
        Plot::Heat(_) | Plot::Bars(_) | Plot::Nothing(_) => &[],
    }
}

/// A figure without a value has a sentence and no axis, and a legend has no series without a point.
#[test]
fn no_figure_is_empty() {
    for (name, run) in fixture::all() {
        let page = page(&run);
        for figure in figures(&run) {
            let all = series(&figure);
            assert!(all.iter().all(Series::has_points), "{name} {}", figure.name);
            let (_, shown) = page
                .split_once(&format!("<figure id=\"{}\"", figure.name))
                .unwrap();
            let (shown, _) = shown.split_once("</figure>").unwrap();
            let picture = svg::svg(&figure);
            match &figure.plot {
                Plot::Nothing(sentence) => {
                    assert!(sentence.ends_with('.') && shown.contains(&**sentence));
                    assert!(
                        !shown.contains("<svg") && !shown.contains("<table"),
                        "{shown}"
                    );
                    assert!(picture.contains(&**sentence) && !picture.contains("class=\"grid\""));
                }
                _ => assert!(shown.contains("class=\"area\""), "{name} {}", figure.name),
            }
        }
    }
}

/// Without an expected response, the times of the failures are the tail.
#[test]
fn a_run_of_failures_has_their_times() {
    let run = fixture::failed_only();
    let all = figures(&run);
    let of = |name: &str| all.iter().find(|figure| figure.name == name).unwrap();
    for name in ["latency", "heat"] {
        assert!(matches!(of(name).plot, Plot::Nothing(_)), "{name}");
    }
    let names: Vec<&str> = series(of("tail"))
        .iter()
        .map(|series| series.name)
        .collect();
    match run.total.latency.failed.is_empty() {
        true => assert!(names.is_empty()),
        false => assert_eq!(names, ["failed"]),
    }
}

/// The line of links leads to parts of the page, and so does the name of each step with pictures.
#[test]
fn links_lead_to_parts_of_the_page() {
    for run in runs() {
        let page = page(&run);
        for link in page.split(" href=\"#").skip(1) {
            let id = link.split('"').next().unwrap();
            assert!(page.contains(&format!(" id=\"{id}\"")), "{id}");
        }
    }
}

/// The answer, the cause and the pictures follow each other; drumfire's own figures come last.
#[test]
fn a_page_has_the_order_of_a_readers_questions() {
    let page = page(&fixture::steps());
    let at = |id: &str| page.find(&format!(" id=\"{id}\"")).unwrap();
    let order = [
        "about",
        "answers",
        "numbers",
        "links",
        "failures",
        "steps",
        "rate",
        "latency",
        "times",
        "report",
        "own",
        "lag",
        "environment",
    ];
    assert!(order.is_sorted_by_key(|id| at(id)), "{:?}", order.map(at));
}

/// The pictures have the numbers of the rows that the text and the documents have.
#[test]
fn figures_have_the_numbers_of_the_rows() {
    let run = fixture::drifting();
    let rows = run.intervals();
    let all = figures(&run);
    let of = |name: &str| all.iter().find(|figure| figure.name == name).unwrap();
    let Plot::Bands(bands) = &of("latency").plot else {
        panic!("bands");
    };
    assert_eq!(bands[0].name, "p50");
    assert_eq!(bands[bands.len() - 1].name, "max");
    for series in bands {
        let name = series.name;
        let times = rows.iter().map(|row| {
            let named = row.latency.named();
            let time = named.into_iter().find(|(of, _)| *of == name).unwrap().1;
            time.map(|time| time.time.0 as f64)
        });
        assert!(
            series.points.iter().map(|point| point.y).eq(times),
            "{name}"
        );
    }
    let Plot::Heat(heat) = &of("heat").plot else {
        panic!("heat");
    };
    let cells = heat.columns.iter().flat_map(|column| &column.cells);
    let counted: u64 = cells.map(|(_, _, count)| count).sum();
    let times = run.latency();
    assert_eq!(run.model(), Model::Open);
    assert_eq!(counted, times.count());
}

/// The cells of the rows of a table, by the id of its section or figure.
fn cells<'p>(page: &'p str, id: &str) -> Vec<Vec<&'p str>> {
    let (_, rest) = page.split_once(&format!(" id=\"{id}\"")).unwrap();
    let (_, body) = rest.split_once("<tbody>").unwrap();
    let (body, _) = body.split_once("</tbody>").unwrap();
    let rows = body.split("<tr>").skip(1).map(|row| {
        let cells = row.split(['>', '<']).filter(|piece| {
            let is_tag =
                piece.starts_with("td") || piece.starts_with("th") || piece.starts_with('/');
            !piece.trim().is_empty() && !is_tag
        });
        cells.collect()
    });
    rows.collect()
}

/// A baseline lies under the tail of a run, and both ends are seen.
#[test]
fn a_tail_lies_over_that_of_a_baseline() {
    let (run, baseline) = (fixture::drifting(), fixture::open());
    let alone = tail(&run, None);
    let both = tail(&run, Some(&baseline));
    let Plot::Lines(lines) = &both.plot else {
        panic!("lines");
    };
    let names: Vec<&str> = lines.iter().map(|line| line.name).collect();
    assert_eq!(names, ["baseline", "this run"]);
    let of_baseline = tail(&baseline, None);
    for (line, own) in lines.iter().zip([&of_baseline, &alone]) {
        let Plot::Lines(own) = &own.plot else {
            panic!("lines");
        };
        assert_eq!(line.points, own[0].points);
        let ends = line.points.iter().map(|point| point.x);
        assert!(ends.clone().all(|x| x <= both.x.to), "{:?}", both.x);
        assert!(line.points.iter().all(|point| point.y <= Some(both.y.to)));
    }
    let picture = svg::svg(&both);
    assert_well_formed(&picture);
    assert!(picture.contains(">baseline</text>") && picture.contains(">this run</text>"));
}

/// Two runs have points at other places, and each keeps its own in pictures and in tables.
#[test]
fn two_runs_lie_over_each_other() {
    let (base, candidate) = (fixture::drifting(), fixture::open());
    let parts = html::compare(&compared(base), &compared(candidate));
    let page: String = parts.iter().map(|part| &*part.html).collect();
    assert_well_formed(&format!("<html>{page}</html>"));
    let data = data(&page);
    for figure in data["figures"].as_array().unwrap() {
        let name = figure["name"].as_str().unwrap();
        let rows = cells(&page, name);
        if name == "outcomes" {
            let names = [rows[0][0], rows[1][0]];
            assert_eq!(names, ["base: ok", "candidate: ok"]);
            continue;
        }
        let (_, head) = page.split_once(&format!(" id=\"{name}\"")).unwrap();
        let (head, _) = head.split_once("</thead>").unwrap();
        // The candidate has no intervals, and so no line over time.
        let names = ["base", "candidate"].map(|name| head.contains(&format!(">{name}</th>")));
        let is_of_both = ["tail", "median"].contains(&name);
        assert!(names[0] && (names[1] || !is_of_both), "{name}");
        let series = figure["series"].as_array().unwrap();
        assert_eq!(
            series.len(),
            names.iter().filter(|is_there| **is_there).count()
        );
        for (column, series) in series.iter().enumerate() {
            let values = series["ys"].as_array().unwrap().iter();
            let values = values.filter(|value| !value.is_null()).count();
            let shown = rows.iter().filter(|row| row[column + 1] != "–").count();
            assert_eq!(shown, values, "{name} {column}: {rows:?}");
            let own = series["rows"].as_array().map_or(rows.len(), Vec::len);
            assert_eq!(series["ys"].as_array().unwrap().len(), own);
        }
    }
}

fn compared(run: Summary) -> Compared {
    Compared::from_summary(Arc::new(run))
}

/// Connections by address have a table. Their ends, the protocol and the statuses have the numbers
/// and words of the text.
#[test]
fn connections_and_the_protocol_are_on_the_page() {
    let mut run = fixture::open();
    let connections = &mut run.total.connections;
    for (last, counts) in [
        (1, AddressCounts::new(3, 900)),
        (2, AddressCounts::new(1, 100)),
    ] {
        let address = std::net::SocketAddr::from(([10, 0, 0, last], 8_080));
        connections.addresses.add(address, counts);
    }
    connections.record_closed(Closing::Reset, Nanos::from_secs(1), 12);
    run.total.retried = 2;
    run.total.interim = 1;
    let page = page(&run);
    assert_well_formed(&page);
    assert_eq!(
        cells(&page, "addresses"),
        [
            ["10.0.0.1:8080", "3", "900", "90.0 %"],
            ["10.0.0.2:8080", "1", "100", "10.0 %"]
        ]
    );
    let text = text::summary(&run, &Style::new(400, Color::Off, Unicode::On));
    for fact in ["1 reset", "2 resent requests", "1 interim response"] {
        assert!(page.contains(&format!("<span>{fact}</span>")), "{fact}");
        assert!(text.contains(fact), "{text}");
    }
    let statuses = cells(&page, "status");
    for (status, n) in run.total.status() {
        let of_status = |row: &&Vec<&str>| row[0] == status.to_string();
        let row = statuses.iter().find(of_status).unwrap();
        assert_eq!(row[1].replace(',', ""), n.to_string(), "{row:?}");
    }
    assert!(page.contains("<dt>Bytes</dt>"));
}

/// The names, messages and bodies of a hostile server stay texts.
#[test]
fn hostile_texts_stay_texts() {
    let page = page(&fixture::hostile());
    keep("hostile", &page);
    assert_well_formed(&page);
    assert!(!page.contains(fixture::CANARY));
    let is_dangerous =
        |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
    assert_eq!(page.chars().find(|c| is_dangerous(*c)), None);
}

/// A secret is masked in the texts of a page, and one that is spelled like markup breaks none.
#[test]
fn secrets_are_masked_in_texts_alone() {
    let run = fixture::open();
    let page = page(&run);
    for secret in ["svg", "class", "127.0.0.1:8080"] {
        let masked = Secrets::new(&[secret.to_owned()]).masked_markup(&page);
        assert_well_formed(&masked);
        assert_eq!(
            masked.matches("<svg ").count(),
            page.matches("<svg ").count()
        );
        assert_eq!(without_program(&masked).1, without_program(&page).1);
        let drawn = |page: &str| data(page)["figures"].as_array().unwrap().len();
        assert!(drawn(&masked) > 0 && drawn(&masked) == drawn(&page));
    }
    let masked = Secrets::new(&["127.0.0.1:8080".to_owned()]).masked_markup(&page);
    assert!(page.contains("127.0.0.1:8080") && !masked.contains("127.0.0.1:8080"));
}

/// A page and its like name settings as the text of the same run does.
#[test]
fn settings_are_named_as_the_caller_knows_them() {
    let run = fixture::late();
    let reasons = [&run.verdict.reasons[..], &run.load.reasons].concat();
    assert!(!reasons.is_empty());
    for naming in [Naming::Flags, Naming::Keys] {
        let pages = [
            html::page(&run, &origin(naming)),
            markdown::summary(&run, naming),
        ];
        for reason in &reasons {
            let sentence = sentence(reason, naming);
            let plain = |text: &str| text.replace(['\\', '`'], "").replace("&gt;", ">");
            for page in &pages {
                let page = plain(&String::from_utf8_lossy(page));
                assert!(page.contains(&plain(&sentence)), "{sentence}");
            }
        }
    }
}

/// Users who wait for a connection see their wait, and others have no row of zeros.
#[test]
fn the_times_of_requests_are_a_table() {
    let mut waited = fixture::closed();
    let latency = &mut waited.total.latency;
    for _ in 0..latency.service_time.count() {
        latency.waiting.record(Nanos::from_millis(50));
    }
    for (run, times) in [
        (
            &fixture::open(),
            &["response", "service", "waiting", "lag", "failed"][..],
        ),
        (&fixture::closed(), &["service", "lag", "failed"]),
        (
            &waited,
            &["response", "service", "waiting", "lag", "failed"],
        ),
    ] {
        let page = page(run);
        let cells = cells(&page, "times");
        let names: Vec<&str> = cells.iter().map(|row| row[0]).collect();
        assert_eq!(names, times);
        let columns = cells[0].len();
        assert!(
            columns >= 8 && cells.iter().all(|row| row.len() == columns),
            "{cells:?}"
        );
    }
}

/// The plan and the data are the page's own: a link has its data in itself.
#[test]
fn a_page_has_its_plan_and_its_data() {
    let run = fixture::steps();
    let files = [NamedFile {
        name: "summary.json".to_owned(),
        bytes: b"{\"<>\": 1}".to_vec(),
    }];
    let origin = Origin {
        naming: Naming::Keys,
        plan: "target: http://<b>/\n",
        files: &files,
        teardown: Some("the teardown failed at `<b>`: status 418"),
        against: None,
    };
    let page = String::from_utf8(html::page(&run, &origin)).unwrap();
    assert_well_formed(&page);
    assert!(page.contains("target: http://&lt;b&gt;/\n"));
    let repeats = format!("drumfire run plan.yaml --seed {}\n", run.info.seed);
    assert!(page.contains(repeats.trim()), "{page}");
    let link = "<a download=\"summary.json.gz\" href=\"data:application/gzip;base64,";
    let (_, packed) = page.split_once(link).unwrap();
    let (packed, _) = packed.split_once('"').unwrap();
    let mut unpacked = String::new();
    let packed = STANDARD.decode(packed).unwrap();
    GzDecoder::new(&*packed)
        .read_to_string(&mut unpacked)
        .unwrap();
    assert_eq!(unpacked, "{\"<>\": 1}");
    assert!(page.contains("<strong>✗ teardown failed</strong>"));
    assert!(page.contains("the teardown failed at `&lt;b&gt;`: status 418"));
    for id in ["steps", "failures", "environment", "plan", "downloads"] {
        assert!(page.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
}

/// A page of a day with ten steps is small enough to be sent, and so is the summary with it; a page of
/// a minute with two steps is smaller.
#[test]
fn a_page_of_a_long_run_is_small() {
    let run = fixture::long();
    let day = page(&run);
    keep("long", &day);
    let (day, summary) = (day.len(), json::summary(&run).len());
    assert!(day < 480_000, "{day}");
    assert!(summary < 700_000, "{summary}");
    let minute = page(&fixture::minute());
    keep("minute", &minute);
    assert!(minute.len() <= 350_000, "{}", minute.len());
}
