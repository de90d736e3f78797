//! From the steps of a scenario to a program.

use crate::form::fields::Fields as _;
use crate::requests::Made;
use crate::scope::Scope;
use crate::template_scope::TemplateScope;
use drumfire_plan::document::{Ask, Pool, Request, Step as Written, Text};
use drumfire_plan::{OnFailure, Pause, Program, Step};
use std::sync::Arc;

/// A pool's program with its requests.
pub(crate) struct Scenario {
    pub(crate) made: Made,
    pub(crate) program: Program,
}

/// The program of a pool's scenario. `add` adds what a step asks for to the requests made so
/// far, where templates may read what the steps before it have set.
pub(crate) fn scenario(
    pool: &Pool,
    mut templates: TemplateScope,
    scope: &mut Scope<'_>,
    mut add: impl FnMut(&Request, &TemplateScope, &mut Made, &mut Scope<'_>),
) -> Scenario {
    if let (Some(first), false) = (pool.place("scenario"), pool.requests.is_empty()) {
        let message = "a pool has either `requests` or a `scenario`; give each a pool of its own";
        scope.found.add(first, message);
    }
    templates.declare(&pool.scenario, scope);
    let mut made = Made::default();
    let mut steps = Vec::new();
    for step in &pool.scenario {
        match step {
            Written::Pause(text) => steps.extend(pause(text, scope).map(Step::Pause)),
            Written::Set(fields) => {
                for field in fields {
                    let number = steps.len() as u32;
                    steps.extend(templates.set(field, number, scope));
                }
            }
            Written::Request(step) => {
                let next = made.requests.len();
                if let Ask::List { file, .. } = &step.request.ask {
                    let message = "a list of URLs is no step; write its requests one by one";
                    scope.found.add(&file.place, message);
                } else {
                    add(&step.request, &templates, &mut made, scope);
                }
                let takes = templates.take(&step.request.take);
                let on_failure = on_failure(step.on_fail.as_ref(), scope);
                if made.requests.len() > next {
                    let request = next as u32;
                    steps.push(Step::Request {
                        request,
                        on_failure,
                        takes,
                    });
                }
            }
        }
    }
    Scenario {
        made,
        program: Program::Steps(Arc::from(steps)),
    }
}

/// What a request's failure means for its iteration.
fn on_failure(written: Option<&Text>, scope: &mut Scope<'_>) -> OnFailure {
    let words = [
        ("continue", OnFailure::Continue),
        ("end_iteration", OnFailure::EndIteration),
    ];
    let word = scope.word(written, &words, "nothing to do after a failure");
    word.unwrap_or_default()
}

/// A time, or a range of times.
fn pause(text: &Text, scope: &mut Scope<'_>) -> Option<Pause> {
    let value = &text.value;
    let (from, to) = value.split_once("..").unwrap_or((value, value));
    let from = scope.found.ok(&text.place, from.trim().parse())?;
    let to = scope.found.ok(&text.place, to.trim().parse())?;
    let message = "the range ends before it begins; write the shorter time first";
    scope.found.add_if(to < from, &text.place, message);
    (from <= to).then_some(Pause { from, to })
}
