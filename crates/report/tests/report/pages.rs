//! Pages of HTML and pictures: well formed, complete for the shortest run, and nothing that a server
//! chose is more than a text in them.

use crate::fixture;
use drumfire_measure::{Model, Summary};
use drumfire_report::figure::{Plot, figures, svg};
use drumfire_report::{Secrets, html, markdown};
use uppsala::parse;

fn runs() -> impl Iterator<Item = Summary> {
    fixture::all().into_iter().map(|(_, run)| run)
}

fn page(summary: &Summary) -> String {
    String::from_utf8(html::page(summary)).unwrap()
}

/// HTML in which all elements are closed is XML but for its first line.
fn assert_well_formed(markup: &str) {
    let xml = markup.strip_prefix("<!doctype html>").unwrap_or(markup);
    if let Err(error) = parse(xml.trim()) {
        panic!("{error:?} in {markup}");
    }
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
fn a_page_loads_nothing_and_runs_nothing() {
    for run in runs() {
        let page = page(&run);
        for way in [
            "<script", "<link", "<img", "<iframe", " src=", " href=", "url(", "@import", " on",
        ] {
            let found = page
                .split('<')
                .skip(1)
                .filter_map(|tag| tag.split('>').next());
            let found = found
                .map(|tag| format!("<{tag}"))
                .find(|tag| tag.contains(way));
            assert_eq!(found, None, "{way}");
        }
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn every_run_has_every_figure() {
    let names = [
        "rate",
        "latency",
        "heat",
        "tail",
        "knee",
        "outcomes",
        "in-flight",
        "lag",
    ];
    for run in runs() {
        let figures = figures(&run);
        let made: Vec<&str> = figures.iter().map(|figure| figure.name).collect();
        assert_eq!(&made[..names.len()], names);
        let page = page(&run);
        for name in made {
            assert!(page.contains(&format!("<figure id=\"{name}\">")), "{name}");
        }
    }
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
    for (series, name) in bands.iter().zip(["p50", "p90", "p95", "p99", "max"]) {
        assert_eq!(series.name, name);
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
    let times = run.model().latency(&run.total.latency);
    assert_eq!(run.model(), Model::Open);
    assert_eq!(counted, times.count());
}

/// The names, messages and bodies of a hostile server stay texts.
#[test]
fn hostile_texts_stay_texts() {
    let page = page(&fixture::hostile());
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
    }
    let masked = Secrets::new(&["127.0.0.1:8080".to_owned()]).masked_markup(&page);
    assert!(page.contains("127.0.0.1:8080") && !masked.contains("127.0.0.1:8080"));
}

/// Every line of a table has as many cells as its head, whatever a server wrote.
#[test]
fn tables_of_markdown_are_whole() {
    for run in runs() {
        let text = String::from_utf8(markdown::summary(&run)).unwrap();
        let mut cells = None;
        for line in text.lines() {
            let bare = line.replace("\\\\", "").replace("\\|", "");
            let count = bare.matches('|').count();
            match (line.starts_with('|'), cells) {
                (true, None) => cells = Some(count),
                (true, Some(head)) => assert_eq!(count, head, "{line}"),
                (false, _) => {
                    assert_eq!(count, 0, "{line}");
                    cells = None;
                }
            }
        }
        assert!(!text.contains(fixture::CANARY));
        assert!(text.starts_with("## ") && text.contains("\n- "));
    }
}
