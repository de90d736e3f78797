//! The values that templates may read at some place of a pool, and the request with which they are
//! tried.
//!
//! Compiling follows the steps of a scenario like a user, and the scope moves along:
//! [`TemplateScope::declare`] makes all variables known, each step that sets one
//! ([`TemplateScope::set`], [`TemplateScope::declare_taken`], [`TemplateScope::count`]) makes it
//! readable from there on, and [`TemplateScope::join`] merges the two branches after a condition.
//! `first` has values for all variables that are set, so that each template can be rendered
//! immediately for the first user's request.
//!
//! A value that comes from a response, or counts the passes of a loop, is known only in the run.
//! [`STAND_IN`] is used instead, and its type means nothing: a template that reads such a variable,
//! directly or through another variable, may fail when it is tried ([`TemplateScope::tried`]). An
//! unknown name is an error in any case.

use crate::scope::Scope;
use drumfire_data::{SetValue, Sources, StepCondition, Template, Text as Kind, TextTemplate as _};
use drumfire_document::{Field, Place, Step as Written, Text};
use drumfire_plan::{
    Condition as _, DataError, PlanFunctions, RequestContext, Step, Value as _, ValueForm,
    VariableId, Variables,
};
use std::sync::Arc;

/// The value with which templates are tried instead of one that is known only in the run. It can be
/// a part of a URL, and is a number.
const STAND_IN: &str = "1";

/// A value as text, and its type.
type Typed = (String, ValueForm);

/// The feeds and variables that templates may read at some place of a pool.
#[derive(Clone, Debug)]
pub(crate) struct TemplateScope {
    pub(crate) sources: Arc<Sources>,
    /// The first request of the first user, with which templates are tried before the run.
    pub(crate) first: RequestContext,
    /// The variables whose values in `first` are stand-ins, or computed from stand-ins.
    unknown: Vec<VariableId>,
    /// The places of texts of which a part is a stand-in, because the setup takes its value.
    late: Arc<[Place]>,
    /// The functions of the pool's script.
    pub(crate) script: Option<Arc<dyn PlanFunctions>>,
}

impl TemplateScope {
    /// Creates a scope with only the feeds.
    pub(crate) fn new(sources: &Arc<Sources>, seed: u64) -> Self {
        Self {
            sources: Arc::clone(sources),
            first: RequestContext {
                seed,
                ..RequestContext::default()
            },
            unknown: Vec::new(),
            late: Arc::default(),
            script: None,
        }
    }

    /// Returns the scope with the places of texts that contain values of the setup.
    pub(crate) fn with_late(self, late: &Arc<[Place]>) -> Self {
        Self {
            late: Arc::clone(late),
            ..self
        }
    }

    /// Returns the scope with a script. The sources already contain its functions.
    pub(crate) fn with_script(self, script: Option<Arc<dyn PlanFunctions>>) -> Self {
        Self { script, ..self }
    }

    /// Declares the variables of a scenario, in addition to the variables of the pool's other
    /// scenarios. They have no values yet.
    pub(crate) fn declare(&mut self, scenario: &[Written], scope: &mut Scope<'_>) {
        let mut sources = (*self.sources).clone();
        for name in variables(scenario) {
            let declared = sources.declare(&name.value);
            scope.found.ok(&name.place, declared);
        }
        let count = sources.declared_count();
        self.sources = Arc::new(sources);
        if count > 0 {
            self.first.variables = Some(Arc::new(Variables::new(count)));
        }
    }

    /// Builds the step that sets a variable, which later templates may read. Also returns the
    /// number of iterations for which feeds have rows. `number` is the step's number, from which
    /// its random numbers follow.
    pub(crate) fn set(
        &mut self,
        field: &Field,
        number: u32,
        scope: &mut Scope<'_>,
    ) -> Option<(Step, Option<u64>)> {
        // An invalid name was already noted.
        let variable = self.sources.declared(&field.name.value)?;
        let made = self.value(field, number);
        let (text, form, is_known) = match &made {
            Ok((value, Some((text, form)))) => {
                let depends = self.depends(value.variables(), &field.value.place);
                (text.as_str(), *form, !depends)
            }
            Ok((_, None)) => (STAND_IN, ValueForm::Json, false),
            Err(_) => ("", ValueForm::Text, true),
        };
        self.set_to(variable, text, form);
        if !is_known {
            self.unknown.push(variable);
        }
        let (value, _) = scope.found.ok(&field.value.place, made)?;
        let count = value.count();
        let value = Arc::new(value);
        Some((Step::Set { variable, value }, count))
    }

    /// The variables to which a request's response assigns values. Later templates may read them.
    pub(crate) fn declare_taken(&mut self, fields: &[Field]) -> Arc<[VariableId]> {
        let names = fields.iter().map(|field| &field.name.value);
        let taken: Vec<VariableId> = names
            .filter_map(|name| self.sources.declared(name))
            .collect();
        for variable in &taken {
            self.stand_in(*variable);
        }
        taken.into()
    }

