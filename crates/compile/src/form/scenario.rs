//! The steps of a scenario as mappings: a request, `pause: 200ms..1s`, `set: { order: "{{ uuid }}" }`.

use super::fields::{Entry, entries, fields, items, read_fields, show_fields};
use super::node::Node;
use super::request::Keys as RequestKeys;
use super::tree::Tree;
use crate::diagnostic::Findings;
use drumfire_plan::document::{Ask, Field, Place, Placed, RequestStep, Step, Text};

/// The name of a mapping in messages.
const WHAT: &str = "a step";

/// A step's keys, as they stand in a mapping: those of a request, and others.
#[derive(Debug, Default)]
pub(super) struct StepKeys {
    request: RequestKeys,
    pause: Option<Text>,
    set: Vec<Field>,
    on_fail: Option<Text>,
}

fields!(StepKeys [request] {
    "pause" => pause,
    "set" => set,
    "on_fail" => on_fail,
} []);

impl StepKeys {
    /// The step that the keys make; `written` are those that the mapping has.
    fn step(self, written: &[&str], place: &Place, found: &mut Findings) -> Option<Step> {
        let has = |key: &str| written.contains(&key);
        if !has("pause") && !has("set") {
            let request = self.request.request(place, found)?;
            let on_fail = self.on_fail;
            return Some(Step::Request(Box::new(RequestStep { request, on_fail })));
        }
        if written.len() > 1 {
            let message =
                "a step is one of a request, `pause` and `set`; give each a step of its own";
            found.add(place, message);
            return None;
        }
        let step = match self.pause {
            Some(pause) => Some(Step::Pause(pause)),
            None => (!self.set.is_empty()).then_some(Step::Set(self.set)),
        };
        let message = match has("pause") {
            true => "a pause has a time, such as `pause: 200ms`, or a range as 200ms..1s",
            false => {
                "`set` names variables with their values, such as `set: { id: \"{{ uuid }}\" }`"
            }
        };
        found.add_if(step.is_none(), place, message);
        step
    }

    /// The keys that make a step.
    fn of(step: &Step) -> Self {
        let mut keys = Self::default();
        match step {
            Step::Request(step) => {
                keys.request = RequestKeys::of(&step.request);
                keys.on_fail.clone_from(&step.on_fail);
            }
            Step::Pause(pause) => keys.pause = Some(pause.clone()),
            Step::Set(fields) => keys.set.clone_from(fields),
        }
        keys
    }
}

impl Entry for Vec<Step> {
    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let mut steps = Self::new();
        for item in items(node) {
            let written = entries(item, WHAT, found);
            if written.is_empty() {
                found.add_if(
                    matches!(item.value, Node::Null | Node::Map(_)),
                    &item.place,
                    "a step does something, such as `get: /` or `pause: 200ms`",
                );
                continue;
            }
            let written: Vec<&str> = written.iter().map(|(key, _)| &*key.value).collect();
            let keys: StepKeys = read_fields(item, WHAT, found);
            steps.extend(keys.step(&written, &item.place, found));
        }
        steps
    }

    fn show(&self) -> Option<Tree> {
        let steps = self
            .iter()
            .filter_map(|step| show_fields(&StepKeys::of(step)));
        (!self.is_empty()).then(|| Tree::List(steps.collect()))
    }

    fn fill(&mut self, _: &Self) {}

    fn place(&self) -> Option<&Place> {
        self.first().map(|step| match step {
            Step::Pause(text) => &text.place,
            Step::Set(fields) => fields
                .first()
                .map_or(&Place::Nowhere, |field| &field.name.place),
            Step::Request(step) => match &step.request.ask {
                Ask::Url { url: text, .. } | Ask::List { file: text, .. } | Ask::Call(text) => {
                    &text.place
                }
            },
        })
    }
}
