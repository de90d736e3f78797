//! Plans as files: the plan that a command line prints runs as the command line does, and a
//! handwritten plan is read, or refused with the line of the mistake.

use crate::docs::{
    Line, Stage, announced, command_lines, commands_side_by_side, documents, page, shortened,
};
use crate::support::{Folder, Report};
use std::fs;

/// The parts of a report that identify the run.
const SAME: [&str; 5] = [
    "run.plan",
    "run.model",
    "run.target",
    "run.seed",
    "requests.intended",
];

/// The exit code of an invalid line.
const USAGE: i32 = 2;
/// The exit code of a run that fails a threshold.
const THRESHOLD: i32 = 99;

/// A line of a page without its shell syntax, limited to three requests.
fn brief(text: &str) -> String {
    let text = text.split(" # ").next().unwrap().trim_end();
    let text = text.split(" | ").next().unwrap();
    let text = text.replace(" --strict", "").replace(" --print-plan", "");
    let text = shortened(&text);
    let ends = [" -n ", " --iterations ", " --order once", "ghz ", "go-wrk "];
    match ends.iter().any(|end| text.contains(end)) {
        true => text.replacen(" -n 100 ", " -n 3 ", 1),
        false => text.replacen("drumfire http ", "drumfire http -n 3 ", 1),
    }
}

/// The subcommands that run a load, and can print a plan.
const LOADS: [&str; 4] = ["http", "grpc", "ghz", "go-wrk"];

/// The subcommand of a line that prints a plan; `None` for other commands, and for a line that only
/// fetches a server's schema.
fn load_of(text: &str) -> Option<&str> {
    let subcommand = text.strip_prefix("drumfire ")?.split(' ').next()?;
    let asks = [" --list", " --describe "];
    let is_load = LOADS.contains(&subcommand) && !asks.iter().any(|flag| text.contains(flag));
    is_load.then_some(subcommand)
}

/// The difference between a line and the plan that it prints, if there is one. A line that must
/// fail before it sends anything must fail with the same message when it prints.
fn compare(stage: &Stage, Line { place, text }: &Line) -> Option<String> {
    let expected = announced(text)?;
    let text = match expected {
        // A limit is another flag, and could be another mistake.
        USAGE => text.split(" # ").next()?.trim_end().to_owned(),
        _ => brief(text),
    };
    let wrong = |what: String| Some(format!("{place}: {text}\n{what}"));
    let printed = stage.run_as_it_is(&format!("{text} --print-plan"));
    if expected == USAGE {
        let direct = stage.run_as_it_is(&text);
        let is_same = direct.code == Some(USAGE)
            && (direct.code, &direct.stderr) == (printed.code, &printed.stderr);
        return (!is_same).then(|| format!("{place}: {text}\n{direct:?}\n{printed:?}"));
    }
    if printed.code != Some(0) {
        return wrong(format!("--print-plan: {}", printed.stderr));
    }
    let plan = format!("plan-{}.yaml", place.replace(['/', ':'], "-"));
    stage.folder.write(&plan, &printed.stdout);
    let again = stage.run_as_it_is(&format!("drumfire run {plan} --print-plan"));
    if again.stdout != printed.stdout {
        return wrong(format!("printed anew:\n{}{}", again.stdout, again.stderr));
    }
    let folder = Folder::new();
    let written = folder.at("written.json");
    let piped = stage.run_as_it_is(&format!("drumfire run - --json {written} < {plan}"));
    let differing = match load_of(&text) {
        Some("http" | "grpc") => {
            let json = folder.at("direct.json");
            let direct = stage.run_as_it_is(&format!("{} --json {json}", without_json(&text)));
            let codes = [direct.code, piped.code];
            // If three requests may be dropped, the machine decides whether all of them are, and
            // they may be too few for a threshold.
            let may_drop = codes.iter().all(|code| matches!(code, Some(0 | 1)));
            let is_alike = match expected {
                0 => may_drop || codes == [Some(THRESHOLD); 2],
                expected => codes == [Some(expected); 2],
            };
            if !is_alike {
                return wrong(format!("{codes:?}: {}{}", direct.stderr, piped.stderr));
            }
            match [&json, &written].map(|path| fs::exists(path).unwrap()) {
                [true, true] => differing(&Report::read(&json), &Report::read(&written)),
                // The line failed before it sent anything.
                [false, false] if direct.stderr == piped.stderr => Vec::new(),
                found => vec![format!("{found:?}: {direct:?}\n{piped:?}")],
            }
        }
        _ => {
            let direct = stage.run_as_it_is(&text);
            if [direct.code, piped.code] != [Some(expected); 2] {
                return wrong(format!("{}{}", direct.stderr, piped.stderr));
            }
            unlike(&direct.stdout, &Report::read(&written))
        }
    };
    if differing.is_empty() {
        None
    } else {
        wrong(differing.join("\n"))
    }
}

