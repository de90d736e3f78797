//! The mapping of a preprocessor: variables that are computed before a request is sent.

use super::known::identifier;
use super::scope::Scope;
use crate::pandora::TOOL;
use drumfire_document::{Field, Step};

/// Adds the step that computes the variables of a mapping.
pub(super) fn prepare(
    request: &str,
    mapping: &[(String, String)],
    round: u64,
    scope: &mut Scope<'_>,
    steps: &mut Vec<Step>,
) -> Result<(), String> {
    let mut set = Vec::new();
    scope.turns.enter_request(request);
    for (name, value) in mapping {
        let variable = variable(request, "pre", name);
        // The result of a function or a list is computed once.
        let (known, template) = scope.mapped(value, round)?.kept(&variable);
        set.extend(template.map(|template| field(&variable, &template)));
        scope.learn(request, "preprocessor", name, known);
    }
    if !set.is_empty() {
        steps.push(Step::Set(set));
    }
    Ok(())
}

/// A variable with the expression or the extractor of its value.
pub(super) fn field(name: &str, value: &str) -> Field {
    TOOL.field("mapping", name, value)
}

/// The name of a variable in drumfire's templates, for a request's stage `pre` or `post`.
pub(super) fn variable(request: &str, stage: &str, name: &str) -> String {
    format!("v_{}_{stage}_{}", identifier(request), identifier(name))
}
