//! The steps of a scenario as mappings: a request, `pause: 200ms..1s`, `set: { order: "{{ uuid }}" }`.

use super::request::{ASKS, Keys as RequestKeys};
use super::socket::SocketKeys;
use crate::diagnostic::Findings;
use crate::keys::KeyValue;
use crate::keys::fields::{
    Entry, Fields as _, entries, fields_schema, items, read_fields, show_fields, table,
};
use crate::keys::node::Node;
use crate::keys::schema::{self, Definitions};
use crate::keys::tree::Tree;
use crate::{Branch, Count, Field, Loop, Place, Placed, RequestStep, Scenario, Step, Text};
use serde_json::{Value, json};

/// The name of a mapping in messages.
const WHAT: &str = "a step";

table! {
    /// A step's keys, as a mapping contains them: the keys of a request, and others.
    pub(super) struct StepKeys [
        request: RequestKeys,
    ] {
        pause: Option<Text> =
            "Wait: `200ms`, `200ms..1s`, `exponential(1s)`, `lognormal(1s,0.5)`, `until 5s` or `at least 5s`";
        set: Vec<Field> = "Set variables: names and templates, evaluated in order";
        "if" => condition: Option<Text> =
            "Condition, such as `total > 10 and state == 'new'`: run the steps of `do` if it holds, and the steps of `else` if it does not";
        "repeat" => passes: Option<Text> =
            "How many times to run the steps of `do`: a number, or a template whose value is a number of at most 1,000";
        "as" => index: Option<Text> = "Variable that counts the passes, from 0";
        until: Option<Text> = "Condition that ends the loop, checked after each pass";
        "do" => steps: Vec<Step> = "Steps to run";
        "else" => otherwise: Vec<Step> = "Steps to run if the condition is false";
        on_fail: Option<Text> =
            "What to do after a failure: `continue` (the default), `end_iteration` or `stop_user`, optionally with retries before it, as in `retry(2,500ms)`";
    } []
}

/// The keys of steps other than requests, each with the keys that may accompany it.
const KINDS: [(&str, &[&str]); 4] = [
    ("pause", &[]),
    ("set", &[]),
    ("if", &["do", "else"]),
    ("repeat", &["as", "until", "do"]),
];

/// Whether a key defines the action of a step.
fn is_deed(key: &str) -> bool {
    ASKS.contains(&key) || KINDS.iter().any(|(kind, _)| *kind == key)
}

impl StepKeys {
    /// The valid keys among the written ones. If none of them defines the action, the valid keys
    /// that misspelt ones resemble are included.
    fn known(&self, written: &[&str]) -> Vec<&'static str> {
        let (mut all, mut set) = (Vec::new(), Vec::new());
        Self::keys(&mut all);
        self.show(&mut set);
        let is_set = |key: &str| set.iter().any(|(name, _)| name == key);
        let is_clear = written.iter().any(|key| is_deed(key));
        all.retain(|key| written.contains(key) || !is_clear && is_set(key));
        all
    }

    /// Builds the step from the keys; `written` are the keys of the mapping.
    fn step(self, written: &[&str], place: &Place, found: &mut Findings) -> Option<Step> {
        let kind = KINDS.iter().find(|(key, _)| written.contains(key));
        let Some((kind, beside)) = kind else {
            return self.request_step(written, place, found);
        };
        let fits = |key: &&str| *key == *kind || beside.contains(key);
        if let Some(other) = written.iter().find(|key| !fits(key)) {
            let message = format!(
                "`{}` and `{kind}` can't be in one step; write a separate step for each request, \
                 `pause`, `set`, `if` and `repeat`",
                other.escape_debug()
            );
            found.add(place, message);
            return None;
        }
        match *kind {
            "pause" => self.pause_step(place, found),
            "set" => self.set_step(place, found),
            "if" => self.branch_step(place, found),
            _ => self.loop_step(place, found),
        }
    }

    fn request_step(self, written: &[&str], place: &Place, found: &mut Findings) -> Option<Step> {
        let lone = ["do", "else", "as", "until"];
        if let Some(key) = lone.into_iter().find(|key| written.contains(key)) {
            let message = format!("`{key}` belongs to an `if` or a `repeat`");
            found.add(place, message);
            return None;
        }
        let request = self.request.request(place, found)?;
        let on_fail = self.on_fail;
        Some(Step::Request(Box::new(RequestStep { request, on_fail })))
    }

    fn pause_step(self, place: &Place, found: &mut Findings) -> Option<Step> {
        let message = "a pause needs a time, such as `pause: 200ms`, or a range, such as 200ms..1s";
        found.add_if(self.pause.is_none(), place, message);
        self.pause.map(Step::Pause)
    }

    fn set_step(self, place: &Place, found: &mut Findings) -> Option<Step> {
        let message = "`set` needs variables with values, such as `set: { id: \"{{ uuid }}\" }`";
        found.add_if(self.set.is_empty(), place, message);
        (!self.set.is_empty()).then_some(Step::Set(self.set))
    }

    fn branch_step(self, place: &Place, found: &mut Findings) -> Option<Step> {
        let message =
            "an `if` needs a condition, such as `if: total > 0`, and steps in `do` or `else`";
        let is_empty = self.steps.is_empty() && self.otherwise.is_empty();
        found.add_if(self.condition.is_none() || is_empty, place, message);
        Some(Step::If(Branch {
            condition: self.condition?,
            steps: self.steps,
            otherwise: self.otherwise,
        }))
    }

    fn loop_step(self, place: &Place, found: &mut Findings) -> Option<Step> {
        let message = "a `repeat` needs a number, such as `repeat: 3`, and steps in `do`";
        found.add_if(
            self.passes.is_none() || self.steps.is_empty(),
            place,
            message,
        );
        Some(Step::Repeat(Loop {
            passes: self.passes?,
            index: self.index,
            until: self.until,
            steps: self.steps,
        }))
    }

    /// The keys of a step.
    fn from_step(step: &Step) -> Self {
        let mut keys = Self::default();
        match step {
            Step::Request(step) => {
                keys.request = RequestKeys::from_request(&step.request);
                keys.on_fail.clone_from(&step.on_fail);
            }
            Step::Pause(pause) => keys.pause = Some(pause.clone()),
            Step::Set(fields) => keys.set.clone_from(fields),
            Step::If(branch) => {
                keys.condition = Some(branch.condition.clone());
                keys.steps.clone_from(&branch.steps);
                keys.otherwise.clone_from(&branch.otherwise);
            }
            Step::Repeat(repeated) => {
                keys.passes = Some(repeated.passes.clone());
                keys.index.clone_from(&repeated.index);
                keys.until.clone_from(&repeated.until);
                keys.steps.clone_from(&repeated.steps);
            }
        }
        keys
    }
}