/// The parts in which the reports of a line and of its plan differ.
fn differing(direct: &Report, written: &Report) -> Vec<String> {
    let list = |report: &Report, key: &str, of: &str| -> Vec<String> {
        let items = report.at(key).as_array().unwrap();
        items.iter().map(|item| item[of].to_string()).collect()
    };
    let lists = [("steps", "name"), ("verdict.thresholds", "expression")];
    let lists = lists.into_iter().filter_map(|(key, of)| {
        let (direct, written) = (list(direct, key, of), list(written, key, of));
        (direct != written).then(|| format!("{key}: {direct:?} {written:?}"))
    });
    let values = SAME.into_iter().filter_map(|key| {
        let (direct, written) = (direct.at(key), written.at(key));
        (direct != written).then(|| format!("{key}: {direct:#} {written:#}"))
    });
    values.chain(lists).collect()
}

/// The parts in which another tool's report differs from its plan's report. ghz prints the count of
/// the line. go-wrk runs for a time, so both must have sent something.
fn unlike(printed: &str, written: &Report) -> Vec<String> {
    let count = printed.lines().find_map(|line| {
        let (label, value) = line.trim().split_once(':')?;
        (label == "Count").then(|| value.trim().to_owned())
    });
    let sent = written.n("requests.sent");
    let is_alike = match count {
        Some(count) => count == sent.to_string(),
        None => printed.contains("requests in ") && sent > 0,
    };
    match is_alike {
        true => Vec::new(),
        false => vec![format!("sent {sent} by the plan:\n{printed}")],
    }
}

/// A line without a destination for JSON.
fn without_json(text: &str) -> String {
    match text.split_once(" --json ") {
        None => text.to_owned(),
        Some((before, after)) => {
            let rest = after.split_once(' ').map_or("", |(_, rest)| rest);
            format!("{before} {rest}")
        }
    }
}

#[test]
fn what_a_command_line_prints_runs_as_it_does() {
    let stage = Stage::new();
    let mut lines = command_lines();
    lines.retain(|line| load_of(&line.text).is_some());
    // All such lines, found without looking at blocks, so that none is missing.
    let on_pages: usize = documents()
        .iter()
        .flat_map(|(_, page)| page.lines())
        .map(|line| line.trim().trim_start_matches("$ "))
        .filter(|line| load_of(line).is_some())
        .count();
    assert_eq!(lines.len(), on_pages);
    for (load, least) in LOADS.into_iter().zip([80, 15, 1, 1]) {
        let of_it = |line: &&Line| load_of(&line.text) == Some(load);
        let found = lines.iter().filter(of_it).count();
        assert!(found >= least, "only {found} lines of `drumfire {load}`");
    }
    let wrong = commands_side_by_side(&lines, |line| compare(&stage, line));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The YAML blocks of a page that are complete plans.
fn plans_of(page: &str) -> Vec<String> {
    let blocks = page.split("```yaml\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks
        .filter(|text| text.starts_with("drumfire: 1"))
        .collect()
}

#[test]
fn every_plan_of_the_manual_runs() {
    let stage = Stage::new();
    let plans = plans_of(&page("docs/manual/plans.md").1);
    assert!(plans.len() >= 3, "{plans:?}");
    for (n, plan) in plans.iter().enumerate() {
        let name = format!("manual-{n}.yaml");
        let plan = stage.addressed(plan).replace("after: 10s", "after: 1s");
        stage.folder.write(&name, &plan);
        let run = stage.run_as_it_is(&format!("drumfire run {name}"));
        assert_eq!(run.code, Some(0), "{plan}\n{}{}", run.stdout, run.stderr);
    }
}
