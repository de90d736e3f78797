//! The pipeline steps in `contrib`: their scripts run in a shell as a runner would run them, with
//! the variables that it would set.

use crate::docs::{LIMIT, page};
use crate::support::program::{PATH, neutral};
use crate::support::{Folder, Process, Run, Serve};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Parses a file of `contrib`.
fn parsed(path: &str) -> Value {
    serde_saphyr::from_str(&page(path).1).unwrap()
}

/// The action, whose inputs are expressions in the environment of its steps.
struct Action {
    steps: Vec<Value>,
    inputs: HashMap<String, String>,
    folder: Folder,
}

impl Action {
    /// The action with the given inputs of a job; the other inputs have their defaults.
    fn new(inputs: &[(&str, &str)]) -> Self {
        let action = parsed("contrib/action/action.yml");
        let mut all = HashMap::new();
        for (name, input) in action["inputs"].as_object().unwrap() {
            let given = inputs.iter().find(|(of, _)| of == name);
            let default = input["default"].as_str().unwrap_or_default();
            let value = given.map_or(default, |(_, value)| value);
            all.insert(name.clone(), value.to_owned());
        }
        assert!(inputs.iter().all(|(name, _)| all.contains_key(*name)));
        Self {
            steps: action["runs"]["steps"].as_array().unwrap().clone(),
            inputs: all,
            folder: Folder::new(),
        }
    }

    /// The value of `${{ inputs.x }}` or `${{ steps.x.outputs.y }}`.
    fn value(&self, expression: &str, outputs: &HashMap<String, String>) -> String {
        let name = expression
            .trim_start_matches("${{ ")
            .trim_end_matches(" }}");
        match name.strip_prefix("inputs.") {
            Some(input) => self.inputs[input].clone(),
            None => outputs[name].clone(),
        }
    }

    /// Runs the steps in order. Returns the last run, and the outputs of all steps.
    fn run(&self) -> (Run, HashMap<String, String>) {
        let mut outputs = HashMap::new();
        let mut last = None;
        for step in &self.steps {
            assert_eq!(step["shell"], "bash");
            let written = self.folder.write("outputs", "");
            let script = step["run"].as_str().unwrap();
            assert!(!script.contains("${{"), "an input is a part of a script");
            let mut shell = neutral(Command::new("bash"));
            shell.args(["-c", script]).current_dir(self.folder.path());
            shell.env("GITHUB_OUTPUT", &written);
            for (name, expression) in step["env"].as_object().unwrap() {
                shell.env(name, self.value(expression.as_str().unwrap(), &outputs));
            }
            last = Some(Process::start(&mut shell).finish(LIMIT));
            for line in fs::read_to_string(&written).unwrap().lines() {
                let (name, value) = line.split_once('=').unwrap();
                let name = format!("steps.{}.outputs.{name}", step["id"].as_str().unwrap());
                outputs.insert(name, value.to_owned());
            }
        }
        (last.unwrap(), outputs)
    }
}

/// A plan of thirty requests with a rule that passes or fails.
fn plan(serve: &Serve, rule: &str) -> String {
    format!(
        "drumfire: 1\npools:\n  main:\n    rate: 100/s\n    requests: [ {{ get: \"{}\" }} ]\n\
         stop: {{ requests: 30 }}\nthresholds: [ \"{rule}\" ]\n",
        serve.url
    )
}

#[test]
fn the_action_runs_a_plan_and_keeps_its_results() {
    let serve = Serve::new("");
    for (rule, code) in [("failed<1%", 0), ("failed>50%", 99)] {
        let inputs = [
            ("plan", "load.yaml"),
            ("program", PATH),
            // An input is data: the shell executes no part of it.
            ("set", "pools.main.rate=200/s\nname=$(touch injected)"),
            ("results", "the results"),
        ];
        let action = Action::new(&inputs);
        action.folder.write("load.yaml", plan(&serve, rule));
        let (run, outputs) = action.run();
        assert_eq!(run.code, Some(code), "{run:?}");
        assert_eq!(outputs["steps.run.outputs.code"], code.to_string());
        assert_eq!(outputs["steps.run.outputs.results"], "the results");
        let result = fs::read(action.folder.at("the results/result.json")).unwrap();
        let result: Value = serde_json::from_slice(&result).unwrap();
        assert_eq!(result["requests"]["ok"], 30);
        for name in ["junit.xml", "run.html"] {
            let file = fs::read(action.folder.at(&format!("the results/{name}"))).unwrap();
            assert!(file.starts_with(b"<"), "{name}");
        }
        assert!(!Path::new(&action.folder.at("injected")).exists());
    }
}

/// A missing plan fails the step with the program's own message and exit code.
#[test]
fn the_action_fails_with_the_programs_code() {
    let action = Action::new(&[("plan", "missing.yaml"), ("program", PATH)]);
    let (run, outputs) = action.run();
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(outputs["steps.run.outputs.code"], "2");
    assert!(run.stderr.contains("missing.yaml"), "{run:?}");
}

/// No input is read as a flag, and none adds outputs.
#[test]
fn the_action_takes_inputs_for_what_they_are() {
    for (plan, results) in [
        ("--help", "results"),
        ("load.yaml", "a\npwned=yes"),
        ("load.yaml\n", "results"),
        ("load.yaml", ""),
    ] {
        let inputs = [("plan", plan), ("program", PATH), ("results", results)];
        let (run, outputs) = Action::new(&inputs).run();
        assert_eq!(run.code, Some(2), "{plan:?} {results:?}: {run:?}");
        assert!(
            !outputs.contains_key("steps.run.outputs.pwned"),
            "{outputs:?}"
        );
    }
}

/// Each output of the action comes from one of its steps.
#[test]
fn the_actions_outputs_are_written_by_its_steps() {
    let action = parsed("contrib/action/action.yml");
    let script = action["runs"]["steps"][1]["run"].as_str().unwrap();
    for (name, output) in action["outputs"].as_object().unwrap() {
        let value = format!("${{{{ steps.run.outputs.{name} }}}}");
        assert_eq!(output["value"], *value);
        assert!(script.contains(&format!("echo \"{name}=")), "{name}");
    }
}

#[test]
fn the_job_of_gitlab_runs_a_plan_and_reports_cases() {
    let serve = Serve::new("");
    let job = &parsed("contrib/gitlab/drumfire.yml")["drumfire"];
    let folder = Folder::new();
    folder.write("load.yaml", plan(&serve, "failed<1%"));
    let script = job["script"].as_array().unwrap();
    let script: Vec<&str> = script.iter().map(|line| line.as_str().unwrap()).collect();
    let mut shell = neutral(Command::new("bash"));
    shell
        .args(["-ec", &script.join("\n")])
        .current_dir(folder.path());
    for (name, value) in job["variables"].as_object().unwrap() {
        shell.env(name, value.as_str().unwrap());
    }
    let own = Path::new(PATH).parent().unwrap().to_str().unwrap();
    let usual = std::env::var("PATH").unwrap();
    shell.env("PATH", format!("{own}:{usual}"));
    let run = Process::start(&mut shell).finish(LIMIT);
    // Exit code 3 means that the machine was too busy for a verdict; the job retries once.
    assert!(matches!(run.code, Some(0 | 3)), "{run:?}");
    assert_eq!(job["retry"]["exit_codes"], 3);
    let report = job["artifacts"]["reports"]["junit"].as_str().unwrap();
    let report = report.replace("$DRUMFIRE_RESULTS", "drumfire-results");
    let cases = fs::read_to_string(folder.at(&report)).unwrap();
    assert!(cases.contains("failed&lt;1%"), "{cases}");
}