impl Entry for Vec<Step> {
    const VALUE: KeyValue = KeyValue::ListOf("steps");

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let mut steps = Self::new();
        for item in items(node) {
            let written = entries(item, WHAT, found);
            if written.is_empty() {
                found.add_if(
                    matches!(item.value, Node::Null | Node::Map(_)),
                    &item.place,
                    "the step is empty; write one such as `get: /` or `pause: 200ms`",
                );
                continue;
            }
            let written: Vec<&str> = written.iter().map(|(key, _)| &*key.value).collect();
            let before = found.len();
            let keys: StepKeys = read_fields(item, WHAT, found);
            let known = keys.known(&written);
            // Otherwise, the action of the step has a misspelt name, which another finding reports.
            if found.len() == before || known.iter().any(|key| is_deed(key)) {
                steps.extend(keys.step(&known, &item.place, found));
            }
        }
        steps
    }

    fn show(&self) -> Option<Tree> {
        let steps = self
            .iter()
            .filter_map(|step| show_fields(&StepKeys::from_step(step)));
        (!self.is_empty()).then(|| Tree::List(steps.collect()))
    }

    fn fill(&mut self, _: &Self) {}

    fn place(&self) -> Option<&Place> {
        self.first().map(|step| match step {
            Step::Pause(text) => &text.place,
            Step::If(branch) => &branch.condition.place,
            Step::Repeat(repeated) => &repeated.passes.place,
            Step::Set(fields) => fields
                .first()
                .map_or(&Place::Nowhere, |field| &field.name.place),
            Step::Request(step) => &step.request.ask.text().place,
        })
    }

    fn schema(definitions: &mut Definitions) -> Value {
        let step = schema::defined("step", definitions, |definitions| {
            let kinds = ASKS.into_iter().chain(KINDS.iter().map(|(key, _)| *key));
            let kinds: Vec<&str> = kinds.collect();
            schema::with_one_of(
                fields_schema::<StepKeys>(definitions),
                &kinds,
                &SocketKeys::NAMES,
            )
        });
        schema::one_or_many(&step)
    }
}

table! {
    /// The keys of one of several scenarios.
    pub(super) struct ScenarioKeys [] {
        weight: Option<Count> = "Share among the scenarios";
        steps: Vec<Step> = "Steps, in order";
    } []
}

impl Entry for Vec<Scenario> {
    const VALUE: KeyValue = KeyValue::NamedOf("scenarios");

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let mut scenarios = Self::new();
        for (name, node) in entries(node, "`scenarios`", found) {
            // The list of steps is sufficient.
            let keys = match &node.value {
                Node::List(_) => ScenarioKeys {
                    weight: None,
                    steps: Entry::read(node, found),
                },
                _ => read_fields(node, "a scenario", found),
            };
            let ScenarioKeys { weight, steps } = keys;
            let message = "a scenario needs `steps`";
            found.add_if(steps.is_empty(), &name.place, message);
            scenarios.push(Scenario {
                name: name.clone(),
                weight,
                steps,
            });
        }
        scenarios
    }

    fn show(&self) -> Option<Tree> {
        let scenarios = self.iter().map(|scenario| {
            let keys = ScenarioKeys {
                weight: scenario.weight.clone(),
                steps: scenario.steps.clone(),
            };
            let tree = show_fields(&keys).unwrap_or_else(|| Tree::Map(Vec::new()));
            (scenario.name.value.clone(), tree)
        });
        (!self.is_empty()).then(|| Tree::Map(scenarios.collect()))
    }

    fn fill(&mut self, _: &Self) {}

    fn place(&self) -> Option<&Place> {
        self.first().map(|scenario| &scenario.name.place)
    }

    fn schema(definitions: &mut Definitions) -> Value {
        let steps = Vec::<Step>::schema(definitions);
        let scenario = fields_schema::<ScenarioKeys>(definitions);
        schema::named(&json!({ "anyOf": [scenario, steps] }))
    }
}
