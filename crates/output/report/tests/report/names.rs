//! The names of plans and of steps in every format.

use crate::fixture;
use crate::history::{listed, stored};
use drumfire_measure::Summary;
use drumfire_report::html::{self, Origin};
use drumfire_report::run_list::{self, Surroundings};
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_report::{Naming, csv, json, junit, markdown, screen, text};
use std::sync::Arc;

fn style() -> Style {
    Style::new(120, Color::Off, Unicode::On)
}

fn named(mut run: Summary, name: &str) -> Summary {
    Arc::make_mut(&mut run.info).name = Some(name.to_owned());
    run
}

fn page(run: &Summary) -> String {
    let origin = Origin {
        naming: Naming::Keys,
        plan: "",
        files: &[],
        teardown: None,
        against: None,
    };
    String::from_utf8(html::page(run, &origin)).unwrap()
}

#[test]
fn every_output_has_the_name_of_the_plan() {
    let run = named(fixture::open(), "a <visit> token=1");
    let shown = text::summary(&run, &style());
    assert!(
        shown.contains("\nPlan         a <visit> token=1\n"),
        "{shown}"
    );
    let title = screen::title(&run, &style()).text();
    assert!(
        title.starts_with("drumfire a <visit> token=1 · "),
        "{title}"
    );
    let page = page(&run);
    assert!(page.contains("<h1>a &lt;visit&gt; token=1</h1>"), "{page}");
    assert!(
        page.contains("<title>drumfire: a &lt;visit&gt; token=1</title>"),
        "{page}"
    );
    let comment = String::from_utf8(markdown::summary(&run, Naming::Keys)).unwrap();
    assert!(
        comment.contains("\n**a \\<visit\\> token=1** · `"),
        "{comment}"
    );
    let suite = String::from_utf8(junit::summary(&run, Naming::Keys)).unwrap();
    assert!(
        suite.contains("<testsuite name=\"a &lt;visit&gt; token=1\""),
        "{suite}"
    );
    let target = format!("name=\"target\" value=\"{}\"", run.info.target);
    assert!(suite.contains(&target), "{suite}");
    let document: serde_json::Value = serde_json::from_slice(&json::summary(&run)).unwrap();
    assert_eq!(document["run"]["name"], "a <visit> token=1");
    let nameless: serde_json::Value =
        serde_json::from_slice(&json::summary(&named(fixture::open(), " "))).unwrap();
    assert!(nameless["run"]["name"].is_null());
}

#[test]
fn a_list_has_the_names_of_plans() {
    let mut runs = [stored(1, 1.0), stored(2, 1.0)];
    runs[0].digest.name = Some("a visit".to_owned());
    let ids = ["r1".to_owned(), "r2".to_owned()];
    let around = Surroundings {
        now_unix_ns: 0,
        ids: &ids,
    };
    let rows: Vec<_> = runs.iter().map(listed).collect();
    let list = |width| run_list::page(&rows, &around, &Style::new(width, Color::Off, Unicode::On));
    assert!(
        list(250).contains(" a visit · http://127.0.0.1:8080/ "),
        "{}",
        list(250)
    );
    assert!(list(60).contains(" a visit "), "{}", list(60));
    let document: serde_json::Value = serde_json::from_slice(&json::runs(&rows)).unwrap();
    assert_eq!(document["runs"][0]["name"], "a visit");
    assert!(document["runs"][1].get("name").is_none());
}

/// People read the name of the pool and of the step; programs read the path that rules have.
#[test]
fn a_step_of_several_pools_has_both_names() {
    let run = fixture::pools();
    let steps = run.steps();
    let first = steps.iter().find(|step| step.pool.is_some()).unwrap();
    let (pool, step) = (first.pool.clone().unwrap(), first.name.clone());
    let words = format!("{pool} · {step}");
    let shown = text::summary(&run, &style());
    assert!(shown.contains(&words), "{words}: {shown}");
    assert!(page(&run).contains(&words), "{words}");
    let path = format!("{pool}/{step}");
    assert!(!shown.contains(&path), "{path}: {shown}");
    let document: serde_json::Value = serde_json::from_slice(&json::summary(&run)).unwrap();
    assert_eq!(document["steps"][0]["name"], path.as_str());
    let rows = String::from_utf8(csv::histogram(&run)).unwrap();
    assert!(
        rows.contains(&format!("step({path}).response_time")),
        "{rows}"
    );
}
