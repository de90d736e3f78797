//! The values that templates may read at some place of a pool, and the request with which they are
//! tried.
//!
//! Compiling goes through the steps of a scenario as a user does, and the scope goes with it:
//! [`TemplateScope::declare`] makes all variables known, each step that sets one
//! ([`TemplateScope::set`], [`TemplateScope::take`], [`TemplateScope::count`]) makes it readable
//! from there on, and [`TemplateScope::join`] merges the two ways behind a condition. `first` has
//! values for all variables that are set, so that each template can be rendered at once as the
//! first user's request would have it.
//!
//! The value that a response gives, or a loop counts, is known in the run only. [`STAND_IN`] stands
//! for it, and for nothing of its form: a template that reads such a variable, through another one
//! perhaps, may fail when it is tried ([`TemplateScope::tried`]). An unknown name is a mistake all
//! the same.

use crate::scope::Scope;
use drumfire_data::{SetValue, Sources, Template, Text as Kind, TextTemplate as _};
use drumfire_document::{Field, Place, Step as Written, Text};
use drumfire_plan::{
    DataError, Functions, RequestContext, Step, Value as _, VariableId, Variables,
};
use std::sync::Arc;

/// The value with which templates are tried in place of one that only a run knows: it may stand in a
/// URL, and is a number.
const STAND_IN: &str = "1";

/// The feeds and variables that templates may read at some place of a pool.
#[derive(Clone, Debug)]
pub(crate) struct TemplateScope {
    pub(crate) sources: Arc<Sources>,
    /// The first request of the first user, with which templates are tried before the run.
    pub(crate) first: RequestContext,
    /// The variables whose values in `first` are stand-ins, or computed from some.
    unknown: Vec<VariableId>,
    /// The places of texts in which the same is true of a part: the setup takes it.
    late: Arc<[Place]>,
    /// The functions of the pool's script.
    pub(crate) script: Option<Arc<dyn Functions>>,
}

impl TemplateScope {
    /// A scope with the feeds alone.
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

    /// The scope with the places of texts that the setup gives a part of.
    pub(crate) fn with_late(self, late: &Arc<[Place]>) -> Self {
        Self {
            late: Arc::clone(late),
            ..self
        }
    }

    /// The scope with a script, whose functions the sources have already.
    pub(crate) fn with_script(self, script: Option<Arc<dyn Functions>>) -> Self {
        Self { script, ..self }
    }

    /// Declares the variables of a scenario, beside those of the pool's other scenarios. They have
    /// no values yet.
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

    /// The step that gives a variable its value, which templates behind it may read, and for how
    /// many iterations there are rows for it. `number` is the step's, from which its random numbers
    /// follow.
    pub(crate) fn set(
        &mut self,
        field: &Field,
        number: u32,
        scope: &mut Scope<'_>,
    ) -> Option<(Step, Option<u64>)> {
        // A name that can't be one was noted.
        let variable = self.sources.declared(&field.name.value)?;
        let made = self.value(field, number);
        let (text, is_known) = match &made {
            Ok((value, Some(text))) => {
                let depends = self.depends(value.variables(), &field.value.place);
                (text.as_str(), !depends)
            }
            Ok((_, None)) => (STAND_IN, false),
            Err(_) => ("", true),
        };
        self.set_to(variable, text);
        if !is_known {
            self.unknown.push(variable);
        }
        let (value, _) = scope.found.ok(&field.value.place, made)?;
        let count = value.count();
        let value = Arc::new(value);
        Some((Step::Set { variable, value }, count))
    }

    /// The variables to which a request's response gives values, which templates behind it may
    /// read.
    pub(crate) fn take(&mut self, fields: &[Field]) -> Arc<[VariableId]> {
        let names = fields.iter().map(|field| &field.name.value);
        let taken: Vec<VariableId> = names
            .filter_map(|name| self.sources.declared(name))
            .collect();
        for variable in &taken {
            self.stand_in(*variable);
        }
        taken.into()
    }

    /// Makes a variable readable from here on whose value only a run knows.
    fn stand_in(&mut self, variable: VariableId) {
        self.set_to(variable, STAND_IN);
        self.unknown.push(variable);
    }

    /// Makes a variable readable from here on, with this value where templates are tried.
    fn set_to(&mut self, variable: VariableId, tried: &str) {
        self.unknown.retain(|unknown| *unknown != variable);
        if !self.sources.is_set(variable) {
            self.sources = Arc::new(self.sources.with_set(variable));
        }
        if let Some(variables) = &mut self.first.variables {
            Arc::make_mut(variables).set(variable, Ok(tried));
        }
    }

    /// The variable that counts the passes of a loop, which the loop's steps may read.
    pub(crate) fn count(&mut self, name: &Text) -> Option<VariableId> {
        let variable = self.sources.declared(&name.value)?;
        self.stand_in(variable);
        Some(variable)
    }

    /// A template whose value no variable keeps, as the number of passes of a loop.
    pub(crate) fn given(&self, text: &str, number: u32) -> Result<SetValue, String> {
        let template = Template::compile(text, Kind::Plain, &self.for_values());
        let template = template.map_err(|error| error.to_string())?;
        Ok(SetValue::new(template, number))
    }

    /// The sources for values that are computed between requests, when there is no request whose
    /// row a feed could give.
    pub(crate) fn for_values(&self) -> Arc<Sources> {
        Arc::new(self.sources.for_values())
    }

    /// Merges the scope of another way that may lead to this place. A variable may be read that
    /// either way sets; for a user of the other way it has no value.
    pub(crate) fn join(&mut self, other: &Self) {
        self.sources = Arc::new(self.sources.with_all_of(&other.sources));
        if let (Some(variables), Some(others)) = (&mut self.first.variables, &other.first.variables)
        {
            Arc::make_mut(variables).fill(others);
        }
        self.unknown.extend(&other.unknown);
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

    /// The result of a trial of a text at a place that has read these variables.
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

    /// Whether the trial of a text at a place that has read these variables may fail so.
    pub(crate) fn spares(&self, error: &DataError, read: &[VariableId], place: &Place) -> bool {
        !error.cause.is_name() && self.depends(read, place)
    }

    /// Whether the value of one of these variables, or a part of the text at a place, is known in
    /// the run only.
    fn depends(&self, read: &[VariableId], place: &Place) -> bool {
        let mut read = read.iter();
        read.any(|variable| self.unknown.contains(variable)) || self.late.contains(place)
    }

    /// The value of a variable as a step computes it, and its text for the first request, as
    /// [`Self::tried`] gives it.
    fn value(&self, field: &Field, number: u32) -> Result<(SetValue, Option<String>), String> {
        let value = self.given(&field.value.value, number)?;
        let mut text = String::new();
        let rendered = value.render(&self.first, &mut text);
        let text = rendered.map(|()| text);
        let text = self.judged(text, value.variables(), &field.value.place)?;
        Ok((value, text))
    }
}

/// The names of the variables that steps set, those of steps within them included.
///
/// The order is that of the document, which gives each its number; a name that several steps set
/// comes as often.
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
