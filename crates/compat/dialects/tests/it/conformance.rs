//! Runs the cases of `conformance/dialects/`: a command line and its exit code and output, or its
//! plan and the report of a made-up run.
//!
//! A case is a file of sections, `== title` and lines. The results are compared with the file,
//! section by section; no section may be missing. If the environment sets `REWRITE_CASES`, the
//! files are rewritten, so that a person can review the diff.

use crate::case::Case;
use drumfire_compile::{Host, compile};
use drumfire_dialects::{Outcome, Presentation, parse};
use drumfire_document::form;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The sections that are input; all others are results.
const GIVEN: [&str; 3] = ["argv", "file ", "run"];

fn folder(dialect: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../conformance/dialects")
        .join(dialect)
}

/// Computes every result section of the case.
fn answer(case: &Arc<Case>) -> Vec<(String, String)> {
    let (dialect, args) = case.command_line();
    let host: Arc<dyn Host> = Arc::<Case>::clone(case);
    let outcome = parse(dialect, &args, &host, 1);
    let mut sections = case.asked();
    let asked_for_schema = sections.iter().any(|(title, _)| title == "wanted");
    let mut add = |title: &str, text: String| {
        if !text.is_empty() {
            sections.push((title.to_owned(), text));
        }
    };
    match outcome {
        // No server answers in tests.
        Outcome::Print { stderr, .. } if asked_for_schema => assert_eq!(stderr, "asked\n"),
        Outcome::Print {
            stdout,
            stderr,
            exit,
        } => {
            add("exit", format!("{exit}\n"));
            add("stdout", stdout);
            add("stderr", stderr);
        }
        Outcome::Run(run) => {
            let text = crate::plan_text::plan_text(run.plan.first(), run.plan.generator());
            let printed = form::print(&run.document);
            let again = form::read(&printed, "plan.yaml").unwrap();
            let again = compile(&again, &host).unwrap();
            assert_eq!(
                crate::plan_text::plan_text(again.first(), again.generator()),
                text,
                "{printed}"
            );
            add("plan", text);
            add("notes", notes(&*run.presentation));
            self::run(case, run.presentation, &mut add);
        }
    }
    sections
}

/// The output of the made-up run.
fn run(case: &Case, mut presentation: Box<dyn Presentation>, add: &mut dyn FnMut(&str, String)) {
    let lines = case.section("run").unwrap_or_default();
    let summary = crate::made_up_run::summary(lines);
    add("start", presentation.render_start(&summary.info));
    if case.section("run").is_none() {
        return;
    }
    presentation.set_spool(Box::new(Cursor::new(Vec::new())));
    for event in crate::made_up_run::events(lines, &summary) {
        presentation.observe(&event);
    }
    presentation.finish(&summary);
    let places: Vec<String> = presentation
        .places()
        .iter()
        .map(|path| path.map_or_else(|| "finish".to_owned(), |path| format!("finish {path}")))
        .collect();
    for (place, title) in places.iter().enumerate() {
        let mut out = Vec::new();
        presentation.write(place, &summary, &mut out).unwrap();
        let mut text = String::from_utf8(out).unwrap();
        // The last line of a section must end with a line end.
        if !text.ends_with('\n') {
            text.push_str("(no line end)\n");
        }
        add(title, text);
    }
    let exit = presentation.exit_code(&summary);
    add("exit", format!("{exit}\n"));
}

fn notes(presentation: &dyn Presentation) -> String {
    let line = |note: &String| format!("{note}\n");
    presentation.notes().iter().map(line).collect()
}

fn check(path: &Path) -> Result<(), String> {
    let case = Arc::new(Case::read(path));
    let given = |title: &str| GIVEN.iter().any(|start| title.starts_with(start));
    let (mut whole, expected): (Vec<_>, Vec<_>) = case
        .sections
        .iter()
        .cloned()
        .partition(|(title, _)| given(title));
    let actual = answer(&case);
    if actual == expected {
        return Ok(());
    }
    if std::env::var_os("REWRITE_CASES").is_some() {
        whole.extend(actual);
        case.rewrite(path, &whole);
        return Ok(());
    }
    Err(format!(
        "{}\n--- expected\n{}--- actual\n{}",
        path.display(),
        Case::text(&expected),
        Case::text(&actual)
    ))
}

fn check_all(dialect: &str) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder(dialect))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "case"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no cases for {dialect}");
    let failures: Vec<String> = paths.iter().filter_map(|path| check(path).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn go_wrk_cases() {
    check_all("go-wrk");
}

#[test]
fn ghz_cases() {
    check_all("ghz");
}
