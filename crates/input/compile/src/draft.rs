//! From a text to the plans of its load, its setup and its teardown.
//!
//! A draft contains the mistakes of its form and the document that could be read in spite of them.
//! Both kinds of mistakes are reported together, so that a user corrects a file once. A mistake of
//! meaning that only follows from a mistake of form is omitted. A setup and a teardown are separate
//! plans (docs/design/02-schedule-and-users.md#setup-and-teardown). They are compiled here to check
//! them, and again before they run, with the values of the phase before.

use crate::Host;
use crate::compile::{compile_in, in_order};
use crate::scope::Scope;
use crate::taken::TakenValues;
use drumfire_document::form::DocumentDraft;
use drumfire_document::{Diagnostic, Fields, Findings, Phase, Pool};
use drumfire_plan::Plan;
use std::sync::Arc;

/// The plan of a setup or a teardown, which one user runs once.
#[derive(Debug)]
pub struct PhasePlan {
    /// The plan of its steps, which keeps their exchanges in full.
    pub plan: Plan,
    /// The values that the requests take from their responses; complete after the run.
    pub taken: Arc<TakenValues>,
}

/// The plan of a phase; `None` if the document has no such steps.
///
/// # Errors
/// Everything that prevents the phase from running, in the order of the document's lines.
pub fn compile_phase(
    phase: Phase,
    draft: &DocumentDraft,
    host: &Arc<dyn Host>,
) -> Result<Option<PhasePlan>, Vec<Diagnostic>> {
    let Some(document) = phase.extract(&draft.document, &draft.late) else {
        return Ok(None);
    };
    let alone = DocumentDraft {
        document,
        found: draft.found.clone(),
        secrets: draft.secrets.clone(),
        unresolved: draft.unresolved.clone(),
        late: Vec::new(),
        is_checkable: draft.is_checkable,
    };
    let taken = Arc::new(TakenValues::default());
    let plan = compile_with(&alone, host, Some(&taken))?;
    Ok(Some(PhasePlan { plan, taken }))
}

/// Compiles the plan of a text. Mistakes of its form and of its meaning are reported together.
///
/// The setup and the teardown are checked as well, but are not part of the plan.
pub fn compile_draft(draft: &DocumentDraft, host: &Arc<dyn Host>) -> Result<Plan, Vec<Diagnostic>> {
    let plan = compile_with(draft, host, None);
    let phases = [Phase::Setup, Phase::Teardown];
    let phases = phases.map(|phase| compile_phase(phase, draft, host).err());
    let beside: Vec<Diagnostic> = phases.into_iter().flatten().flatten().collect();
    match plan {
        Ok(plan) if beside.is_empty() => Ok(plan),
        plan => {
            let mut found = plan.err().unwrap_or_default();
            for one in beside {
                // A mistake in a shared part of the document is found once per phase.
                if !found.contains(&one) {
                    found.push(one);
                }
            }
            Err(in_order(found))
        }
    }
}

/// The plan of a draft's pools. `taken` additionally receives the values that requests take from
/// responses.
fn compile_with(
    draft: &DocumentDraft,
    host: &Arc<dyn Host>,
    taken: Option<&Arc<TakenValues>>,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut scope = Scope::new(host);
    scope.private_headers = private_headers(draft);
    scope.taken = taken.cloned();
    scope.late = draft.late.as_slice().into();
    if draft.found.is_empty() {
        return compile_in(&draft.document, scope).map_err(in_order);
    }
    if !draft.is_checkable {
        return Err(draft.found.clone());
    }
    scope.found = draft.found.clone().into();
    let first = scope.found.len();
    let plan = compile_in(&draft.document, scope);
    plan.map_err(|found| {
        let mut found = Findings::from(found);
        found.keep_values_from(first);
        found.drop_from(first, &draft.unresolved);
        in_order(found.into_inner())
    })
}

/// The names of the header fields whose values contain a secret that the document marks. These
/// fields are removed on redirects to another origin.
fn private_headers(draft: &DocumentDraft) -> Vec<String> {
    let document = &draft.document;
    let common = [&document.defaults.fields]
        .into_iter()
        .chain(document.pools.iter().map(|pool| &pool.settings.fields))
        .flat_map(|fields| &fields.headers);
    let requests = document.pools.iter().flat_map(Pool::every_request);
    let own = requests.flat_map(|request| match &request.fields {
        Fields::Listed(fields) => fields.as_slice(),
        Fields::File(_) => &[],
    });
    let marked = common.chain(own).filter(|field| {
        let value = &field.value.value;
        let mut secrets = draft.secrets.iter();
        secrets.any(|secret| !secret.is_empty() && value.contains(secret.as_str()))
    });
    let mut names: Vec<String> = marked.map(|field| field.name.value.clone()).collect();
    names.sort();
    names.dedup();
    names
}
