//! The values that templates may read at some place of a pool, and the request with which they are
//! tried.
//!
//! Compiling goes through the steps of a scenario as a user does, and the scope goes with it:
//! [`TemplateScope::declare`] makes all variables known, each step that sets one
//! ([`TemplateScope::set`], [`TemplateScope::take`], [`TemplateScope::count`]) makes it readable
//! from there on, and [`TemplateScope::join`] merges the two ways behind a condition. `first` has
//! values for all variables that are set, so that each template can be rendered at once as the
//! first user's request would have it.

use crate::scope::Scope;
use drumfire_data::{SetValue, Sources, Template, Text as Kind};
use drumfire_document::{Field, Step as Written, Text};
use drumfire_plan::{Functions, RequestContext, Step, Value as _, VariableId, Variables};
use std::sync::Arc;

/// The value with which templates are tried that read a variable taken from a response: it may
/// stand in a URL, and is a number.
const TRIED: &str = "1";

/// The feeds and variables that templates may read at some place of a pool.
#[derive(Clone, Debug)]
pub(crate) struct TemplateScope {
    pub(crate) sources: Arc<Sources>,
    /// The first request of the first user, with which templates are tried before the run.
    pub(crate) first: RequestContext,
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
            script: None,
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

    /// The step that gives a variable its value, which templates behind it may read. `number` is
    /// the step's, from which its random numbers follow.
    pub(crate) fn set(
        &mut self,
        field: &Field,
        number: u32,
        scope: &mut Scope<'_>,
    ) -> Option<Step> {
        // A name that can't be one was noted.
        let variable = self.sources.declared(&field.name.value)?;
        let made = self.value(field, number);
        let text = made.as_ref().map_or("", |(_, text)| text).to_owned();
        self.set_to(variable, &text);
        let (value, _) = scope.found.ok(&field.value.place, made)?;
        Some(Step::Set {
            variable,
            value: Arc::new(value),
        })
    }

    /// The variables to which a request's response gives values, which templates behind it may
    /// read.
    pub(crate) fn take(&mut self, fields: &[Field]) -> Arc<[VariableId]> {
        let names = fields.iter().map(|field| &field.name.value);
        let taken: Vec<VariableId> = names
            .filter_map(|name| self.sources.declared(name))
            .collect();
        for variable in &taken {
            self.set_to(*variable, TRIED);
        }
        taken.into()
    }

    /// Makes a variable readable from here on, with this value where templates are tried.
    fn set_to(&mut self, variable: VariableId, tried: &str) {
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
        self.set_to(variable, TRIED);
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
    }

    /// The value of a variable as a step computes it, and its text for the first request.
    fn value(&self, field: &Field, number: u32) -> Result<(SetValue, String), String> {
        let value = self.given(&field.value.value, number)?;
        let mut text = String::new();
        let rendered = value.render(&self.first, &mut text);
        rendered.map_err(|error| error.to_string())?;
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