    /// Makes a variable readable from here on whose value is known only in the run.
    fn stand_in(&mut self, variable: VariableId) {
        self.set_to(variable, STAND_IN, ValueForm::Json);
        self.unknown.push(variable);
    }

    /// Makes a variable readable from here on, with the value with which templates are tried.
    fn set_to(&mut self, variable: VariableId, tried: &str, form: ValueForm) {
        self.unknown.retain(|unknown| *unknown != variable);
        if !self.sources.is_set(variable) {
            self.sources = Arc::new(self.sources.with_set(variable));
        }
        if let Some(variables) = &mut self.first.variables {
            Arc::make_mut(variables).set_as(variable, form, Ok(tried));
        }
    }

    /// The variable that counts the passes of a loop. The loop's steps may read it.
    pub(crate) fn count(&mut self, name: &Text) -> Option<VariableId> {
        let variable = self.sources.declared(&name.value)?;
        self.stand_in(variable);
        Some(variable)
    }

    /// A template whose value is not stored in a variable, such as the number of passes of a loop.
    pub(crate) fn given(&self, text: &str, number: u32) -> Result<SetValue, String> {
        let template = Template::compile(text, Kind::Plain, &self.for_values());
        let template = template.map_err(|error| error.to_string())?;
        Ok(SetValue::new(template, number))
    }

    /// The sources for values that are computed between requests, when no request exists for which
    /// a feed could supply a row.
    pub(crate) fn for_values(&self) -> Arc<Sources> {
        Arc::new(self.sources.for_values())
    }

    /// Merges the scope of another path to this place. A variable that either path sets may be
    /// read; for a user on the other path it has no value.
    pub(crate) fn join(&mut self, other: &Self) {
        self.sources = Arc::new(self.sources.with_all_of(&other.sources));
        if let (Some(variables), Some(others)) = (&mut self.first.variables, &other.first.variables)
        {
            Arc::make_mut(variables).fill(others);
        }
        self.unknown.extend(&other.unknown);
    }

    /// Tries a condition at a place in the first iteration. A condition that fails and has read a
    /// value that is known only in the run is not an error.
    pub(crate) fn try_condition(
        &self,
        condition: &StepCondition,
        place: &Place,
    ) -> Result<(), String> {
        let holds = condition.holds(&self.first);
        self.judged(holds, condition.variables(), place).map(drop)
    }

    /// The text of a template at a place in the first request; `None` where it fails and has read a
    /// value that only a run knows.
    pub(crate) fn tried(
        &self,
        template: &Template,
        place: &Place,
    ) -> Result<Option<String>, String> {
        let mut text = String::new();
        let rendered = template.render(&self.first, 0, &mut text);
        self.judged(rendered.map(|()| text), template.variables(), place)
    }

    /// The result of a trial of the text at a place that has read these variables.
    pub(crate) fn judged<T>(
        &self,
        tried: Result<T, DataError>,
        read: &[VariableId],
        place: &Place,
    ) -> Result<Option<T>, String> {
        match tried {
            Ok(tried) => Ok(Some(tried)),
            Err(error) if self.spares(&error, read, place) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Whether a failed trial of the text at a place that has read these variables is acceptable.
    pub(crate) fn spares(&self, error: &DataError, read: &[VariableId], place: &Place) -> bool {
        !error.cause.is_name() && self.depends(read, place)
    }

    /// Whether the value of one of these variables, or a part of the text at a place, is known only
    /// during the run.
    fn depends(&self, read: &[VariableId], place: &Place) -> bool {
        let mut read = read.iter();
        read.any(|variable| self.unknown.contains(variable)) || self.late.contains(place)
    }

    /// The value of a variable as a step computes it, and its text and type for the first request,
    /// as for [`Self::tried`].
    fn value(&self, field: &Field, number: u32) -> Result<(SetValue, Option<Typed>), String> {
        let value = self.given(&field.value.value, number)?;
        let mut text = String::new();
        let rendered = value.render(&self.first, &mut text);
        let text = rendered.map(|form| (text, form));
        let text = self.judged(text, value.variables(), &field.value.place)?;
        Ok((value, text))
    }
}

/// The names of the variables that steps set, including nested steps.
///
/// The names have the order of the document, from which each variable gets its number. A name that
/// several steps set occurs several times.
fn variables(steps: &[Written]) -> Vec<&Text> {
    let mut names = Vec::new();
    for step in steps {
        match step {
            Written::Set(fields) => names.extend(fields.iter().map(|field| &field.name)),
            Written::Request(step) => {
                names.extend(step.request.take.iter().map(|field| &field.name));
            }
            Written::Repeat(repeated) => names.extend(&repeated.index),
            Written::Pause(_) | Written::If(_) => {}
        }
        for within in step.within() {
            names.extend(variables(std::slice::from_ref(within)));
        }
    }
    names
}
